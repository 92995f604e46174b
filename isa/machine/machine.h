// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>

#include "isa/machine/cross_core.h"
#include "isa/machine/flags.h"
#include "isa/machine/sequencer.h"
#include "isa/machine/spin_watch.h"
#include "isa/machine/unit_flags.h"

namespace vinci::isa {

struct Census;  // isa/census/census.h

// The untimed reference machine: one core without a clock. Instructions run as soon as flags and barriers allow, pipes
// in order; for a program without races the result is the one of every legal schedule, so it is what the timed core is
// tested against.
class Machine {
 public:
  Machine(const CoreSpec& core, GlobalMemory& gm, u32 core_id, Census* census = nullptr);
  Machine(const Machine&) = delete;  // its sequencer keeps references to its own parts
  Machine& operator=(const Machine&) = delete;

  // The state of a core of a task.
  enum class State : u8 {
    done,
    waits,  // for a cross-core flag
    paused  // after as many instructions as it was given
  };

  // Runs one block that needs no other core to its end. Faults carry "file:line" of the instruction. `budget` counts
  // down by the instructions that ran, and by one for each 255 repeats of one in counter mode beyond the first; at zero
  // the run ends with Fault::Limit.
  void run(const Code& code, const Launch& launch, u64& budget);

  // The same in steps, as one core of a task: start() places it, advance() runs at most `quantum` instructions, and
  // goes on where the call before has stopped. `flags` and what `launch` says must outlive the block.
  void start(const Code& code, const Launch& launch, CrossCoreFlags* flags, TaskCore self);
  State advance(u64& budget, u64 quantum);
  // What the core waits for after State::waits, or what it repeats where it spins(), for messages.
  std::string waits_for() const;
  // Where nothing moves any more: throws the fault of a core that waits for room in the counter of a cross-core flag,
  // or of a pipe that sets a flag whose earlier set nothing has taken.
  void fail_at_fault();

  // From now on it counts what it does besides scalar work in `changes`, which all machines of a task share, and finds
  // out whether it repeats for ever what changes nothing.
  void count_changes(u64& changes) { changes_ = &changes; }
  // Whether it does so, unless another machine changes something.
  bool spins() const { return changes_ != nullptr && watch_.spins(*changes_); }

  // See Sequencer; the observer also finds flags that are set twice.
  void set_observer(Observer* observer) {
    observer_ = observer;
    front_.set_observer(observer);
    if (observer != nullptr) flags_.be_lenient();
  }

  CoreMem& mem() { return mem_; }
  // What a register of the scalar unit holds.
  u64 x(u32 index) const { return front_.x(index); }
  const Spr& spr() const { return front_.spr(); }
  // See Sequencer.
  void set_footprint(const Footprint* footprint) { front_.set_footprint(footprint); }
  // The pipes whose next instruction waits for a flag that is not set yet, or not taken, one bit each.
  u32 blocked() const {
    u32 out = 0;
    for (usize p = 0; p < kPipeCount; ++p)
      out |= queues_[p].empty() ? 0 : 1u << p;
    return out;
  }
  // Instructions of all blocks so far.
  u64 executed() const { return executed_; }
  // STATUS of the present or latest block; each block starts with it cleared, wherever it runs.
  u64 status() const { return status_; }
  // The same, of all blocks so far.
  u64 status_seen() const { return earlier_status_ | status_; }

 private:
  // Runs `body`; attaches the source position to a fault that has none, and the instruction that a pipe was at.
  template <class F>
  void located(u32 pc, const Issued* inst, F&& body);
  void look_for_spinning();
  void change() {
    if (changes_ != nullptr) ++*changes_;
  }
  bool push(const Issued& inst);  // false when it must wait for another core
  void cross_set(const Issued& inst);
  bool finds_counter_full(const Issued& inst);
  // Whether what the core waits for has come.
  bool passes();
  bool advance(PipeId pipe);  // runs the head of a queue; false when it must wait or there is none
  void drain();
  // The same, to the end: a set that comes before the wait for an earlier one is a fault now, unless a checker
  // reports it.
  void drain_all();
  void execute(const Issued& inst);
  [[noreturn]] void report_deadlock(const Issued* scalar) const;

  CoreSpec core_;
  CoreMem mem_;
  Sequencer front_;
  Flags flags_;
  UnitFlags unit_flags_;
  std::array<std::deque<Issued>, kPipeCount> queues_;
  bool pipe_failed_ = false;  // the head of a queue has ended the run
  u64 status_ = 0, earlier_status_ = 0;
  ResultRegisters results_;
  u32 core_id_;
  Observer* observer_ = nullptr;
  std::string name_;  // for the census
  Census* census_;
  const Code* code_ = nullptr;
  Launch launch_;
  CrossCoreFlags* cross_ = nullptr;
  TaskCore self_;
  std::optional<Issued> waiting_;  // wait_flag_dev that other cores must let pass, or a set whose counter is full
  u64* changes_ = nullptr;
  SpinWatch watch_;
  u32 room_ = 0, granted_ = 0;  // instructions until watch_ is asked again, and when it was asked
  u64 executed_ = 0;            // instructions of the scalar unit: the system counter of a machine without time
};

}  // namespace vinci::isa
