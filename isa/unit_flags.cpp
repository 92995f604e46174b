// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/unit_flags.h"

#include <algorithm>

namespace vinci::isa {
namespace {

constexpr u32 kFractalBytes = 1024;  // of L0C

u64 unit_flag_of(const Issued& inst) {
  for (const FieldInfo& f : inst.row->fields) {
    if (f.name == "unitFlag") return f.get(inst.args);
  }
  return 0;
}

}  // namespace

u64 UnitFlagUse::count() const {
  u64 n = 0;
  each_block(*this, [&](u64) { ++n; });
  return n;
}

std::optional<UnitFlagUse> unit_flag_use(const Issued& inst, Arch arch) {
  if (inst.pipe != PipeId::M && inst.pipe != PipeId::FIX) return std::nullopt;
  const u64 mode = unit_flag_of(inst);
  if (mode == 0) return std::nullopt;
  UnitFlagUse use{.blocks = {}, .writes = inst.pipe == PipeId::M, .update = mode == 3};
  for (const Access& a : inst.row->footprint(inst.args, inst.spr, arch)) {
    if (a.buffer == BufId::L0C && a.write == use.writes) use.blocks = a;
  }
  use.blocks.len = align_up(use.blocks.len, kFractalBytes);
  return use;
}

bool UnitFlags::ready(const UnitFlagUse& use) const {
  bool all = true;
  each_block(use, [&](u64 i) { all &= use.writes ? !block(i).up : block(i).up && !block(i).taken; });
  return all;
}

void UnitFlags::take(const UnitFlagUse& use) {
  if (!use.update) return;
  each_block(use, [&](u64 i) {
    if (i < blocks_.size()) blocks_[i].taken = true;
  });
}

u64 UnitFlags::earliest(const UnitFlagUse& use, u64 span) const {
  const u64 count = use.count();
  u64 at = 0, n = 0;
  each_block(use, [&](u64 i) {
    const u64 since = block(i).since, met_after = span * n++ / count;
    at = std::max({at, since - std::min(since, met_after), since + 1 - std::min(since + 1, span)});
  });
  return at;
}

void UnitFlags::finish(const UnitFlagUse& use, u64 begin, u64 end) {
  if (!use.update) return;
  const u64 count = use.count();
  u64 n = 0;
  each_block(use, [&](u64 i) {
    if (i >= blocks_.size()) blocks_.resize(i + 1);
    blocks_[i] = {.up = use.writes, .taken = false, .since = begin + (end - begin) * ++n / count};
  });
}

}  // namespace vinci::isa
