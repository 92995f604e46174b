// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/capi/turn.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "isa/base/error.h"

namespace vinci::capi {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable free;
  bool taken = false;
  bool lost = false;  // the thread that has the turn is not in this process
};

State& state() {
  static State state;
  return state;
}

// fork() happens only while no thread is between two changes of the state. The condition variable may count threads
// that the child does not have, so the child begins with a new one.
void register_fork_handlers() {
  static const int registered = ::pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                                                 [] {
                                                   State& s = state();
                                                   s.lost = s.taken;
                                                   new (&s.free) std::condition_variable;
                                                   s.mutex.unlock();
                                                 });
  if (registered != 0) fail(Fault::Limit, "out of memory");
}

}  // namespace

Turn::Turn(const std::atomic<bool>& cancelled) {
  // vinci_cancel() may come from a signal handler and cannot notify.
  constexpr std::chrono::milliseconds kLook(20);
  register_fork_handlers();
  State& s = state();
  std::unique_lock lock(s.mutex);
  while (s.taken && !s.lost && !cancelled)
    s.free.wait_for(lock, kLook);
  if (s.lost) {
    fail(Fault::Unsupported,
         "this process was forked while another thread simulated, and cannot simulate: fork before the first run, or "
         "start a new program");
  }
  if (cancelled) fail(Fault::Limit, "the run is cancelled");
  s.taken = true;
}

Turn::~Turn() {
  State& s = state();
  {
    const std::scoped_lock lock(s.mutex);
    s.taken = false;
  }
  s.free.notify_one();
}

}  // namespace vinci::capi
