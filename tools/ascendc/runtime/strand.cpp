// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/strand.h"

#include <pthread.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "isa/base/error.h"
#include "tools/ascendc/runtime/crash.h"
#include "tools/ascendc/runtime/watchdog.h"

namespace vinci::ascendc {
namespace {

thread_local Strand* t_strand = nullptr;
std::terminate_handler g_terminate = nullptr;  // what was there before ours

}  // namespace

std::thread start_thread(std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& e) {
    fail(Fault::Limit,
         "the system refuses a thread: {}; a kernel takes one for each core that runs at once, and one that watches "
         "them: allow more processes (ulimit -u, pids.max of the container)",
         e.code().message());
  }
}

Strand::~Strand() {
  if (!thread_.joinable()) return;
  if (!ended_) {
    abandoned_ = true;
    hand_to(Turn::body);
    await(Turn::owner);
  }
  leave();
}

void Strand::leave() { parked_ ? thread_.detach() : thread_.join(); }

void Strand::hand_to(Turn turn) {
  const std::lock_guard lock(mutex_);
  turn_ = turn;
  changed_.notify_all();
}

// Nothing unwinds a stack through a function that is noexcept, so the thread stays where it is.
void Strand::park() {
  failure_ = std::current_exception();
  ended_ = parked_ = true;
  hand_to(Turn::owner);
  for (;;)
    ::pause();
}

void Strand::on_terminate() {
  if (t_strand != nullptr && std::current_exception() != nullptr) {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const Error&) {
      t_strand->park();
    } catch (const Abandoned&) {
      t_strand->park();
    } catch (...) {  // a fault of the user's own code
      g_terminate();
    }
  }
  g_terminate();
}

void Strand::await(Turn turn) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == turn; });
}

bool Strand::resume() {
  if (!thread_.joinable()) {
    if (g_terminate == nullptr) g_terminate = std::set_terminate(&Strand::on_terminate);
    thread_ = start_thread([this] { main(); });
    pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
  }
  hand_to(Turn::body);
  await(Turn::owner);
  if (!ended_) return false;
  leave();
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

void Strand::give_way() {
  Strand& self = *t_strand;
  self.hand_to(Turn::owner);
  self.await(Turn::body);
  if (self.abandoned_) throw Abandoned{};
  watchdog::take_over();
}

void Strand::main() {
  t_strand = this;
  prepare_thread_for_crash();
  await(Turn::body);
  watchdog::take_over();
  try {
    body_();
  } catch (const Abandoned&) {
    failure_ = nullptr;
  } catch (...) {
    failure_ = std::current_exception();
  }
  ended_ = true;
  hand_to(Turn::owner);
}

}  // namespace vinci::ascendc
