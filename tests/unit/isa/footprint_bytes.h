// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <set>

#include "isa/table/insn.h"

namespace vinci::isa {

// Bytes of the buffer that the footprint says are written, or read.
inline std::set<u64> touched(const Footprint& f, BufId buffer, bool write) {
  std::set<u64> out;
  for (const Access& a : f) {
    if (a.write != write || a.buffer != buffer) continue;
    for (u32 i = 0; i < a.count[0]; ++i) {
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 k = 0; k < a.count[2]; ++k) {
          const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]);
          for (u64 b = 0; b < a.len; ++b)
            out.insert(at + b);
        }
      }
    }
  }
  return out;
}

inline std::set<u64> written(const Footprint& f, BufId buffer) { return touched(f, buffer, true); }
inline std::set<u64> read(const Footprint& f, BufId buffer) { return touched(f, buffer, false); }

}  // namespace vinci::isa
