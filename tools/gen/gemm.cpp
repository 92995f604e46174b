// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/base/random.h"
#include "isa/sem/fractal_kernel.h"
#include "sim/config/unit_text.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/io/npy.h"
#include "sim/task/files.h"
#include "sim/task/load.h"
#include "sim/task/stream_builder.h"

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
void copy(task::StreamRef& stream, task::BufferRef dst, task::BufferRef src, u64 rows, u64 row_bytes, u64 dst_pitch,
          u64 src_pitch) {
  if (dst_pitch == row_bytes && src_pitch == row_bytes) {
    stream.memcpy(dst, src);
  } else {
    stream.memcpy_2d(dst, dst_pitch, src, src_pitch, row_bytes, rows);
  }
}

// The matrices A and B are in files of the folder.
task::BuiltStream gemm_stream(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch,
                              const config::ChipConfig& chip, const std::string& folder) {
  const u64 out = p.out_f32 ? 4 : 2;
  task::StreamBuilder s(
      "gemm", chip.arch, 1,
      fmt::format("C[{0},{1}] = A[{0},{2}] * B[{2},{1}], compiled for {3}", p.m, p.n, p.k, chip.name));
  const task::BufferRef a = s.host({.name = "a", .file = "a.npy"}), b = s.host({.name = "b", .file = "b.npy"});
  const task::BufferRef c =
      s.host({.name = "c", .output = "c.npy", .dtype = fmt::format("f{}", out), .shape = {p.m, p.n}});
  const task::BufferRef a_dev = s.device("a_dev", p.m * pitch.a * 2), b_dev = s.device("b_dev", p.k * pitch.b * 2),
                        c_dev = s.device("c_dev", p.m * pitch.c * out);
  const task::KernelRef kernel =
      s.kernel("gemm", chip.vector_cores == 0 ? task::KernelType::AI_CORE : task::KernelType::AIC_ONLY,
               gemm_program(p, t, pitch, chip));
  task::StreamRef main = s.stream("main");
  copy(main, a_dev, a, p.m, p.k * 2, pitch.a * 2, p.k * 2);
  copy(main, b_dev, b, p.k, p.n * 2, pitch.b * 2, p.n * 2);
  main.launch(kernel, t.blocks, {a_dev, b_dev, c_dev});
  copy(main, c, c_dev, p.m, p.n * out, p.n * out, pitch.c * out);
  return s.finish(task::FolderFiles(folder));
}

}  // namespace

GemmTiling write_gemm(const GemmProblem& problem, const config::ChipConfig& chip, u64 seed, const std::string& folder) {
  GemmProblem p = problem;
  if (chip.core.flags_per_pair < 2) p.double_buffer = false;  // each slot has an event id of its own
  const GemmPitches pitches = choose_pitches(p, chip);
  check_size(p, pitches, chip);
  const GemmTiling tiling = choose_tiling(p, chip);
  const io::LockedFolder locked(folder);
  Random random(seed);
  write_matrix(folder + "/a.npy", p.m, p.k, random);
  write_matrix(folder + "/b.npy", p.k, p.n, random);
  gemm_stream(p, tiling, pitches, chip, folder).files().write(locked);
  return tiling;
}

}  // namespace vinci::gen
