// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/chip_config.h"

#include <algorithm>
#include <cmath>

#include "isa/base/error.h"
#include "isa/table/table.h"
#include "sim/config/describe_chip.h"

namespace vinci::config {

namespace {

// Scales the times of a cost line and divides its rates.
struct ScaleTimes {
  double factor;
  void operator()(std::string_view, double& cycles, std::string_view, Range = {}) { cycles *= factor; }
  void operator()(std::string_view, BytesPerCycle& rate, std::string_view, Range = {}) { rate.value /= factor; }
  template <class T>
  void operator()(std::string_view, T&, std::string_view, Range = {}) {}
};

void scale_step(CostLine& line, double factor) {
  std::visit(
      [&](auto& law) {
        if constexpr (requires { law.per_step; }) law.per_step *= factor;
      },
      line.law);
}

// What a repeat takes is stated for 128 lanes.
void count_repeats(CoreConfig& core) {
  if (core.rates.lanes == CoreRates().lanes) return;
  const double factor = static_cast<double>(CoreRates().lanes) / core.rates.lanes;
  core.rates.lanes = CoreRates().lanes;
  for (usize i = 0; i < core.lines.size(); ++i)
    if (is_vector(static_cast<isa::CostClass>(i))) scale_step(core.lines[i], factor);
  for (auto& [form, line] : core.instructions) {
    const isa::Row* row = isa::row_of(std::string_view(form).substr(0, form.find('.')));
    if (row != nullptr && is_vector(row->cost)) scale_step(line, factor);
  }
}

}  // namespace

ChipConfig in_core_cycles(ChipConfig chip) {
  count_repeats(chip.core);
  MemoryConfig& memory = chip.memory;
  if (memory.clock == 0 || memory.clock == chip.clock) return chip;
  const double factor = chip.clock / memory.clock;
  memory.clock = Hertz(0);
  for (usize i = 0; i < chip.core.lines.size(); ++i) {
    if (!isa::kCostClasses[i].memory_clock) continue;
    ScaleTimes scale{factor};
    describe(scale, chip.core.lines[i]);
  }
  for (Cycles* latency : {&memory.noc.latency, &memory.l2.hit_latency, &memory.l2.atomic, &memory.hbm.latency})
    latency->value = static_cast<u64>(std::llround(static_cast<double>(latency->value) * factor));
  for (BytesPerCycle* rate :
       {&memory.noc.port_read, &memory.noc.port_write, &memory.l2.slice_read, &memory.l2.slice_write})
    rate->value /= factor;
  return chip;
}

CostLine default_line(isa::CostClass c) {
  static_assert(std::ranges::all_of(isa::kCostClasses, [](const auto& row) { return law_named(row.law).has_value(); }));
  return {.law = *law_named(isa::row_of(c).law)};
}

CostLines default_lines() {
  CostLines lines;
  for (usize i = 0; i < lines.size(); ++i)
    lines[i] = default_line(static_cast<isa::CostClass>(i));
  return lines;
}

const CostLine& cost_line(const CoreConfig& core, isa::CostClass cost_class, std::string_view mnemonic,
                          std::string_view type) {
  if (!core.instructions.empty()) {
    std::string key(mnemonic);
    key += '.';
    key += type;
    if (const auto form = core.instructions.find(key); form != core.instructions.end()) return form->second;
    key.resize(mnemonic.size());
    if (const auto all = core.instructions.find(key); all != core.instructions.end()) return all->second;
  }
  return core.line(cost_class);
}

}  // namespace vinci::config
