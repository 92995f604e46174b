// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/deferred_queue.h"

#include <algorithm>
#include <utility>

namespace vinci::models {
namespace {

constexpr usize kHanded = 32;   // instructions that are worth waking another thread
constexpr usize kShared = 128;  // that are worth being shared
// Of a core: many together would leave the cache of the host, but one alone is cut into slices. Others look through
// what it is to write at each of their own accesses.
constexpr usize kMost = 512, kMostOfOne = 4096;
constexpr usize kMostWrites = 4, kMostWritesOfOne = 32;

}  // namespace

DeferredQueue::DeferredQueue(ThreadPool& pool, DeferredAccesses& accesses, Body& core, const isa::CoreSpec& spec,
                             isa::GlobalMemory& gm, u32 cores)
    : pool_(pool),
      accesses_(accesses),
      core_(core),
      spec_(spec),
      gm_(gm),
      most_(pool.has_helpers() ? std::max(kMost, kMostOfOne / cores) : kMost),
      most_writes_(pool.has_helpers() ? std::max(kMostWrites, kMostWritesOfOne / cores) : kMostWrites),
      partition_(spec) {}

DeferredQueue::~DeferredQueue() {
  pool_.finish(*this);
  accesses_.forget(*this);
}

// What is in the way of its accesses to global memory is done, and they are safe from now on. False where they are too
// much spread out to be followed.
bool DeferredQueue::defer(const isa::Issued& inst) {
  const isa::Footprint footprint = inst.row->footprint(inst.args, inst.spr, spec_.arch);
  const auto for_each = [&](const auto& visit) {
    for (const isa::Access& a : footprint) {
      if (a.buffer == isa::BufId::GM && !a.empty()) visit(a, Rows::of(a));
    }
  };
  bool followed = true;
  for_each([&](const isa::Access& a, const Rows& rows) {
    accesses_.before(rows, a.write, this);
    if (a.write) followed &= rows.step != 0 || rows.end - rows.begin == a.bytes();
  });
  if (!followed) return false;
  if (writes_ >= most_writes_) finish();
  for_each([&](const isa::Access& a, const Rows& rows) {
    accesses_.defer(*this, rows, a.write);
    if (!a.write) return;
    ++writes_;
    if (rows.step == 0) return gm_.make_pages(rows.begin, rows.end - rows.begin);
    for (u64 at = rows.begin; at < rows.end; at += rows.step)
      gm_.make_pages(at, rows.bytes);
  });
  return true;
}

bool DeferredQueue::add(const isa::Issued& inst, bool touches_gm) {
  if (touches_gm && !defer(inst)) return false;
  open_.push_back(inst);
  if (pool_.has_helpers()) {
    if (open_.size() >= most_) pool_.finish(*this);
    if (open_.size() >= kHanded && ThreadPool::idle(*this)) hand_over();
  } else if (open_.size() >= most_) {
    finish();
  }
  return true;
}

void DeferredQueue::hand_over() {
  joined();
  handed_.clear();
  handed_.swap(open_);
  pool_.post(*this);
}

void DeferredQueue::run(u32 thread) {
  if (handed_.size() < kShared || pool_.has_waiting() || partition_.cut(handed_) == 1) return run_alone();
  next_ = 0;
  pool_.share(*this);
  help(thread);
}

void DeferredQueue::help(u32 /*thread*/) {
  for (u32 slice = next_++; slice < partition_.count(); slice = next_++) {
    isa::CoreMem& mem = partition_.memory(slice, core_.buffers());
    const std::span<const u32> all = partition_[slice];
    if (std::ranges::all_of(all, [&](u32 i) { return execute(i, mem); })) partition_.keep(slice, mem);
  }
}

void DeferredQueue::run_alone() {
  partition_.clear();
  for (u32 i = 0; i < handed_.size() && execute(i, core_.buffers()); ++i) {
  }
}

// False where it throws.
bool DeferredQueue::execute(u32 at, isa::CoreMem& mem) {
  try {
    if (const u64 raised = core_.execute(handed_[at], mem)) core_.raise(raised);
    return true;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_ || at < failed_) {
      failed_ = at;
      error_ = std::current_exception();
    }
    return false;
  }
}

// After handed_ has been executed, by whomever.
void DeferredQueue::joined() {
  partition_.put_back(core_.buffers());
  rethrow();
}

void DeferredQueue::finish() {
  pool_.finish(*this);
  joined();
  if (!open_.empty()) {
    handed_.clear();
    handed_.swap(open_);
    if (pool_.has_helpers() && handed_.size() >= kHanded) {
      pool_.post(*this);
      pool_.finish(*this);
    } else {
      run_alone();
    }
    partition_.put_back(core_.buffers());
  }
  accesses_.forget(*this);
  writes_ = 0;
  rethrow();
}

void DeferredQueue::rethrow() {
  if (!error_) return;
  const isa::Issued& inst = handed_[failed_];
  open_.clear();
  try {
    std::rethrow_exception(std::exchange(error_, nullptr));
  } catch (const Error& e) {
    core_.blame(e, inst);
  }
}

}  // namespace vinci::models
