// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

#include "isa/base/types.h"

// What a simulation shows of itself while it runs. Models call a sink if there is one and never know who watches.
namespace vinci::trace {

// A lane of the timeline: one pipe of one core, one stream, one copy engine.
using TrackId = u32;

// One instruction or task, from `begin` to `end` in cycles. Spans of a track come in the order of retirement; they do
// not overlap, but points (set_flag, a wait that did not last) may be inside others.
struct Span {
  TrackId track = 0;
  std::string_view name = {};
  u64 queued = 0;                // cycle of issue
  u64 begin = 0;                 // cycle in which it started
  u64 end = 0;                   // cycle in which its lane was free again
  u64 done = 0;                  // cycle in which its result was visible
  std::string_view detail = {};  // operands, or what a task carries
  std::string_view source = {};  // file of the program, "" for tasks
  u32 line = 0;
  u32 pc = 0;                  // index of the instruction in its program
  std::string_view task = {};  // of an instruction: the task whose kernel it is of
};

class Sink {
 public:
  virtual ~Sink() = default;
  // A lane `name` ("MTE2") in a group ("core0.AIC"), in the order in which they shall be shown.
  virtual TrackId track(std::string_view group, std::string_view name) = 0;
  virtual void span(const Span& span) = 0;
  // An arrow from one lane to another, such as set_flag to wait_flag.
  virtual void flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view name) = 0;
};

// Sinks write their text to the file when it has so many bytes.
inline constexpr usize kFlushBytes = 1 << 20;

// A sink that writes files.
class FileSink : public Sink {
 public:
  // The files are whole and have their names when this returns; without it they do not appear.
  virtual void commit() = 0;
};

}  // namespace vinci::trace
