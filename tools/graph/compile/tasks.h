// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>

#include "tools/graph/ir/graph.h"

// Which nodes of a network become tasks, branches included.
namespace vinci::graph {

// The unit that runs the task of a node: a core with a kernel, the AICPU with a function, the SDMA with a copy.
enum class Engine : u8 { aicore, aicpu, sdma };
Engine engine_of(const Node& node);
// Whether it makes the number of a branch, or of a bin.
bool chooses_branch(const Node& node);
// Whether its results have as many elements as its data choose.
bool selects(const Node& node);

// Calls `task` for each node that is a task, in order, and `branches` for each node with branches before them.
void for_each_task(const Graph& graph, const std::function<void(const Node&)>& task,
                   const std::function<void(const Node&)>& branches = {});

// What a branch gives is stored where its node has it. An output that the branch hands on, or gives twice, becomes a
// copy; it changes the branches only.
void copy_branch_outputs(Graph& graph);

}  // namespace vinci::graph
