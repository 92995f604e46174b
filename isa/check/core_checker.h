// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isa/check/checker.h"
#include "isa/check/local_shadow.h"
#include "isa/insns/sync.h"
#include "isa/machine/observer.h"
#include "isa/machine/unit_flags.h"

namespace vinci::isa::check {

// "PIPE_V -> PIPE_MTE3 EVENT_ID0"
std::string name_of(const insn::FlagBase::Args& flag);

// What is ordered on one core, from its program alone: the instructions of each pipe run in order here, each as soon as
// its flags are up, without time. Every pipe has a clock that says how much of each pipe is finished when its next
// instruction starts; flags and barriers carry clocks on. So a conflict is found whatever the schedule of the run was.
class CoreChecker final : public Observer {
 public:
  CoreChecker(Checker& checker, const CoreSpec& spec, std::string name, bool with_data);

  // A block starts. `code` must live until the run is over.
  void begin(u32 task, u32 block, const Code& code);

  void issued(const Issued& inst) override;
  void accessed(const Issued& inst) override;
  void executing(const Issued& inst) override;
  void executed(const Issued& inst, const BlockSet& computed) override;
  void remarked(const Issued& inst) override;
  bool refused(const Issued& inst, const Error& why) override;
  void failed(u32 pc, const Issued* inst, const Error& why) override;
  void ended() override;

  // Between cores, for cross-core flags: what a pipe has finished with its latest instruction, and that from now on the
  // scalar unit, and with it all that it issues, comes after what another block released.
  VectorClock release(PipeId pipe) const;
  void acquire(const VectorClock& from);

  // Reports what a block that can no longer end waits for, except of wait_flag_dev: that depends on other cores.
  void finish();
  // The wait_flag_dev that the scalar unit has come to and not gone on from.
  struct CrossWait {
    u32 flag = 0;
    Record record;
    Issued inst;
  };
  const std::optional<CrossWait>& cross_wait() const { return cross_wait_; }
  // Whether a block that is stuck would set a cross-core flag, could it go on.
  bool would_set(u32 flag) const;
  u32 task() const { return task_; }
  u32 actor() const { return actor_; }
  const std::string& core_name() const { return name_; }

 private:
  struct Waiting {
    Issued inst;
    u32 issued = 0;
    VectorClock clock;  // of the scalar unit when it was issued
  };
  struct Raised {
    VectorClock clock;
    Record by;
  };
  struct Flag {
    std::vector<Raised> up;       // by sets that no wait has taken yet, oldest first
    std::optional<Record> set;    // the latest
    std::optional<Record> taken;  // the latest wait
  };

  // What a fault is called; `otherwise` where it is none of those that have a name.
  Finding finding_of(const Error& why, FaultId otherwise) const;
  bool run(const Issued& inst, u32 issued, const VectorClock& clock);  // false: it must wait
  void drain();
  void end_when_drained();
  void touch(const Issued& inst, Record record);
  // A load that the program waits for, from global memory or of what a copy has brought from there: what it has waited
  // for.
  MemoryWaits::Pieces waited_for(const Issued& inst, Record& record, WaitLoops::Kind& kind);
  void pass_unit_flags(const UnitFlagUse& unit, const Record& record);
  void met(const Present& now, const Access& access, u32 other, bool was_write, u64 begin, u64 end);
  void check_buffers(const Issued& inst, const Footprint& footprint, const Record& record);
  void check_repeats(const Issued& inst, const Footprint& footprint, const Record& record);
  void raise(const Issued& inst, const Record& record);
  void lower(const Issued& inst, const Record& record);
  void join_scalar(const VectorClock& clock);  // the scalar unit, and what it issues from now on
  void join_all_pipes();
  void cross_set(const Issued& inst, const Record& record);
  void cross_released();
  Flag& flag(const ArgsStorage& args);
  bool pipes_drained() const;
  void report_leftovers();
  // Of the head of a queue that waits for a flag: the pipe that would have to move first, if any.
  std::optional<PipeId> blocker(PipeId pipe) const;
  bool set_comes_later(const Issued& wait) const;

  Checker& checker_;
  CoreSpec spec_;
  std::string name_;

  const Code* code_ = nullptr;
  u32 task_ = 0, block_ = 0, actor_ = 0;
  bool running_ = false;
  bool ended_ = false;                       // its program has
  bool stuck_ = false;                       // the run has ended before the block has
  u32 issued_ = 0;                           // instructions of the block so far
  u32 last_pc_ = 0;                          // of the latest
  std::array<u32, kPipeCount> positions_{};  // instructions that each pipe has begun
  std::array<u32, kPipeCount> worked_{};     // of the latest that is no flag and no barrier
  std::array<VectorClock, kPipeCount> clocks_;
  UnitFlags unit_flags_;
  std::vector<VectorClock> unit_clocks_;  // of the pipe that changed the unit flag of a block of L0C
  VectorClock issue_clock_;               // what all that is issued now comes after
  std::array<std::deque<Waiting>, kPipeCount> queues_;
  usize waiting_ = 0;  // in all queues
  // Of instructions that have been executed and have not run here yet. Those that compute addresses wait for them, so
  // they run here no earlier than in the run.
  bool computes_;
  std::deque<BlockSet> computed_;
  std::vector<Flag> flags_;  // by source, destination, event
  std::array<std::array<u32, kCrossCoreFlags>, CrossCoreSet::kModes>
      cross_sets_{};  // of the block so far, by mode and flag
  std::array<u32, kCrossCoreFlags> cross_waits_{};
  std::optional<CrossWait> cross_wait_;
  std::array<std::map<u64, u64>, kBufCount> buffers_;  // of the program: where each begins and ends
  Records records_;
  std::array<std::optional<LocalShadow>, kBufCount> shadows_;
};

}  // namespace vinci::isa::check
