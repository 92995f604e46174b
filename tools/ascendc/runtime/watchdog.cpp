// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/watchdog.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/ascendc/runtime/device.h"
#include "tools/ascendc/runtime/source_line.h"
#include "tools/ascendc/runtime/strand.h"

namespace vinci::ascendc {
namespace {

// Ignored by default, and sent by nothing else to a program that has no urgent data on its sockets.
constexpr int kSignal = SIGURG;

std::atomic<pid_t> g_thread{0};  // runs native code

// Written by the signal handler in that thread, read by the watchdog when `g_ready` is set.
constexpr int kFrames = 32;
std::array<void*, kFrames> g_frames;
int g_frame_count = 0;
const Core* g_core = nullptr;
std::atomic<bool> g_ready{false};

void capture(int) {
  g_frame_count = ::backtrace(g_frames.data(), kFrames);
  g_core = present();
  g_ready.store(true, std::memory_order_release);
}

// Asks the thread that runs native code where it is.
bool interrupt(pid_t thread) {
  g_ready = false;
  if (thread == 0 || ::tgkill(::getpid(), thread, kSignal) != 0) return false;
  for (int i = 0; i < 200 && !g_ready.load(std::memory_order_acquire); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return g_ready;
}

// Where native code is, and on which core: ", AIV of block 3".
struct Spin {
  std::string place, core;
};

Spin find_spin() {
  if (!interrupt(g_thread)) return {};
  const std::vector<void*> frames(g_frames.begin(), g_frames.begin() + g_frame_count);
  return {.place = place_of(frames), .core = g_core == nullptr ? std::string() : ", " + g_core->name()};
}

// In this thread and those that it starts meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The thread that looks. It is started by the first launch and ends with the process.
class Watchdog {
 public:
  static Watchdog& one() {
    static auto* const made = new Watchdog;
    return *made;
  }

  void begin(const WatchdogLimits& limits, const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    limits_ = limits;
    kernel_ = kernel;
    watching_ = true;
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    watching_ = false;
    changed_.notify_all();
  }

 private:
  Watchdog() {
    std::array<void*, 1> loads_the_unwinder;  // not in a signal handler
    ::backtrace(loads_the_unwinder.data(), 1);
    struct sigaction action {};
    action.sa_handler = &capture;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigaction(kSignal, &action, nullptr);
    const SignalsBlocked blocked;  // signals are for the threads of the program
    start_thread([this] { run(); }).detach();
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return watching_; });
      watch(lock);
    }
  }

  // Counts seconds in place of reading a clock: a process that was stopped has lost none.
  void watch(std::unique_lock<std::mutex>& lock) {
    u64 before = watchdog::progress.load(std::memory_order_relaxed);
    u32 seconds = 0;
    bool warned = false;
    while (watching_) {
      if (changed_.wait_for(lock, std::chrono::seconds(1), [&] { return !watching_; })) return;
      const u64 now = watchdog::progress.load(std::memory_order_relaxed);
      seconds = now == before ? seconds + 1 : 0;
      before = now;
      if (limits_.timeout != 0 && seconds >= limits_.timeout) stop(seconds);
      if (limits_.warning == 0 || seconds < limits_.warning || warned) continue;
      warned = true;
      const Spin spin = find_spin();
      fmt::print(stderr,
                 "vinci: warning: {}{}{}: its native code has made no progress for {} s; --native-timeout "
                 "(VINCI_NATIVE_TIMEOUT) would end it\n",
                 spin.place.empty() ? "" : spin.place + ": ", kernel_, spin.core, seconds);
    }
  }

  [[noreturn]] void stop(u32 seconds) {
    const Spin spin = find_spin();
    die(Error(Fault::Limit,
              fmt::format("{}{}: its native code has made no progress for {} s (--native-timeout, "
                          "VINCI_NATIVE_TIMEOUT)",
                          kernel_, spin.core, seconds),
              spin.place));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool watching_ = false;
  WatchdogLimits limits_;
  std::string kernel_;
};

u32 seconds_from(const char* name, u32 fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  constexpr u32 kMost = 1'000'000;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end != '\0' || *text < '0' || *text > '9' || value > kMost) {
    fail(Fault::Input, "{}={}: a number of seconds is expected, at most {}", name, text, kMost);
  }
  return static_cast<u32>(value);
}

}  // namespace

WatchdogLimits WatchdogLimits::from_environment() {
  WatchdogLimits out;
  out.warning = seconds_from("VINCI_NATIVE_WARNING", out.warning);
  out.timeout = seconds_from("VINCI_NATIVE_TIMEOUT", out.timeout);
  return out;
}

void watchdog::take_over() {
  thread_local const pid_t self = ::gettid();
  g_thread.store(self, std::memory_order_relaxed);
}

Watched::Watched(const WatchdogLimits& limits, const std::string& kernel)
    : on_(limits.warning != 0 || limits.timeout != 0) {
  if (on_) Watchdog::one().begin(limits, kernel);
}
Watched::~Watched() {
  if (!on_) return;
  g_thread.store(0, std::memory_order_relaxed);
  Watchdog::one().end();
}

}  // namespace vinci::ascendc
