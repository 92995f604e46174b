// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/strand.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace vinci::ascendc {
namespace {

TEST(Strand, RunsBetweenResumesOnly) {
  std::string log;
  Strand a("a", [&] {
    log += "a1 ";
    Strand::give_way();
    log += "a2 ";
  });
  Strand b("b", [&] {
    log += "b1 ";
    Strand::give_way();
    Strand::give_way();
    log += "b2 ";
  });
  EXPECT_EQ(log, "");
  EXPECT_FALSE(a.resume());
  EXPECT_FALSE(b.resume());
  EXPECT_FALSE(b.resume());
  EXPECT_TRUE(a.resume());
  EXPECT_TRUE(b.resume());
  EXPECT_EQ(log, "a1 b1 a2 b2 ");
}

TEST(Strand, WhatItThrowsComesOutOfResume) {
  Strand s("s", [] {
    Strand::give_way();
    throw std::runtime_error("later");
  });
  EXPECT_FALSE(s.resume());
  EXPECT_THROW(s.resume(), std::runtime_error);
}

TEST(Strand, OneThatIsDroppedIsUnwound) {
  const auto held = std::make_shared<int>(0);
  {
    Strand s("a name longer than a debugger shows", [copy = held] {
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): what is unwound
      const std::shared_ptr<int> mine = copy;
      Strand::give_way();
    });
    EXPECT_FALSE(s.resume());
    EXPECT_EQ(held.use_count(), 3);
  }
  EXPECT_EQ(held.use_count(), 1);
  const Strand never("never", [] { FAIL(); });
}

}  // namespace
}  // namespace vinci::ascendc
