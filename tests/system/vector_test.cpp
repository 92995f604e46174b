// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// An element-wise kernel from YAML: z = f16(f32(exp(x + y / 2)) * 0.3) over tiles, two slots of UB, several blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "isa/numeric/approx.h"
#include "isa/numeric/float16.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

constexpr u64 kElements = 5 * 1024 + 208;  // the last tile is no multiple of a repeat

constexpr std::string_view kKernel = R"(
      .const N = 5328
      .const TILE = 1024
      .const SLOT = 10240           // x, y: 2 KiB each; f32: 4 KiB; z: 2 KiB
      .alias x = X0
      .alias y = X1
      .alias z = X2
      .alias tile = X3
      .alias step = X4
      .alias slot = X5
      .alias at = X6
      .alias n = X7
      .alias blocks = X8
      .alias r16 = X9
      .alias r32 = X10
      .alias ubx = X11
      .alias uby = X12
      .alias ubw = X13
      .alias ubz = X14
      .alias gm = X15
        ld_arg x, 0
        ld_arg y, 1
        ld_arg z, 2
        get_block_idx tile
        get_block_num step
        mov slot, 0
        set_flag PIPE_V, PIPE_MTE2, EVENT_ID0
        set_flag PIPE_V, PIPE_MTE2, EVENT_ID1
        set_flag PIPE_MTE3, PIPE_V, EVENT_ID0
        set_flag PIPE_MTE3, PIPE_V, EVENT_ID1
      loop:
        mul at, tile, TILE
        bge at, N, finish
        sub n, N, at
        min n, n, TILE
        shr blocks, n, 4
        add r16, n, 127
        shr r16, r16, 7
        add r32, n, 63
        shr r32, r32, 6
        shl at, at, 1
        mul ubx, slot, SLOT
        add uby, ubx, 2048
        add ubw, ubx, 4096
        add ubz, ubx, 8192
        wait_flag PIPE_V, PIPE_MTE2, slot
        add gm, x, at
        copy_gm_to_ubuf ubx, gm, 0, 1, blocks, 0, 0
        add gm, y, at
        copy_gm_to_ubuf uby, gm, 0, 1, blocks, 0, 0
        set_flag PIPE_MTE2, PIPE_V, slot
        wait_flag PIPE_MTE2, PIPE_V, slot
        wait_flag PIPE_MTE3, PIPE_V, slot
        vmuls.f16 uby, uby, 0.5h, r16, 1, 1, 8, 8
        pipe_barrier PIPE_V
        vadd.f16 ubx, ubx, uby, r16, 1, 1, 1, 8, 8, 8
        pipe_barrier PIPE_V
        vexp.f16 ubx, ubx, r16, 1, 1, 8, 8
        pipe_barrier PIPE_V
        vconv_f162f32 ubw, ubx, r32, 1, 1, 8, 4
        pipe_barrier PIPE_V
        vmuls.f32 ubw, ubw, 0.3f, r32, 1, 1, 8, 8
        pipe_barrier PIPE_V
        vconv_f322f16 ubz, ubw, r32, 1, 1, 4, 8
        set_flag PIPE_V, PIPE_MTE2, slot
        set_flag PIPE_V, PIPE_MTE3, slot
        wait_flag PIPE_V, PIPE_MTE3, slot
        add gm, z, at
        copy_ubuf_to_gm gm, ubz, 0, 1, blocks, 0, 0
        set_flag PIPE_MTE3, PIPE_V, slot
        xor slot, slot, 1
        add tile, tile, step
        b loop
      finish:
        wait_flag PIPE_V, PIPE_MTE2, EVENT_ID0
        wait_flag PIPE_V, PIPE_MTE2, EVENT_ID1
        wait_flag PIPE_MTE3, PIPE_V, EVENT_ID0
        wait_flag PIPE_MTE3, PIPE_V, EVENT_ID1
        end
)";

std::string hex(const std::vector<u16>& values) {
  std::string out;
  for (const u16 v : values)
    out += fmt::format("{:02x}{:02x}", v & 255, v >> 8);
  return out;
}

task::TaskStream element_wise(const config::ChipConfig& chip, const std::vector<u16>& x, const std::vector<u16>& y) {
  const std::string host = fmt::format("place: host, dtype: f2, shape: [{}]", kElements);
  std::string text = fmt::format("vinci: 1\nname: element-wise\narch: {}\nbuffers:\n", isa::name(chip.arch));
  text += fmt::format("  x: {{{}, data: {}}}\n  y: {{{}, data: {}}}\n  z: {{{}}}\n", host, hex(x), host, hex(y), host);
  for (const std::string_view name : {"x_dev", "y_dev", "z_dev"})
    text += fmt::format("  {}: {{place: device, bytes: {}}}\n", name, kElements * 2);
  text += fmt::format("kernels:\n  k:\n    type: {}\n    code: |{}", chip.vector_cores > 0 ? "AIV_ONLY" : "AI_CORE",
                      kKernel);
  text +=
      "streams:\n  main:\n"
      "    - memcpy_async: {dst: x_dev, src: x}\n"
      "    - memcpy_async: {dst: y_dev, src: y}\n"
      "    - kernel_launch: {kernel: k, block_dim: 3, args: [x_dev, y_dev, z_dev]}\n"
      "    - memcpy_async: {dst: z, src: z_dev}\n";
  return task::parse_task_stream(std::as_bytes(std::span(text)), "element-wise.yaml", task::FolderFiles("."));
}

class ElementWise : public testing::TestWithParam<std::string> {};

TEST_P(ElementWise, EqualsTheScalarFunctionsBitForBit) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  const isa::OverflowMode mode = chip.numerics.overflow_mode;
  std::vector<u16> x(kElements), y(kElements);
  for (u64 i = 0; i < kElements; ++i) {
    x[i] = isa::f16_bits(static_cast<double>(i * 37 % 2003) / 256 - 4);
    y[i] = isa::f16_bits(static_cast<double>(i * 53 % 997) / 128 - 4);
  }
  x[5] = isa::f16_bits(60000);  // overflows in vadd
  y[5] = isa::f16_bits(60000);
  x[kElements - 1] = isa::f16_bits(12);  // overflows in vexp
  y[kElements - 1] = 0;
  x[6] = isa::f16_bits(-20);  // underflows in vexp
  const task::TaskStream stream = element_wise(chip, x, y);
  const std::vector<u16> z = test::run_all_modes(chip, stream).values<u16>(stream, "z");
  ASSERT_EQ(z.size(), kElements);
  for (u64 i = 0; i < kElements; ++i) {
    const u16 half = isa::saturate_f16(isa::f16_mul(y[i], isa::f16_bits(0.5)), mode);
    const u16 sum = isa::saturate_f16(isa::f16_add(x[i], half), mode);
    const u16 e = isa::saturate_f16(isa::f16_exp(sum), mode);
    const u32 scaled = std::bit_cast<u32>(isa::f16_value(e) * 0.3f);
    ASSERT_EQ(z[i], isa::saturate_f16(isa::f32_to_f16(scaled), mode)) << i;
  }
  // The overflows above are seen: the result is infinite, or the largest value times 0.3.
  const u16 large = mode == isa::OverflowMode::inf_nan ? isa::kF16Inf : isa::f16_bits(65504 * double{0.3f});
  EXPECT_EQ(z[5], large);
  EXPECT_EQ(z[kElements - 1], large);
  EXPECT_EQ(z[6], 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, ElementWise,
                         testing::Values("ascend-910b1", "ascend-910a", "ascend-310p3", "ascend-310", "tiny"),
                         [](const auto& info_of) {
                           std::string name = info_of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace vinci
