// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "isa/table/insn.h"
#include "models/core/ports.h"
#include "models/explain/copy_log.h"
#include "models/memory/memory_system.h"

namespace vinci::models {

// The mover of one pipe: walks the global-memory side of a copy, asks the memory system for it in chunks, at the pace
// of the core's port and with a bounded amount outstanding. The next copy may begin when the requests of the one before
// have been made, while its data are on their way. Passive: the pipe calls pump() at the cycles it names.
class Dma final : public MemoryPort {
 public:
  // `port` is that of the core; `chunk_bytes` are asked for in one go, `requests` may be under way at once.
  // Pieces that do not begin at a block of 32 B are cut at multiples of `unaligned_bytes`; 0: at lines, as all are.
  Dma(MemorySystem& memory, u32 port, u64 chunk_bytes, u64 requests, u64 unaligned_bytes = 0);

  // Starts a transfer of what `footprint` says of global memory, one access after the other. Its first request can
  // leave at `at`; the port alone needs `body` cycles for all of it. `by_rows`: rows that become fractals. These are
  // asked for in units of twice what the address of the row is a multiple of, at least unaligned_bytes and at most a
  // line, of rows that touch and are no longer than half a line at most half a line; and a request for what L2 does not
  // have takes a place among those under way for each unit of what the address is a multiple of, from unaligned_bytes
  // to half a line. `delivery`: cycles in which the data, from when the first of them arrive, enter their buffer, after
  // those of the transfer before; 0: as they arrive.
  void begin(u64 at, const isa::Footprint& footprint, double body, bool by_rows = false, double delivery = 0) override;

  u64 pump(u64 now) override;
  bool finished() const override { return finished_; }
  u64 done() const override;
  void keep_log() override {
    if (log_ == nullptr) log_ = std::make_unique<CopyLog>(under_way_.size());
  }
  const CopyLog& log() const override { return *log_; }

 private:
  template <bool kLogged>
  void send_chunk(u64 now);
  template <bool kLogged>
  MemorySystem::Train::Response request(u64 now, u64 address, RequestStages& stages);
  void deliver();
  void start_part();
  void start_piece(u64 address);
  void start_run();
  void next_run();
  void next_row_of_pieces();

  MemorySystem& memory_;
  u32 port_;
  u64 chunk_bytes_, unaligned_bytes_;
  std::vector<u64> under_way_;  // completion of the latest requests, from `oldest_` on in turn; as many as may be
  usize oldest_ = 0;

  // Requests that differ in their addresses alone: of one piece, or one of each of several pieces.
  struct Run {
    MemorySystem::Train train = {};
    u64 address = 0;  // of the next one
    u64 step = 0;
    u64 left = 0;  // requests
    u32 bytes = 0;
    u32 places = 0;  // that each takes among those under way, where L2 does not serve it
  };
  Run run_;
  bool exhausted_ = true;  // every request has been made
  u64 chunk_left_ = 0;     // bytes of the present chunk, whose requests wait for nothing but room
  bool finished_ = true;
  double cycles_per_byte_ = 0;
  // Times are whole cycles and what comes after them, so that a copy takes as long at any time of a run.
  u64 begin_ = 0;         // when the first request of the present transfer can leave
  double port_time_ = 0;  // when the port is free for the next chunk, from then on
  u64 done_ = 0;          // completion of the latest request
  u64 first_ = 0;         // the earliest completion of a request of the present transfer
  double delivery_ = 0;   // cycles in which the present one enters its buffer
  u64 entering_ = 0;      // since when data have been entering the buffer without a gap
  double entered_ = 0;    // when what has been read has entered it, from then on

  // What is looked at for each run.
  usize part_ = 0;              // the present one of parts_
  isa::Access gm_;              // as it is walked
  CacheHint hint_{};            // of its memory
  bool by_rows_ = false;        // see begin()
  u64 piece_bytes_ = 0;         // contiguous bytes of a piece, rows that touch merged
  bool alike_ = false;          // pieces that follow each other are alike in their lines
  u64 pace_ = 0;                // from a request to the next one, most of the time
  u64 row_ = 0;                 // where the first piece of the present row of pieces begins
  std::array<u32, 3> index_{};  // of the present piece
  u64 left_ = 0;                // bytes of it behind the present run
  u64 most_ = 0;                // bytes of a request
  u64 unit_ = 0;                // it is cut at multiples of so many bytes
  u64 place_unit_ = 0;          // and a request that L2 does not serve takes a place for each of so many
  isa::Footprint parts_;        // accesses of global memory that are not empty
  std::unique_ptr<CopyLog> log_;
};

}  // namespace vinci::models
