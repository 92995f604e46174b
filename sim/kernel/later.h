// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "sim/kernel/module.h"

namespace vinci::sim {

// What happens to an owner at known cycles: each is an entry of the agenda by itself, among all modules. Those of one
// cycle happen in the order in which they were announced, as owner.happen(what). That returns false where the
// simulation pauses here (Module::pause_here()) and this is to happen once more when it goes on.
template <class What, class Owner>
class Later {
 public:
  Later(Env& env, Owner& owner) : env_(env), owner_(owner) {}

  // At the present cycle or a later one.
  void at(u64 cycle, What what) {
    if (free_.empty()) free_.push_back(&all_.emplace_back(*this));
    Event& event = *free_.back();
    event.wake_at(cycle);
    event.what = std::move(what);
    free_.pop_back();
  }

 private:
  struct Event final : Module {
    explicit Event(Later& l) : Module(l.env_), later(l) {}
    void act() override {
      if (!later.owner_.happen(what)) return pause_here();
      what = {};
      later.free_.push_back(this);
    }
    Later& later;
    What what{};
  };

  Env& env_;
  Owner& owner_;
  std::deque<Event> all_;
  std::vector<Event*> free_;
};

}  // namespace vinci::sim
