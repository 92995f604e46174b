// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "models/memory/divider.h"
#include "models/memory/dram_model.h"

namespace vinci::models {

// Stacks of channels with banks, as reserved timelines. Which stack has a region of addresses follows from a hash. A
// channel is taken to find other work for its data bus while a bank opens a row, as a reordering controller does:
// opening a row delays the request and its bank, never the bus. What the bus does lose is refresh, one bank after the
// other, and turning around for writes and back, except where it would be idle.
class Hbm final : public DramModel {
 public:
  explicit Hbm(const DramSetup& setup);

  u64 access(u64 now, u64 address, u32 bytes, bool write) override;

 private:
  struct Bank {
    u64 free = 0;  // when it takes its next command
    u64 row = 0;   // the open one + 1; 0: none
  };
  struct Transfer {
    u64 ticks;  // on the bus
    Bank* bank;
    u64 row;
  };
  struct Channel {
    u64 bus = 0;             // free from here on
    u64 refresh = 0;         // when the next one is due
    u64 next_refreshed = 0;  // the bank whose turn it is
    Bank* banks = nullptr;
    u64 written_until = 0;  // when the last batch of writes has left
    u64 posted = 0;         // when the last one came that waits
    std::vector<Transfer> writes = {};
  };

  u64 ticks(u32 bytes) const { return rate_.ticks(bursts_(bytes + bursts_.by() - 1).quotient * bursts_.by()); }
  Transfer locate(u64 address, u32 bytes, u64& channel);
  u64 transfer(Channel& channel, u64 now, const Transfer& t);
  void write_batch(Channel& channel, u64 now, usize count);
  void write_in_idle_time(Channel& channel, u64 now);
  void refresh(Channel& channel, u64 now);

  u64 banks_;
  Rate rate_;  // of one channel
  u64 latency_, activate_, precharge_, turn_around_, refresh_time_, refresh_interval_;
  usize batch_;
  u32 line_bytes_;
  u64 line_ticks_;  // of a line on the bus
  Divider bursts_, interleave_bytes_, stacks_;
  NearDivider region_blocks_, row_blocks_;
  Interleave channel_of_, bank_of_;  // of a stack, of a channel
  u64 region_ = ~u64{0};             // the latest one: its stack, and its first block there
  u64 stack_ = 0, first_block_ = 0;
  std::vector<Channel> channels_;
  std::vector<Bank> all_banks_;  // by channel, then bank

  u64 row_hits_ = 0, row_misses_ = 0, row_conflicts_ = 0, refreshes_ = 0, turn_arounds_ = 0;
};

}  // namespace vinci::models
