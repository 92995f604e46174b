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
    const double body = body_cycles(line, work.work);
    const double delivery = line.delivery > 0 ? std::max(line.minimum, line.delivery * body) : 0;
    port_->begin(now.t + whole_cycles(line.startup), inst.row->footprint(inst.args, inst.spr, arch_), body,
                 line.per_piece > 0, delivery);
    return c;
  }
  MemoryPort& port() { return *port_; }

 private:
  std::unique_ptr<MemoryPort> port_;
  isa::Arch arch_;
};

}  // namespace vinci::models
