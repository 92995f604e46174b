// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/backlog.h"

#include <utility>

#include "models/core/core.h"

namespace vinci::models {
namespace {

constexpr usize kHanded = 32;  // instructions that are worth waking another thread
constexpr usize kMost = 512;
constexpr usize kMostWrites = 4;  // to global memory: others look through them at each of their own

}  // namespace

Backlog::~Backlog() {
  crew_.finish(*this);
  gm_.late().forget(*this);
}

// What is in the way of its accesses to global memory is done, and they are safe from now on. False where they are too
// much spread out to be followed.
bool Backlog::put_off(const isa::Issued& inst) {
  const isa::Footprint footprint = inst.row->footprint(inst.args, inst.spr, core_.spec().arch);
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
  if (writes_ == kMostWrites) finish();
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
    if (open_.size() >= kMost) crew_.finish(*this);
    if (open_.size() >= kHanded && crew_.idle(*this)) hand_over();
  } else if (open_.size() >= kMost) {
    finish();
  }
  return true;
}

void Backlog::hand_over() {
  rethrow();
  handed_.clear();
  handed_.swap(open_);
  crew_.post(*this);
}

void Backlog::run() {
  const isa::LateAccess::Doing doing;
  executed_ = 0;
  try {
    for (; executed_ < handed_.size(); ++executed_)
      core_.execute(handed_[executed_]);
  } catch (...) {
    error_ = std::current_exception();
  }
}

void Backlog::finish() {
  crew_.finish(*this);
  rethrow();
  if (!open_.empty()) {
    handed_.clear();
    handed_.swap(open_);
    run();
  }
  gm_.late().forget(*this);
  writes_ = 0;
  rethrow();
}

void Backlog::rethrow() {
  if (!error_) return;
  const isa::Issued& inst = handed_[executed_];
  open_.clear();
  try {
    std::rethrow_exception(std::exchange(error_, nullptr));
  } catch (const Error& e) {
    core_.blame(e, inst.pc, &inst, inst.pipe);
  }
}

}  // namespace vinci::models
