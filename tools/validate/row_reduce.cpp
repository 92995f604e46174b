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

void row_reduce(isa::ProgramBuilder& p, const RowReduce& r) {
  const std::string by_blocks = fmt::format("vcg{}", r.name), by_pairs = fmt::format("v{}", r.name);
  isa::Value from = r.src;
  u64 lanes = r.columns;  // of a row
  for (u64 step = 0; lanes > 1; ++step) {
    const bool by_block = lanes >= 64 || lanes == 8;
    const u64 repeats = ceil_div(r.rows * lanes, by_block ? u64{64} : u64{128});
    const u64 to = r.work + step % 2 * work_bytes(r.rows, r.columns);
    lanes /= by_block ? 8 : 2;
    VINCI_CHECK(repeats <= kMaxRepeats || (by_block && lanes > 1));
    for (u64 done = 0; done < repeats; done += kMaxRepeats) {
      const u64 n = std::min(kMaxRepeats, repeats - done);
      if (done > 0) p.add(r.t, from, done * 256);
      const isa::Value dst = lanes == 1 ? r.dst : isa::Value(to + done * 32);
      if (by_block) {
        p.call(by_blocks, isa::Type::f32, {dst, done == 0 ? from : isa::Value(r.t), n, 1, 1, 8});
      } else {
        p.call(by_pairs, isa::Type::f32, {dst, from, from.bits() + 32, n, 1, 2, 2, 8, 16, 16});
      }
    }
    p.pipe_barrier(isa::PipeId::V);
    from = to;
  }
}

}  // namespace vinci::validate
