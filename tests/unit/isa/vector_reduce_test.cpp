// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_reduce.h"

#include <gmock/gmock.h>

#include "tests/unit/isa/vector_model.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

constexpr u64 kSrc = 0, kDst = 0x3000;

// Small integers, so that sums are exact in any order; the tree has a test of its own.
void fill(TestCore& core, LaneType type, std::mt19937_64& random) {
  const u64 bytes = lane_bytes(type);
  for (u64 at = 0; at < 0x4800; at += bytes) {
    const u64 bits = lane_bits_of(type, static_cast<double>(random() % 15) - 7);
    std::memcpy(core.mem[BufId::UB].bytes(at, bytes).data(), &bits, bytes);
  }
}

struct Lane {
  u64 index;
  double value;
};
double sum(const std::vector<Lane>& lanes) {
  double s = 0;
  for (const Lane& l : lanes)
    s += l.value;
  return s;
}
Lane extremum(const std::vector<Lane>& lanes, bool largest) {
  Lane best = lanes.front();
  for (const Lane& l : lanes) {
    if (largest ? l.value > best.value : l.value < best.value) best = l;
  }
  return best;
}

// One value as some bytes of UB.
void put(VectorModel& model, u64 address, u64 bits, u64 bytes) {
  for (u64 i = 0; i < bytes; ++i)
    model.store(LaneType::u8, {address + i, 0}, bits >> (8 * i) & 0xff);
}

// Random masks, strides and repeats of one reduction against the model. `group`: lanes of one result, 0: all.
void walk(std::string_view mnemonic, std::string_view suffix, u64 group, Arch arch, u64 seed) {
  TestCore core(arch);
  std::mt19937_64 random(seed);
  const LaneType type = type_named(suffix);
  const u64 bytes = lane_bytes(type), lanes = 256 / bytes;
  fill(core, type, random);
  random_mask(core, random);
  VectorCall call(mnemonic, suffix);
  call.operands = {{"dst", kDst},
                   {"src", kSrc},
                   {"repeat", random() % 4},
                   {"dstRepStride", 1 + random() % 3},
                   {"srcBlkStride", random() % 4},
                   {"srcRepStride", random() % 12}};
  const bool extreme = mnemonic == "vcmax" || mnemonic == "vcmin";
  const bool largest = mnemonic.ends_with("max");
  const bool add = mnemonic.ends_with("add");
  const u64 order = extreme && arch == Arch::c220 ? random() % 4 : 0;
  if (extreme) call.operands["order"] = order;

  VectorModel model(core);
  const Footprint footprint = call.footprint(core);
  std::vector<Lane> everything;
  const u64 per_result = group == 0 ? lanes : group;
  const u64 result_bytes = !extreme ? bytes * (lanes / per_result) : order == 2 ? bytes : order == 3 ? 4 : 2 * bytes;
  for (u64 r = 0; r < model.repeats(call["repeat"], lanes); ++r) {
    std::vector<std::vector<Lane>> groups(lanes / per_result);
    for (u64 i = 0; i < lanes; ++i) {
      if (!model.active(r, i, lanes)) continue;
      const u64 bits =
          model.load(type, VectorModel::place(type, kSrc, call["srcBlkStride"], call["srcRepStride"], r, i));
      groups[i / per_result].push_back({i, lane_value_of(type, bits)});
      everything.push_back({r * lanes + i, lane_value_of(type, bits)});
    }
    for (usize g = 0; g < groups.size(); ++g) {
      if (groups[g].empty()) continue;
      const u64 at = kDst + r * call["dstRepStride"] * result_bytes + (extreme ? 0 : g * bytes);
      if (add) {
        put(model, at, lane_bits_of(type, sum(groups[g])), bytes);
        continue;
      }
      const Lane best = extremum(groups[g], largest);
      const u64 value = lane_bits_of(type, best.value);
      if (!extreme || order == 2) {
        put(model, at, value, bytes);
      } else if (order == 3) {
        put(model, at, best.index, 4);
      } else {
        put(model, at, order == 0 ? value : best.index, bytes);
        put(model, at + bytes, order == 0 ? best.index : value, bytes);
      }
    }
  }
  call.run(core);
  model.expect_same(core, footprint, fmt::format("{}.{} seed {}", mnemonic, suffix, seed));
  if (extreme && !everything.empty()) {
    const Lane best = extremum(everything, largest);
    EXPECT_EQ(core.results.max_min_cnt, best.index << 32 | lane_bits_of(type, best.value));
  }
  EXPECT_EQ(core.status, 0u);
}

TEST(VectorReduce, EveryReductionAgainstTheModel) {
  struct Case {
    std::string_view mnemonic;
    u64 group16, group32;
  };
  for (const Case& c : {Case{"vcadd", 0, 0}, Case{"vcmax", 0, 0}, Case{"vcmin", 0, 0}, Case{"vcgadd", 16, 8},
                        Case{"vcgmax", 16, 8}, Case{"vcgmin", 16, 8}, Case{"vcpadd", 2, 2}}) {
    for (u64 seed = 0; seed < 40; ++seed) {
      walk(c.mnemonic, "f16", c.group16, Arch::c100, seed);
      walk(c.mnemonic, "f16", c.group16, Arch::c220, seed);
      walk(c.mnemonic, "f32", c.group32, Arch::c220, seed);
      if (HasFailure()) return;
    }
  }
}

