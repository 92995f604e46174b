// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_compare.h"

#include <gmock/gmock.h>

#include "tests/unit/isa/vector_model.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

constexpr u64 kSrc0 = 0, kSrc1 = 0x1800, kDst = 0x3000, kMasks = 0x4000;

bool holds(std::string_view op, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return false;
  return op == "eq"   ? a == b
         : op == "ne" ? a != b
         : op == "lt" ? a < b
         : op == "le" ? a <= b
         : op == "gt" ? a > b
                      : a >= b;
}

// Few different values, one of them NaN, so that every relation occurs.
void fill(TestCore& core, LaneType type, std::mt19937_64& random) {
  const u64 bytes = lane_bytes(type);
  for (u64 at = 0; at < 0x4800; at += bytes) {
    const u64 pick = random() % 8;
    const double value = pick == 7 && is_float(type) ? std::nan("") : static_cast<double>(pick % 4) - 1;
    const u64 bits = lane_bits_of(type, value);
    std::memcpy(core.mem[BufId::UB].bytes(at, bytes).data(), &bits, bytes);
  }
}

VectorCall random_call(std::string_view mnemonic, std::string_view suffix, std::mt19937_64& random) {
  VectorCall call(mnemonic, suffix);
  for (const FieldInfo& f : call.row->fields) {
    if (f.name.ends_with("BlkStride")) call.operands[f.name] = random() % 4;
    if (f.name.ends_with("RepStride")) call.operands[f.name] = random() % 12;
  }
  call.operands["repeat"] = random() % 4;
  return call;
}

const std::vector<std::string_view> kOps{"eq", "ne", "lt", "le", "gt", "ge"};

void walk(std::string_view family, std::string_view op, std::string_view suffix, u64 seed) {
  TestCore core;
  std::mt19937_64 random(seed);
  const LaneType type = type_named(suffix);
  const u64 lanes = 256 / lane_bytes(type);
  fill(core, type, random);
  const bool to_register = family == "vcmp_", with_scalar = family == "vcmpvs_";
  random_mask(core, random);
  VectorCall call = random_call(fmt::format("{}{}", family, op), suffix, random);
  const double scalar = 1;
  if (!to_register) call.operands["dst"] = kDst;
  call.operands[with_scalar ? "src" : "src0"] = kSrc0;
  if (with_scalar) {
    call.operands["scalar"] = lane_bits_of(type, scalar);
  } else {
    call.operands["src1"] = kSrc1;
  }
  core.results.cmpmask = {random(), random()};
  VectorModel model(core);
  std::array<u64, 2> cmpmask = core.results.cmpmask;
  for (u64 r = 0; r < model.repeats(call["repeat"], lanes); ++r) {
    std::array<u64, 2> bits{};
    for (u64 i = 0; i < lanes; ++i) {
      const bool active = model.active(r, i, lanes);
      if (to_register && !active) continue;
      const auto value = [&](u64 base, std::string_view block, std::string_view repeat) {
        return lane_value_of(type, model.load(type, VectorModel::place(type, base, call[block], call[repeat], r, i)));
      };
      const double a =
          with_scalar ? value(kSrc0, "srcBlkStride", "srcRepStride") : value(kSrc0, "src0BlkStride", "src0RepStride");
      const double b = with_scalar ? scalar : value(kSrc1, "src1BlkStride", "src1RepStride");
      const u64 bit = u64{1} << (i % 64);
      if (holds(op, a, b)) bits[i / 64] |= bit;
      if (to_register) cmpmask[i / 64] = (cmpmask[i / 64] & ~bit) | (bits[i / 64] & bit);
    }
    for (u64 byte = 0; !to_register && byte < lanes / 8; ++byte)
      model.store(LaneType::u8, {kDst + r * lanes / 8 + byte, 0}, bits[byte / 8] >> (8 * (byte % 8)) & 0xff);
  }
  const Footprint footprint = call.footprint(core);
  call.run(core);
  model.expect_same(core, footprint, fmt::format("{}{}.{} seed {}", family, op, suffix, seed));
  EXPECT_EQ(core.results.cmpmask, cmpmask) << family << op << " seed " << seed;
}

