// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/trace/trace.h"

namespace vinci::studies {

// Watches a run and says how long two pipes of a core worked at the same time.
class Overlap final : public trace::Sink {
 public:
  trace::TrackId track(std::string_view group, std::string_view name) override {
    tracks_.push_back({std::string(group), std::string(name)});
    return static_cast<trace::TrackId>(tracks_.size() - 1);
  }
  void span(const trace::Span& s) override {
    const bool works = s.name != "wait_flag" && s.name != "pipe_barrier";
    if (works && s.end > s.begin) busy_[tracks_[s.track]].emplace_back(s.begin, s.end);
  }
  void flow(trace::TrackId, u64, trace::TrackId, u64, std::string_view) override {}

  // Cycles in which both pipes work, of all cores together.
  u64 cycles(std::string_view a, std::string_view b) const {
    u64 sum = 0;
    for (const auto& [key, spans] : busy_) {
      if (key.second != a) continue;
      const auto other = busy_.find({key.first, std::string(b)});
      if (other == busy_.end()) continue;
      for (usize i = 0, j = 0; i < spans.size() && j < other->second.size();) {
        const auto [begin, end] = spans[i];
        const auto [other_begin, other_end] = other->second[j];
        sum += std::max(std::min(end, other_end), std::max(begin, other_begin)) - std::max(begin, other_begin);
        ++(end < other_end ? i : j);
      }
    }
    return sum;
  }

 private:
  using Track = std::pair<std::string, std::string>;  // core, pipe
  std::vector<Track> tracks_;
  std::map<Track, std::vector<std::pair<u64, u64>>> busy_;  // in time
};

}  // namespace vinci::studies
