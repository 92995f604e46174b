// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One copy back to back, on each path between the memories of a core and global memory. Global data are in L2 from the
// second execution on.
#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

constexpr u64 kBlock = 32, kFractal = 512;

u64 units(const Params& p, u64 unit) {
  const u64 bytes = p.whole("bytes");
  if (bytes == 0 || bytes % unit != 0) fail_at(Fault::Input, p.place(), "{} bytes are no multiple of {}", bytes, unit);
  return bytes / unit;
}

// A copy in one burst.
std::string burst(const Params& p, std::string_view mnemonic, std::string_view dst, std::string_view src) {
  return fmt::format("{} {}, {}, 0, 1, {}, 0, 0", mnemonic, dst, src, units(p, kBlock));
}

// load2d from where fractals lie one after the other.
std::string load2d(const Params& p, std::string_view mnemonic, std::string_view src, std::string_view transpose) {
  return fmt::format("{} 0, {}, 0, {}, 1, 0{}", mnemonic, src, units(p, kFractal), transpose);
}

// A matrix of 16-bit elements, `rows` by what fits the bytes, its rows without gaps.
std::string nd2nz(const Params& p) {
  const u64 rows = p.whole("rows");
  const u64 columns = units(p, std::max<u64>(1, rows) * 2);
  return fmt::format("copy_gm_to_cbuf_multi_nd2nz_b16 0, X0, 0, 1, {0}, {1}, 0, {1}, {0}, 1, 0", rows, columns);
}

// A matrix of f32 elements, `rows` by what fits the bytes.
std::string from_l0c(const Params& p, bool row_major) {
  const u64 rows = p.whole("rows");
  const u64 columns = units(p, std::max<u64>(1, rows) * 4);
  return fmt::format("copy_matrix_cc_to_gm X0, 0, 0, {0}, {1}, {2}, {1}, 0, 0, 0, 0, {3}", columns, rows,
                     row_major ? columns : rows * 2, row_major ? 1 : 0);
}

struct Path {
  std::string_view name;
  bool cube;  // of the core that has it, where cube cores are apart
  isa::PipeId pipe;
  std::string (*text)(const Params&);
};
constexpr Path kPaths[] = {
    {"gm_to_ub", false, isa::PipeId::MTE2, [](const Params& p) { return burst(p, "copy_gm_to_ubuf", "0", "X0"); }},
    {"ub_to_gm", false, isa::PipeId::MTE3, [](const Params& p) { return burst(p, "copy_ubuf_to_gm", "X0", "0"); }},
    {"ub_to_ub", false, isa::PipeId::V, [](const Params& p) { return burst(p, "copy_ubuf_to_ubuf", "0x10000", "0"); }},
    {"gm_to_l1", true, isa::PipeId::MTE2, [](const Params& p) { return burst(p, "copy_gm_to_cbuf", "0", "X0"); }},
    {"gm_to_l1_nd2nz", true, isa::PipeId::MTE2, nd2nz},
    {"gm_to_l0a", true, isa::PipeId::MTE2, [](const Params& p) { return load2d(p, "load_gm_to_ca", "X0", ""); }},
    {"gm_to_l0b", true, isa::PipeId::MTE2, [](const Params& p) { return load2d(p, "load_gm_to_cb", "X0", ""); }},
    {"l1_to_l0a", true, isa::PipeId::MTE1, [](const Params& p) { return load2d(p, "load_cbuf_to_ca", "0", ", 0"); }},
    {"l1_to_l0b", true, isa::PipeId::MTE1, [](const Params& p) { return load2d(p, "load_cbuf_to_cb", "0", ", 0"); }},
    {"l1_to_bt", true, isa::PipeId::MTE1,
     [](const Params& p) { return fmt::format("copy_cbuf_to_bt 0, 0, 0, 1, {}, 0, 0", units(p, 64)); }},
    {"l1_to_fb", true, isa::PipeId::FIX,
     [](const Params& p) { return fmt::format("copy_cbuf_to_fbuf 0, 0, 1, {}, 0, 0", units(p, 128)); }},
    {"l0c_to_gm", true, isa::PipeId::FIX, [](const Params& p) { return from_l0c(p, false); }},
    {"l0c_to_gm_nz2nd", true, isa::PipeId::FIX, [](const Params& p) { return from_l0c(p, true); }},
};

Values measure(const Params& p, const config::ChipConfig& chip) {
  const std::string& name = p.text("path");
  const auto path = std::ranges::find(kPaths, name, &Path::name);
  if (path == std::end(kPaths)) {
    std::vector<std::string_view> names;
    for (const Path& known : kPaths)
      names.push_back(known.name);
    fail_at(Fault::Input, p.place(), "there is no path '{}'{}", name, did_you_mean(name, names));
  }
  const std::string fence =
      p.whole("fenced") == 0 ? "" : fmt::format("  pipe_barrier PIPE_{}\n", isa::name(path->pipe));
  const Loop loop{.cube = path->cube,
                  .gm_bytes = u64{1} << 20,
                  .body = fmt::format("  {}\n{}", path->text(p), fence),
                  .cores = static_cast<u32>(p.whole("cores"))};
  return {{"cycles", steady_cycles(chip, loop)}};
}

}  // namespace

Family copy_loop() {
  return {.name = "copy_loop",
          .doc = "one copy many times, always the same bytes; global memory is in L2",
          .parameters = {{"path", "", "", "as the key of core.move: gm_to_ub, l1_to_l0a, ..."},
                         {"bytes", "B", "", "that one instruction moves"},
                         {"rows", "", "16", "of the matrix, where the path changes the layout or leaves L0C"},
                         {"fenced", "", "0", "1: each waits until the data of the one before have arrived"},
                         {"cores", "", "1", "that do the same at once, with the same bytes of global memory"}},
          .metrics = {{"cycles", "cycle", "that each copy adds"}},
          .measure = measure};
}

}  // namespace vinci::validate
