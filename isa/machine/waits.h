// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"

namespace vinci {

// What waits when nothing moves, or where things are when a limit is reached.
struct Waits {
  struct Unit {            // of a core
    std::string core;      // "core3.AIV"
    std::string unit;      // "MTE2"
    std::string what;      // "waits for ..."
    std::string why = {};  // behind all else
    std::optional<u32> block = {};
    std::optional<u64> since = {};
  };
  std::vector<Unit> units = {};
  std::vector<std::string> cores = {};  // lines of cores, where there is no time
  std::vector<std::string> lines = {};  // of streams and host threads
  bool circle = false;                  // streams wait for each other
  std::string where = {};               // the one core that takes part: "AIV3"
  u32 not_begun = 0;                    // blocks for which there is no core
  std::string task = {};                // "kernel 'add'"

  // Units that wait for the same on several cores are one line: "core0..19.AIC.M waits for ...".
  std::vector<std::string> text() const;
};

// A text with each line below it, as many as a reader wants to see.
std::string below(std::string text, const std::vector<std::string>& lines);

// The report of a deadlock: "nothing can move at cycle 5926 (...):" above what waits; without time, no cycle.
Error deadlock(const Waits& waits, std::optional<u64> cycle = std::nullopt);

}  // namespace vinci
