// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"

namespace vinci::config {

// What is wrong with a file, all of it, so that a user fixes it in one go.
class Problems {
 public:
  static constexpr usize kShown = 20;

  void add(std::string location, std::string message) {
    if (list_.size() < kShown) list_.push_back({std::move(location), std::move(message)});
    ++count_;
  }
  bool any() const { return count_ > 0; }
  // Whether another one would be shown; where not, making a good message is not worth the time.
  bool full() const { return count_ >= kShown; }

  // Throws Fault::Input when there are any: the first as location and message of the Error, the others as more lines.
  void throw_if_any() const {
    if (!any()) return;
    std::string message = list_.front().message;
    for (usize i = 1; i < list_.size(); ++i) {
      message += '\n';
      if (!list_[i].location.empty()) message += list_[i].location + ": ";
      message += list_[i].message;
    }
    if (count_ > list_.size()) message += "\nand " + std::to_string(count_ - list_.size()) + " more";
    throw Error(Fault::Input, std::move(message), list_.front().location);
  }

 private:
  struct Problem {
    std::string location;
    std::string message;
  };
  std::vector<Problem> list_;
  usize count_ = 0;
};

}  // namespace vinci::config
