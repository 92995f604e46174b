// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S28: products of f32 matrices on the cube, whose operands HF32 rounds to 11 bits of fraction.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "isa/table/spr.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kTile = 64;       // rows, columns and steps of k
constexpr u64 kFractal = 512;   // bytes: 16 rows of 32
constexpr u64 kC = 256 * 1024;  // bytes of L1 between A and B

enum class Mode : u8 { f32, hf32, hf32_to_zero, f16, f16_with_hf32 };
bool is_f16(Mode m) { return m == Mode::f16 || m == Mode::f16_with_hf32; }
bool rounds(Mode m) { return m != Mode::f32 && m != Mode::f16; }

// C = A * B for B that is stored as [n, k]. A block of the launch works out a tile of C. Arguments: a, b, c.
isa::BuiltProgram matmul(isa::Arch arch, u64 edge, Mode mode) {
  const u64 bytes = is_f16(mode) ? 2 : 4, tiles = edge / kTile, k0 = 32 / bytes, steps = kTile / k0;
  ProgramBuilder p("matmul", arch);
  const Reg a = p.arg("a"), b = p.arg("b"), c = p.arg("c");
  const auto [row, column, step, first] = p.regs("row", "column", "step", "first");
  if (rounds(mode)) {
    p.get_ctrl(first);
    p.or_(first, first, isa::ctrl::kHf32);
    if (mode == Mode::hf32_to_zero) p.or_(first, first, isa::ctrl::kHf32TiesToZero);
    p.set_ctrl(first);
  }
  p.set_nd_para(1);
  p.get_block_idx(column);
  p.div(row, column, tiles);
  p.rem(column, column, tiles);
  const auto move_on = [&](Reg at, Reg by, u64 bytes_each) {
    p.mul(step, by, bytes_each);
    p.add(at, at, step);
  };
  move_on(c, row, kTile * edge * 4);
  move_on(c, column, kTile * 4);
  move_on(a, row, kTile * edge * bytes);
  move_on(b, column, kTile * edge * bytes);
  p.mov(first, 1);
  p.loop(step, 0, tiles, 1, [&] {
    const auto load = [&](u64 dst, Reg src) {
      if (bytes == 2)
        p.copy_gm_to_cbuf_multi_nd2nz_b16(dst, src, 0, 1, kTile, kTile, 0, edge, kTile, 1, 0);
      else
        p.copy_gm_to_cbuf_multi_nd2nz_b32s(dst, src, 0, 1, kTile, kTile, 0, edge, kTile, 1, 0);
    };
    load(0, a);
    load(kC, b);
    p.hand_over(PipeId::MTE2, PipeId::MTE1, 0);
    for (u64 m1 = 0; m1 < kTile / 16; ++m1)
      p.load_cbuf_to_ca(m1 * steps * kFractal, 0, m1, steps, kTile / 16, 0, 0);
    p.load_cbuf_to_cb(0, kC, 0, steps * kTile / 16, 1, 0, 0);
    p.hand_over(PipeId::MTE1, PipeId::M, 0);
    p.mad(bytes == 2 ? Type::f162f32 : Type::f322f32, 0, 0, 0, kTile, kTile, kTile, first);
    p.hand_over(PipeId::M, PipeId::MTE2, 0);
    p.mov(first, 0);
    p.add(a, a, kTile * bytes);
    p.add(b, b, kTile * bytes);
  });
  p.hand_over(PipeId::M, PipeId::FIX, 0);
  p.copy_matrix_cc_to_gm(c, 0, 0, kTile, kTile, edge, kTile, 0, 0, 0, 0, 1);
  p.end_block();
  return p.finish();
}

struct Matrices {
  u64 edge = 0;
  std::vector<float> a, b;  // b as [n, k]
  std::vector<double> exact;
};

// Values of f16, so that all modes have the same matrices, would not show HF32: these are any f32.
Matrices make_matrices(u64 edge) {
  Matrices m{.edge = edge, .a = std::vector<float>(edge * edge), .b = std::vector<float>(edge * edge), .exact = {}};
  Random random(28 + edge);
  for (std::vector<float>* list : {&m.a, &m.b})
    for (float& v : *list)
      v = random.uniform();
  m.exact.resize(edge * edge);
  // Sums in the order of k, for a part of B at a time that stays in the cache of the host.
  std::vector<double> part(kTile * edge);  // of B as [k, n]
  for (u64 first = 0; first < edge; first += kTile) {
    for (u64 k = 0; k < kTile; ++k)
      for (u64 j = 0; j < edge; ++j)
        part[k * edge + j] = m.b[j * edge + first + k];
    for (u64 i = 0; i < edge; ++i)
      for (u64 k = 0; k < kTile; ++k)
        for (u64 j = 0; j < edge; ++j)
          m.exact[i * edge + j] += double{m.a[i * edge + first + k]} * part[k * edge + j];
  }
  return m;
}

