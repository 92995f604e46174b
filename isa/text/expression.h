// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/text/lexer.h"

// Constant expressions.
namespace vinci::isa::text {

// Wide enough that every operator on 64-bit values can be computed first and checked afterwards.
__extension__ typedef __int128 Wide;

// A constant: an integer from -2^63 to 2^64-1, or the bits of a floating literal, which only a sign may change.
struct Value {
  enum class Kind : u8 { integer, f16, f32 };
  Kind kind = Kind::integer;
  Wide number = 0;
};

// A name that the text defined with .const or .alias. Keys of the table are parts of the source text.
struct Symbol {
  enum class Kind : u8 { constant, reg, broken };  // broken: its definition has been reported
  Kind kind = Kind::constant;
  Value value;  // of a constant; the number of a register
  u32 line = 0;
};

class Symbols {
 public:
  const Symbol* find(std::string_view name) const {
    const auto it = table_.find(name);
    return it == table_.end() ? nullptr : &it->second;
  }
  void define(std::string_view name, const Symbol& symbol) {
    if (table_.emplace(name, symbol).second) names_.push_back(name);
  }
  const std::vector<std::string_view>& names() const { return names_; }  // in the order of the text

 private:
  std::unordered_map<std::string_view, Symbol> table_;
  std::vector<std::string_view> names_;
};

// Reads one expression from `line`. Throws LineError.
Value evaluate(Line& line, const Symbols& symbols);

// Digits only, 32 bits.
std::optional<u32> parse_decimal(std::string_view digits);

// The number of a register: X0 to X31, spelled in one way only.
std::optional<u32> parse_register(std::string_view name);

// "; did you mean" over a list that a text can make long: only its first few thousand names are compared.
std::string suggestion(std::string_view wrong, const std::vector<std::string_view>& names);

}  // namespace vinci::isa::text
