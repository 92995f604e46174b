// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/agenda.h"

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

void Agenda::notify_at(u64 cycle) { due_.notify(clock_.begin_of(cycle) - sc_core::sc_time_stamp()); }

u64 Agenda::next_later() const {
  u64 first = kNever;
  for (const Entry* e = later_.first; e != nullptr; e = e->next_)
    first = std::min(first, e->due_);
  return first;
}

// Nobody is due in the window before.
void Agenda::enter_window(u64 window) {
  window_ = window;
  Entry* e = std::exchange(later_, {}).first;
  while (e != nullptr) {
    Entry* const next = e->next_;
    append(*e);
    e = next;
  }
}

// Of the present window.
void Agenda::run_cycle() {
  const u64 at = now_ % kWindow;
  List& due = cycles_[at];
  while (due.first != nullptr) {
    Entry& entry = *due.first;
    due.first = entry.next_;
    if (due.first != nullptr) {
      due.first->previous_ = nullptr;
      prefetch(*due.first);
    } else {
      due.last = nullptr;
      vacate(at);
    }
    entry.due_ = kNever;
    static_cast<Module&>(entry).guarded_act();
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
  if (due != kNever) notify_at(due);
}

}  // namespace vinci::sim