task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Matrices& m, Mode mode) {
  const u64 edge = m.edge, tiles = edge / kTile, bytes = edge * edge * (is_f16(mode) ? 2 : 4);
  task::StreamBuilder s(name, chip.arch);
  const auto input = [&](const char* which, const std::vector<float>& values) {
    if (!is_f16(mode)) return s.host_data<float>(which, "f4", values);
    std::vector<u16> rounded;
    for (const float v : values)
      rounded.push_back(isa::f32_to_f16(std::bit_cast<u32>(v)));
    return s.host_data<u16>(which, "f2", rounded);
  };
  const task::BufferRef a = s.device("a_dev", bytes), b = s.device("b_dev", bytes),
                        c = s.device("c_dev", edge * edge * 4);
  task::StreamRef main = s.stream("main");
  main.memcpy(a, input("a", m.a)).memcpy(b, input("b", m.b));
  main.launch(s.kernel("matmul", task::KernelType::AIC_ONLY, matmul(chip.arch, edge, mode)), u32(tiles * tiles),
              {a, b, c});
  main.memcpy(s.host({.name = "c", .output = "c.npy", .dtype = "f4", .shape = {edge, edge}}), c);
  s.thread("main").enqueue(main);
  return s.finish();
}

struct Outcome {
  double bits = 0;  // -log2 of the error, relative to the product, both as Frobenius norms
  double us = 0;
  u64 hash = 0;  // of the bits of the result
};

Outcome outcome(const Study& study, const Matrices& m, Mode mode) {
  const std::string name =
      fmt::format("{}_{}", m.edge, std::array{"f32", "hf32", "hf32-to-zero", "f16", "f16-hf32"}[usize(mode)]);
  const Run run = study.run(name, task_stream(study.chip(), name, m, mode));
  const std::vector<float> c = run.values<float>("c");
  Outcome out{.us = run.kernel_us()};
  double error = 0, size = 0;
  for (usize i = 0; i < c.size(); ++i) {
    error += (c[i] - m.exact[i]) * (c[i] - m.exact[i]);
    size += m.exact[i] * m.exact[i];
    out.hash = out.hash * 0x9e3779b97f4a7c15u + std::bit_cast<u32>(c[i]);
  }
  out.bits = -std::log2(std::sqrt(error / size));
  return out;
}

}  // namespace

void hf32(Study& study) {
  if (study.chip().vector_cores == 0) fail(Fault::Unsupported, "S28: the cube of a joint core multiplies no f32");
  constexpr std::array<u64, 5> kEdges{64, 128, 256, 512, 1024};
  const u64 largest = study.whole("largest");
  std::vector<u64> edges;
  for (const u64 edge : kEdges)
    if (edge <= largest) edges.push_back(edge);
  const auto rows = study.variants(edges.size(), [&](usize i) {
    const Matrices m = make_matrices(edges[i]);
    std::array<Outcome, 5> out;
    for (usize mode = 0; mode < out.size(); ++mode)
      if (mode < 3 || i == 0) out[mode] = outcome(study, m, Mode(mode));
    return out;
  });
  double least = 1e300, most = 0, zero_gap = 0, exact_least = 1e300, exact_most = 0;
  for (usize i = 0; i < rows.size(); ++i) {
    const auto& [f32, near, zero, f16, f16_hf32] = rows[i];
    study.fact(fmt::format("{0} x {0} x {0}: bits with f32", edges[i]), f32.bits, "bits");
    study.fact(fmt::format("{0} x {0} x {0}: bits with HF32", edges[i]), near.bits, "bits");
    least = std::min({least, near.bits, zero.bits});
    most = std::max({most, near.bits, zero.bits});
    zero_gap = std::max(zero_gap, std::fabs(near.bits - zero.bits));
    exact_least = std::min(exact_least, f32.bits);
    exact_most = std::max(exact_most, f32.bits);
  }
  study.fact("largest product: f32", rows.back()[0].us, "us");
  study.fact("largest product: HF32", rows.back()[1].us, "us");
  study.measured("hf32_least", least);
  study.measured("hf32_most", most);
  study.measured("f32_least", exact_least);
  study.measured("f32_most", exact_most);
  study.measured("bits_lost", exact_least - most);
  study.measured("ties", zero_gap);
  study.measured("f16_differs", rows[0][3].hash == rows[0][4].hash ? 0 : 1);
  study.measured("hf32_faster", rows.back()[0].us / rows.back()[1].us);
}

}  // namespace vinci::studies
