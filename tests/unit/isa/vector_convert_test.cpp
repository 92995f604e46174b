// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_convert.h"

#include <gmock/gmock.h>

#include "isa/insns/vector_arith.h"
#include "tests/unit/isa/vector_model.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

constexpr u64 kSrc = 0, kDst = 0x2000;

double convert_one(std::string_view mnemonic, LaneType from, LaneType to, double x, u64 ctrl = 0) {
  TestCore core;
  core.spr.ctrl |= ctrl;
  const u64 bits = lane_bits_of(from, x);
  std::memcpy(core.mem[BufId::UB].bytes(kSrc, 8).data(), &bits, lane_bytes(from));
  core.spr.vector_mask = {1, 0};
  VectorCall call(mnemonic);
  call.operands = {{"dst", kDst}, {"src", kSrc}, {"repeat", 1}, {"dstBlkStride", 1}, {"srcBlkStride", 1}};
  call.run(core);
  u64 result = 0;
  std::memcpy(&result, core.mem[BufId::UB].bytes(kDst, 8).data(), lane_bytes(to));
  return lane_value_of(to, result);
}

// The letter of the mnemonic chooses the rounding, on ties of both signs.
TEST(VectorConvert, LettersChooseTheRounding) {
  struct Letter {
    char letter;
    std::array<double, 4> of;  // 2.5, -2.5, 3.5, -3.5
  };
  for (const Letter& l : {Letter{'r', {2, -2, 4, -4}}, Letter{'a', {3, -3, 4, -4}}, Letter{'f', {2, -3, 3, -4}},
                          Letter{'c', {3, -2, 4, -3}}, Letter{'z', {2, -2, 3, -3}}}) {
    const std::array<double, 4> in{2.5, -2.5, 3.5, -3.5};
    for (usize i = 0; i < in.size(); ++i) {
      for (const auto& [pair, from, to] :
           {std::tuple{"f162s32", LaneType::f16, LaneType::s32}, std::tuple{"f162s8", LaneType::f16, LaneType::s8},
            std::tuple{"f322s16", LaneType::f32, LaneType::s16}, std::tuple{"f322s64", LaneType::f32, LaneType::s64},
            std::tuple{"f322f32", LaneType::f32, LaneType::f32},
            std::tuple{"bf162s32", LaneType::bf16, LaneType::s32}}) {
        EXPECT_EQ(convert_one(fmt::format("vconv_{}{}", pair, l.letter), from, to, in[i]), l.of[i])
            << pair << l.letter << " of " << in[i];
      }
    }
  }
  EXPECT_EQ(convert_one("vconv_f162s8", LaneType::f16, LaneType::s8, 2.5), 2);
  EXPECT_EQ(convert_one("vconv_f162u8", LaneType::f16, LaneType::u8, -3), 0);
  EXPECT_EQ(convert_one("vconv_f322s32z", LaneType::f32, LaneType::s32, 1e20), 2147483647.0);
}

// CTRL[59]: the low bits of the rounded value, of an infinite one those of the nearest s32, of NaN 0.
TEST(VectorConvert, KeepsTheLowBitsOnRequest) {
  using enum LaneType;
  struct Row {
    std::string_view mnemonic;
    LaneType from, to;
    double in, clamped, wrapped;
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Row& r :
       {Row{"vconv_f162u8z", f16, u8, 300, 255, 44}, Row{"vconv_f162u8z", f16, u8, -100, 0, 156},
        Row{"vconv_f162u8z", f16, u8, inf, 255, 255}, Row{"vconv_f162u8z", f16, u8, -inf, 0, 0},
        Row{"vconv_f162u8z", f16, u8, nan, 0, 0}, Row{"vconv_f162s8", f16, s8, 199.5, 127, -56},
        Row{"vconv_f162s8z", f16, s8, -200, -128, 56}, Row{"vconv_f162s16r", f16, s16, 40000, 32767, -25536},
        Row{"vconv_f322s16f", f32, s16, -40000.5, -32768, 25535}, Row{"vconv_f322s16z", f32, s16, inf, 32767, -1},
        Row{"vconv_f322s16z", f32, s16, 12.75, 12, 12}, Row{"vconv_s322s16", s32, s16, -40000, -32768, 25536},
        Row{"vconv_s642s32", s64, s32, 3000000000.0, 2147483647.0, -1294967296.0},
        // Nothing changes for s32.
        Row{"vconv_f322s32z", f32, s32, 3e9, 2147483647.0, 2147483647.0}}) {
    EXPECT_EQ(convert_one(r.mnemonic, r.from, r.to, r.in), r.clamped) << r.mnemonic << " of " << r.in;
    EXPECT_EQ(convert_one(r.mnemonic, r.from, r.to, r.in, ctrl::kWrapCasts), r.wrapped) << r.mnemonic << " of " << r.in;
  }
}

