// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/graph/compile/network.h"

// Tilings by simulation: kernels offer some that their estimate puts first, and the timed model of the chip decides.
namespace vinci::graph {

// Tilings that were found before, by what decides about them. In a file for each chip and build of the program, so that
// a changed chip file, kernel or cost law chooses anew.
class TilingCache {
 public:
  TilingCache() = default;  // remembers nothing
  // Reads what `folder` has for the chip. A file that cannot be read counts as empty.
  TilingCache(const std::string& folder, const config::ChipConfig& chip);

  const Tiling* find(const std::string& signature) const;
  void add(const std::string& signature, Tiling tiling);
  void save() const;  // Throws Fault::Input where the folder cannot be written.

 private:
  std::string path_;
  std::map<std::string, Tiling> found_;
  bool changed_ = false;
};

struct TilingReport {
  u32 chosen = 0;       // different nodes that have more than one tiling
  u32 from_cache = 0;   // of them
  u32 simulations = 0;  // of the whole network
  // Sum of the tasks that were simulated with other tilings: with those of the estimate, and with those that were
  // chosen.
  double estimated_us = 0, chosen_us = 0;
};

// What a tiling of a node depends on: its kernel, and the node and its body with types, shapes, formats and attributes,
// but without names.
std::string tiling_signature(const CompiledNode& node);

// Gives each node the fastest of its at most eight tilings. The whole network is simulated with the first tiling of all
// nodes, then with the second one, and so on: each task meets the caches as its network leaves them.
// `progress` is told each simulation before it begins.
TilingReport choose_tilings(Network& network, TilingCache& cache,
                            const std::function<void(u32 begun, u32 all)>& progress = {});

}  // namespace vinci::graph
