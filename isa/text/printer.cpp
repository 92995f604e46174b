// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "isa/base/error.h"
#include "isa/codec.h"
#include "isa/text.h"

namespace vinci::isa {
namespace {

template <class... A>
void append(std::string& out, fmt::format_string<A...> text, A&&... args) {
  fmt::format_to(std::back_inserter(out), text, std::forward<A>(args)...);
}

void append_mnemonic(std::string& out, const Row& row, u8 type) {
  out += row.name;
  if (type == 0 && row.first_type_is_default) return;
  if (type < row.types.size()) append(out, ".{}", row.types[type].name);
}

// The operands that are addresses are exactly those as wide as one: 24 bits in a core, 48 in global memory.
void append_value(std::string& out, const FieldInfo& field, u64 v) {
  const auto s = static_cast<i64>(v);
  if (field.is_signed || (field.width == 64 && s < 0 && s >= -65536)) {
    append(out, "{}", s);
  } else if (field.width == 24 || field.width == 48 || (v >> 32) != 0) {
    append(out, "{:#x}", v);
  } else {
    append(out, "{}", v);
  }
}

void append_constant(std::string& out, const FieldInfo& field, u64 v) {
  switch (field.kind) {
    case OperandKind::reg_dst: return append(out, "X{}", v);
    case OperandKind::pipe:
      if (v < kPipeNames.size()) return append(out, "PIPE_{}", kPipeNames[v]);
      break;
    case OperandKind::event: return append(out, "EVENT_ID{}", v);
    case OperandKind::label:
    case OperandKind::value: break;
  }
  append_value(out, field, v);
}

// `label_of`: instruction index to label name, or an empty name. `symbol_of`: field to the symbol that it is written
// with, or an empty name.
template <class LabelOf, class SymbolOf>
void append_inst(std::string& out, const Inst& inst, const LabelOf& label_of, const SymbolOf& symbol_of) {
  append_mnemonic(out, *inst.row, inst.type);
  // Operands at the end that have their fallback value are left out.
  usize count = inst.row->fields.size();
  while (count > 0 && inst.row->fields[count - 1].optional &&
         inst.operands[count - 1] == Operand{false, inst.row->fields[count - 1].fallback}) {
    --count;
  }
  for (usize i = 0; i < count; ++i) {
    const FieldInfo& field = inst.row->fields[i];
    const Operand& o = inst.operands[i];
    out += i == 0 ? " " : ", ";
    if (const std::string_view symbol = symbol_of(i); !symbol.empty()) {
      out += symbol;
    } else if (o.is_reg) {
      append(out, "X{}", o.value);
    } else if (const std::string_view label = field.kind == OperandKind::label ? label_of(o.value) : std::string_view{};
               !label.empty()) {
      out += label;
    } else {
      append_constant(out, field, o.value);
    }
  }
}

// Label names by instruction index, such that the text assembles: names that cannot be written, or that occur twice,
// are replaced, and every branch target gets a name.
class LabelNames {
 public:
  LabelNames(const Program& program, const std::vector<Inst>& insts) {
    for (const Label& label : program.labels) {
      if (is_name(label.name) && taken_.insert(label.name).second) names_[label.index].push_back(label.name);
    }
    for (const Inst& inst : insts) {
      for (usize f = 0; f < inst.row->fields.size(); ++f) {
        if (inst.row->fields[f].kind == OperandKind::label) name_target(inst.operands[f].value);
      }
    }
  }

  // The names of an index in the order of the program's labels.
  const std::vector<std::string>* at(u64 index) const {
    const auto it = names_.find(index);
    return it == names_.end() ? nullptr : &it->second;
  }

 private:
  void name_target(u64 index) {
    std::vector<std::string>& names = names_[index];
    if (!names.empty()) return;
    std::string made = fmt::format("L{}", index);
    while (!taken_.insert(made).second)
      made += '_';
    names.push_back(std::move(made));
  }

