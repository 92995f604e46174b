// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/instruction_csv.h"

namespace vinci::trace {

InstructionCsv::InstructionCsv(const std::string& path) : file_(path) {
  file_.print("core,pipe,instr,queued,begin,end,done,code,detail\n");
}

TrackId InstructionCsv::track(std::string_view group, std::string_view name) {
  tracks_.push_back(fmt::format("{},{}", io::csv_field(group), io::csv_field(name)));
  return static_cast<TrackId>(tracks_.size() - 1);
}

void InstructionCsv::span(const Span& s) {
  if (s.source.empty()) return;  // a task, not an instruction
  file_.print("{},{},{},{},{},{},{},{}\n", tracks_[s.track], s.name, s.queued, s.begin, s.end, s.done,
              io::csv_field(fmt::format("{}:{}", s.source, s.line)), io::csv_field(s.detail));
}

}  // namespace vinci::trace
