// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/crash.h"

#include <execinfo.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace vinci::ascendc {
namespace {

constexpr unsigned kSeconds = 60;  // that saving may take
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::array kNames{"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
constexpr std::size_t kStack = 256 * 1024;

void (*g_save)(const char*, const std::vector<void*>&) = nullptr;
volatile std::sig_atomic_t g_crashed = 0;

const char* name_of(int signal) {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) return kNames[i];
  }
  return "a signal";
}

void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // the process ends anyway
}

void forget_handlers() {
  for (const int signal : kSignals)
    std::signal(signal, SIG_DFL);
}

// Of a thread, as long as it lives; one that the program has set stays.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    bytes_.resize(kStack);
    stack_t own{};
    own.ss_sp = bytes_.data();
    own.ss_size = bytes_.size();
    ::sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    if (bytes_.empty()) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<std::byte> bytes_;
};

// Return addresses, as of a call by the instruction that has crashed.
std::vector<void*> frames_of(const ucontext_t& context) {
#if defined(__x86_64__)
  const auto at = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto at = static_cast<std::uintptr_t>(context.uc_mcontext.pc);
#endif
  std::vector<void*> out{reinterpret_cast<void*>(at + 1)};  // NOLINT(performance-no-int-to-ptr)
  std::array<void*, 64> all;
  const auto end = all.begin() + ::backtrace(all.data(), static_cast<int>(all.size()));
  const auto found = std::find(all.begin(), end, reinterpret_cast<void*>(at));  // NOLINT(performance-no-int-to-ptr)
  if (found != end) out.insert(out.end(), found + 1, end);
  return out;
}

// The child is a copy of the process at the moment of the crash, with this thread alone. _Fork() takes no locks, which
// the crashed thread may hold; where saving needs one of them, the alarm ends the child.
void on_crash(int signal, siginfo_t*, void* context) {
  forget_handlers();
  if (g_crashed == 0) {
    g_crashed = 1;
    const pid_t child = ::_Fork();
    if (child == 0) {
      ::alarm(kSeconds);
      sigset_t all;
      ::sigemptyset(&all);
      ::sigprocmask(SIG_SETMASK, &all, nullptr);
      g_save(name_of(signal), frames_of(*static_cast<const ucontext_t*>(context)));
      ::_exit(0);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0 || status != 0) say("vinci: the program has crashed, and its recording could not be written\n");
  }
  ::raise(signal);  // is delivered when the handler returns
}

}  // namespace

void prepare_thread_for_crash() { thread_local const SignalStack stack; }

void save_on_crash(void (*save)(const char* signal, const std::vector<void*>& frames)) {
  g_save = save;
  std::array<void*, 1> loads_the_unwinder;  // not in a signal handler
  ::backtrace(loads_the_unwinder.data(), 1);
  prepare_thread_for_crash();
  for (const int signal : kSignals) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_sigaction = &on_crash;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace vinci::ascendc
