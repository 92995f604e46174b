// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "models/core/core.h"
#include "models/runtime/task_sink.h"
#include "models/soc/block_shape.h"
#include "models/soc/equal_launches.h"
#include "models/soc/kernel_codes.h"

namespace vinci::models {

// The owner of the launches whose blocks a dispatcher runs.
class LaunchOwner {
 public:
  // To call BlockDispatcher::part_done(core) at the cycle `at`, for a block of a stream's kernel that has no program.
  virtual void later(u64 at, u32 stream, u32 core) = 0;
  // To call BlockDispatcher::ended_as_before() at the cycle `at`, for the kernel of a stream.
  virtual void ends_as_before(u64 at, u32 stream) = 0;
  // A core is free again.
  virtual void freed() = 0;
  // All blocks of the kernel of a stream have ended.
  virtual void done(u32 stream) = 0;

 protected:
  ~LaunchOwner() = default;
};

// Puts the blocks of kernels on the cores of one chip: of the most urgent launch first, of equally urgent ones of the
// one that became ready first, and one block after the other. A block that has begun is never interrupted.
class BlockDispatcher final : public BlockOwner {
 public:
  struct Observe {
    bool sums = false;    // cores are asked what they did for each block
    bool causes = false;  // a log is kept of why each instruction began when it did
  };
  // `cores` of the chip, cube or joint ones first; empty where no kernel has a program. `equal` may be null: then each
  // launch is simulated.
  BlockDispatcher(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream,
                  const KernelCodes& codes, std::vector<Core*> cores, Observe observe, EqualLaunches* equal,
                  LaunchOwner& owner);

  // Takes over the streams and kernels that the task stream has gained.
  void append();
  // A kernel that is ready for its first block. `launch` holds what is the same for all blocks.
  void add(u32 stream, const task::KernelLaunch& op, const isa::Launch& launch, std::string_view name, u32 task_id);
  // Gives all blocks that have a free slot to their cores, which begin one after the other where that takes time.
  void dispatch(u64 t);
  void part_done(u32 core) override;
  void ended_as_before(u32 stream);

  // Ends the launch of a stream after LaunchOwner::done.
  struct Ended {
    u64 status = 0;                   // STATUS of all its blocks, together
    std::array<CoreSums, 3> cores{};  // what the cores did for it, by CoreKind
    u64 cold = 0;                     // cycles of the longest cold start of a block
    std::unique_ptr<KernelLog> log = {};
  };
  Ended finish(u32 stream);
  u64 done_units() const { return done_units_; }

 private:
  struct Launch {
    u64 order = 0;
    u32 stream = 0;
    const task::KernelLaunch* op = nullptr;  // until the task stream grows
    std::string_view name;
    u32 task_id = 0;  // for the checker
    u32 next_block = 0;
    u64 parts_left = 0;
    isa::Launch launch;
    BlockShape shape;
    std::shared_ptr<isa::CrossCoreFlags> cross;
    Ended ended = {};
  };
  struct Key {
    u8 priority = 0;
    u64 order = 0;
    u32 stream = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Slot {  // of one core, while it is busy
    bool busy = false;
    bool opaque = false;  // with a kernel that has no program
    u64 since = 0;
    u64 freed_at = 0;
    BlockLog* log = nullptr;   // of the present or latest block
    u32 stream = task::kNone;  // of that block
    std::array<u64, isa::kPipeCount> busy_before{};
    WorkSums work_before{};
  };

  u32 core_index(const BlockShape::Part& part) const {
    return part.core + (part.kind == isa::CoreKind::vector ? chip_.ai_cores : 0);
  }
  bool has_free_slot(const Launch& l, u32& slot) const;
  bool goes_as_before(const Launch& l, u64 t);
  // How long a core waits for the code of a program that it has not run before; from then on it has.
  u64 first_start_cycles(const Launch& l, const BlockShape::Part& part);
  void start_block(Launch& l, u32 slot, u64 at, u64 asked);
  BlockLog* log_block(Launch& l, const BlockShape::Part& part, const BlockLog::Start& start);
  // Why the cores of a slot were not free before `asked`.
  BlockLog::Start waited(const Launch& l, u32 slot, u64 asked) const;
  std::array<u64, isa::kPipeCount> busy_cycles(Core& core) const;
  void account(Launch& l, u32 core);

  sim::Env& env_;
  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  const KernelCodes& codes_;
  std::vector<Core*> cores_;
  Observe observe_;
  EqualLaunches* equal_;
  LaunchOwner& owner_;
  u64 interval_, mix_interval_, dispatch_cycles_, start_cycles_;
  u64 next_start_ = 0;                             // of a block, earliest
  std::vector<u64> opaque_cycles_;                 // by kernel; 0: it has a program
  std::vector<std::unique_ptr<Launch>> launches_;  // by stream
  std::array<std::set<Key>, 4> waiting_;           // have blocks to start, by what a block occupies
  std::vector<Slot> slots_;                        // by core
  std::vector<bool> has_run_;                      // by kernel, then core
  u64 order_ = 0;
  u64 done_units_ = 0;
  u64 last_end_ = 0;  // of a block
};

}  // namespace vinci::models
