// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/studies/definition.h"

namespace vinci::studies {

// A figure that explains a result.
struct Fact {
  std::string what;
  double value = 0;
  std::string unit;
};

// What a study found.
struct Findings {
  explicit Findings(Definition of) : definition(std::move(of)), values(definition.criteria.size()) {}

  Definition definition;
  std::vector<Fact> facts = {};
  std::vector<std::optional<double>> values;  // by criterion; nothing where it was not measured

  bool holds(usize criterion) const;
  // Every criterion was measured and holds.
  bool passed() const;
  // A criterion neither holds nor is open.
  bool missed() const;
  // "8 of 9, 1 open".
  std::string verdict() const;
  // The answer with its figures; "nothing" for one that was not measured.
  std::string answer() const;
  // What the chart of the definition draws, in the order of its names.
  std::vector<Fact> bars() const;
};

// Three figures, without exponent: "0.0312", "1.25", "25600".
std::string readable(double value);

}  // namespace vinci::studies
