// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>

#include "sim/kernel/clock.h"

namespace vinci::sim {

class Module;

// When the modules of one simulation act. One SystemC process serves them all, so that SystemC is asked once for each
// cycle in which something happens and not once for each module; where nothing else lives in the simulation it is asked
// once for many cycles. Modules that are due at the same time act in the order in which they asked for it.
//
// A calendar: the cycles of the present window have a list each, whose first one a word of bits finds; what lies behind
// the window waits in one list, which is looked through when the window is over. All lists are threaded through the
// modules, so that a wish that is replaced leaves nothing behind.
class Agenda {
 public:
  explicit Agenda(const Clock& clock);
  ~Agenda();
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // Lets a module act at a cycle that lies ahead, or once more at the present time. An earlier wish wins.
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
  // Inside act(), in place of wake_at() as the last thing: where nobody else acts up to this cycle, it is the present
  // at once, and the module goes on. Else false, and nothing has changed.
  bool go_on_to(Module& module, u64 cycle);

  // Modules that have asked to be woken and have not been.
  u64 pending() const { return pending_; }

 private:
  static constexpr u64 kWindow = 1024;  // cycles
  static constexpr u64 kNever = ~u64{0};

  struct List {
    Module* first = nullptr;
    Module* last = nullptr;
  };

  List& list_of(u64 cycle) { return cycle / kWindow == window_ ? cycles_[cycle % kWindow] : later_; }
  void insert(Module& module, u64 cycle);
  void append(Module& module);
  void unlink(Module& module);
  u64 next() const;  // cycle in which somebody is due
  void enter_window(u64 window);
  void run_cycle();
  void run();

  const Clock& clock_;
  u64 window_ = 0;                          // the present one, of numbers cycle / kWindow
  std::array<List, kWindow> cycles_;        // of it
  std::array<u64, kWindow / 64> occupied_;  // bits: which of these lists have somebody
  List later_;                              // in other windows
  u64 now_ = 0;
  u64 horizon_ = 0;
  u64 pending_ = 0;
  bool running_ = false;
  sc_core::sc_event due_;
  sc_core::sc_process_handle process_;
};

}  // namespace vinci::sim
