// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>

namespace vinci::capi {

// The right to simulate, which one thread of the process has at a time: SystemC keeps its state in globals.
class Turn {
 public:
  // Waits until no other thread simulates. Throws Fault::Limit when `cancelled` is set meanwhile, and
  // Fault::Unsupported in a process that was forked while a thread of its parent simulated: there the globals of
  // SystemC describe a simulation that no thread continues.
  explicit Turn(const std::atomic<bool>& cancelled);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

}  // namespace vinci::capi
