// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

// Each mutant must be found, under the right id, at the right instruction.
namespace vinci::test {
namespace {

using isa::check::FaultId;

constexpr int kMutants = 24;  // of each class

bool one_of(const std::string& tags, const std::string& tag) {
  const std::string list = "|" + tags + "|";
  return list.find("|" + tag + "|") != std::string::npos;
}

std::string place_of(const isa::check::Site& s, const Lines& program) {
  return s.is_task() ? s.task : program.tag_of(s.line);
}

bool points_at(const isa::check::Finding& f, FaultId id, const Mutant& m) {
  if (f.id != id || f.message.empty()) return false;
  // Of two tasks or blocks that run at once, either may be named first.
  const auto matches = [&](const isa::check::Site& at, const std::optional<isa::check::Site>& other) {
    return one_of(m.at, place_of(at, m.program)) &&
           (m.other.empty() || (other && one_of(m.other, place_of(*other, m.program))));
  };
  if (matches(f.at, f.other)) return true;
  constexpr std::array kSymmetric{FaultId::block_overlap,    FaultId::task_overlap,
                                  FaultId::unordered_free,   FaultId::unordered_event_reset,
                                  FaultId::unordered_notify, FaultId::unordered_collective};
  const bool symmetric = std::ranges::find(kSymmetric, id) != kSymmetric.end();
  return symmetric && f.other && matches(*f.other, f.at);
}

TEST(Mutants, AllAreFoundWhereTheyAre) {
  std::vector<MutantClass> classes = vector_classes();
  for (auto&& more : {stream_classes(), cube_classes(), mix_classes()})
    classes.insert(classes.end(), more.begin(), more.end());
  std::set<FaultId> ids;
  for (const MutantClass& c : classes)
    ids.insert(c.id);
  EXPECT_EQ(ids.size(), isa::check::kFaultTexts.size()) << "a class of faults has no mutants";
  fmt::print("{:<58} {:<22} found\n", "class", "id");
  for (const MutantClass& c : classes) {
    int found = 0;
    for (int i = 0; i < kMutants; ++i) {
      Random random(7919 * static_cast<u64>(i) + 17);
      const Mutant m = c.make(random);
      const Mode mode = i % 8 == 7 ? Mode::full : i % 8 == 6 ? Mode::timing : Mode::functional;
      const Checked seen = check(m.chip, m.stream, mode);
      const bool right = std::ranges::any_of(seen.findings, [&](const auto& f) { return points_at(f, c.id, m); });
      EXPECT_TRUE(right) << c.name << ", mutant " << i << ": " << name(c.id) << " at '" << m.at << "' with '" << m.other
                         << "' not among\n"
                         << seen.text() << m.program.text();
      found += right ? 1 : 0;
    }
    fmt::print("{:<58} {:<22} {}/{}\n", c.name, name(c.id), found, kMutants);
  }
}

}  // namespace
}  // namespace vinci::test
