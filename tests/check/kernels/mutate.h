// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/check/kernels/legal_schedules.h"

// Kernels that are wrong as a slip of their author makes them: one call, by its line of the source, is left out, moved,
// doubled or given another operand.
namespace vinci::test {

struct KernelMutant {
  std::string what;  // "add.asc:52: no pipe_barrier"
  task::TaskStream stream;
  // A rule that is broken by construction, and the lines that a report must name. Empty: only other orders show harm.
  std::string rule = {};
  std::set<std::string> lines = {};
};

// A launch that is the last task of `stream`, with what the unchanged one does.
struct OriginalKernel {
  const config::ChipConfig& chip;
  const task::TaskStream& stream;
  const std::vector<LegalSchedules::CoreLog>& logs;
};

struct MutationClass {
  std::string_view name;
  // Nothing where the kernel has nothing to change so.
  std::optional<KernelMutant> (*make)(const OriginalKernel&, Random&);
};
std::vector<MutationClass> mutation_classes();

}  // namespace vinci::test
