// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/prepass/launches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"

namespace vinci::ascendc {
namespace {

struct Token {
  enum class Kind : u8 { name, punctuation, literal };
  Kind kind = Kind::punctuation;
  usize begin = 0, end = 0;
};

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<u8>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

// Names, literals, and punctuation as single characters. Lines that begin with # are left out.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : s_(text) {}

  std::vector<Token> run() {
    bool line_start = true;
    while (at_ < s_.size()) {
      const char c = s_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
        ++at_;
      } else if (c == '#' && line_start) {
        at_ = std::min(s_.find('\n', at_), s_.size());
      } else {
        line_start = false;
        token(c);
      }
    }
    return std::move(out_);
  }

 private:
  void token(char c) {
    const usize begin = at_;
    if (starts_name(c)) {
      while (at_ < s_.size() && (starts_name(s_[at_]) || digit(s_[at_])))
        ++at_;
      const std::string_view name = s_.substr(begin, at_ - begin);
      if (at_ < s_.size() && s_[at_] == '"' && name.back() == 'R') {
        raw_string();
      } else {
        out_.push_back({Token::Kind::name, begin, at_});
        return;
      }
    } else if (digit(c)) {
      // Digit separators are the only quotes in a number.
      while (at_ < s_.size() && (starts_name(s_[at_]) || digit(s_[at_]) || s_[at_] == '.' || s_[at_] == '\'' ||
                                 ((s_[at_] == '+' || s_[at_] == '-') && (s_[at_ - 1] | 0x20) == 'e')))
        ++at_;
    } else if (c == '"' || c == '\'') {
      quoted(c);
    } else {
      ++at_;
      out_.push_back({Token::Kind::punctuation, begin, at_});
      return;
    }
    out_.push_back({Token::Kind::literal, begin, at_});
  }

