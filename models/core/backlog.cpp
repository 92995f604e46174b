// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/backlog.h"

#include <utility>

#include "models/core/core.h"

namespace vinci::models {
namespace {

constexpr usize kHanded = 32;  // instructions that are worth waking another thread
constexpr usize kMost = 512;

}  // namespace

void Backlog::add(const isa::Issued& inst) {
  open_.push_back(inst);
  if (open_.size() >= kHanded && crew_.has_helpers() && crew_.idle(*this)) {
    rethrow();
    handed_.clear();
    handed_.swap(open_);
    crew_.post(*this);
  } else if (open_.size() >= kMost) {
    finish();
  }
}

void Backlog::run() {
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
  if (open_.empty()) return;
  handed_.clear();
  handed_.swap(open_);
  run();
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
