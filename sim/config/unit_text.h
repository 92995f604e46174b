// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "sim/config/units.h"

// Numbers with units as text. Reading is strict, independent of the locale and correctly rounded (1.85GHz is exactly
// the double 1.85e9); write_text gives a text that reads back as the same value, in the unit that makes it shortest.
namespace vinci::config {

// Reads all of `text` into `out`; false, with `out` unchanged, when it is no such quantity or does not fit.
bool read_text(std::string_view text, Bytes& out);
bool read_text(std::string_view text, Hertz& out);
bool read_text(std::string_view text, BytesPerCycle& out);
bool read_text(std::string_view text, BytesPerSecond& out);
bool read_text(std::string_view text, Seconds& out);
bool read_text(std::string_view text, Share& out);
bool read_text(std::string_view text, Cycles& out);
bool read_text(std::string_view text, double& out);  // cycles, with a fraction: 2.1 or 2.1cycles
bool read_text(std::string_view text, u32& out);
bool read_text(std::string_view text, bool& out);

std::string write_text(Bytes value);
std::string write_text(Hertz value);
std::string write_text(BytesPerCycle value);
std::string write_text(BytesPerSecond value);
std::string write_text(Seconds value);
std::string write_text(Share value);
std::string write_text(Cycles value);
std::string write_text(double value);
std::string write_text(u32 value);
std::string write_text(bool value);

// How to write such a value, for messages: "write ..." (the argument only selects the type).
std::string_view how_to_write(Bytes);
std::string_view how_to_write(Hertz);
std::string_view how_to_write(BytesPerCycle);
std::string_view how_to_write(BytesPerSecond);
std::string_view how_to_write(Seconds);
std::string_view how_to_write(Share);
std::string_view how_to_write(Cycles);
std::string_view how_to_write(double);
std::string_view how_to_write(u32);
std::string_view how_to_write(bool);

// An end of a range as the type that it bounds.
template <class T>
T bound_as(double bound) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(bound);
  } else {
    return T{static_cast<decltype(T::value)>(bound)};
  }
}

}  // namespace vinci::config
