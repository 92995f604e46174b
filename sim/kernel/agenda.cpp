// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/agenda.h"

#include "sim/kernel/module.h"

namespace vinci::sim {

Agenda::Agenda(const Clock& clock) : clock_(clock) {
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

void Agenda::run_cycle() {
  const u64 cycle = now_;  // a module that goes on changes now_
  while (Entry* const entry = paused_ ? nullptr : calendar_.take(cycle))
    static_cast<Module*>(entry)->guarded_act();
}

// False: SystemC is to pause.
bool Agenda::go_ahead_from(u64 cycle) {
  constexpr u64 kLook = 1024;
  if (pause_wanted_ && pause_wanted_()) {
    sc_core::sc_pause();
    return false;
  }
  horizon_ = std::min(ahead_to_, cycle + kLook);
  return true;
}

bool Agenda::only_spins() const {
  return calendar_.all_of([](const Entry& entry) { return static_cast<const Module&>(entry).spins(); });
}

void Agenda::run() {
  running_ = true;
  const u64 end = std::max(clock_.now(), ahead_to_);
  u64 due = calendar_.first();
  for (; due <= end && !paused_; due = calendar_.first()) {
    if (due > horizon_ && due <= ahead_to_ && !go_ahead_from(due)) break;
    now_ = due;
    calendar_.go_to(due);
    run_cycle();
  }
  now_ = std::max(now_, clock_.now());
  running_ = false;
  if (due != Calendar::kNever && !paused_) notify_at(due);
}

void Agenda::resume() {
  if (!std::exchange(paused_, false)) return;
  if (Entry* const entry = std::exchange(paused_in_, nullptr)) calendar_.insert_first(*entry, now_);
  if (!idle()) due_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace vinci::sim
