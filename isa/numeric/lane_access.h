// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>

#include "isa/numeric/convert.h"
#include "isa/numeric/lanes.h"

// Lanes in a LaneBuffer, for the portable kernels.
namespace vinci::isa {

template <class T>
T lane(const LaneBuffer& buffer, usize i) {
  T value;
  std::memcpy(&value, buffer.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_lane(LaneBuffer& buffer, usize i, T value) {
  std::memcpy(buffer.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

template <LaneType T>
LaneValue<T> typed_lane(const LaneBuffer& buffer, usize i) {
  if constexpr (T == LaneType::s4) {
    const u8 pair = lane<u8>(buffer, i / 2);
    const u8 nibble = static_cast<u8>(i % 2 == 0 ? pair & 15 : pair >> 4);
    return static_cast<i8>((nibble ^ 8) - 8);
  } else {
    return lane<LaneValue<T>>(buffer, i);
  }
}
template <LaneType T>
void set_typed_lane(LaneBuffer& buffer, usize i, LaneValue<T> value) {
  if constexpr (T == LaneType::s4) {
    const unsigned shift = i % 2 * 4;
    const u8 pair = lane<u8>(buffer, i / 2);
    set_lane(buffer, i / 2, static_cast<u8>((pair & (0xf0 >> shift)) | (value & 15) << shift));
  } else {
    set_lane(buffer, i, value);
  }
}

}  // namespace vinci::isa
