// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fixpipe.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "isa/numeric/float16.h"
#include "isa/sem/fractal_kernel.h"

// Both ways out of L0C round f32 to f16 to nearest even, with the saturation of the run, and record STATUS bits 8 and 9
// (for FIXPIPE that is a modelling choice: the public bit descriptions name L0C to UB only).
namespace vinci::isa::insn {
namespace {

constexpr u64 kFractalElements = 256;

void record(Narrowed n, ExecContext& c) {
  if (n.overflow) c.status |= status::kL0cToUbOverflow;
  if (n.underflow) c.status |= status::kL0cToUbUnderflow;
}

template <class Bits, class F>
void each(std::span<const std::byte> from, std::byte* into, F&& f) {
  for (usize i = 0; i < from.size(); i += sizeof(Bits)) {
    Bits v;
    std::memcpy(&v, from.data() + i, sizeof v);
    v = f(v);
    std::memcpy(into + i, &v, sizeof v);
  }
}

void relu_s32(std::span<const std::byte> from, std::byte* into) {
  each<i32>(from, into, [](i32 v) { return std::max(v, 0); });
}

// ---------------------------------------------------------------------------------------------------------------------
// copy_matrix_cc_to_ubuf

CrMode checked_mode(const CopyMatrixCcToUbuf::Args& x) {
  using T = CopyMatrixCcToUbuf;
  switch (static_cast<CrMode>(x.crmode)) {
    case CrMode::none:
    case CrMode::relu: return static_cast<CrMode>(x.crmode);
    case CrMode::f32_to_f16:
    case CrMode::f32_to_f16_relu:
      if (x.type != T::f32) {
        fail(Fault::Program,
             "operand crmode is {}, which converts f32; copy_matrix_cc_to_ubuf.{} takes 0 (none) or 5 (relu)", x.crmode,
             T::types[x.type].name);
      }
      return static_cast<CrMode>(x.crmode);
  }
  fail(
      Fault::Unsupported,
      "operand crmode is {}; copy_matrix_cc_to_ubuf models 0 (none), 1 (f32 to f16), 2 (f32 to f16 and relu), 5 (relu)",
      x.crmode);
}

u32 output_bytes(CrMode mode, u8 type) {
  return mode == CrMode::f32_to_f16 || mode == CrMode::f32_to_f16_relu ? 2 : CopyMatrixCcToUbuf::source_bytes(type);
}

}  // namespace

Footprint CopyMatrixCcToUbuf::footprint(const Args& x, const Spr&, Arch) {
  const CrMode mode = checked_mode(x);
  const u64 elements = x.lenBurst * kFractalElements;
  const u32 fractal = static_cast<u32>(kFractalElements) * source_bytes(x.type);
  const u32 in = static_cast<u32>(elements) * source_bytes(x.type);
  const u32 out = static_cast<u32>(elements) * output_bytes(mode, x.type);
  return {{.buffer = BufId::L0C,
           .align = static_cast<u16>(fractal),
           .address = x.src,
           .len = in,
           .count = {x.nBurst, 1, 1},
           .stride = {i64{in} + i64{x.srcStride} * fractal, 0, 0},
           .operand = "src"},
          {.buffer = BufId::UB,
           .write = true,
           .align = kBlockBytes,
           .address = x.dst,
           .len = out,
           .count = {x.nBurst, 1, 1},
           .stride = {i64{out} + i64{x.dstStride} * kBlockBytes, 0, 0},
           .operand = "dst"}};
}

void CopyMatrixCcToUbuf::execute(const Args& x, ExecContext& c) {
  const CrMode mode = checked_mode(x);
  const u64 elements = x.lenBurst * kFractalElements;
  const u64 in = elements * source_bytes(x.type);
  const u64 out = elements * output_bytes(mode, x.type);
  const u64 src_step = in + u64{x.srcStride} * kFractalElements * source_bytes(x.type);
  const u64 dst_step = out + u64{x.dstStride} * kBlockBytes;
  for (u64 i = 0; i < x.nBurst; ++i) {
    const std::span<const std::byte> from = c.mem[BufId::L0C].bytes(x.src + i * src_step, in);
    std::byte* into = c.mem[BufId::UB].bytes(x.dst + i * dst_step, out).data();
    switch (mode) {
      case CrMode::none: std::memcpy(into, from.data(), in); break;
      case CrMode::f32_to_f16:
      case CrMode::f32_to_f16_relu:
        record(narrow_f32(from.data(), into, elements,
                          {.saturate = c.overflow == OverflowMode::saturation, .relu = mode != CrMode::f32_to_f16}),
               c);
        break;
      case CrMode::relu:
        if (x.type == s32) {
          relu_s32(from, into);
        } else if (x.type == f32) {
          each<u32>(from, into, f32_relu);
        } else {
          each<u16>(from, into, f16_relu);
        }
        break;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// copy_matrix_cc_to_gm

namespace {

constexpr u64 kRowElements = 16;                         // of a block column
constexpr u64 kRowBytes = kRowElements * sizeof(float);  // in L0C

void check(const CopyMatrixCcToGm::Args& x) {
  const auto only = [](std::string_view operand, unsigned value, std::string_view modelled) {
    fail(Fault::Unsupported, "operand {} is {}; copy_matrix_cc_to_gm models {}", operand, value, modelled);
  };
  if (x.unitFlag != 0) only("unitFlag", x.unitFlag, "0 (off)");
  if (x.quantPre > 1) only("QuantPRE", x.quantPre, "0 (none) and 1 (f32 to f16)");
  if (x.reluPre > 1) only("ReLUPRE", x.reluPre, "0 (none) and 1 (relu)");
  if (x.channelSplit != 0) only("channelSplit", x.channelSplit, "0 (off)");
}

// Elements from L0C as they leave. Without conversion the instruction does not say whether they are f32 or s32, so relu
// looks at the sign alone, which is right for both: NaN that the cube makes have no sign.
void convert(const CopyMatrixCcToGm::Args& x, const std::byte* from, std::byte* into, u64 count, ExecContext& c) {
  if (x.quantPre == static_cast<u8>(QuantPre::f32_to_f16)) {
    record(narrow_f32(from, into, count, {.saturate = c.overflow == OverflowMode::saturation, .relu = x.reluPre != 0}),
           c);
  } else if (x.reluPre != 0) {
    relu_s32({from, count * sizeof(i32)}, into);
  } else {
    std::memcpy(into, from, count * sizeof(float));
  }
}

}  // namespace

Footprint CopyMatrixCcToGm::footprint(const Args& x, const Spr&, Arch) {
  check(x);
  const u32 columns = ceil_div<u32>(x.nSize, kRowElements);
  const u32 element = output_bytes(x);
  Access dst{.buffer = BufId::GM, .write = true, .address = x.dst, .operand = "dst"};
  if (x.nz2nd != 0) {
    dst.len = x.nSize * element;
    dst.count = {x.mSize, 1, 1};
    dst.stride = {i64{x.dstStride} * element, 0, 0};
  } else {
    dst.align = kBlockBytes;
    dst.len = static_cast<u32>(x.mSize * kRowElements * element);
    dst.count = {columns, 1, 1};
    dst.stride = {i64{x.dstStride} * kBlockBytes, 0, 0};
  }
  return {{.buffer = BufId::L0C,
           .align = kRowBytes,
           .address = x.src,
           .len = static_cast<u32>(x.mSize * kRowBytes),
           .count = {columns, 1, 1},
           .stride = {static_cast<i64>(x.srcStride * kRowBytes), 0, 0},
           .operand = "src"},
          dst};
}

// NZ writes whole rows of 16: columns from NSize up to the next multiple of 16 leave as they stand in L0C.
void CopyMatrixCcToGm::execute(const Args& x, ExecContext& c) {
  check(x);
  const u64 element = output_bytes(x);
  const u64 columns = ceil_div<u64>(x.nSize, kRowElements);
  const View& l0c = c.mem[BufId::L0C];
  std::array<std::byte, 4096 * sizeof(float)> out;
  if (x.nz2nd == 0) {
    for (u64 n1 = 0; n1 < columns; ++n1) {
      const u64 count = x.mSize * kRowElements;
      const std::byte* from = l0c.bytes(x.src + n1 * x.srcStride * kRowBytes, count * sizeof(float)).data();
      const u64 into = x.dst + n1 * x.dstStride * kBlockBytes;
      for (u64 done = 0; done < count;) {
        const u64 now = std::min<u64>(count - done, out.size() / sizeof(float));
        convert(x, from + done * sizeof(float), out.data(), now, c);
        c.mem.gm().write(into + done * element, std::span(out).first(now * element));
        done += now;
      }
    }
    return;
  }
  std::array<std::byte, 4096 * sizeof(float)> row;  // NSize has 12 bits
  VINCI_CHECK(x.nSize <= row.size() / sizeof(float));
  for (u64 m = 0; m < x.mSize; ++m) {
    for (u64 n1 = 0; n1 < columns; ++n1) {
      const u64 from = x.src + (n1 * x.srcStride + m) * kRowBytes;
      std::memcpy(row.data() + n1 * kRowBytes, l0c.bytes(from, kRowBytes).data(), kRowBytes);
    }
    convert(x, row.data(), out.data(), x.nSize, c);
    c.mem.gm().write(x.dst + m * x.dstStride * element, std::span(out).first(x.nSize * element));
  }
}

}  // namespace vinci::isa::insn
