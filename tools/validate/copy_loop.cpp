// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One copy back to back, on each path between the memories of a core and global memory. Global data are in L2 from the
// second execution on.
#include <algorithm>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg;

constexpr u64 kBlock = 32, kFractal = 512;

u64 units(const Params& p, u64 unit) {
  const u64 bytes = p.whole("bytes");
  if (bytes == 0 || bytes % unit != 0) fail_at(Fault::Input, p.place(), "{} bytes are no multiple of {}", bytes, unit);
  return bytes / unit;
}

// Rows and columns of a matrix of `bytes` in elements of so many bytes.
struct Matrix {
  u64 rows, columns;
};
Matrix matrix(const Params& p, u64 element) {
  const u64 rows = p.whole("rows");
  return {rows, units(p, std::max<u64>(1, rows) * element)};
}

// A matrix of 16-bit elements, its rows without gaps.
void nd2nz(ProgramBuilder& b, Reg data, const Params& p) {
  const auto [rows, columns] = matrix(p, 2);
  b.copy_gm_to_cbuf_multi_nd2nz_b16(0, data, 0, 1, rows, columns, 0, columns, rows, 1, 0);
}

// A matrix of f32 elements.
void l0c_to_gm(ProgramBuilder& b, Reg data, const Params& p) {
  const auto [rows, columns] = matrix(p, 4);
  b.copy_matrix_cc_to_gm(data, 0, 0, columns, rows, rows * 2, rows, 0, 0, 0, 0, 0);
}
void l0c_to_gm_nz2nd(ProgramBuilder& b, Reg data, const Params& p) {
  const auto [rows, columns] = matrix(p, 4);
  b.copy_matrix_cc_to_gm(data, 0, 0, columns, rows, columns, rows, 0, 0, 0, 0, 1);
}

struct Path {
  std::string_view name;
  bool cube;  // of the core that has it, where cube cores are apart
  PipeId pipe;
  void (*write)(ProgramBuilder& b, Reg data, const Params&);
};
// Copies in one burst; load2d from where fractals follow each other.
constexpr Path kPaths[] = {
    {"gm_to_ub", false, PipeId::MTE2,
     [](ProgramBuilder& b, Reg data, const Params& p) { b.copy_gm_to_ubuf(0, data, 0, 1, units(p, kBlock), 0, 0); }},
    {"ub_to_gm", false, PipeId::MTE3,
     [](ProgramBuilder& b, Reg data, const Params& p) { b.copy_ubuf_to_gm(data, 0, 0, 1, units(p, kBlock), 0, 0); }},
    {"ub_to_ub", false, PipeId::V,
     [](ProgramBuilder& b, Reg, const Params& p) { b.copy_ubuf_to_ubuf(0x10000, 0, 0, 1, units(p, kBlock), 0, 0); }},
    {"gm_to_l1", true, PipeId::MTE2,
     [](ProgramBuilder& b, Reg data, const Params& p) { b.copy_gm_to_cbuf(0, data, 0, 1, units(p, kBlock), 0, 0); }},
    {"gm_to_l1_nd2nz", true, PipeId::MTE2, nd2nz},
    {"gm_to_l0a", true, PipeId::MTE2,
     [](ProgramBuilder& b, Reg data, const Params& p) { b.load_gm_to_ca(0, data, 0, units(p, kFractal), 1, 0); }},
    {"gm_to_l0b", true, PipeId::MTE2,
     [](ProgramBuilder& b, Reg data, const Params& p) { b.load_gm_to_cb(0, data, 0, units(p, kFractal), 1, 0); }},
    {"l1_to_l0a", true, PipeId::MTE1,
     [](ProgramBuilder& b, Reg, const Params& p) { b.load_cbuf_to_ca(0, 0, 0, units(p, kFractal), 1, 0, 0); }},
    {"l1_to_l0b", true, PipeId::MTE1,
     [](ProgramBuilder& b, Reg, const Params& p) { b.load_cbuf_to_cb(0, 0, 0, units(p, kFractal), 1, 0, 0); }},
    {"l1_to_bt", true, PipeId::MTE1,
     [](ProgramBuilder& b, Reg, const Params& p) { b.copy_cbuf_to_bt(0, 0, 0, 1, units(p, 64), 0, 0); }},
    {"l1_to_fb", true, PipeId::FIX,
     [](ProgramBuilder& b, Reg, const Params& p) { b.copy_cbuf_to_fbuf(0, 0, 1, units(p, 128), 0, 0); }},
    {"l0c_to_gm", true, PipeId::FIX, l0c_to_gm},
    {"l0c_to_gm_nz2nd", true, PipeId::FIX, l0c_to_gm_nz2nd},
};

Values measure_copy_loop(const Params& p, const config::ChipConfig& chip) {
  const std::string& name = p.text("path");
  const auto path = std::ranges::find(kPaths, name, &Path::name);
  if (path == std::end(kPaths)) {
    std::vector<std::string_view> names;
    for (const Path& known : kPaths)
      names.push_back(known.name);
    fail_at(Fault::Input, p.place(), "there is no path '{}'{}", name, did_you_mean(name, names));
  }
  const bool fenced = p.whole("fenced") != 0;
  const Loop loop{.cube = path->cube,
                  .gm_bytes = u64{1} << 20,
                  .body =
                      [&](ProgramBuilder& b, Reg data) {
                        path->write(b, data, p);
                        if (fenced) b.pipe_barrier(path->pipe);
                      },
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
          .measure = measure_copy_loop};
}

}  // namespace vinci::validate
