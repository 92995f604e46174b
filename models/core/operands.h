// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <utility>
#include <vector>

#include "isa/machine/issue.h"
#include "models/deferred/rows.h"

namespace vinci::models {

// What an instruction touches, to tell whether it may run with another one in a unit of the same kind.
class Operands {
 public:
  void assign(const isa::Issued& inst, const isa::Footprint& footprint) {
    registers_ = uses_registers(inst, footprint);
    parts_.clear();
    for (const isa::Access& a : footprint)
      if (!a.empty()) parts_.push_back({a.buffer, a.write, Rows::of(a)});
  }
  // One writes what the other reads or writes, or both use registers of their unit. Rows of different strides count as
  // meeting where they interleave.
  bool meet(const Operands& o) const {
    if (registers_ && o.registers_) return true;
    for (const Part& a : parts_) {
      for (const Part& b : o.parts_)
        if ((a.write || b.write) && a.buffer == b.buffer && a.rows.meets(b.rows)) return true;
    }
    return false;
  }

 private:
  struct Part {
    isa::BufId buffer;
    bool write;
    Rows rows;
  };
  // CMPMASK, and the registers that reductions, gathers and sorts leave results in.
  static bool uses_registers(const isa::Issued& inst, const isa::Footprint& footprint) {
    switch (inst.row->cost) {
      case "vector.compare"_cost:
      case "vector.select"_cost:
      case "vector.reduce"_cost:
      case "vector.gather"_cost:
      case "vector.sort"_cost: return true;
      default: return footprint.size() == 0;
    }
  }

  bool registers_ = false;
  std::vector<Part> parts_;
};

}  // namespace vinci::models
