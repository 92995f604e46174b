// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/explain/critical_path.h"

// Why the kernels of a run take their time (docs/explain.md).
namespace vinci::explain {

using Cycles = std::array<u64, enum_count<models::CostKind>>;

inline std::string_view name(models::CostKind kind) { return models::kCostKindNames[static_cast<usize>(kind)]; }

// What an instruction of the program, or a line of scalar code, takes on critical paths.
struct LineCost {
  std::string place;  // "add.asc:30"; "" for what no line is responsible for
  std::string what;   // "copy_gm_to_ubuf", "mad"; "" for scalar code
  u64 cycles = 0;
  models::CostKind kind{};  // that takes most of them
};

// How often the path passes from one unit to another, because the second had to wait for the first.
struct Handover {
  models::Why why{};
  isa::PipeId from{}, to{};
  u64 count = 0;
  u64 waited = 0;  // cycles that the second had nothing else to do
};

// A stretch of the path, neighbours of one instruction and kind together.
struct ChainStep {
  u64 begin = 0, end = 0;  // cycles from the start of the kernel
  models::CostKind kind{};
  std::string core, what, place;
};

// A cost that the path contains, and the time of the kernel if it were zero.
struct Limit {
  models::CostKind kind{};
  u64 cycles = 0;                   // on the path
  std::optional<u64> without = {};  // cycles of the slowest launch, simulated again; none where the chip cannot say it
};

struct Advice {
  std::string rule;   // "double-buffer"
  std::string found;  // what the path shows, with numbers and lines
  std::string todo;   // the remedy
  double share = 0;   // of the time of the kernel, without launch and starts, that it is about: a bound of the gain
  std::optional<double> gain = {};  // of that time, predicted where the remedy leaves what the model can add up
};

// All launches of the kernels with one name. Lines, hand-overs, chain and advice are of the slowest launch.
struct KernelExplanation {
  std::string name;
  u64 launches = 0;
  u64 cycles = 0;  // of all launches
  Cycles by_kind{};
  u64 slowest = 0;  // cycles of that launch
  u64 cold = 0;     // of them, its cold start
  Cycles slowest_by_kind{};
  u32 stream = 0, task = 0;  // of that launch
  u64 start = 0;
  u32 blocks = 0, slots = 0;
  std::vector<LineCost> lines;      // the most expensive first
  std::vector<Handover> handovers;  // the same
  std::vector<ChainStep> chain;     // at most kChain, the last ones
  u64 chain_steps = 0;              // all of them
  bool complete = true;             // false: it has too many instructions, and there is no path
  std::vector<Limit> limits;        // the largest first
  std::vector<Advice> advice;       // the same

  static constexpr usize kChain = 5'000;
};

struct Explanation {
  std::vector<KernelExplanation> kernels = {};  // the name that takes longest first
  u64 dropped = 0;                              // names beyond kNames
  static constexpr usize kNames = 1'000;
};

}  // namespace vinci::explain
