// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "isa/base/types.h"
#include "isa/numeric/events.h"

// The census of numeric events: which results overflowed, turned into NaN, were saturated, are subnormal, vanished, or
// swallowed an addend; how often, at which instruction of which task, and with which operands the first time. Filled by
// the instructions while they execute; without a census they only test one null pointer. See docs/numerics.md.
namespace vinci::isa {

// An instruction of a task, or a task that is no kernel.
struct Site {
  static constexpr u32 kNoKernel = ~u32{0};

  u32 kernel = 0;  // index in the task stream; a MIX task has two
  u32 pc = 0;      // index in its program

  friend auto operator<=>(const Site&, const Site&) = default;
};

// When in a task: the lower block comes first, then the earlier instruction of the block, whatever ran first on this
// chip, so that the answer does not depend on the schedule.
struct Moment {
  u32 block = std::numeric_limits<u32>::max();
  u64 order = std::numeric_limits<u64>::max();  // of the instruction among those that the block has issued
  u32 part = 0;                                 // of a block of a MIX task: 0 AIC, then its AIVs

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

struct NumericOperand {
  std::string_view name;  // as in the reference of the instruction
  double value = 0;
};

// A result with the operands that it came from.
struct Result {
  std::array<NumericOperand, 3> operands{};
  u8 operand_count = 0;
  double result = 0;
};

// One event of one result.
struct Occurrence : Result {
  Moment moment;
  std::string core;  // "core3.AIV"
  u64 element = 0;   // of the instruction, counted over its repeats with the lanes that are masked off
  u32 cause = 0;  // where a special operand comes from: a node of Origins, 0: it is not known, or no operand is special
};

// What the executions of one instruction in one task did.
struct SiteCensus {
  u64 executions = 0;
  u64 results = 0;
  std::array<u64, kNumericEvents> counts{};
  std::array<Occurrence, kNumericEvents> first{};  // of the events that occurred

  u64 count(NumericEvent e) const { return counts[static_cast<usize>(e)]; }
};

// The first time that an instruction of a task overflowed, as the overflow dump of the vendor knows it.
struct FirstOverflow {
  Moment moment;
  Site site;
  u64 status = 0;  // bits of STATUS, or of an atomic write its AtomicOverflow code; 0: none
};

struct TaskCensus {
  u64 sequence = 0;  // tasks count in the order in which they begin to compute
  std::map<Site, SiteCensus> sites;
  FirstOverflow first_overflow;  // of a core
  FirstOverflow first_atomic;    // of an atomic write to global memory
};

class Origins;  // isa/census/origins.h
class Shadow;   // isa/shadow/shadow.h

// Of a whole run.
struct Census {
  std::map<u32, TaskCensus> tasks;  // by Launch::task, the position of the task in the order of the task stream
  std::shared_ptr<Origins> origins;
  bool events = true;               // they are counted
  std::shared_ptr<Shadow> shadow;   // references of the elements; null: there are none
  std::shared_ptr<Shadow> what_if;  // the same of a program with other formats; only with `shadow`

  // The census of a task, which begins with it.
  TaskCensus& of(u32 task);
};

// Where an instruction that executes reports its results: one object for each execution. Instructions that report
// nothing leave no site.
class CensusPoint {
 public:
  CensusPoint(TaskCensus& task, const Site& site, const Moment& moment, std::string_view core)
      : task_(task), id_(site), moment_(moment), core_(core) {}

  // From where special operands of this execution come, a node of Origins.
  void set_cause(u32 node) { cause_ = node; }
  // Events that this execution had although no operand was special, of those that leave special values behind.
  NumericEvents born() const { return born_; }
  const Site& id() const { return id_; }

  void add_results(u64 count) { site().results += count; }
  // `count` results had an event; `element` is the first of them, and describe() gives it as a Result.
  template <class Describe>
  void add(NumericEvent event, u64 count, u64 element, Describe describe) {
    if (is_first(event, element) || leaves_special(event)) record(event, element, describe());
    site().counts[static_cast<usize>(event)] += count;
  }
  // `events` happened to the result of this element.
  void add(NumericEvents events, u64 element, std::span<const NumericOperand> operands, double result);
  // The bits of STATUS that the whole execution raised.
  void add_status(u64 raised);
  // The code of its first atomic write that left the range, 0: none did.
  void add_atomic(u64 code);

 private:
  SiteCensus& site();
  bool is_first(NumericEvent event, u64 element);
  // Whether it leaves infinities, NaN, largest values or zeros behind, whose way is followed.
  static bool leaves_special(NumericEvent event) {
    return event == NumericEvent::overflow || event == NumericEvent::nan || event == NumericEvent::flushed;
  }
  void record(NumericEvent event, u64 element, const Result& result);
  void note(FirstOverflow& first, u64 status) const;

  TaskCensus& task_;
  SiteCensus* site_ = nullptr;
  Site id_;
  Moment moment_;
  std::string_view core_;
  u32 cause_ = 0;
  NumericEvents born_ = 0;
};

}  // namespace vinci::isa
