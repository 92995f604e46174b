// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/cross_core.h"

#include <algorithm>

#include "isa/machine/issue.h"

namespace vinci::isa {

CrossCoreSet CrossCoreSet::parse(u64 config) {
  const auto mode = static_cast<u32>(config >> 4 & 3), flag = static_cast<u32>(config >> 8 & 0xf);
  const auto aiv = mode == 2 ? static_cast<u32>(config >> 12 & 3) : 0;
  if (config != (1 | u64{mode} << 4 | u64{flag} << 8 | u64{aiv} << 12) || aiv > kMaxVectorCoresPerBlock) {
    fail(Fault::Program, "config = {:#x} is not 0x1 | mode << 4 | flagId << 8 with mode 0 to 2 and flagId 0 to 15",
         config);
  }
  if (mode == 3) fail(Fault::Unsupported, "mode 3 of ffts_cross_core_sync has no published meaning");
  if (aiv != 0) return {kPair, flag, aiv};
  return {mode, flag};
}

std::string CrossCoreFlags::name(const TaskCore& core) const {
  if (core.part == 0) return fmt::format("AIC of block {}", core.block);
  if (!shape_.mix()) return fmt::format("AIV of block {}", core.block);
  return fmt::format("AIV{} of block {}", core.part - 1, core.block);
}

void CrossCoreFlags::list_vector_cores(u32 block, std::vector<TaskCore>& out) const {
  for (u32 v = 0; v < shape_.vector_cores; ++v)
    out.push_back({block, 1 + v});
}

// The cores that must set together with this one.
void CrossCoreFlags::list_setters(const TaskCore& core, u32 mode, std::vector<TaskCore>& out) const {
  out.clear();
  if (mode == 0) {
    for (u32 b = 0; b < shape_.blocks; ++b)
      core.part == 0 ? out.push_back({b, 0}) : list_vector_cores(b, out);
  } else if (core.part == 0) {
    out.push_back(core);
  } else {
    list_vector_cores(core.block, out);
  }
}

std::span<const TaskCore> CrossCoreFlags::set(const TaskCore& core, const CrossCoreSet& what) {
  if (what.mode == 0 && shape_.blocks > shape_.resident) {
    fail_issue(
        FaultId::cross_core_setup,
        "mode 0 synchronises all {} blocks of the task, but the chip holds only {} at once; the others would never "
        "start",
        shape_.blocks, shape_.resident);
  }
  if (what.mode != 0 && !shape_.mix()) {
    fail_issue(FaultId::cross_core_setup,
               "mode {} works inside the blocks of a MIX task; this task runs on {} cores only", what.mode,
               shape_.cube ? "AIC" : "AIV");
  }
  if (what.mode == 1 && core.part == 0) fail_issue(FaultId::cross_core_setup, "mode 1 is between AIVs; this is an AIC");
  if (states_.empty()) states_.resize(index({shape_.blocks, 0}));
  if (what.mode == CrossCoreSet::kPair) {
    if (what.aiv > shape_.vector_cores || (core.part != 0 && core.part != what.aiv))
      fail_issue(FaultId::cross_core_setup, "a pair of AIV{} is not {}'s", what.aiv - 1, name(core));
    released_.assign(1, {core.block, core.part == 0 ? what.aiv : 0});
    return released_;
  }
  u8& ahead = state(core).ahead[what.mode][what.flag];
  if (ahead == kMaxCrossCoreCount) {
    fail_issue(FaultId::cross_core_overflow,
               "ccu_cross_core_set_ovfl_err: {} has set flag {} {} times more often than its partners in mode {}",
               name(core), what.flag, kMaxCrossCoreCount, what.mode);
  }
  ++ahead;
  list_setters(core, what.mode, setters_);
  released_.clear();
  for (const TaskCore& c : setters_) {
    if (state(c).ahead[what.mode][what.flag] == 0) return released_;
  }
  for (const TaskCore& c : setters_)
    --state(c).ahead[what.mode][what.flag];
  if (what.mode != 2) return setters_;
  core.part == 0 ? list_vector_cores(core.block, released_) : released_.push_back({core.block, 0});
  return released_;
}

bool CrossCoreFlags::full(const TaskCore& core, const CrossCoreSet& what) {
  if (states_.empty() || (what.mode != 0 && !shape_.mix())) return false;
  const auto counter_full = [&](const TaskCore& c) { return state(c).count[what.flag] == kMaxCrossCoreCount; };
  if (what.mode == CrossCoreSet::kPair) return counter_full({core.block, core.part == 0 ? what.aiv : 0});
  if (state(core).ahead[what.mode][what.flag] == kMaxCrossCoreCount) return true;
  list_setters(core, what.mode, setters_);
  for (const TaskCore& c : setters_)
    if (c != core && state(c).ahead[what.mode][what.flag] == 0) return false;
  released_.clear();
  if (what.mode == 2) {
    core.part == 0 ? list_vector_cores(core.block, released_) : released_.push_back({core.block, 0});
  } else {
    released_ = setters_;
  }
  return std::ranges::any_of(released_, counter_full);
}

void CrossCoreFlags::increment(const TaskCore& core, u32 flag) {
  u8& count = state(core).count[flag];
  if (count == kMaxCrossCoreCount) {
    fail_issue(FaultId::cross_core_overflow,
               "ccu_cross_core_set_ovfl_err: flag {} of {} is set {} times and not waited for", flag, name(core),
               kMaxCrossCoreCount);
  }
  ++count;
}

bool CrossCoreFlags::take(const TaskCore& core, u32 flag) {
  if (states_.empty() || state(core).count[flag] == 0) return false;
  --state(core).count[flag];
  return true;
}

std::string CrossCoreFlags::missing(const TaskCore& core, u32 flag) const {
  const auto has_set = [&](const TaskCore& c, usize mode) {
    return !states_.empty() && states_[index(c)].ahead[mode][flag] > 0;
  };
  // A round that is under way says who has not set.
  std::vector<TaskCore> setters;
  for (u32 mode = 0; mode < CrossCoreSet::kPair; ++mode) {
    TaskCore from = core;
    if (mode == 2) from.part = core.part == 0 ? 1 : 0;  // the other side releases this one
    if (mode != 0 && !shape_.mix()) break;
    list_setters(from, mode, setters);
    const auto done = std::ranges::count_if(setters, [&](const TaskCore& c) { return has_set(c, mode); });
    if (done == 0) continue;
    const auto late = std::ranges::find_if(setters, [&](const TaskCore& c) { return !has_set(c, mode); });
    return fmt::format("{} of {} cores have set it in mode {}, {} has not", done, setters.size(), mode, name(*late));
  }
  return "no core has set it";
}

}  // namespace vinci::isa
