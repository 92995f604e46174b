// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/cross_rounds.h"

namespace vinci::isa::check {

std::array<CrossRounds::Key, CrossCoreSet::kModes> CrossRounds::releasing(const Core& core, u32 flag) {
  const CoreKind other = core.kind == CoreKind::cube ? CoreKind::vector : CoreKind::cube;
  return {Key{core.task, flag, 0, 0, core.kind}, Key{core.task, flag, 1, core.block, core.kind},
          Key{core.task, flag, 2, core.block, other}, Key{core.task, flag, CrossCoreSet::kPair, core.block, other}};
}

void CrossRounds::set(const Core& core, const CrossCoreSet& what, u32 nth, const VectorClock& released,
                      const Record& by) {
  std::vector<Round>& rounds = rounds_[{core.task, what.flag, what.mode, what.mode == 0 ? 0 : core.block, core.kind}];
  if (rounds.size() <= nth) rounds.resize(nth + 1);
  rounds[nth].clock.join(released);
  rounds[nth].by = by;
}

VectorClock CrossRounds::wait(const Core& core, u32 flag, u32 nth) const {
  VectorClock out;
  for (const Key& key : releasing(core, flag)) {
    const auto it = rounds_.find(key);
    if (it != rounds_.end() && nth < it->second.size()) out.join(it->second[nth].clock);
  }
  return out;
}

void CrossRounds::each_unpaired(const std::function<void(const Record&, u32, const Core&)>& f) const {
  if (rounds_.empty()) return;
  for (const auto& [core, waits] : ended_) {
    for (u32 flag = 0; flag < kCrossCoreFlags; ++flag) {
      usize waited = waits[flag];
      for (const Key& key : releasing(core, flag)) {
        const auto it = key.mode == CrossCoreSet::kPair ? rounds_.end() : rounds_.find(key);
        if (it == rounds_.end()) continue;
        if (waited < it->second.size()) {
          f(it->second[waited].by, flag, core);
          break;
        }
        waited -= it->second.size();
      }
    }
  }
}

}  // namespace vinci::isa::check
