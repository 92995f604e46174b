// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
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

using isa::PipeId;
using isa::Reg;
using isa::Type;

// What both kernels have in common. Positions in a row of the output are in registers.
class Plane {
 public:
  Plane(std::string name, isa::Arch arch) : p(std::move(name), arch) { p.get_block_idx(block_); }

  isa::BuiltProgram finish() {
    p.pipe_barrier(PipeId::ALL);
    p.end();
    return p.finish();
  }

 protected:
  void load(isa::Const to, u64 arg, i64 blocks) {
    locate(arg, blocks);
    p.copy_gm_to_ubuf(to, at_, 0, 1, blocks, 0, 0);
  }
  void store(isa::Const from, u64 arg, i64 blocks) {
    p.hand_over(PipeId::V, PipeId::MTE3, 0);
    locate(arg, blocks);
    p.copy_ubuf_to_gm(at_, from, 0, 1, blocks, 0, 0);
  }
  // body() for each row of y.
  template <class Body>
  void rows(const Body& body) {
    p.mov(row_, 0);
    const isa::Target next = p.here("row");
    p.mul(row_at, row_, OUT_ROW);
    p.mul(windows_at, row_, 2 * IN_ROW);
    body();
    p.add(row_, row_, 1);
    p.blt(row_, kPoolOut, next);
  }
  // Where pixel `i` of the first window is, from the first byte of its row.
  i64 pixel(u32 i) const { return i / 3 * IN_ROW + i % 3 * i64{kPixelBytes}; }
  void fence() { p.pipe_barrier(PipeId::V); }

  isa::ProgramBuilder p;
  const isa::Const X = p.constant("X", kUbX), Y = p.constant("Y", kUbY), DY = p.constant("DY", kUbDy),
                   DX = p.constant("DX", kUbDx), ZERO = p.constant("ZERO", kUbZero), PART = p.constant("PART", kUbPart),
                   IN_ROW = p.constant("IN_ROW", kPoolIn*kPixelBytes),
                   OUT_ROW = p.constant("OUT_ROW", kPoolOut*kPixelBytes);

 private:
  // The plane of this block in the buffer of an argument.
  void locate(u64 arg, i64 blocks) {
    p.ld_arg(at_, arg);
    p.mul(plane_, block_, blocks * kPixelBytes);
    p.add(at_, at_, plane_);
  }

  const Reg block_ = p.reg("block"), at_ = p.reg("at"), plane_ = p.reg("plane"), row_ = p.reg("row");

 protected:
  // Bytes of a row in UB after Y or DY; first byte of its windows after X or DX.
  const Reg row_at = p.reg("row_at"), windows_at = p.reg("windows_at");
  const Reg a = p.reg("a"), b = p.reg("b"), c = p.reg("c"), d = p.reg("d");
};

// y = max of the nine pixels of each window; the pixels of a row of windows are two blocks apart.
class MaxPool : Plane {
 public:
  explicit MaxPool(isa::Arch arch) : Plane("MaxPool", arch) {}

  isa::BuiltProgram program() {
    load(X, 0, kInBlocks);
    p.hand_over(PipeId::MTE2, PipeId::V, 0);
    rows([&] {
      p.add(a, row_at, Y);
      for (u32 i = 0; i < 9; ++i) {
        p.add(b, windows_at, X + pixel(i));
        if (i == 0) {
          p.vmax(Type::f16, a, b, b, 2, 1, 2, 2, 8, 16, 16);
        } else {
          p.vmax(Type::f16, a, a, b, 2, 1, 1, 2, 8, 8, 16);
        }
        fence();
      }
    });
    store(Y, 1, kOutBlocks);
    return finish();
  }
};

// dx = sum over the windows of (x == y ? dy : 0), in the order of the windows.
class MaxPoolGrad : Plane {
 public:
  explicit MaxPoolGrad(isa::Arch arch) : Plane("MaxPoolGrad", arch) {}

  isa::BuiltProgram program() {
    load(X, 0, kInBlocks);
    load(Y, 1, kOutBlocks);
    load(DY, 2, kOutBlocks);
    clear();
    p.hand_over(PipeId::MTE2, PipeId::V, 0);
    fence();
    rows([&] {
      for (u32 i = 0; i < 9; ++i) {
        for (u32 half = 0; half < 2; ++half)
          add(pixel(i) + 16 * half * i64{kPixelBytes}, half * 8 * i64{kPixelBytes});
      }
    });
    store(DX, 3, kInBlocks);
    return finish();
  }

 private:
  // dx is cleared in pieces: a repeat clears 8 blocks, an instruction up to 255 repeats.
  void clear() {
    constexpr u32 kRepeats = ceil_div(kInBlocks, 8u);
    static_assert(kRepeats <= 255 && kRepeats * 8 * kPixelBytes <= kUbZero - kUbDx + kPixelBytes + 256);
    p.vector_dup(Type::f16, DX, 0, kInBlocks / 8, 1, 1, 8, 8);
    p.set_vector_mask(0, 0xffff);
    p.vector_dup(Type::f16, DX + kInBlocks / 8 * 8 * kPixelBytes, 0, kInBlocks % 8, 1, 1, 1, 1);
    p.vector_dup(Type::f16, ZERO, 0, 1, 1, 1, 8, 8);
    p.set_vector_mask(-1, -1);
  }

  // One pixel of eight windows: at `in` from their first, at `out` in the row of y and dy.
  void add(i64 in, i64 out) {
    p.add(a, windows_at, X + in);
    p.add(b, row_at, Y + out);
    p.add(c, row_at, DY + out);
    p.add(d, windows_at, DX + in);
    p.vcmp_eq(Type::f16, a, b, 1, 1, 2, 1, 8, 8, 8);
    fence();
    p.vsel(Type::f16, PART, c, ZERO, 1, 1, 1, 0, 8, 8, 8);
    fence();
    p.vadd(Type::f16, d, d, PART, 1, 2, 2, 1, 8, 8, 8);
    fence();
  }
};

}  // namespace

StreamFolder db_maxpoolgrad_stream(const MaxPoolGradStudy& study, const config::ChipConfig& chip) {
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
  s.task("LossScale", scaled_store(), out, {"raw_dy", "dy"}, {std::bit_cast<u32>(static_cast<float>(study.scale))});
  s.task("MaxPool", MaxPool(chip.arch).program(), study.planes, {"x", "y"});
  s.task("MaxPoolGrad", MaxPoolGrad(chip.arch).program(), study.planes, {"x", "y", "dy", "dx"});
  return s;
}

std::string write_db_maxpoolgrad(const MaxPoolGradStudy& study, const config::ChipConfig& chip,
                                 const std::string& folder) {
  return db_maxpoolgrad_stream(study, chip).write(folder);
}

}  // namespace vinci::gen
