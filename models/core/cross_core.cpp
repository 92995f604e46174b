// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/cross_core.h"

#include <algorithm>

#include "isa/insns/sync.h"
#include "models/core/core.h"

namespace vinci::models {

void CrossCore::set(const Core& from, const isa::Issued& inst, trace::TrackId track) {
  const Block& block = from.block();
  const auto what = isa::CrossCoreSet::parse(isa::args_of<isa::insn::FftsCrossCoreSync>(inst.args).config);
  const u64 at = to_cycles(ffts_.reserve(to_ticks(now()), interval_) - interval_) + delay_;
  for (const isa::TaskCore& to : block.cross->set(block.self, what)) {
    under_way_.push_back({.set_at = now(),
                          .at = at,
                          .flags = block.cross,
                          .to = to,
                          .flag = what.flag,
                          .from = &from,
                          .setter = block.self,
                          .code = block.code,
                          .pc = inst.pc,
                          .track = track});
  }
  if (!under_way_.empty()) wake_at(under_way_.front().at);
}

void CrossCore::act() {
  const u64 t = now();
  while (!under_way_.empty() && under_way_.front().at <= t) {
    deliver(under_way_.front());
    under_way_.pop_front();
  }
  if (!under_way_.empty()) wake_at(under_way_.front().at);
}

void CrossCore::deliver(const Increment& i) {
  try {
    i.flags->increment(i.to, i.flag);
  } catch (const Error& e) {
    const Block& now = i.from->block();  // another one may have begun there since
    if (now.cross == i.flags && now.self == i.setter) i.from->failed(i.pc, nullptr, e);
    throw Error(e.fault(), e.message(), i.code->place(i.pc));
  }
  const auto to = std::ranges::find_if(
      cores_, [&](const Core* c) { return !c->idle() && c->block().cross == i.flags && c->block().self == i.to; });
  if (to == cores_.end()) return;  // its block has ended without waiting
  (*to)->scalar().wake();
  if (env_.trace != nullptr)
    env_.trace->flow(i.track, i.set_at, (*to)->scalar().track(), i.at, fmt::format("flag {}", i.flag));
}

}  // namespace vinci::models
