// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/insns/sync.h"
#include "isa/machine/issue.h"
#include "isa/program/code.h"
#include "models/core/resolved.h"
#include "models/explain/copy_log.h"

// What determined when each instruction of a block began, kept while a kernel runs, so that the critical path can be
// found from its end. Pipes and scalar units fill it if there is one (docs/explain.md).
namespace vinci::models {

// Why an instruction did not begin earlier: what was over last.
enum class Why : u8 {
  issue,       // the scalar unit handed it over
  order,       // the instruction before it in its pipe
  flag,        // a set_flag
  results,     // results of earlier instructions of its pipe
  unit_flag,   // blocks of L0C that the other one of cube and FIXPIPE had
  queue,       // a queue had room again (scalar unit)
  drained,     // all pipes had drained (scalar unit)
  cross_core,  // a flag of another core (scalar unit)
};
inline constexpr auto kWhyNames = enum_names<Why>;

class BlockLog;

// An event in the log of a block: an instruction of a pipe, or the scalar unit at a cycle.
struct Cause {
  static constexpr u32 kScalar = ~u32{0};
  Why why = Why::issue;
  u32 node = kScalar;
  u64 at = 0;                       // when it was over; what began because of it began at this cycle or later
  const BlockLog* block = nullptr;  // null: of the same block
};

// An instruction in a pipe.
struct PipeNode {
  u64 begin = 0, end = 0, done = 0;
  Cause cause = {};
  const isa::Row* row = nullptr;
  u32 previous = Cause::kScalar;  // in its pipe
  u32 pc = 0, line = 0;
  u32 copy = ~u32{0};  // in copies()
  isa::PipeId pipe = isa::PipeId::S;
};

// What a copy from or to global memory waited for: until its last request had been made, and until its data were there.
struct CopyNode {
  MemoryCycles before_end, after_end;
};

// A stretch of time of the scalar unit.
struct ScalarNode {
  u64 begin = 0, end = 0;
  CostKind kind = CostKind::scalar;
  bool waits = false;  // for `cause`
  Cause cause = {};
  const isa::Row* row = nullptr;
  u32 pc = 0, line = 0;
};

// What the executions of one instruction of a program add up to in all blocks of a kernel.
struct SiteSums {
  const isa::Row* row = nullptr;
  isa::PipeId pipe = isa::PipeId::S;
  std::string place = {};  // "add.asc:30"
  u64 count = 0;
  u64 cycles = 0;  // that its pipe was occupied; of scalar instructions all that it took
  u64 steps = 0, bytes = 0, bursts = 0;
  double startup = 0;    // cycles that do not depend on the work
  double conflicts = 0;  // cycles lost to conflicts in banks of UB
  bool global = false;
  u64 address = 0;                         // in global memory, of the first execution
  u32 latest_block = ~u32{0}, blocks = 0;  // that executed it
  bool same_address = true;                // the first execution of each block has the same address

  void operator+=(const SiteSums& o);
};

class KernelLog;

class BlockLog {
 public:
  struct Start {
    u64 asked = 0;                         // a core was free and the kernel ready
    u64 dispatched = 0;                    // the block had been given to its core
    u64 begin = 0;                         // behind the cold start
    const BlockLog* waited_for = nullptr;  // the block of the same kernel that freed its core at `asked`; may be null
    bool core_was_taken = false;           // `asked` is when another kernel freed it
  };
  BlockLog(KernelLog& kernel, std::string core, u32 block, const isa::Code* code, const Start& start)
      : kernel_(kernel), core_(std::move(core)), block_(block), code_(code), start_(start) {}
  BlockLog(const BlockLog&) = delete;
  BlockLog& operator=(const BlockLog&) = delete;

  // Pipes ----------------------------------------------------------------------------------------------------------
  // Each returns the node. `t` is when it leaves the queue; `queued` when it got there.

  // A wait_flag that passes; its flag was set at `set_at`, and the pipe had begun to look at it at `since`.
  u32 wait_flag(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t, u64 set_at, u64 since);
  // A pipe_barrier that passes, behind the results of all before it.
  u32 barrier(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t);
  // A set_flag or a flag for other cores, which takes effect at `effect`, behind the results of all before it, and
  // which may hold its pipe up to there.
  u32 set_flag(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t, u64 effect, bool holds);
  // Work that begins at `t` and leaves its pipe free at `end`; `alone`: not before the results of the one before.
  // A copy from or to global memory ends later, see copied().
  struct UnitOf {
    usize number = 0, count = 1;  // of the units of the pipe
    u32 behind = Cause::kScalar;  // work in another unit that it waited for, because of its operands; kScalar: none
  };
  u32 work(isa::PipeId pipe, const isa::Issued& inst, const Resolved& resolved, u64 queued, u64 t, u64 end, u64 done,
           bool alone, const UnitOf& unit);
  void copied(u32 node, u64 end, u64 done, const CopyLog& log);
  // The first byte of global memory that the work of this node touches.
  void touches(u32 node, u64 address);
  // The flag of a set_flag is up at `t`.
  void raised(const isa::insn::SetFlag::Args& flag, u32 node, u64 t);

