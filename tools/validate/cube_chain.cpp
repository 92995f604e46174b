// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Tiles of 128 x 128 x 128 f16 one after the other with one buffer for each step: GM to L1 as NZ, L1 to L0, mad,
// FIXPIPE to the same 64 KiB. If asked, a vector core then adds 256 results to themselves.
#include <fmt/format.h>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

constexpr std::string_view kCube = R"(.const K = 4096
.alias a = X0
.alias b = X1
.alias c = X2
.alias tile = X3
.alias repeat = X4
.alias src = X5
  set_ffts_base_addr 1
  ld_arg a, 0
  ld_arg b, 1
  ld_arg c, 2
  set_flag PIPE_MTE1, PIPE_MTE2, 0
  set_flag PIPE_M, PIPE_MTE1, 0
  set_flag PIPE_FIX, PIPE_M, 0
  mov repeat, 0
repeats:
  mov tile, 0
tiles:
  wait_flag PIPE_MTE1, PIPE_MTE2, 0
  mul src, tile, 256
  add src, src, a
  copy_gm_to_cbuf_multi_nd2nz_b16 0, src, 0, 1, 128, 128, 0, K, 128, 1, 0
  mul src, tile, 32768
  add src, src, b
  copy_gm_to_cbuf_multi_nd2nz_b16 0x8000, src, 0, 1, 128, 128, 0, 128, 128, 1, 0
  set_flag PIPE_MTE2, PIPE_MTE1, 0
  wait_flag PIPE_MTE2, PIPE_MTE1, 0
  wait_flag PIPE_M, PIPE_MTE1, 0
)";

std::string cube_text(u64 tiles, u64 repeats, bool vector) {
  std::string s(kCube);
  for (u64 i = 0; i < 8; ++i)
    s += fmt::format("  load_cbuf_to_ca {}, 0, {}, 8, 8, 0, 0\n", i * 8 * 512, i);
  for (u64 i = 0; i < 8; ++i)
    s += fmt::format("  load_cbuf_to_cb {}, 0x8000, {}, 8, 8, 0, 1\n", i * 8 * 512, i);
  s += fmt::format(R"(  set_flag PIPE_MTE1, PIPE_MTE2, 0
  set_flag PIPE_MTE1, PIPE_M, 0
  wait_flag PIPE_MTE1, PIPE_M, 0
  wait_flag PIPE_FIX, PIPE_M, 0
  mad.f162f32 0, 0, 0, 128, 128, 128, 1
  set_flag PIPE_M, PIPE_MTE1, 0
  set_flag PIPE_M, PIPE_FIX, 0
  wait_flag PIPE_M, PIPE_FIX, 0
  copy_matrix_cc_to_gm c, 0, 0, 128, 128, 128, 128, 0, 0, 0, 0, 1
  set_flag PIPE_FIX, PIPE_M, 0
  add tile, tile, 1
  blt tile, {}, tiles
  add repeat, repeat, 1
  blt repeat, {}, repeats
  wait_flag PIPE_MTE1, PIPE_MTE2, 0
  wait_flag PIPE_M, PIPE_MTE1, 0
  wait_flag PIPE_FIX, PIPE_M, 0
)",
                   tiles, repeats);
  if (vector) s += "  ffts_cross_core_sync PIPE_FIX, 0x1 | 2 << 4 | 3 << 8\n";
  return s + "  pipe_barrier PIPE_ALL\n  end\n";
}

constexpr std::string_view kVector = R"(  set_ffts_base_addr 1
  ld_arg X2, 2
  wait_flag_dev 3
  copy_gm_to_ubuf 0, X2, 0, 1, 16, 0, 0
  copy_gm_to_ubuf 0x200, X2, 0, 1, 16, 0, 0
  set_flag PIPE_MTE2, PIPE_V, 0
  wait_flag PIPE_MTE2, PIPE_V, 0
  vadd.f16 0x400, 0, 0x200, 2, 1, 1, 1, 8, 8, 8
  set_flag PIPE_V, PIPE_MTE3, 0
  wait_flag PIPE_V, PIPE_MTE3, 0
  copy_ubuf_to_gm X2, 0x400, 0, 1, 16, 0, 0
  pipe_barrier PIPE_ALL
  end
)";

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
  const bool vector = p.flag("vector");
  const u64 operand = u64{128} * 4096 * 2;
  return {.code = cube_text(p.whole("tiles"), p.whole("repeats"), vector),
          .aiv_code = std::string(kVector),
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
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
