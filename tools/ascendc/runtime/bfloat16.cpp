// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cstdint>
#include <cstring>

// What clang calls to round a float to bfloat16, which the libraries of GCC 12 do not have. This compiler has no type
// for the result; _Float16 is returned in the same register.
extern "C" _Float16 __truncsfbf2(float value);  // NOLINT(bugprone-reserved-identifier): its name is given
extern "C" _Float16 __truncsfbf2(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const auto upper =
      static_cast<std::uint16_t>(nan ? (bits >> 16 | 0x40u) : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  _Float16 result;
  std::memcpy(&result, &upper, sizeof(result));
  return result;
}
