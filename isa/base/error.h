// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "isa/base/fault.h"

namespace vinci {

template <class... A>
[[noreturn]] void fail(Fault fault, fmt::format_string<A...> text, A&&... args) {
  throw Error(fault, fmt::format(text, std::forward<A>(args)...));
}

template <class... A>
[[noreturn]] void fail_at(Fault fault, std::string location, fmt::format_string<A...> text, A&&... args) {
  throw Error(fault, fmt::format(text, std::forward<A>(args)...), std::move(location));
}

}  // namespace vinci

// An invariant of our own code; a failure is a bug of this project, never of the user.
#define VINCI_CHECK(condition)                                                                            \
  do {                                                                                                    \
    if (!(condition)) [[unlikely]]                                                                        \
      ::vinci::fail(::vinci::Fault::Internal, "{}:{}: check failed: {}", __FILE__, __LINE__, #condition); \
  } while (false)
