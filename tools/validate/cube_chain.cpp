// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Tiles of 128 x 128 x 128 f16 one after the other with one buffer for each step: GM to L1 as NZ, L1 to L0, mad,
// FIXPIPE to the same 64 KiB. If asked, a vector core then adds 256 results to themselves.
#include <utility>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Target, isa::Type;

constexpr u64 kFlag = 3;  // the result is there

isa::BuiltProgram cube_program(u64 tiles, u64 repeats, bool vector, isa::Arch arch) {
  ProgramBuilder p("cube_chain", arch);
  const isa::Const K = p.constant("K", 4096);
  const Reg a = p.reg("a"), b = p.reg("b"), c = p.reg("c"), tile = p.reg("tile"), repeat = p.reg("repeat"),
            src = p.reg("src");
  const auto steps = {std::pair{PipeId::MTE1, PipeId::MTE2}, std::pair{PipeId::M, PipeId::MTE1},
                      std::pair{PipeId::FIX, PipeId::M}};
  p.set_ffts_base_addr(1);
  p.ld_arg(a, 0);
  p.ld_arg(b, 1);
  p.ld_arg(c, 2);
  for (const auto& [from, to] : steps)
    p.set_flag(from, to, 0);
  p.mov(repeat, 0);
  const Target again = p.here("repeats");
  p.mov(tile, 0);
  const Target next = p.here("tiles");
  p.wait_flag(PipeId::MTE1, PipeId::MTE2, 0);
  p.set(src, tile * 256 + a);
  p.copy_gm_to_cbuf_multi_nd2nz_b16(0, src, 0, 1, 128, 128, 0, K, 128, 1, 0);
  p.set(src, tile * 32768 + b);
  p.copy_gm_to_cbuf_multi_nd2nz_b16(0x8000, src, 0, 1, 128, 128, 0, 128, 128, 1, 0);
  p.hand_over(PipeId::MTE2, PipeId::MTE1, 0);
  p.wait_flag(PipeId::M, PipeId::MTE1, 0);
  for (u64 i = 0; i < 8; ++i)
    p.load_cbuf_to_ca(i * 8 * 512, 0, i, 8, 8, 0, 0);
  for (u64 i = 0; i < 8; ++i)
    p.load_cbuf_to_cb(i * 8 * 512, 0x8000, i, 8, 8, 0, 1);
  p.set_flag(PipeId::MTE1, PipeId::MTE2, 0);
  p.hand_over(PipeId::MTE1, PipeId::M, 0);
  p.wait_flag(PipeId::FIX, PipeId::M, 0);
  p.mad(Type::f162f32, 0, 0, 0, 128, 128, 128, 1);
  p.set_flag(PipeId::M, PipeId::MTE1, 0);
  p.hand_over(PipeId::M, PipeId::FIX, 0);
  p.copy_matrix_cc_to_gm(c, 0, 0, 128, 128, 128, 128, 0, 0, 0, 0, 1);
  p.set_flag(PipeId::FIX, PipeId::M, 0);
  p.add(tile, tile, 1);
  p.blt(tile, tiles, next);
  p.add(repeat, repeat, 1);
  p.blt(repeat, repeats, again);
  for (const auto& [from, to] : steps)
    p.wait_flag(from, to, 0);
  if (vector) p.ffts_cross_core_sync(PipeId::FIX, 0x1 | 2 << 4 | kFlag << 8);
  p.pipe_barrier(PipeId::ALL);
  p.end();
  return p.finish();
}

isa::BuiltProgram vector_program(isa::Arch arch) {
  ProgramBuilder p("cube_chain_aiv", arch);
  const Reg c = p.reg("c", 2);
  p.set_ffts_base_addr(1);
  p.ld_arg(c, 2);
  p.wait_flag_dev(kFlag);
  p.copy_gm_to_ubuf(0, c, 0, 1, 16, 0, 0);
  p.copy_gm_to_ubuf(0x200, c, 0, 1, 16, 0, 0);
  p.hand_over(PipeId::MTE2, PipeId::V, 0);
  p.vadd(Type::f16, 0x400, 0, 0x200, 2, 1, 1, 1, 8, 8, 8);
  p.hand_over(PipeId::V, PipeId::MTE3, 0);
  p.copy_ubuf_to_gm(c, 0x400, 0, 1, 16, 0, 0);
  p.pipe_barrier(PipeId::ALL);
  p.end();
  return p.finish();
}

KernelStream cube_chain_kernel(const Params& p, const config::ChipConfig& chip) {
  const bool vector = p.flag("vector");
  const u64 operand = u64{128} * 4096 * 2;
  return {.code = cube_program(p.whole("tiles"), p.whole("repeats"), vector, chip.arch),
          .aiv_code = vector_program(chip.arch),
          .cube = true,
          .aivs = vector ? 1u : 0u,
          .l2 = l2_state(p),
          .buffers = {{operand}, {operand}, {u64{128} * 128 * 4}}};
}

}  // namespace

Family cube_chain() {
  return {.name = "cube_chain",
          .doc = "tiles of 128 x 128 x 128 on one cube core, each step with one buffer, each result to the same place",
          .parameters = {{"tiles", "", "32", "of K, at most 32"},
                         {"repeats", "", "1", "of all tiles"},
                         {"vector", "", "0", "1: a vector core works on the result, after a cross-core flag"},
                         l2_parameter("own")},
          .metrics = kernel_metrics(),
          .kernel = cube_chain_kernel,
          .measure = times_of(cube_chain_kernel)};
}

}  // namespace vinci::validate
