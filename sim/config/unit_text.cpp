// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/unit_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

namespace vinci::config {
namespace {

// A unit that is a power of ten of the base unit. Lists start with the largest.
struct DecimalUnit {
  std::string_view name;
  int exponent;
};
constexpr std::array kHertz{DecimalUnit{"GHz", 9}, DecimalUnit{"MHz", 6}, DecimalUnit{"kHz", 3}, DecimalUnit{"Hz", 0}};
constexpr std::array kBytesPerSecond{DecimalUnit{"TB/s", 12}, DecimalUnit{"GB/s", 9}, DecimalUnit{"MB/s", 6},
                                     DecimalUnit{"kB/s", 3}, DecimalUnit{"B/s", 0}};
constexpr std::array kSeconds{DecimalUnit{"s", 0}, DecimalUnit{"ms", -3}, DecimalUnit{"us", -6}, DecimalUnit{"ns", -9},
                              DecimalUnit{"ps", -12}};
constexpr std::array kBytesPerCycle{DecimalUnit{"B/cycle", 0}};

struct BinaryUnit {
  std::string_view name;
  unsigned shift;
};
constexpr std::array kBytes{BinaryUnit{"TiB", 40}, BinaryUnit{"GiB", 30}, BinaryUnit{"MiB", 20}, BinaryUnit{"KiB", 10},
                            BinaryUnit{"B", 0}};

// A text taken apart: digits[.digits][e[sign]digits], then a unit, with at most one space between.
struct Number {
  std::string_view mantissa;
  int exponent = 0;
  bool whole = true;  // neither point nor exponent
  std::string_view unit;
};

constexpr usize kLongest = 64;  // characters of a number that is written on purpose

bool is_digit(char c) { return c >= '0' && c <= '9'; }

usize count_digits(std::string_view text) {
  usize n = 0;
  while (n < text.size() && is_digit(text[n]))
    ++n;
  return n;
}

std::optional<Number> take_apart(std::string_view text) {
  if (text.size() > kLongest) return std::nullopt;
  Number out;
  usize at = count_digits(text);
  if (at == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    const usize fraction = count_digits(text.substr(at + 1));
    if (fraction == 0) return std::nullopt;
    at += 1 + fraction;
    out.whole = false;
  }
  out.mantissa = text.substr(0, at);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    const bool negative = at < text.size() && text[at] == '-';
    if (negative) ++at;
    const usize digits = count_digits(text.substr(at));
    if (digits == 0 || digits > 4) return std::nullopt;
    std::from_chars(text.data() + at, text.data() + at + digits, out.exponent);
    if (negative) out.exponent = -out.exponent;
    at += digits;
    out.whole = false;
  }
  if (at + 1 < text.size() && text[at] == ' ') ++at;
  out.unit = text.substr(at);
  return out;
}

// mantissa * 10^exponent, rounded once.
std::optional<double> decimal(std::string_view mantissa, int exponent) {
  const std::string text = fmt::format("{}e{}", mantissa, exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
bool read_decimal(std::string_view text, std::span<const DecimalUnit> units, T& out) {
  const auto number = take_apart(text);
  if (!number) return false;
  for (const DecimalUnit& unit : units) {
    if (unit.name != number->unit) continue;
    const auto value = decimal(number->mantissa, number->exponent + unit.exponent);
    if (value) out = T{*value};
    return value.has_value();
  }
  return false;
}

// In the unit that leaves a number from 1 to 1000, or else in the one that makes the shortest text.
template <class T>
std::string write_decimal(T quantity, std::span<const DecimalUnit> units) {
  const double value = quantity;
  std::string best;
  for (const DecimalUnit& unit : units) {
    // Powers of ten are exact, tenths are not.
    const double scaled =
        unit.exponent < 0 ? value * std::pow(10.0, -unit.exponent) : value / std::pow(10.0, unit.exponent);
    // The division may round, so only a text that reads back counts, with 15 digits or with all; the base unit always
    // does.
    const auto reads_back = [&](const std::string& text) {
      T back;
      return read_decimal(text, units, back) && double{back} == value;
    };
    std::string text = fmt::format("{:.15g}{}", scaled, unit.name);
    if (!reads_back(text)) text = fmt::format("{}{}", scaled, unit.name);
    if (!reads_back(text)) continue;
    if (scaled >= 1 && scaled < 1000) return text;
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

template <class T>
bool read_whole(const std::optional<Number>& number, T& out) {
  if (!number || !number->whole) return false;
  T value{};
  const char* end = number->mantissa.data() + number->mantissa.size();
  const auto [stop, error] = std::from_chars(number->mantissa.data(), end, value);
  if (error != std::errc{} || stop != end) return false;
  out = value;
  return true;
}

bool is_cycles(std::string_view unit) { return unit.empty() || unit == "cycles"; }

}  // namespace

bool read_text(std::string_view text, Bytes& out) {
  const auto number = take_apart(text);
  if (!number) return false;
  for (const BinaryUnit& unit : kBytes) {
    if (unit.name != number->unit) continue;
    u64 whole = 0;
    if (read_whole(number, whole)) {
      if (whole > (std::numeric_limits<u64>::max() >> unit.shift)) return false;
      out = Bytes{whole << unit.shift};
      return true;
    }
    const auto value = decimal(number->mantissa, number->exponent);
    if (!value) return false;
    const double bytes = std::ldexp(*value, static_cast<int>(unit.shift));
    constexpr double kExact = 9007199254740992.0;  // 2^53: below, doubles hold every whole number
    if (bytes >= kExact || bytes != std::floor(bytes)) return false;
    out = Bytes{static_cast<u64>(bytes)};
    return true;
  }
  return false;
}

bool read_text(std::string_view text, Hertz& out) { return read_decimal(text, kHertz, out); }
bool read_text(std::string_view text, BytesPerCycle& out) { return read_decimal(text, kBytesPerCycle, out); }
bool read_text(std::string_view text, BytesPerSecond& out) { return read_decimal(text, kBytesPerSecond, out); }
bool read_text(std::string_view text, Seconds& out) { return read_decimal(text, kSeconds, out); }

bool read_text(std::string_view text, Cycles& out) {
  const auto number = take_apart(text);
  return number && is_cycles(number->unit) && read_whole(number, out.value);
}

bool read_text(std::string_view text, double& out) {
  const auto number = take_apart(text);
  if (!number || !is_cycles(number->unit)) return false;
  const auto value = decimal(number->mantissa, number->exponent);
  if (value) out = *value;
  return value.has_value();
}

bool read_text(std::string_view text, Share& out) {
  const auto number = take_apart(text);
  if (!number || !number->unit.empty()) return false;
  const auto value = decimal(number->mantissa, number->exponent);
  if (value) out = Share(*value);
  return value.has_value();
}

bool read_text(std::string_view text, u32& out) {
  const auto number = take_apart(text);
  return number && number->unit.empty() && read_whole(number, out);
}

bool read_text(std::string_view text, bool& out) {
  if (text != "true" && text != "false") return false;
  out = text == "true";
  return true;
}

std::string write_text(Bytes value) {
  const u64 bytes = value;
  for (const BinaryUnit& unit : kBytes) {
    if (bytes != 0 && bytes % (u64{1} << unit.shift) == 0) return fmt::format("{}{}", bytes >> unit.shift, unit.name);
  }
  return "0B";
}

std::string write_text(Hertz value) { return write_decimal(value, kHertz); }
std::string write_text(BytesPerCycle value) { return write_decimal(value, kBytesPerCycle); }
std::string write_text(BytesPerSecond value) { return write_decimal(value, kBytesPerSecond); }
std::string write_text(Seconds value) { return write_decimal(value, kSeconds); }
std::string write_text(Cycles value) { return fmt::format("{}", u64{value}); }
std::string write_text(Share value) { return fmt::format("{}", value.value); }
std::string write_text(double value) { return fmt::format("{}", value); }
std::string write_text(u32 value) { return fmt::format("{}", value); }
std::string write_text(bool value) { return value ? "true" : "false"; }

std::string_view how_to_write(Bytes) { return "a size in B, KiB, MiB, GiB"; }
std::string_view how_to_write(Hertz) { return "a frequency in Hz, kHz, MHz, GHz"; }
std::string_view how_to_write(BytesPerCycle) { return "a rate in B/cycle"; }
std::string_view how_to_write(BytesPerSecond) { return "a bandwidth in B/s, kB/s, MB/s, GB/s, TB/s"; }
std::string_view how_to_write(Seconds) { return "a time in s, ms, us, ns, ps"; }
std::string_view how_to_write(Share) { return "a share, such as 0.5"; }
std::string_view how_to_write(Cycles) { return "a whole number of cycles, such as 170 or 170cycles"; }
std::string_view how_to_write(double) { return "a number of cycles, such as 2.1 or 2.1cycles"; }
std::string_view how_to_write(u32) { return "a whole number"; }
std::string_view how_to_write(bool) { return "true or false"; }

}  // namespace vinci::config
