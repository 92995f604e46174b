// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/kernel/env.h"

namespace vinci::sim {

// A hardware unit that acts at certain times, whenever `wake` asks for it; a unit decides itself what there is to do at
// that time. An exception is kept with its type, and the simulation ends.
// No sc_module, so that units can come and go while a simulation runs.
class Module : private Agenda::Entry {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  // Which acts count in Env::changes: each, or those that the module counts itself.
  enum class Counts : u8 { itself, each_act };
  explicit Module(Env& env, Counts counts = Counts::each_act) : env_(env), counts_(counts) {}
  virtual ~Module() { env_.agenda.remove(*this); }

  // What the unit does when it is woken.
  virtual void act() = 0;

  u64 now() const { return env_.agenda.now(); }
  // The end of act() is to be woken at a later cycle. True: no module acts before, it is the present by now.
  bool go_on_to(u64 cycle) { return env_.agenda.go_on_to(*this, cycle); }

  // The end of act(): no module acts any more until the agenda is resumed, and then this one before all others.
  void pause_here() { env_.agenda.pause(this); }

  Env& env_;

 public:
  // Runs act() once at the given cycle; an earlier pending wake-up wins, so act() must ask again for what it still
  // needs.
  void wake_at(u64 cycle) {
    if (cycle > now()) {
      env_.agenda.wake_at(*this, cycle);
    } else {
      wake();
    }
  }
  // Runs act() once more at the present time, after the modules that have asked for it before.
  void wake() { env_.agenda.wake(*this); }

  // Whether all that it will ever do is to repeat what changes nothing, unless another module changes something.
  virtual bool spins() const { return false; }

 private:
  friend class Agenda;
  void guarded_act() {
    if (env_.error) return;
    env_.changes += static_cast<u64>(counts_);
    try {
      act();
    } catch (...) {
      env_.error = std::current_exception();  // no module acts any more, so the simulation runs dry at once
    }
    if (env_.quiet && (env_.agenda.idle() || env_.error)) env_.quiet();
  }

  Counts counts_;
};

}  // namespace vinci::sim
