// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/same_writes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "isa/insns/scalar.h"

namespace vinci::isa::check {
namespace {

// The pipes that write global memory, apart from the scalar unit.
bool stores(PipeId pipe) { return pipe == PipeId::MTE3 || pipe == PipeId::FIX; }

// A store of the scalar unit moves its bytes in the step that issues it.
bool at_once(const Record& r) { return r.pipe == PipeId::S; }

// Whether memory has the bytes already that a store of the scalar unit is about to write to [begin, end).
bool finds_its_value(const GlobalMemory& gm, const Issued& store, const Access& access, u64 begin, u64 end) {
  const u64 value = args_of<insn::StDev>(store.args).value;
  const auto written = std::as_bytes(std::span(&value, 1)).subspan(begin - access.address, end - begin);
  std::array<std::byte, sizeof value> there{};
  const std::span<std::byte> found = std::span(there).first(written.size());
  gm.read(begin, found);
  return std::ranges::equal(found, written);
}

}  // namespace

bool SameWrites::was_executed(const Record& r) const {
  if (at_once(r)) return true;
  const auto it = reached_.find(r.actor);
  return it != reached_.end() && it->second[index(r.pipe)] > r.order;
}

bool SameWrites::hold(const Record& other, const Present& now, const Access& access, u64 begin, u64 end) {
  if (!with_data_ || access.buffer != BufId::GM || now.inst == nullptr || other.actor == now.record.actor) return false;
  if (other.position == 0 || other.atomic || now.record.atomic) return false;
  if (!stores(other.pipe) && !at_once(other)) return false;
  if (at_once(now.record)) {
    if (now.inst->row->opcode != insn::StDev::opcode) return false;
    // A conflict with a copy is told by whole granules.
    begin = std::max(begin, access.address);
    end = std::min(end, access.address + access.len);
    if (was_executed(other)) {
      const bool same = finds_its_value(gm_, *now.inst, access, begin, end);
      count_ += same ? 1 : 0;
      return same;
    }
  } else if (!stores(now.record.pipe) || was_executed(now.record)) {
    return false;
  }
  const auto held = held_.insert(
      held_.end(),
      {.other = other, .now = now.record, .inst = *now.inst, .access = access, .begin = begin, .end = end});
  for (const Record* r : {&held->other, &held->now}) {
    if (!at_once(*r)) of_[key_of(r->actor, r->order)].push_back(held);
  }
  return true;
}

void SameWrites::executing(u32 actor, const Issued& inst) {
  if (!stores(inst.pipe)) return;
  const auto it = of_.find(key_of(actor, inst.order));
  if (it == of_.end()) return;
  for (const auto& held : it->second) {
    const Record& first = held->now.actor == actor ? held->other : held->now;
    if (was_executed(first)) held->before = bytes_of(*held);
  }
}

void SameWrites::executed(u32 actor, const Issued& inst) {
  if (!stores(inst.pipe)) return;
  reached_[actor][index(inst.pipe)] = inst.order + 1;
  const auto it = of_.find(key_of(actor, inst.order));
  if (it == of_.end()) return;
  const auto all = it->second;
  for (const auto& held : all) {
    if (held->before.empty()) continue;
    if (bytes_of(*held) == held->before) {
      ++count_;
    } else {
      report(*held);
    }
    forget(held);
  }
}

void SameWrites::finish() {
  for (const Held& held : held_)
    report(held);
  held_.clear();
  of_.clear();
}

std::vector<std::byte> SameWrites::bytes_of(const Held& held) const {
  std::vector<std::byte> out(held.end - held.begin);
  gm_.read(held.begin, out);
  return out;
}

void SameWrites::report(const Held& held) const {
  static const VectorClock kNothing;
  report_(held.other, {.record = held.now, .clock = kNothing, .inst = &*held.inst}, held.access, held.begin, held.end);
}

void SameWrites::forget(std::list<Held>::iterator held) {
  for (const Record* r : {&held->other, &held->now}) {
    if (at_once(*r)) continue;
    const auto it = of_.find(key_of(r->actor, r->order));
    std::erase(it->second, held);
    if (it->second.empty()) of_.erase(it);
  }
  held_.erase(held);
}

}  // namespace vinci::isa::check
