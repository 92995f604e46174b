// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/builder/program_builder.h"
#include "isa/machine/machine.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

constexpr u64 kTile = 256;  // bytes

// out[i] = in[i] + in[i] of f32, tile by tile; arguments: in, out.
BuiltProgram twice(u32 parts, u64 tiles) {
  ProgramBuilder p("twice", Arch::c220,
                   CoreLimits{.kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 8192}, .flags_per_pair = 8});
  const Reg in = p.arg("in"), out = p.arg("out");
  const Slots x = p.slots("x", parts, kTile), y = p.slots("y", parts, kTile), z = p.slots("z", parts, kTile);
  p.loop(tiles, [&](Reg) {
    p.fill(x, [&](Reg at) { p.copy_gm_to_ubuf(at, in, 0, 1, kTile / 32, 0, 0); });
    p.fill(z, [&](Reg at) { p.copy_gm_to_ubuf(at, in, 0, 1, kTile / 32, 0, 0); });
    p.drain(x, [&](Reg a) {
      p.drain(z,
              [&](Reg b) { p.fill(y, [&](Reg to) { p.vadd(Type::f32, to, a, b, kTile / 256, 1, 1, 1, 8, 8, 8); }); });
    });
    p.drain(y, [&](Reg at) { p.copy_ubuf_to_gm(out, at, 0, 1, kTile / 32, 0, 0); });
    p.add(in, in, kTile);
    p.add(out, out, kTile);
  });
  p.end_block();
  return p.finish();
}

TEST(Slots, CarryTilesThroughACoreInAnyNumberOfParts) {
  constexpr u64 kTiles = 7;
  for (const u32 parts : {1u, 2u, 3u, 4u}) {
    const BuiltProgram built = twice(parts, kTiles);
    EXPECT_EQ(assemble(built.text(), "twice.s"), built.program());
    GlobalMemory gm;
    const u64 in = gm.allocate(kTiles * kTile, "in"), out = gm.allocate(kTiles * kTile, "out");
    for (u64 i = 0; i < kTiles * kTile / 4; ++i)
      gm_store<float>(gm, in + i * 4, static_cast<float>(i));
    Machine machine({.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 8192}}, gm, 0);
    u64 budget = 10000;
    machine.run(Code(built.program()), {.args = {in, out}}, budget);
    for (u64 i = 0; i < kTiles * kTile / 4; ++i)
      ASSERT_EQ(gm_load<float>(gm, out + i * 4), static_cast<float>(2 * i)) << parts << " parts, element " << i;
  }
}

TEST(Slots, TakePipesAndEventIdsFromTheirUse) {
  const std::string text = twice(2, 3).text();
  EXPECT_THAT(text, HasSubstr("wait_flag PIPE_V, PIPE_MTE2, x_fill\n"));
  EXPECT_THAT(text, HasSubstr("set_flag PIPE_MTE2, PIPE_V, x_fill\n"));
  EXPECT_THAT(text, HasSubstr("set_flag PIPE_V, PIPE_MTE2, z_drain\n"));
  EXPECT_THAT(text, HasSubstr("mov z_fill, 2\n"));  // x has 0 and 1 of this pair
  EXPECT_THAT(text, HasSubstr("set_flag PIPE_V, PIPE_MTE3, y_fill\n"));
  EXPECT_THAT(text, HasSubstr("mov y_fill, 0\n"));  // another pair
}

template <class Write>
std::string refused(const Write& write) {
  return error_of([&] {
    ProgramBuilder p("k", Arch::c100);
    write(p);
    p.end_block();
    p.finish();
  });
}

TEST(Slots, AreRefusedWhereTheirUseIsNotThatOfABuffer) {
  const auto load = [](ProgramBuilder& p, Reg at) { p.copy_gm_to_ubuf(at, 0, 0, 1, 1, 0, 0); };
  const auto store = [](ProgramBuilder& p, Reg at) { p.copy_ubuf_to_gm(0, at, 0, 1, 1, 0, 0); };
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.fill(p.slots("s", 2, 32), [&](Reg at) { load(p, at); }); }),
              HasSubstr("slots 's' are never drained"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.slots("s", 0, 32); }), HasSubstr("need at least one part"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.fill(p.slots("s", 2, 32), [](Reg) {}); }),
              HasSubstr("no instruction uses slots 's' here"));
  EXPECT_THAT(
      refused([&](ProgramBuilder& p) { p.fill(p.slots("s", 2, 32), [&](Reg at) { load(p, at), store(p, at); }); }),
      HasSubstr("instructions of PIPE_MTE2 and PIPE_MTE3 use slots 's' together"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) {
                const Slots s = p.slots("s", 2, 32);
                p.fill(s, [&](Reg at) { load(p, at); });
                p.fill(s, [&](Reg at) { store(p, at); });
              }),
              HasSubstr("slots 's' are filled by PIPE_MTE2 and by PIPE_MTE3"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) {
                const Slots s = p.slots("s", 2, 32);
                p.fill(s, [&](Reg at) { load(p, at); });
                p.drain(s, [&](Reg at) { load(p, at); });
              }),
              HasSubstr("slots 's' are filled and drained by PIPE_MTE2"));
  for (const bool outer : {false, true}) {  // a body inside another one of the same slots
    for (const bool inner : {false, true}) {
      EXPECT_THAT(refused([&](ProgramBuilder& p) {
                    const Slots s = p.slots("s", 2, 32);
                    outer ? p.begin_fill(s) : p.begin_drain(s);
                    inner ? p.begin_fill(s) : p.begin_drain(s);
                  }),
                  HasSubstr("slots 's' have an open body already"));
    }
    EXPECT_THAT(refused([&](ProgramBuilder& p) {
                  const Slots s = p.slots("s", 2, 32);
                  load(p, outer ? p.begin_fill(s) : p.begin_drain(s));
                  outer ? p.end_drain(s) : p.end_fill(s);
                }),
                HasSubstr(outer ? "no drain() of slots 's' is open" : "no fill() of slots 's' is open"));
  }
  EXPECT_THAT(refused([&](ProgramBuilder& p) {
                const Slots s = p.slots("s", 2, 32);
                load(p, p.begin_fill(s));
              }),
              HasSubstr("a body that fills slots 's' has no end"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.end_fill(p.slots("s", 2, 32)); }),
              HasSubstr("no fill() of slots 's' is open"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) {  // 4 event ids, of which the program has 3 itself
                p.hand_over(PipeId::MTE2, PipeId::MTE3, 2);
                const Slots s = p.slots("s", 2, 32);
                p.fill(s, [&](Reg at) { load(p, at); });
                p.drain(s, [&](Reg at) { store(p, at); });
              }),
              HasSubstr("slots 's' need 2 event ids between PIPE_MTE2 and PIPE_MTE3; of 4 0 are left"));
}

}  // namespace
}  // namespace vinci::isa
