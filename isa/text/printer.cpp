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

// `label_of`: instruction index to label name, or an empty name.
template <class LabelOf>
void append_inst(std::string& out, const Inst& inst, const LabelOf& label_of) {
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
    if (o.is_reg) {
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

}  // namespace

std::string disassemble(const Program& program) {
  verify(program);
  std::vector<Inst> insts;
  insts.reserve(program.code.size());
  for (const Word& word : program.code)
    insts.push_back(decode(word));
  const LabelNames labels(program, insts);

  std::string out = fmt::format(".arch {}\n", name(program.arch));
  const auto append_labels = [&](u64 index) {
    if (const auto* names = labels.at(index)) {
      for (const std::string& label : *names)
        append(out, "{}:\n", label);
    }
  };
  const auto label_of = [&](u64 index) -> std::string_view {
    const auto* names = labels.at(index);
    return names != nullptr ? names->front() : std::string_view{};
  };
  for (usize i = 0; i < insts.size(); ++i) {
    append_labels(i);
    out += "  ";
    append_inst(out, insts[i], label_of);
    out += '\n';
  }
  append_labels(insts.size());
  return out;
}

std::string print(const Inst& inst, const Program* program) {
  std::string out;
  out.reserve(96);
  append_inst(out, inst, [&](u64 index) -> std::string_view {
    if (program == nullptr) return {};
    const auto it = std::ranges::find(program->labels, index, &Label::index);
    return it != program->labels.end() ? it->name : std::string_view{};
  });
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
