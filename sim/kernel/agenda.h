// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/kernel/calendar.h"
#include "sim/kernel/clock.h"

namespace vinci::sim {

// When the modules of one simulation act. One SystemC process serves them all, so that SystemC is asked once for each
// cycle in which something happens and not once for each module; where nothing else lives in the simulation it is asked
// once for many cycles. Modules that are due at the same time act in the order in which they asked for it.
class Agenda {
 public:
  using Entry = Calendar::Entry;  // of each module: the cycle in which it will act, if any

  explicit Agenda(const Clock& clock);
  ~Agenda();
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // Lets a module act at a later cycle, or once more at the present time. An earlier wish wins.
  // Throws Fault::Limit on a cycle that the clock cannot count.
  void wake_at(Entry& entry, u64 cycle) {
    if (entry.due() <= cycle) return;
    // Before anything is queued: here an exception is the module's, in run() it would be SystemC's.
    clock_.check(cycle);
    calendar_.insert(entry, cycle);
    // Where an earlier module has gone, run() is called at its cycle and then finds the first one.
    if (!running_ && calendar_.bound() == cycle) notify_at(cycle);
  }
  void wake(Entry& entry) {
    const u64 present = now();
    if (entry.due() <= present) return;
    calendar_.insert(entry, present);
    if (!running_) due_.notify(sc_core::SC_ZERO_TIME);
  }
  // Forgets a module that is destroyed.
  void remove(Entry& entry) { calendar_.remove(entry); }

  // The present cycle; inside a module's act() this is the time, not sc_time_stamp().
  u64 now() const { return running_ ? now_ : std::max(now_, clock_.now()); }
  // Only the modules act before the end of this cycle: the agenda may advance to it by itself. The time of SystemC then
  // follows.
  void run_ahead_to(u64 cycle) { ahead_to_ = cycle; }
  // Asked while the simulation runs ahead, every 1024 cycles; true pauses SystemC.
  void pause_when(std::function<bool()> wanted) { pause_wanted_ = std::move(wanted); }
  // Called by act() last, in place of wake_at(); `cycle` is after now(). When no other module acts up to `cycle`, now()
  // becomes `cycle`, and act() continues (true). Otherwise the module is woken at `cycle` (false).
  bool go_on_to(Entry& entry, u64 cycle) {
    if (entry.due() <= cycle) return false;
    if (calendar_.bound() > cycle && cycle <= horizon_) {
      calendar_.remove(entry);  // a later wish
      now_ = cycle;
      return true;
    }
    clock_.check(cycle);
    calendar_.insert(entry, cycle);
    return false;
  }

  // Inside act(), as its last call: no module acts any more until resume(), however often the simulation is run.
  // `entry` is null or the module itself, which then acts once more before all others.
  void pause(Entry* entry) {
    paused_ = true;
    if (entry != nullptr) paused_in_ = entry;
  }
  bool paused() const { return paused_; }
  // Goes on exactly where pause() has stopped.
  void resume();

  // Whether no module waits to be woken.
  bool idle() const { return calendar_.empty(); }
  // Whether all modules that wait to be woken spin (Module::spins()).
  bool only_spins() const;

 private:
  void notify_at(u64 cycle);
  void run_cycle();
  bool go_ahead_from(u64 cycle);
  void run();

  const Clock& clock_;
  Calendar calendar_;
  u64 now_ = 0;
  u64 ahead_to_ = 0;  // the end of the cycles without others
  u64 horizon_ = 0;   // up to which the modules go on before pause_wanted_ is asked
  bool running_ = false, paused_ = false;
  Entry* paused_in_ = nullptr;
  sc_core::sc_event due_;
  sc_core::sc_process_handle process_;
  std::function<bool()> pause_wanted_;
};

}  // namespace vinci::sim
