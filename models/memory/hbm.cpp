// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/hbm.h"

#include <algorithm>

namespace vinci::models {

Hbm::Hbm(const DramSetup& s)
    : banks_(s.config.banks),
      rate_(kTicksPerCycle * s.hertz * s.config.channels / s.config.bandwidth, s.line_bytes),
      latency_(to_ticks(s.config.latency)),
      activate_(ticks_of(s.config.activate, s.hertz)),
      precharge_(ticks_of(s.config.precharge, s.hertz)),
      turn_around_(ticks_of(s.config.turn_around, s.hertz)),
      refresh_time_(ticks_of(s.config.refresh_time, s.hertz)),
      // Rounded to ticks, it must still be the longer one.
      refresh_interval_(std::max(ticks_of(s.config.refresh_interval, s.hertz), refresh_time_ + 1)),
      batch_(s.config.write_batch),
      line_bytes_(static_cast<u32>(s.line_bytes)),
      line_ticks_(0),
      bursts_(s.config.burst),
      interleave_bytes_(s.config.interleave),
      stacks_(s.config.stacks),
      region_blocks_(std::max<u64>(1, s.config.stack_region / s.config.interleave)),
      row_blocks_(std::max<u64>(1, s.config.row / s.config.interleave)),
      channel_of_(s.config.channels / s.config.stacks),
      bank_of_(s.config.banks),
      channels_(s.config.channels),
      all_banks_(u64{s.config.channels} * s.config.banks) {
  line_ticks_ = ticks(line_bytes_);
  for (usize c = 0; c < channels_.size(); ++c) {
    channels_[c].banks = &all_banks_[c * banks_];
    channels_[c].writes.reserve(batch_);
    // One after the other, not all at once.
    channels_[c].refresh = refresh_time_ == 0 ? ~u64{0} : refresh_interval_ * (c + 1) / channels_.size();
  }
  s.stats.add("row_hits", row_hits_, "requests", "requests that found their row open");
  s.stats.add("row_misses", row_misses_, "requests", "requests that found their bank closed");
  s.stats.add("row_conflicts", row_conflicts_, "requests", "requests that found another row open");
  s.stats.add("turn_arounds", turn_arounds_, "turns",
              "times that writes left, as a batch or in idle time, with a turn of the bus before and after");
  s.stats.add("refreshes", refreshes_, "refreshes", "refreshes that a channel spent");
}

[[gnu::always_inline]] inline Hbm::Transfer Hbm::locate(u64 address, u32 bytes, u64& channel) {
  const auto [region, inside] = region_blocks_(interleave_bytes_(address).quotient);
  if (region != region_) {
    region_ = region;
    stack_ = stacks_.by() == 1 ? 0 : by_chance(region, stacks_.by());
    // About as many regions of each group of `stacks` are in one of them; those of one group share rows.
    first_block_ = stacks_(region).quotient * region_blocks_.by();
  }
  const auto [block, server] = channel_of_(first_block_ + inside);
  channel = stack_ * channel_of_.servers() + server;
  const auto [row, bank] = bank_of_(row_blocks_(block).quotient);
  return {.ticks = bytes == line_bytes_ ? line_ticks_ : ticks(bytes),
          .bank = &channels_[channel].banks[bank],
          .row = row + 1};
}

[[gnu::always_inline]] inline u64 Hbm::transfer(Channel& channel, u64 now, const Transfer& t) {
  if (std::max(channel.bus, now) >= channel.refresh) refresh(channel, now);
  u64 prepare = 0;
  if (t.bank->row == t.row) {
    ++row_hits_;
  } else if (t.bank->row == 0) {
    ++row_misses_;
    prepare = activate_;
  } else {
    ++row_conflicts_;
    prepare = precharge_ + activate_;
  }
  channel.bus = std::max(channel.bus, now) + t.ticks;
  const u64 end = std::max(channel.bus, std::max(t.bank->free, now) + prepare + t.ticks);
  *t.bank = {.free = end, .row = t.row};
  return end;
}

void Hbm::refresh(Channel& channel, u64 now) {
  u64 due = 0;
  if (now > channel.refresh + refresh_interval_ && channel.bus < now) {  // those that fell into idle time are over
    due = (now - channel.refresh) / refresh_interval_;
    channel.refresh += due * refresh_interval_;
  }
  for (; std::max(channel.bus, now) >= channel.refresh; ++due) {
    channel.bus = std::max(channel.bus, channel.refresh) + refresh_time_;
    channel.refresh += refresh_interval_;
  }
  for (u64 i = 0; i < std::min(due, banks_); ++i) {
    channel.banks[channel.next_refreshed].row = 0;
    channel.next_refreshed = channel.next_refreshed + 1 < banks_ ? channel.next_refreshed + 1 : 0;
  }
  refreshes_ += due;
}

void Hbm::write_batch(Channel& channel, u64 now, usize count) {
  ++turn_arounds_;
  channel.bus = std::max(channel.bus, now) + turn_around_;
  const auto last = channel.writes.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto t = channel.writes.begin(); t != last; ++t)
    channel.written_until = std::max(channel.written_until, transfer(channel, now, *t));
  channel.bus += turn_around_;
  channel.writes.erase(channel.writes.begin(), last);
}

void Hbm::write_in_idle_time(Channel& channel, u64 now) {
  const u64 begin = std::max(channel.bus, channel.posted);
  if (begin + 2 * turn_around_ >= now) return;
  u64 room = now - begin - 2 * turn_around_;
  usize fit = 0;
  while (fit < channel.writes.size() && channel.writes[fit].ticks <= room)
    room -= channel.writes[fit++].ticks;
  if (fit > 0) write_batch(channel, begin, fit);
}

u64 Hbm::access(u64 now, u64 address, u32 bytes, bool write) {
  u64 number = 0;
  const Transfer t = locate(address, bytes, number);
  Channel& channel = channels_[number];
  if (!channel.writes.empty()) write_in_idle_time(channel, now);
  if (!write) return transfer(channel, now, t) + latency_;
  // Posted: it is taken as soon as the batch before it has left.
  const u64 taken = std::max(now, channel.written_until);
  channel.writes.push_back(t);
  channel.posted = std::max(channel.posted, now);
  if (channel.writes.size() >= batch_) write_batch(channel, now, channel.writes.size());
  return taken;
}

}  // namespace vinci::models
