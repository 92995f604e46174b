// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <boost/circular_buffer.hpp>
#include <memory>
#include <vector>

#include "isa/base/types.h"

namespace vinci::models {

// What a pipe holds: entries that wait, first in, first out, and behind the head those in flight, which retire in the
// order in which they began. Entries do not move, and are used again.
template <class Entry>
class InOrderQueue {
 public:
  static constexpr usize kInFlight = 64;  // more than a queue holds
  explicit InOrderQueue(usize depth) : waiting_(depth), in_flight_(depth + kInFlight) {}

  bool full() const { return waiting_.full(); }
  bool empty() const { return waiting_.empty(); }  // nothing waits
  usize size() const { return waiting_.size(); }
  Entry& head() { return *waiting_.front(); }
  const Entry& head() const { return *waiting_.front(); }
  // Appends an entry, whose members are those of an earlier use.
  Entry& push() {
    Entry& e = take();
    waiting_.push_back(&e);
    return e;
  }
  // The head begins, and is the newest in flight.
  void begin() {
    in_flight_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  // The head leaves without being in flight.
  void drop() {
    free_.push_back(waiting_.front());
    waiting_.pop_front();
  }

  bool idle() const { return in_flight_.empty(); }  // nothing is in flight
  bool flight_full() const { return in_flight_.full(); }
  Entry& oldest() { return *in_flight_.front(); }
  const Entry& oldest() const { return *in_flight_.front(); }
  Entry& newest() { return *in_flight_.back(); }
  // The one that began before the newest.
  Entry& second_newest() { return *in_flight_[in_flight_.size() - 2]; }
  usize in_flight() const { return in_flight_.size(); }
  Entry& in_flight(usize i) { return *in_flight_[i]; }  // 0: the oldest
  void retire_oldest() {
    free_.push_back(in_flight_.front());
    in_flight_.pop_front();
  }

  bool drained() const { return empty() && idle(); }
  auto begin_waiting() const { return waiting_.begin(); }
  auto end_waiting() const { return waiting_.end(); }

 private:
  // Reuses the entry that became free last, because it is still in the host's cache.
  Entry& take() {
    if (free_.empty()) return *all_.emplace_back(std::make_unique<Entry>());
    Entry& e = *free_.back();
    free_.pop_back();
    return e;
  }

  boost::circular_buffer<Entry*> waiting_;
  boost::circular_buffer<Entry*> in_flight_;
  std::vector<std::unique_ptr<Entry>> all_;
  std::vector<Entry*> free_;
};

}  // namespace vinci::models
