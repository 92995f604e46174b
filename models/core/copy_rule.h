// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>

#include "models/core/unit.h"

namespace vinci::models {

// The timing rule of units that copy from or to global memory: the cost line is that of the port, and the memory behind
// the port can only add to it. What stays in the core takes its cost line.
class CopyRule {
 public:
  CopyRule(std::unique_ptr<MemoryPort> port, isa::Arch arch) : port_(std::move(port)), arch_(arch) {}

  Cycles begin(const isa::Issued& inst, const Resolved& work, const Unit::Moment& now) {
    const Cycles c = cost_line_cycles(work, now);
    if (!work.global) return c;
    const config::CostLine& line = *work.line;
    const double body = line.body(work.work);
    const double delivery = line.of_law(0.0, [&](const auto& law) -> decltype(law.delivery.value) {
      return law.delivery > 0 ? std::max(line.minimum, law.delivery * body) : 0;
    });
    const bool in_pieces =
        line.of_law(false, [](const auto& law) -> decltype(bool{law.kInPieces}) { return law.kInPieces; });
    port_->begin(now.t + whole_cycles(line.startup), inst.row->footprint(inst.args, inst.spr, arch_), body, in_pieces,
                 delivery);
    return c;
  }
  MemoryPort& port() { return *port_; }

 private:
  std::unique_ptr<MemoryPort> port_;
  isa::Arch arch_;
};

}  // namespace vinci::models
