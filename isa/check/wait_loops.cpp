// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/wait_loops.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "isa/insns/system.h"

namespace vinci::isa::check {

namespace {

constexpr u32 kNone = ~u32{0};

// What the load that `cursor` has found last reads; nothing where registers say so, or where it is no load.
std::optional<u64> address_of(const Cursor& cursor, const CodeInst& inst, Arch arch) {
  if (inst.row->footprint == nullptr || inst.patch_count != 0) return std::nullopt;
  ArgsStorage args = inst.args;
  cursor.grow(inst, args);
  const Footprint footprint = inst.row->footprint(args, {}, arch);
  return footprint.size() == 1 ? std::optional(footprint.begin()->address) : std::nullopt;
}

}  // namespace

// The earlier turns of a recorded loop are known by its last one.
const WaitLoops::Loop& WaitLoops::at(const Code& code, u32 pc) {
  constexpr usize kMostTurns = 4096;
  auto& known = known_[&code];
  if (const auto it = known.find(pc); it != known.end()) return it->second;
  std::vector<u32> turns;
  Loop last;
  for (u32 at = pc; last.kind == Kind::none && at != kNone && turns.size() < kMostTurns;) {
    u32 next = kNone;
    last = find(code, at, next);
    turns.push_back(at);
    at = next;
  }
  const bool waits = last.kind == Kind::mark || last.kind == Kind::again;
  for (const u32 turn : turns)
    known.try_emplace(turn, turn == turns.back() ? last : Loop{waits ? Kind::poll : Kind::none, 0});
  return known.at(pc);
}

WaitLoops::Loop WaitLoops::find(const Code& code, u32 pc, u32& turn) {
  constexpr u32 kReach = 64;  // instructions of such a loop behind the load
  Cursor cursor;
  cursor.start(code);
  const CodeInst& load = *cursor.find(pc);
  const auto address = address_of(cursor, load, code.arch());
  const u8 loaded = load.written;
  u32 known = loaded == CodeInst::kNoRegister ? 0 : u32{1} << loaded;  // registers that come from the load
  u32 exit = kNone;                                                    // where a branch on one of them leaves to
  bool latest = true;                                                  // no other load has come
  for (u32 at = pc + 1; at < std::min(code.size(), pc + kReach); ++at) {
    const CodeInst& inst = *cursor.find(at);
    if (inst.row->opcode == insn::Nop::opcode) {
      const auto& nop = args_of<insn::Nop>(inst.args);
      if (nop.awaited != 0 && latest) return {nop.counted != 0 ? Kind::again : Kind::mark, 0};
      continue;
    }
    if (inst.row->role == Role::end) break;
    const bool asks = (inst.sources & known) != 0;
    if (inst.branches) {
      const bool always = inst.sources == 0;
      if (inst.target <= pc && (asks || (always && exit != kNone && exit > at))) return {Kind::loop, inst.target};
      if (always) break;
      if (asks && inst.target > at) exit = inst.target;
      continue;
    }
    if (inst.written == CodeInst::kNoRegister) continue;
    if (turn == kNone && address && inst.row == load.row && address_of(cursor, inst, code.arch()) == address) turn = at;
    latest = latest && inst.row->footprint == nullptr;
    const u32 bit = u32{1} << inst.written;
    known = asks ? known | bit : known & ~bit;
  }
  return {};
}

}  // namespace vinci::isa::check
