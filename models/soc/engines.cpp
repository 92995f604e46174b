// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/engines.h"

#include <algorithm>

namespace vinci::models {

using Place = task::Buffer::Place;

Engines::Engines(const config::ChipConfig& chip, const sim::Clock& clock, const task::TaskStream& stream, Links& links)
    : chip_(chip), clock_(clock), stream_(stream), links_(links), aicpu_(chip.aicpu.threads) {}

void Engines::register_in(stats::Group& stats) {
  stats.add("h2d_bytes", h2d_bytes_, "B", "copied from host to device");
  stats.add("d2h_bytes", d2h_bytes_, "B", "copied from device to host");
  stats.add("d2d_bytes", d2d_bytes_, "B", "copied, filled or reduced by tasks without the host");
}

Engines::Job Engines::copy(u64 now, const task::MemcpyAsync& op) {
  const task::Buffer& src = stream_.buffers[op.src.buffer];
  const task::Buffer& dst = stream_.buffers[op.dst.buffer];
  const config::HostConfig& host = chip_.host;
  const auto pcie = [&](Timeline& engine, Lane lane, double pinned) {
    const double bandwidth = src.pageable || dst.pageable ? host.pageable_bandwidth.value : pinned;
    const u64 start = std::max(now, engine.free_at());
    const double seconds = host.copy_latency + static_cast<double>(op.bytes()) / bandwidth;
    const u64 end = engine.reserve(now, clock_.cover(seconds));
    return Job{start, end, lane, end};
  };
  if (src.place == Place::host) {
    h2d_bytes_ += op.bytes();
    return pcie(h2d_, Lane::h2d, host.h2d_bandwidth);
  }
  if (dst.place == Place::host) {
    d2h_bytes_ += op.bytes();
    return pcie(d2h_, Lane::d2h, host.d2h_bandwidth);
  }
  if (src.device == dst.device) return sdma(now, op.bytes(), 2 * op.bytes());
  d2d_bytes_ += op.bytes();
  const Links::Transfer wire = links_.transfer(now, src.device, dst.device, op.bytes());
  return {.start = wire.start, .end = wire.end};
}

Engines::Job Engines::run(u64 now, const task::SdmaWork& work) {
  const u32 from = stream_.buffers[work.src.buffer].device, to = stream_.buffers[work.dst.buffer].device;
  if (from == to) return sdma(now, work.written, work.moved);
  d2d_bytes_ += work.written;
  const Links::Transfer wire = links_.transfer(now, from, to, work.written);
  return {.start = wire.start, .end = wire.end};
}

// `moved`: bytes read and written together, which share the bandwidth of the memory.
Engines::Job Engines::sdma(u64 now, u64 written, u64 moved) {
  d2d_bytes_ += written;
  const double seconds = std::max(static_cast<double>(moved) / chip_.memory.hbm.bandwidth,
                                  static_cast<double>(written) / chip_.sdma.bandwidth);
  const u64 start = std::max(now, sdma_.free_at());
  const u64 free = sdma_.reserve(now, clock_.cover(seconds));
  return {start, free + chip_.memory.hbm.latency, Lane::sdma, free};
}

Engines::Job Engines::aicpu(u64 now, u32 blocks, double seconds, std::vector<ThreadJob>* threads) {
  const u64 cycles = clock_.cover(chip_.aicpu.dispatch + seconds);
  Job job{.start = ~u64{0}, .end = now};
  for (u32 b = 0; b < blocks; ++b) {
    Timeline& thread = *std::ranges::min_element(aicpu_, {}, &Timeline::free_at);
    const u64 start = std::max(now, thread.free_at());
    const u64 end = thread.reserve(now, cycles);
    job.start = std::min(job.start, start);
    job.end = std::max(job.end, end);
    if (threads != nullptr) threads->push_back({static_cast<u32>(&thread - aicpu_.data()), start, end});
  }
  return job;
}

}  // namespace vinci::models
