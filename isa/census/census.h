// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

// The census of numeric events: which results overflowed, turned into NaN, were saturated, are subnormal, vanished, or
// swallowed an addend; how often, at which instruction of which task, and with which operands the first time. Filled by
// the instructions while they execute; without a census they only test one null pointer. See docs/numerics.md.
namespace vinci::isa {

enum class NumericEvent : u8 {
  overflow,   // finite operands, but the IEEE 754 result is infinite; an integer result that wraps
  nan,        // no operand is NaN, but the IEEE 754 result is
  saturated,  // the result was replaced: infinity by the largest value, NaN by 0, an integer by its limit
  subnormal,  // the result is subnormal
  flushed,    // the result is zero, but the exact value is not
  absorbed,   // an addend other than zero changed nothing: x + y == x with y != 0
};
inline constexpr usize kNumericEvents = enum_count<NumericEvent>;
inline constexpr auto kNumericEventNames = enum_names<NumericEvent>;
constexpr std::string_view name(NumericEvent e) { return kNumericEventNames[static_cast<usize>(e)]; }

// A set of events, as a bit mask.
using NumericEvents = u8;
constexpr NumericEvents bit(NumericEvent e) { return static_cast<NumericEvents>(1u << static_cast<unsigned>(e)); }

// An instruction of a task.
struct Site {
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

// One event of one result.
struct Occurrence {
  Moment moment;
  std::string core;  // "core3.AIV"
  u64 element = 0;   // of the instruction, counted over its repeats with the lanes that are masked off
  std::array<NumericOperand, 3> operands{};
  u8 operand_count = 0;
  double result = 0;
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
  std::map<Site, SiteCensus> sites;
  FirstOverflow first_overflow;  // of a core
  FirstOverflow first_atomic;    // of an atomic write to global memory
};

// Of a whole run.
struct Census {
  std::map<u32, TaskCensus> tasks;  // by Launch::task, the position of the task in the order of the task stream
};

// Where an instruction that executes reports its results: one object for each execution.
class CensusPoint {
 public:
  CensusPoint(TaskCensus& task, const Site& site, const Moment& moment, std::string_view core)
      : task_(task), site_(task.sites[site]), id_(site), moment_(moment), core_(core) {
    ++site_.executions;
  }

  void add_results(u64 count) { site_.results += count; }
  // `events` happened to the result of this element.
  void add(NumericEvents events, u64 element, std::span<const NumericOperand> operands, double result);
  // The bits of STATUS that the whole execution raised.
  void add_status(u64 raised);
  // The code of its first atomic write that left the range, 0: none did.
  void add_atomic(u64 code);

 private:
  void note(FirstOverflow& first, u64 status) const;

  TaskCensus& task_;
  SiteCensus& site_;
  Site id_;
  Moment moment_;
  std::string_view core_;
};

}  // namespace vinci::isa
