// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/cost/cost.h"

#include <gtest/gtest.h>

#include "isa/insns/cube.h"
#include "isa/table/table.h"

namespace vinci::models {
namespace {

using config::BytesPerCycle;
using config::CostLine;
using namespace config::laws;

const CostLine kLine{.law = Steps{.per_step = 1}, .head = 10, .startup = 2, .minimum = 20, .tail = 7};

TEST(Cycles, AreAtLeastTheMinimum) {
  EXPECT_EQ(cycles(kLine, {}, false), (Cycles{20, 27}));
  EXPECT_EQ(cycles(kLine, {.steps = 18}, false), (Cycles{20, 27}));
  EXPECT_EQ(cycles(kLine, {.steps = 19}, false), (Cycles{21, 28}));
}

TEST(Cycles, TheHeadComesOnTopOfTheMinimumWhereThePipeWasEmpty) {
  EXPECT_EQ(cycles(kLine, {}, true), (Cycles{30, 37}));
  EXPECT_EQ(cycles(kLine, {.steps = 30}, true), (Cycles{42, 49}));
}

TEST(Cycles, OnlyTheLargerOfBurstsAndBytesCounts) {
  const CostLine line{.law = Bursts{.per_burst = 4, .bytes_per_cycle = BytesPerCycle(32)}, .startup = 2, .minimum = 20};
  EXPECT_EQ(cycles(line, {.bytes = 960, .bursts = 5}, false).occupancy, 32u);
  EXPECT_EQ(cycles(line, {.bytes = 960, .bursts = 10}, false).occupancy, 42u);
  EXPECT_EQ(line.body({.bytes = 960, .bursts = 5}), 30.0);
}

TEST(Cycles, MultiplyAccumulatesCostNothing) {
  EXPECT_EQ(cycles(kLine, {.steps = 30, .macs = 1'000'000}, false), cycles(kLine, {.steps = 30}, false));
}

TEST(Cycles, RateOfZeroMakesBytesFree) {
  const CostLine line{.law = Port{.bytes_per_cycle = BytesPerCycle(0)}, .minimum = 20};
  EXPECT_EQ(cycles(line, {.bytes = 1'000'000}, false).occupancy, 20u);
}

TEST(Cycles, FractionsAreRoundedUpOnceAtTheEnd) {
  const CostLine line{.law = Rate{.bytes_per_cycle = BytesPerCycle(256)}, .startup = 2.1};
  EXPECT_EQ(cycles(line, {.bytes = 256}, false).occupancy, 4u);       // 3.1
  EXPECT_EQ(cycles(line, {.bytes = 256 * 9}, false).occupancy, 12u);  // 11.1
  const CostLine whole{.law = Steps{.per_step = 510.9}, .startup = 2.1};
  EXPECT_EQ(cycles(whole, {.steps = 1}, false).occupancy, 513u);  // 2.1 + 510.9 is a whole number, though not in binary
}

TEST(Cycles, WhatIsRoundedUpIsTheNextOnesGain) {
  const CostLine line{.law = Steps{.per_step = 2.5}};
  const Cycles first = cycles(line, {.steps = 1}, false);
  EXPECT_EQ(first.occupancy, 3u);
  EXPECT_EQ(first.slack, 0.5);
  EXPECT_EQ(cycles(line, {.steps = 1}, false, 0, first.slack), (Cycles{2, 2}));
}

TEST(Cycles, ALimitHoldsForAllOfATransfer) {
  const CostLine line{.law = Port{.bytes_per_cycle = BytesPerCycle(128), .sustained = BytesPerCycle(64)},
                      .startup = 100};
  EXPECT_EQ(cycles(line, {.bytes = 1024}, false).occupancy, 108u);
  EXPECT_EQ(cycles(line, {.bytes = 65536}, false).occupancy, 1024u);
}

TEST(Cycles, ALimitHoldsForEachBurst) {
  const CostLine line{.law = Port{.bytes_per_cycle = BytesPerCycle(128), .sustained = BytesPerCycle(64)},
                      .startup = 100};
  EXPECT_EQ(cycles(line, {.bytes = 65536, .bursts = 1}, false).occupancy, 1024u);
  EXPECT_EQ(cycles(line, {.bytes = 65536, .bursts = 64}, false).occupancy, 100u + 512);
}

TEST(Cycles, ABurstGoesInPieces) {
  const CostLine line{.law = Pieces{.per_burst = 3, .per_piece = 2, .piece = config::Bytes(256)}};
  const auto of_row = [&](u64 bytes) { return line.body({.bytes = 10 * bytes, .bursts = 10}); };
  EXPECT_EQ(of_row(16), 30);                    // one piece
  EXPECT_EQ(of_row(64), 30);                    // one
  EXPECT_EQ(of_row(80), 50);                    // 64 and 16
  EXPECT_EQ(of_row(128), 30);                   // one
  EXPECT_EQ(of_row(192), 50);                   // 128 and 64
  EXPECT_EQ(of_row(240), 70 + 10);              // 128, 64 and 48, which have no room together
  EXPECT_EQ(of_row(256), 30);                   // one
  EXPECT_EQ(of_row(256 + 192), 70);             // and two parts
  EXPECT_EQ(of_row(256 + 240), 90 + 10);        // and three
  EXPECT_EQ(of_row(512 + 240), 110 + 10 + 10);  // 1 waits once, 2 twice
  EXPECT_EQ(of_row(1024), 90);                  // four
  EXPECT_EQ(of_row(1024 + 2), 110 + 10);        // and a rest
}

TEST(Cycles, AFetchServesSomeSteps) {
  const CostLine line{.law = Fetches{.per_step = 1, .per_fetch = 9, .fetch = 8}, .startup = 10};
  EXPECT_EQ(cycles(line, {.steps = 8}, false).occupancy, 18u);
  EXPECT_EQ(cycles(line, {.steps = 9}, false).occupancy, 28u);
  EXPECT_EQ(cycles(line, {.steps = 16}, false).occupancy, 35u);
  EXPECT_EQ(cycles(line, {.steps = 17}, false).occupancy, 45u);
}

TEST(Cycles, RowsOfFractalsCountBesideTheirSteps) {
  const CostLine line{.law = Rows{.per_step = 1, .per_row = 1.5}, .minimum = 3};
  EXPECT_EQ(cycles(line, {.steps = 1, .rows = 1}, false).occupancy, 3u);
  EXPECT_EQ(cycles(line, {.steps = 32, .rows = 8}, false).occupancy, 44u);
}

TEST(Cycles, ExtraCountsLikeWork) {
  EXPECT_EQ(cycles(kLine, {.steps = 10}, false, 7.5), (Cycles{20, 27, 0}));
  EXPECT_EQ(cycles(kLine, {.steps = 10}, false, 9.5), (Cycles{22, 29, 0.5}));
}

TEST(Cycles, NothingIsFree) {
  const CostLine line{.minimum = 0};
  EXPECT_EQ(cycles(line, {}, false), (Cycles{1, 1}));
}

const isa::Row& row(std::string_view name) {
  const isa::Row* r = isa::row_of(name);
  if (r == nullptr) fail(Fault::Internal, "no instruction {}", name);
  return *r;
}

// A cube of another size takes whole steps of its own; another type has as many bytes of k.
TEST(CostTable, CountsStepsOfTheCubeOfTheChip) {
  config::CoreConfig core;
  core.rates.m = core.rates.n = 32;
  core.rates.k = 64;
  const CostTable table(core);
  const auto work = [&](u8 type, u16 m, u16 k, u16 n) {
    isa::Issued mad;
    mad.row = isa::row_of("mad");
    mad.type = type;
    isa::args_of<isa::insn::Mad>(mad.args) = {.c = 0, .a = 0, .b = 0, .m = m, .k = k, .n = n, .init = 1, .type = type};
    return table.in_steps(mad, mad.row->work(mad.args, mad.spr));
  };
  using isa::insn::Mad;
  EXPECT_EQ(work(Mad::f162f32, 32, 64, 32).steps, 1u);
  EXPECT_EQ(work(Mad::f162f32, 16, 16, 16).steps, 1u);  // a part of it
  EXPECT_EQ(work(Mad::f162f32, 48, 128, 64).steps, 2u * 2 * 2);
  EXPECT_EQ(work(Mad::f162f32, 48, 128, 64).rows, 2u);
  EXPECT_EQ(work(Mad::s8, 32, 128, 32).steps, 1u);
  EXPECT_EQ(work(Mad::f322f32, 32, 64, 32).steps, 4u);
}

TEST(CostTable, TheMostSpecificLineWins) {
  config::CoreConfig core;
  core.line("vector.unary"_cost) = {.law = Repeats{.per_step = 1}};
  core.line("vector.binary"_cost) = {.law = Repeats{.per_step = 2}};
  core.instructions["vexp"] = {.law = Repeats{.per_step = 3}};
  core.instructions["vexp.f16"] = {.law = Repeats{.per_step = 4}};
  core.instructions["vadd.f32"] = {.law = Repeats{.per_step = 5}};
  const CostTable table(core);
  const auto per_step = [&](std::string_view name, std::string_view type) {
    const isa::Row& r = row(name);
    for (u8 t = 0; t < r.types.size(); ++t) {
      if (r.types[t].name == type) return table.line(r, t, {}).per_step();
    }
    return -1.0;
  };
  EXPECT_EQ(per_step("vexp", "f16"), 4);
  EXPECT_EQ(per_step("vexp", "f32"), 3);
  EXPECT_EQ(per_step("vabs", "f16"), 1);
  EXPECT_EQ(per_step("vadd", "f16"), 2);
  EXPECT_EQ(per_step("vadd", "f32"), 5);
}

TEST(CostTable, OperandsCanChooseTheClassUnlessTheInstructionHasALineOfItsOwn) {
  config::CoreConfig core;
  core.line("move.l0c_to_gm"_cost).startup = 1;
  core.line("move.l0c_to_gm_nz2nd"_cost).startup = 2;
  const isa::Row& fixpipe = row("copy_matrix_cc_to_gm");
  isa::ArgsStorage nz, nd;
  fixpipe.fields.back().set(nd, 1);  // NZ2ND_EN
  const CostTable by_class(core);
  EXPECT_EQ(by_class.line(fixpipe, 0, nz).startup, 1);
  EXPECT_EQ(by_class.line(fixpipe, 0, nd).startup, 2);
  core.instructions["copy_matrix_cc_to_gm"].startup = 3;
  const CostTable own(core);
  EXPECT_EQ(own.line(fixpipe, 0, nz).startup, 3);
  EXPECT_EQ(own.line(fixpipe, 0, nd).startup, 3);
}

TEST(CostTable, EveryClassHasItsOwnLine) {
  config::CoreConfig core;
  core.line("scalar.alu"_cost).startup = 1;
  core.line("scalar.load"_cost).startup = 2;
  core.line("scalar.store"_cost).startup = 3;
  core.line("scalar.sync"_cost).startup = 4;
  core.line("cube"_cost).startup = 5;
  core.line("move.gm_to_ub"_cost).startup = 6;
  core.line("move.gm_to_l1"_cost).startup = 7;
  core.line("move.gm_to_l1_nd2nz"_cost).startup = 8;
  core.line("move.ub_to_gm"_cost).startup = 9;
  core.line("move.l1_to_l0a"_cost).startup = 10;
  core.line("move.l1_to_l0b"_cost).startup = 11;
  core.line("move.l0c_to_ub"_cost).startup = 12;
  const CostTable table(core);
  const auto startup = [&](std::string_view name) { return table.line(row(name), 0, {}).startup; };
  EXPECT_EQ(startup("add"), 1);
  EXPECT_EQ(startup("ld_dev"), 2);
  EXPECT_EQ(startup("st_dev"), 3);
  EXPECT_EQ(startup("set_flag"), 4);
  EXPECT_EQ(startup("mad"), 5);
  EXPECT_EQ(startup("copy_gm_to_ubuf"), 6);
  EXPECT_EQ(startup("copy_gm_to_cbuf"), 7);
  EXPECT_EQ(startup("copy_gm_to_cbuf_multi_nd2nz_b16"), 8);
  EXPECT_EQ(startup("copy_ubuf_to_gm"), 9);
  EXPECT_EQ(startup("load_cbuf_to_ca"), 10);
  EXPECT_EQ(startup("load_cbuf_to_cb"), 11);
  EXPECT_EQ(startup("copy_matrix_cc_to_ubuf"), 12);
}

}  // namespace
}  // namespace vinci::models
