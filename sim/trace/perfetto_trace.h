// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/io/atomic_file.h"
#include "sim/trace/trace.h"

namespace vinci::trace {

// The timeline in the format of Perfetto (a `perfetto.protos.Trace`), a third of the size of JSON and not bound to what
// a browser can parse: a track for each group, below it one for each lane. Spans of no length are instants; an arrow is
// a flow between two instants. Written as it comes: strings that repeat are interned, up to a number, so that memory
// does not grow with the run. The file appears with commit().
class PerfettoTrace final : public FileSink {
 public:
  // Cycles are shown in time of this clock.
  PerfettoTrace(const std::string& path, double hertz);

  TrackId track(std::string_view group, std::string_view name) override;
  void span(const Span& span) override;
  void flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view name) override;
  void commit() override;

 private:
  // Strings by number, as the InternedData of one field; numbers from 1.
  class Interned {
   public:
    explicit Interned(u32 field) : field_(field) {}
    // The number of a string, 0 if there is no room for more. A new one is described in `fresh`, for the same packet.
    u64 find(std::string_view s, std::string& fresh);

   private:
    static constexpr usize kRoom = 1 << 16;
    struct Hash : std::hash<std::string_view> {
      using is_transparent = void;
    };
    u32 field_;
    std::unordered_map<std::string, u64, Hash, std::equal_to<>> numbers_;
  };
  struct Group {
    std::string name;
    u64 uuid = 0;
    u64 lanes = 0;
    bool described = false;
  };
  struct Track {
    u64 uuid = 0, rank = 0;
    usize group = 0;
    std::string name;
    bool described = false;
  };

  u64 nanoseconds(u64 cycle) const { return static_cast<u64>(static_cast<double>(cycle) * (1e9 / hertz_)); }
  // Ends a packet with the event, the track and the time that it concerns.
  void packet(u64 cycle, std::string_view event, std::string_view fresh);
  // The uuid of a track, which is described in the file when it is first used: cores without work do not show.
  u64 used(TrackId track);
  void describe(u64 uuid, u64 parent, u64 rank, std::string_view name);
  void name(std::string_view s);
  void text_note(u64 note, std::string_view text);
  void number_note(u64 note, u64 value);
  void instant(TrackId track, u64 cycle, std::string_view name, u32 flow_field, u64 flow);
  void begin_event(u64 type, u64 uuid);
  void flush_if_full();

  io::AtomicFile file_;
  double hertz_;
  std::vector<Group> groups_;
  std::vector<Track> tracks_;
  u64 uuids_ = 0;
  u64 flows_ = 0;
  Interned names_, values_;
  std::string buffer_;         // whole packets
  std::string event_, fresh_;  // of the packet under way, kept for their room
};

}  // namespace vinci::trace