  // Scalar unit ------------------------------------------------------------------------------------------------------
  void scalar(CostKind kind, const isa::Row* row, u32 pc, u32 line, u64 begin, u64 end);
  void waited_for_flag(const isa::Issued& inst, u64 since, u64 t, u64 set_at);
  // For room in the queue of a pipe.
  void waited_for_room(const isa::Issued& inst, u64 since, u64 t);
  // For all pipes; at the end of the block without an instruction.
  void waited_for_pipes(const isa::Issued* inst, u64 since, u64 t);
  void waited_for_core(const isa::Issued& inst, u64 since, u64 t, u32 flag);
  // A flag that another core set at `set_at` arrives here.
  void arrived(u32 flag, const BlockLog* from, u32 node, u64 set_at);
  // wait_flag takes the flag, in a pipe or in the scalar unit; returns its set_flag.
  u32 lowered(const isa::insn::SetFlag::Args& flag, u64 set_at);

  void ended(u64 t) { end_ = t; }

  // For readers ------------------------------------------------------------------------------------------------------
  const std::string& core() const { return core_; }
  u32 block() const { return block_; }
  const isa::Code* code() const { return code_; }  // null: of an opaque kernel
  const Start& start() const { return start_; }
  u64 end() const { return end_; }
  const std::vector<PipeNode>& nodes() const { return nodes_; }
  const std::vector<CopyNode>& copies() const { return copies_; }
  const std::vector<ScalarNode>& scalars() const { return scalars_; }
  std::string place(u32 pc, u32 line) const;

 private:
  struct PipeState {
    u32 latest = Cause::kScalar;  // node that has left the queue last
    u32 latest_work = Cause::kScalar;
    std::vector<Cause> free = std::vector<Cause>(1);  // when each of its units takes more work
    Cause head;                                       // when the head of the queue was looked at
    Cause done;                                       // the latest result
  };
  static Cause first_free(const PipeState& s);
  PipeState& state(isa::PipeId pipe) { return pipes_[isa::index(pipe)]; }
  u32 add(PipeNode node, isa::PipeId pipe, const isa::Issued& inst);
  u32 add_point(isa::PipeId pipe, const isa::Issued& inst, u64 t, const Cause& cause);
  void add_wait(const isa::Issued* inst, u64 since, u64 t, CostKind kind, const Cause& cause);
  bool full() const;

  KernelLog& kernel_;
  std::string core_;
  u32 block_;
  const isa::Code* code_;
  Start start_;
  u64 end_ = 0;
  std::vector<PipeNode> nodes_;
  std::vector<CopyNode> copies_;
  std::vector<ScalarNode> scalars_;
  std::array<PipeState, isa::kPipeCount> pipes_;
  // The latest instruction with unit flags that empties blocks of L0C, and the latest that fills them.
  std::array<u32, 2> handed_over_{Cause::kScalar, Cause::kScalar};
  struct Raised {
    u32 node;
    u64 at;
  };
  std::map<u32, std::deque<Raised>> flags_;  // by source, destination and event
  std::map<u32, Cause> arrived_;             // by flag: the latest
};

// One launch of a kernel.
class KernelLog {
 public:
  static constexpr u64 kMostNodes = 64'000'000;  // more are not kept, and then there is no critical path

  std::string name;
  u32 device = 0, stream = 0, task = 0;
  u64 iteration = 0;
  u64 start = 0;        // of the task
  u64 ready = 0;        // for its first block
  u64 blocks_done = 0;  // its last block has ended
  u64 end = 0;          // of the task
  u64 cold = 0;         // cycles of the longest cold start of a block
  u32 blocks_asked = 0, slots = 0, parts = 1;
  std::deque<BlockLog> blocks;
  const BlockLog* last = nullptr;  // that ended last
  u64 nodes = 0;
  std::map<std::pair<const isa::Code*, u32>, SiteSums> sites;  // by instruction of a program

  bool complete() const { return nodes <= kMostNodes; }
};

// Gets each launch of a kernel as it ends.
class CauseSink {
 public:
  virtual ~CauseSink() = default;
  virtual void kernel(const KernelLog& log) = 0;
};

}  // namespace vinci::models
