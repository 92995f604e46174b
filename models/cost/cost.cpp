// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/cost/cost.h"

#include <algorithm>

#include "isa/base/error.h"
#include "isa/insns/cube.h"
#include "models/cost/ub_banks.h"

namespace vinci::models {

void fail_absurd_cycles(double cycles) {
  fail(Fault::Limit, "an instruction takes {:g} cycles; check the costs of the chip", cycles);
}

double steady_cycles(const config::CostLine& line, const isa::Work& work, double extra) {
  const double limit = line.of_law(0.0, [&](const auto& law) -> decltype(law.sustained.value) {
    const auto bursts = static_cast<double>(std::max<u64>(1, work.bursts));
    return law.sustained > 0 ? static_cast<double>(work.bytes) / bursts / law.sustained - line.tail : 0;
  });
  return std::max({line.minimum, line.startup + line.body(work) + extra, limit});
}

Cycles cycles(const config::CostLine& line, const isa::Work& work, bool pipe_was_empty, double extra, double early) {
  return cycles_of(line, steady_cycles(line, work, extra), pipe_was_empty, early);
}

CostTable::CostTable(const config::CoreConfig& core) : core_(core) {
  for (const isa::Row& row : isa::table()) {
    auto& forms = lines_.emplace_back();
    bool specific = false;
    for (usize t = 0; t < std::max<usize>(1, row.types.size()); ++t) {
      const std::string_view type = row.types.empty() ? std::string_view() : row.types[t].name;
      forms.push_back(&config::cost_line(core, row.cost, row.name, type));
      specific |= forms.back() != &core.line(row.cost);
    }
    specific_.push_back(specific);
    for (usize t = 0; t < usize{1} << isa::kTypeBits; ++t)
      scalar_latency_.push_back(t < forms.size() ? cycles(*forms[t], {}, false).latency : 0);
  }
}

double CostTable::steady(const isa::Issued& inst, const config::CostLine& line, const isa::Work& work,
                         const isa::Footprint& footprint) const {
  const bool vector = inst.pipe == isa::PipeId::V;
  return steady_cycles(line, in_steps(inst, work), vector ? cycles_in_ub(line, footprint, core_.ub_banks) : 0);
}

isa::Work CostTable::in_steps(const isa::Issued& inst, const isa::Work& work) const {
  static const config::CoreRates kFractal;
  const config::CoreRates& r = core_.rates;
  if (inst.row->cost != "cube"_cost || work.steps == 0) return work;
  if (r.m == kFractal.m && r.n == kFractal.n && r.k == kFractal.k) return work;
  isa::Work out = work;
  const auto steps = [&](u64 m, u64 k, u64 n, u64 step) {
    out.rows = ceil_div<u64>(m, r.m);
    out.steps = out.rows * ceil_div<u64>(k, std::max<u64>(1, step * r.k / kFractal.k)) * ceil_div<u64>(n, r.n);
  };
  if (inst.row->opcode == isa::insn::Mad::opcode) {
    const auto& x = isa::args_of<isa::insn::Mad>(inst.args);
    // Of f32 a fractal takes two steps, which HF32 does not.
    const bool halves = x.type == isa::insn::Mad::f322f32 && (inst.spr.ctrl & isa::ctrl::kHf32) == 0;
    steps(x.m, x.k, x.n, halves ? 4 : isa::insn::Mad::k0(x.type));
  } else {
    const auto& x = isa::args_of<isa::insn::MadSp>(inst.args);
    steps(x.m, x.weights(), x.n, 32);
  }
  return out;
}

const config::CostLine& CostTable::line(const isa::Row& row, u8 type, const isa::ArgsStorage& args) const {
  const usize i = index(row);
  if (row.cost_of != nullptr && !specific_[i]) return core_.line(row.cost_of(args));
  return *lines_[i][type];
}

}  // namespace vinci::models
