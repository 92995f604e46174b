// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/prepass/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"
#include "tools/ascendc/prepass/lexer.h"

namespace vinci::ascendc {
namespace {

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : s_(text), tokens_(Lexer(text).run()) {}

  std::vector<std::string> kernels() const {
    std::vector<std::string> out;
    std::vector<bool> of_c;          // of the brackets that are open: whether it is that of extern "C" { }
    bool c = false, kernel = false;  // of the present declaration
    const auto hidden = [&] { return std::ranges::find(of_c, false) != of_c.end(); };
    for (usize i = 0; i < tokens_.size(); ++i) {
      if (is(i, '{')) {
        of_c.push_back(i >= 2 && text(i - 1) == "\"C\"" && text(i - 2) == "extern");
      } else if (is(i, '}') && !of_c.empty()) {
        of_c.pop_back();
      }
      if (is(i, '{') || is(i, '}') || is(i, ';')) {
        c = !of_c.empty() && !hidden();
        kernel = false;
        continue;
      }
      if (hidden()) continue;
      c = c || (text(i) == "extern" && text(i + 1) == "\"C\"");
      kernel = kernel || text(i) == "\"vinci.kernel\"";
      if (!c || !kernel || text(i) != "void" || tokens_[i].kind != Token::Kind::name || !is(i + 2, '(')) continue;
      const usize close = closing(i + 2);
      if (close == kNoToken) return out;
      usize next = close + 1;
      while (text(next) == "__attribute__" && is(next + 1, '(') && closing(next + 1) != kNoToken)
        next = closing(next + 1) + 1;
      if (is(next, '{')) out.emplace_back(text(i + 1));
      i = next - 1;
    }
    return out;
  }

  std::string run() {
    usize from = 0;
    for (usize i = 0; i < tokens_.size(); ++i) {
      if (is_launch(i)) {
        const usize first = name_before(i);
        if (tokens_[first].begin < from) fail_here(i, "a launch within the name of a launch");
        copy(from, tokens_[first].begin);
        i = launch(first, i);
        from = tokens_[i].end;
      } else if (const usize last = function_kinds(i); last != kNoToken) {
        copy(from, tokens_[i].begin);
        i = last;
        from = tokens_[i].end;
      } else if (const std::string_view kind = kind_attribute(i); !kind.empty()) {
        copy(from, tokens_[i].begin);
        out_ += "__attribute__((annotate(\"vinci.type " + std::string(kind) + "\")))";
        i += kKindAttribute;
        from = tokens_[i].end;
      } else if (is_kind_test(i)) {
        copy(from, tokens_[i].end);
        out_ += " constexpr";
        from = tokens_[i].end;
      } else if (const usize bracket = local_array(i); bracket != kNoToken) {
        const usize close = closing(bracket);
        const std::string type(s_.substr(tokens_[i].begin, tokens_[bracket - 1].begin - tokens_[i].begin));
        const std::string element(
            s_.substr(tokens_[kAddressSpace + i].end, tokens_[bracket - 1].begin - tokens_[kAddressSpace + i].end));
        copy(from, tokens_[i].begin);
        out_ += fmt::format(
            "{0}* const {1} = ({0}*)::vinci::ascendc::local_array([]() -> const void* {{ static char site; return "
            "&site; "
            "}}(), {2}, sizeof({3}) * (",
            type, text(bracket - 1), text(i + 5), element);
        copy(tokens_[bracket].end, tokens_[close].begin);
        out_ += "), ::vinci::ascendc::Place::here())";
        i = close;
        from = tokens_[close].end;
      } else if (const usize open = cast_to_memory(i); open != kNoToken) {
        // reinterpret_cast<type>(value) to ((type)(value))
        copy(from, tokens_[i].begin);
        const usize type_end = open - 1;
        out_ += "((";
        copy(tokens_[i + 1].end, tokens_[type_end].begin);
        out_ += ")";
        closing_casts_.push_back(closing(open));
        from = tokens_[open].begin;
        i = type_end;
      } else if (!closing_casts_.empty() && std::ranges::find(closing_casts_, i) != closing_casts_.end()) {
        std::erase(closing_casts_, i);
        copy(from, tokens_[i].end);
        out_ += ")";
        from = tokens_[i].end;
      }
    }
    copy(from, s_.size());
    return std::move(out_);
  }

 private:
  static constexpr usize kNoToken = ~usize{0};

