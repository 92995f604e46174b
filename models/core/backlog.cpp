// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/backlog.h"

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

Backlog::Backlog(sim::Crew& crew, Body& core, const isa::CoreSpec& spec, isa::GlobalMemory& gm, u32 cores)
    : crew_(crew),
      core_(core),
      spec_(spec),
      gm_(gm),
      most_(crew.has_helpers() ? std::max(kMost, kMostOfOne / cores) : kMost),
      most_writes_(crew.has_helpers() ? std::max(kMostWrites, kMostWritesOfOne / cores) : kMostWrites),
      slices_(spec) {}

Backlog::~Backlog() {
  crew_.finish(*this);
  gm_.late().forget(*this);
}

// What is in the way of its accesses to global memory is done, and they are safe from now on. False where they are too
// much spread out to be followed.
bool Backlog::put_off(const isa::Issued& inst) {
  const isa::Footprint footprint = inst.row->footprint(inst.args, inst.spr, spec_.arch);
  const auto for_each = [&](const auto& visit) {
    for (const isa::Access& a : footprint) {
      if (a.buffer == isa::BufId::GM && !a.empty()) visit(a, isa::LateAccess::Rows::of(a));
    }
  };
  bool followed = true;
  for_each([&](const isa::Access& a, const isa::LateAccess::Rows& rows) {
    gm_.late().before(rows, a.write, this);
    if (a.write) followed &= rows.step != 0 || rows.end - rows.begin == a.bytes();
  });
  if (!followed) return false;
  if (writes_ >= most_writes_) finish();
  for_each([&](const isa::Access& a, const isa::LateAccess::Rows& rows) {
    gm_.late().put_off(*this, rows, a.write);
    if (!a.write) return;
    ++writes_;
    if (rows.step == 0) return gm_.make_pages(rows.begin, rows.end - rows.begin);
    for (u64 at = rows.begin; at < rows.end; at += rows.step)
      gm_.make_pages(at, rows.bytes);
  });
  return true;
}

bool Backlog::add(const isa::Issued& inst, bool touches_gm) {
  if (touches_gm && !put_off(inst)) return false;
  open_.push_back(inst);
  if (crew_.has_helpers()) {
    if (open_.size() >= most_) crew_.finish(*this);
    if (open_.size() >= kHanded && sim::Crew::idle(*this)) hand_over();
  } else if (open_.size() >= most_) {
    finish();
  }
  return true;
}

void Backlog::hand_over() {
  joined();
  handed_.clear();
  handed_.swap(open_);
  crew_.post(*this);
}

void Backlog::run(u32 thread) {
  if (handed_.size() < kShared || crew_.has_waiting() || slices_.cut(handed_) == 1) return run_alone();
  next_ = 0;
  crew_.share(*this);
  help(thread);
}

void Backlog::help(u32 /*thread*/) {
  const isa::LateAccess::Doing doing;
  for (u32 slice = next_++; slice < slices_.count(); slice = next_++) {
    isa::CoreMem& mem = slices_.memory(slice, core_.buffers());
    const std::span<const u32> all = slices_[slice];
    if (std::ranges::all_of(all, [&](u32 i) { return execute(i, mem); })) slices_.keep(slice, mem);
  }
}

void Backlog::run_alone() {
  slices_.clear();
  const isa::LateAccess::Doing doing;
  for (u32 i = 0; i < handed_.size() && execute(i, core_.buffers()); ++i) {
  }
}

// False where it throws.
bool Backlog::execute(u32 at, isa::CoreMem& mem) {
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
void Backlog::joined() {
  slices_.put_back(core_.buffers());
  rethrow();
}

void Backlog::finish() {
  crew_.finish(*this);
  joined();
  if (!open_.empty()) {
    handed_.clear();
    handed_.swap(open_);
    if (crew_.has_helpers() && handed_.size() >= kHanded) {
      crew_.post(*this);
      crew_.finish(*this);
    } else {
      run_alone();
    }
    slices_.put_back(core_.buffers());
  }
  gm_.late().forget(*this);
  writes_ = 0;
  rethrow();
}

void Backlog::rethrow() {
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
