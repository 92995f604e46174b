// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <thread>

#include "isa/base/types.h"

namespace vinci::models {

// Waits for a moment, for what other threads are about to do: to sleep and to be woken takes longer than a piece of
// their work. Lets others have the processor. Returns whether `done()`.
template <class Done>
bool spin_wait(Done&& done, u32 turns = 200) {
  constexpr u32 kAtOnce = 20;  // looks between two turns
  for (u32 turn = 0; turn < turns; ++turn) {
    for (u32 i = 0; i < kAtOnce; ++i) {
      if (done()) return true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  }
  return done();
}

}  // namespace vinci::models
