// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Conflicts in the banks of UB, on the examples of the vendor's documentation and of asc-devkit bank_conflict_ub.
#include "models/cost/ub_banks.h"

#include <gtest/gtest.h>

namespace vinci::models {
namespace {

const config::UbBanks kBanks{.groups = 16, .region = config::Bytes(64 * 1024), .read_write = 0.75};

// An operand of 64 repeats of `blocks` blocks; strides in blocks.
isa::Access operand(u64 address, bool write, u32 blocks = 8, u32 block_stride = 1, u32 stride = 8) {
  return {.buffer = isa::BufId::UB,
          .write = write,
          .address = address,
          .len = 32,
          .count = {blocks, 64, 1},
          .stride = {block_stride * 32, stride * 32, 0},
          .repeats = {.count = 64, .blocks = blocks, .block_stride = block_stride * 32, .stride = stride * 32}};
}
isa::Access read(u64 address, u32 blocks = 8, u32 block_stride = 1, u32 stride = 8) {
  return operand(address, false, blocks, block_stride, stride);
}
isa::Access write(u64 address, u32 blocks = 8, u32 block_stride = 1, u32 stride = 8) {
  return operand(address, true, blocks, block_stride, stride);
}
double per_repeat(const isa::Footprint& f, const config::UbBanks& banks = kBanks) {
  return ub_conflicts(f, banks) / 64;
}

TEST(UbBanks, SourcesOfOneGroupFollowEachOther) {
  EXPECT_EQ(per_repeat({read(0), read(0x10100), write(0x20000)}), 0);
  EXPECT_EQ(per_repeat({read(0), read(0x4000), write(0x10000)}), 1);
  EXPECT_EQ(per_repeat({read(0), read(0x4000), read(0x8000), write(0x10000)}), 2);
}

TEST(UbBanks, HalfAsWideSourcesMeetHalfOfTheDestination) {
  // Groups 0-3 and 0-7, 4-7 and 8-15, 8-11 and 0-7, 12-15 and 8-15.
  EXPECT_EQ(per_repeat({read(0, 4, 1, 4), read(0x4000, 4, 1, 4), read(0x8000), write(0x10000)}), 1.5);
}

TEST(UbBanks, StridedBlocksMeetInAGroup) {
  EXPECT_EQ(per_repeat({read(0, 8, 16, 1), write(0x10000)}), 7);
  EXPECT_EQ(per_repeat({read(0), write(0x10000, 8, 144, 1)}), 7);
  EXPECT_EQ(per_repeat({read(0), write(0x10000, 8, 145, 1)}), 0);
  EXPECT_EQ(per_repeat({read(0, 8, 8, 64), write(0x10000)}), 3);
}

TEST(UbBanks, ABankDoesNotReadAndWriteAtOnce) {
  EXPECT_EQ(per_repeat({read(0), read(0x10100), write(0x4020)}), 0.75);
  EXPECT_EQ(per_repeat({read(0), read(0x10100), write(0x4000)}), 0);   // as in place: the next repeat reads elsewhere
  EXPECT_EQ(per_repeat({read(0), read(0x10100), write(0x20020)}), 0);  // other banks of the group
  EXPECT_EQ(per_repeat({read(0), read(0x10000), write(0x14100)}),
            1);  // sources take turns, so each bank has a turn off
}

TEST(UbBanks, OperandsShareABlock) {
  EXPECT_EQ(per_repeat({read(0), read(0), write(0x20000)}), 0);
  EXPECT_EQ(per_repeat({read(0, 8, 0), write(0x20000)}), 0);
}

TEST(UbBanks, WithoutGroupsOrStepsThereAreNone) {
  EXPECT_EQ(per_repeat({read(0), read(0x4000), write(0x10000)}, {}), 0);
  EXPECT_EQ(ub_conflicts({}, kBanks), 0);
  EXPECT_EQ(ub_conflicts({{.buffer = isa::BufId::UB, .write = true, .len = 32}}, kBanks), 0);
}

TEST(UbBanks, TheLineSaysWhatConflictsAndPartialBlocksCost) {
  using config::laws::Parts, config::laws::Repeats;
  const isa::Footprint both{read(0), read(0x4000), write(0x10000)};
  EXPECT_EQ(cycles_in_ub({.law = Repeats{.per_conflict = 2}}, both, kBanks), 128);
  EXPECT_EQ(cycles_in_ub({.law = Repeats{.per_conflict = 0}}, both, kBanks), 0);
  EXPECT_EQ(cycles_in_ub({.law = Parts{.partial = 5}}, {{.buffer = isa::BufId::UB, .write = true, .len = 48}}, kBanks),
            5);
  EXPECT_EQ(cycles_in_ub({.law = Parts{.partial = 5}}, {{.buffer = isa::BufId::UB, .write = true, .len = 64}}, kBanks),
            0);
  EXPECT_EQ(cycles_in_ub({.law = Parts{.partial = 5}}, {{.buffer = isa::BufId::UB, .write = false, .len = 48}}, kBanks),
            0);
  const config::CostLine two_repeats{.law = Parts{.partial = 5, .unit = config::Bytes(256)}};
  EXPECT_EQ(cycles_in_ub(two_repeats, {{.buffer = isa::BufId::UB, .write = true, .len = 128}}, kBanks), 5);
  EXPECT_EQ(cycles_in_ub(two_repeats, {{.buffer = isa::BufId::UB, .write = true, .len = 512}}, kBanks), 0);
}

}  // namespace
}  // namespace vinci::models
