// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <optional>

#include "models/soc/simulate.h"

namespace vinci::models {

// A timed simulation of a task stream that may grow: the owner of the task stream appends to it (streams, tasks,
// buffers, kernels, events, steps of the host threads that it has), and each run goes on from where the one before has
// stopped. Nothing is simulated twice, and the cycles are those of one run of the whole task stream (docs/session.md).
class Session {
 public:
  // What the steps of a host thread mean. Complete: at their end the thread ends. Open: more may be appended, and until
  // they are, time stops where the thread would begin the next one.
  enum class Host : u8 { complete, open };

  // All arguments must outlive the session; `options` are copied, what they point to is not. Throws as simulate().
  Session(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
          const Options& options, Host host = Host::open);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes over what the task stream has gained at its end; the rest must be as it was. Then simulates until a host
  // thread needs a step that is not there, or until all is over. Throws as simulate(); after an error only result() and
  // the observers are of use.
  void run();
  // The same, but no further than to the end of a record of this event that is not over. Returns the cycle of its
  // latest record, none where the event has not been recorded.
  std::optional<u64> run_until(u32 event);
  // Lets all that is appended come to its end. Steps that are appended later begin at that cycle.
  void run_to_end();

  // The present cycle.
  u64 now() const;
  // The cycle in which the latest record of an event was over.
  std::optional<u64> recorded(u32 event) const;
  // The result up to the present cycle: of pipes all that they did, of tasks those that have ended.
  Result result();

  // run_to_end() for the last time: the checker is told, the accounts are closed.
  Result finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vinci::models
