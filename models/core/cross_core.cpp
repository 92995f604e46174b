// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/cross_core.h"

#include <algorithm>

#include "isa/insns/sync.h"
#include "models/explain/block_log.h"

namespace vinci::models {

void CrossCore::set(const Party& from, const isa::Issued& inst, trace::TrackId track, u32 node) {
  const Block& block = *from.running();
  const auto what = isa::CrossCoreSet::parse(isa::args_of<isa::insn::FftsCrossCoreSync>(inst.args).config);
  const bool pair = what.mode == isa::CrossCoreSet::kPair;
  const u64 passed = pair ? now() : to_cycles(ffts_.reserve(to_ticks(now()), interval_) - interval_);
  for (const isa::TaskCore& to : block.cross->set(block.self, what)) {
    (pair ? pairs_ : flags_)
        .push_back({.set_at = now(),
                    .at = passed + delay_,
                    .flags = block.cross,
                    .to = to,
                    .flag = what.flag,
                    .from = &from,
                    .setter = block.self,
                    .code = block.code,
                    .pc = inst.pc,
                    .track = track,
                    .log = block.log,
                    .node = node});
  }
  wake_for_next();
}

void CrossCore::act() {
  deliver_due(flags_, now());
  deliver_due(pairs_, now());
  wake_for_next();
}

void CrossCore::deliver_due(Queue& queue, u64 t) {
  while (!queue.empty() && queue.front().at <= t) {
    deliver(queue.front());
    queue.pop_front();
  }
}

void CrossCore::wake_for_next() {
  u64 next = ~u64{0};
  for (const Queue* queue : {&flags_, &pairs_})
    if (!queue->empty()) next = std::min(next, queue->front().at);
  if (next != ~u64{0}) wake_at(next);
}

void CrossCore::deliver(const Increment& i) {
  try {
    i.flags->increment(i.to, i.flag);
  } catch (const Error& e) {
    const Block& now = i.from->latest();  // another one may have begun there since
    if (now.cross == i.flags && now.self == i.setter) i.from->failed(i.pc, e);
    throw Error(e.fault(), e.message(), i.code->place(i.pc));
  }
  const auto to = std::ranges::find_if(cores_, [&](const Party* c) {
    const Block* block = c->running();
    return block != nullptr && block->cross == i.flags && block->self == i.to;
  });
  if (to == cores_.end()) return;  // its block has ended without waiting
  if (BlockLog* log = (*to)->running()->log) log->arrived(i.flag, i.log, i.node, i.set_at);
  (*to)->flag_arrived();
  if (env_.trace != nullptr) env_.trace->flow(i.track, i.set_at, (*to)->track(), i.at, fmt::format("flag {}", i.flag));
}

}  // namespace vinci::models
