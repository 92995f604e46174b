// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Buffers in parts whose flags follow from their use.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/base/error.h"
#include "isa/builder/state.h"
#include "isa/table/codec.h"
#include "isa/table/insn.h"
#include "isa/text/lexer.h"

namespace vinci::isa {
namespace {

// In place of pipes that are not known yet.
constexpr PipeId kUnknownFrom = PipeId::MTE2, kUnknownTo = PipeId::MTE3;
constexpr u8 kFrom = 0, kTo = 1, kEvent = 2;  // operands of set_flag and wait_flag

bool is_flag(const Inst& i) { return i.row->role == Role::set_flag || i.row->role == Role::wait_flag; }

}  // namespace

// set_flag or wait_flag of a part: of `part` where it is a register, else of the part `event`.
void ProgramBuilder::State::flag(ProgramBuilder& p, SlotState& s, std::vector<u32>& flags, bool wait,
                                 std::optional<Reg> part, i64 event) {
  flags.push_back(size());
  if (!part) s.events.push_back({.inst = size(), .field = kEvent, .offset = event});
  const Event id = part ? Event(*part) : Event(0);
  wait ? p.wait_flag(kUnknownFrom, kUnknownTo, id) : p.set_flag(kUnknownFrom, kUnknownTo, id);
}

Slots ProgramBuilder::slots(std::string_view name, u32 count, u64 bytes, BufId memory) {
  State& st = state();
  if (count == 0) fail(Fault::Input, "slots {} need at least one part", text::quote(name));
  if (bytes > ~u64{0} / count) fail(Fault::Limit, "slots {} end beyond 2^64 bytes", text::quote(name));
  const u64 address = buffer(name, memory, bytes * count);
  State::SlotState s{.name = std::string(name), .count = count, .bytes = bytes, .address = address};
  if (count > 1) {
    s.filling = reg(fmt::format("{}_fill", name));
    s.draining = reg(fmt::format("{}_drain", name));
    for (const Reg part : {*s.filling, *s.draining}) {
      s.events.push_back({.inst = st.size(), .field = 1});
      mov(part, 0);
    }
  }
  for (u32 i = 0; i < count; ++i)
    st.flag(*this, s, s.free, false, std::nullopt, i);
  st.slots.push_back(std::move(s));
  return Slots(static_cast<u32>(st.slots.size() - 1), bytes, count);
}

ProgramBuilder::State::SlotState& ProgramBuilder::State::slots_of(const Slots& of) {
  if (of.id_ >= slots.size()) throw Error(Fault::Input, "slots are of another builder", place());
  return slots[of.id_];
}

// Waits for a part and puts its address into a register.
Reg ProgramBuilder::State::begin_part(ProgramBuilder& p, SlotState& s, SlotState::Open body) {
  if (s.open != SlotState::Open::none)
    throw Error(Fault::Input, fmt::format("slots {} have an open body already", text::quote(s.name)), place());
  const bool fill = body == SlotState::Open::fill;
  const std::optional<Reg> part = fill ? s.filling : s.draining;
  flag(p, s, fill ? s.free : s.full, true, part, 0);
  const Reg at = p.reg(fmt::format("{}_at", s.name));
  if (part) {
    p.mul(at, *part, s.bytes);
    s.events.push_back(
        {.inst = size(), .field = 2, .offset = static_cast<i64>(s.address), .factor = -static_cast<i64>(s.bytes)});
    p.add(at, at, 0);
  } else {
    p.mov(at, s.address);
  }
  s.open = body;
  s.body = size();
  return at;
}

void ProgramBuilder::State::end_part(SlotState& s, SlotState::Open body) const {
  if (s.open != body) {
    const std::string_view what = body == SlotState::Open::fill ? "fill" : "drain";
    throw Error(Fault::Input, fmt::format("no {}() of slots {} is open", what, text::quote(s.name)), place());
  }
  s.open = SlotState::Open::none;
}

// The next part. The event ids of two parts differ in their lowest bit.
void ProgramBuilder::State::turn(ProgramBuilder& p, SlotState& s, Reg part) {
  if (s.count == 2) return p.xor_(part, part, 1);
  p.add(part, part, 1);
  const Target kept = p.label("kept");
  s.events.push_back({.inst = size(), .field = 1, .offset = s.count});
  p.blt(part, 0, kept);
  s.events.push_back({.inst = size(), .field = 1});
  p.mov(part, 0);
  p.bind(kept);
}

// The one pipe of the instructions since the body began.
std::optional<PipeId> ProgramBuilder::State::pipe_of_body(const SlotState& s) const {
  std::optional<PipeId> out;
  for (usize i = s.body; i < program.code.size(); ++i) {
    const Inst inst = decode(program.code[i]);
    if (inst.row->role != Role::work) continue;
    const PipeId pipe = inst.row->pipe(ArgsStorage{}, program.arch);
    if (out && *out != pipe) {
      throw Error(Fault::Input,
                  fmt::format("instructions of PIPE_{} and PIPE_{} use slots {} together; one pipe is needed",
                              isa::name(*out), isa::name(pipe), text::quote(s.name)),
                  place());
    }
    out = pipe;
  }
  if (!out) throw Error(Fault::Input, fmt::format("no instruction uses slots {} here", text::quote(s.name)), place());
  return out;
}

namespace {

void agree(std::optional<PipeId>& known, PipeId pipe, std::string_view what, std::string_view slots,
           const std::string& place) {
  if (known && *known != pipe) {
    throw Error(Fault::Input,
                fmt::format("slots {} are {} by PIPE_{} and by PIPE_{}; one pipe is needed", text::quote(slots), what,
                            name(*known), name(pipe)),
                place);
  }
  known = pipe;
}

}  // namespace

Reg ProgramBuilder::begin_fill(const Slots& slots) {
  State::SlotState& s = state().slots_of(slots);
  return state().begin_part(*this, s, State::SlotState::Open::fill);
}

void ProgramBuilder::end_fill(const Slots& slots) {
  State::SlotState& s = state().slots_of(slots);
  state().end_part(s, State::SlotState::Open::fill);
  agree(s.writer, *state().pipe_of_body(s), "filled", s.name, state().place());
  state().flag(*this, s, s.full, false, s.filling, 0);
  if (s.filling) state().turn(*this, s, *s.filling);
}

Reg ProgramBuilder::begin_drain(const Slots& slots) {
  State::SlotState& s = state().slots_of(slots);
  return state().begin_part(*this, s, State::SlotState::Open::drain);
}

void ProgramBuilder::end_drain(const Slots& slots) {
  State::SlotState& s = state().slots_of(slots);
  state().end_part(s, State::SlotState::Open::drain);
  agree(s.reader, *state().pipe_of_body(s), "drained", s.name, state().place());
  state().flag(*this, s, s.free, false, s.draining, 0);
  if (s.draining) state().turn(*this, s, *s.draining);
}

void ProgramBuilder::end_block() {
  for (State::SlotState& s : state().slots)
    for (u32 i = 0; i < s.count; ++i)
      state().flag(*this, s, s.free, true, std::nullopt, i);
  pipe_barrier(PipeId::ALL);
  end();
}

// Gives each Slots event ids that its pair of pipes does not use otherwise, and completes its instructions.
void ProgramBuilder::State::place_slots() {
  using Pair = std::pair<PipeId, PipeId>;
  if (slots.empty()) return;
  const u32 flags = core ? core->flags_per_pair : program.arch == Arch::c220 ? 8 : 4;
  std::map<Pair, u32> used;
  std::vector<bool> ours(program.code.size());
  for (const SlotState& s : slots)
    for (const auto* list : {&s.full, &s.free})
      for (const u32 i : *list)
        ours[i] = true;
  for (u32 i = 0; i < size(); ++i) {
    const Inst inst = decode(program.code[i]);
    if (!is_flag(inst) || ours[i] || inst.operands[kEvent].is_reg) continue;
    u32& n = used[{static_cast<PipeId>(inst.operands[kFrom].value), static_cast<PipeId>(inst.operands[kTo].value)}];
    n = std::max(n, static_cast<u32>(inst.operands[kEvent].value) + 1);
  }
  for (const SlotState& s : slots) {
    const std::string quoted = text::quote(s.name);
    if (s.open != SlotState::Open::none) {
      fail_at(Fault::Input, program.source, "a body that {} slots {} has no end",
              s.open == SlotState::Open::fill ? "fills" : "drains", quoted);
    }
    if (!s.writer || !s.reader)
      fail_at(Fault::Input, program.source, "slots {} are never {}", quoted, s.writer ? "drained" : "filled");
    if (*s.writer == *s.reader) {
      fail_at(Fault::Input, program.source, "slots {} are filled and drained by PIPE_{}; use buffer() and pipe_barrier",
              quoted, isa::name(*s.writer));
    }
    u32 &full = used[{*s.writer, *s.reader}], &free = used[{*s.reader, *s.writer}];
    u32 first = std::max(full, free);
    if (s.count == 2) first += first % 2;
    if (first + s.count > flags) {
      fail_at(Fault::Limit, program.source, "slots {} need {} event ids between PIPE_{} and PIPE_{}; of {} {} are left",
              quoted, s.count, isa::name(*s.writer), isa::name(*s.reader), flags, flags - std::min(first, flags));
    }
    full = free = first + s.count;
    const auto pipes = [&](const std::vector<u32>& list, PipeId from, PipeId to) {
      for (const u32 i : list) {
        patch(i, kFrom, {false, static_cast<u64>(from)});
        patch(i, kTo, {false, static_cast<u64>(to)});
      }
    };
    pipes(s.full, *s.writer, *s.reader);
    pipes(s.free, *s.reader, *s.writer);
    for (const EventOperand& e : s.events)
      patch(e.inst, e.field, {false, static_cast<u64>(e.offset + e.factor * static_cast<i64>(first))});
  }
}

}  // namespace vinci::isa
