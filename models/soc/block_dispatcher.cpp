// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/block_dispatcher.h"

namespace vinci::models {
namespace {

// Launches that need the same cores: one of them finds no free slot where another did not.
usize cores_class(const BlockShape& shape) {
  const isa::TaskShape task = shape.task();
  return task.cube ? task.vector_cores : 3;
}

// Since the beginning of the run.
WorkSums work_of(const Core& core) {
  WorkSums out;
  for (usize p = 1; p < isa::kPipeCount; ++p) {
    const auto id = static_cast<isa::PipeId>(p);
    const Pipe* pipe = core.pipe(id);
    if (pipe == nullptr) continue;
    if (id == isa::PipeId::M) out.cube_macs += pipe->macs();
    if (id == isa::PipeId::V) out.vector_repeats += pipe->steps();
    out.gm_read_bytes += pipe->gm_read_bytes();
    out.gm_write_bytes += pipe->gm_write_bytes();
  }
  return out;
}

}  // namespace

BlockDispatcher::BlockDispatcher(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream,
                                 const KernelCodes& codes, std::vector<Core*> cores, Observe observe,
                                 EqualLaunches* equal, LaunchOwner& owner)
    : env_(env),
      chip_(chip),
      stream_(stream),
      codes_(codes),
      cores_(std::move(cores)),
      observe_(observe),
      equal_(equal),
      owner_(owner),
      interval_(env.clock.cover(chip.scheduler.block_interval)),
      mix_interval_(env.clock.cover(chip.scheduler.mix_block_interval)),
      dispatch_cycles_(env.clock.cover(chip.scheduler.block_dispatch)),
      start_cycles_(env.clock.cover(chip.scheduler.program_start)),
      slots_(chip.ai_cores + chip.vector_cores) {
  append();
}

void BlockDispatcher::append() {
  launches_.resize(stream_.streams.size());
  has_run_.resize(stream_.kernels.size() * slots_.size());
  for (usize k = opaque_cycles_.size(); k < stream_.kernels.size(); ++k) {
    const double seconds = stream_.kernels[k].seconds;
    opaque_cycles_.push_back(seconds > 0 ? std::max<u64>(1, env_.clock.cover(seconds)) : 0);
  }
}

void BlockDispatcher::add(u32 stream, const task::KernelLaunch& op, const isa::Launch& launch, std::string_view name,
                          u32 task_id) {
  const BlockShape shape(chip_, stream_, op);
  launches_[stream].reset(new Launch{.order = order_++,
                                     .stream = stream,
                                     .op = &op,
                                     .name = name,
                                     .task_id = task_id,
                                     .parts_left = u64{launch.block_num} * shape.parts(),
                                     .launch = launch,
                                     .shape = shape,
                                     .cross = std::make_shared<isa::CrossCoreFlags>(shape.task())});
  if (observe_.causes) {
    auto log = std::make_unique<KernelLog>();
    log->ready = env_.agenda.now();
    log->blocks_asked = launch.block_num;
    log->slots = shape.slots();
    log->parts = shape.parts();
    launches_[stream]->ended.log = std::move(log);
  }
  waiting_[cores_class(shape)].insert({stream_.streams[stream].priority, launches_[stream]->order, stream});
}

bool BlockDispatcher::has_free_slot(const Launch& l, u32& slot) const {
  for (slot = 0; slot < l.shape.slots(); ++slot) {
    bool free = true;
    for (u32 n = 0; n < l.shape.parts(); ++n)
      free = free && !slots_[core_index(l.shape.part(slot, l.next_block, n))].busy;
    if (free) return true;
  }
  return false;
}

void BlockDispatcher::dispatch(u64 t) {
  std::array<bool, 4> full{};
  for (;;) {
    const std::set<Key>* best = nullptr;
    for (usize c = 0; c < waiting_.size(); ++c) {
      if (full[c] || waiting_[c].empty()) continue;
      if (best == nullptr || *waiting_[c].begin() < *best->begin()) best = &waiting_[c];
    }
    if (best == nullptr) return;
    const auto c = static_cast<usize>(best - waiting_.data());
    Launch& l = *launches_[best->begin()->stream];
    u32 slot = 0;
    full[c] = !has_free_slot(l, slot);
    if (full[c]) continue;
    if (l.next_block == 0 && goes_as_before(l, t)) {
      waiting_[c].erase(best->begin());
      continue;
    }
    // A slot is taken at once, also where it takes time until its block is given out: blocks that wait for each other
    // would never all be there if those of another launch came between.
    const u64 start = std::max(t, next_start_);
    next_start_ = start + (l.shape.parts() > 1 ? mix_interval_ : interval_);
    start_block(l, slot, start + dispatch_cycles_, t);
    if (l.next_block == l.launch.block_num) waiting_[c].erase(best->begin());
  }
}

bool BlockDispatcher::goes_as_before(const Launch& l, u64 t) {
  if (equal_ == nullptr || next_start_ > t || last_end_ >= t) return false;
  const std::optional<u64> end = equal_->begin(*l.op, l.launch.args);
  if (end) owner_.ends_as_before(*end, l.stream);
  return end.has_value();
}

void BlockDispatcher::ended_as_before(u32 stream) {
  Launch& l = *launches_[stream];
  const EqualLaunches::Outcome outcome = equal_->end();
  l.ended.cores = outcome.cores;
  next_start_ = std::max(next_start_, outcome.next_start);
  last_end_ = env_.agenda.now();
  done_units_ += l.parts_left;
  owner_.freed();
  owner_.done(stream);
}

u64 BlockDispatcher::first_start_cycles(const Launch& l, const BlockShape::Part& part) {
  auto has_run = has_run_[part.kernel * slots_.size() + core_index(part)];
  if (has_run) return 0;
  has_run = true;
  const u32 slots = l.shape.slots();
  const double ai_cores = static_cast<double>(std::min(l.launch.block_num, slots)) * chip_.ai_cores / slots;
  const config::SchedulerConfig& s = chip_.scheduler;
  return env_.clock.cover(s.first_start + ai_cores * s.first_start_per_core);
}

BlockLog::Start BlockDispatcher::waited(const Launch& l, u32 slot, u64 asked) const {
  BlockLog::Start out{.asked = asked};
  u64 last = 0;
  for (u32 n = 0; n < l.shape.parts(); ++n) {
    const Slot& s = slots_[core_index(l.shape.part(slot, l.next_block, n))];
    if (s.freed_at != asked || s.freed_at < last) continue;
    last = s.freed_at;
    const bool own = s.stream == l.stream && s.freed_at > l.ended.log->ready;
    out.waited_for = own ? s.log : nullptr;
  }
  out.core_was_taken = out.waited_for == nullptr && asked > l.ended.log->ready;
  return out;
}

BlockLog* BlockDispatcher::log_block(Launch& l, const BlockShape::Part& part, const BlockLog::Start& start) {
  const u32 core = core_index(part);
  const isa::Code* code = opaque_cycles_[part.kernel] > 0 ? nullptr : codes_[part.kernel].get();
  const std::string name = cores_.empty() ? fmt::format("core{}", core) : cores_[core]->name();
  return &l.ended.log->blocks.emplace_back(*l.ended.log, name, part.self.block, code, start);
}

void BlockDispatcher::start_block(Launch& l, u32 slot, u64 at, u64 asked) {
  BlockLog::Start start;
  if (observe_.causes) start = waited(l, slot, asked);
  for (u32 n = 0; n < l.shape.parts(); ++n) {
    const BlockShape::Part part = l.shape.part(slot, l.next_block, n);
    const u32 core = core_index(part);
    const u64 cycles = opaque_cycles_[part.kernel];
    slots_[core] = {.busy = true, .opaque = cycles > 0, .since = at, .stream = l.stream};
    const u64 cold = cycles > 0 ? 0 : first_start_cycles(l, part);
    l.ended.cold = std::max(l.ended.cold, cold);
    if (observe_.causes) {
      start.dispatched = at;
      start.begin = at + cold;
      slots_[core].log = log_block(l, part, start);
      if (cycles > 0) slots_[core].log->scalar(CostKind::opaque, nullptr, 0, 0, at, at + cycles);
    }
    if (cycles > 0) {
      owner_.later(at + cycles, l.stream, core);
      continue;
    }
    if (observe_.sums) slots_[core].busy_before = busy_cycles(*cores_[core]);
    slots_[core].work_before = work_of(*cores_[core]);
    const Block block{.code = codes_[part.kernel].get(),
                      .launch = l.shape.launch(l.launch, part),
                      .task = std::string(l.name),
                      .where = block_text(part.self, l.shape.parts() > 1),
                      .cross = l.cross,
                      .self = part.self,
                      .task_id = l.task_id,
                      .prepare = start_cycles_,
                      .log = slots_[core].log};
    cores_[core]->start(block, at + cold, *this);
  }
  ++l.next_block;
}

std::array<u64, isa::kPipeCount> BlockDispatcher::busy_cycles(Core& core) const {
  core.settle(env_.agenda.now());
  std::array<u64, isa::kPipeCount> out{core.scalar().occupation().cycles(Doing::busy)};
  for (usize p = 1; p < out.size(); ++p) {
    if (const Pipe* pipe = core.pipe(static_cast<isa::PipeId>(p))) out[p] = pipe->occupation().cycles(Doing::busy);
  }
  return out;
}

void BlockDispatcher::account(Launch& l, u32 core) {
  const isa::CoreKind kind = core >= chip_.ai_cores   ? isa::CoreKind::vector
                             : chip_.vector_cores > 0 ? isa::CoreKind::cube
                                                      : isa::CoreKind::joint;
  if (!slots_[core].opaque) l.ended.status |= cores_[core]->status();
  CoreSums& sums = l.ended.cores[static_cast<usize>(kind)];
  ++sums.blocks;
  sums.cycles += env_.agenda.now() - slots_[core].since;
  if (slots_[core].opaque) return;
  sums.work += work_of(*cores_[core]) - slots_[core].work_before;
  if (!observe_.sums) return;
  const auto now = busy_cycles(*cores_[core]);
  for (usize p = 0; p < now.size(); ++p)
    sums.busy[p] += now[p] - slots_[core].busy_before[p];
}

void BlockDispatcher::part_done(u32 core) {
  const u32 stream = slots_[core].stream;
  Launch& l = *launches_[stream];
  ++done_units_;
  account(l, core);
  slots_[core].busy = false;
  slots_[core].freed_at = last_end_ = env_.agenda.now();
  if (l.ended.log != nullptr) {
    slots_[core].log->ended(env_.agenda.now());
    l.ended.log->last = slots_[core].log;
    l.ended.log->blocks_done = env_.agenda.now();
  }
  owner_.freed();
  if (--l.parts_left != 0) return;
  if (equal_ != nullptr && l.ended.cold == 0) equal_->simulated({.cores = l.ended.cores, .next_start = next_start_});
  owner_.done(stream);
}

BlockDispatcher::Ended BlockDispatcher::finish(u32 stream) {
  const auto launch = std::move(launches_[stream]);
  return std::move(launch->ended);
}

}  // namespace vinci::models
