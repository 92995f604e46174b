// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <set>
#include <string>
#include <vector>

#include "isa/base/enums.h"
#include "isa/census/census.h"
#include "models/soc/kernel_codes.h"
#include "tools/results/numerics.h"

// The census of a run by instruction, and by line of the source.
namespace vinci::results {

// An instruction of a task with what it is called.
struct CensusSite {
  u32 task_id = 0;  // position of the task in the task stream
  const task::Task* task = nullptr;
  usize stream = 0;
  u64 sequence = 0;  // tasks count in the order in which they begin to compute
  std::string instruction{};
  isa::Site site{};
  u32 pc = 0;
  std::string place{};  // file:line
  const isa::SiteCensus* census = nullptr;
};

// Every site, tasks in the order of the task stream, instructions in the order of the program.
class CensusSites {
 public:
  explicit CensusSites(const CensusReport& report);

  // What an instruction of a task is called, or a task that is no kernel.
  struct Name {
    std::string task, instruction, place;
  };
  Name name_of(u32 task_id, const isa::Site& site) const;
  // The site of an instruction; null where it reported nothing.
  const CensusSite* find(u32 task_id, const isa::Site& site) const;

  auto begin() const { return sites_.begin(); }
  auto end() const { return sites_.end(); }
  usize size() const { return sites_.size(); }

 private:
  const task::TaskStream& stream_;
  models::KernelCodes codes_;
  std::vector<CensusSite> sites_;
};

// Whether this occurrence comes before another: the task that computes first, then the lower block, then the order of
// its instructions.
bool comes_before(const CensusSite& a, const CensusSite& b, isa::NumericEvent event);

// How much an event says about the result of a program.
enum class Harm : u8 {
  none,
  rounding,  // subnormal, absorbed: the result is as near as it can be
  lost,      // flushed, clipped: a value is gone
  wrong,     // overflow, nan, saturated, wrapped: the value is not the one of the program
};
inline constexpr auto kHarmNames = enum_names<Harm>;
constexpr std::string_view name(Harm h) { return kHarmNames[static_cast<usize>(h)]; }
Harm harm_of(isa::NumericEvent event);

// All instructions of one line of the source, in all tasks: unrolled ones, and those of several cores and launches.
struct CensusLine {
  std::string place;
  std::vector<std::string> tasks{}, instructions{};  // by name, in the order of the first
  u64 sites = 0, executions = 0, results = 0;
  std::array<u64, isa::kNumericEvents> counts{};
  std::array<const CensusSite*, isa::kNumericEvents> first{};  // of the events that occurred
  bool reaches = false;  // special values that were born here reach the host, or a comparison

  Harm harm() const;
  u64 harmful() const;  // events of that harm
};

// Lines from which something `reaches` an output or a decision first, then those with the worst harm; of equal ones
// that which is first in the run, so that a cause precedes its consequences.
std::vector<CensusLine> census_lines(const CensusSites& sites, const std::set<std::string>& reaching);

}  // namespace vinci::results