class Reduction : public testing::Test {
 protected:
  void put(std::initializer_list<double> values) {
    u64 at = kSrc;
    for (const double v : values) {
      core_.mem[BufId::UB].store<u16>(at, f16_bits(v));
      at += 2;
    }
    core_.spr.vector_mask = {(u64{1} << values.size()) - 1, 0};
  }
  double run(std::string_view mnemonic, const std::map<std::string_view, u64>& more = {}) {
    VectorCall call(mnemonic, "f16");
    call.operands = {{"dst", kDst},       {"src", kSrc},       {"repeat", 1},
                     {"dstRepStride", 1}, {"srcBlkStride", 1}, {"srcRepStride", 8}};
    for (const auto& [name, value] : more)
      call.operands[name] = value;
    call.run(core_);
    return f16_value(core_.mem[BufId::UB].load<u16>(kDst));
  }
  TestCore core_;
};

// (60000 + 60000) saturates at the first node, -30000 + 100 is rounded to -29904, their sum is a tie that goes to even:
// 35584.
TEST_F(Reduction, SumsAreATreeThatSaturatesAtEveryNode) {
  core_.context.overflow = OverflowMode::saturation;
  put({60000, 60000, -30000, 100});
  EXPECT_EQ(run("vcadd"), f16_value(f16_bits(65504.0 + f16_value(f16_bits(-29900)))));
  EXPECT_EQ(run("vcgadd"), 35584.0);
  EXPECT_EQ(core_.status, status::kFloatOverflow);
  core_.context.overflow = OverflowMode::inf_nan;
  EXPECT_EQ(run("vcadd"), std::numeric_limits<double>::infinity());
}

// 2048 + 1 is 2048 in f16: only the order of a tree adds the two ones first.
TEST_F(Reduction, PairsAreAddedFirst) {
  put({2048, 0, 1, 1});
  EXPECT_EQ(run("vcadd"), 2050);
  put({2048, 1, 1, 0});
  EXPECT_EQ(run("vcadd"), 2048);
}

TEST_F(Reduction, NanWinsAndTiesGoToTheLowestIndex) {
  put({3, 7, 7, -1});
  EXPECT_EQ(run("vcmax"), 7);
  EXPECT_EQ(core_.results.max_min_cnt >> 32, 1u);
  put({3, 7, std::nan(""), 9, std::nan("")});
  EXPECT_TRUE(std::isnan(run("vcmin")));
  EXPECT_EQ(core_.mem[BufId::UB].load<u16>(kDst + 2), 2);
  EXPECT_EQ(core_.status, status::kVectorNanInf);
  core_.context.overflow = OverflowMode::saturation;
  EXPECT_EQ(run("vcmax"), 0);
}

TEST_F(Reduction, ANanAloneBecomesTheCanonicalOne) {
  for (const char* mnemonic : {"vcadd", "vcgadd", "vcpadd", "vcmax", "vcgmin"}) {
    core_.mem[BufId::UB].store<u16>(kSrc, 0xfe01);
    core_.spr.vector_mask = {1, 0};
    run(mnemonic);
    EXPECT_EQ(core_.mem[BufId::UB].load<u16>(kDst), kF16Nan) << mnemonic;
  }
}

TEST_F(Reduction, ModeOneSumsAllRepeatsIntoAccVal) {
  put({1, 2, 3});
  core_.mem[BufId::UB].store<u16>(kSrc + 256, f16_bits(10));
  core_.mem[BufId::UB].store<u16>(kDst, 0x1234);
  core_.results.acc_val = 99;
  run("vcadd", {{"repeat", 2}, {"mode", 1}});
  EXPECT_EQ(core_.results.acc_val, f16_bits(16));
  EXPECT_EQ(core_.mem[BufId::UB].load<u16>(kDst), 0x1234);
}

TEST_F(Reduction, WhatAnArchitectureLacksIsRefused) {
  const insn::VectorReduceArgs x{.dst = kDst,
                                 .src = kSrc,
                                 .dstRepStride = 0,
                                 .srcBlkStride = 1,
                                 .srcRepStride = 8,
                                 .repeat = 2,
                                 .type = 0,
                                 .option = 1};
  EXPECT_THAT(error_of([&] { insn::Vcadd::footprint(x, core_.spr, Arch::m200); }), HasSubstr("mode = 1"));
  EXPECT_THAT(error_of([&] { insn::Vcmax::footprint(x, core_.spr, Arch::c100); }), HasSubstr("order = 1"));
  EXPECT_THAT(error_of([&] { insn::Vcgadd::footprint(x, core_.spr, Arch::c100); }), HasSubstr("dstRepStride = 0"));
  EXPECT_EQ(error_of([&] { insn::Vcgadd::footprint(x, core_.spr, Arch::c220); }), "");
}

}  // namespace
}  // namespace vinci::isa
