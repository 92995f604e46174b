// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/graph/compile/network.h"
#include "tools/graph/compile/timing.h"

namespace vinci::graph {

// A network as it is compiled without one pass.
struct AblationRow {
  std::string pass;        // "" for the row with all passes
  u32 changes = 0;         // that the pass made among all passes
  std::string error = {};  // why it cannot be compiled without the pass, a line; then there is nothing else
  usize tasks = 0;
  double microseconds = 0;
  u64 read_bytes = 0, written_bytes = 0;  // of global memory
  u64 buffers = 0;                        // bytes for values in between
};

// Compiles and simulates a copy of `graph` with all passes that `options` leaves on, then without each of those that
// changed anything. `progress` is told the pass before each compilation.
std::vector<AblationRow> ablation(const Graph& graph, const config::ChipConfig& chip, const CompileOptions& options,
                                  const std::function<void(std::string_view pass)>& progress = {});

// A line for each row, with what its pass is worth: the difference from the row with all passes.
std::string ablation_table(const std::vector<AblationRow>& rows);

}  // namespace vinci::graph
