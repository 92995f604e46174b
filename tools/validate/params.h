// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

namespace vinci::validate {

// The parameters of a point, as the file spells them; those that it leaves out have the default of their family.
class Params {
 public:
  explicit Params(std::string place = {}) : place_(std::move(place)) {}

  void set(std::string_view name, std::string text) { values_.insert_or_assign(std::string(name), std::move(text)); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }

  const std::string& text(std::string_view name) const;
  // Throw Fault::Input, at the place of the case, for what is no such number.
  u64 whole(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;                // 0 or 1
  std::vector<u64> wholes(std::string_view name) const;  // with blanks between them
  // Throws Fault::Input, at the place of the case, where it does not hold; `what` says what has to.
  void need(bool holds, std::string_view what) const;

  // file:line of the case, for messages.
  const std::string& place() const { return place_; }
  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  std::string place_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace vinci::validate
