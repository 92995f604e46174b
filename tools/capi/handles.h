// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "models/soc/simulate.h"
#include "sim/config/chip_config.h"
#include "sim/task/run_memory.h"
#include "sim/task/task.h"
#include "tools/capi/include/vinci/vinci.h"

// What the handles of the C API are.
struct vinci_chip {
  std::shared_ptr<const vinci::config::ChipConfig> config;
  std::string text;  // as a chip file
  std::string json;  // its values
};

struct vinci_stream {
  std::shared_ptr<vinci::task::TaskStream> tasks;  // shared with runs: copied before it is changed
};

struct vinci_buffer {
  vinci_device* device = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte> contents{};  // empty: zeros
  bool freed = false;

  // All of its bytes, made where there are none.
  std::vector<std::byte>& data() {
    contents.resize(bytes);
    return contents;
  }
};

struct vinci_kernel {
  vinci_device* device = nullptr;
  vinci::task::Kernel kernel;
};

// Where vinci_copy_out() puts the contents of a host buffer.
struct PendingOut {
  vinci::u32 buffer = 0;  // of the task stream
  void* dst = nullptr;
};

// What waits for the next run of a device.
struct PendingTasks {
  vinci::task::TaskStream tasks;
  std::vector<PendingOut> outs;
  std::map<const vinci_buffer*, vinci::u32> buffers;  // index in the task stream
  std::map<const vinci_kernel*, vinci::u32> kernels;
};

struct vinci_device {
  std::shared_ptr<const vinci::config::ChipConfig> config;
  std::vector<std::unique_ptr<vinci_buffer>> buffers;
  std::vector<std::unique_ptr<vinci_kernel>> kernels;
  PendingTasks pending;
  vinci_run* run = nullptr;  // that is not done
  std::mutex mutex;          // of all that is above, with the contents of the buffers
};

struct vinci_run {
  std::shared_ptr<const vinci::config::ChipConfig> config;
  std::shared_ptr<const vinci::task::TaskStream> tasks;
  vinci_options options{};
  vinci_device* device = nullptr;  // null where it is of a task stream, and when it is done
  PendingTasks pending;            // of a device, without its tasks

  std::atomic<bool> cancelled = false;
  std::mutex waiting;              // of the thread that carries it out
  std::atomic<bool> done = false;  // what follows is read only when the run is done
  vinci_status status = VINCI_OK;
  std::string error;  // of the status
  std::unique_ptr<vinci::task::RunMemory> memory;
  vinci::models::Result result;
  using Files = std::map<std::string, std::string, std::less<>>;
  Files files;                                         // by name; not changed when the run is done
  Files requested;                                     // those that are made when they are asked for
  bool of_device = false;                              // also when it is done
  std::vector<vinci::u32> outputs;                     // buffers that have one
  std::vector<std::vector<vinci::u64>> output_shapes;  // in their order

  const std::string& file(std::string_view name) const {
    static const std::string none;
    for (const Files* list : {&files, &requested}) {
      if (const auto it = list->find(name); it != list->end()) return it->second;
    }
    return none;
  }
};

namespace vinci::capi {

// Carries out a function of the API: exceptions become a status and the text of vinci_last_error().
vinci_status guarded(const std::function<void()>& body);
// Notes a failure of this thread.
vinci_status failure(vinci_status status, const std::string& text);

// Refuses a null pointer that must be something.
template <class T>
T& need(T* p, const char* what) {
  if (p == nullptr) fail(Fault::Input, "{} is NULL", what);
  return *p;
}

// Refuses a number that is none of the enumerators 0 to `last`.
template <class E>
void check_enumerator(E value, E last, const char* what) {
  const auto number = static_cast<std::int32_t>(value);
  if (number < 0 || number > static_cast<std::int32_t>(last)) fail(Fault::Input, "there is no {} {}", what, number);
}

// Refuses a size that no version of a structure of the API has: `first` is the size in the first version.
inline void check_size(std::size_t size, std::size_t first, const char* structure) {
  constexpr std::size_t kMost = 4096;
  if (size < first || size > kMost)
    fail(Fault::Input, "{}.size is {}; the caller sets it to sizeof({})", structure, size, structure);
}

// A run that has not begun; the options may be null.
std::unique_ptr<vinci_run> make_run(std::shared_ptr<const config::ChipConfig> chip,
                                    std::shared_ptr<const task::TaskStream> tasks, const vinci_options* options);

// The name of an architecture, which lives as long as the process.
const char* arch_text(isa::Arch arch);

// The device may have its next run.
void leave_device(vinci_run& run);

// The contents of the device's buffers go into the memory of a run, and come back. The device is locked.
void put_device_memory(const vinci_run& run);
void take_device_memory(vinci_run& run);

}  // namespace vinci::capi
