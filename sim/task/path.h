// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "isa/base/error.h"

namespace vinci::task {

// Which part of a task stream is meant: streams[0].tasks[3].kernel_launch.args[2]. Cheap enough to make for each task;
// text only when a message needs it.
class Path {
 public:
  struct Step {
    std::string_view key;  // of a literal; empty for an index
    usize index = 0;
  };

  Path() = default;
  Path operator/(std::string_view key) const { return with({key, 0}); }
  Path operator/(usize index) const { return with({{}, index}); }

  const Step* begin() const { return steps_.data(); }
  const Step* end() const { return steps_.data() + size_; }

  std::string text() const {
    std::string out;
    for (const Step& s : *this) {
      if (s.key.empty()) {
        out += fmt::format("[{}]", s.index);
      } else {
        if (!out.empty()) out += '.';
        out += s.key;
      }
    }
    return out;
  }

 private:
  Path with(const Step& s) const {
    Path p = *this;
    VINCI_CHECK(p.size_ < p.steps_.size());
    p.steps_[p.size_++] = s;
    return p;
  }

  std::array<Step, 8> steps_{};
  usize size_ = 0;
};

// The place of a part, as a message says it: the two spellings differ.
class Locator {
 public:
  virtual ~Locator() = default;
  virtual std::string at(const Path& path) const = 0;
};

// For task streams without text: "name: streams[0].tasks[3]".
class PathLocator final : public Locator {
 public:
  explicit PathLocator(std::string name) : name_(std::move(name)) {}
  std::string at(const Path& path) const override {
    const std::string text = path.text();
    return text.empty() ? name_ : name_ + ": " + text;
  }

 private:
  std::string name_;
};

}  // namespace vinci::task
