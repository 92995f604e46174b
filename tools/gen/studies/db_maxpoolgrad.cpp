// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <bit>

#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "tools/gen/stream_folder.h"
#include "tools/gen/studies/studies.h"

namespace vinci::gen {
namespace {

constexpr u32 kPixelBytes = 32;  // 16 channels of f16: a block
constexpr u32 kInBlocks = kPoolIn * kPoolIn;
constexpr u32 kOutBlocks = kPoolOut * kPoolOut;
static_assert(kPoolOut == 16, "a row of y is two repeats");

// One plane for each block of the launch. UB holds x, y, dy and dx of the plane.
constexpr u32 kUbX = 0, kUbY = kUbX + kInBlocks * kPixelBytes, kUbDy = kUbY + kOutBlocks * kPixelBytes,
              kUbDx = kUbDy + kOutBlocks * kPixelBytes, kUbZero = kUbDx + kInBlocks * kPixelBytes + kPixelBytes,
              kUbPart = kUbZero + kPixelBytes;
static_assert(kUbPart + 256 <= 192 * 1024);

std::string load_plane(std::string_view to, u32 arg, u32 blocks) {
  return fmt::format(
      "  ld_arg X1, {1}\n  mul X2, X0, {2} * {3}\n  add X1, X1, X2\n  copy_gm_to_ubuf {0}, X1, 0, 1, {2}, 0, 0\n", to,
      arg, blocks, kPixelBytes);
}
std::string store_plane(std::string_view from, u32 arg, u32 blocks) {
  return fmt::format(
      "  ld_arg X1, {1}\n  mul X2, X0, {2} * {3}\n  add X1, X1, X2\n  copy_ubuf_to_gm X1, {0}, 0, 1, {2}, 0, 0\n", from,
      arg, blocks, kPixelBytes);
}
std::string addresses() {
  return fmt::format(
      ".const X = {}\n.const Y = {}\n.const DY = {}\n.const DX = {}\n.const ZERO = {}\n.const PART = {}\n"
      ".const IN_ROW = {}\n.const OUT_ROW = {}\n  get_block_idx X0\n",
      kUbX, kUbY, kUbDy, kUbDx, kUbZero, kUbPart, kPoolIn * kPixelBytes, kPoolOut * kPixelBytes);
}

// X3: row of y, X4: its bytes in UB after Y or DY, X5: first byte of its windows in x after X or DX.
constexpr std::string_view kRowBegin = "  mov X3, 0\nrow:\n  mul X4, X3, OUT_ROW\n  mul X5, X3, 2 * IN_ROW\n";
std::string row_end() { return fmt::format("  add X3, X3, 1\n  blt X3, {}, row\n", kPoolOut); }

// y = max of the nine pixels of each window; the pixels of a row of windows are two blocks apart.
std::string max_pool() {
  std::string s = addresses() + load_plane("X", 0, kInBlocks);
  s += "  set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n  wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n";
  s += kRowBegin;
  s += "  add X6, X4, Y\n";
  for (u32 i = 0; i < 9; ++i) {
    s += fmt::format("  add X7, X5, X + {} * IN_ROW + {} * {}\n", i / 3, i % 3, kPixelBytes);
    s += i == 0 ? "  vmax.f16 X6, X7, X7, 2, 1, 2, 2, 8, 16, 16\n" : "  vmax.f16 X6, X6, X7, 2, 1, 1, 2, 8, 8, 16\n";
    s += "  pipe_barrier PIPE_V\n";
  }
  s += row_end() + "  set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n  wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n";
  return s + store_plane("Y", 1, kOutBlocks) + "  pipe_barrier PIPE_ALL\n  end\n";
}

// dx = sum over the windows of (x == y ? dy : 0), in the order of the windows.
std::string max_pool_grad() {
  std::string s =
      addresses() + load_plane("X", 0, kInBlocks) + load_plane("Y", 1, kOutBlocks) + load_plane("DY", 2, kOutBlocks);
  // dx is cleared in pieces: a repeat clears 8 blocks, an instruction up to 255 repeats.
  constexpr u32 kRepeats = ceil_div(kInBlocks, 8u);
  static_assert(kRepeats <= 255 && kRepeats * 8 * kPixelBytes <= kUbZero - kUbDx + kPixelBytes + 256);
  s += fmt::format("  vector_dup.f16 DX, 0, {}, 1, 1, 8, 8\n", kInBlocks / 8);
  s += "  set_vector_mask 0, 0xffff\n";
  s += fmt::format("  vector_dup.f16 DX + {}, 0, {}, 1, 1, 1, 1\n", kInBlocks / 8 * 8 * kPixelBytes, kInBlocks % 8);
  s += "  vector_dup.f16 ZERO, 0, 1, 1, 1, 8, 8\n  set_vector_mask -1, -1\n";
  s += "  set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n  wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n  pipe_barrier PIPE_V\n";
  s += kRowBegin;
  for (u32 i = 0; i < 9; ++i) {
    for (u32 half = 0; half < 2; ++half) {
      const std::string in = fmt::format("{} * IN_ROW + {} * {}", i / 3, i % 3 + 16 * half, kPixelBytes);
      s += fmt::format("  add X6, X5, X + {}\n  add X7, X4, Y + {}\n", in, half * 8 * kPixelBytes);
      s += fmt::format("  add X8, X4, DY + {}\n  add X9, X5, DX + {}\n", half * 8 * kPixelBytes, in);
      s += "  vcmp_eq.f16 X6, X7, 1, 1, 2, 1, 8, 8, 8\n  pipe_barrier PIPE_V\n";
      s += "  vsel.f16 PART, X8, ZERO, 1, 1, 1, 0, 8, 8, 8\n  pipe_barrier PIPE_V\n";
      s += "  vadd.f16 X9, X9, PART, 1, 2, 2, 1, 8, 8, 8\n  pipe_barrier PIPE_V\n";
    }
  }
  s += row_end() + "  set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n  wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n";
  return s + store_plane("DX", 3, kInBlocks) + "  pipe_barrier PIPE_ALL\n  end\n";
}

}  // namespace

std::string write_db_maxpoolgrad(const MaxPoolGradStudy& study, const config::ChipConfig& chip,
                                 const std::string& folder) {
  const u64 in = u64{study.planes} * kInBlocks * 16, out = u64{study.planes} * kOutBlocks * 16;
  Random random(study.seed);
  std::vector<u16> x(in);
  for (u16& v : x)
    v = isa::f32_to_f16(std::bit_cast<u32>(random.uniform()));
  // Gradients of one sign and size: 0.625 to 0.75.
  std::vector<float> dy(out);
  for (float& v : dy)
    v = 0.6875f + 0.0625f * random.uniform();
  StreamFolder s("db-maxpoolgrad", chip, "Overlapping windows: where does the scaled gradient overflow first?");
  s.input<u16>("x", "f2", x);
  s.input<float>("raw_dy", "f4", dy);
  s.intermediate("dy", "f2", out);
  s.output("y", "f2", out);
  s.output("dx", "f2", in);
  s.task("LossScale",
         {.input_bytes = {4},
          .scalars = 1,
          .temporaries = 1,
          .body = {"vmuls.f32 t0, in0, s0, r32, 1, 1, 8, 8", "vconv_f322f16 out, t0, r32, 1, 1, 4, 8"}},
         out, {"raw_dy", "dy"}, {std::bit_cast<u32>(static_cast<float>(study.scale))});
  s.task("MaxPool", max_pool(), study.planes, {"x", "y"});
  s.task("MaxPoolGrad", max_pool_grad(), study.planes, {"x", "y", "dy", "dx"});
  return s.write(folder);
}

}  // namespace vinci::gen
