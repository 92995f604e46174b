// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/explain/explanation.h"

namespace vinci::explain {

// What rules look at: the log of one launch of a kernel and its critical path.
struct Facts {
  const models::KernelLog& log;
  const models::CriticalPath& path;

  u64 time() const { return log.end - log.start; }
  // The time without what a launch costs whatever the program does.
  u64 body() const;
  // Share of body() that the path spends on these.
  double share(std::initializer_list<models::CostKind> kinds) const;
  double share(u64 cycles) const;
  double copies_in() const;  // MTE2 and what it waits for in memory
  double compute() const;    // cube and vector unit
  // What pipes that take turns lose against pipes that overlap: all of the path but its longest part,
  // where latencies of copies and flags are no part, because copies that follow each other hide them. A bound.
  double turns() const;
  // The same in so many tiles, of which one fills the pipes. Predicts the gain of a second buffer, of a copy that is
  // issued earlier, of flags in place of barriers. None where memory is busy: then the cores wait for each other.
  std::optional<double> turns(u64 tiles) const;

  u64 of_a_core(u64 cycles) const;  // of cycles or steps of all blocks

  using Where = std::function<bool(const models::PathEdge&)>;
  u64 count(const Where& where) const;
  u64 waited(const Where& where) const;

  // Executions of instructions that meet a condition, all together, and the largest of them.
  struct Sites {
    models::SiteSums sum;
    std::string place, what;
  };
  Sites sites(const std::function<bool(const models::SiteSums&)>& where) const;
};

// A rule finds one problem in one kernel. To add one: a function in one of the files rules*.cpp and its name in the
// list of that file; a kernel with the problem and the kernel mended in tests/unit/tools/explain_rules_test.cpp.
using Rule = std::optional<Advice> (*)(const Facts&);
std::span<const Rule> rules_of_pipelines();
std::span<const Rule> rules_of_copies();
std::span<const Rule> rules_of_cores();

// What all rules find, the largest gain first; where no gain is predicted, half of the share replaces it.
std::vector<Advice> find_advice(const models::KernelLog& log, const models::CriticalPath& path);

}  // namespace vinci::explain
