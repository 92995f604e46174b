// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <vector>

#include "sim/kernel/clock.h"

namespace vinci::sim {

class Module;

// When the modules of one simulation act. One SystemC process serves them all, so that SystemC is asked once for each
// cycle in which something happens and not once for each module; where nothing else lives in the simulation it is asked
// once for many cycles. Modules that are due at the
// same time act in the order in which SystemC would trigger their events (its heap, built here of numbers instead of
// pointers), so that results do not depend on who keeps the agenda.
class Agenda {
 public:
  explicit Agenda(const Clock& clock);
  ~Agenda();
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // Lets a module act at a cycle that lies ahead, or in the next round of the present time. An earlier wish wins.
  // Throws Fault::Limit on a cycle that the clock cannot count.
  void wake_at(Module& module, u64 cycle);
  void wake(Module& module);
  // Forgets a module that goes.
  void remove(Module& module);

  // The present cycle; inside a module's act() this is the time, not sc_time_stamp().
  u64 now() const { return running_ ? now_ : std::max(now_, clock_.now()); }
  // Nobody but the modules acts before the end of this cycle: the agenda may go on to it by itself. What SystemC calls
  // the time then follows.
  void run_ahead_to(u64 cycle) { horizon_ = cycle; }

  // Modules that have asked to be woken and have not been.
  u64 pending() const { return pending_; }

 private:
  // A wish that a later one has replaced stays in the heap until its time comes, with another serial number than the
  // module's.
  struct Entry {
    u64 cycle;
    u64 serial;
    Module* module;
  };

  bool alive(const Entry& e) const;
  void push(const Entry& e);
  void pop();
  void drop_dead();  // entries at the top
  void trigger(Module* module);
  void run_round();
  void run_cycle();
  void run();

  const Clock& clock_;
  std::vector<Entry> heap_;            // by cycle; children of i are 2 i + 1 and 2 i + 2
  std::vector<Module*> round_, next_;  // who acts now, and in the next round of the present time
  u64 serial_ = 0;
  u64 now_ = 0;
  u64 horizon_ = 0;
  u64 pending_ = 0;
  bool running_ = false;
  sc_core::sc_event due_;
  sc_core::sc_process_handle process_;
};

}  // namespace vinci::sim
