// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/support/path_check.h"

#include <gtest/gtest.h>

namespace vinci::test {

std::string to_text(const models::CriticalPath& path) {
  std::string out;
  for (const models::PathStep& s : path.steps) {
    out += fmt::format("{:>8} {:>8} {:<18} {:<5} {} {}\n", s.begin, s.end,
                       models::kCostKindNames[static_cast<usize>(s.kind)], isa::name(s.pipe), s.line,
                       s.row != nullptr ? s.row->name : "");
  }
  return out;
}

void PathCheck::kernel(const models::KernelLog& log) {
  ++kernels_;
  const models::CriticalPath path = models::critical_path(log);
  u64 at = log.start;
  for (const models::PathStep& s : path.steps) {
    EXPECT_EQ(s.begin, at);
    EXPECT_LT(s.begin, s.end);
    at = s.end;
  }
  EXPECT_EQ(at, log.end);
  EXPECT_EQ(path.total(), log.end - log.start);
  const u64 other = path.cycles[static_cast<usize>(models::CostKind::other)];
  EXPECT_LE(other, std::max((log.end - log.start) / 50, slack_)) << to_text(path);
}

}  // namespace vinci::test