TEST(VectorConvert, NamesAndDocsFollowTheTypes) {
  using Odd = insn::Vconv<LaneType::f32, LaneType::f16, insn::Rounding::o>;
  EXPECT_EQ(Odd::name, "vconv_f322f16o");
  EXPECT_EQ(Odd::doc, "dst = src, f32 to f16, CAST_ODD: inexact results get an odd last bit");
  EXPECT_EQ(row_of("vconv_f322f16o")->opcode, Odd::opcode);
  EXPECT_EQ(row_of("vconv_s42f16")->doc, "dst = src, s4 to f16, exact");
  EXPECT_EQ(row_of("vconv_f322bf16"), nullptr);
}

// s32 * f16, rounded once: 2049 * 1 is a tie that goes to even.
TEST(VectorConvert, DequantisesS32) {
  TestCore core;
  core.spr.parameters.write()[SprId::deqscale] = f16_bits(-0.5);
  const std::array<i32, 6> in{3, -3, 4098, 2147483647, 1, 0};
  for (usize i = 0; i < in.size(); ++i)
    core.mem[BufId::UB].store<i32>(kSrc + 4 * i, in[i]);
  VectorCall call("vconv_deq");
  call.operands = {{"dst", kDst},       {"src", kSrc},       {"repeat", 1},      {"dstBlkStride", 1},
                   {"srcBlkStride", 1}, {"dstRepStride", 4}, {"srcRepStride", 8}};
  core.spr.vector_mask = {0x3f, 0};
  call.run(core);
  const std::array<double, 6> want{-1.5, 1.5, -2048, -std::numeric_limits<double>::infinity(), -0.5, -0.0};
  for (usize i = 0; i < in.size(); ++i)
    EXPECT_EQ(core.mem[BufId::UB].load<u16>(kDst + 2 * i), f16_bits(want[i])) << in[i];
  EXPECT_EQ(core.status, status::kFloatOverflow);
  core.context.overflow = OverflowMode::saturation;
  call.run(core);
  EXPECT_EQ(core.mem[BufId::UB].load<u16>(kDst + 6), 0xfbff);
}

u64 factor(float scale, int offset, bool is_signed) {
  return std::bit_cast<u32>(scale) | static_cast<u64>(offset & 0x1ff) << 37 | static_cast<u64>(is_signed) << 46;
}
// The published steps: scale, round to 9 bits with saturation, add the offset, saturate to the result.
int deq8(int x, double scale, int offset, bool is_signed) {
  const double nine = std::clamp(std::nearbyint(x * scale), -256.0, 255.0);
  const int sum = static_cast<int>(nine) + offset;
  return is_signed ? std::clamp(sum, -128, 127) : std::clamp(sum, 0, 255);
}

TEST(VectorConvert, DequantisesS16ToBytesInEveryLayout) {
  for (const bool vector : {false, true}) {
    for (const std::string_view half : {"", "h", "l"}) {
      for (const bool is_signed : {false, true}) {
        TestCore core;
        std::mt19937_64 random(7);
        for (u32 i = 0; i < 512; ++i)
          core.mem[BufId::UB].store<i16>(kSrc + 2 * i, static_cast<i16>(random() % 1200 - 600));
        for (u32 i = 0; i < 0x400; ++i)
          core.mem[BufId::UB].store<u8>(kDst + i, 0xee);
        const auto offset = [&](u32 lane) { return vector ? static_cast<int>(lane % 16) * 9 - 70 : -5; };
        const auto scale = [&](u32 lane) { return vector ? 0.125 * (1 + lane % 16) : 0.25; };
        if (vector) {
          for (u32 i = 0; i < 16; ++i)
            core.mem[BufId::UB].store<u64>(0x1000 + 8 * i, factor(static_cast<float>(scale(i)), offset(i), is_signed));
          core.spr.parameters.write()[SprId::deqscale] = 0x1000 / 32;
        } else {
          core.spr.parameters.write()[SprId::deqscale] = factor(0.25f, -5, is_signed);
        }
        core.spr.vector_mask = {~u64{0} << 3, 0x00ffffffffffffff};
        VectorCall call(fmt::format("vconv_{}deqs162b8{}", vector ? "v" : "", half));
        const u64 repeat_blocks = half.empty() ? 4 : 8;
        call.operands = {{"dst", kDst},       {"src", kSrc},       {"repeat", 2},
                         {"dstBlkStride", 1}, {"srcBlkStride", 1}, {"dstRepStride", repeat_blocks},
                         {"srcRepStride", 8}};
        VectorModel model(core);
        for (u32 r = 0; r < 2; ++r) {
          for (u32 i = 3; i < 120; ++i) {
            const int x = static_cast<int>(lane_value_of(
                LaneType::s16, model.load(LaneType::s16, VectorModel::place(LaneType::s16, kSrc, 1, 8, r, i))));
            const u64 at =
                kDst + r * repeat_blocks * 32 + (half.empty() ? i : i / 16 * 32 + i % 16 + (half == "h" ? 16 : 0));
            model.store(LaneType::u8, {at, 0}, static_cast<u8>(deq8(x, scale(i), offset(i), is_signed)));
          }
        }
        if (vector) {
          for (u32 i = 0; i < 16; ++i)
            model.load(LaneType::s64, {0x1000 + 8 * i, 0});
        }
        const Footprint footprint = call.footprint(core);
        call.run(core);
        model.expect_same(core, footprint, std::string(call.row->name));
        EXPECT_NE(core.status & status::kFloatOverflow, 0u);
      }
    }
  }
}

