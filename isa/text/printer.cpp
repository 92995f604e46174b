// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "isa/base/error.h"
#include "isa/program/loops.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"

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
// with, or an empty name. `append_strides`: adds what an operand grows by, and says whether there is any.
template <class LabelOf, class SymbolOf, class Strides>
void append_inst(std::string& out, const Inst& inst, const LabelOf& label_of, const SymbolOf& symbol_of,
                 const Strides& append_strides) {
  append_mnemonic(out, *inst.row, inst.type);
  // Operands at the end that have their fallback value are left out.
  usize count = inst.row->fields.size();
  while (count > 0 && inst.row->fields[count - 1].optional &&
         inst.operands[count - 1] == Operand{false, inst.row->fields[count - 1].fallback} &&
         !append_strides(count - 1, nullptr)) {
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
    append_strides(i, &out);
  }
}

// Label names by instruction index, such that the text assembles: names that cannot be written, or that occur twice,
// are replaced, and every branch target gets a name. Positions in loops have no line, so no name.
class LabelNames {
 public:
  LabelNames(const Program& program, const LoopTree& tree, const std::vector<Inst>& insts) {
    for (const Label& label : program.labels) {
      if (is_name(label.name) && tree.outside(label.index) && taken_.insert(label.name).second)
        names_[label.index].push_back(label.name);
    }
    for (const Inst& inst : insts) {
      for (usize f = 0; f < inst.row->fields.size(); ++f) {
        if (inst.row->fields[f].kind == OperandKind::label && tree.outside(inst.operands[f].value))
          name_target(inst.operands[f].value);
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
      : program_(program),
        names_(names),
        insts_(decode_all(program)),
        tree_(program.loops, program.code.size()),
        labels_(program, tree_, insts_) {
    out_.lines.reserve(insts_.size());
    line(".arch {}", name(program.arch));
    define_symbols();
  }

  Listing run() {
    u32 loop = 0;
    std::vector<u32> open;
    const auto end_of = [&](u32 l) { return program_.loops[l].first + program_.loops[l].length; };
    for (u32 i = 0; i < insts_.size(); ++i) {
      begin(i, open.empty());
      for (; loop < program_.loops.size() && program_.loops[loop].first == i; ++loop) {
        line("{:{}}.rept {}", "", 2 + 2 * open.size(), program_.loops[loop].count);
        open.push_back(loop);
      }
      out_.lines.push_back(line_ + 1);
      out_.text.append(2 + 2 * open.size(), ' ');
      append_inst(
          out_.text, insts_[i], [&](u64 index) { return label_of(index); }, [&](usize f) { return symbol_of(i, f); },
          [&](usize f, std::string* out) { return strides(i, f, open, out); });
      line("");
      for (; !open.empty() && end_of(open.back()) == i + 1; open.pop_back())
        line("{:{}}.endr", "", 2 * open.size());
    }
    begin(static_cast<u32>(insts_.size()), true);
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

  // Appends what an operand grows by in the open loops, the innermost first.
  bool strides(u32 inst, usize field, const std::vector<u32>& open, std::string* out) const {
    if (program_.strides.empty()) return false;
    std::array<u64, kMaxLoopDepth> by{};
    usize levels = 0;
    for (auto s = std::ranges::lower_bound(program_.strides, inst, {}, &Stride::inst);
         s != program_.strides.end() && s->inst == inst; ++s) {
      if (s->field != field) continue;
      const usize level = open.size() - static_cast<usize>(std::ranges::find(open, s->loop) - open.begin());
      by[level - 1] = s->by;
      levels = std::max(levels, level);
    }
    for (usize l = 0; l < levels && out != nullptr; ++l)
      append(*out, " by {}", static_cast<i64>(by[l]));
    return levels != 0;
  }

  // Comments and labels before an instruction; labels only outside of loops.
  void begin(u32 index, bool outside) {
    for (; comment_ < names_.comments.size() && names_.comments[comment_].inst == index; ++comment_)
      line("; {}", names_.comments[comment_].text);
    if (!outside) return;
    const u64 position = tree_.empty() ? index : index == insts_.size() ? tree_.positions() : tree_.position(index);
    if (const auto* labels = labels_.at(position)) {
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

  const Program& program_;
  const ProgramNames& names_;
  std::vector<Inst> insts_;
  LoopTree tree_;
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
  append_inst(
      out, inst, label_of, [](usize) { return std::string_view{}; }, [](usize, std::string*) { return false; });
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
