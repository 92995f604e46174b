// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>

#include "tools/python/arguments.h"

namespace vinci::python {

// A part of a builder (a register, a buffer) as Python sees it. It keeps its builder alive.
template <class State, class T>
struct Owned {
  std::shared_ptr<State> owner;
  T value;
};

// The part, for a call of its own builder. Throws where it is of another one; `what` begins the message.
template <class State, class T>
const T& own(const std::shared_ptr<State>& owner, const Owned<State, T>& part, const char* what = "a part") {
  if (part.owner != owner) throw Failure{VINCI_ERROR_INPUT, std::string(what) + " of another " + State::kName};
  return part.value;
}

}  // namespace vinci::python
