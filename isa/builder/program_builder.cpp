// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/builder/program_builder.h"

#include <fmt/format.h>

#include "isa/base/error.h"
#include "isa/builder/flag_balance.h"
#include "isa/builder/state.h"
#include "isa/program/program_file.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/forms.h"

namespace vinci::isa {

ProgramBuilder::State::State(std::string source, Arch arch, std::optional<CoreLimits> limits) : core(limits) {
  program.arch = arch;
  program.source = std::move(source);
}

ProgramBuilder::ProgramBuilder(std::string name, Arch arch, std::optional<CoreLimits> core)
    : state_(std::make_unique<State>(std::move(name) + ".s", arch, core)) {}
ProgramBuilder::~ProgramBuilder() = default;
ProgramBuilder::ProgramBuilder(ProgramBuilder&&) noexcept = default;
ProgramBuilder& ProgramBuilder::operator=(ProgramBuilder&&) noexcept = default;

ProgramBuilder::State& ProgramBuilder::state() const {
  if (state_ == nullptr) fail(Fault::Input, "this ProgramBuilder has been finished; each makes one program");
  return *state_;
}

Arch ProgramBuilder::arch() const { return state().program.arch; }
usize ProgramBuilder::size() const { return state().size(); }

// Instructions --------------------------------------------------------------------------------------------------------

std::string ProgramBuilder::State::place() const { return fmt::format("{}: instruction {}", program.source, size()); }

Operand ProgramBuilder::State::operand(const Row& row, u8 f, const Value& v) {
  const FieldInfo& field = row.fields[f];
  const auto refuse = [&](std::string_view needed) {
    static constexpr std::string_view kKinds[] = {"a number", "a register", "a pipe", "a label"};
    fail(Fault::Input, "{}: '{}' must be {}, not {}", row.name, field.name, needed, kKinds[static_cast<u8>(v.kind())]);
  };
  if (v.name() != Value::kUnnamed) {
    if (v.name() >= names.symbols.size()) fail(Fault::Input, "{}: '{}' is of another builder", row.name, field.name);
    names.uses.push_back({size(), f, v.name()});
  }
  switch (field.kind) {
    case OperandKind::pipe:
      if (v.kind() != Value::Kind::pipe) refuse("a pipe");
      return {false, v.bits()};
    case OperandKind::label:
      if (v.kind() != Value::Kind::label) refuse("a label");
      references.push_back({size(), f, static_cast<u32>(v.bits())});
      return {};
    case OperandKind::reg_dst:
      if (!v.is_reg()) refuse("a register");
      return {true, v.bits()};
    case OperandKind::value:
    case OperandKind::event: break;
  }
  if (v.is_reg()) return {true, v.bits()};
  if (!v.is_number()) refuse("a number or a register");
  const text::Wide wide = v.negative() ? text::Wide{static_cast<i64>(v.bits())} : text::Wide{v.bits()};
  return {false, text::in_range(row, field, wide)};
}

// Pipes and events that the core lacks.
void ProgramBuilder::State::check_core(const Row& row, const Inst& inst) const {
  if (!core) return;
  const auto need = [&](PipeId pipe) {
    if (pipe == PipeId::ALL || (pipes_of(core->kind) & bit(pipe)) != 0) return;
    fail(Fault::Input, "{}: a core of type {} has no PIPE_{}", row.name, isa::name(core->kind), isa::name(pipe));
  };
  if (row.role == Role::work) need(row.pipe(ArgsStorage{}, program.arch));
  for (usize f = 0; f < row.fields.size(); ++f) {
    const Operand& o = inst.operands[f];
    if (row.fields[f].kind == OperandKind::pipe) need(static_cast<PipeId>(o.value));
    if (row.fields[f].kind == OperandKind::event && !o.is_reg && o.value >= core->flags_per_pair) {
      fail(Fault::Input, "{}: event id {} out of range: this chip has EVENT_ID0..EVENT_ID{}", row.name, o.value,
           core->flags_per_pair - 1);
    }
  }
}

// An instruction that is refused leaves nothing behind.
void ProgramBuilder::State::append(const Row& row, std::optional<std::string_view> type,
                                   std::span<const Value> operands) {
  const usize uses = names.uses.size(), branches = references.size();
  try {
    program.code.push_back(encode(checked(row, type, operands)));
  } catch (...) {
    names.uses.resize(uses);
    references.resize(branches);
    throw;
  }
}

Inst ProgramBuilder::State::checked(const Row& row, std::optional<std::string_view> type,
                                    std::span<const Value> operands) {
  text::check_arch(row, program.arch);
  Inst inst{.row = &row, .type = text::find_type(row, type, program.arch)};
  if (operands.size() > row.fields.size()) {
    fail(Fault::Input, "{} has {} operand{}, not {}", row.name, row.fields.size(), row.fields.size() == 1 ? "" : "s",
         operands.size());
  }
  for (u8 f = 0; f < row.fields.size(); ++f) {
    const FieldInfo& field = row.fields[f];
    if (f < operands.size()) {
      inst.operands[f] = operand(row, f, operands[f]);
    } else if (field.optional) {
      inst.operands[f] = {false, field.fallback};
    } else {
      fail(Fault::Input, "{}: operand {} ('{}') is missing", row.name, f + 1, field.name);
    }
  }
  check_core(row, inst);
  if (size() == kMaxProgramLength) fail(Fault::Limit, "a program has at most {} instructions", kMaxProgramLength);
  return inst;
}

void ProgramBuilder::put(u16 opcode, std::optional<Type> type, std::initializer_list<Value> operands) {
  const auto name = type ? std::optional(kTypeNames[static_cast<usize>(*type)]) : std::nullopt;
  try {
    state().append(*row_of(opcode), name, {operands.begin(), operands.size()});
  } catch (const Error& e) {
    throw Error(e.fault(), e.message(), state().place());
  }
}

void ProgramBuilder::call(std::string_view mnemonic, std::span<const Value> operands) {
  const usize dot = mnemonic.find('.');
  const auto type = dot == std::string_view::npos ? std::nullopt : std::optional(mnemonic.substr(dot + 1));
  try {
    state().append(text::find_row(mnemonic.substr(0, dot)), type, operands);
  } catch (const Error& e) {
    throw Error(e.fault(), e.message(), state().place());
  }
}

void ProgramBuilder::call(std::string_view mnemonic, Type type, std::initializer_list<Value> operands) {
  call(fmt::format("{}.{}", mnemonic, kTypeNames[static_cast<usize>(type)]), operands);
}

void ProgramBuilder::State::patch(u32 inst, u8 field, const Operand& operand) {
  Inst patched = decode(program.code[inst]);
  patched.operands[field] = operand;
  program.code[inst] = encode(patched);
}

std::span<const std::array<u64, 4>> BuiltProgram::words() const { return program_->code; }
std::vector<std::byte> BuiltProgram::file() const { return write_program(*program_); }

// Control and scalars -------------------------------------------------------------------------------------------------

ProgramBuilder::Loop ProgramBuilder::begin_loop(Reg i, const Value& from, const Value& to, const Value& step) {
  if (step.is_number() && static_cast<i64>(step.bits()) <= 0) {
    throw Error(Fault::Input, fmt::format("a loop counts up: its step is {}", static_cast<i64>(step.bits())),
                state().place());
  }
  const bool already = from.is_reg() && from.bits() == i.number();
  if (!already) mov(i, from);
  const bool known = from.is_number() && to.is_number() && static_cast<i64>(from.bits()) < static_cast<i64>(to.bits());
  std::optional<Target> done;
  if (!known) {
    done = label("endloop");
    branch(i >= to, *done);
  }
  return {i, to, step, here("loop"), done};
}

void ProgramBuilder::end_loop(const Loop& loop) {
  add(loop.i, loop.i, loop.step);
  branch(loop.i < loop.to, loop.again);
  if (loop.done) bind(*loop.done);
}

ProgramBuilder::If ProgramBuilder::begin_if(const Condition& condition) {
  const If open{label("endif")};
  branch(!condition, open.skip);
  return open;
}

// The label behind the first body is called "else" from here on, and its name is that of the end.
void ProgramBuilder::begin_else(If& open) {
  State& s = state();
  std::string& skip = s.label(open.skip).name;
  s.label_names.erase(skip);
  skip = s.unique_label("else");
  const Target done = label("endif");
  b(done);
  bind(open.skip);
  open.skip = done;
}

void ProgramBuilder::branch(const Condition& c, Target target) {
  switch (c.op) {
    case Condition::Op::eq: return beq(c.a, c.b, target);
    case Condition::Op::ne: return bne(c.a, c.b, target);
    case Condition::Op::lt: return blt(c.a, c.b, target);
    case Condition::Op::le: return ble(c.a, c.b, target);
    case Condition::Op::gt: return bgt(c.a, c.b, target);
    case Condition::Op::ge: return bge(c.a, c.b, target);
  }
}

void ProgramBuilder::set(Reg dst, const Expr& e) {
  static constexpr std::array<std::string_view, 12> kNames{"add", "sub", "mul", "div", "rem", "and",
                                                           "or",  "xor", "shl", "shr", "min", "max"};
  if (e.size() == 0) return mov(dst, e.first());
  for (const Expr::Step& step : e) {
    const bool first = &step == e.begin();
    if (!first && step.operand.is_reg() && step.operand.bits() == dst.number()) {
      throw Error(Fault::Input,
                  fmt::format("X{} is the result of this expression and also an operand behind its first operation",
                              dst.number()),
                  state().place());
    }
    call(kNames[static_cast<usize>(step.op)], {dst, first ? e.first() : Value(dst), step.operand});
  }
}

Reg ProgramBuilder::arg(std::string_view name, std::optional<u64> index) {
  const Reg out = reg(name);
  const u64 number = index.value_or(state().arguments);
  state().arguments = number + 1;
  ld_arg(out, number);
  return out;
}

void ProgramBuilder::hand_over(PipeId from, PipeId to, const Event& event) {
  set_flag(from, to, event);
  wait_flag(from, to, event);
}

// The end -------------------------------------------------------------------------------------------------------------

void ProgramBuilder::State::resolve_labels() {
  for (const LabelState& l : labels)
    if (!l.index) fail_at(Fault::Input, program.source, "label {} is not bound", text::quote(l.name));
  for (const Reference& r : references) {
    if (r.label >= labels.size()) fail_at(Fault::Input, program.source, "a label is of another builder");
    const u32 index = *labels[r.label].index;
    if (index >= size())
      fail_at(Fault::Input, program.source, "label {} is behind the last instruction",
              text::quote(labels[r.label].name));
    patch(r.inst, r.field, {false, index});
  }
}

BuiltProgram ProgramBuilder::finish() {
  State& s = state();
  if (s.program.code.empty()) fail_at(Fault::Input, s.program.source, "the program has no instruction");
  s.resolve_labels();
  s.place_slots();
  s.program.lines.assign(s.program.code.size(), 0);
  if (runs_past_end(s.program))
    fail_at(Fault::Input, s.program.source, "the program runs past its last instruction; end is missing");
  if (const std::string flag = unbalanced_flag(s.program); !flag.empty())
    fail_at(Fault::Input, s.program.source, "{}", flag);
  Listing listing = list(s.program, s.names);
  s.program.lines = std::move(listing.lines);
  BuiltProgram out;
  out.program_ = std::make_shared<const Program>(std::move(s.program));
  out.text_ = std::make_shared<const std::string>(std::move(listing.text));
  state_ = nullptr;
  return out;
}

}  // namespace vinci::isa
