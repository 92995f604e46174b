// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/finding.h"

#include <algorithm>

namespace vinci::isa::check {

std::vector<Finding> Findings::sorted() const {
  std::vector<Finding> out;
  out.reserve(entries_.size());
  for (const auto& [key, entry] : entries_)
    out.push_back(entry.finding);
  const auto order = [](const Finding& f) {
    const u32 other = f.other ? f.other->index : 0;
    return std::tuple(f.at.task_index, f.at.index, f.id, other, f.begin, f.buffer.value_or(BufId::GM));
  };
  std::ranges::stable_sort(out, [&](const Finding& a, const Finding& b) { return order(a) < order(b); });
  return out;
}

}  // namespace vinci::isa::check
