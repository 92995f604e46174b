// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/cross_core.h"

#include <algorithm>

#include "isa/insns/sync.h"
#include "models/explain/block_log.h"

namespace vinci::models {

void CrossCore::set(const Party& from, const isa::Issued& inst, trace::TrackId track, u32 node) {
  const Block& block = *from.running();
  const u64 now = env_.agenda.now();
  const auto what = isa::CrossCoreSet::parse(isa::args_of<isa::insn::FftsCrossCoreSync>(inst.args).config);
  const bool pair = what.mode == isa::CrossCoreSet::kPair;
  const u64 passed = pair ? now : to_cycles(ffts_.reserve(to_ticks(now), interval_) - interval_);
  for (const isa::TaskCore& to : block.cross->set(block.self, what)) {
    under_way_.at(passed + delay_, {.set_at = now,
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
}

bool CrossCore::happen(const Increment& i) {
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
  if (to == cores_.end()) return true;  // its block has ended without waiting
  if (BlockLog* log = (*to)->running()->log) log->arrived(i.flag, i.log, i.node, i.set_at);
  (*to)->flag_arrived();
  if (env_.trace != nullptr)
    env_.trace->flow(i.track, i.set_at, (*to)->track(), env_.agenda.now(), fmt::format("flag {}", i.flag));
  return true;
}

}  // namespace vinci::models
