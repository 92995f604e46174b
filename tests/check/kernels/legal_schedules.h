// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "isa/machine/cross_core.h"
#include "isa/machine/flags.h"
#include "isa/machine/machine.h"
#include "isa/machine/unit_flags.h"
#include "models/soc/kernel_codes.h"
#include "sim/config/chip_config.h"
#include "sim/task/run_memory.h"
#include "sim/task/task.h"

// One launch, run again and again in orders that its flags and barriers permit: what a program without a race never
// shows. Knows nothing of the checker.
namespace vinci::test {

using Random = std::mt19937_64;

// Why a program is wrong: another order gives other results, or other contents of local memories before it runs do, or
// a rule of flags is broken in some order.
struct Harm {
  enum class Kind : u8 { none, output, contents, deadlock, duplicate_set, left_over, fault };
  Kind kind = Kind::none;
  // Lines ("file:line") that a report of it must name: of an output the instructions that changed places, of contents
  // those that read them or what comes of them, of a fault also those before it that read otherwise, else those of the
  // flag.
  std::set<std::string> lines;
  std::string text;
};
std::string_view name(Harm::Kind kind);

// The tasks of all streams as one stream, in the order in which the host hands them over. Throws where that is not one.
task::TaskStream in_one_stream(const task::TaskStream& stream);
// The tasks of the only stream up to a launch, and nothing behind it.
task::TaskStream up_to(const task::TaskStream& stream, usize launch);

class LegalSchedules {
 public:
  // The last task of `stream` is the launch. Throws where the untimed machine cannot run it.
  LegalSchedules(const config::ChipConfig& chip, const task::TaskStream& stream);

  // Instructions of all cores.
  usize size() const { return size_; }
  // Runs up to so many orders, and says what the first one that is wrong shows.
  Harm find(u32 schedules, u64 seed);

  struct Interval {
    isa::BufId buffer;
    u64 begin, end;
    friend auto operator<=>(const Interval&, const Interval&) = default;
  };
  // What a core was given, in the order of its program.
  struct Entry {
    isa::Issued inst;
    bool scalar = false;  // a load or store of the scalar unit
    std::string place;
    std::vector<Interval> reads{}, writes{};  // sorted
    std::vector<std::byte> stored{};          // by a store of the scalar unit
    bool registers = false;                   // reads or writes registers that pipes leave behind
  };
  struct CoreLog {
    isa::CoreSpec spec;
    isa::TaskCore self;
    std::vector<Entry> entries;
  };
  const std::vector<CoreLog>& logs() const { return logs_; }

 private:
  struct At {
    u32 core = 0, entry = 0;
    friend auto operator<=>(const At&, const At&) = default;
  };
  // One core on its way through its log.
  struct Core {
    std::unique_ptr<isa::CoreMem> mem;
    usize next = 0;  // of the scalar unit
    bool waits = false;
    std::array<std::deque<u32>, isa::kPipeCount> queues;
    isa::Flags flags;
    isa::UnitFlags unit_flags;
    isa::ResultRegisters results;
    u64 status = 0;
    u32 weight = 1;
    std::array<u32, isa::kPipeCount> weights{};
  };
  // What a run leaves behind.
  struct Result {
    Harm::Kind kind = Harm::Kind::none;
    std::set<std::string> lines;
    std::string text;
    std::vector<std::byte> memory;
    std::vector<std::vector<u64>> digests;  // of what each entry has read
    std::vector<At> order;                  // the same: in which they ran
  };
  // Follows who wrote what until an entry runs.
  struct Watch {
    At stop{};
    bool at_end = false;
    std::vector<std::byte> read{};
    std::map<std::tuple<u32, isa::BufId, u64>, At> writers{};  // by core (of global memory 0), buffer, block
  };

  void record(const config::ChipConfig& chip);
  // `random` null: each instruction as early as it can, pipes in order. `pattern`: what local memories hold first.
  Result run(Random* random, u64 pattern, bool digests, Watch* watch = nullptr);
  bool advance_scalar(u32 core);
  bool advance_pipe(u32 core, usize pipe, Random* random, u32 overtaking);
  bool may_overtake(const CoreLog& log, const std::deque<u32>& queue, usize at) const;
  void execute(u32 core, u32 entry);
  void fail_run(Harm::Kind kind, std::set<std::string> lines, std::string text);
  std::set<std::string> lines_of_flag(u32 core, isa::PipeId src, isa::PipeId dst, u32 event) const;
  Harm explain(u64 schedule_seed, u64 pattern);
  Harm explain_contents();
  Harm explain_fault(const Result& result, u64 schedule_seed, u64 pattern, bool in_order);
  // Adds the lines of what has read otherwise in the one run than in the other.
  void note_differences(const Result& a, const Result& b, Harm& harm) const;
  std::vector<std::byte> bytes_of(u32 core, const std::vector<Interval>& where) const;
  std::vector<std::byte> global() const;

  const config::ChipConfig& chip_;
  task::TaskStream stream_;
  std::unique_ptr<task::RunMemory> memory_;
  models::KernelCodes codes_;
  std::vector<CoreLog> logs_;
  std::vector<std::byte> before_;  // global memory
  isa::TaskShape shape_;
  usize size_ = 0;

  // Of the present run.
  std::vector<Core> cores_;
  std::unique_ptr<isa::CrossCoreFlags> cross_;
  Result* result_ = nullptr;
  Watch* watch_ = nullptr;
  bool failed_ = false, watching_ = false;
};

}  // namespace vinci::test
