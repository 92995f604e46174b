// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/interrupts.h"

#include <unistd.h>

#include <array>
#include <csignal>

namespace vinci::run {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_interrupted = 0;
volatile pid_t g_process = 0;

// SA_RESETHAND has restored the default action: raise() ends a forked process by the same signal.
void on_signal(int signal) {
  if (::getpid() == g_process) {
    g_interrupted = 1;
  } else {
    ::raise(signal);
  }
}

}  // namespace

void catch_interrupts() {
  g_process = ::getpid();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals)
    ::sigaction(signal, &action, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace vinci::run
