// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/instruction_csv.h"

#include <iterator>

namespace vinci::trace {
namespace {

constexpr usize kFlushBytes = 1 << 20;

// A CSV field; quoted where it holds a comma, a quote or a line break.
std::string field(std::string_view s) {
  if (s.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(s);
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

InstructionCsv::InstructionCsv(const std::string& path) : file_(path) {
  fmt::format_to(std::back_inserter(buffer_), "core,pipe,instr,queued,begin,end,done,code,detail\n");
}

TrackId InstructionCsv::track(std::string_view group, std::string_view name) {
  tracks_.push_back(fmt::format("{},{}", field(group), field(name)));
  return static_cast<TrackId>(tracks_.size() - 1);
}

void InstructionCsv::span(const Span& s) {
  if (s.source.empty()) return;  // a task, not an instruction
  fmt::format_to(std::back_inserter(buffer_), "{},{},{},{},{},{},{},{}\n", tracks_[s.track], s.name, s.queued, s.begin,
                 s.end, s.done, field(fmt::format("{}:{}", s.source, s.line)), field(s.detail));
  if (buffer_.size() < kFlushBytes) return;
  file_.write(std::string_view(buffer_.data(), buffer_.size()));
  buffer_.clear();
}

void InstructionCsv::commit() {
  file_.write(std::string_view(buffer_.data(), buffer_.size()));
  buffer_.clear();
  file_.commit();
}

}  // namespace vinci::trace
