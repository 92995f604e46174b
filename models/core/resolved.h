// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "isa/machine/issue.h"
#include "isa/machine/unit_flags.h"
#include "models/cost/cost.h"

namespace vinci::models {

// What a pipe needs to know of an instruction that it executes, as far as it follows from its operands and special
// registers.
struct Resolved {
  Resolved(const isa::Issued& inst, const isa::Footprint& footprint, const CostTable& costs, isa::Arch arch);

  const config::CostLine* line;
  isa::Work work;
  double steady;  // steady_cycles()
  u64 read_bytes = 0, write_bytes = 0;
  u64 gm_read_bytes = 0, gm_write_bytes = 0;  // of these
  bool global = false;                        // touches global memory
  std::optional<isa::UnitFlagUse> handover;   // of blocks of L0C, by unit flags
};

// Instructions that cores of one kind have issued before and that touch nothing but their buffers: those that come
// again with the same operands are legal again, and resolved. A loop issues few different ones.
class ResolvedTable {
 public:
  ResolvedTable(const CostTable& costs, isa::Arch arch) : costs_(costs), arch_(arch) {}

  // Null where it is not known.
  const Resolved* find(const isa::Issued& inst) const;
  // Remembers a legal one. Null where it touches global memory, where not everything is legal for ever, and where there
  // is no place for it any more.
  const Resolved* add(const isa::Issued& inst);

 private:
  struct Known {
    isa::Issued inst;
    Resolved resolved;
  };
  static constexpr usize kPlaces = 4096, kMost = kPlaces / 2;
  usize place_of(const isa::Issued& inst) const;  // where it is, or an empty one

  const CostTable& costs_;
  isa::Arch arch_;
  std::deque<Known> known_;
  std::vector<const Known*> places_;  // by a hash, else behind it; empty before the first one
  std::vector<bool> global_;          // opcodes of instructions that have touched global memory
};

}  // namespace vinci::models
