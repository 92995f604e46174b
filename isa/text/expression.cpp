// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/text/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <span>

#include "isa/base/suggest.h"
#include "isa/numeric/float16.h"
#include "isa/text/text.h"

namespace vinci::isa::text {
namespace {

constexpr Wide kLowest = std::numeric_limits<i64>::min();
constexpr Wide kHighest = std::numeric_limits<u64>::max();

Wide check_range(Wide v, usize column) {
  if (v < kLowest || v > kHighest) fail_column(column, "the value does not fit 64 bits");
  return v;
}

Value parse_integer(std::string_view digits, int base, const Token& t) {
  std::string plain;  // without '_' between digits
  for (usize i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') {
      plain += digits[i];
    } else if (i == 0 || i + 1 == digits.size()) {
      fail_column(t.column, fmt::format("cannot read the number {}", quote(t.text)));
    }
  }
  u64 v = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), v, base);
  if (error == std::errc::result_out_of_range && end == plain.data() + plain.size()) {
    fail_column(t.column, fmt::format("{} does not fit 64 bits", quote(t.text)));
  }
  if (error != std::errc{} || end != plain.data() + plain.size()) {
    fail_column(t.column, fmt::format("cannot read the number {}", quote(t.text)));
  }
  return {.number = v};
}

u16 f16_bits(double v, const Token& t) {
  const RoundedF16 r = round_f64_to_f16(std::bit_cast<u64>(v));
  if (r.overflow) fail_column(t.column, fmt::format("{} is beyond the largest f16, 65504", quote(t.text)));
  if (r.underflow) fail_column(t.column, fmt::format("{} rounds to zero in f16", quote(t.text)));
  return r.bits;
}

// 1.5h and 1.5f; the literal is rounded to the nearest value of the type (f16 by way of f64), ties to even.
Value parse_floating(const Token& t) {
  const char suffix = t.text.back();
  const std::string_view digits = t.text.substr(0, t.text.size() - 1);
  const char* const first = digits.data();
  const char* const last = first + digits.size();
  const auto read = [&](auto& v) {
    const auto [end, error] = std::from_chars(first, last, v);
    if (end != last || error == std::errc::invalid_argument) {
      fail_column(t.column, fmt::format("cannot read the number {}", quote(t.text)));
    }
    if (error != std::errc{}) fail_column(t.column, fmt::format("{} is beyond the range of its type", quote(t.text)));
  };
  if (suffix == 'h') {
    double v = 0;
    read(v);
    return {.kind = Value::Kind::f16, .number = f16_bits(v, t)};
  }
  float v = 0;
  read(v);
  return {.kind = Value::Kind::f32, .number = std::bit_cast<u32>(v)};
}

Value parse_number(const Token& t) {
  const std::string_view s = t.text;
  if (s.size() > 2 && s[0] == '0') {
    if (s[1] == 'x' || s[1] == 'X') return parse_integer(s.substr(2), 16, t);
    if (s[1] == 'b' || s[1] == 'B') return parse_integer(s.substr(2), 2, t);
    if (s[1] == 'o' || s[1] == 'O') return parse_integer(s.substr(2), 8, t);
  }
  if (s.back() == 'h' || s.back() == 'f') return parse_floating(t);
  if (s.find_first_of(".eE") != std::string_view::npos) {
    fail_column(t.column,
                fmt::format("{} needs a suffix that says which bits it means: h for f16, f for f32", quote(s)));
  }
  if (s.size() > 1 && s[0] == '0') {
    fail_column(t.column, fmt::format("{} starts with 0; octal numbers are written 0o17", quote(s)));
  }
  return parse_integer(s, 10, t);
}

struct Operator {
  std::string_view symbol;
  int precedence;  // higher binds tighter, as in C
};
constexpr std::array<Operator, 10> kOperators{
    {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4}, {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6}, {"%", 6}}};

const Operator* operator_of(const Token& t) {
  if (t.kind != Token::Kind::symbol) return nullptr;
  for (const Operator& o : kOperators) {
    if (o.symbol == t.text) return &o;
  }
  return nullptr;
}

// Bits beyond 64 that only sign extension made are dropped.
Wide bitwise(Wide v) { return v < kLowest || v > kHighest ? static_cast<Wide>(static_cast<u64>(v)) : v; }

