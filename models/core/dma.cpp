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

void Dma::begin(u64 at, const isa::Footprint& footprint, double body, u64 alignment) {
  parts_ = {};
  u64 bytes = 0;
  for (const isa::Access& a : footprint) {
    if (a.buffer != isa::BufId::GM || a.empty()) continue;
    parts_.add(a);
    bytes += a.bytes();
  }
  part_ = 0;
  alignment_ = alignment;
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
  aligned_ = alignment_ == 0 || address % alignment_ == 0;
  unit_ = address % kBlock == 0 ? memory_.line_bytes() : unaligned_bytes_;
}

inline void Dma::next_piece() {
  if (++index_[0] < gm_.count[0]) [[likely]] {
    start_piece(piece_ + static_cast<u64>(gm_.stride[0]));
  } else {
    next_row_of_pieces();
  }
}

void Dma::next_row_of_pieces() {
  u64 address = piece_ - static_cast<u64>(gm_.stride[0]) * (gm_.count[0] - 1);
  index_[0] = 0;
  for (usize d = 1; d < index_.size(); ++d) {
    address += static_cast<u64>(gm_.stride[d]);
    if (++index_[d] < gm_.count[d]) return start_piece(address);
    address -= static_cast<u64>(gm_.stride[d]) * gm_.count[d];
    index_[d] = 0;
  }
  exhausted_ = ++part_ == parts_.size();
  if (!exhausted_) start_part();
}

// The next request, of a piece with `left` bytes from `address` on.
inline Dma::Next Dma::next(u64 address, u64 left) const {
  const u64 bytes = std::min(left, unit_ - (address & (unit_ - 1)));
  if (aligned_) return {bytes, oldest_};
  const u64 places = (address + bytes - 1) / unaligned_bytes_ - address / unaligned_bytes_ + 1;
  const usize last = oldest_ + std::min<usize>(places, under_way_.size()) - 1;
  return {bytes, last < under_way_.size() ? last : last - under_way_.size()};
}

// In order: the mover keeps the sequence of its requests. What changes with each of them is kept in local variables,
// because the host would wait for its own stores.
void Dma::send_chunk(u64 now) {
  u64* const under_way = under_way_.data();
  const usize requests = under_way_.size();
  u64 address = address_, left = left_, chunk_left = chunk_left_, done = done_;
  double port_time = port_time_;
  for (;;) {
    const auto [bytes, last] = next(address, left);
    if (under_way[last] > now) break;
    memory_.prefetch(address + ahead_);
    done = std::max(
        done,
        memory_.access(
            now,
            {.port = port_, .bytes = static_cast<u32>(bytes), .address = address, .write = gm_.write, .hint = hint_}));
    for (usize place = oldest_; place != last; place = place + 1 < requests ? place + 1 : 0)
      under_way[place] = done;
    under_way[last] = done;
    oldest_ = last + 1 < requests ? last + 1 : 0;
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
    if (const u64 room = under_way_[next(address_, left_).last]; room > now) return room;
    port_time_ = std::max(port_time_, static_cast<double>(now));
    send_chunk(now);
  }
  finished_ = true;
  return std::max(now, whole_cycles(port_time_));
}

}  // namespace vinci::models
