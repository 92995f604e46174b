// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/agenda.h"

#include <utility>

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

bool Agenda::alive(const Entry& e) const { return e.module != nullptr && e.module->serial_ == e.serial; }

void Agenda::wake_at(Module& module, u64 cycle) {
  if (module.due_ <= cycle) return;
  clock_.check(cycle);  // before anything is queued: here an exception is the module's, in run() it would be SystemC's
  if (module.due_ == Module::kNever) ++pending_;
  module.due_ = cycle;
  module.serial_ = ++serial_;
  const bool first = heap_.empty() || cycle < heap_.front().cycle;
  push({cycle, module.serial_, &module});
  if (first && !running_) due_.notify(clock_.begin_of(cycle) - sc_core::sc_time_stamp());
}

void Agenda::wake(Module& module) {
  if (module.due_ == Module::kNow) return;
  if (module.due_ == Module::kNever) ++pending_;
  module.due_ = Module::kNow;
  module.serial_ = ++serial_;
  next_.push_back(&module);
  if (!running_) due_.notify(sc_core::SC_ZERO_TIME);
}

void Agenda::remove(Module& module) {
  pending_ -= (module.due_ != Module::kNever ? 1 : 0) + static_cast<u64>(std::ranges::count(round_, &module));
  for (Entry& e : heap_) {
    if (e.module == &module) e.module = nullptr;
  }
  std::ranges::replace(round_, &module, nullptr);
  std::ranges::replace(next_, &module, nullptr);
}

void Agenda::push(const Entry& e) {
  usize i = heap_.size();
  heap_.push_back(e);
  Entry* const heap = heap_.data();
  for (; i > 0 && heap[(i - 1) / 2].cycle > e.cycle; i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = e;
}

void Agenda::pop() {
  const Entry last = heap_.back();
  heap_.pop_back();
  const usize size = heap_.size();
  if (size == 0) return;
  Entry* const heap = heap_.data();
  usize i = 0;
  for (usize child = 1; child < size; child = 2 * i + 1) {
    // The left child goes first where both have the same time; which it is, no processor can guess.
    if (child + 1 < size) child += static_cast<usize>(heap[child + 1].cycle < heap[child].cycle);
    if (heap[child].cycle >= last.cycle) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
}

void Agenda::drop_dead() {
  while (!heap_.empty() && !alive(heap_.front()))
    pop();
}

// From here on the module can ask again, also before its turn has come.
void Agenda::trigger(Module* module) {
  if (module != nullptr) module->due_ = Module::kNever;
  round_.push_back(module);
}

void Agenda::run_round() {
  for (usize i = 0; i < round_.size(); ++i) {
    Module* const module = std::exchange(round_[i], nullptr);
    if (module == nullptr) continue;
    --pending_;
    module->guarded_act();
  }
  round_.clear();
}

void Agenda::run_cycle() {
  while (!heap_.empty() && heap_.front().cycle <= now_) {
    if (alive(heap_.front())) trigger(heap_.front().module);
    pop();
  }
  run_round();
  while (!next_.empty()) {
    for (usize i = next_.size(); i-- > 0;)
      trigger(next_[i]);
    next_.clear();
    run_round();
  }
  drop_dead();
}

void Agenda::run() {
  running_ = true;
  now_ = clock_.now();
  run_cycle();
  while (!heap_.empty() && heap_.front().cycle <= horizon_) {
    now_ = heap_.front().cycle;
    run_cycle();
  }
  running_ = false;
  if (!heap_.empty()) due_.notify(clock_.begin_of(heap_.front().cycle) - sc_core::sc_time_stamp());
}

}  // namespace vinci::sim
