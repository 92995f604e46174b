// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

#include "isa/base/enums.h"
#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "isa/program/loops.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/expression.h"
#include "isa/text/forms.h"
#include "isa/text/lexer.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace text {
namespace {

// A rule of isa/text/forms.h, with its message at a column.
template <class Rule>
decltype(auto) at(usize column, const Rule& rule) {
  try {
    return rule();
  } catch (const Error& e) {
    fail_column(column, e.message(), e.fault());
  }
}

// Reads a text line by line; what is wrong is collected, so that one run shows it all.
class Assembler {
 public:
  Assembler(std::string_view text, std::string source_name, std::optional<Arch> arch) : text_(text), arch_(arch) {
    program_.source = std::move(source_name);
    for (const Row& row : table())
      rows_.emplace(row.name, &row);
  }

  Program run() {
    if (text_.size() > kMaxAssemblyBytes) {
      fail_at(Fault::Input, program_.source, "the text has {} bytes; at most {} are read", text_.size(),
              kMaxAssemblyBytes);
    }
    std::string_view rest = text_;
    if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // byte order mark of some editors
    while (!rest.empty() && !full() && !stopped_) {
      const usize end = std::min(rest.find('\n'), rest.size());
      ++line_number_;
      try {
        line_.read(rest.substr(0, end));
        statement();
      } catch (const LineError& e) {
        report(line_number_, e.column, e.message, e.fault);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!full() && !stopped_ && !open_.empty()) report(open_.back().line, 1, "this .rept has no .endr");
    if (!full() && !stopped_) resolve_labels();
    if (problems_.empty() && program_.code.empty())
      report(std::max(line_number_, 1u), 1, "the program has no instruction");
    if (!problems_.empty()) throw_problems();
    program_.arch = *arch_;
    return std::move(program_);
  }

 private:
  struct Problem {
    u32 line;
    usize column;
    std::string message;
    Fault fault;
  };
  struct Reference {  // a label used as an operand
    std::string_view name;
    u32 line;
    usize column;
    u32 inst;  // index in the program
    u8 field;
  };

  // Several problems; nothing is gained by more.
  bool full() const { return problems_.size() >= kMaxReportedErrors; }

  void report(u32 line, usize column, std::string message, Fault fault = Fault::Input) {
    if (!message.empty() && !full()) problems_.push_back({line, column, std::move(message), fault});
    broken_ = true;
  }

  [[noreturn]] void throw_problems() {
    std::ranges::stable_sort(problems_, {}, [](const Problem& p) { return std::tuple(p.line, p.column); });
    const auto location = [&](const Problem& p) { return fmt::format("{}:{}:{}", program_.source, p.line, p.column); };
    std::string message = problems_[0].message;
    for (usize i = 1; i < problems_.size(); ++i) {
      message += fmt::format("\n{}: {}", location(problems_[i]), problems_[i].message);
    }
    if (full()) message += fmt::format("\n{}: stopped after {} errors", program_.source, kMaxReportedErrors);
    // Unsupported only if the text is right in all else.
    const bool malformed = std::ranges::find(problems_, Fault::Input, &Problem::fault) != problems_.end();
    throw Error(malformed ? Fault::Input : Fault::Unsupported, std::move(message), location(problems_[0]));
  }

  void statement() {
    while (line_.peek().kind == Token::Kind::name && line_.peek(1).is(":"))
      define_label();
    if (line_.at_end()) return;
    const Token t = line_.next();
    if (t.kind != Token::Kind::name) {
      fail_column(t.column, fmt::format("an instruction, a directive or a label cannot start with {}", quote(t.text)));
    }
    if (t.text.front() == '.') {
      directive(t);
    } else {
      instruction(t);
    }
  }

  void expect_end() {
    const Token& t = line_.peek();
    if (t.kind != Token::Kind::end) fail_column(t.column, fmt::format("{} is not expected here", quote(t.text)));
  }

  void check_length(const Token& t) const {
    if (t.text.size() > kMaxNameLength) {
      fail_column(t.column, fmt::format("a name has at most {} characters", kMaxNameLength));
    }
  }

  void define_label() {
    const Token t = line_.next();
    line_.next();  // ':'
    check_length(t);
    if (!open_.empty()) fail_column(t.column, fmt::format("label {} is inside .rept", quote(t.text)));
    const auto index = static_cast<u32>(position_);
    const auto [it, is_new] = labels_.emplace(t.text, LabelInfo{index, line_number_});
    if (!is_new) {
      // The rest of the line is still worth reading.
      report(line_number_, t.column,
             fmt::format("label {} is already defined in line {}", quote(t.text), it->second.line));
      return;
    }
    label_names_.push_back(t.text);
    program_.labels.push_back({std::string(t.text), index});
  }

  // --- directives ---

  void directive(const Token& t) {
    if (t.text == ".arch") return arch_directive();
    if (t.text == ".const" || t.text == ".alias") return define(t.text == ".alias");
    if (t.text == ".rept") return begin_loop(t);
    if (t.text == ".endr") return end_loop(t);
    static constexpr std::array<std::string_view, 5> kDirectives{".arch", ".const", ".alias", ".rept", ".endr"};
    fail_column(t.column, fmt::format("no directive is called {}{}", quote(t.text), did_you_mean(t.text, kDirectives)));
  }

  void arch_directive() {
    const Token t = line_.next();
    const std::optional<Arch> arch = parse_enum<Arch>(kArchNames, t.text);
    if (!arch) {
      arch_missing_ = true;
      fail_column(t.column,
                  fmt::format("no architecture is called {}; there are {}", quote(t.text), arch_names(kAllArchs)));
    }
    expect_end();
    if (arch_ && *arch_ != *arch) {
      fail_column(t.column, fmt::format("the architecture is {} already", name(*arch_)));
    }
    arch_ = arch;
  }

  // .const NAME = expression, .alias NAME = Xn
  void define(bool alias) {
    const Token t = line_.next();
    if (t.kind != Token::Kind::name) fail_column(t.column, "a name is missing");
    check_length(t);
    if (is_reserved(t.text)) fail_column(t.column, fmt::format("{} is a name of the language", quote(t.text)));
    if (const Symbol* old = symbols_.find(t.text)) {
      fail_column(t.column, fmt::format("{} is already defined in line {}", quote(t.text), old->line));
    }
    Symbol symbol{alias ? Symbol::Kind::reg : Symbol::Kind::constant, {}, line_number_};
    try {
      if (!line_.accept("=")) fail_column(line_.peek().column, "'=' is missing");
      if (alias) {
        const Token value = line_.next();
        const std::optional<u32> number = register_of(value);
        if (!number)
          fail_column(value.column, fmt::format("{} is no register; there are X0 to X31", quote(value.text)));
        symbol.value.number = *number;
      } else {
        symbol.value = evaluate(line_, symbols_);
      }
      expect_end();
    } catch (const LineError&) {
      symbols_.define(t.text, {Symbol::Kind::broken, {}, line_number_});
      throw;
    }
    symbols_.define(t.text, symbol);
  }

  // --- loops ---

  // .rept count
  void begin_loop(const Token& t) {
    // What follows is read as if this one were right.
    open_.push_back({static_cast<u32>(program_.loops.size()), line_number_, position_, problems_.size()});
    program_.loops.push_back({static_cast<u32>(program_.code.size()), 0, 1});
    const usize column = line_.peek().column;
    const Wide count = evaluate(line_, symbols_).number;
    expect_end();
    if (count < 1 || count > Wide{~u32{0}}) fail_column(column, fmt::format("a loop has 1 to {} turns", ~u32{0}));
    program_.loops.back().count = static_cast<u32>(count);
    if (open_.size() > kMaxLoopDepth)
      fail_column(t.column, fmt::format("loops are nested more than {} deep", kMaxLoopDepth));
  }

  void end_loop(const Token& t) {
    expect_end();
    if (open_.empty()) fail_column(t.column, ".endr without .rept");
    const OpenLoop ended = open_.back();
    open_.pop_back();
    Loop& loop = program_.loops[ended.loop];
    loop.length = static_cast<u32>(program_.code.size()) - loop.first;
    if (loop.length == 0) {
      if (problems_.size() > ended.problems) return;  // in the lines of its instructions
      fail_column(t.column, "there is no instruction in this loop");
    }
    const Wide after = ended.begin + Wide{position_ - ended.begin} * loop.count;
    if (after > Wide{kMaxPositions}) too_many_positions(t);
    position_ = static_cast<u64>(after);
  }

  [[noreturn]] static void too_many_positions(const Token& t) {
    fail_column(t.column,
                fmt::format("with the turns of its loops the program has more than {} instructions", kMaxPositions));
  }

  // `by` and what an operand grows by in each turn of the loops around it, the innermost first.
  void strides(const Row& row, usize f, const Operand& operand) {
    const FieldInfo& field = row.fields[f];
    const auto first = static_cast<std::ptrdiff_t>(program_.strides.size());
    const usize column = line_.peek().column;
    for (usize level = 1; line_.peek().kind == Token::Kind::name && line_.peek().text == "by"; ++level) {
      const Token t = line_.next();
      const Wide by = evaluate(line_, symbols_).number;
      if (level > open_.size()) {
        fail_column(t.column, fmt::format("{}: '{}' has more strides than there are loops around the instruction",
                                          row.name, field.name));
      }
      if (by == 0) continue;
      program_.strides.push_back({static_cast<u32>(program_.code.size()), open_[open_.size() - level].loop,
                                  static_cast<u8>(f), static_cast<u64>(by)});
    }
    const std::span<const Stride> own(program_.strides.begin() + first, program_.strides.end());
    if (!fits_always(field, operand.value, own, program_.loops)) {
      fail_column(column, fmt::format("{}: '{}' does not fit its {} bits in all turns of its loops", row.name,
                                      field.name, field.width));
    }
  }

  // --- instructions ---

  void instruction(const Token& t) {
    const usize dot = t.text.find('.');
    const std::string_view mnemonic = t.text.substr(0, dot);
    const auto it = rows_.find(mnemonic);
    const Row& row = it != rows_.end() ? *it->second : at(t.column, [&]() -> const Row& { return find_row(mnemonic); });
    if (!arch_) {
      if (arch_missing_) return;  // reported once
      arch_missing_ = true;
      fail_column(t.column, fmt::format("the architecture is not known here; write '.arch <name>' before ({})",
                                        arch_names(kAllArchs)));
    }
    at(t.column, [&] { check_arch(row, *arch_); });
    Inst inst{.row = &row};
    const bool typed = dot != std::string_view::npos;
    const std::optional<std::string_view> type = typed ? std::optional(t.text.substr(dot + 1)) : std::nullopt;
    inst.type = at(typed ? t.column + dot + 1 : t.column, [&] { return find_type(row, type, *arch_); });
    const usize before = program_.strides.size();
    operands(inst);
    std::sort(
        program_.strides.begin() + static_cast<std::ptrdiff_t>(before), program_.strides.end(),
        [](const Stride& a, const Stride& b) { return std::tuple(a.loop, a.field) < std::tuple(b.loop, b.field); });
    if (program_.code.size() == kMaxProgramLength) {
      stopped_ = true;  // every further instruction would be the same error
      fail_column(t.column, fmt::format("a program has at most {} instructions", kMaxProgramLength));
    }
    if (position_ == kMaxPositions) {
      stopped_ = true;
      too_many_positions(t);
    }
    // After an error only the numbering of instructions matters.
    program_.code.push_back(broken_ ? Word{} : encode(inst));
    program_.lines.push_back(line_number_);
    ++position_;
  }

  void operands(Inst& inst) {
    const Row& row = *inst.row;
    std::array<bool, kMaxOperands> given{};
    bool named = false;
    usize position = 0;
    if (!line_.at_end()) {
      do {
        const Token start = line_.peek();
        usize f = position;
        if (start.kind == Token::Kind::name && line_.peek(1).is("=")) {
          named = true;
          f = field_called(row, start);
          if (given[f]) fail_column(start.column, fmt::format("{}: {} is given twice", row.name, start.text));
          line_.next();
          line_.next();
        } else if (named) {
          fail_column(start.column,
                      fmt::format("{}: an operand without a name cannot follow one with a name", row.name));
        } else if (position == row.fields.size()) {
          fail_column(start.column, fmt::format("{} has {} operand{}, this is one more", row.name, position,
                                                position == 1 ? "" : "s"));
        } else {
          ++position;
        }
        inst.operands[f] = operand(row, f);
        given[f] = true;
      } while (line_.accept(","));
      const Token& t = line_.peek();
      if (t.kind != Token::Kind::end) {
        fail_column(t.column, fmt::format("{} is not expected here; operands are separated by ','", quote(t.text)));
      }
    }
    for (usize f = 0; f < row.fields.size(); ++f) {
      if (given[f]) continue;
      const FieldInfo& field = row.fields[f];
      if (!field.optional) {
        fail_column(line_.peek().column, fmt::format("{}: operand {} ('{}') is missing", row.name, f + 1, field.name));
      }
      inst.operands[f] = {false, field.fallback};
    }
  }

  static usize field_called(const Row& row, const Token& t) {
    std::vector<std::string_view> names;
    for (usize f = 0; f < row.fields.size(); ++f) {
      if (row.fields[f].name == t.text) return f;
      names.push_back(row.fields[f].name);
    }
    fail_column(t.column, fmt::format("{} has no operand {}{}", row.name, quote(t.text), did_you_mean(t.text, names)));
  }

  Operand operand(const Row& row, usize f) {
    const Operand out = value(row, f);
    const OperandKind kind = row.fields[f].kind;
    if (!out.is_reg && (kind == OperandKind::value || kind == OperandKind::event)) strides(row, f, out);
    return out;
  }

  Operand value(const Row& row, usize f) {
    const FieldInfo& field = row.fields[f];
    const Token& t = line_.peek();
    if (t.kind == Token::Kind::end || t.is(",")) {
      fail_column(t.column, fmt::format("{}: the value of '{}' is missing", row.name, field.name));
    }
    switch (field.kind) {
      case OperandKind::pipe: return pipe_operand(row, field);
      case OperandKind::label: return label_operand(row, f);
      case OperandKind::reg_dst: return register_operand(row, field);
      case OperandKind::event:
        if (t.kind == Token::Kind::name && t.text.starts_with(kEventPrefix)) return event_operand(row, field);
        break;
      case OperandKind::value: break;
    }
    if (const std::optional<u32> number = register_of(t)) {
      line_.next();
      return {true, *number};
    }
    const usize column = t.column;
    return {false, number(row, field, column)};
  }

  // X5, or an alias of a register.
  std::optional<u32> register_of(const Token& t) const {
    if (t.kind != Token::Kind::name) return std::nullopt;
    if (const std::optional<u32> number = parse_register(t.text)) return number;
    const Symbol* s = symbols_.find(t.text);
    if (s != nullptr && s->kind == Symbol::Kind::broken) fail_column(t.column, {});
    if (s == nullptr || s->kind != Symbol::Kind::reg) return std::nullopt;
    return static_cast<u32>(s->value.number);
  }

  // An expression that fits the operand.
  u64 number(const Row& row, const FieldInfo& field, usize column) {
    const Wide value = evaluate(line_, symbols_).number;
    return at(column, [&] { return in_range(row, field, value); });
  }

  Operand register_operand(const Row& row, const FieldInfo& field) {
    const Token t = line_.next();
    if (const std::optional<u32> number = register_of(t)) return {true, *number};
    fail_column(t.column,
                fmt::format("{}: '{}' must be a register, X0 to X31, not {}", row.name, field.name, quote(t.text)));
  }

  Operand event_operand(const Row& row, const FieldInfo& field) {
    const Token t = line_.next();
    const std::optional<u32> number = parse_decimal(t.text.substr(kEventPrefix.size()));
    if (!number || *number >= (u64{1} << field.width)) {
      fail_column(t.column, fmt::format("{}: no event is called {}; there are EVENT_ID0 to EVENT_ID{}", row.name,
                                        quote(t.text), (u64{1} << field.width) - 1));
    }
    return {false, *number};
  }

  Operand pipe_operand(const Row& row, const FieldInfo& field) {
    const Token t = line_.next();
    if (t.kind == Token::Kind::name && t.text.starts_with(kPipePrefix)) {
      if (const auto pipe = parse_enum<PipeId>(kPipeNames, t.text.substr(kPipePrefix.size()))) {
        return {false, static_cast<u64>(*pipe)};
      }
    }
    std::vector<std::string> names;
    for (const std::string_view pipe : kPipeNames)
      names.push_back(fmt::format("{}{}", kPipePrefix, pipe));
    fail_column(t.column, fmt::format("{}: '{}' must be a pipe ({}), not {}{}", row.name, field.name,
                                      fmt::join(names, ", "), quote(t.text), did_you_mean(t.text, names)));
  }

  // A label, or the index of an instruction.
  Operand label_operand(const Row& row, usize f) {
    const Token t = line_.peek();
    if (!open_.empty()) fail_column(t.column, fmt::format("{} is inside .rept; branches cannot be repeated", row.name));
    const auto inst = static_cast<u32>(program_.code.size());
    if (t.kind == Token::Kind::name) {
      line_.next();
      references_.push_back({t.text, line_number_, t.column, inst, static_cast<u8>(f)});
      return {};
    }
    const u64 target = number(row, row.fields[f], t.column);
    targets_.push_back({{}, line_number_, t.column, static_cast<u32>(target), static_cast<u8>(f)});
    return {false, target};
  }

  void resolve_labels() {
    const u64 count = position_;
    for (const Reference& r : references_) {
      if (full()) return;
      const auto it = labels_.find(r.name);
      if (it == labels_.end()) {
        report(r.line, r.column,
               fmt::format("no label is called {}{}", quote(r.name), suggestion(r.name, label_names_)));
      } else if (it->second.index >= count && !broken_) {
        report(r.line, r.column, fmt::format("label {} is behind the last instruction", quote(r.name)));
      } else if (!broken_) {
        Inst inst = decode(program_.code[r.inst]);
        inst.operands[r.field] = {false, it->second.index};
        program_.code[r.inst] = encode(inst);
      }
    }
    for (const Reference& t : targets_) {
      if (full()) return;
      if (t.inst >= count && !broken_) {
        report(t.line, t.column, fmt::format("target {} is outside the {} instructions of the program", t.inst, count));
      }
    }
  }

  struct LabelInfo {
    u32 index;
    u32 line;
  };
  struct OpenLoop {
    u32 loop;
    u32 line;
    u64 begin;       // position
    usize problems;  // that were known where it begins
  };

  std::string_view text_;
  std::optional<Arch> arch_;
  std::unordered_map<std::string_view, const Row*> rows_;
  Line line_;
  u32 line_number_ = 0;
  Symbols symbols_;
  std::unordered_map<std::string_view, LabelInfo> labels_;
  std::vector<std::string_view> label_names_;  // in the order of the text
  std::vector<Reference> references_;
  std::vector<Reference> targets_;  // stated as numbers; `inst` is the target
  std::vector<Problem> problems_;
  std::vector<OpenLoop> open_;  // .rept without .endr so far, the outermost first
  u64 position_ = 0;            // of the next instruction
  bool broken_ = false;         // there is a problem
  bool arch_missing_ = false;
  bool stopped_ = false;
  Program program_;
};

}  // namespace
}  // namespace text

Program assemble(std::string_view text, std::string source_name, std::optional<Arch> arch) {
  return text::Assembler(text, std::move(source_name), arch).run();
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength && text::starts_name(name.front()) &&
         std::ranges::all_of(name, text::continues_name);
}

}  // namespace vinci::isa
