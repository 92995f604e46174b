// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/builder/program_builder.h"
#include "isa/program/program.h"
#include "isa/text/text.h"

namespace vinci::isa {

// What a ProgramBuilder has written so far. Only for isa/builder.
struct [[gnu::visibility("hidden")]] ProgramBuilder::State {
  struct LabelState {
    std::string name;
    std::optional<u32> index;
  };
  struct Reference {  // a branch to a label
    u32 inst;
    u8 field;
    u32 label;
  };
  // An operand of Slots whose pipes or event ids are known when all uses are: its value is `factor` times the first
  // event id of the slots, plus `offset`.
  struct EventOperand {
    u32 inst;
    u8 field;
    i64 offset = 0, factor = 1;
  };
  struct SlotState {
    std::string name;
    u32 count = 1;
    u64 bytes = 0, address = 0;
    std::optional<Reg> filling = {}, draining = {};  // the part that is next, as its event id; none of a single part
    std::optional<PipeId> writer = {}, reader = {};
    std::vector<u32> full = {}, free = {};  // flags from writer to reader, and back
    std::vector<EventOperand> events = {};
    enum class Open : u8 { none, fill, drain };
    Open open = Open::none;  // which body is open
    usize body = 0;          // its first instruction
  };

  explicit State(std::string source, Arch arch, std::optional<CoreLimits> limits);

  u32 size() const { return static_cast<u32>(program.code.size()); }
  u8 holder_of_lowest_free() const;
  u32 symbol(std::string_view name, bool is_reg, u64 value, bool negative);
  std::string unique_label(std::string_view name);  // which is taken then
  LabelState& label(Target target);                 // throws Fault::Input where another builder made it
  SlotState& slots_of(const Slots& slots);          // the same
  void take(u8 reg, std::string_view name);
  std::string place() const;  // of the next instruction, for messages
  void append(const Row& row, std::optional<std::string_view> type, std::span<const Value> operands);
  Inst checked(const Row& row, std::optional<std::string_view> type, std::span<const Value> operands);
  Operand operand(const Row& row, u8 field, const Value& value);
  void check_core(const Row& row, const Inst& inst) const;
  void patch(u32 inst, u8 field, const Operand& operand);
  void resolve_labels();
  void place_slots();
  void turn(ProgramBuilder & p, SlotState & s, Reg part);
  Reg begin_part(ProgramBuilder & p, SlotState & s, SlotState::Open body);
  void end_part(SlotState & s, SlotState::Open body) const;
  void flag(ProgramBuilder & p, SlotState & s, std::vector<u32> & flags, bool wait, std::optional<Reg> part, i64 event);
  std::optional<PipeId> pipe_of_body(const SlotState& s) const;

  Program program;
  std::optional<CoreLimits> core;
  ProgramNames names;
  std::unordered_map<std::string, u32> symbols;  // by name
  std::unordered_set<std::string> label_names;
  std::array<std::string, 32> holders{};  // names of registers that are taken
  u32 taken = 0;                          // bit r: register Xr
  std::vector<LabelState> labels;
  std::vector<Reference> references;
  std::array<u64, kBufCount> given{};  // bytes of each memory that buffer() has given away
  std::vector<SlotState> slots;
  u64 arguments = 0;
};

}  // namespace vinci::isa
