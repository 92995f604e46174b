// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/dma.h"

#include <algorithm>
#include <bit>

#include "models/cost/cost.h"

namespace vinci::models {
namespace {

constexpr u64 kBlock = 32;
constexpr u64 kAhead = 8;  // requests, by which the host looks for lines before it needs them

}  // namespace

Dma::Dma(MemorySystem& memory, u32 port, u64 chunk_bytes, u64 requests, u64 unaligned_bytes)
    : memory_(memory),
      port_(port),
      chunk_bytes_(chunk_bytes),
      unaligned_bytes_(unaligned_bytes == 0 ? memory.line_bytes()
                                            : std::bit_floor(std::min(unaligned_bytes, memory.line_bytes()))),
      under_way_(static_cast<usize>(std::max<u64>(1, requests))) {}

void Dma::begin(u64 at, const isa::Footprint& footprint, double body) {
  parts_ = {};
  u64 bytes = 0;
  for (const isa::Access& a : footprint) {
    if (a.buffer != isa::BufId::GM || a.empty()) continue;
    parts_.add(a);
    bytes += a.bytes();
  }
  part_ = 0;
  exhausted_ = bytes == 0;
  finished_ = false;
  cycles_per_byte_ = exhausted_ ? 0 : body / static_cast<double>(bytes);
  port_time_ = static_cast<double>(at);
  done_ = std::max(done_, at);
  chunk_left_ = chunk_bytes_;
  if (!exhausted_) start_part();
}

void Dma::start_part() {
  gm_ = parts_.begin()[part_];
  hint_ = memory_.hint(gm_.address);
  piece_bytes_ = gm_.len;
  if (gm_.stride[0] == i64{gm_.len}) {  // rows without a gap are one piece
    piece_bytes_ *= gm_.count[0];
    gm_.count[0] = 1;
  }
  const u64 line = memory_.line_bytes();
  ahead_ = kAhead * (piece_bytes_ <= line ? static_cast<u64>(gm_.stride[0]) : line);
  index_ = {};
  start_piece(gm_.address);
}

inline void Dma::start_piece(u64 address) {
  piece_ = address;
  address_ = address;
  left_ = piece_bytes_;
  unit_ = address % kBlock == 0 ? memory_.line_bytes() : unaligned_bytes_;
}

void Dma::next_piece() {
  u64 address = piece_;
  for (usize d = 0; d < index_.size(); ++d) {
    address += static_cast<u64>(gm_.stride[d]);
    if (++index_[d] < gm_.count[d]) return start_piece(address);
    address -= static_cast<u64>(gm_.stride[d]) * gm_.count[d];
    index_[d] = 0;
  }
  exhausted_ = ++part_ == parts_.size();
  if (!exhausted_) start_part();
}

// In order: the mover keeps the sequence of its requests. What changes with each of them is kept in local variables,
// because the host would wait for its own stores.
void Dma::send_chunk(u64 now) {
  u64* const under_way = under_way_.data();
  const usize requests = under_way_.size();
  usize oldest = oldest_;
  u64 address = address_, left = left_, chunk_left = chunk_left_, done = done_;
  double port_time = port_time_;
  while (under_way[oldest] <= now) {
    memory_.prefetch(address + ahead_);
    const u64 bytes = std::min(left, unit_ - (address & (unit_ - 1)));
    done = std::max(
        done,
        memory_.access(
            now,
            {.port = port_, .bytes = static_cast<u32>(bytes), .address = address, .write = gm_.write, .hint = hint_}));
    under_way[oldest] = done;
    if (++oldest == requests) oldest = 0;
    port_time += static_cast<double>(static_cast<i64>(bytes)) * cycles_per_byte_;
    chunk_left -= std::min(chunk_left, bytes);
    address += bytes;
    left -= bytes;
    if (left == 0) {
      next_piece();
      address = address_;
      left = left_;
    }
    if (chunk_left != 0 && !exhausted_) continue;
    chunk_left = chunk_bytes_;
    break;
  }
  oldest_ = oldest;
  address_ = address;
  left_ = left;
  chunk_left_ = chunk_left;
  done_ = done;
  port_time_ = port_time;
}

u64 Dma::pump(u64 now) {
  while (!exhausted_) {
    const u64 port_free = whole_cycles(port_time_);
    if (port_free > now) return port_free;
    if (under_way_[oldest_] > now) return under_way_[oldest_];
    port_time_ = std::max(port_time_, static_cast<double>(now));
    send_chunk(now);
  }
  finished_ = true;
  return std::max(now, whole_cycles(port_time_));
}

}  // namespace vinci::models