  std::string_view text(usize i) const {
    return i < tokens_.size() ? s_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin) : std::string_view();
  }
  bool is(usize i, char c) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::punctuation && s_[tokens_[i].begin] == c;
  }
  bool triple(usize i, char c) const {
    return is(i, c) && is(i + 1, c) && is(i + 2, c) && tokens_[i].end == tokens_[i + 1].begin &&
           tokens_[i + 1].end == tokens_[i + 2].begin;
  }
  // "<<<" after a name or template arguments, which no expression has.
  bool is_launch(usize i) const {
    return triple(i, '<') && i > 0 && (tokens_[i - 1].kind == Token::Kind::name || is(i - 1, '>'));
  }
  void copy(usize from, usize to) { out_ += s_.substr(from, to - from); }

  [[noreturn]] void fail_here(usize i, std::string_view what) const {
    const auto line = 1 + std::count(s_.begin(), s_.begin() + static_cast<std::ptrdiff_t>(tokens_[i].begin), '\n');
    fail(Fault::Input, "line {} of the preprocessed text: {}", line, what);
  }

  // The token that closes the bracket at i; none where another kind of bracket does.
  usize closing(usize i) const {
    int depth = 0;
    for (usize k = i; k < tokens_.size(); ++k) {
      if (is(k, '(') || is(k, '[') || is(k, '{')) ++depth;
      if ((is(k, ')') || is(k, ']') || is(k, '}')) && --depth == 0) {
        const char want = is(i, '(') ? ')' : is(i, '[') ? ']' : '}';
        return is(k, want) ? k : kNoToken;
      }
    }
    return kNoToken;
  }

  // The last token of [aicore], [host] or [host, aicore], which begins at i: the kinds of processors of a function.
  usize function_kinds(usize i) const {
    if (!is(i, '[')) return kNoToken;
    bool aicore = false;
    for (usize k = i + 1; text(k) == "aicore" || text(k) == "host"; k += 2) {
      aicore = aicore || text(k) == "aicore";
      if (!is(k + 1, ',')) return is(k + 1, ']') && (aicore || !is_subscript(i)) ? k + 1 : kNoToken;
    }
    return kNoToken;
  }
  bool is_subscript(usize i) const {
    return i > 0 && (tokens_[i - 1].kind == Token::Kind::name || is(i - 1, ']') || is(i - 1, ')'));
  }

  // The kind of cores that __attribute__((aic)) or ((aiv)), which begins at i, states for a kernel; "" for another
  // token.
  static constexpr usize kKindAttribute = 5;  // its last token
  std::string_view kind_attribute(usize i) const {
    if (text(i) != "__attribute__" || !is(i + 1, '(') || !is(i + 2, '(') || !is(i + 4, ')')) return {};
    return text(i + 3) == "aic" ? "cube" : text(i + 3) == "aiv" ? "vector" : "";
  }

  // The `if` of `if ASCEND_IS_AIC` and the like, after preprocessing; no condition with other parts, which need not be
  // constant.
  bool is_kind_test(usize i) const {
    if (text(i) != "if" || !is(i + 1, '(') || text(i + 2) != "vinci_core_type") return false;
    const usize close = closing(i + 1);
    for (usize k = i + 3; k < close && k < tokens_.size(); ++k) {
      if (is(k, '&') || is(k, '|') || text(k) == "and" || text(k) == "or") return false;
    }
    return true;
  }

  // The "[" of the declaration of an array in a memory of the core, which begins at i with its address space. C++ has
  // such variables in no function.
  static constexpr usize kAddressSpace = 8;  // the last token of __attribute__((address_space(N)))
  usize local_array(usize i) const {
    if (text(i) != "__attribute__" || text(i + 3) != "address_space" || !is(i + kAddressSpace, ')')) return kNoToken;
    if (i == 0 || !(is(i - 1, ';') || is(i - 1, '{') || is(i - 1, '}'))) return kNoToken;
    usize k = i + kAddressSpace + 1;
    while (k < tokens_.size() && (tokens_[k].kind == Token::Kind::name || is(k, ':') || is(k, '<') || is(k, '>') ||
                                  is(k, ',') || tokens_[k].kind == Token::Kind::literal))
      ++k;
    if (!is(k, '[') || k < i + kAddressSpace + 3 || tokens_[k - 1].kind != Token::Kind::name) return kNoToken;
    const usize close = closing(k);
    return close != kNoToken && close > k + 1 && is(close + 1, ';') ? k : kNoToken;
  }

  // The "(" of a reinterpret_cast to a pointer to an address space; it cannot change that space, a cast in the style of
  // C can.
  usize cast_to_memory(usize i) const {
    if (text(i) != "reinterpret_cast" || !is(i + 1, '<')) return kNoToken;
    const usize end = end_of_template(i + 1, tokens_.size());
    if (end == kNoToken || end == i + 1 || !is(end + 1, '(') || closing(end + 1) == kNoToken) return kNoToken;
    for (usize k = i + 2; k < end; ++k) {
      if (text(k) == "address_space") return end + 1;
    }
    return kNoToken;
  }

  // The first token of what is launched: a qualified name, with or without template arguments, that ends before i.
  usize name_before(usize i) const {
    usize k = i - 1;
    if (is(k, '>')) {
      int depth = 0, brackets = 0;
      for (;; --k) {
        if (is(k, ')') || is(k, ']') || is(k, '}')) ++brackets;
        if (is(k, '(') || is(k, '[') || is(k, '{')) --brackets;
        if (brackets == 0 && is(k, '>') && !(k > 0 && is(k - 1, '-'))) ++depth;
        if (brackets == 0 && is(k, '<') && --depth == 0) break;
        if (k == 0) fail_here(i, "no name before the launch");
      }
      if (k == 0) fail_here(i, "no name before the launch");
      --k;
    }
    if (tokens_[k].kind != Token::Kind::name) fail_here(i, "no name before the launch");
    while (k >= 3 && is(k - 1, ':') && is(k - 2, ':') && tokens_[k - 3].kind == Token::Kind::name)
      k -= 3;
    if (k >= 2 && is(k - 1, ':') && is(k - 2, ':')) k -= 2;
    return k;
  }

  // The arguments of a launch; `typed` if each has a type of its own, so that a function template can take them.
  struct Arguments {
    std::string list;
    bool typed = true;
  };
  Arguments arguments_in(usize open, usize close) const {
    Arguments out;
    for (usize k = open + 1; k < close; ++k) {
      out.typed = out.typed && !is(k, '{');
      if (is(k, '(') || is(k, '[')) k = closing(k);
      if (k == kNoToken) break;
    }
    usize from = tokens_[open].end;
    for (usize k = open + 1; k < close; ++k) {
      if (text(k) != "__null" && text(k) != "NULL") continue;
      out.list += s_.substr(from, tokens_[k].begin - from);
      out.list += "nullptr";
      from = tokens_[k].end;
    }
    out.list += s_.substr(from, tokens_[close].begin - from);
    return out;
  }
  // The last token of template arguments that begin at i; i itself if it is a comparison.
  usize end_of_template(usize i, usize end) const {
    usize depth = 0;
    for (usize k = i; k < end; ++k) {
      if (is(k, '(') || is(k, '[') || is(k, '{')) k = closing(k);
      if (k == kNoToken) return kNoToken;
      if (is(k, '<')) ++depth;
      if (is(k, '>') && --depth == 0) return k;
    }
    return i;
  }

  // Writes the call in place of the launch whose name begins at `first` and whose "<<<" is at `open`; returns the last
  // token of it.
  usize launch(usize first, usize open) {
    usize close = open + 3, depth = 0;
    std::vector<usize> commas;
    for (; close < tokens_.size() && !(depth == 0 && triple(close, '>')); ++close) {
      if (is(close, '(') || is(close, '[') || is(close, '{')) ++depth;
      if (is(close, ')') || is(close, ']') || is(close, '}')) --depth;
      if (depth == 0 && is(close, ',')) commas.push_back(close);
    }
    const usize last = close < tokens_.size() && is(close + 3, '(') ? closing(close + 3) : kNoToken;
    if (last == kNoToken) fail_here(open, "a launch is not closed: name<<<blocks, l2, stream>>>(arguments)");
    // Template arguments have commas, too: the last two are those of the launch.
    const usize end_of_blocks = commas.size() >= 2 ? commas[commas.size() - 2] : commas.empty() ? close : commas[0];
    const auto part = [&](usize from, usize to) { return std::string(s_.substr(from, to - from)); };
    const std::string blocks = part(tokens_[open + 2].end, tokens_[end_of_blocks].begin);
    const std::string stream =
        commas.size() >= 2 ? part(tokens_[commas.back()].end, tokens_[close].begin) : std::string("nullptr");
    const Arguments arguments = arguments_in(close + 3, last);
    const std::string kernel = part(tokens_[first].begin, tokens_[open].begin);
    std::string_view name;  // without qualification and template arguments
    for (usize k = first; k < open && (tokens_[k].kind == Token::Kind::name || is(k, ':')); ++k) {
      if (tokens_[k].kind == Token::Kind::name) name = text(k);
    }
    const std::string what = "({\"" + std::string(name) +
                             "\", ::vinci::ascendc::KernelType::declared, static_cast<::std::uint32_t>(" + blocks +
                             "), (void*)(" + stream + "), ::vinci::ascendc::Place::here()}, ";
    const std::string rest =
        arguments.list.find_first_not_of(" \t\n") == std::string::npos ? "" : ", " + arguments.list;
    const std::string one_line = without_newlines(kernel);
    std::string made = arguments.typed
                           ? "::vinci::ascendc::launch" + what + "[](auto... vinci_a) -> decltype(" + one_line +
                                 "(vinci_a...)) { return " + one_line + "(vinci_a...); }" + rest + ")"
                           : "::vinci::ascendc::run" + what + "[&] { " + one_line + "(" + arguments.list + "); })";
    const auto lines = [](std::string_view t) { return std::count(t.begin(), t.end(), '\n'); };
    const auto before = lines(s_.substr(tokens_[first].begin, tokens_[last].end - tokens_[first].begin));
    made.append(static_cast<usize>(std::max<std::ptrdiff_t>(0, before - lines(made))), '\n');
    out_ += made;
    return last;
  }

  static std::string without_newlines(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
  }

  std::string_view s_;
  std::vector<Token> tokens_;
  std::vector<usize> closing_casts_;  // the ")" of casts that are rewritten
  std::string out_;
};

}  // namespace

std::string rewrite_launches(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }
std::vector<std::string> kernels_of_c(std::string_view preprocessed) { return Rewriter(preprocessed).kernels(); }

}  // namespace vinci::ascendc
