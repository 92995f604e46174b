// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/op_summary.h"

#include <algorithm>
#include <span>

namespace vinci::profile {
namespace {

using isa::CoreKind;
using isa::PipeId;
using models::CoreSums;

// A column `<prefix><name>_ratio`: the part of the cycles of all blocks in which the pipe was busy.
struct Metric {
  std::string_view name;
  PipeId pipe;
};
constexpr std::array kAic{Metric{"mac", PipeId::M}, Metric{"scalar", PipeId::S}, Metric{"mte1", PipeId::MTE1},
                          Metric{"mte2", PipeId::MTE2}, Metric{"fixpipe", PipeId::FIX}};
constexpr std::array kAiv{Metric{"vec", PipeId::V}, Metric{"scalar", PipeId::S}, Metric{"mte2", PipeId::MTE2},
                          Metric{"mte3", PipeId::MTE3}};
constexpr std::array kJoint{Metric{"vec", PipeId::V},     Metric{"mac", PipeId::M},     Metric{"scalar", PipeId::S},
                            Metric{"mte1", PipeId::MTE1}, Metric{"mte2", PipeId::MTE2}, Metric{"mte3", PipeId::MTE3}};

std::string times_and_ratios_header(std::string_view prefix, std::span<const Metric> metrics) {
  std::string out;
  for (const Metric& m : metrics)
    out += fmt::format(",{0}_{1}_time(us),{0}_{1}_ratio", prefix, m.name);
  return out + fmt::format(",{}_icache_miss_rate", prefix);
}

std::string header(bool split) {
  std::string out =
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),"
      "Task Duration(us),Task Wait Time(us),Block Num,";
  if (split) out += "Mix Block Num,";
  out += "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,";
  if (!split) {
    out += "aicore_time(us),total_cycles";
    for (const Metric& m : kJoint)
      out += fmt::format(",{}_ratio", m.name);
    return out + ",icache_miss_rate,memory_bound,cube_utilization(%)\n";
  }
  out += "Context ID,aicore_time(us),aic_total_cycles" + times_and_ratios_header("aic", kAic);
  out += ",aiv_time(us),aiv_total_cycles" + times_and_ratios_header("aiv", kAiv);
  return out + ",cube_utilization(%)\n";
}

double ratio(const CoreSums& sums, PipeId pipe) {
  return static_cast<double>(sums.busy[isa::index(pipe)]) / static_cast<double>(sums.cycles);
}

// The counters say how long all cores worked together; the vendor's tools turn that into a time by the blocks that a
// core runs one after the other: cycles / clock / blocks * ceil(blocks / cores).
double core_microseconds(const CoreSums& sums, u32 cores, double hertz) {
  const u64 waves = (sums.blocks + cores - 1) / cores;
  return static_cast<double>(sums.cycles) / hertz * 1e6 / static_cast<double>(sums.blocks) * static_cast<double>(waves);
}

std::string_view missing(usize columns) {
  static constexpr std::string_view kMany = ",N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A";
  return kMany.substr(0, columns * 4);
}

// Of a split core: its time, its cycles, then time and ratio of each pipe. There is no instruction cache to miss.
void split_columns(io::TextFile& file, const CoreSums& sums, std::span<const Metric> metrics, u32 cores, double hertz) {
  if (sums.cycles == 0) return file.print("{}", missing(2 + 2 * metrics.size() + 1));
  const double us = core_microseconds(sums, cores, hertz);
  file.print(",{},{}", decimal(us), sums.cycles);
  for (const Metric& m : metrics)
    file.print(",{},{}", decimal(us * ratio(sums, m.pipe)), decimal(ratio(sums, m.pipe)));
  file.print("{}", missing(1));
}

void joint_columns(io::TextFile& file, const CoreSums& sums, u32 cores, double hertz) {
  if (sums.cycles == 0) return file.print("{}", missing(2 + kJoint.size() + 2));
  file.print(",{},{}", decimal(core_microseconds(sums, cores, hertz)), sums.cycles);
  for (const Metric& m : kJoint)
    file.print(",{}", decimal(ratio(sums, m.pipe)));
  const double compute = std::max(ratio(sums, PipeId::M), ratio(sums, PipeId::V));
  const Decimal bound = compute == 0 ? Decimal{.known = false} : decimal(ratio(sums, PipeId::MTE2) / compute);
  file.print("{},{}", missing(1), bound);
}

// How much of the cores' time, all of them together, the task had a core that can multiply matrices.
Decimal cube_utilization(const CoreSums& sums, u32 cores, u64 cycles) {
  if (sums.cycles == 0 || cycles == 0) return {.known = false};
  return decimal(100 * static_cast<double>(sums.cycles) / (static_cast<double>(cycles) * cores));
}

}  // namespace

OpSummary::OpSummary(const std::string& path, const Target& target) : target_(target), file_(path) {
  file_.print("{}", header(target.split()));
}

void OpSummary::task(const models::TaskRecord& r) {
  if (!is_operator(r)) return;
  const u64 start = target_.nanoseconds(r.start), duration = target_.duration(r);
  const auto [latest, first] = latest_.try_emplace(r.device);
  const u64 before = latest->second.start + latest->second.duration;
  const u64 wait = first || start < before ? 0 : start - before;
  latest->second = {start, duration};

  file_.print("{},{},{},{},{},{},{},{},{}\t,{},{},{},", r.device, target_.model(r), task_id(r), r.stream_id,
              io::csv_field(r.name), io::csv_field(target_.op_type(r)), kMissing, task_type(r), microseconds(start),
              microseconds(duration), microseconds(wait), r.block_dim);
  const auto sums = [&](CoreKind kind) -> const CoreSums& { return r.cores[static_cast<usize>(kind)]; };
  // Of a MIX task the blocks of the vector cores.
  if (target_.split()) file_.print("{},", r.mix ? sums(CoreKind::vector).blocks : 0);
  file_.print("{}", kMissing);  // HF32 Eligible
  if (const OpDescription* const op = target_.describe(r)) {
    for (const auto* const t : {&op->inputs, &op->outputs})
      file_.print(",{},{},{}", io::csv_field(t->shapes), io::csv_field(t->types), io::csv_field(t->formats));
  } else {
    file_.print("{}", missing(6));  // a task stream has no shapes, types and formats
  }
  const double hertz = target_.hertz();
  if (target_.split()) {
    file_.print("{}", missing(1));  // Context ID: of FFTS+ sub-tasks
    split_columns(file_, sums(CoreKind::cube), kAic, target_.cores(CoreKind::cube), hertz);
    split_columns(file_, sums(CoreKind::vector), kAiv, target_.cores(CoreKind::vector), hertz);
  } else {
    joint_columns(file_, sums(CoreKind::joint), target_.cores(CoreKind::joint), hertz);
  }
  const CoreKind matrix = target_.split() ? CoreKind::cube : CoreKind::joint;
  file_.print(",{}\n", cube_utilization(sums(matrix), target_.cores(matrix), r.end - r.start));
}

}  // namespace vinci::profile
