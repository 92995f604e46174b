// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/agenda.h"

#include <bit>

#include "sim/kernel/module.h"

namespace vinci::sim {

Agenda::Agenda(const Clock& clock) : clock_(clock), cycles_{}, occupied_{} {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&due_);
  process_ = sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("agenda"), &options);
}

Agenda::~Agenda() {
  if (sc_core::sc_is_running()) process_.kill();
}

void Agenda::wake_at(Module& module, u64 cycle) {
  if (module.due_ <= cycle) return;
  clock_.check(cycle);  // before anything is queued: here an exception is the module's, in run() it would be SystemC's
  insert(module, cycle);
  if (!running_ && next() == cycle) due_.notify(clock_.begin_of(cycle) - sc_core::sc_time_stamp());
}

void Agenda::wake(Module& module) {
  const u64 present = now();
  if (module.due_ <= present) return;
  insert(module, present);
  if (!running_) due_.notify(sc_core::SC_ZERO_TIME);
}

bool Agenda::go_on_to(Module& module, u64 cycle) {
  if (cycle > horizon_ || module.due_ <= cycle || next() <= cycle) return false;
  remove(module);  // a later wish
  now_ = cycle;
  return true;
}

void Agenda::remove(Module& module) {
  if (module.due_ == kNever) return;
  unlink(module);
  module.due_ = kNever;
  --pending_;
}

void Agenda::insert(Module& module, u64 cycle) {
  if (module.due_ == kNever) {
    ++pending_;
  } else {
    unlink(module);
  }
  module.due_ = cycle;
  append(module);
}

void Agenda::append(Module& module) {
  List& list = list_of(module.due_);
  module.next_ = nullptr;
  module.previous_ = list.last;
  (list.last != nullptr ? list.last->next_ : list.first) = &module;
  list.last = &module;
  const u64 at = module.due_ % kWindow;
  if (&list != &later_) occupied_[at / 64] |= u64{1} << at % 64;
}

void Agenda::unlink(Module& module) {
  List& list = list_of(module.due_);
  (module.previous_ != nullptr ? module.previous_->next_ : list.first) = module.next_;
  (module.next_ != nullptr ? module.next_->previous_ : list.last) = module.previous_;
  const u64 at = module.due_ % kWindow;
  if (list.first == nullptr && &list != &later_) occupied_[at / 64] &= ~(u64{1} << at % 64);
}

u64 Agenda::next() const {
  for (usize word = now_ / kWindow == window_ ? now_ % kWindow / 64 : 0; word < occupied_.size(); ++word) {
    if (occupied_[word] != 0)
      return window_ * kWindow + word * 64 + static_cast<u64>(std::countr_zero(occupied_[word]));
  }
  u64 first = kNever;
  for (const Module* m = later_.first; m != nullptr; m = m->next_)
    first = std::min(first, m->due_);
  return first;
}

// Nobody is due in the window before.
void Agenda::enter_window(u64 window) {
  window_ = window;
  Module* m = std::exchange(later_, {}).first;
  while (m != nullptr) {
    Module* const next = m->next_;
    append(*m);
    m = next;
  }
}

void Agenda::run_cycle() {
  const List& due = list_of(now_);
  while (due.first != nullptr) {
    Module& module = *due.first;
    unlink(module);
    module.due_ = kNever;
    --pending_;
    module.guarded_act();
  }
}

void Agenda::run() {
  running_ = true;
  const u64 end = std::max(clock_.now(), horizon_);
  u64 due = next();
  for (; due <= end; due = next()) {
    now_ = due;
    if (due / kWindow != window_) enter_window(due / kWindow);
    run_cycle();
  }
  now_ = std::max(now_, clock_.now());
  running_ = false;
  if (due != kNever) due_.notify(clock_.begin_of(due) - sc_core::sc_time_stamp());
}

}  // namespace vinci::sim
