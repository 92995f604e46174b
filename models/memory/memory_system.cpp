// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/memory_system.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/base/error.h"
#include "models/memory/hbm.h"

namespace vinci::models {
namespace {

// Of whole lines above all; 0 bytes a cycle are no limit.
Rate rate_of(double bytes_per_cycle, const config::MemoryConfig& config) {
  return {bytes_per_cycle == 0 ? 0 : kTicksPerCycle / bytes_per_cycle, config.l2.line};
}

}  // namespace

MemorySystem::MemorySystem(const config::MemoryConfig& config, double hertz, u32 ports, stats::Group& stats,
                           const DramFactory& dram)
    : line_bytes_(config.l2.line),
      line_shift_(std::countr_zero(line_bytes_)),
      min_request_(config.l2.min_request),
      noc_latency_(to_ticks(config.noc.latency)),
      hit_latency_(to_ticks(config.l2.hit_latency)),
      atomic_(to_ticks(config.l2.atomic)),
      hbm_latency_(to_ticks(config.hbm.latency)),
      port_read_(rate_of(config.noc.port_read, config)),
      port_write_(rate_of(config.noc.port_write, config)),
      slice_read_(rate_of(config.l2.slice_read, config)),
      slice_write_(rate_of(config.l2.slice_write, config)),
      group_of_(config.l2.groups),
      region_shift_(config.l2.group_region == 0 ? 63 : std::bit_width(config.l2.group_region / line_bytes_) - 1),
      slice_of_group_(config.l2.slices / config.l2.groups),
      tags_(config.l2.size, config.l2.line, config.l2.ways),
      ports_(ports),
      slices_(config.l2.slices, Slice{{}, std::vector<u64>(config.l2.fetches)}) {
  VINCI_CHECK(config.l2.slices <= L2Tags::kNotes);
  register_in(stats);
  const DramSetup setup{.config = config.hbm, .hertz = hertz, .line_bytes = line_bytes_, .stats = stats.group("hbm")};
  dram_ = dram ? dram(setup) : std::make_unique<Hbm>(setup);
}

void MemorySystem::register_in(stats::Group& stats) {
  stats::Group& noc = stats.group("noc");
  noc.add("read_bytes", read_bytes_, "B", "bytes that the ports of the cores received");
  noc.add("write_bytes", write_bytes_, "B", "bytes that the ports of the cores sent");
  stats::Group& l2 = stats.group("l2");
  l2.add("read_bytes", read_bytes_, "B", "bytes that cores read, those past L2 included");
  l2.add("write_bytes", write_bytes_, "B", "bytes that cores wrote, those past L2 included");
  l2.add("hits", hits_, "requests", "requests that found their line");
  l2.add("misses", misses_, "requests", "requests that did not");
  l2.add("bypassed", bypassed_, "requests", "requests past L2");
  l2.add("hit_bytes", hit_bytes_, "B", "bytes of the requests that found their line");
  l2.add("miss_bytes", miss_bytes_, "B", "bytes of the requests that did not");
  l2.add("bypass_bytes", bypass_bytes_, "B", "bytes of the requests past L2");
  stats::Group& hbm = stats.group("hbm");
  hbm.add("read_bytes", hbm_read_bytes_, "B", "bytes read into L2 or past it");
  hbm.add("write_bytes", hbm_write_bytes_, "B", "bytes written back from L2 or past it");
}

MemorySystem::Train::Train(MemorySystem& m, const Request& first, u64 step)
    : memory_(&m), step_(step), request_(first) {
  VINCI_CHECK(first.port < m.ports_.size());
  if (first.atomic) request_.hint = CacheHint::normal;  // L2 is where they are done
  const u64 served = std::max<u64>(first.bytes, m.min_request_);
  port_ = first.write ? &m.ports_[first.port].write : &m.ports_[first.port].read;
  port_ticks_ = (first.write ? m.port_write_ : m.port_read_).ticks(first.bytes);
  slice_ticks_ = (first.write ? m.slice_write_ : m.slice_read_).ticks(served);
}

u64 MemorySystem::Train::not_hit(u64 at, u64 address, u32 slice) {
  request_.address = address;
  return memory_->not_hit(at, request_, slice);
}

u64 MemorySystem::access(u64 now, const Request& r) {
  Train train(*this, r);
  const u64 done = train.access(now, r.address).done;
  train.count(1);
  return done;
}

u64 MemorySystem::dram_access(u64 at, u64 address, u32 bytes, bool write) {
  (write ? hbm_write_bytes_ : hbm_read_bytes_) += bytes;
  return dram_->access(at, address, bytes, write);
}

u32 MemorySystem::slice_of(u64 line) {
  const u64 groups = group_of_.by();
  if (groups == 1) return static_cast<u32>(slice_of_group_(line).server);
  const auto [index, member] = group_of_(line);
  const u64 group = member + scattered(line >> region_shift_, groups);
  return static_cast<u32>(slice_of_group_(index).server * groups + (group < groups ? group : group - groups));
}

// A write of a whole line waits for room alone: in the slice, behind the reads, and for what a dirty victim has to
// make. The rest of a line that is written in part is fetched in the background.
inline MemorySystem::Answer MemorySystem::miss(u64 at, const Request& r, u32 slice) {
  ++misses_;
  miss_bytes_ += r.bytes;
  if (r.hint == CacheHint::no_allocate) {
    const u64 done = dram_access(at, r.address, r.bytes, r.write);
    return {done, done};
  }
  L2Tags::Allocated room = tags_.allocate(line_of(r.address), slice);
  u64 taken = at;
  if (room.written_back != L2Tags::kNone) {
    taken = dram_access(at, room.written_back * line_bytes_, static_cast<u32>(line_bytes_), true);
  }
  u64 fetched = at;
  if (!r.write || r.atomic || r.bytes < line_bytes_) {
    fetched = dram_access(at, begin_of_line(r.address), static_cast<u32>(line_bytes_), false);
    fill(room.line, fetched);
  }
  const u64 over = std::max(taken, fetched);
  if (!r.write) return {fetched, over};
  room.line.make_dirty();
  return {r.atomic ? update(room.line, over) : taken, over};
}

MemorySystem::Answer MemorySystem::past_l2(u64 at, const Request& r) {
  ++bypassed_;
  bypass_bytes_ += r.bytes;
  if (tags_.drop(line_of(r.address)).value_or(false)) {
    at = std::max(at, dram_access(at, begin_of_line(r.address), static_cast<u32>(line_bytes_), true));
  }
  const u64 done = dram_access(at, r.address, r.bytes, r.write);
  return {done, done};
}

u64 MemorySystem::not_hit(u64 at, const Request& r, u32 slice) {
  Slice& s = slices_[slice];
  u64& place = s.until[s.oldest];
  if (++s.oldest == s.until.size()) s.oldest = 0;
  const u64 begin = std::max(at, place);
  const Answer answer = r.hint == CacheHint::bypass ? past_l2(begin, r) : miss(begin, r, slice);
  place = answer.over;
  return answer.done;
}

bool MemorySystem::at_rest(u64 cycle) const {
  u64 until = filled_;
  each_timeline(*this, [&](const Timeline& t) { until = std::max(until, t.free_at()); });
  return until <= to_ticks(cycle);
}

MemorySystem::Served MemorySystem::served_since(u64 moment, u64 cycle) const {
  const u64 start = to_ticks(cycle);
  const auto after_start = [&](u64 ticks) { return ticks - std::min(ticks, start); };
  Served out;
  for (const u64 number : tags_.used_since(moment)) {
    const L2Tags::Line& line = *tags_.look(number);
    out.lines.push_back({.number = number, .dirty = line.dirty(), .busy_until = after_start(line.filled())});
  }
  each_timeline(*this, [&](const Timeline& t) { out.reserved.push_back(after_start(t.free_at())); });
  return out;
}

bool MemorySystem::would_serve(const Served& served) const {
  return std::ranges::all_of(served.lines, [&](const Served::Line& used) {
    const L2Tags::Line* line = tags_.look(used.number);
    return line != nullptr && (line->dirty() || !used.dirty);
  });
}

void MemorySystem::serve_again(const Served& served, u64 cycle) {
  const u64 start = to_ticks(cycle);
  for (const Served::Line& used : served.lines) {
    L2Tags::Line& line = *tags_.find(used.number);
    if (used.busy_until != 0) fill(line, start + used.busy_until);
  }
  usize i = 0;
  each_timeline(*this, [&](Timeline& t) { t.reserve_until(start + served.reserved[i++]); });
}

}  // namespace vinci::models
