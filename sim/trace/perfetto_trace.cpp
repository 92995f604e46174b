// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "isa/base/enums.h"
#include "sim/trace/proto.h"

namespace vinci::trace {
namespace {

// Field numbers of Perfetto's public messages (google/perfetto, protos/perfetto/trace, Apache-2.0).
namespace trace_field {
constexpr u32 kPacket = 1;
}
namespace packet_field {
constexpr u32 kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
              kTrackDescriptor = 60;
}
namespace descriptor_field {
constexpr u32 kUuid = 1, kName = 2, kParentUuid = 5, kChildOrdering = 11, kRank = 12;
}
namespace event_field {
constexpr u32 kAnnotation = 4, kType = 9, kNameIid = 10, kTrackUuid = 11, kName = 23, kFlow = 47, kTerminatingFlow = 48;
}
namespace annotation_field {
constexpr u32 kNameIid = 1, kUint = 3, kString = 6, kStringIid = 17;
}
namespace interned_field {
constexpr u32 kEventNames = 2, kAnnotationNames = 3, kAnnotationStrings = 29;
constexpr u32 kIid = 1, kText = 2;  // of an entry
}  // namespace interned_field

enum EventType : u64 { slice_begin = 1, slice_end = 2, instant_event = 3 };
constexpr u64 kStateCleared = 1, kNeedsState = 2;  // sequence_flags
constexpr u64 kExplicitOrder = 3;                  // child_ordering: by rank
constexpr u64 kSequenceId = 1;

// What an annotation says, under the names of the JSON timeline.
enum Note : u64 { queued_cycle, begin_cycle, end_cycle, done_cycle, code, detail };
constexpr auto kNoteNames = enum_names<Note>;
constexpr u64 note_iid(u64 note) { return note + 1; }  // 0 is no name in the format

void entry(std::string& out, u32 field, u64 iid, std::string_view text) {
  std::string message;
  proto::number(message, interned_field::kIid, iid);
  proto::bytes(message, interned_field::kText, text);
  proto::bytes(out, field, message);
}

// Bytes that every packet of an event ends with.
void event_frame(std::string& out, std::string_view event, std::string_view fresh) {
  proto::number(out, packet_field::kSequence, kSequenceId);
  proto::number(out, packet_field::kSequenceFlags, kNeedsState);
  if (!fresh.empty()) proto::bytes(out, packet_field::kInternedData, fresh);
  proto::bytes(out, packet_field::kTrackEvent, event);
}

}  // namespace

u64 PerfettoTrace::Interned::find(std::string_view s, std::string& fresh) {
  if (const auto it = numbers_.find(s); it != numbers_.end()) return it->second;
  if (numbers_.size() == kRoom) return 0;
  const u64 iid = numbers_.size() + 1;
  numbers_.emplace(s, iid);
  entry(fresh, field_, iid, s);
  return iid;
}

PerfettoTrace::PerfettoTrace(const std::string& path, double hertz)
    : file_(path), hertz_(hertz), names_(interned_field::kEventNames), values_(interned_field::kAnnotationStrings) {
  std::string interned;
  for (usize i = 0; i < kNoteNames.size(); ++i)
    entry(interned, interned_field::kAnnotationNames, note_iid(i), kNoteNames[i]);
  std::string packet;
  proto::number(packet, packet_field::kSequence, kSequenceId);
  proto::number(packet, packet_field::kSequenceFlags, kStateCleared);
  proto::bytes(packet, packet_field::kInternedData, interned);
  proto::bytes(buffer_, trace_field::kPacket, packet);
}

void PerfettoTrace::describe(u64 uuid, u64 parent, u64 rank, std::string_view name) {
  std::string track;
  proto::number(track, descriptor_field::kUuid, uuid);
  proto::bytes(track, descriptor_field::kName, name);
  if (parent != 0) proto::number(track, descriptor_field::kParentUuid, parent);
  if (parent == 0) proto::number(track, descriptor_field::kChildOrdering, kExplicitOrder);
  proto::number(track, descriptor_field::kRank, rank);
  std::string packet;
  proto::number(packet, packet_field::kSequence, kSequenceId);
  proto::bytes(packet, packet_field::kTrackDescriptor, track);
  proto::bytes(buffer_, trace_field::kPacket, packet);
}

TrackId PerfettoTrace::track(std::string_view group, std::string_view name) {
  auto it = std::ranges::find(groups_, group, &Group::name);
  if (it == groups_.end()) {
    groups_.push_back({.name = std::string(group), .uuid = ++uuids_});
    it = std::prev(groups_.end());
  }
  tracks_.push_back({.uuid = ++uuids_,
                     .rank = ++it->lanes,
                     .group = static_cast<usize>(it - groups_.begin()),
                     .name = std::string(name)});
  return static_cast<TrackId>(tracks_.size() - 1);
}

u64 PerfettoTrace::used(TrackId track) {
  Track& t = tracks_[track];
  if (!std::exchange(t.described, true)) {
    Group& group = groups_[t.group];
    if (!std::exchange(group.described, true)) describe(group.uuid, 0, t.group + 1, group.name);
    describe(t.uuid, group.uuid, t.rank, t.name);
  }
  return t.uuid;
}

void PerfettoTrace::begin_event(u64 type, u64 uuid) {
  event_.clear();
  fresh_.clear();
  proto::number(event_, event_field::kType, type);
  proto::number(event_, event_field::kTrackUuid, uuid);
}

void PerfettoTrace::name(std::string_view s) {
  if (const u64 iid = names_.find(s, fresh_); iid != 0) {
    proto::number(event_, event_field::kNameIid, iid);
  } else {
    proto::bytes(event_, event_field::kName, s);
  }
}

void PerfettoTrace::number_note(u64 note, u64 value) {
  proto::small_message(event_, event_field::kAnnotation, [&] {
    proto::number(event_, annotation_field::kNameIid, note_iid(note));
    proto::number(event_, annotation_field::kUint, value);
  });
}

void PerfettoTrace::text_note(u64 note, std::string_view text) {
  std::string message;
  proto::number(message, annotation_field::kNameIid, note_iid(note));
  if (const u64 iid = values_.find(text, fresh_); iid != 0) {
    proto::number(message, annotation_field::kStringIid, iid);
  } else {
    proto::bytes(message, annotation_field::kString, text);
  }
  proto::bytes(event_, event_field::kAnnotation, message);
}

void PerfettoTrace::packet(u64 cycle, std::string_view event, std::string_view fresh) {
  std::string packet;
  proto::number(packet, packet_field::kTimestamp, nanoseconds(cycle));
  event_frame(packet, event, fresh);
  proto::bytes(buffer_, trace_field::kPacket, packet);
}

void PerfettoTrace::span(const Span& s) {
  const u64 uuid = used(s.track);
  const bool point = s.begin == s.end;
  begin_event(point ? instant_event : slice_begin, uuid);
  name(s.name);
  number_note(queued_cycle, s.queued);
  number_note(begin_cycle, s.begin);
  number_note(end_cycle, s.end);
  number_note(done_cycle, s.done);
  if (!s.source.empty()) text_note(code, fmt::format("{}:{}", s.source, s.line));
  if (!s.detail.empty()) text_note(detail, s.detail);
  packet(s.begin, event_, fresh_);
  if (!point) {
    begin_event(slice_end, uuid);
    packet(s.end, event_, fresh_);
  }
  flush_if_full();
}

void PerfettoTrace::instant(TrackId track, u64 cycle, std::string_view text, u32 flow_field, u64 flow) {
  begin_event(instant_event, used(track));
  name(text);
  proto::fixed64(event_, flow_field, flow);
  packet(cycle, event_, fresh_);
}

void PerfettoTrace::flow(TrackId from, u64 from_cycle, TrackId to, u64 to_cycle, std::string_view text) {
  ++flows_;
  instant(from, from_cycle, text, event_field::kFlow, flows_);
  instant(to, to_cycle, text, event_field::kTerminatingFlow, flows_);
  flush_if_full();
}

void PerfettoTrace::flush_if_full() {
  if (buffer_.size() < kFlushBytes) return;
  file_.write(buffer_);
  buffer_.clear();
}

void PerfettoTrace::commit() {
  file_.write(buffer_);
  buffer_.clear();
  file_.commit();
}

}  // namespace vinci::trace
