// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/python/arguments.h"

// `with` statements of the builders. A body that is left by an exception, and bodies that end in another order than
// they began, make the builder unusable: what it has written is half of something.
namespace vinci::python {

// What a builder knows of its bodies.
struct Bodies {
  std::vector<std::uint64_t> open = {};  // innermost last
  std::uint64_t count = 0;               // bodies so far
  std::string broken = {};               // why the builder is unusable

  // Throws where the builder is unusable.
  void check() const {
    if (!broken.empty()) throw Failure{VINCI_ERROR_INPUT, broken};
  }
  // Throws where finish() would come too early.
  void check_closed() const {
    check();
    if (!open.empty()) throw Failure{VINCI_ERROR_INPUT, "finish() inside the body of a with statement of this builder"};
  }
};

// The context manager of one body.
class Body {
 public:
  using Begin = std::function<pybind11::object()>;
  using End = std::function<void()>;

  Body(std::shared_ptr<Bodies> builder, Begin begin, End end)
      : builder_(std::move(builder)), begin_(std::move(begin)), end_(std::move(end)) {}

  pybind11::object enter();
  bool exit(pybind11::handle type);

 private:
  void fail(const char* why);

  std::shared_ptr<Bodies> builder_;
  Begin begin_;
  End end_;
  std::uint64_t id_ = 0;  // 0: not begun
  bool ended_ = false;
};

void bind_bodies(pybind11::module_& m);

// 64 bits of a whole number, as int64 where it is negative. Throws Failure with `what` in front.
struct WholeNumber {
  std::uint64_t bits = 0;
  bool negative = false;
};
WholeNumber whole_number(pybind11::handle number, std::string_view what);

// The enumerator of a name; `what` is "memory", "kernel type" ...
template <class E, class Names>
E enumerator(const Names& names, std::string_view text, std::string_view what) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<E>(i);
    all += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw Failure{VINCI_ERROR_INPUT, "no " + std::string(what) + " '" + std::string(text) + "'; there are " + all};
}

}  // namespace vinci::python
