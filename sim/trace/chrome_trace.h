// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/io/atomic_file.h"
#include "sim/trace/trace.h"

namespace vinci::trace {

// The timeline as Chrome trace events, which Perfetto, chrome://tracing and MindStudio Insight open: a process for each
// group, a thread for each lane. Written as it comes; the file appears with commit().
class ChromeTrace final : public FileSink {
 public:
  // Cycles are shown in time of this clock.
  ChromeTrace(const std::string& path, double hertz);

  TrackId track(std::string_view group, std::string_view name) override;
  void span(const Span& span) override;
  void flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view name) override;
  void commit() override;

 private:
  struct Group {
    std::string name;
    u32 lanes = 0;
    bool named = false;
  };
  struct Track {
    u32 pid = 0;
    u32 tid = 0;
    std::string name;
    bool named = false;
  };
  // The track, which is named in the file when it is first used: cores without work do not show.
  const Track& used(TrackId track);
  u64 nanoseconds(u64 cycle) const { return static_cast<u64>(static_cast<double>(cycle) * (1e9 / hertz_)); }
  void flush_if_full();

  io::AtomicFile file_;
  double hertz_;
  std::vector<Group> groups_;
  std::vector<Track> tracks_;
  u64 flows_ = 0;
  fmt::memory_buffer buffer_;
};

}  // namespace vinci::trace
