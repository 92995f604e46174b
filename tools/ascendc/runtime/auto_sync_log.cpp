// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/auto_sync_log.h"

#include <fmt/format.h>

#include "isa/arch.h"

namespace vinci::ascendc {
namespace {

// As a call of the API.
std::string call(const isa::Inst& inst) {
  const auto pipe = [&](usize i) { return isa::name(static_cast<isa::PipeId>(inst.operands[i].value)); };
  if (inst.row->role == isa::Role::pipe_barrier) return fmt::format("PipeBarrier<PIPE_{}>();", pipe(0));
  return fmt::format("{}<HardEvent::{}_{}>(EVENT_ID{});",
                     inst.row->role == isa::Role::set_flag ? "SetFlag" : "WaitFlag", pipe(0), pipe(1),
                     inst.operands[2].value);
}

}  // namespace

void AutoSyncLog::add(Place place, std::span<const isa::Inst> inserted) {
  int order = 0;
  for (const isa::Inst& inst : inserted)
    lines_.emplace(place.file == nullptr ? "" : place.file, place.line, order++, call(inst));
}

std::string AutoSyncLog::text(const std::string& program) const {
  std::string out = fmt::format("The Auto Sync log of {} :\n", program);
  for (const auto& [file, line, order, inserted] : lines_)
    out += fmt::format("Position: {}:{} : line before insert sync : {}\n", file, line, inserted);
  return out;
}

}  // namespace vinci::ascendc
