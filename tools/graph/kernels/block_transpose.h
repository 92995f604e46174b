// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <optional>

#include "isa/builder/program_builder.h"

// Transposes of 16 x 16 elements of 16 bits in UB, by scatter_vnchwconv.
namespace vinci::graph {

// The address of the i-th of 16 blocks of 32 B.
using BlockAt = std::function<u64(u64 i)>;

// Element k of block from(i) becomes element i of block to(k), for so many matrices, at most 255; those of the next one
// are `from_step` and `to_step` blocks on. Takes VA0 to VA3.
void scatter_blocks(isa::ProgramBuilder& p, const BlockAt& from, u64 from_step, const BlockAt& to, u64 to_step,
                    u64 repeats);

// 16 streams of `pitch` elements, a multiple of 16, one behind the other from `streams` on, become blocks from `turned`
// on, each of one element of all streams; or `back`, the other way round. Ends with a barrier.
void turn_streams(isa::ProgramBuilder& p, u64 streams, u64 turned, u64 pitch, bool back);

// s32 from `src` on become integers of 64 bits from `dst` on: `count` of them, a multiple of 128. `signs`: -1 for each
// number below 0 and 0 for others, as s32; without them no number is below 0. `room`: kWidenBytes. Ends with a barrier.
void widen_to_s64(isa::ProgramBuilder& p, u64 dst, u64 src, u64 count, u64 room, std::optional<u64> signs = {});
inline constexpr u64 kWidenRepeats = 4;  // of 128 numbers, in one instruction
inline constexpr u64 kWidenBytes = kWidenRepeats * 2 * 512;

}  // namespace vinci::graph
