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

void Dma::begin(u64 at, const isa::Footprint& footprint, double body, bool by_rows, double delivery) {
  parts_ = {};
  u64 bytes = 0;
  for (const isa::Access& a : footprint) {
    if (a.buffer != isa::BufId::GM || a.empty()) continue;
    parts_.add(a);
    bytes += a.bytes();
  }
  part_ = 0;
  if (log_ != nullptr) log_->begin();
  by_rows_ = by_rows;
  exhausted_ = bytes == 0;
  finished_ = false;
  cycles_per_byte_ = exhausted_ ? 0 : body / static_cast<double>(bytes);
  delivery_ = exhausted_ || parts_.begin()->write ? 0 : delivery;
  first_ = kNever;
  begin_ = at;
  port_time_ = 0;
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
  const u64 line = memory_.line_bytes(), stride = static_cast<u64>(gm_.stride[0]);
  alike_ = stride % line == 0;
  most_ = by_rows_ && piece_bytes_ > gm_.len && gm_.len <= line / 2 ? line / 2 : line;
  pace_ = piece_bytes_ <= line ? stride : most_;
  index_ = {};
  row_ = gm_.address;
  start_piece(row_);
}

inline void Dma::start_piece(u64 address) {
  run_.address = address;
  left_ = piece_bytes_;
  const u64 line = memory_.line_bytes();
  if (by_rows_) {
    const u64 multiple_of = (address | line) & -(address | line);
    unit_ = std::max(unaligned_bytes_, std::min(2 * multiple_of, most_));
    place_unit_ = std::max(unaligned_bytes_, std::min(multiple_of, line / 2));
  } else {
    unit_ = address % kBlock == 0 ? line : unaligned_bytes_;
    place_unit_ = line;
  }
  start_run();
}

// From run_.address on, where left_ bytes of the piece are left.
inline void Dma::start_run() {
  const u64 first = run_.address, bytes = std::min(left_, unit_ - (first & (unit_ - 1)));
  run_.bytes = static_cast<u32>(bytes);
  run_.train = {
      memory_, {.port = port_, .bytes = run_.bytes, .write = gm_.write, .atomic = gm_.atomic, .hint = hint_}, pace_};
  run_.places = static_cast<u32>((first + bytes - 1) / place_unit_ - first / place_unit_ + 1);
  if (bytes == piece_bytes_ && alike_) {
    run_.step = static_cast<u64>(gm_.stride[0]);
    run_.left = gm_.count[0] - index_[0];
    index_[0] = gm_.count[0] - 1;
    left_ = 0;
  } else {
    run_.step = bytes;
    run_.left = bytes == unit_ ? left_ / unit_ : 1;
    left_ -= bytes * run_.left;
  }
}

inline void Dma::next_run() {
  if (left_ != 0) {
    start_run();
  } else if (++index_[0] < gm_.count[0]) [[likely]] {
    start_piece(row_ + static_cast<u64>(gm_.stride[0]) * index_[0]);
  } else {
    next_row_of_pieces();
  }
}

void Dma::next_row_of_pieces() {
  index_[0] = 0;
  for (usize d = 1; d < index_.size(); ++d) {
    row_ += static_cast<u64>(gm_.stride[d]);
    if (++index_[d] < gm_.count[d]) return start_piece(row_);
    row_ -= static_cast<u64>(gm_.stride[d]) * gm_.count[d];
    index_[d] = 0;
  }
  exhausted_ = ++part_ == parts_.size();
  if (!exhausted_) start_part();
}

template <bool kLogged>
inline MemorySystem::Train::Response Dma::request(u64 now, u64 address, RequestStages& stages) {
  if constexpr (!kLogged) {
    return run_.train.access(now, address);
  } else {
    return run_.train.access(now, address, [&](u64 first, u64 second, u64 third, u64 done) {
      stages = gm_.write ? RequestStages::write(to_ticks(now), first, second, third)
                         : RequestStages::read(to_ticks(now), first, second, third, done,
                                               {memory_.noc_latency(), memory_.hbm_latency()});
    });
  }
}

// In order: the mover keeps the sequence of its requests. What changes with each of them is kept in local variables,
// because the host would wait for its own stores.
template <bool kLogged>
void Dma::send_chunk(u64 now) {
  u64* const under_way = under_way_.data();
  const usize requests = under_way_.size();
  u64 chunk_left = chunk_left_, done = done_, first = first_;
  double port_time = port_time_;
  usize oldest = oldest_;
  bool room = true;
  do {
    const u64 bytes = run_.bytes;
    const double port_cycles = static_cast<double>(static_cast<i64>(bytes)) * cycles_per_byte_;
    u64 address = run_.address, left = run_.left;
    do {
      room = under_way[oldest] <= now;
      if (!room) break;
      [[maybe_unused]] RequestStages stages;
      const MemorySystem::Train::Response response = request<kLogged>(now, address, stages);
      done = std::max(done, response.done);
      first = std::min(first, response.done);
      for (u32 places = response.from_l2 ? 1 : run_.places; places != 0; --places) {
        under_way[oldest] = done;
        if constexpr (kLogged) log_->request(oldest, response.done, stages);
        oldest = oldest + 1 < requests ? oldest + 1 : 0;
      }
      port_time += port_cycles;
      chunk_left -= std::min(chunk_left, bytes);
      address += run_.step;
    } while (--left != 0 && chunk_left != 0);
    run_.train.count(run_.left - left);
    run_.address = address;
    run_.left = left;
    if (left == 0) next_run();
  } while (room && chunk_left != 0 && !exhausted_);
  oldest_ = oldest;
  chunk_left_ = room ? chunk_bytes_ : chunk_left;
  done_ = done;
  first_ = first;
  port_time_ = port_time;
}

u64 Dma::pump(u64 now) {
  while (!exhausted_) {
    const u64 port_free = begin_ + whole_cycles(port_time_);
    if (port_free > now) return port_free;
    if (const u64 room = under_way_[oldest_]; room > now) {
      if (log_ != nullptr) log_->waits_for(oldest_, room - now);
      return room;
    }
    port_time_ = std::max(port_time_, static_cast<double>(now - begin_));
    log_ != nullptr ? send_chunk<true>(now) : send_chunk<false>(now);
  }
  if (!finished_ && delivery_ > 0) deliver();
  finished_ = true;
  return std::max(now, begin_ + whole_cycles(port_time_));
}

void Dma::deliver() {
  if (first_ > entering_ && static_cast<double>(first_ - entering_) > entered_) {
    entering_ = first_;
    entered_ = 0;
  }
  entered_ += delivery_;
}

u64 Dma::done() const { return std::max(done_, entering_ + whole_cycles(entered_)); }

}  // namespace vinci::models
