// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/chip_config.h"

#include <cmath>

#include "isa/base/error.h"
#include "isa/table.h"

namespace vinci::config {

namespace {

void scale(CostLine& line, double factor) {
  for (double* cycles : {&line.head, &line.startup, &line.per_step, &line.per_row, &line.per_burst, &line.per_piece,
                         &line.per_fetch, &line.minimum, &line.tail})
    *cycles *= factor;
  line.bytes_per_cycle.value /= factor;
  line.sustained.value /= factor;
}

bool is_vector(isa::CostClass c) { return c >= isa::CostClass::vector_unary && c <= isa::CostClass::vector_sort; }

// What a repeat takes is stated for 128 lanes.
void count_repeats(CoreConfig& core) {
  if (core.rates.lanes == CoreRates().lanes) return;
  const double factor = static_cast<double>(CoreRates().lanes) / core.rates.lanes;
  core.rates.lanes = CoreRates().lanes;
  VectorCosts& v = core.vector;
  for (CostLine* line : {&v.unary, &v.binary, &v.scalar, &v.dup, &v.convert, &v.compare, &v.select, &v.reduce,
                         &v.transpose, &v.gather, &v.sort})
    line->per_step *= factor;
  for (auto& [form, line] : core.instructions) {
    const isa::Row* row = isa::row_of(std::string_view(form).substr(0, form.find('.')));
    if (row != nullptr && is_vector(row->cost)) line.per_step *= factor;
  }
}

}  // namespace

ChipConfig in_core_cycles(ChipConfig chip) {
  count_repeats(chip.core);
  MemoryConfig& memory = chip.memory;
  if (memory.clock == 0 || memory.clock == chip.clock) return chip;
  const double factor = chip.clock / memory.clock;
  memory.clock = Hertz(0);
  MoveCosts& move = chip.core.move;
  for (CostLine* line : {&move.gm_to_ub, &move.gm_to_l1, &move.gm_to_l1_nd2nz, &move.gm_to_l0a, &move.gm_to_l0b,
                         &move.ub_to_gm, &move.l1_to_gm, &move.l0c_to_gm, &move.l0c_to_gm_nz2nd})
    scale(*line, factor);
  for (Cycles* latency : {&memory.noc.latency, &memory.l2.hit_latency, &memory.l2.atomic, &memory.hbm.latency})
    latency->value = static_cast<u64>(std::llround(static_cast<double>(latency->value) * factor));
  for (BytesPerCycle* rate :
       {&memory.noc.port_read, &memory.noc.port_write, &memory.l2.slice_read, &memory.l2.slice_write})
    rate->value /= factor;
  return chip;
}

const CostLine& cost_line(const CoreConfig& core, isa::CostClass cost_class) {
  using enum isa::CostClass;
  switch (cost_class) {
    case scalar: return core.scalar.alu;
    case scalar_load: return core.scalar.load;
    case scalar_store: return core.scalar.store;
    case sync: return core.scalar.sync;
    case cross_core: return core.scalar.cross_core;
    case cube: return core.cube;
    case vector_unary: return core.vector.unary;
    case vector_binary: return core.vector.binary;
    case vector_scalar: return core.vector.scalar;
    case vector_dup: return core.vector.dup;
    case vector_convert: return core.vector.convert;
    case vector_compare: return core.vector.compare;
    case vector_select: return core.vector.select;
    case vector_reduce: return core.vector.reduce;
    case vector_transpose: return core.vector.transpose;
    case vector_gather: return core.vector.gather;
    case vector_sort: return core.vector.sort;
    case gm_to_ub: return core.move.gm_to_ub;
    case gm_to_l1: return core.move.gm_to_l1;
    case gm_to_l1_nd2nz: return core.move.gm_to_l1_nd2nz;
    case ub_to_gm: return core.move.ub_to_gm;
    case ub_to_ub: return core.move.ub_to_ub;
    case ub_to_l1: return core.move.ub_to_l1;
    case l1_to_ub: return core.move.l1_to_ub;
    case l1_to_l0a: return core.move.l1_to_l0a;
    case l1_to_l0b: return core.move.l1_to_l0b;
    case l0c_to_ub: return core.move.l0c_to_ub;
    case ub_to_l0c: return core.move.ub_to_l0c;
    case l0c_to_gm: return core.move.l0c_to_gm;
    case l0c_to_gm_nz2nd: return core.move.l0c_to_gm_nz2nd;
    case l0c_to_l1: return core.move.l0c_to_l1;
    case gm_to_l0a: return core.move.gm_to_l0a;
    case gm_to_l0b: return core.move.gm_to_l0b;
    case l1_to_gm: return core.move.l1_to_gm;
    case l1_to_bt: return core.move.l1_to_bt;
    case l1_to_fb: return core.move.l1_to_fb;
    case fill_l0: return core.move.fill_l0;
    case fill_l1: return core.move.fill_l1;
  }
  fail(Fault::Internal, "no cost line for cost class {}", static_cast<int>(cost_class));
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
  return cost_line(core, cost_class);
}

}  // namespace vinci::config
