// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <boost/circular_buffer.hpp>
#include <vector>

#include "isa/insn.h"
#include "models/memory/memory_system.h"

namespace vinci::models {

// The mover of one pipe: walks the global-memory side of a copy, asks the memory system for it in chunks, at the pace
// of the core's port and with a bounded amount outstanding. Passive: the pipe calls pump() at the cycles it names.
class Dma {
 public:
  // `port` is that of the core; `chunk_bytes` are asked for in one go, `outstanding_bytes` may be on their way at once.
  Dma(MemorySystem& memory, u32 port, u64 chunk_bytes, u64 outstanding_bytes);

  // Starts a transfer of what `footprint` says of global memory, one access after the other. Its first request can
  // leave at `at`; the port alone needs `body` cycles for all of it.
  void begin(u64 at, const isa::Footprint& footprint, double body);

  // Makes the requests that are due at `now`. Returns the cycle to call again; when finished() is then true, it is the
  // cycle in which the transfer is complete.
  u64 pump(u64 now);
  bool finished() const { return finished_; }

 private:
  u64 send_chunk(u64 now);  // returns when its last byte has arrived
  void start_part();
  void next_chunk();

  MemorySystem& memory_;
  u32 port_;
  u64 chunk_bytes_;
  boost::circular_buffer<u64> outstanding_;  // completion of each chunk under way, oldest first

  isa::Footprint parts_;        // accesses of global memory that are not empty
  usize part_ = 0;              // the present one
  isa::Access gm_;              // as it is walked
  CacheHint hint_{};            // of its memory
  u64 piece_bytes_ = 0;         // contiguous bytes of a piece, rows that touch merged
  u64 offset_ = 0;              // in the present piece
  std::array<u32, 3> index_{};  // of the present piece
  bool exhausted_ = true;       // every request has been made or stands in chunk_
  std::vector<Request> chunk_;  // the requests that go next
  bool finished_ = true;
  double cycles_per_byte_ = 0;
  double port_time_ = 0;  // when the port is free for the next chunk
  u64 done_ = 0;          // completion of the latest request
};

}  // namespace vinci::models
