// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/sequencer.h"
#include "models/core/resolved.h"
#include "models/explain/copy_log.h"
#include "sim/trace/trace.h"

// What the parts of a core ask of each other: each interface is one service, and a part gets those that it needs
// (docs/core.md). A test puts mocks in their place.
namespace vinci::models {

inline constexpr u64 kNever = ~u64{0};

// The entrance of a pipe, for the scalar unit. Each function puts one instruction into the queue, which must have room;
// it gets there at the cycle `at`, which may be in the future.
class IssuePort {
 public:
  virtual bool full() const = 0;
  // Nothing is queued or in flight.
  virtual bool drained() const = 0;
  // `resolved` is null where no table knows it. `alone`: it begins when the one before is done.
  virtual void work(const isa::Issued& inst, const Resolved* resolved, u64 at, bool alone) = 0;
  virtual void wait_flag(const isa::Issued& inst, u64 at) = 0;
  virtual void set_flag(const isa::Issued& inst, u64 at) = 0;
  virtual void barrier(const isa::Issued& inst, u64 at) = 0;
  virtual void cross_set(const isa::Issued& inst, u64 at) = 0;
  // Nothing is issued any more, because of a fault: throws that of an earlier set_flag which can no longer take effect.
  virtual void fail_if_held() {}

 protected:
  ~IssuePort() = default;
};

// The way back, from a pipe to the unit that issues.
class Issuer {
 public:
  virtual void queue_has_room() = 0;  // that was full
  virtual void pipe_drained() = 0;

 protected:
  ~Issuer() = default;
};

// What retired instructions do to data.
class Executor {
 public:
  // An instruction of a pipe retires: its data move, at the latest when another part looks at them. Throws with its
  // place.
  virtual void retire(const isa::Issued& inst, bool touches_gm) = 0;
  // All that has retired has moved its data.
  virtual void finish() = 0;
  // Runs the present instruction of the scalar unit. `reads_results`: it reads what the pipes have left behind.
  virtual void step(isa::Sequencer& sequencer, bool reads_results, u64 sys_cnt) = 0;

 protected:
  ~Executor() = default;
};

// A copy between a buffer of the core and global memory, one at a time.
class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  // Starts a transfer of what `footprint` says of global memory. Its first request can leave at `at`; the port alone
  // needs `body` cycles. The rest is described at Dma::begin().
  virtual void begin(u64 at, const isa::Footprint& footprint, double body, bool by_rows, double delivery) = 0;
  // Makes the requests that are due at `now`. Returns the cycle to call again; when finished() is then true, all have
  // been made, and it is the cycle in which the port is free for another copy.
  virtual u64 pump(u64 now) = 0;
  virtual bool finished() const = 0;
  // When the data of the last finished transfer, and of all before it, have arrived and entered their buffer.
  virtual u64 done() const = 0;
  // From the next transfer on it notes what it waits for.
  virtual void keep_log() = 0;
  virtual const CopyLog& log() const = 0;
};

// Single accesses of the scalar unit to global memory.
class RequestPort {
 public:
  // Makes a request at `now`; returns when it is answered.
  virtual u64 request(u64 now, const isa::Access& access) = 0;

 protected:
  ~RequestPort() = default;
};

// Flags for other cores.
class CrossCorePort {
 public:
  // A flag is set now by a pipe that shows itself on `track`; `node` is the instruction in the log of its block.
  virtual void set(const isa::Issued& inst, trace::TrackId track, u32 node) = 0;

 protected:
  ~CrossCorePort() = default;
};

// The end of a block, which the scalar unit tells its core.
class BlockPort {
 public:
  virtual void block_done() = 0;  // the program has ended and all pipes have drained

 protected:
  ~BlockPort() = default;
};

// The owner of the blocks that cores run.
class BlockOwner {
 public:
  // A core has ended its part of a block in the present cycle. `core`: its position among the cores of the chip.
  virtual void part_done(u32 core) = 0;

 protected:
  ~BlockOwner() = default;
};

// A unit that another one can wake.
class Wake {
 public:
  virtual void wake_for_work(u64 cycle) = 0;

 protected:
  ~Wake() = default;
};

}  // namespace vinci::models
