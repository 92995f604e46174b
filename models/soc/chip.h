// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/core/core.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// Who looks at a run; each may be null.
struct Observers {
  isa::Census* census = nullptr;
  isa::check::Checker* checker = nullptr;
};

// The cores of a chip with the memory that they share, built from its configuration. Wiring only.
class Chip {
 public:
  // `name` comes before the names of its cores, "npu1."; empty where there is one chip. A null `dram` is the built-in
  // model.
  Chip(sim::Env& env, const config::ChipConfig& config, stats::Group& stats, const std::string& name,
       const DramFactory& dram);
  // A chip that runs no kernel with a program can stay without cores.
  void build_cores(task::RunMemory& memory, const Observers& observers, ThreadPool& pool, DeferredAccesses& accesses);

  MemorySystem& memory() { return memory_; }
  const MemorySystem& memory() const { return memory_; }
  CrossCore& cross() { return cross_; }
  const CrossCore& cross() const { return cross_; }
  // Whether nothing that idle cores have done delays what they do from a cycle on.
  bool at_rest(u64 cycle) const;
  // The counters of all that kernels occupy, each number once.
  std::vector<stats::Group*> launch_counters();
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }
  std::vector<Core*> all_cores() const;
  stats::Group& stats() { return stats_; }

 private:
  sim::Env& env_;
  config::ChipConfig config_;  // in cycles of the cores
  stats::Group& stats_;
  std::string name_;
  CostTable costs_;
  MemorySystem memory_;
  CrossCore cross_;
  std::array<ResolvedTable, isa::kCoreKindNames.size()> resolved_;  // by CoreKind
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace vinci::models
