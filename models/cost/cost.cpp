// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/cost/cost.h"

#include <algorithm>

#include "isa/base/error.h"
#include "isa/insns/cube.h"
#include "models/cost/ub_banks.h"

namespace vinci::models {

namespace {

// A burst goes in pieces: those of the full size, a half, a quarter, and the rest. There is room for five whole ones,
// of which a part takes two. A burst of more waits each time until a part has gone, which costs as much as to begin.
double burst_cycles(const config::CostLine& line, u64 bytes) {
  constexpr u64 kRoom = 5, kPart = 2;
  const u64 piece = line.piece, whole = bytes / piece;
  u64 parts = 0, rest = bytes % piece;
  for (u64 part = piece / 2; part >= piece / 4 && part > 0; part /= 2) {
    parts += rest / part;
    rest %= part;
  }
  if (rest > 0) ++parts;
  const u64 wanted = whole + kPart * parts;
  const u64 turns = 1 + (wanted > kRoom ? ceil_div(wanted - kRoom, kPart) : 0);
  return static_cast<double>(turns) * std::max(0.0, line.per_burst - line.per_piece) +
         static_cast<double>(whole + parts) * line.per_piece;
}

}  // namespace

double body_cycles(const config::CostLine& line, const isa::Work& work) {
  double by_steps = static_cast<double>(work.steps) * line.per_step + static_cast<double>(work.bursts) * line.per_row;
  if (line.per_fetch > 0 && work.steps > 0) {
    const u64 fetches = (work.steps - 1) / line.fetch;
    by_steps += static_cast<double>(fetches) * line.per_fetch;
  }
  const bool in_pieces = line.per_piece > 0 && work.bursts > 0;
  const double by_bursts =
      static_cast<double>(work.bursts) * (in_pieces ? burst_cycles(line, work.bytes / work.bursts) : line.per_burst);
  const double by_bytes = line.bytes_per_cycle > 0 ? static_cast<double>(work.bytes) / line.bytes_per_cycle : 0;
  return std::max({by_steps, by_bursts, by_bytes});
}

void fail_absurd_cycles(double cycles) {
  fail(Fault::Limit, "an instruction takes {:g} cycles; check the costs of the chip", cycles);
}

double steady_cycles(const config::CostLine& line, const isa::Work& work, double extra) {
  double limit = 0;
  if (line.sustained > 0) {
    const auto bursts = static_cast<double>(std::max<u64>(1, work.bursts));
    limit = static_cast<double>(work.bytes) / bursts / line.sustained - line.tail;
  }
  return std::max({line.minimum, line.startup + body_cycles(line, work) + extra, limit});
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
      specific |= forms.back() != &config::cost_line(core, row.cost);
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
  if (inst.row->cost != isa::CostClass::cube || work.steps == 0) return work;
  if (r.m == kFractal.m && r.n == kFractal.n && r.k == kFractal.k) return work;
  isa::Work out = work;
  const auto steps = [&](u64 m, u64 k, u64 n, u64 step) {
    out.bursts = ceil_div<u64>(m, r.m);
    out.steps = out.bursts * ceil_div<u64>(k, std::max<u64>(1, step * r.k / kFractal.k)) * ceil_div<u64>(n, r.n);
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
  if (row.cost_of != nullptr && !specific_[i]) return config::cost_line(core_, row.cost_of(args));
  return *lines_[i][type];
}

}  // namespace vinci::models
