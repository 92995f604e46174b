// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include "sim/task/write.h"
#include "tests/unit/sim/task_sample.h"

namespace vinci::task::test {

inline TaskStream parse_vts(const std::vector<std::byte>& bytes) {
  return parse_task_stream(bytes, "t.vts", MemoryFiles{});
}

inline void expect_round_trip(const TaskStream& s) {
  const std::vector<std::byte> vts = to_vts(s);
  EXPECT_EQ(parse_vts(vts), s);  // everything, down to source lines
  EXPECT_EQ(to_vts(parse_vts(vts)), vts);
  const std::string yaml = to_yaml(s);
  const TaskStream again = parse_text(yaml);
  EXPECT_TRUE(same_meaning(again, s)) << yaml;
  EXPECT_EQ(to_yaml(again), yaml);
}

}  // namespace vinci::task::test
