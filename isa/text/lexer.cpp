// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/text/lexer.h"

#include <fmt/format.h>

namespace vinci::isa::text {
namespace {

constexpr std::string_view kSymbols = ",:=()+-*/%&|^~<>@[]{}!?'\"\\";

// The end of the number that starts at `begin`: letters belong to it (0x1f, 1.5h), and so does the sign of an exponent.
usize end_of_number(std::string_view line, usize begin) {
  const bool radix_prefix = line[begin] == '0' && begin + 1 < line.size() &&
                            std::string_view("xXbBoO").find(line[begin + 1]) != std::string_view::npos;
  usize i = begin;
  while (i < line.size()) {
    if (continues_name(line[i])) {
      ++i;
    } else if (!radix_prefix && (line[i] == '+' || line[i] == '-') && (line[i - 1] == 'e' || line[i - 1] == 'E') &&
               i + 1 < line.size() && is_digit(line[i + 1])) {
      ++i;
    } else {
      break;
    }
  }
  return i;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr usize kShown = 64;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += text.size() > kShown ? "...'" : "'";
  return out;
}

void Line::read(std::string_view line) {
  tokens_.clear();
  tokens_.push_back({});
  position_ = 0;
  if (line.size() > kMaxLineLength) {
    throw LineError{kMaxLineLength + 1, fmt::format("the line is longer than {} bytes", kMaxLineLength)};
  }
  tokens_.clear();
  usize i = 0;
  const auto add = [&](Token::Kind kind, usize end) {
    tokens_.push_back({kind, line.substr(i, end - i), i + 1});
    i = end;
  };
  while (i < line.size()) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (c == ';' || c == '#' || (c == '/' && line.substr(i, 2) == "//")) {
      break;
    } else if (starts_name(c)) {
      usize end = i + 1;
      while (end < line.size() && continues_name(line[end]))
        ++end;
      add(Token::Kind::name, end);
    } else if (is_digit(c)) {
      add(Token::Kind::number, end_of_number(line, i));
    } else if (line.substr(i, 2) == "<<" || line.substr(i, 2) == ">>") {
      add(Token::Kind::symbol, i + 2);
    } else if (kSymbols.find(c) != std::string_view::npos) {
      add(Token::Kind::symbol, i + 1);
    } else {
      const std::string_view bad = line.substr(i, 1);
      const usize column = i + 1;
      tokens_.push_back({Token::Kind::end, {}, column});
      throw LineError{column, fmt::format("unexpected character {}", quote(bad))};
    }
  }
  tokens_.push_back({Token::Kind::end, {}, i + 1});
}

}  // namespace vinci::isa::text
