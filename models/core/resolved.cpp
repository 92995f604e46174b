// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/resolved.h"

#include <bit>
#include <cstring>

namespace vinci::models {
namespace {

bool same(const isa::ArgsStorage& a, const isa::ArgsStorage& b) {
  return std::memcmp(a.bytes.data(), b.bytes.data(), isa::kArgsBytes) == 0;
}

bool same(const isa::Spr& a, const isa::Spr& b) {
  const isa::Parameters &x = *a.parameters, &y = *b.parameters;
  return a.vector_mask == b.vector_mask && a.ctrl == b.ctrl && (&x == &y || x == y);
}

bool same(const isa::Issued& a, const isa::Issued& b) {
  return a.row == b.row && a.type == b.type && same(a.args, b.args) && same(a.spr, b.spr);
}

}  // namespace

Resolved::Resolved(const isa::Issued& inst, const isa::Footprint& footprint, const CostTable& costs, isa::Arch arch)
    : line(&costs.line(inst)),
      work(inst.row->work(inst.args, inst.spr)),
      steady(costs.steady(inst, *line, work, footprint)),
      handover(isa::unit_flag_use(inst, arch)) {
  for (const isa::Access& a : footprint) {
    (a.write ? write_bytes : read_bytes) += a.bytes();
    if (a.buffer != isa::BufId::GM || a.empty()) continue;
    (a.write ? gm_write_bytes : gm_read_bytes) += a.bytes();
    global = true;
  }
}

usize ResolvedTable::place_of(const isa::Issued& inst) const {
  u64 sum = u64{inst.row->opcode} << 8 | inst.type, factor = 0x9E3779B97F4A7C15;
  for (usize at = 0; at < isa::kArgsBytes; at += sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, inst.args.bytes.data() + at, sizeof word);
    sum += word * (factor += 0x632BE59BD9B4E01A);
  }
  sum += inst.spr.vector_mask[0] * 3 + inst.spr.vector_mask[1] * 5 + inst.spr.ctrl;
  usize place = (sum ^ sum >> 32) * 0x9E3779B97F4A7C15 >> (64 - std::countr_zero(kPlaces));
  while (places_[place] != nullptr && !same(places_[place]->inst, inst))
    place = (place + 1) % kPlaces;
  return place;
}

const Resolved* ResolvedTable::find(const isa::Issued& inst) const {
  if (places_.empty() || global_[inst.row->opcode]) return nullptr;
  const Known* known = places_[place_of(inst)];
  return known != nullptr ? &known->resolved : nullptr;
}

const Resolved* ResolvedTable::add(const isa::Issued& inst) {
  if (places_.empty()) {
    places_.resize(kPlaces);
    global_.resize(usize{1} << isa::kOpcodeBits);
  }
  if (known_.size() == kMost || global_[inst.row->opcode]) return nullptr;
  const Resolved resolved(inst, inst.row->footprint(inst.args, inst.spr, arch_), costs_, arch_);
  if (resolved.global) {
    global_[inst.row->opcode] = true;
    return nullptr;
  }
  const usize place = place_of(inst);
  places_[place] = &known_.emplace_back(Known{inst, resolved});
  return &places_[place]->resolved;
}

}  // namespace vinci::models
