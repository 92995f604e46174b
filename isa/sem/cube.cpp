// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/cube.h"

#include "isa/insns/move.h"
#include "isa/sem/matmul_kernel.h"

namespace vinci::isa::insn {
namespace {

// The split core reads a single row of A as plain elements. Source: Ascend C Mmad, GEMV mode.
bool is_gemv(const Mad::Args& x, Arch arch) { return x.m == 1 && contains(kSplitArchs, arch); }

struct Sizes {
  u64 a = 0, b = 0, c = 0;  // bytes, in whole fractals
};

Sizes sizes(const Mad::Args& x, Arch arch) {
  const u64 m1 = ceil_div<u64>(x.m, 16), n1 = ceil_div<u64>(x.n, 16), k1 = ceil_div<u64>(x.k, Mad::k0(x.type));
  const u64 a_fractals = is_gemv(x, arch) ? ceil_div<u64>(x.k * u64{Mad::input_bytes(x.type)}, kFractalBytes) : m1 * k1;
  return {
      .a = a_fractals * kFractalBytes, .b = k1 * n1 * kFractalBytes, .c = m1 * n1 * 256 * Mad::output_bytes(x.type)};
}

}  // namespace

Footprint Mad::footprint(const Args& x, const Spr&, Arch arch) {
  if (x.m == 0 || x.k == 0 || x.n == 0) return {};
  const Sizes size = sizes(x, arch);
  const Access c{.buffer = BufId::L0C,
                 .align = static_cast<u16>(256 * output_bytes(x.type)),
                 .address = x.c,
                 .len = static_cast<u32>(size.c),
                 .operand = "c"};
  Footprint f{
      {.buffer = BufId::L0A, .align = kFractalBytes, .address = x.a, .len = static_cast<u32>(size.a), .operand = "a"},
      {.buffer = BufId::L0B, .align = kFractalBytes, .address = x.b, .len = static_cast<u32>(size.b), .operand = "b"}};
  if (x.init == 0) f.add(c);
  Access written = c;
  written.write = true;
  f.add(written);
  return f;
}

// STATUS: a sum of f16 products cannot leave f32 (each is below 2^32, and adding less than 2^44 to a finite f32 never
// reaches infinity), so a non-finite f32 element always comes from a non-finite input.
void Mad::execute(const Args& x, ExecContext& c) {
  if (x.m == 0 || x.k == 0 || x.n == 0) return;
  const Sizes size = sizes(x, c.arch);
  const MatmulTile tile{.a = c.mem[BufId::L0A].bytes(x.a, size.a).data(),
                        .b = c.mem[BufId::L0B].bytes(x.b, size.b).data(),
                        .c = c.mem[BufId::L0C].bytes(x.c, size.c).data(),
                        .m = x.m,
                        .k = x.k,
                        .n = x.n,
                        .init = x.init != 0,
                        .gemv = is_gemv(x, c.arch)};
  switch (x.type) {
    case f162f32:
      if (matmul_f16_f32(tile)) c.status |= status::kCubeNanInf;
      return;
    case f162f16: {
      const MatmulF16Result r = matmul_f16_f16(tile, c.overflow == OverflowMode::saturation);
      if (r.overflow) c.status |= status::kCubeOverflow;
      if (r.underflow) c.status |= status::kCubeUnderflow;
      if (r.non_finite) c.status |= status::kCubeNanInf;
      return;
    }
    case s8:
      if (matmul_s8_s32(tile, (c.spr.ctrl & ctrl::kSaturateInt) != 0)) c.status |= status::kCubeOverflow;
      return;
    default: fail(Fault::Internal, "mad: type form {} has no meaning", x.type);
  }
}

}  // namespace vinci::isa::insn