// All 23 bits of the fraction of the scale count, and STATUS knows what the step to 9 bits cut off.
TEST(VectorConvert, DequantisationUsesTheWholeScale) {
  struct Case {
    int x;
    float scale;
    int offset, result;
    bool clamped;
  };
  for (const Case& c :
       {Case{577, 0.013f, 100, 108, false}, Case{256, 1, -200, 55, true}, Case{511, 0.5f, -200, 55, true},
        Case{255, 1, -200, 55, false}, Case{-513, 0.5f, 200, -56, false}, Case{-257, 1, 200, -56, true}}) {
    TestCore core;
    core.mem[BufId::UB].store<i16>(kSrc, static_cast<i16>(c.x));
    core.spr.parameters.write()[SprId::deqscale] = factor(c.scale, c.offset, true);
    core.spr.vector_mask = {1, 0};
    VectorCall call("vconv_deqs162b8");
    call.operands = {{"dst", kDst},       {"src", kSrc},       {"repeat", 1},      {"dstBlkStride", 1},
                     {"srcBlkStride", 1}, {"dstRepStride", 4}, {"srcRepStride", 8}};
    call.run(core);
    EXPECT_EQ(core.mem[BufId::UB].load<i8>(kDst), c.result) << c.x << " * " << c.scale;
    EXPECT_EQ((core.status & status::kFloatOverflow) != 0, c.clamped) << c.x << " * " << c.scale;
  }
}

TEST(VectorConvert, FusedDequantisation) {
  TestCore core;
  for (u32 i = 0; i < 128; ++i) {
    core.mem[BufId::UB].store<i16>(kSrc + 2 * i, static_cast<i16>(i) - 64);
    core.mem[BufId::UB].store<i16>(0x400 + 2 * i, 10);
  }
  for (u32 i = 0; i < 16; ++i)
    core.mem[BufId::UB].store<u64>(0x1000 + 8 * i, factor(2.0f, static_cast<int>(i), true));
  core.spr.parameters.write()[SprId::deqscale] = 0x1000 / 32;
  VectorCall call("vsubreluconv_vdeqs162b8");
  call.operands = {{"dst", kDst},       {"src0", kSrc},       {"src1", 0x400},      {"repeat", 1},
                   {"dstBlkStride", 1}, {"src0BlkStride", 1}, {"src1BlkStride", 1}, {"h", 1}};
  call.run(core);
  for (u32 i = 0; i < 128; ++i) {
    const int difference = std::max(static_cast<int>(i) - 64 - 10, 0);
    EXPECT_EQ(core.mem[BufId::UB].load<i8>(kDst + i / 16 * 32 + 16 + i % 16),
              deq8(difference, 2, static_cast<int>(i % 16), true));
    EXPECT_EQ(core.mem[BufId::UB].load<i8>(kDst + i / 16 * 32 + i % 16), 0);
  }
  VectorCall half("vaddreluconv_f162s8");
  half.operands = {{"h", 1}, {"repeat", 1}};
  EXPECT_THAT(error_of([&] { half.footprint(core); }), HasSubstr("unsupported: h = 1"));
}

TEST(VectorConvert, AddDeqRelu) {
  TestCore core(Arch::c100);
  core.spr.parameters.write()[SprId::deqscale] = f16_bits(0.25);
  core.mem[BufId::UB].store<i32>(kSrc, 5);
  core.mem[BufId::UB].store<i32>(kSrc + 4, -50);
  core.mem[BufId::UB].store<i32>(0x400, 7);
  core.mem[BufId::UB].store<i32>(0x404, 7);
  core.spr.vector_mask = {3, 0};
  VectorCall call("vadddeqrelu");
  call.operands = {{"dst", kDst}, {"src0", kSrc}, {"src1", 0x400}, {"repeat", 1}};
  call.run(core);
  EXPECT_EQ(core.mem[BufId::UB].load<u16>(kDst), f16_bits(3));
  EXPECT_EQ(core.mem[BufId::UB].load<u16>(kDst + 2), 0);
}

