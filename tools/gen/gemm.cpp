// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "isa/base/random.h"
#include "isa/sem/fractal_kernel.h"
#include "sim/config/unit_text.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "sim/task/load.h"

namespace vinci::gen {
namespace {

void write_matrix(const std::string& path, u64 rows, u64 columns, Random& random) {
  const std::vector<u64> shape{rows, columns};
  io::AtomicFile file(path);
  file.write(std::span<const std::byte>(io::npy_header("f2", shape)));
  std::vector<float> wide(columns);
  std::vector<std::byte> row(columns * 2);
  for (u64 r = 0; r < rows; ++r) {
    std::ranges::generate(wide, [&] { return random.uniform(); });
    isa::narrow_f32(std::as_bytes(std::span(wide)).data(), row.data(), columns, {});
    file.write(row);
  }
  file.commit();
}

// What the three matrices take, on the host or, with its pitches, on the device.
u64 matrix_bytes(const GemmProblem& p, const GemmPitches& pitch) {
  return (p.m * pitch.a + p.k * pitch.b) * 2 + p.m * pitch.c * (p.out_f32 ? 4 : 2);
}

// Before anything is made: whether it could be loaded, and run on the chip.
void check_size(const GemmProblem& p, const GemmPitches& pitches, const config::ChipConfig& chip) {
  const auto text = [](u64 bytes) { return config::write_text(config::Bytes{bytes}); };
  const u64 host = matrix_bytes(p, {.a = p.k, .b = p.n, .c = p.n}), device = matrix_bytes(p, pitches);
  const std::string what = fmt::format("a GEMM of {} x {} x {}", p.m, p.n, p.k);
  if (device > chip.memory.hbm.size) {
    fail(Fault::Limit, "{} needs {} of device memory, but {} has {}", what, text(device), chip.name,
         config::write_text(chip.memory.hbm.size));
  }
  if (host + device > task::kMaxBufferBytes) {
    fail(Fault::Limit, "{} needs buffers of {} on the host and {} on the device; a task stream has at most {}", what,
         text(host), text(device), text(task::kMaxBufferBytes));
  }
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

GemmTiling write_gemm(const GemmProblem& problem, const config::ChipConfig& chip, u64 seed, const std::string& folder) {
  GemmProblem p = problem;
  if (chip.core.flags_per_pair < 2) p.double_buffer = false;  // each slot has an event id of its own
  const GemmPitches pitches = choose_pitches(p, chip);
  check_size(p, pitches, chip);
  const GemmTiling tiling = choose_tiling(p, chip);
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
