// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/resolved.h"

#include <gtest/gtest.h>

#include "isa/insns/load2d.h"
#include "isa/insns/nd2nz.h"
#include "isa/table/table.h"
#include "sim/config/load.h"

namespace vinci::models {
namespace {

using isa::insn::LoadCbufToCa;

struct ResolvedTest : testing::Test {
  config::ChipConfig chip = config::load_chip("ascend-910b1");
  CostTable costs{chip.core};
  ResolvedTable table{costs, chip.arch};

  template <class I>
  static isa::Issued issued(const typename I::Args& args) {
    isa::Issued out;
    out.row = isa::row_of(I::opcode);
    out.pipe = I::pipe(args, isa::Arch::c220);
    isa::args_of<I>(out.args) = args;
    return out;
  }
  static isa::Issued load(u64 src, u8 repeat = 4) {
    LoadCbufToCa::Args args{};
    args.src = src;
    args.srcStride = 1;
    args.repeat = repeat;
    return issued<LoadCbufToCa>(args);
  }
};

TEST_F(ResolvedTest, WhatComesAgainIsKnown) {
  EXPECT_EQ(table.find(load(0)), nullptr);
  const Resolved* first = table.add(load(0));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->work.steps, 4u);
  EXPECT_EQ(first->read_bytes, 2048u);
  EXPECT_EQ(first->write_bytes, 2048u);
  EXPECT_FALSE(first->global);
  EXPECT_EQ(table.find(load(0)), first);
  EXPECT_EQ(table.find(load(0, 5)), nullptr);
  EXPECT_EQ(table.find(load(512)), nullptr);
}

TEST_F(ResolvedTest, SpecialRegistersCountByTheirValues) {
  isa::Issued a = load(0), b = load(0);
  const Resolved* first = table.add(a);
  b.spr.ctrl = 1;
  EXPECT_EQ(table.find(b), nullptr);
  b.spr = {};
  b.spr.vector_mask[1] = 0;
  EXPECT_EQ(table.find(b), nullptr);
  b.spr = {};
  b.spr.parameters.write()[isa::SprId::fpc] = 7;
  EXPECT_EQ(table.find(b), nullptr);
  const Resolved* second = table.add(b);
  EXPECT_NE(second, first);
  a.spr.parameters.write()[isa::SprId::fpc] = 7;  // another owner of the same value
  EXPECT_EQ(table.find(a), second);
}

TEST_F(ResolvedTest, GlobalMemoryIsCheckedEachTime) {
  using Copy = isa::insn::CopyGmToCbufMultiNd2NzB16;
  Copy::Args args{};
  args.ndNum = args.nValue = 1;
  args.dValue = 16;
  const isa::Issued copy = issued<Copy>(args);
  EXPECT_EQ(table.add(copy), nullptr);
  EXPECT_EQ(table.find(copy), nullptr);
  EXPECT_NE(table.add(load(0)), nullptr);
}

TEST_F(ResolvedTest, ManyDifferentOnesHaveAnEnd) {
  u64 n = 0;
  while (table.add(load(512 * n)) != nullptr)
    ASSERT_LT(++n, 1'000'000u);
  EXPECT_GE(n, 1000u);
  for (u64 i = 0; i < n; ++i)
    EXPECT_EQ(table.find(load(512 * i))->work.steps, 4u) << i;
  EXPECT_EQ(table.find(load(512 * n)), nullptr);
}

}  // namespace
}  // namespace vinci::models
