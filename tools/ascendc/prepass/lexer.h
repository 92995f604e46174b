// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/base/types.h"

// Tokens of preprocessed C++.
namespace vinci::ascendc {

struct Token {
  enum class Kind : u8 { name, punctuation, literal };
  Kind kind = Kind::punctuation;
  usize begin = 0, end = 0;
};

inline bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<u8>(c) >= 0x80;
}
inline bool digit(char c) { return c >= '0' && c <= '9'; }

// Names, literals, and punctuation as single characters. Lines that begin with # are left out.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : s_(text) {}
  static bool in_name(char c) { return starts_name(c) || digit(c); }

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

}  // namespace vinci::ascendc
