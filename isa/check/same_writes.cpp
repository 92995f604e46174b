// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/same_writes.h"

#include <utility>

namespace vinci::isa::check {
namespace {

// The pipes that write global memory.
bool stores(PipeId pipe) { return pipe == PipeId::MTE3 || pipe == PipeId::FIX; }

}  // namespace

bool SameWrites::was_executed(const Record& r) const {
  const auto it = reached_.find(r.actor);
  return it != reached_.end() && it->second[index(r.pipe)] > r.order;
}

bool SameWrites::hold(const Record& other, const Present& now, const Access& access, u64 begin, u64 end) {
  if (!with_data_ || access.buffer != BufId::GM || now.inst == nullptr || other.actor == now.record.actor) return false;
  if (other.position == 0 || other.atomic || now.record.atomic) return false;
  if (!stores(other.pipe) || !stores(now.record.pipe) || was_executed(now.record)) return false;
  const auto held = held_.insert(
      held_.end(),
      {.other = other, .now = now.record, .inst = *now.inst, .access = access, .begin = begin, .end = end});
  for (const Record* r : {&held->other, &held->now})
    of_[key_of(r->actor, r->order)].push_back(held);
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
    const auto it = of_.find(key_of(r->actor, r->order));
    std::erase(it->second, held);
    if (it->second.empty()) of_.erase(it);
  }
  held_.erase(held);
}

}  // namespace vinci::isa::check
