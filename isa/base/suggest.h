// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

namespace vinci {

// Levenshtein distance, for "did you mean".
inline usize edit_distance(std::string_view a, std::string_view b) {
  std::vector<usize> row(b.size() + 1);
  for (usize j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (usize i = 1; i <= a.size(); ++i) {
    usize diagonal = row[0];
    row[0] = i;
    for (usize j = 1; j <= b.size(); ++j) {
      const usize above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "; did you mean 'x'?" for the nearest candidate, whatever the case, or "" when none is near enough to help.
template <class Names>
std::string did_you_mean(std::string_view wrong, const Names& names) {
  std::string best;
  usize best_distance = std::max<usize>(2, wrong.size() / 3) + 1;
  const std::string shown = lower(wrong.substr(0, 64));
  for (const auto& candidate : names) {
    const std::string_view name{candidate};
    const usize longer = std::max(shown.size(), name.size());
    if (longer - std::min(shown.size(), name.size()) > best_distance) continue;  // at least that many edits
    const std::string form = lower(name);
    const usize distance = edit_distance(shown, form);
    // Of equally near names, one that the wrong one is the beginning of.
    const bool longer_form = distance == best_distance && !best.empty() && form.starts_with(shown);
    if (distance < best_distance || (longer_form && !lower(best).starts_with(shown))) {
      best_distance = distance;
      best = std::string(name);
    }
  }
  return best.empty() ? std::string{} : "; did you mean '" + best + "'?";
}

}  // namespace vinci
