// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/types.h"

// One line of assembly as tokens.
namespace vinci::isa::text {

inline constexpr usize kMaxLineLength = 65536;
inline constexpr std::string_view kPipePrefix = "PIPE_";
inline constexpr std::string_view kEventPrefix = "EVENT_ID";

// What is wrong with a line, and where (columns count bytes from 1). An empty message: an earlier error caused this one
// and has been reported.
struct LineError {
  usize column = 1;
  std::string message;
  Fault fault = Fault::Input;
};
[[noreturn]] inline void fail_column(usize column, std::string message, Fault fault = Fault::Input) {
  throw LineError{column, std::move(message), fault};
}

struct Token {
  enum class Kind : u8 { end, name, number, symbol };
  Kind kind = Kind::end;
  std::string_view text;  // part of the source
  usize column = 1;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

// The tokens of one line and a reading position; the last token is always Kind::end.
class Line {
 public:
  // Throws LineError.
  void read(std::string_view line);

  const Token& peek(usize ahead = 0) const {
    const usize i = position_ + ahead;
    return i < tokens_.size() ? tokens_[i] : tokens_.back();
  }
  const Token& next() {
    const Token& t = peek();
    if (position_ + 1 < tokens_.size()) ++position_;
    return t;
  }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool accept(std::string_view symbol) {
    if (!peek().is(symbol)) return false;
    next();
    return true;
  }

 private:
  std::vector<Token> tokens_{Token{}};
  usize position_ = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}
constexpr bool continues_name(char c) { return starts_name(c) || is_digit(c); }

// Source text for a message: quoted, cut off when long, bytes that are not printable ASCII as \xNN.
std::string quote(std::string_view text);

}  // namespace vinci::isa::text
