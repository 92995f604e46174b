// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/kernel/env.h"

namespace vinci::sim {

// A hardware unit that acts at certain times. It has one process, which runs whenever `wake` asks for it; a unit
// decides itself what there is to do at that time. An exception is kept with its type, and the simulation ends.
class Module : public sc_core::sc_module {
 protected:
  Module(const std::string& name, Env& env) : sc_module(sc_core::sc_module_name(name.c_str())), env_(env) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&wake_);
    sc_core::sc_spawn([this] { guarded_act(); }, (name + "_act").c_str(), &options);
  }

  // What the unit does when it is woken.
  virtual void act() = 0;

  u64 now() const { return env_.clock.now(); }

  Env& env_;

 public:
  // Runs act() once at the given cycle; an earlier pending wake-up wins, so act() must ask again for what it still
  // needs.
  void wake_at(u64 cycle) {
    const u64 t = now();
    const sc_core::sc_time at = env_.clock.cycles(cycle);
    wake_.notify(cycle > t ? at - sc_core::sc_time_stamp() : sc_core::SC_ZERO_TIME);
  }
  // Runs act() in the next delta cycle of the present time.
  void wake() { wake_.notify(sc_core::SC_ZERO_TIME); }

 private:
  void guarded_act() {
    if (env_.error) return;
    try {
      act();
    } catch (...) {
      env_.error = std::current_exception();  // no process acts any more, so the simulation runs dry at once
    }
  }

  sc_core::sc_event wake_;
};

}  // namespace vinci::sim
