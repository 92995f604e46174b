// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <string>

#include "isa/base/types.h"

// Native code of kernels that makes no progress for long (docs/livelock.md): a thread looks once a second.
namespace vinci::ascendc {

// Seconds of the host without progress. 0: never.
struct WatchdogLimits {
  u32 warning = 60;  // VINCI_NATIVE_WARNING: a warning with the line, once for each launch
  u32 timeout = 0;   // VINCI_NATIVE_TIMEOUT: the program ends with exit code 7

  // Throws Fault::Input for values that are no numbers of seconds.
  static WatchdogLimits from_environment();
};

namespace watchdog {

inline std::atomic<u64> progress{0};

// Counts what only a kernel that moves on does: an instruction for a pipe, a store, a load of a value that was not seen
// there before. One thread at a time runs native code, so that no atomic addition is needed.
inline void note_progress() { progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

// From now on the calling thread is the one that runs native code.
void take_over();

}  // namespace watchdog

// While it lives, the native code of one launch is watched.
class Watched {
 public:
  Watched(const WatchdogLimits& limits, const std::string& kernel);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  bool on_;
};

}  // namespace vinci::ascendc
