// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Tiles of an s8 product on a cube core: two slots of L0C, FIXPIPE quantises while the next tile is computed. Between
// the cube and FIXPIPE there are unit flags and no events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/mem/layout.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

constexpr u32 kTiles = 8, kEdge = 64, kHalf = 32;  // each tile is 64 x 64 x (2 * 32)
constexpr u32 kBlock = kEdge * kHalf;              // bytes of a half of A or of B
constexpr double kScale = 0.0078125;               // 2^-7: products are exact, and half of them ties
constexpr int kOffset = -3;

std::string kernel() {
  std::string text = fmt::format(
      "      ld_arg X0, 0\n"
      "      ld_arg X1, 1\n"
      "      set_quant_pre {:#x}\n"
      "      copy_gm_to_cbuf 0, X0, 0, 1, {}, 0, 0\n"
      "      set_flag PIPE_MTE2, PIPE_MTE1, 0\n"
      "      wait_flag PIPE_MTE2, PIPE_MTE1, 0\n"
      "      load_cbuf_to_ca 0, 0, 0, 8, 1, 0, 0\n"
      "      load_cbuf_to_cb 0, {}, 0, {}, 1, 0, 0\n"
      "      set_flag PIPE_MTE1, PIPE_M, 0\n"
      "      wait_flag PIPE_MTE1, PIPE_M, 0\n",
      u64{0x3c000000} | (u64{static_cast<u32>(kOffset)} & 0x1ff) << 37 | u64{1} << 46, (2 + 2 * kTiles) * kBlock / 32,
      2 * kBlock, 2 * kTiles * kBlock / 512);
  for (u32 t = 0; t < kTiles; ++t) {
    const u32 c = t % 2 * kEdge * kEdge * 4, b = 2 * t * kBlock;
    text += fmt::format("      mad.s8 {}, 0, {}, 64, 32, 64, 1, 2\n", c, b);
    text += fmt::format("      mad.s8 {}, {}, {}, 64, 32, 64, 0, 3\n", c, kBlock, b + kBlock);
    text += fmt::format("      copy_matrix_cc_to_gm X1, {}, 0, 64, 64, 64, 64, 3, 9, {}, 0, 1\n", c, t % 2);
    text += fmt::format("      add X1, X1, {}\n", kEdge * kEdge);
  }
  return text + "      end\n";
}

task::TaskStream stream_of() {
  const std::string text = fmt::format(
      "vinci: 1\nname: quantised-gemm\narch: c220\nbuffers:\n"
      "  x: {{place: host, dtype: i1, shape: [{0}], random: true}}\n"
      "  y: {{place: host, dtype: i1, shape: [{1}]}}\n"
      "  x_dev: {{place: device, bytes: {0}}}\n"
      "  y_dev: {{place: device, bytes: {1}}}\n"
      "kernels:\n  k:\n    type: AIC_ONLY\n    code: |\n{2}"
      "streams:\n  main:\n"
      "    - memcpy_async: {{dst: x_dev, src: x}}\n"
      "    - kernel_launch: {{kernel: k, args: [x_dev, y_dev]}}\n"
      "    - memcpy_async: {{dst: y, src: y_dev}}\n",
      (2 + 2 * kTiles) * kBlock, kTiles * kEdge * kEdge, kernel());
  return task::parse_task_stream(std::as_bytes(std::span(text)), "quantised-gemm.yaml", task::FolderFiles("."));
}

int to_even(double v) {
  const double below = std::floor(v), cut = v - below;
  const bool up = cut > 0.5 || (cut == 0.5 && std::fmod(below, 2) != 0);
  return static_cast<int>(below) + (up ? 1 : 0);
}

TEST(QuantisedGemm, EqualsNaiveLoopsInEveryMode) {
  using isa::Layout;
  const task::TaskStream stream = stream_of();
  const test::Outcome out = test::run_all_modes(config::load_chip("ascend-910b1"), stream);
  const std::vector<i8> x = out.values<i8>(stream, "x"), y = out.values<i8>(stream, "y");
  for (u32 t = 0; t < kTiles; ++t) {
    for (u32 i = 0; i < kEdge; ++i) {
      for (u32 j = 0; j < kEdge; ++j) {
        int sum = 0;
        for (u32 k = 0; k < 2 * kHalf; ++k) {
          const u64 half = k / kHalf;
          sum += x[half * kBlock + isa::layout_offset(Layout::zZ, {kEdge, kHalf}, 32, i, k % kHalf)] *
                 x[(2 + 2 * t + half) * kBlock + isa::layout_offset(Layout::nZ, {kHalf, kEdge}, 32, k % kHalf, j)];
        }
        if (t % 2 == 1) sum = std::max(sum, 0);
        const int scaled = std::clamp(to_even(sum * kScale), -256, 255);
        ASSERT_EQ(y[(t * kEdge + i) * kEdge + j], std::clamp(scaled + kOffset, -128, 127)) << t << " " << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace vinci
