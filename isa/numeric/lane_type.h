// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

namespace vinci::isa {

// The element type of a lane. s4 is packed, the lower nibble first.
enum class LaneType : u8 { f16, f32, s16, u16, s32, u32, s8, u8, s4, bf16, s64 };
inline constexpr auto kLaneTypeNames = enum_names<LaneType>;
constexpr std::string_view name(LaneType t) { return kLaneTypeNames[static_cast<usize>(t)]; }
constexpr u32 lane_bits(LaneType t) {
  constexpr auto kBits = enum_table<LaneType, u32>({{LaneType::f16, 16},
                                                    {LaneType::f32, 32},
                                                    {LaneType::s16, 16},
                                                    {LaneType::u16, 16},
                                                    {LaneType::s32, 32},
                                                    {LaneType::u32, 32},
                                                    {LaneType::s8, 8},
                                                    {LaneType::u8, 8},
                                                    {LaneType::s4, 4},
                                                    {LaneType::bf16, 16},
                                                    {LaneType::s64, 64}});
  return kBits[static_cast<usize>(t)];
}
// Of types of whole bytes.
constexpr u32 lane_bytes(LaneType t) { return lane_bits(t) / 8; }
constexpr bool is_float(LaneType t) { return t == LaneType::f16 || t == LaneType::f32 || t == LaneType::bf16; }
constexpr bool is_signed_int(LaneType t) {
  return t == LaneType::s4 || t == LaneType::s8 || t == LaneType::s16 || t == LaneType::s32 || t == LaneType::s64;
}

}  // namespace vinci::isa
