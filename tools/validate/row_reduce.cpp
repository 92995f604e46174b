// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/row_reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"

namespace vinci::validate {
namespace {

constexpr u64 kMaxRepeats = 128;  // of an instruction; their results are whole blocks

u64 work_bytes(u64 rows, u64 columns) { return align_up(rows * columns * 4 / (columns >= 64 ? 8 : 2), u64{32}); }

}  // namespace

u64 row_reduce_work(u64 rows, u64 columns) { return 2 * work_bytes(rows, columns); }

std::string row_reduce(const RowReduce& r) {
  std::string s, from(r.src);
  u64 lanes = r.columns;  // of a row
  for (u64 step = 0; lanes > 1; ++step) {
    const bool by_block = lanes >= 64 || lanes == 8;
    const u64 repeats = ceil_div(r.rows * lanes, by_block ? u64{64} : u64{128});
    const u64 to = r.work + step % 2 * work_bytes(r.rows, r.columns);
    lanes /= by_block ? 8 : 2;
    VINCI_CHECK(repeats <= kMaxRepeats || (by_block && lanes > 1));
    for (u64 done = 0; done < repeats; done += kMaxRepeats) {
      const u64 n = std::min(kMaxRepeats, repeats - done);
      if (done > 0) s += fmt::format("  add t, {}, {}\n", from, done * 256);
      const std::string dst = lanes == 1 ? std::string(r.dst) : fmt::format("{}", to + done * 32);
      if (by_block)
        s += fmt::format("  vcg{}.f32 {}, {}, {}, 1, 1, 8\n", r.name, dst, done == 0 ? from : "t", n);
      else
        s += fmt::format("  v{0}.f32 {1}, {2}, {2} + 32, {3}, 1, 2, 2, 8, 16, 16\n", r.name, dst, from, n);
    }
    s += "  pipe_barrier PIPE_V\n";
    from = fmt::format("{}", to);
  }
  return s;
}

}  // namespace vinci::validate