  void quoted(char quote) {
    for (++at_; at_ < s_.size() && s_[at_] != quote && s_[at_] != '\n'; ++at_) {
      if (s_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, s_.size());
  }

  void raw_string() {
    const usize open = s_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = s_.size();
      return;
    }
    const std::string close = ")" + std::string(s_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const usize end = s_.find(close, open);
    at_ = end == std::string_view::npos ? s_.size() : end + close.size();
  }

  std::string_view s_;
  usize at_ = 0;
  std::vector<Token> out_;
};

constexpr std::string_view kGlobal = "__vinci_global__", kVector = "__vinci_vector__", kCube = "__vinci_cube__",
                           kMix = "__vinci_mix__", kTaskType = "__vinci_task_type__";

// Enumerators of vinci::ascendc::KernelType by the names of the public kernel types.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTaskTypes{{
    {"KERNEL_TYPE_AIV_ONLY", "vector"},
    {"KERNEL_TYPE_AIC_ONLY", "cube"},
    {"KERNEL_TYPE_MIX_AIV_HARD_SYNC", "mix_0_1"},
    {"KERNEL_TYPE_MIX_AIC_HARD_SYNC", "mix_1_0"},
    {"KERNEL_TYPE_MIX_AIV_1_0", "mix_0_1"},
    {"KERNEL_TYPE_MIX_AIC_1_0", "mix_1_0"},
    {"KERNEL_TYPE_MIX_AIC_1_1", "mix_1_1"},
    {"KERNEL_TYPE_MIX_AIC_1_2", "mix_1_2"},
}};

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : s_(text), tokens_(Lexer(text).run()) {}

  std::string run() {
    find_kernels();
    usize from = 0;
    for (usize i = 0; i < tokens_.size(); ++i) {
      if (is_launch(i)) {
        const usize first = name_before(i);
        if (tokens_[first].begin < from) fail_here(i, "a launch within the name of a launch");
        copy(from, tokens_[first].begin);
        i = launch(first, i);
        from = tokens_[i].end;
      } else if (const usize last = mark(i); last != kNoToken) {
        copy(from, tokens_[i].begin);
        i = last;
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

  // The last token of a mark that begins at i.
  usize mark(usize i) const {
    const std::string_view t = text(i);
    if (t == kGlobal || t == kVector || t == kCube) return i;
    if (t != kMix && t != kTaskType) return kNoToken;
    const usize close = is(i + 1, '(') ? closing(i + 1) : kNoToken;
    if (close == kNoToken) fail_here(i, "a mark of a kernel type is not closed");
    return t == kTaskType && is(close + 1, ';') ? close + 1 : close;
  }

  void find_kernels() {
    for (usize i = 0; i < tokens_.size(); ++i) {
      if (text(i) != kGlobal) continue;
      std::string_view type = "vector";
      usize name = kNoToken;
      // The marks before it belong to the same declaration.
      for (usize k = i; k-- > 0 && !is(k, ';') && !is(k, '{') && !is(k, '}');)
        type = type_of_mark(k, type);
      usize k = i + 1;
      for (; k < tokens_.size() && name == kNoToken && !is(k, ';') && !is(k, '{'); ++k) {
        type = type_of_mark(k, type);
        if (is(k, '(') && text(k - 1) == kMix) k = closing(k);
        if (k == kNoToken) return;
        if (is(k, '(') && tokens_[k - 1].kind == Token::Kind::name) name = k - 1;
      }
      if (name == kNoToken) continue;
      usize end = closing(name + 1);
      if (end != kNoToken && is(end + 1, '{')) {
        const usize close = closing(end + 1);
        for (usize b = end; b < std::min(close, tokens_.size()); ++b) {
          if (text(b) == kTaskType) type = type_of_name(text(b + 2), type);
        }
      } else if (kernels_.contains(text(name))) {
        continue;  // a declaration after its definition
      }
      kernels_[text(name)] = type;
    }
  }

  std::string_view type_of_mark(usize k, std::string_view otherwise) const {
    if (text(k) == kVector) return "vector";
    if (text(k) == kCube) return "cube";
    if (text(k) != kMix) return otherwise;
    const std::string_view cube = text(k + 2), vector = text(k + 4);
    if (cube == "0") return "mix_0_1";
    return vector == "0" ? "mix_1_0" : vector == "1" ? "mix_1_1" : "mix_1_2";
  }

  static std::string_view type_of_name(std::string_view name, std::string_view otherwise) {
    const auto it = std::ranges::find(kTaskTypes, name, &std::pair<std::string_view, std::string_view>::first);
    return it != kTaskTypes.end() ? it->second : otherwise;
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

  // What the kernel is called with on each core. An argument that may do something is evaluated once, as a capture.
  struct Arguments {
    std::string captures, list;
  };
  Arguments arguments_in(usize open, usize close) const {
    Arguments out;
    usize from = tokens_[open].end, first = open + 1, count = 0;
    const auto take = [&](usize to_token) {
      const usize to = tokens_[to_token].begin;
      const std::string text(s_.substr(from, to - from));
      if (!does_something(first, to_token)) {
        out.list += text;
      } else {
        const std::string name = "vinci_argument_" + std::to_string(count++);
        out.captures += ", " + name + " = " + text;
        out.list += name;
      }
    };
    for (usize k = open + 1; k < close; ++k) {
      if (is(k, '(') || is(k, '[') || is(k, '{')) k = closing(k);
      if (is(k, '<')) k = end_of_template(k, close);
      if (k == kNoToken) return {"", std::string(s_.substr(from, tokens_[close].begin - from))};
      if (!is(k, ',')) continue;
      take(k);
      out.list += ",";
      from = tokens_[k].end;
      first = k + 1;
    }
    take(close);
    return out;
  }
  bool does_something(usize first, usize end) const {
    bool yes = false;
    for (usize k = first; k < end; ++k) {
      if (is(k, '{')) return false;  // it has no type of its own
      yes = yes || is(k, '(') || is(k, '=') || (is(k, '+') && is(k + 1, '+')) || (is(k, '-') && is(k + 1, '-'));
    }
    return yes;
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
    const std::string call = part(tokens_[first].begin, tokens_[open].begin) +
                             part(tokens_[close + 2].end, tokens_[close + 3].begin) + "(" + arguments.list + ")";
    std::string_view name;  // without qualification and template arguments
    for (usize k = first; k < open && (tokens_[k].kind == Token::Kind::name || is(k, ':')); ++k) {
      if (tokens_[k].kind == Token::Kind::name) name = text(k);
    }
    const auto known = kernels_.find(name);
    std::string made = "::vinci::ascendc::run({\"" + std::string(name) + "\", ::vinci::ascendc::KernelType::" +
                       std::string(known != kernels_.end() ? known->second : std::string_view("vector")) +
                       ", static_cast<::std::uint32_t>(" + blocks + "), (void*)(" + stream +
                       "), ::vinci::ascendc::Place::here()}, [&" + arguments.captures + "] { " + call + "; })";
    const auto lines = [](std::string_view t) { return std::count(t.begin(), t.end(), '\n'); };
    const auto before = lines(s_.substr(tokens_[first].begin, tokens_[last].end - tokens_[first].begin));
    made.append(static_cast<usize>(std::max<std::ptrdiff_t>(0, before - lines(made))), '\n');
    out_ += made;
    return last;
  }

  std::string_view s_;
  std::vector<Token> tokens_;
  std::map<std::string_view, std::string_view> kernels_;  // type by name
  std::string out_;
};

}  // namespace

std::string rewrite_launches(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace vinci::ascendc
