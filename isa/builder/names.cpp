// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Registers, constants, labels and buffers of a ProgramBuilder.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/base/error.h"
#include "isa/builder/state.h"
#include "isa/text/forms.h"

namespace vinci::isa {
namespace {

void check_name(std::string_view what, std::string_view name) {
  if (!is_name(name) || text::is_reserved(name))
    fail(Fault::Input, "{} cannot be the name of a {}", text::quote(name), what);
}

// The name, or the first of name_2, name_3, ... that `taken` does not know.
template <class Taken>
std::string unique(std::string_view name, const Taken& taken) {
  std::string out(name);
  for (u32 n = 2; taken(out); ++n)
    out = fmt::format("{}_{}", name, n);
  return out;
}

}  // namespace

u32 ProgramBuilder::State::symbol(std::string_view name, bool is_reg, u64 value, bool negative) {
  check_name(is_reg ? "register" : "constant", name);
  const auto same = [&](const ProgramNames::Symbol& s) {
    return s.is_reg == is_reg && s.value == value && s.negative == negative;
  };
  if (const auto it = symbols.find(std::string(name)); it != symbols.end() && same(names.symbols[it->second]))
    return it->second;
  const std::string made = unique(name, [&](const std::string& n) { return symbols.contains(n); });
  const auto index = static_cast<u32>(names.symbols.size());
  names.symbols.push_back({made, is_reg, value, negative});
  symbols.emplace(made, index);
  return index;
}

void ProgramBuilder::State::take(u8 reg, std::string_view name) {
  if ((taken >> reg & 1) != 0) fail(Fault::Limit, "register X{} is taken, by {}", reg, text::quote(holders[reg]));
  taken |= u32{1} << reg;
  holders[reg] = name;
}

Reg ProgramBuilder::reg(std::string_view name) {
  State& s = state();
  if (s.taken == ~u32{0}) {
    std::string all;
    for (const std::string& holder : s.holders)
      all += fmt::format("{}{}", all.empty() ? "" : ", ", holder);
    throw Error(Fault::Limit, fmt::format("no register is left for {}; there are {}", text::quote(name), all),
                s.place());
  }
  return reg(name, static_cast<u32>(std::countr_one(s.taken)));
}

Reg ProgramBuilder::reg(std::string_view name, u32 number) {
  if (number >= kRegisterCount) fail(Fault::Input, "there are registers X0 to X31, not X{}", number);
  const u32 symbol = state().symbol(name, true, number, false);
  state().take(static_cast<u8>(number), name);
  return {static_cast<u8>(number), symbol};
}

Reg ProgramBuilder::alias(std::string_view name, Reg reg) {
  return {reg.number_, state().symbol(name, true, reg.number_, false)};
}

Reg ProgramBuilder::x(u32 number) {
  if (number >= kRegisterCount) fail(Fault::Input, "there are registers X0 to X31, not X{}", number);
  if ((state().taken >> number & 1) == 0) state().take(static_cast<u8>(number), fmt::format("X{}", number));
  return {static_cast<u8>(number), Value::kUnnamed};
}

void ProgramBuilder::release(Reg reg) {
  State& s = state();
  const u32 bit = u32{1} << reg.number_;
  if ((s.taken & bit) == 0)
    throw Error(Fault::Input, fmt::format("register X{} is free already", reg.number_), s.place());
  s.taken &= ~bit;
}

ProgramBuilder::Scope::Scope(ProgramBuilder& builder) : builder_(builder), taken_(builder.state().taken) {}
ProgramBuilder::Scope::~Scope() {
  if (builder_.state_ != nullptr) builder_.state_->taken = taken_;
}

Const ProgramBuilder::constant(std::string_view name, i64 value) {
  return {value, state().symbol(name, false, static_cast<u64>(value), value < 0)};
}

void ProgramBuilder::comment(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  state().names.comments.push_back({state().size(), std::move(line)});
}

std::string ProgramBuilder::State::unique_label(std::string_view name) {
  check_name("label", name);
  std::string made = unique(name, [&](const std::string& n) { return label_names.contains(n); });
  label_names.insert(made);
  return made;
}

ProgramBuilder::State::LabelState& ProgramBuilder::State::label(Target target) {
  if (target.id_ >= labels.size()) throw Error(Fault::Input, "a label is of another builder", place());
  return labels[target.id_];
}

Target ProgramBuilder::label(std::string_view name) {
  State& s = state();
  s.labels.push_back({s.unique_label(name), std::nullopt});
  return Target(static_cast<u32>(s.labels.size() - 1));
}

void ProgramBuilder::bind(Target label) {
  State& s = state();
  State::LabelState& l = s.label(label);
  if (l.index) throw Error(Fault::Input, fmt::format("label {} is bound already", text::quote(l.name)), s.place());
  l.index = s.size();
  s.program.labels.push_back({l.name, s.size()});
}

u64 ProgramBuilder::buffer(std::string_view name, BufId memory, u64 bytes, u64 align) {
  State& s = state();
  u64& end = s.given[index(memory)];
  const u64 over = align > 1 ? end % align : 0, begin = over != 0 ? end + (align - over) : end;
  if (begin < end || bytes > ~u64{0} - begin) {
    throw Error(Fault::Limit, fmt::format("buffer {} ends beyond 2^64 bytes", text::quote(name)), s.place());
  }
  if (s.core && begin + bytes > s.core->sizes[index(memory)]) {
    throw Error(Fault::Limit,
                fmt::format("buffer {} needs {} bytes of {} at {:#x}; {} has {} bytes", text::quote(name), bytes,
                            isa::name(memory), begin, isa::name(s.core->kind), s.core->sizes[index(memory)]),
                s.place());
  }
  end = begin + bytes;
  return begin;
}

}  // namespace vinci::isa
