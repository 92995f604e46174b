// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <vector>

#include "models/explain/block_log.h"

namespace vinci::models {

// A stretch of the critical path of a kernel.
struct PathStep {
  u64 begin = 0, end = 0;
  CostKind kind = CostKind::other;
  const BlockLog* block = nullptr;  // null: the task scheduler
  isa::PipeId pipe = isa::PipeId::S;
  const isa::Row* row = nullptr;  // null: no instruction, or several of the scalar unit
  u32 pc = 0, line = 0;
};

// A change of the path from one unit to another: `to` could not go on before `from` was through.
struct PathEdge {
  Why why = Why::issue;
  isa::PipeId from = isa::PipeId::S, to = isa::PipeId::S;
  u64 at = 0;
  u64 waited = 0;  // cycles that `to` had nothing else to do; 0 where that is not known
};

// The chain of events that made a kernel end when it did, from its end back to its start. The steps cover the time from
// the start of the task to its end without gaps or overlaps.
struct CriticalPath {
  std::vector<PathStep> steps;  // in the order of time
  std::vector<PathEdge> edges;  // the same
  std::array<u64, enum_count<CostKind>> cycles{};

  u64 total() const;
};

CriticalPath critical_path(const KernelLog& log);

}  // namespace vinci::models
