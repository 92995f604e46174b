// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isa/base/types.h"

// The host program: what CPU threads do while devices run streams. Threads are concurrent, steps of a thread strictly
// one after the other.
namespace vinci::task {

// Hands tasks [first, first + count) of a stream to the device, in order; blocks while the queue of the stream is full.
struct HostEnqueue {
  static constexpr u32 kAll = ~u32{0};  // to the end of the stream
  u32 stream = 0;
  u32 first = 0;
  u32 count = kAll;

  friend bool operator==(const HostEnqueue&, const HostEnqueue&) = default;
};

// Work of the thread itself: preprocessing, a py_func.
struct HostCompute {
  double seconds = 0;
  std::string name = {};

  friend bool operator==(const HostCompute&, const HostCompute&) = default;
};

// aclrtSynchronizeStream: waits for all that has been handed over to the stream.
struct SynchronizeStream {
  u32 stream = 0;

  friend bool operator==(const SynchronizeStream&, const SynchronizeStream&) = default;
};

// aclrtSynchronizeEvent
struct SynchronizeEvent {
  u32 event = 0;

  friend bool operator==(const SynchronizeEvent&, const SynchronizeEvent&) = default;
};

// aclrtSynchronizeDevice: waits for all that has been handed over to the streams of the device.
struct SynchronizeDevice {
  u32 device = 0;

  friend bool operator==(const SynchronizeDevice&, const SynchronizeDevice&) = default;
};

// Adds one to a semaphore.
struct HostPost {
  u32 semaphore = 0;

  friend bool operator==(const HostPost&, const HostPost&) = default;
};

// Waits until a semaphore is not zero and takes one from it.
struct HostWait {
  u32 semaphore = 0;

  friend bool operator==(const HostWait&, const HostWait&) = default;
};

// The `length` steps that follow are carried out `times` times. They may be repeats themselves, with all their steps.
struct HostRepeat {
  u64 times = 1;
  u32 length = 0;

  friend bool operator==(const HostRepeat&, const HostRepeat&) = default;
};

using HostStep = std::variant<HostEnqueue, HostCompute, SynchronizeStream, SynchronizeEvent, SynchronizeDevice,
                              HostPost, HostWait, HostRepeat>;

// Names of the alternatives, in their order; keys of the YAML spelling.
inline constexpr auto kHostStepNames = std::to_array<std::string_view>(
    {"enqueue", "compute", "synchronize_stream", "synchronize_event", "synchronize_device", "post", "wait", "repeat"});
static_assert(kHostStepNames.size() == std::variant_size_v<HostStep>);

struct HostThread {
  std::string name;
  std::vector<HostStep> steps = {};

  friend bool operator==(const HostThread&, const HostThread&) = default;
};

// Between the threads of the host, e.g. for the depth of a prefetch.
struct Semaphore {
  std::string name;
  u64 initial = 0;

  friend bool operator==(const Semaphore&, const Semaphore&) = default;
};

// Without threads, one thread hands over the tasks of all streams, a task of each in turn, and waits for the end.
struct HostProgram {
  std::vector<Semaphore> semaphores = {};
  std::vector<HostThread> threads = {};

  friend bool operator==(const HostProgram&, const HostProgram&) = default;
};

}  // namespace vinci::task
