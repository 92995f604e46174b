// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/prepass/tiling_structs.h"

#include <algorithm>
#include <array>

#include "isa/base/error.h"
#include "tools/ascendc/prepass/lexer.h"

namespace vinci::ascendc {

class TilingStructs::Reader {
 public:
  Reader(std::string_view text, TilingStructs& out) : s_(text), tokens_(Lexer(text).run()), out_(out) {}

  void run() {
    std::vector<Field>* current = nullptr;
    std::string name;
    for (usize i = 0; i < tokens_.size(); ++i) {
      const std::string_view word = text(i);
      if (word == "const" || word == "constexpr") {
        constant(i);
      } else if (word == "BEGIN_TILING_DATA_DEF") {
        name = joined(arguments(i)[0]);
        current = out_.structs_.contains(name) ? nullptr : &out_.structs_[name];
      } else if (word == "END_TILING_DATA_DEF") {
        current = nullptr;
        name.clear();
      } else if (word == "REGISTER_TILING_DATA_CLASS") {
        const auto a = arguments(i);
        if (a.size() == 2) out_.registered_.emplace(joined(a[0]), unqualified(joined(a[1])));
      } else if (word.starts_with("TILING_DATA_FIELD_DEF") && current != nullptr) {
        field(i, *current);
      }
    }
    if (!name.empty()) fail(Fault::Input, "the definition of tiling data {} is not closed", name);
  }

 private:
  using Range = std::pair<usize, usize>;  // tokens, without the last

  std::string_view text(usize i) const {
    return i < tokens_.size() ? s_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : std::string_view();
  }
  std::string joined(Range range) const {
    std::string out;
    for (usize i = range.first; i < range.second; ++i) {
      const bool names = !out.empty() && Lexer::in_name(out.back()) && Lexer::in_name(text(i)[0]);
      out += (names ? " " : "") + std::string(text(i));
    }
    return out;
  }
  std::vector<std::string> names(Range range) const {
    std::vector<std::string> out;
    for (usize i = range.first; i < range.second; ++i) {
      if (tokens_[i].kind == Token::Kind::name) out.emplace_back(text(i));
    }
    return out;
  }
  // Host code names its structs as members of optiling; those for the kernel are in the global namespace.
  static std::string unqualified(const std::string& name) {
    constexpr std::string_view kNamespace = "optiling::";
    return name.starts_with(kNamespace) ? name.substr(kNamespace.size()) : name;
  }

  // The arguments of the macro at i; moves i to the ")".
  std::vector<Range> arguments(usize& i) const {
    const std::string macro(text(i));
    std::vector<Range> out;
    usize depth = 0, from = i + 2;
    for (usize k = i + 1; k < tokens_.size(); ++k) {
      const std::string_view t = text(k);
      if (t == "(" || t == "<" || t == "[" || t == "{") ++depth;
      const bool closes = t == ")" || t == ">" || t == "]" || t == "}";
      if ((t == "," && depth == 1) || (closes && depth == 1)) {
        out.emplace_back(from, k);
        from = k + 1;
      }
      if (closes && --depth == 0) {
        i = k;
        return out;
      }
      if (depth == 0) break;
    }
    fail(Fault::Input, "{} without its arguments", macro);
  }

  void field(usize& i, std::vector<Field>& out) const {
    const std::string_view macro = text(i);
    const auto a = arguments(i);
    const bool array = macro == "TILING_DATA_FIELD_DEF_ARR";
    if (a.size() < (array ? 3U : 2U)) fail(Fault::Input, "{} takes a type and a name", macro);
    Field made{unqualified(joined(a[0])), joined(a[array ? 2 : 1]), "", {}};
    if (array) {
      made.size = joined(a[1]);
      made.constants = names(a[1]);
    }
    out.push_back(made);
  }

  // const T name = value;  and with braces
  void constant(usize i) const {
    usize k = i + 1;
    while (k < tokens_.size() && (tokens_[k].kind == Token::Kind::name || text(k) == ":"))
      ++k;
    if (k < i + 3 || (text(k) != "=" && text(k) != "{")) return;
    const char close = text(k) == "=" ? ';' : '}';
    usize end = k + 1;
    while (end < tokens_.size() && text(end)[0] != close && text(end) != "{" && text(end) != ";")
      ++end;
    if (end == k + 1 || text(end)[0] != close) return;
    out_.constants_.emplace(std::string(text(k - 1)), Constant{joined({k + 1, end}), names({k + 1, end})});
  }

  std::string_view s_;
  std::vector<Token> tokens_;
  TilingStructs& out_;
};

TilingStructs::TilingStructs(std::string_view text) { Reader(text, *this).run(); }

std::map<std::string, std::string> TilingStructs::of(const std::string& op) const {
  std::map<std::string, std::string> out;
  for (const auto& [name, type] : registered_) {
    const bool keyed = name.starts_with(op + "_") && name.size() > op.size() + 1 && digit(name[op.size() + 1]);
    if (name == op || keyed) out.emplace(name, type);
  }
  return out;
}

std::string TilingStructs::declare(const std::vector<std::string>& names) const {
  // In a namespace of their own, as kernels have constants of the same names.
  std::string out = "namespace vinci_tiling {\n";
  std::vector<std::string> done;
  for (const std::string& name : names)
    add(name, done, out);
  out += "}\n";
  for (const std::string& name : done) {
    if (structs_.contains(name)) out += "using vinci_tiling::" + name + ";\n";
  }
  return out;
}

void TilingStructs::add_constants(const std::vector<std::string>& names, std::vector<std::string>& done,
                                  std::string& out) const {
  for (const std::string& name : names) {
    const auto found = constants_.find(name);
    if (found == constants_.end() || std::ranges::find(done, name) != done.end()) continue;
    done.push_back(name);
    add_constants(found->second.names, done, out);
    out += "constexpr auto " + name + " = " + found->second.value + ";\n";
  }
}

void TilingStructs::add(const std::string& name, std::vector<std::string>& done, std::string& out) const {
  const auto found = structs_.find(name);
  if (found == structs_.end() || std::ranges::find(done, name) != done.end()) return;
  done.push_back(name);
  std::string body;
  for (const Field& field : found->second) {
    add(field.type, done, out);
    add_constants(field.constants, done, out);
    body += "  " + field.type + " " + field.name + (field.size.empty() ? "" : "[" + field.size + "]") + ";\n";
  }
  // Of multiples of 8 bytes, as the host's structs are, which tiling functions check.
  out += "struct alignas(8) " + name + " {\n" + body + "};\n";
}

}  // namespace vinci::ascendc