Wide apply(const Token& op, Wide a, Wide b) {
  const usize at = op.column;
  switch (op.text.front()) {
    case '|': return bitwise(a | b);
    case '^': return bitwise(a ^ b);
    case '&': return bitwise(a & b);
    case '<':
    case '>':
      if (b < 0 || b > 63) fail_column(at, "the shift count is not in [0, 63]");
      return op.text.front() == '<' ? check_range(a * (Wide{1} << static_cast<int>(b)), at) : a >> static_cast<int>(b);
    case '+': return check_range(a + b, at);
    case '-': return check_range(a - b, at);
    case '*': {
      Wide product = 0;
      if (__builtin_mul_overflow(a, b, &product)) fail_column(at, "the value does not fit 64 bits");
      return check_range(product, at);
    }
    default:
      if (b == 0) fail_column(at, "division by zero");
      return check_range(op.text.front() == '/' ? a / b : a % b, at);
  }
}

// Precedence climbing; depth counts nested calls, so that no text can exhaust the stack.
class Evaluator {
 public:
  Evaluator(Line& line, const Symbols& symbols) : line_(line), symbols_(symbols) {}

  Value expression(int min_precedence, usize depth) {
    if (depth > kMaxExpressionDepth) {
      fail_column(line_.peek().column, fmt::format("the expression is nested deeper than {}", kMaxExpressionDepth));
    }
    Value left = unary(depth);
    while (const Operator* op = operator_of(line_.peek())) {
      if (op->precedence < min_precedence) break;
      const Token at = line_.next();
      const Value right = expression(op->precedence + 1, depth + 1);
      if (left.kind != Value::Kind::integer || right.kind != Value::Kind::integer) {
        fail_column(at.column, fmt::format("floating literals cannot be computed with ({})", quote(at.text)));
      }
      left.number = apply(at, left.number, right.number);
    }
    return left;
  }

 private:
  Value unary(usize depth) {
    const Token& sign = line_.peek();
    if (!sign.is("-") && !sign.is("+") && !sign.is("~")) return primary(depth);
    if (depth > kMaxExpressionDepth) {
      fail_column(sign.column, fmt::format("the expression is nested deeper than {}", kMaxExpressionDepth));
    }
    const Token op = line_.next();
    Value v = unary(depth + 1);
    if (v.kind == Value::Kind::integer) {
      if (op.is("-")) v.number = check_range(-v.number, op.column);
      if (op.is("~")) v.number = bitwise(~v.number);
    } else if (op.is("-")) {
      v.number ^= Wide{1} << (v.kind == Value::Kind::f16 ? 15 : 31);
    } else if (op.is("~")) {
      fail_column(op.column, "floating literals cannot be computed with ('~')");
    }
    return v;
  }

  Value primary(usize depth) {
    const Token t = line_.next();
    if (t.kind == Token::Kind::number) return parse_number(t);
    if (t.is("(")) {
      const Value v = expression(0, depth + 1);
      if (!line_.accept(")"))
        fail_column(line_.peek().column, fmt::format("')' is missing for the '(' in column {}", t.column));
      return v;
    }
    if (t.kind == Token::Kind::name) return constant(t);
    if (t.kind == Token::Kind::end) fail_column(t.column, "a value is missing");
    fail_column(t.column, fmt::format("a value cannot start with {}", quote(t.text)));
  }

  Value constant(const Token& t) {
    const Symbol* s = symbols_.find(t.text);
    if (s == nullptr && parse_register(t.text)) fail_register(t);
    if (s == nullptr && (t.text.front() == 'X' || t.text.front() == 'x') && parse_decimal(t.text.substr(1))) {
      fail_column(t.column, fmt::format("{} is no register; there are X0 to X31", quote(t.text)));
    }
    if (s == nullptr) {
      fail_column(t.column,
                  fmt::format("no constant is called {}{}", quote(t.text), suggestion(t.text, symbols_.names())));
    }
    if (s->kind == Symbol::Kind::broken) fail_column(t.column, {});
    if (s->kind == Symbol::Kind::reg) fail_register(t);
    return s->value;
  }

  [[noreturn]] static void fail_register(const Token& t) {
    fail_column(t.column, fmt::format("{} is a register; registers cannot be part of an expression", quote(t.text)));
  }

  Line& line_;
  const Symbols& symbols_;
};

}  // namespace

Value evaluate(Line& line, const Symbols& symbols) { return Evaluator(line, symbols).expression(0, 0); }

std::optional<u32> parse_decimal(std::string_view digits) {
  u32 v = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return v;
}

std::optional<u32> parse_register(std::string_view name) {
  if (name.size() < 2 || name.size() > 3 || name[0] != 'X' || (name.size() == 3 && name[1] == '0')) return std::nullopt;
  const std::optional<u32> number = parse_decimal(name.substr(1));
  return number && *number < kRegisterCount ? number : std::nullopt;
}

std::string suggestion(std::string_view wrong, const std::vector<std::string_view>& names) {
  constexpr usize kCompared = 4096;
  return did_you_mean(wrong, std::span(names).first(std::min(names.size(), kCompared)));
}

}  // namespace vinci::isa::text