  std::unordered_set<std::string> taken_;
  std::unordered_map<u64, std::vector<std::string>> names_;  // only looked up, never walked
};

// Walks a program and its names side by side.
class Lister {
 public:
  Lister(const Program& program, const ProgramNames& names)
      : names_(names), insts_(decode_all(program)), labels_(program, insts_) {
    out_.lines.reserve(insts_.size());
    line(".arch {}", name(program.arch));
    define_symbols();
  }

  Listing run() {
    for (u32 i = 0; i < insts_.size(); ++i) {
      begin(i);
      out_.lines.push_back(line_ + 1);
      out_.text += "  ";
      append_inst(
          out_.text, insts_[i], [&](u64 index) { return label_of(index); }, [&](usize f) { return symbol_of(i, f); });
      line("");
    }
    begin(static_cast<u32>(insts_.size()));
    return std::move(out_);
  }

 private:
  static std::vector<Inst> decode_all(const Program& program) {
    std::vector<Inst> insts;
    insts.reserve(program.code.size());
    for (const Word& word : program.code)
      insts.push_back(decode(word));
    return insts;
  }

  template <class... A>
  void line(fmt::format_string<A...> text, A&&... args) {
    append(out_.text, text, std::forward<A>(args)...);
    out_.text += '\n';
    ++line_;
  }

  void define_symbols() {
    std::vector<bool> used(names_.symbols.size());
    for (const ProgramNames::Use& use : names_.uses)
      used[use.symbol] = true;
    for (usize i = 0; i < used.size(); ++i) {
      const ProgramNames::Symbol& s = names_.symbols[i];
      if (!used[i]) continue;
      if (s.is_reg) {
        line(".alias {} = X{}", s.name, s.value);
      } else if (s.negative) {
        line(".const {} = {}", s.name, static_cast<i64>(s.value));
      } else {
        line(".const {} = {}", s.name, s.value);
      }
    }
  }

  // Comments and labels before an instruction.
  void begin(u32 index) {
    for (; comment_ < names_.comments.size() && names_.comments[comment_].inst == index; ++comment_)
      line("; {}", names_.comments[comment_].text);
    if (const auto* labels = labels_.at(index)) {
      for (const std::string& label : *labels)
        line("{}:", label);
    }
  }

  std::string_view label_of(u64 index) const {
    const auto* names = labels_.at(index);
    return names != nullptr ? names->front() : std::string_view{};
  }
  std::string_view symbol_of(u32 inst, usize field) {
    while (use_ < names_.uses.size() &&
           std::pair(names_.uses[use_].inst, usize{names_.uses[use_].field}) < std::pair(inst, field))
      ++use_;
    if (use_ == names_.uses.size() || names_.uses[use_].inst != inst || names_.uses[use_].field != field) return {};
    return names_.symbols[names_.uses[use_].symbol].name;
  }

  const ProgramNames& names_;
  std::vector<Inst> insts_;
  LabelNames labels_;
  Listing out_;
  u32 line_ = 0;
  usize comment_ = 0, use_ = 0;
};

}  // namespace

Listing list(const Program& program, const ProgramNames& names) {
  verify(program);
  return Lister(program, names).run();
}

std::string disassemble(const Program& program) { return list(program, {}).text; }

std::string print(const Inst& inst, const Program* program) {
  std::string out;
  out.reserve(96);
  const auto label_of = [&](u64 index) -> std::string_view {
    if (program == nullptr) return {};
    const auto it = std::ranges::find(program->labels, index, &Label::index);
    return it != program->labels.end() ? it->name : std::string_view{};
  };
  append_inst(out, inst, label_of, [](usize) { return std::string_view{}; });
  return out;
}

std::string print_resolved(const Row& row, u8 type, const ArgsStorage& args) {
  std::string out;
  out.reserve(160);
  append_mnemonic(out, row, type);
  for (const FieldInfo& field : row.fields) {
    const u64 value = field.get(args);
    if (field.optional && value == field.fallback) continue;
    append(out, " {}=", field.name);
    append_constant(out, field, value);
  }
  return out;
}

}  // namespace vinci::isa
