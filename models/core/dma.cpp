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
  count_ = 0;
  if (exhausted_) return;
  start_part();
  while (count_ < kPlanned && !exhausted_)
    plan();
  chunk_left_ = chunk_bytes_;
}

void Dma::start_part() {
  gm_ = parts_.begin()[part_];
  hint_ = memory_.hint(gm_.address);
  piece_bytes_ = gm_.len;
  if (gm_.stride[0] == i64{gm_.len}) {  // rows without a gap are one piece
    piece_bytes_ *= gm_.count[0];
    gm_.count[0] = 1;
  }
  piece_ = gm_.address;
  offset_ = 0;
  index_ = {};
}

void Dma::next_piece() {
  offset_ = 0;
  usize d = 0;
  for (; d < index_.size(); ++d) {
    piece_ += static_cast<u64>(gm_.stride[d]);
    if (++index_[d] < gm_.count[d]) return;
    piece_ -= static_cast<u64>(gm_.stride[d]) * gm_.count[d];
    index_[d] = 0;
  }
  exhausted_ = ++part_ == parts_.size();
  if (!exhausted_) start_part();
}

// One more request.
void Dma::plan() {
  const u64 address = piece_ + offset_;
  const u64 unit = piece_ % kBlock == 0 ? memory_.line_bytes() : unaligned_bytes_;
  const u64 n = std::min(piece_bytes_ - offset_, unit - (address & (unit - 1)));
  // Field by field: made elsewhere and copied, the host would wait for its own stores.
  auto& [request, route] = planned_[(first_ + count_++) % kPlanned];
  request.port = port_;
  request.bytes = static_cast<u32>(n);
  request.address = address;
  request.write = gm_.write;
  request.hint = hint_;
  route = memory_.route(address);
  memory_.prefetch(route);
  offset_ += n;
  if (offset_ == piece_bytes_) next_piece();
}

// In order: the mover keeps the sequence of its requests.
void Dma::send_chunk(u64 now) {
  while (under_way_[oldest_] <= now) {
    const auto& [request, route] = planned_[first_];
    done_ = std::max(done_, memory_.access(now, request, route));
    under_way_[oldest_] = done_;
    if (++oldest_ == under_way_.size()) oldest_ = 0;
    port_time_ += static_cast<double>(static_cast<i64>(request.bytes)) * cycles_per_byte_;
    chunk_left_ -= std::min<u64>(chunk_left_, request.bytes);
    first_ = (first_ + 1) % kPlanned;
    --count_;
    if (!exhausted_) plan();
    if (chunk_left_ != 0 && count_ != 0) continue;
    chunk_left_ = chunk_bytes_;
    return;
  }
}

u64 Dma::pump(u64 now) {
  while (count_ != 0) {
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
