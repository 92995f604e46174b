// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/dma.h"

#include <algorithm>
#include <bit>

#include "models/cost/cost.h"

namespace vinci::models {
namespace {

constexpr u64 kBlock = 32;

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
  chunk_.clear();
  if (exhausted_) return;
  start_part();
  next_chunk();
}

void Dma::start_part() {
  gm_ = parts_.begin()[part_];
  hint_ = memory_.hint(gm_.address);
  piece_bytes_ = gm_.len;
  if (gm_.stride[0] == i64{gm_.len}) {  // rows without a gap are one piece
    piece_bytes_ *= gm_.count[0];
    gm_.count[0] = 1;
  }
  offset_ = 0;
  index_ = {};
}

// What L2 knows of the lines is fetched into the cache of the host meanwhile: it is needed when the chunk is sent.
void Dma::next_chunk() {
  chunk_.clear();
  sent_ = 0;
  u64 left = chunk_bytes_;
  while (left > 0 && !exhausted_) {
    u64 address = gm_.address + offset_;
    for (usize d = 0; d < index_.size(); ++d)
      address += static_cast<u64>(gm_.stride[d]) * index_[d];
    const u64 unit = (address - offset_) % kBlock == 0 ? memory_.line_bytes() : unaligned_bytes_;
    const u64 n = std::min(piece_bytes_ - offset_, unit - (address & (unit - 1)));
    chunk_.push_back(
        {.port = port_, .bytes = static_cast<u32>(n), .address = address, .write = gm_.write, .hint = hint_});
    memory_.prefetch(address);
    left -= std::min(left, n);
    offset_ += n;
    if (offset_ < piece_bytes_) continue;
    offset_ = 0;
    usize d = 0;
    while (d < index_.size() && ++index_[d] == gm_.count[d])
      index_[d++] = 0;
    if (d < index_.size()) continue;
    exhausted_ = ++part_ == parts_.size();
    if (!exhausted_) start_part();
  }
}

void Dma::send_chunk(u64 now) {
  while (sent_ < chunk_.size() && !under_way_.full()) {
    const Request& request = chunk_[sent_++];
    done_ = std::max(done_, memory_.access(now, request));  // in order: the mover keeps the sequence of its requests
    under_way_.push_back(done_);
    port_time_ += static_cast<double>(request.bytes) * cycles_per_byte_;
  }
  if (sent_ == chunk_.size()) next_chunk();
}

u64 Dma::pump(u64 now) {
  while (!under_way_.empty() && under_way_.front() <= now)
    under_way_.pop_front();
  while (!chunk_.empty()) {
    const auto port_free = whole_cycles(port_time_);
    if (port_free > now) return port_free;
    if (under_way_.full()) return under_way_.front();
    port_time_ = std::max(port_time_, static_cast<double>(now));
    send_chunk(now);
  }
  finished_ = true;
  return std::max(now, whole_cycles(port_time_));
}

}  // namespace vinci::models
