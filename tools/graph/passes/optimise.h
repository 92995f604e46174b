// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/graph/passes/pass.h"

namespace vinci::graph {

// Which passes run (--fusion_switch_file, --optimization_switch, --oo_level).
struct Switches {
  std::map<std::string, bool, std::less<>> passes = {};  // by name; the others are on
  Level level = Level::O3;

  bool on(const Pass& pass) const;
};

// What a switch file says: lines `Pass:off`, or JSON with "Switch": {"GraphFusion": {...}, "UBFusion": {...}}; "ALL"
// means all fusion passes. Throws Fault::Input, located at `where`, for a pass that does not exist.
Switches parse_switches(std::string_view text, const std::string& where);

struct PassRecord {
  const Pass* pass = nullptr;
  Effect effect = {};
};

struct OptimiseOptions {
  Switches switches = {};
  Target target = {};
  // Called behind each stage.
  std::function<void(Stage, const Graph&)> dump = {};
};

// Runs the passes that are on; returns what each of them did, in the order of the list.
std::vector<PassRecord> optimise(Graph& graph, const OptimiseOptions& options = {});

// Records of the same pass in several stages as one.
std::vector<PassRecord> by_name(const std::vector<PassRecord>& records);
// The records as fusion_result.json of CANN has them, with the joins and refusals of each pass (docs/graph.md).
std::string fusion_result(const std::vector<PassRecord>& records);
// The same for people: what each fusion saved, and for each reason how often it kept nodes apart, with some of them.
std::string fusion_table(const std::vector<PassRecord>& records);

}  // namespace vinci::graph