// What the walk of vector_walk_test leaves out: shifts, broadcasts, and functions that are not exact.
TEST(VectorArith, Shifts) {
  TestCore core;
  core.spr.vector_mask = {1, 0};
  const auto shift = [&](std::string_view mnemonic, std::string_view type, u64 bits, u64 distance, u64 round = 0) {
    const LaneType t = type_named(type);
    std::memcpy(core.mem[BufId::UB].bytes(kSrc, 4).data(), &bits, 4);
    VectorCall call(mnemonic, type);
    call.operands = {{"dst", kDst}, {"src", kSrc}, {"distance", distance}, {"repeat", 1}};
    if (mnemonic == "vshr") call.operands["round"] = round;
    call.footprint(core);
    call.run(core);
    u64 result = 0;
    std::memcpy(&result, core.mem[BufId::UB].bytes(kDst, 4).data(), lane_bytes(t));
    return result;
  };
  EXPECT_EQ(shift("vshl", "u16", 0x8001, 1), 2u);
  EXPECT_EQ(shift("vshl", "u32", 3, 32), 0u);
  EXPECT_EQ(shift("vshr", "u16", 0x8001, 1), 0x4000u);
  EXPECT_EQ(shift("vshr", "s16", 0x8001, 1), 0xc000u);
  EXPECT_EQ(shift("vshr", "s32", 7, 1), 3u);
  EXPECT_EQ(shift("vshr", "s32", 7, 1, 1), 4u);
  EXPECT_EQ(shift("vshr", "s32", 0xfffffff9, 1, 1), 0xfffffffdu);  // -7 / 2 = -3.5, to -3
  EXPECT_THAT(error_of([&] { shift("vshl", "u16", 1, 17); }),
              HasSubstr("distance = 17 is out of range for u16: 0 to 16"));
  EXPECT_THAT(error_of([&] { shift("vshr", "u16", 1, 1, 1); }), HasSubstr("round = 1 is for s16 and s32"));
}

TEST(VectorArith, BrcbFillsABlockFromEachElement) {
  TestCore core;
  for (u32 i = 0; i < 32; ++i)
    core.mem[BufId::UB].store<u32>(kSrc + 4 * i, 100 + i);
  VectorCall call("vbrcb", "u32");
  call.operands = {{"dst", kDst}, {"src", kSrc}, {"dstBlkStride", 2}, {"dstRepStride", 16}, {"repeat", 2}};
  core.spr.vector_mask = {1, 0};  // no effect
  VectorModel model(core);
  for (u32 i = 0; i < 16; ++i) {
    const u64 bits = model.load(LaneType::u32, {kSrc + 4 * i, 0});
    for (u32 lane = 0; lane < 8; ++lane)
      model.store(LaneType::u32, {kDst + (i / 8 * 16 + i % 8 * 2) * 32 + 4 * lane, 0}, bits);
  }
  model.set_exact(true);
  const Footprint footprint = call.footprint(core);
  call.run(core);
  model.expect_same(core, footprint, "vbrcb");
}

TEST(VectorArith, FunctionsThatAreNotExact) {
  struct Function {
    std::string_view mnemonic;
    double (*f)(double);
    double tolerance;
  };
  for (const Function& f : {Function{"vexp", std::exp, 0.001}, Function{"vln", std::log, 0.001},
                            Function{"vsqrt", std::sqrt, 0.001}, Function{"vrec", [](double x) { return 1 / x; }, 0.01},
                            Function{"vrsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.01}}) {
    for (const std::string_view suffix : {"f16", "f32"}) {
      const LaneType type = type_named(suffix);
      TestCore core;
      const u32 lanes = 256 / lane_bytes(type);
      for (u32 i = 0; i < lanes; ++i) {
        const u64 bits = lane_bits_of(type, 0.25 + 0.0625 * i);
        std::memcpy(core.mem[BufId::UB].bytes(kSrc + u64{i} * lane_bytes(type), 4).data(), &bits, lane_bytes(type));
      }
      VectorCall call(f.mnemonic, suffix);
      call.operands = {{"dst", kDst}, {"src", kSrc}, {"repeat", 1}, {"dstBlkStride", 1}, {"srcBlkStride", 1}};
      call.run(core);
      for (u32 i = 0; i < lanes; ++i) {
        u64 bits = 0;
        std::memcpy(&bits, core.mem[BufId::UB].bytes(kDst + u64{i} * lane_bytes(type), 4).data(), lane_bytes(type));
        const double want = f.f(0.25 + 0.0625 * i);
        ASSERT_NEAR(lane_value_of(type, bits), want, f.tolerance * std::max(0.1, std::abs(want)))
            << f.mnemonic << "." << suffix << " lane " << i;
      }
    }
  }
}

}  // namespace
}  // namespace vinci::isa
