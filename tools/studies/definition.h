// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/types.h"

// What a study asks and what it promises, as data: configs/studies/<id>.yaml, built into the library.
namespace vinci::studies {

// An input of a study that a user may set. With choices it is one of these words; else a number within a range, and a
// whole one where its default is written without a point.
struct Knob {
  std::string name;
  std::string fallback = {};  // the default, as text
  std::string unit = {};
  std::string doc = {};
  std::vector<std::string> choices = {};
  double low = 0, high = 0;

  bool whole() const { return choices.empty() && fallback.find('.') == std::string::npos; }
  // "" where `text` is a value of this knob, else why not.
  std::string why_not(std::string_view text) const;
};

// Mechanism: must hold exactly. Ratio: a published figure with a band. Direction: which of two is larger.
enum class CriterionKind : u8 { mechanism, ratio, direction };
inline constexpr auto kCriterionKindNames = enum_names<CriterionKind>;

struct Criterion {
  enum class Bound : u8 { equals, at_least, at_most, within };
  std::string name;
  CriterionKind kind = CriterionKind::mechanism;
  Bound bound = Bound::equals;
  double low = 0, high = 0;  // at_least: low, at_most: high, equals: both
  std::string unit = {};
  std::string doc = {};

  std::string open = {};  // why it does not hold yet; "" for criteria that do

  bool holds(double value) const;
  std::string bound_text() const;  // ">= 4", "6.5 .. 19.5"
};
inline constexpr auto kBoundNames = enum_names<Criterion::Bound>;

// What a page draws: a bar for each criterion of one of these names, and for each fact whose name contains one of them.
struct Chart {
  std::vector<std::string> bars = {};
  bool logarithmic = false;
};

struct Definition {
  std::string id = {};  // S09
  std::string title = {};
  std::string question = {};
  std::string from = {};    // where figures and bounds come from
  std::string answer = {};  // in a line; {name} is the value of a criterion or of a fact
  std::string advice = {};  // what a reader does with the answer
  Chart chart = {};
  std::string chip = {};  // that it runs on unless another is asked for
  std::vector<Knob> knobs = {};
  std::vector<Criterion> criteria = {};
};

// From text. `source` is the file name of messages. Throws Fault::Input at file:line:column.
Definition parse_definition(std::string_view text, const std::string& id, const std::string& source);
// The built-in one; Fault::Internal where there is none.
Definition builtin_definition(std::string_view id);

}  // namespace vinci::studies
