// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>

#include "isa/check/runs.h"

// Which bytes were ever written: a word for each granule, a bit for each of its bytes.
namespace vinci::isa::check {

// The bits of bytes [begin, end) of one granule; 0 <= begin < end <= kGranule.
constexpr u32 byte_bits(u64 begin, u64 end) { return (~u32{0} >> (kGranule - (end - begin))) << begin; }

// Calls f(granule, bits) for each granule that [begin, end) touches.
template <class F>
void each_granule(u64 begin, u64 end, F&& f) {
  while (begin < end) {
    const u64 granule = begin / kGranule;
    const u64 stop = std::min(end, (granule + 1) * kGranule);
    f(granule, byte_bits(begin - granule * kGranule, stop - granule * kGranule));
    begin = stop;
  }
}

// The same for those that it covers in part: at most the first and the last.
template <class F>
void each_edge(u64 begin, u64 end, F&& f) {
  const u64 first = begin / kGranule * kGranule, last = end / kGranule * kGranule;
  if (first == last) {
    f(first / kGranule, byte_bits(begin - first, end - first));
    return;
  }
  if (begin != first) f(first / kGranule, byte_bits(begin - first, kGranule));
  if (end != last) f(last / kGranule, byte_bits(0, end - last));
}

inline void define(u32* words, u64 begin, u64 end) {
  const u64 first = ceil_div(begin, kGranule), last = end / kGranule;
  if (first < last) std::fill(words + first, words + last, ~u32{0});
  each_edge(begin, end, [&](u64 granule, u32 bits) { words[granule] |= bits; });
}

// Calls f(begin, end) for the parts of [begin, end) in which not one byte was written. They are looked for in steps of
// `unit` bytes: a unit that holds some data may be padded with anything, because layouts of whole blocks and fractals
// are moved with their padding.
template <class F>
void each_undefined(const u32* words, u64 begin, u64 end, u64 unit, F&& f) {
  const u64 first = begin / kGranule, last = ceil_div(end, kGranule);
  bool suspect = begin % kGranule != 0 || end % kGranule != 0;
  if (!suspect) each_zero_run(words, first, last, [&](usize, usize) { suspect = true; });
  if (!suspect) return;
  u64 missing = begin;  // from here on nothing was written
  for (u64 at = begin; at < end;) {
    const u64 stop = std::min(end, unit > kGranule ? at + unit : (at / kGranule + 1) * kGranule);
    u32 written = 0;
    each_granule(at, stop, [&](u64 granule, u32 bits) { written |= words[granule] & bits; });
    if (written != 0) {
      if (missing < at) f(missing, at);
      missing = stop;
    }
    at = stop;
  }
  if (missing < end) f(missing, end);
}

}  // namespace vinci::isa::check
