// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "isa/census/lanes.h"
#include "isa/numeric/lanes.h"
#include "isa/shadow/shadow.h"
#include "tests/unit/isa/each_target.h"

// Whole repeats in the planes against the same repeats one by one, on every vector instruction set of this machine.
namespace vinci::isa {
namespace {

constexpr u64 kUb = 0x10000, kA = 0, kB = 0x4000, kOut = 0x8000;

bool near(double a, double b) { return a == b || std::abs(a - b) <= 1e-12 * std::abs(b); }

struct Core {
  GlobalMemory gm;
  CoreMem mem;
  Shadow shadow;
  ShadowPoint point;

  Core() : mem(sizes(), gm), point(shadow, &shadow.core(mem), 0, Site{}, Moment{}, "AIV0") {}
  static BufSizes sizes() {
    BufSizes out{};
    out[index(BufId::UB)] = kUb;
    return out;
  }
  LocalRefs& ub() { return point.core().buffers[index(BufId::UB)]; }
  std::byte* at(u64 address, u64 bytes = kRepeatBytes) { return mem[BufId::UB].bytes(address, bytes).data(); }
  const ShadowSite& site() { return shadow.tasks.at(0).begin()->second; }
};

void fill(std::mt19937_64& random, LaneType type, Core& core, u64 address, u64 bytes, u32 rare) {
  for (u64 i = 0; i < bytes; i += lane_bytes(type)) {
    // Numbers near 1 of both signs; now and then any pattern, which may be infinite or NaN.
    const u64 word = random();
    if (type == LaneType::f16) {
      const u16 value = random() % 256 < rare ? static_cast<u16>(word)
                                              : static_cast<u16>(0x3800 + word % 0xc00 + (word >> 32) % 2 * 0x8000);
      std::memcpy(core.at(address + i, 2), &value, sizeof value);
    } else {
      const u32 value = random() % 256 < rare
                            ? static_cast<u32>(word)
                            : static_cast<u32>(0x3f000000 + word % 0x1000000 + (word >> 40) % 2 * 0x80000000);
      std::memcpy(core.at(address + i, 4), &value, sizeof value);
    }
  }
}

// References of some blocks near the values; of others none, or ended ones.
void refer(std::mt19937_64& random, LaneType type, Core& core, u64 address, u64 bytes) {
  const u32 each = lane_bytes(type);
  for (u64 block = address; block < address + bytes; block += RefSpace::kBlock) {
    const u64 kind = random() % 8;
    if (kind == 0) continue;
    if (kind == 1) {
      core.ub().end(block, RefSpace::kBlock);
      continue;
    }
    LaneBuffer lanes;
    std::memcpy(lanes.bytes.data(), core.at(block, RefSpace::kBlock), RefSpace::kBlock);
    std::array<double, RefSpace::kBlock / 2> references{};
    for (u32 i = 0; i < RefSpace::kBlock / each; ++i)
      references[i] = lane_value(type, lanes, i) * (1 + static_cast<double>(random() % 1000) * 1e-6);
    core.ub().store(type, block, std::span(references).first(RefSpace::kBlock / each));
  }
}

// What the simulated program makes of the operands.
void compute_values(BinaryOp op, LaneType type, const Repeats& job) {
  for (usize r = 0; r < job.count; ++r) {
    LaneBuffer a, b, out;
    std::memcpy(a.bytes.data(), job.a.at(r), kRepeatBytes);
    std::memcpy(b.bytes.data(), job.b.at(r), kRepeatBytes);
    binary_kernel(op, type)(a, b, out, LaneMode{});
    std::memcpy(job.out + r * job.out_stride, out.bytes.data(), kRepeatBytes);
  }
}

// As the body of an instruction asks for it, repeat by repeat.
void compute_one_by_one(Core& core, const ShadowRepeats& s) {
  const u32 lanes = kRepeatBytes / lane_bytes(s.type);
  for (u64 r = 0; r < s.values.count; ++r) {
    std::array<LaneBuffer, 3> buffers;
    std::memcpy(buffers[0].bytes.data(), s.values.a.at(r), kRepeatBytes);
    std::memcpy(buffers[1].bytes.data(), s.values.b.at(r), kRepeatBytes);
    std::memcpy(buffers[2].bytes.data(), s.values.out + r * s.values.out_stride, kRepeatBytes);
    std::array<PlanesFrom, 2> planes;
    const auto operand = [&](usize i, const std::optional<ShadowRepeats::Place>& place) {
      ShadowOperand out{s.type, &buffers[i], nullptr};
      if (!place || core.ub().type(place->address + r * place->stride, kRepeatBytes) == RefType::none) return out;
      planes[i] = read_only(core.ub().places(place->address + r * place->stride, kRepeatBytes));
      out.planes = &planes[i];
      return out;
    };
    ShadowLanes job{.op = s.op, .dst = s.type, .out = &buffers[2], .lanes = lanes, .element = (s.first + r) * lanes};
    job.a = operand(0, s.a);
    job.b = operand(1, s.b);
    job.active = {~u64{0}, lanes == 128 ? ~u64{0} : 0};
    const u64 to = s.out.address + r * s.out.stride;
    ASSERT_TRUE(core.point.compute(job, core.ub().places(to, kRepeatBytes)));
    core.ub().set_type(to, kRepeatBytes, ref_type(s.type));
  }
}

void expect_same(const ErrorSums& got, const ErrorSums& want) {
  EXPECT_TRUE(near(got.max_ulp, want.max_ulp)) << got.max_ulp << ", " << want.max_ulp;
  EXPECT_TRUE(near(got.max_relative, want.max_relative)) << got.max_relative << ", " << want.max_relative;
  EXPECT_TRUE(near(got.squares_ulp, want.squares_ulp)) << got.squares_ulp << ", " << want.squares_ulp;
  EXPECT_TRUE(near(got.squares_relative, want.squares_relative))
      << got.squares_relative << ", " << want.squares_relative;
}

TEST(ShadowRepeats, AreThoseOneByOne) {
  u32 compared = 0;
  each_target([&] {
    std::mt19937_64 random(7);
    for (int turn = 0; turn < 120; ++turn) {
      constexpr std::array kOps{BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                BinaryOp::div, BinaryOp::max, BinaryOp::min};
      const BinaryOp op = kOps[static_cast<usize>(turn) % kOps.size()];
      const LaneType type = turn % 4 < 2 ? LaneType::f16 : LaneType::f32;
      const u32 rare = turn % 5 == 0 ? 8 : 0;
      Core whole, single;
      if (!whole.point.computes_repeats(op, type)) return;
      const u64 count = 1 + random() % 12, stride = turn % 3 == 0 ? kRepeatBytes : 2 * kRepeatBytes;
      const bool in_place = turn % 7 == 0, scalar = turn % 11 == 0;
      fill(random, type, whole, kA, count * stride, rare);
      fill(random, type, whole, kB, count * stride, rare);
      std::memcpy(single.at(0, kUb), whole.at(0, kUb), kUb);
      const u64 seed = random();
      for (Core* core : {&whole, &single}) {
        std::mt19937_64 same(seed);
        refer(same, type, *core, kA, count * stride);
        refer(same, type, *core, kB, count * stride);
      }
      std::vector<std::byte> a(count * stride), out(count * stride);
      std::memcpy(a.data(), whole.at(kA, count * stride), a.size());
      ShadowRepeats s;
      s.op = op;
      s.type = type;
      s.a = {kA, stride};
      s.out = {in_place ? kA : kOut, stride};
      s.values = {.a = {a.data(), stride},
                  .b = {whole.at(kB), scalar ? 0 : stride},
                  .out = out.data(),
                  .out_stride = stride,
                  .count = count};
      if (!scalar) s.b = {kB, stride};
      compute_values(op, type, s.values);
      for (int again = 0; again < 2; ++again) {  // the second time all errors are known
        whole.point.compute(s);
        compute_one_by_one(single, s);
      }
      const ShadowSite &got = whole.site(), &want = single.site();
      SCOPED_TRACE("turn " + std::to_string(turn));
      EXPECT_EQ(got.results, want.results);
      EXPECT_EQ(got.restarted, want.restarted);
      EXPECT_EQ(got.wrong, want.wrong);
      EXPECT_EQ(got.decided, want.decided);
      EXPECT_EQ(got.cancelled, want.cancelled);
      EXPECT_TRUE(near(got.worst.ulp, want.worst.ulp)) << got.worst.ulp << ", " << want.worst.ulp;
      EXPECT_EQ(got.worst.element, want.worst.element);
      expect_same(got.total, want.total);
      expect_same(got.made, want.made);
      expect_same(got.come_in, want.come_in);
      const u32 lanes = kRepeatBytes / lane_bytes(type);
      for (u64 r = 0; r < count; ++r) {
        DoubleLanes none{}, x, y;
        whole.ub().load(type, s.out.address + r * stride, std::span(none.v).first(lanes), std::span(x.v).first(lanes));
        single.ub().load(type, s.out.address + r * stride, std::span(none.v).first(lanes), std::span(y.v).first(lanes));
        for (u32 i = 0; i < lanes; ++i)
          ASSERT_TRUE(x.v[i] == y.v[i] || (std::isnan(x.v[i]) && std::isnan(y.v[i]))) << x.v[i] << ", " << y.v[i];
      }
      if (HasFailure()) return;
      ++compared;
    }
  });
  EXPECT_GE(compared, 120u);
}

}  // namespace
}  // namespace vinci::isa
