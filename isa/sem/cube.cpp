// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/cube.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "isa/census/cube.h"
#include "isa/insns/move.h"
#include "isa/sem/matmul_kernel.h"
#include "isa/shadow/cube.h"

namespace vinci::isa::insn {
namespace {

constexpr u32 kBiasAlign = 64;  // bytes

// The split core reads a single row of A as plain elements. Source: Ascend C Mmad, GEMV mode.
bool is_gemv(const Mad::Args& x, Arch arch) { return x.m == 1 && contains(kSplitArchs, arch); }

bool has_bias(const Mad::Args& x) { return x.cmatrixSource != 0 && x.init == 0; }

// Fractals in a row of A. Source: Ascend C Mmad: kDirectionAlign rounds k of f32 up to 16, and is about f32 alone.
u32 row_fractals(const Mad::Args& x) {
  const u32 k1 = ceil_div<u32>(x.k, Mad::k0(x.type));
  return x.type == Mad::f322f32 && x.kDirectionAlign != 0 ? align_up<u32>(k1, 2) : k1;
}

struct Sizes {
  u64 a = 0, b = 0, c = 0;  // bytes, in whole fractals
  u64 bias = 0;             // in whole fractals of 16 columns
};

Sizes sizes(const Mad::Args& x, Arch arch) {
  const u64 m1 = ceil_div<u64>(x.m, 16), n1 = ceil_div<u64>(x.n, 16), k1 = ceil_div<u64>(x.k, Mad::k0(x.type));
  const u64 a_row = (u64{x.k} * Mad::input_bits(x.type) + 7) / 8;  // bytes
  const u64 a_fractals = is_gemv(x, arch) ? ceil_div<u64>(a_row, kFractalBytes) : (m1 - 1) * row_fractals(x) + k1;
  return {.a = a_fractals * kFractalBytes,
          .b = k1 * n1 * kFractalBytes,
          .c = m1 * n1 * 256 * Mad::output_bytes(x.type),
          .bias = has_bias(x) ? n1 * kBiasAlign : 0};
}

void check(const Mad::Args& x, Arch arch) {
  const auto split_only = [&](std::string_view operand, u32 value) {
    if (value == 0 || contains(kSplitArchs, arch)) return;
    fail(Fault::Program, "operand {} is {}; the cube of {} has no such operand: 0", operand, value, name(arch));
  };
  split_only("unitFlag", x.unitFlag);
  split_only("kDirectionAlign", x.kDirectionAlign);
  split_only("cmatrixSource", x.cmatrixSource);
  split_only("bias", x.bias);
  if (x.unitFlag == 1) fail(Fault::Program, "operand unitFlag is 1, which is reserved; 0 is off, 2 keeps, 3 updates");
}

// Whether B may be kept in L0B as it came (FractalOrder).
bool takes_turned(const Mad::Args& x) { return x.type == Mad::f162f32 || x.type == Mad::f162f16 || x.type == Mad::s8; }

// Every row of C starts as the same values, one for each column.
void start_from_bias(const MatmulTile& t, const std::byte* bias) {
  for (u64 n1 = 0; n1 < ceil_div<u64>(t.n, 16); ++n1) {
    const u64 bytes = std::min<u64>(16, t.n - n1 * 16) * 4;
    for (u64 row = 0; row < t.m; ++row)
      std::memcpy(t.c + (n1 * align_up<u64>(t.m, 16) + row) * 64, bias + n1 * 64, bytes);
  }
}

Hf32 hf32_of(u64 ctrl_value, Hf32Ties ties) {
  if ((ctrl_value & ctrl::kHf32) == 0) return Hf32::off;
  if ((ctrl_value & ctrl::kHf32TiesToZero) != 0) return Hf32::ties_to_zero;
  return ties == Hf32Ties::away ? Hf32::ties_away : Hf32::ties_to_even;
}

MatmulType input_type(u8 type) {
  using T = MatmulType;
  constexpr std::array<T, Mad::types.size()> kTypes{T::f16, T::f16, T::s8, T::u8, T::u8s8, T::s4, T::bf16, T::f32};
  return kTypes[type];
}

}  // namespace

namespace {

// `indices`: B is sparse and has some in IDX.
Footprint footprint_of(const Mad::Args& x, const Sizes& size, bool indices) {
  const u32 output_bytes = Mad::output_bytes(x.type);
  const Access c{.buffer = BufId::L0C,
                 .align = static_cast<u16>(256 * output_bytes),
                 .address = x.c,
                 .len = static_cast<u32>(size.c),
                 .operand = "c",
                 .unit = 256 * output_bytes};
  Footprint f{{.buffer = BufId::L0A,
               .align = kFractalBytes,
               .address = x.a,
               .len = static_cast<u32>(size.a),
               .operand = "a",
               .unit = kFractalBytes},
              {.buffer = BufId::L0B,
               .align = kFractalBytes,
               .address = x.b,
               .len = static_cast<u32>(size.b),
               .operand = "b",
               .unit = kFractalBytes}};
  if (indices) {
    f.add({.buffer = BufId::IDX,
           .align = kIndexBytes,
           .address = x.b / kWeightsPerIndexByte,
           .len = static_cast<u32>(size.b / kWeightsPerIndexByte),
           .operand = "indices of b",
           .unit = kIndexBytes});
  }
  if (has_bias(x)) {
    f.add({.buffer = BufId::BT,
           .align = kBiasAlign,
           .address = x.bias,
           .len = static_cast<u32>(size.bias),
           .operand = "bias",
           // Columns beyond those of the matrix, which B has as it is loaded in squares.
           .unit = std::max(16u, Mad::k0(x.type)) * output_bytes});
  } else if (x.init == 0) {
    f.add(c);
  }
  Access written = c;
  written.write = true;
  f.add(written);
  return f;
}

}  // namespace

Footprint Mad::footprint(const Args& x, const Spr&, Arch arch) {
  check(x, arch);
  if (x.m == 0 || x.k == 0 || x.n == 0) return {};
  return footprint_of(x, sizes(x, arch), false);
}

namespace {

// Whether an element of A, B or C, all f16, is infinite or NaN.
bool reads_specials(const MatmulTile& tile, const MatmulMode& mode) {
  MatmulTile inputs = tile;
  inputs.init = true;
  const std::vector<bool> special = special_results(inputs, MatmulType::f16, mode);
  if (std::ranges::find(special, true) != special.end()) return true;
  for (u64 n = 0; !tile.init && n < tile.n; ++n) {
    for (u64 row = 0; row < tile.m; ++row) {
      u16 bits = 0;
      std::memcpy(&bits, tile.c + 2 * ((n / 16 * align_up<u64>(tile.m, 16) + row) * 16 + n % 16), sizeof bits);
      if (!f16_finite(bits)) return true;
    }
  }
  return false;
}

// `mad` to f16 whose sums are rounded after each step of k0 products: as many instructions, each of which reads C.
void execute_in_steps(const Mad::Args& x, const MatmulTile& tile, const MatmulMode& mode, ExecContext& c) {
  const u32 k0 = matmul_k0(MatmulType::f16);
  const u64 n1 = ceil_div<u64>(tile.n, 16);
  if (reads_specials(tile, mode)) c.status |= status::kCubeNanInf;  // not: sums between
  for (u32 k = 0; k < tile.k; k += k0) {
    const u64 j = k / k0;
    MatmulTile step = tile;
    step.a += j * (tile.gemv ? k0 * sizeof(u16) : kFractalBytes);
    step.b += j * n1 * kFractalBytes;
    if (step.b_turned != nullptr) step.b_turned += j * n1;
    step.k = std::min(k0, tile.k - k);
    step.init = tile.init && k == 0;
    std::optional<MadCensus> census;
    if (c.census != nullptr) census.emplace(step, MatmulType::f16, true, mode);
    std::optional<MadShadow> shadow;
    if (c.shadow != nullptr) {
      shadow.emplace(step, MatmulType::f16, true, mode,
                     MadPlaces{.a = x.a + j * (tile.gemv ? k0 * sizeof(u16) : kFractalBytes),
                               .b = x.b + j * n1 * kFractalBytes,
                               .c = x.c,
                               .from_bias = false,
                               .bias = 0});
    }
    const MatmulResult r = matmul_f16_f16(step, mode);
    if (census) census->count(r, *c.census);
    if (shadow) shadow->count(c.shadow);
    if (r.overflow) c.status |= status::kCubeOverflow;
    if (r.underflow) c.status |= status::kCubeUnderflow;
  }
}

}  // namespace

// A sum of f16 products cannot leave f32 (each is below 2^32, and adding less than 2^44 to a finite f32 never reaches
// infinity), so a non-finite f32 element always comes from a non-finite input.
void Mad::execute(const Args& x, ExecContext& c) {
  check(x, c.arch);
  if (x.m == 0 || x.k == 0 || x.n == 0) return;
  const Sizes size = sizes(x, c.arch);
  const View& l0b = c.mem[BufId::L0B];
  const bool as_it_came = takes_turned(x) && l0b.may_turn(x.b);
  const MatmulTile tile{.a = c.mem[BufId::L0A].bytes(x.a, size.a).data(),
                        .b = (as_it_came ? l0b.held(x.b, size.b) : l0b.bytes(x.b, size.b)).data(),
                        .b_turned = as_it_came ? l0b.turned(x.b) : nullptr,
                        .c = c.mem[BufId::L0C].bytes(x.c, size.c).data(),
                        .m = x.m,
                        .k = x.k,
                        .n = x.n,
                        .a_k1 = row_fractals(x),
                        .init = x.init != 0,
                        .gemv = is_gemv(x, c.arch)};
  if (has_bias(x)) start_from_bias(tile, c.mem[BufId::BT].bytes(x.bias, size.bias).data());
  MatmulMode mode{.accumulation = c.numerics.accumulation,
                  .hf32 = hf32_of(c.spr.ctrl, c.numerics.hf32_ties),
                  .saturate = (c.spr.ctrl & ctrl::kSaturateInt) != 0,
                  .unsigned_sums = x.type == u8u8 && c.arch != Arch::m200};
  if (x.type == f162f16) mode.saturate = c.overflow == OverflowMode::saturation;
  if (x.type == f162f16 && c.numerics.half_sums == HalfSums::step) return execute_in_steps(x, tile, mode, c);
  std::optional<MadCensus> census;
  if (c.census != nullptr) census.emplace(tile, input_type(x.type), x.type == f162f16, mode);
  std::optional<MadShadow> shadow;
  if (c.shadow != nullptr && is_float(input_type(x.type))) {
    shadow.emplace(tile, input_type(x.type), x.type == f162f16, mode,
                   MadPlaces{.a = x.a, .b = x.b, .c = x.c, .from_bias = has_bias(x), .bias = x.bias});
  } else if (c.shadow != nullptr) {
    for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
      point->space(BufId::L0C).clear(x.c, size.c);
  }
  const MatmulResult r = x.type == f162f16 ? matmul_f16_f16(tile, mode) : matmul(tile, input_type(x.type), mode);
  if (census) census->count(r, *c.census);
  if (shadow) shadow->count(c.shadow);
  if (r.overflow) c.status |= status::kCubeOverflow;
  if (r.underflow) c.status |= status::kCubeUnderflow;
  if (r.non_finite) c.status |= status::kCubeNanInf;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sparse weights

namespace {

// Bytes of the weights in L0B, in whole fractals.
u64 weight_bytes(const MadSp::Args& x) {
  return ceil_div<u64>(x.weights(), 32) * ceil_div<u64>(x.n, 16) * kFractalBytes;
}

// Which of four elements the two weights with these indices belong to.
std::array<u32, 2> places(u32 first, u32 second) {
  if (first > 2 || second > 2)
    fail(Fault::Program, "the indices {} and {} of two weights; indices are 0 to 2", first, second);
  return {first, first == 2 && second == 0 ? 2 : second + 1};
}

// B with its zeros, as nZ.
std::vector<std::byte> with_zeros(const MadSp::Args& x, const std::byte* weights, const std::byte* indices) {
  const u32 n1 = ceil_div<u32>(x.n, 16);
  std::vector<std::byte> b(u64{ceil_div<u32>(x.k, 32)} * n1 * kFractalBytes);
  const auto row_of = [&](u32 k, u32 column) { return (u64{k / 32} * n1 + column / 16) * 16 + column % 16; };
  for (u32 column = 0; column < x.n; ++column) {
    for (u32 w = 0; w < x.weights(); w += 2) {
      const u64 row = row_of(w, column);
      const auto two = static_cast<u32>(indices[row * 8 + w % 32 / 4]) >> (w % 4 * 2);
      const std::array<u32, 2> place = places(two & 3, two >> 2 & 3);
      for (u32 i = 0; i < 2; ++i) {
        const u32 k = w * 2 + place[i];
        const auto weight = static_cast<i8>(weights[row * 32 + w % 32 + i]);
        if (k >= x.k || weight == 0) continue;
        std::byte& element = b[row_of(k, column) * 32 + k % 32];
        const i32 sum = static_cast<i8>(element) + weight;
        if (sum < -128 || sum > 127)
          fail(Fault::Unsupported, "two weights of one element, row {} of column {}, whose sum has more than 8 bits", k,
               column);
        element = static_cast<std::byte>(sum);
      }
    }
  }
  return b;
}

}  // namespace

Footprint MadSp::footprint(const Args& x, const Spr&, Arch arch) {
  const Mad::Args dense = x.dense();
  check(dense, arch);
  if (x.m == 0 || x.k == 0 || x.n == 0) return {};
  if (is_gemv(dense, arch)) fail(Fault::Unsupported, "operand m is 1; mad_sp has no form for a single row");
  Sizes size = sizes(dense, arch);
  size.b = weight_bytes(x);
  return footprint_of(dense, size, true);
}

void MadSp::execute(const Args& x, ExecContext& c) {
  if (x.m == 0 || x.k == 0 || x.n == 0) return;
  const Mad::Args dense = x.dense();
  const Sizes size = sizes(dense, c.arch);
  const u64 bytes = weight_bytes(x);
  const auto b = with_zeros(x, c.mem[BufId::L0B].bytes(x.b, bytes).data(),
                            c.mem[BufId::IDX].bytes(x.b / kWeightsPerIndexByte, bytes / kWeightsPerIndexByte).data());
  const MatmulTile tile{.a = c.mem[BufId::L0A].bytes(x.a, size.a).data(),
                        .b = b.data(),
                        .b_turned = nullptr,
                        .c = c.mem[BufId::L0C].bytes(x.c, size.c).data(),
                        .m = x.m,
                        .k = x.k,
                        .n = x.n,
                        .a_k1 = row_fractals(dense),
                        .init = x.init != 0,
                        .gemv = false};
  if (has_bias(dense)) start_from_bias(tile, c.mem[BufId::BT].bytes(x.bias, size.bias).data());
  const MatmulMode mode{.saturate = (c.spr.ctrl & ctrl::kSaturateInt) != 0};
  std::optional<MadCensus> census;
  if (c.census != nullptr) census.emplace(tile, MatmulType::s8, false, mode);
  const MatmulResult r = matmul(tile, MatmulType::s8, mode);
  if (census) census->count(r, *c.census);
  if (r.overflow) c.status |= status::kCubeOverflow;
}

}  // namespace vinci::isa::insn
