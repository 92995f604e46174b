// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/chrome_trace.h"

#include <algorithm>
#include <iterator>

#include "sim/trace/json_text.h"

namespace vinci::trace {

ChromeTrace::ChromeTrace(const std::string& path, double hertz) : file_(path), hertz_(hertz) {
  fmt::format_to(std::back_inserter(buffer_), "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  fmt::format_to(std::back_inserter(buffer_), "{{\"name\":\"clock\",\"ph\":\"M\",\"pid\":0,\"args\":{{\"hertz\":{}}}}}",
                 hertz);
}

void ChromeTrace::flush_if_full() {
  if (buffer_.size() < kFlushBytes) return;
  file_.write(std::string_view(buffer_.data(), buffer_.size()));
  buffer_.clear();
}

TrackId ChromeTrace::track(std::string_view group, std::string_view name) {
  auto it = std::ranges::find(groups_, group, &Group::name);
  if (it == groups_.end()) {
    groups_.push_back({.name = std::string(group)});
    it = std::prev(groups_.end());
  }
  tracks_.push_back({.pid = static_cast<u32>(it - groups_.begin()) + 1, .tid = ++it->lanes, .name = std::string(name)});
  return static_cast<TrackId>(tracks_.size() - 1);
}

const ChromeTrace::Track& ChromeTrace::used(TrackId track) {
  Track& t = tracks_[track];
  if (t.named) return t;
  t.named = true;
  const auto out = std::back_inserter(buffer_);
  if (Group& group = groups_[t.pid - 1]; !group.named) {
    group.named = true;
    fmt::format_to(out, ",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"args\":{{\"name\":{}}}}}", t.pid,
                   json_string(group.name));
    fmt::format_to(
        out, ",\n{{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":{0},\"args\":{{\"sort_index\":{0}}}}}", t.pid);
  }
  fmt::format_to(out, ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}",
                 t.pid, t.tid, json_string(t.name));
  fmt::format_to(
      out, ",\n{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"args\":{{\"sort_index\":{1}}}}}",
      t.pid, t.tid);
  return t;
}

void ChromeTrace::span(const Span& s) {
  const Track& t = used(s.track);
  // Begin and end are rounded on their own, so that neighbours on a lane touch but never overlap.
  const u64 begin = nanoseconds(s.begin);
  const u64 length = nanoseconds(s.end) - begin;
  const auto out = std::back_inserter(buffer_);
  fmt::format_to(out,
                 ",\n{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},\"args\":{{",
                 json_string(s.name), t.pid, t.tid, begin / 1000, begin % 1000, length / 1000, length % 1000);
  fmt::format_to(out, "\"queued_cycle\":{},\"begin_cycle\":{},\"end_cycle\":{},\"done_cycle\":{}", s.queued, s.begin,
                 s.end, s.done);
  if (!s.source.empty()) {
    fmt::format_to(out, ",\"code\":{}", json_string(fmt::format("{}:{}", s.source, s.line)));
  }
  fmt::format_to(out, ",\"detail\":{}}}}}", json_string(s.detail));
  flush_if_full();
}

void ChromeTrace::flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view name) {
  const auto out = std::back_inserter(buffer_);
  const std::string text = json_string(name);
  const Track source = used(from), target = used(to);
  const u64 begin = nanoseconds(from_cycle);
  const u64 end = nanoseconds(to_cycle);
  fmt::format_to(
      out, ",\n{{\"name\":{0},\"cat\":\"flag\",\"ph\":\"s\",\"id\":{1},\"pid\":{2},\"tid\":{3},\"ts\":{4}.{5:03}}}",
      text, ++flows_, source.pid, source.tid, begin / 1000, begin % 1000);
  fmt::format_to(out,
                 ",\n{{\"name\":{0},\"cat\":\"flag\",\"ph\":\"f\",\"bp\":\"e\",\"id\":{1},\"pid\":{2},\"tid\":{3},"
                 "\"ts\":{4}.{5:03}}}",
                 text, flows_, target.pid, target.tid, end / 1000, end % 1000);
  flush_if_full();
}

void ChromeTrace::commit() {
  fmt::format_to(std::back_inserter(buffer_), "\n]}}\n");
  file_.write(std::string_view(buffer_.data(), buffer_.size()));
  buffer_.clear();
  file_.commit();
}

}  // namespace vinci::trace
