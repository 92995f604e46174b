// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "isa/machine/issue.h"
#include "isa/table/table.h"
#include "sim/config/chip_config.h"

namespace vinci::models {

// How long one instruction takes, in core cycles.
struct Cycles {
  u64 occupancy = 1;  // until its pipe takes the next one
  u64 latency = 1;    // until its result is visible
  double slack = 0;   // what the whole cycles of occupancy have too much

  friend bool operator==(const Cycles&, const Cycles&) = default;
};

[[noreturn]] void fail_absurd_cycles(double cycles);
// The whole cycles that cover a time. The small term keeps 2.1 + 510.9 from becoming 514. Throws Fault::Limit for a
// time that no run can reach: then the chip's numbers are absurd.
inline u64 whole_cycles(double cycles) {
  constexpr double kEnd = 0x1p53;
  if (!(cycles < kEnd)) [[unlikely]]
    fail_absurd_cycles(cycles);
  const double covered = cycles - 1e-6;
  const auto floor = static_cast<i64>(covered);
  return static_cast<u64>(floor + (static_cast<double>(floor) < covered ? 1 : 0));
}

// The formula of config::CostLine; pure. `extra` counts like work (cycles_in_ub); `early` is how long before its first
// whole cycle the pipe was free for it, less than one.
Cycles cycles(const config::CostLine& line, const isa::Work& work, bool pipe_was_empty, double extra = 0,
              double early = 0);

// The same in two steps, of which the first depends on the instruction alone.
double steady_cycles(const config::CostLine& line, const isa::Work& work, double extra = 0);
inline Cycles cycles_of(const config::CostLine& line, double steady, bool pipe_was_empty, double early = 0) {
  const double exact = steady + (pipe_was_empty ? line.head : 0) - early;
  const u64 occupancy = std::max<u64>(1, whole_cycles(exact));
  const double slack = std::clamp(static_cast<double>(occupancy) - std::max(exact, 1.0), 0.0, 0.999);
  return {occupancy, occupancy + whole_cycles(line.tail), slack};
}

// The cost line of every instruction form, looked up once: "vexp.f16", else "vexp", else the class.
class CostTable {
 public:
  explicit CostTable(const config::CoreConfig& core);

  const config::CostLine& line(const isa::Issued& inst) const { return line(*inst.row, inst.type, inst.args); }
  const config::CostLine& line(const isa::Row& row, u8 type, const isa::ArgsStorage& args) const;

  // steady_cycles() of an instruction on this chip: with the conflicts of vector instructions in the banks of UB.
  double steady(const isa::Issued& inst, const config::CostLine& line, const isa::Work& work,
                const isa::Footprint& footprint) const;

  // The work of an instruction in steps of this chip: those of its cube in place of fractals.
  isa::Work in_steps(const isa::Issued& inst, const isa::Work& work) const;

  // Cycles until the result of an instruction of the scalar unit is visible, by isa::form_index(); it has no work that
  // could grow.
  std::span<const u64> scalar_latencies() const { return scalar_latency_; }

 private:
  usize index(const isa::Row& row) const { return static_cast<usize>(&row - rows_); }

  const config::CoreConfig& core_;
  const isa::Row* rows_ = isa::table().data();
  std::vector<u64> scalar_latency_;                          // by form
  std::vector<std::vector<const config::CostLine*>> lines_;  // by row, then type form
  std::vector<bool> specific_;                               // rows with a line of their own
};

}  // namespace vinci::models
