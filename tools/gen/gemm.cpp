// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm.h"

#include <fmt/format.h>

#include <bit>
#include <filesystem>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"

namespace vinci::gen {
namespace {

void write_matrix(const std::string& path, u64 rows, u64 columns, Random& random) {
  std::vector<u16> values(rows * columns);
  for (u16& v : values)
    v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform()));
  const std::vector<u64> shape{rows, columns};
  io::write_file_atomically(path, io::to_npy("f2", shape, std::as_bytes(std::span(values))));
}

// Rows between host (packed) and device (pitch), as one copy.
std::string copy(std::string_view dst, std::string_view src, u64 rows, u64 row_bytes, u64 dst_pitch, u64 src_pitch) {
  if (dst_pitch == row_bytes && src_pitch == row_bytes) {
    return fmt::format("    - memcpy_async: {{dst: {}, src: {}}}\n", dst, src);
  }
  return fmt::format("    - memcpy_async: {{dst: {}, src: {}, width: {}, height: {}, dst_pitch: {}, src_pitch: {}}}\n",
                     dst, src, row_bytes, rows, dst_pitch, src_pitch);
}

std::string gemm_yaml(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch,
                      const config::ChipConfig& chip) {
  const u64 out = p.out_f32 ? 4 : 2;
  std::string s = fmt::format("# C[{0},{1}] = A[{0},{2}] * B[{2},{1}], compiled for {3}\n", p.m, p.n, p.k, chip.name);
  s += "vinci: 1\nname: gemm\n";
  s += fmt::format("arch: {}\n", isa::name(chip.arch));
  s += "buffers:\n";
  s += "  a: {place: host, file: a.npy}\n";
  s += "  b: {place: host, file: b.npy}\n";
  s += fmt::format("  c: {{place: host, bytes: {}, dtype: f{}, shape: [{}, {}], output: c.npy}}\n", p.m * p.n * out,
                   out, p.m, p.n);
  s += fmt::format("  a_dev: {{place: device, bytes: {}}}\n", p.m * pitch.a * 2);
  s += fmt::format("  b_dev: {{place: device, bytes: {}}}\n", p.k * pitch.b * 2);
  s += fmt::format("  c_dev: {{place: device, bytes: {}}}\n", p.m * pitch.c * out);
  s += fmt::format("kernels:\n  gemm: {{type: {}, source: gemm.s}}\n", chip.vector_cores == 0 ? "AI_CORE" : "AIC_ONLY");
  s += "streams:\n  main:\n";
  s += copy("a_dev", "a", p.m, p.k * 2, pitch.a * 2, p.k * 2);
  s += copy("b_dev", "b", p.k, p.n * 2, pitch.b * 2, p.n * 2);
  s += fmt::format("    - kernel_launch: {{kernel: gemm, block_dim: {}, args: [a_dev, b_dev, c_dev]}}\n", t.blocks);
  s += copy("c", "c_dev", p.m, p.n * out, p.n * out, pitch.c * out);
  return s;
}

}  // namespace

GemmTiling write_gemm(const GemmProblem& p, const config::ChipConfig& chip, u64 seed, const std::string& folder) {
  const GemmTiling tiling = choose_tiling(p, chip);
  const GemmPitches pitches = choose_pitches(p, chip);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder, "cannot make this folder: {}", error.message());
  Random random(seed);
  write_matrix(folder + "/a.npy", p.m, p.k, random);
  write_matrix(folder + "/b.npy", p.k, p.n, random);
  io::write_file_atomically(folder + "/gemm.s", gemm_assembly(p, tiling, pitches, chip));
  io::write_file_atomically(folder + "/gemm.yaml", gemm_yaml(p, tiling, pitches, chip));
  return tiling;
}

}  // namespace vinci::gen
