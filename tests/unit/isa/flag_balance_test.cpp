// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/builder/flag_balance.h"

#include <gtest/gtest.h>

#include "isa/text/text.h"

namespace vinci::isa {
namespace {

std::string unbalanced(const std::string& text) { return unbalanced_flag(assemble(text, "k.s", Arch::c100)); }

TEST(FlagBalance, ASetNeedsAWait) {
  EXPECT_EQ(unbalanced("set_flag PIPE_V, PIPE_MTE3, 1\nend\n"),
            "a flag from PIPE_V to PIPE_MTE3, EVENT_ID1 is set, but never waited for");
  EXPECT_EQ(unbalanced("wait_flag PIPE_V, PIPE_MTE3, 1\nend\n"),
            "a flag from PIPE_V to PIPE_MTE3, EVENT_ID1 is waited for, but never set");
  EXPECT_EQ(unbalanced("wait_flag PIPE_V, PIPE_MTE3, 1\nset_flag PIPE_V, PIPE_MTE3, 1\nend\n"), "");
  EXPECT_EQ(unbalanced("set_flag PIPE_V, PIPE_MTE3, 1\nwait_flag PIPE_V, PIPE_MTE3, 2\nend\n"),
            "a flag from PIPE_V to PIPE_MTE3, EVENT_ID1 is set, but never waited for");
}

TEST(FlagBalance, CountsAlongEachWay) {
  EXPECT_EQ(unbalanced("set_flag PIPE_V, PIPE_MTE3, 0\nwait_flag PIPE_V, PIPE_MTE3, 0\n"
                       "set_flag PIPE_V, PIPE_MTE3, 0\nend\n"),
            "the program ends with a flag from PIPE_V to PIPE_MTE3, EVENT_ID0 set 1 time more often than waited for");
  // The other way leaves none, but the loop is free of its own.
  const std::string loop =
      "set_flag PIPE_V, PIPE_MTE3, 0\nloop:\nwait_flag PIPE_V, PIPE_MTE3, 0\nset_flag PIPE_V, PIPE_MTE3, 0\n"
      "blt X0, X1, loop\n";
  EXPECT_EQ(unbalanced(loop + "wait_flag PIPE_V, PIPE_MTE3, 0\nend\n"), "");
  EXPECT_EQ(unbalanced(loop + "end\n"),
            "the program ends with a flag from PIPE_V to PIPE_MTE3, EVENT_ID0 set 1 time more often than waited for");
}

TEST(FlagBalance, SaysNothingWhereTheWayDecides) {
  // A branch sets what a later one waits for.
  EXPECT_EQ(unbalanced("beq X0, 0, skip\nset_flag PIPE_V, PIPE_MTE3, 0\nskip:\nbeq X0, 0, past\n"
                       "wait_flag PIPE_V, PIPE_MTE3, 0\npast:\nend\n"),
            "");
  // Another event of the pair is in a register.
  EXPECT_EQ(unbalanced("set_flag PIPE_V, PIPE_MTE3, 0\nwait_flag PIPE_V, PIPE_MTE3, X0\nend\n"), "");
  // A trap ends with flags up.
  EXPECT_EQ(unbalanced("set_flag PIPE_V, PIPE_MTE3, 0\nbeq X0, 0, good\ntrap 1\ngood:\n"
                       "wait_flag PIPE_V, PIPE_MTE3, 0\nend\n"),
            "");
}

TEST(FlagBalance, ACountThatALoopMakesUnknownIsNotReported) {
  // The first turn ends with one flag up, later ones with two: found first, and then known to depend on the way.
  EXPECT_EQ(unbalanced("loop:\nset_flag PIPE_V, PIPE_MTE3, 0\nblt X0, X1, loop\nwait_flag PIPE_V, PIPE_MTE3, 0\n"
                       "beq X0, 7, loop\nend\n"),
            "");
}

}  // namespace
}  // namespace vinci::isa
