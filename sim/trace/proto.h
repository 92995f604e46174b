// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "isa/base/types.h"

// Fields of Protocol Buffers messages as bytes: https://protobuf.dev/programming-guides/encoding.
namespace vinci::trace::proto {

inline void varint(std::string& out, u64 v) {
  for (; v >= 0x80; v >>= 7)
    out += static_cast<char>((v & 0x7f) | 0x80);
  out += static_cast<char>(v);
}

enum class Wire : u8 { varint = 0, fixed64 = 1, bytes = 2 };
inline void tag(std::string& out, u32 field, Wire wire) { varint(out, u64{field} << 3 | static_cast<u64>(wire)); }

inline void number(std::string& out, u32 field, u64 v) {
  tag(out, field, Wire::varint);
  varint(out, v);
}

inline void fixed64(std::string& out, u32 field, u64 v) {
  tag(out, field, Wire::fixed64);
  for (int i = 0; i < 8; ++i)
    out += static_cast<char>(v >> (8 * i) & 0xff);
}

// A string, or a message that is already bytes.
inline void bytes(std::string& out, u32 field, std::string_view v) {
  tag(out, field, Wire::bytes);
  varint(out, v.size());
  out += v;
}

// A message of at most 127 bytes, written in place by `body`, which appends its fields.
template <std::invocable<> Body>
void small_message(std::string& out, u32 field, Body&& body) {
  tag(out, field, Wire::bytes);
  const usize at = out.size();
  out += '\0';
  body();
  out[at] = static_cast<char>(out.size() - at - 1);
}

}  // namespace vinci::trace::proto
