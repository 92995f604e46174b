// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/sweep/definition.h"

namespace vinci::sweep {

// Optuna as a process that is asked for points and told what came of them (optimiser.py).
class Optimiser {
 public:
  // Throws Fault::Unsupported where python3 or its module optuna is missing.
  explicit Optimiser(const Optimise& what);
  ~Optimiser();
  Optimiser(const Optimiser&) = delete;
  Optimiser& operator=(const Optimiser&) = delete;

  struct Trial {
    u64 number = 0;
    Point point;
  };
  std::vector<Trial> ask(usize count);
  // The values to be minimised, in the order of the definition; nothing for a point that failed.
  void tell(u64 number, const std::optional<std::vector<double>>& values);

 private:
  struct Process;
  std::string answer(const std::string& question);
  std::unique_ptr<Process> process_;
};

}  // namespace vinci::sweep
