// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/repeats.h"

#include <algorithm>
#include <vector>

namespace vinci::isa::check {
namespace {

constexpr u64 kBlock = 32;

// The repeats of one access, numbered as those of the instruction.
struct Walk {
  const Access& a;
  u32 count = a.repeats.count;

  u32 begin() const { return a.repeats.first; }
  u32 end() const { return a.repeats.first + count; }
  bool has(u32 repeat) const { return repeat >= begin() && repeat < end(); }
  u64 at(u32 repeat, u32 block) const {
    return a.address + u64{repeat - begin()} * a.repeats.stride + u64{block} * a.repeats.block_stride;
  }
  // Bytes from the first to behind the last of one repeat, and of all.
  u64 span() const { return u64{a.repeats.blocks - 1} * a.repeats.block_stride + kBlock; }
  u64 last_byte() const { return a.pieces() == 1 ? a.address + a.len : at(end() - 1, 0) + span(); }
  // Calls f(address) for each block of a repeat.
  template <class F>
  void blocks(u32 repeat, F&& f) const {
    for (u32 b = 0; b < a.repeats.blocks && at(repeat, b) < last_byte(); ++b)
      f(at(repeat, b));
  }
};

bool same_shape(const Access& a, const Access& b) {
  return a.repeats.blocks == b.repeats.blocks &&
         (a.repeats.block_stride == b.repeats.block_stride || a.repeats.blocks == 1);
}

std::optional<RepeatFault> find(Walk dst, Walk src) {
  // Where all repeats touch the same blocks, two say as much as any number.
  if (dst.a.repeats.stride == 0 && src.a.repeats.stride == 0) {
    dst.count = std::min(dst.count, 2u);
    src.count = std::min(src.count, 2u);
  }
  if (dst.a.address >= src.last_byte() || src.a.address >= dst.last_byte()) return std::nullopt;
  const bool alike = same_shape(dst.a, src.a);
  if (alike && dst.a.address == src.a.address && dst.begin() == src.begin()) {
    const u64 step = dst.a.repeats.stride;
    const bool same_steps = step == src.a.repeats.stride;
    if (src.a.repeats.accumulator && step == 0 && same_steps) return std::nullopt;
    // In place, repeat by repeat.
    if (dst.count == 1 || (same_steps && step >= dst.span())) return std::nullopt;
  }
  // Behind the last repeat that reads each block.
  std::vector<u32> readers((src.last_byte() - src.a.address + kBlock - 1) / kBlock, 0);
  for (u32 r = src.begin(); r < src.end(); ++r)
    src.blocks(r, [&](u64 at) { readers[(at - src.a.address) / kBlock] = r + 1; });

  std::optional<RepeatFault> fault;
  for (u32 r = dst.begin(); r < dst.end() && !fault; ++r) {
    const bool identical = alike && src.has(r) && src.at(r, 0) == dst.at(r, 0);
    dst.blocks(r, [&](u64 at) {
      if (fault || at < src.a.address || at >= src.last_byte()) return;
      const u32 last = readers[(at - src.a.address) / kBlock];
      bool now = false;
      if (src.has(r) && !identical) src.blocks(r, [&](u64 read) { now |= read == at; });
      if (last <= r + 1 && !now) return;
      fault = RepeatFault{.later = last > r + 1,
                          .src = &src.a,
                          .dst = &dst.a,
                          .repeat = r,
                          .src_repeat = last > r + 1 ? last - 1 : r,
                          .begin = at,
                          .end = at + kBlock};
    });
  }
  return fault;
}

}  // namespace

std::optional<RepeatFault> find_repeat_fault(const Footprint& footprint) {
  for (const Access& dst : footprint) {
    if (!dst.write || dst.repeats.count == 0) continue;
    for (const Access& src : footprint) {
      if (src.write || src.repeats.count == 0 || src.buffer != dst.buffer) continue;
      if (const auto fault = find({.a = dst}, {.a = src})) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace vinci::isa::check
