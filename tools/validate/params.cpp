// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/params.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "isa/base/error.h"

namespace vinci::validate {
namespace {

template <class T>
T parse(const std::string& place, std::string_view name, const std::string& text, std::string_view what) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_at(Fault::Input, place, "{}: '{}' is no {}", name, text, what);
  return value;
}

}  // namespace

const std::string& Params::text(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) fail_at(Fault::Input, place_, "{} is missing", name);
  return it->second;
}

u64 Params::whole(std::string_view name) const { return parse<u64>(place_, name, text(name), "whole number"); }

double Params::number(std::string_view name) const {
  const double value = parse<double>(place_, name, text(name), "number");
  if (!std::isfinite(value)) fail_at(Fault::Input, place_, "{} is not finite", name);
  return value;
}

bool Params::flag(std::string_view name) const {
  const std::string& value = text(name);
  if (value != "0" && value != "1") fail_at(Fault::Input, place_, "{} is 0 or 1, not '{}'", name, value);
  return value == "1";
}

std::vector<u64> Params::wholes(std::string_view name) const {
  std::vector<u64> out;
  std::istringstream words(text(name));
  for (std::string word; words >> word;)
    out.push_back(parse<u64>(place_, name, word, "whole number"));
  return out;
}

void Params::need(bool holds, std::string_view what) const {
  if (!holds) fail_at(Fault::Input, place_, "{}", what);
}

}  // namespace vinci::validate
