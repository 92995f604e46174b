// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/unit_flags.h"

#include <algorithm>

#include "isa/table/table.h"

namespace vinci::isa {
namespace {

constexpr u32 kFractalBytes = 1024;  // of L0C

// The operand of each row; null: it has none.
std::vector<const FieldInfo*> find_operands() {
  std::vector<const FieldInfo*> out;
  for (const Row& row : table()) {
    const auto field = std::ranges::find(row.fields, std::string_view("unitFlag"), &FieldInfo::name);
    out.push_back(field != row.fields.end() ? &*field : nullptr);
  }
  return out;
}

u64 unit_flag_of(const Issued& inst) {
  // Never destroyed, as exit handlers need it (see f16_table in isa/numeric/lanes_portable.cpp).
  static const auto& operands = *new std::vector<const FieldInfo*>(find_operands());
  const FieldInfo* const field = operands[static_cast<usize>(inst.row - table().data())];
  return field != nullptr ? field->get(inst.args) : 0;
}

}  // namespace

u64 UnitFlagUse::count() const {
  u64 n = 0;
  each_run(*this, [&](u64 first, u64 end) { n += end - first; });
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
  if (use.writes && up_ == 0) return true;
  bool all = true;
  each_run(use, [&](u64 first, u64 end) {
    const u64 known = std::min<u64>(end, blocks_.size());
    const Block *from = blocks_.data() + std::min(first, known), *to = blocks_.data() + known;
    if (use.writes) {
      all = all && std::none_of(from, to, [](const Block& b) { return b.up; });
    } else {
      all = all && known == end && std::all_of(from, to, [](const Block& b) { return b.up && !b.taken; });
    }
  });
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
  if (count == 0) return 0;
  // Mostly FIXPIPE has let go of all blocks at once; then it is the first one that counts.
  const u64 since = block(use.blocks.address / kBlockBytes).since;
  bool same = true;
  each_run(use, [&](u64 first, u64 end) {
    const u64 known = std::min<u64>(end, blocks_.size());
    same = same && (known == end || since == 0) &&
           std::all_of(blocks_.data() + std::min(first, known), blocks_.data() + known,
                       [since](const Block& b) { return b.since == since; });
  });
  if (same) return std::max(since, since + 1 - std::min(since + 1, span));
  u64 at = 0, n = 0;
  each_block(use, [&](u64 i) {
    const u64 changed = block(i).since, met_after = span * n++ / count;
    at = std::max({at, changed - std::min(changed, met_after), changed + 1 - std::min(changed + 1, span)});
  });
  return at;
}

void UnitFlags::finish(const UnitFlagUse& use, u64 begin, u64 end) {
  if (!use.update) return;
  const u64 count = use.count();
  u64 n = 0;
  each_block(use, [&](u64 i) {
    if (i >= blocks_.size()) blocks_.resize(i + 1);
    up_ = up_ + (use.writes ? 1 : 0) - (blocks_[i].up ? 1 : 0);
    blocks_[i] = {.up = use.writes, .taken = false, .since = begin + (end - begin) * ++n / count};
    changed_ = std::max(changed_, blocks_[i].since);
  });
}

}  // namespace vinci::isa
