// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>

#include "isa/program/program.h"
#include "tools/ascendc/include/vinci/ascendc.h"

namespace vinci::ascendc {

// What --cce-auto-sync-log asks for: the synchronisation that kernels got, each instruction once for each line.
class AutoSyncLog {
 public:
  // Instructions that were inserted before one of that line, in their order.
  void add(Place place, std::span<const isa::Inst> inserted);
  // In the form that the documentation gives.
  std::string text(const std::string& program) const;

 private:
  std::set<std::tuple<std::string, int, int, std::string>> lines_;  // file, line, order, instruction
};

}  // namespace vinci::ascendc
