// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "sim/io/text_file.h"
#include "sim/trace/trace.h"

namespace vinci::trace {

// One row for every instruction that a pipe has retired, in the order of retirement. Times are cycles.
class InstructionCsv final : public FileSink {
 public:
  explicit InstructionCsv(const std::string& path);

  TrackId track(std::string_view group, std::string_view name) override;
  void span(const Span& span) override;
  void flow(TrackId, u64, TrackId, u64, std::string_view) override {}
  void commit() override { file_.commit(); }

 private:
  io::TextFile file_;
  std::vector<std::string> tracks_;  // "core0.AIC,MTE2"
};

// Hands everything on to several sinks, which must see the same tracks in the same order.
class Tee final : public Sink {
 public:
  explicit Tee(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {}
  TrackId track(std::string_view group, std::string_view name) override {
    TrackId id = 0;
    for (Sink* s : sinks_)
      id = s->track(group, name);
    return id;
  }
  void span(const Span& span) override {
    for (Sink* s : sinks_)
      s->span(span);
  }
  void flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view name) override {
    for (Sink* s : sinks_)
      s->flow(from, from_cycle, to, to_cycle, name);
  }

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace vinci::trace
