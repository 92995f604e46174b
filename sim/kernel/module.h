// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/kernel/env.h"

namespace vinci::sim {

// A hardware unit that acts at certain times. It has one process, which runs whenever `wake` asks for it; a unit
// decides itself what there is to do at that time. An exception is kept with its type, and the simulation ends.
// No sc_module, so that units can come and go while a simulation runs.
class Module {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  Module(const std::string& name, Env& env) : env_(env) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&wake_);
    process_ = sc_core::sc_spawn([this] { guarded_act(); }, sc_core::sc_gen_unique_name(name.c_str()), &options);
  }
  virtual ~Module() {
    if (sc_core::sc_is_running()) process_.kill();
  }

  // What the unit does when it is woken.
  virtual void act() = 0;

  u64 now() const { return env_.clock.now(); }

  Env& env_;

 public:
  // Runs act() once at the given cycle; an earlier pending wake-up wins, so act() must ask again for what it still
  // needs.
  void wake_at(u64 cycle) {
    notify(cycle > now() ? env_.clock.begin_of(cycle) - sc_core::sc_time_stamp() : sc_core::SC_ZERO_TIME);
  }
  // Runs act() in the next delta cycle of the present time.
  void wake() { notify(sc_core::SC_ZERO_TIME); }

 private:
  void notify(const sc_core::sc_time& delay) {
    if (!pending_) ++env_.pending;
    pending_ = true;
    wake_.notify(delay);
  }

  void guarded_act() {
    --env_.pending;
    pending_ = false;
    if (env_.error) return;
    try {
      act();
    } catch (...) {
      env_.error = std::current_exception();  // no process acts any more, so the simulation runs dry at once
    }
    if (env_.quiet && (env_.pending == 0 || env_.error)) env_.quiet();
  }

  sc_core::sc_event wake_;
  sc_core::sc_process_handle process_;
  bool pending_ = false;  // `wake_` is notified
};

}  // namespace vinci::sim
