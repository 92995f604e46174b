// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace vinci {

// What kind of thing went wrong; the value is the exit code of the command line tool.
enum class Fault {
  Input = 2,         // a file or an option is malformed
  Program = 3,       // a program does something the hardware would trap on
  Unsupported = 4,   // legal, but not modelled, or not in the chosen mode
  Uncalibrated = 5,  // the chip file has no cost for it
  Deadlock = 6,      // nothing can move any more
  Limit = 7,         // a limit of the run was reached
  Internal = 8,      // a bug of this project
};

constexpr std::string_view fault_name(Fault f) {
  switch (f) {
    case Fault::Input: return "input";
    case Fault::Program: return "program";
    case Fault::Unsupported: return "unsupported";
    case Fault::Uncalibrated: return "uncalibrated";
    case Fault::Deadlock: return "deadlock";
    case Fault::Limit: return "limit";
    case Fault::Internal: return "internal";
  }
  return "internal";
}

// The one exception of the project. `location` is "file:line:column", a path inside a file, or empty.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, std::string message, std::string location = {})
      : std::runtime_error(location.empty() ? message : location + ": " + message),
        fault_(fault),
        message_(std::move(message)),
        location_(std::move(location)) {}

  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }    // without the location
  const std::string& location() const { return location_; }  // what() is both

 private:
  Fault fault_;
  std::string message_;
  std::string location_;
};

}  // namespace vinci