TEST(VectorCompare, EveryComparisonAgainstTheModel) {
  for (const std::string_view op : kOps) {
    for (const std::string_view family : {"vcmp_", "vcmpv_", "vcmpvs_"}) {
      for (u64 seed = 0; seed < 12; ++seed) {
        walk(family, op, "f16", seed);
        walk(family, op, "f32", seed);
        if (family != "vcmp_" && op == "eq") walk(family, op, "s32", seed);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(VectorCompare, NanOperandsAreReported) {
  TestCore core;
  core.mem[BufId::UB].store<u16>(0, kF16Nan);
  VectorCall call("vcmp_ne", "f16");
  call.operands = {{"repeat", 1}, {"src0BlkStride", 1}, {"src1BlkStride", 1}};
  call.run(core);
  EXPECT_EQ(core.status, status::kVectorNanInf);
  EXPECT_EQ(core.results.cmpmask, (std::array<u64, 2>{}));
}

void select_walk(std::string_view suffix, u64 mode, Arch arch, u64 seed) {
  TestCore core(arch);
  std::mt19937_64 random(seed);
  const LaneType type = type_named(suffix);
  const u64 lanes = 256 / lane_bytes(type);
  fill(core, type, random);
  random_mask(core, random);
  for (u64 i = 0; i < 32; ++i)
    core.mem[BufId::UB].store<u64>(kMasks + 8 * i, random());
  VectorCall call = random_call("vsel", suffix, random);
  call.operands["dst"] = kDst;
  call.operands["src0"] = kSrc0;
  call.operands["src1"] = mode == 1 ? kMasks : kSrc1;
  call.operands["mode"] = mode;
  call.operands["dstBlkStride"] = 1 + random() % 3;
  call.operands["dstRepStride"] = random() % 4;  // keeps off the masks
  core.results.cmpmask = {mode == 2 ? kMasks | random() << 32 : random(), random()};
  VectorModel model(core);
  for (u64 r = 0; r < model.repeats(call["repeat"], lanes); ++r) {
    std::map<u64, u64> results;
    for (u64 i = 0; i < lanes; ++i) {
      if (!model.active(r, i, lanes)) continue;
      const auto at = [&](u64 base, std::string_view block, std::string_view repeat) {
        return VectorModel::place(type, base, call[block], call[repeat], r, i);
      };
      const u64 a = model.load(type, at(kSrc0, "src0BlkStride", "src0RepStride"));
      const u64 b = mode == 1 ? core.results.cmpmask[0] & (~u64{0} >> (64 - lane_bits(type)))
                              : model.load(type, at(kSrc1, "src1BlkStride", "src1RepStride"));
      const u64 byte = kMasks + (r * lanes + i) / 8;
      const bool bit = mode == 0 ? (core.results.cmpmask[i / 64] >> (i % 64) & 1) != 0
                                 : (core.mem[BufId::UB].load<u8>(byte) >> (i % 8) & 1) != 0;
      results[i] = bit ? a : b;
    }
    for (const auto& [i, bits] : results)
      model.store(type, VectorModel::place(type, kDst, call["dstBlkStride"], call["dstRepStride"], r, i), bits);
  }
  const Footprint footprint = call.footprint(core);
  call.run(core);
  model.expect_same(core, footprint, fmt::format("vsel.{} mode {} seed {}", suffix, mode, seed));
  EXPECT_EQ(core.status, 0u);
}

TEST(VectorSelect, EveryModeAgainstTheModel) {
  for (u64 seed = 0; seed < 40; ++seed) {
    for (const std::string_view suffix : {"f16", "f32"}) {
      for (u64 mode = 0; mode < 3; ++mode)
        select_walk(suffix, mode, Arch::c220, seed);
      select_walk(suffix, 0, Arch::c100, seed);
    }
    if (HasFailure()) return;
  }
}

TEST(VectorSelect, RefusesWhatItCannotRead) {
  TestCore core;
  VectorCall call("vsel", "f16");
  call.operands = {{"dst", kDst}, {"repeat", 2}, {"mode", 2}, {"dstBlkStride", 1}, {"src0BlkStride", 1}};
  const u64 size = core.mem[BufId::UB].size();
  core.results.cmpmask[0] = size - 16;
  EXPECT_THAT(error_of([&] { call.run(core); }), HasSubstr("must be a multiple of 32"));
  core.results.cmpmask[0] = size;
  EXPECT_THAT(error_of([&] { call.run(core); }), HasSubstr("the ub address out of bounds: CMPMASK"));
  core.results.cmpmask[0] = size - 32;
  EXPECT_EQ(error_of([&] { call.run(core); }), "");
  core.context.arch = Arch::c100;
  EXPECT_THAT(error_of([&] { call.footprint(core); }), HasSubstr("mode = 2 is out of range on c100: 0"));
  call.operands["mode"] = 3;
  core.context.arch = Arch::c220;
  EXPECT_THAT(error_of([&] { call.footprint(core); }), HasSubstr("0 to 2"));
}

TEST(VectorSelect, CmpmaskMovesToAndFromMemory) {
  TestCore core;
  core.mem[BufId::UB].store<std::array<u64, 2>>(16, {0x123456789abcdef0, 0xfedcba9876543210});
  VectorCall set("set_cmpmask"), get("get_cmpmask");
  set.operands["src"] = 16;
  get.operands["dst"] = 64;
  set.run(core);
  EXPECT_EQ(core.results.cmpmask, (std::array<u64, 2>{0x123456789abcdef0, 0xfedcba9876543210}));
  get.run(core);
  EXPECT_EQ((core.mem[BufId::UB].load<std::array<u64, 2>>(64)), core.results.cmpmask);
  EXPECT_EQ(set.footprint(core).begin()->write, false);
  EXPECT_EQ(get.footprint(core).begin()->len, 16u);
}

}  // namespace
}  // namespace vinci::isa
