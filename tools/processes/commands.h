// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isa/base/types.h"

namespace vinci::processes {

// How a command ended: its exit code, or the signal that ended it.
struct Ended {
  usize id = 0;
  int exit_code = 0;
  int signal = 0;
};

// Command lines that run at the same time, each a process. The processes end with the one that made them, whatever ends
// it.
class Commands {
 public:
  Commands();
  ~Commands();  // ends those that still run
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  usize running() const { return children_.size(); }
  // words[0] is a path. What the command prints goes to the file `log`. Throws Fault::Limit where the system has no
  // room for another process.
  void start(usize id, const std::vector<std::string>& words, const std::string& log);
  // Those that have ended since the last call.
  std::vector<Ended> ended();

 private:
  struct Child;
  std::map<usize, std::unique_ptr<Child>> children_;
};

}  // namespace vinci::processes
