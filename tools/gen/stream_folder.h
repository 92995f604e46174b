// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/chip_config.h"
#include "sim/task/task.h"
#include "tools/gen/elementwise.h"

namespace vinci::gen {

// A task stream and the files that it names, before they are anywhere.
struct StreamFiles {
  std::string main;  // the file of the task stream
  std::map<std::string, std::vector<std::byte>> files;

  // As load_task_stream() of the folder; the inputs stand in the buffers themselves.
  task::TaskStream load() const;
  // Writes the folder; returns the path of the task stream.
  std::string write(const std::string& folder) const;
};

// How the kernels get to the device: each by a task of the host, or all in a model that one task of the host executes.
enum class Dispatch : u8 { eager, sunk };

// A task stream that is put together buffer by buffer and task by task, as a folder: <name>.yaml, the kernels as .s,
// the inputs as .npy. All tasks stand in one stream.
class StreamFolder {
 public:
  // Kernels are for the vector cores of `chip` unless they say otherwise; its architecture is the one of the stream.
  StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment);

  // Data of a host buffer `name` that is copied to the device buffer `name`_dev before all kernels.
  template <class T>
  void input(std::string_view name, std::string_view dtype, std::span<const T> values) {
    add_input(name, dtype, values.size(), std::as_bytes(values));
  }
  // The same with contents from the seed of the run.
  void random_input(std::string_view name, std::string_view dtype, u64 elements);
  // A device buffer `name`_dev for results in between.
  void intermediate(std::string_view name, std::string_view dtype, u64 elements);
  // The same, and it is copied to the output file <name>.npy when all kernels are done.
  void output(std::string_view name, std::string_view dtype, u64 elements);
  // The device buffer of an input is copied back to the output file <name>_after.npy when all kernels are done.
  void output_after(std::string_view name, std::string_view dtype, u64 elements);
  // A kernel that tasks launch, for the vector cores or, on a split core, for the cube cores.
  void kernel(std::string_view name, std::string_view assembly, bool cube = false);
  // A launch as one task; arguments as the task stream spells them: a buffer `name`_dev, a number, slice().
  void launch(std::string_view name, std::string_view kernel, u32 blocks, const std::vector<std::string>& args);
  static std::string slice(std::string_view buffer, u64 offset_bytes);
  // A kernel for the vector cores and its launch as one task; numbers follow the buffers as arguments.
  void task(std::string_view name, std::string_view assembly, u32 blocks, const std::vector<std::string>& buffers,
            const std::vector<u64>& numbers = {});
  // The same with an element-wise kernel, whose output is the last buffer.
  void task(std::string_view name, const Elementwise& kernel, u64 elements, const std::vector<std::string>& buffers,
            const std::vector<u64>& scalars = {});

  StreamFiles files(Dispatch dispatch = Dispatch::eager) const;
  // The kernels alone, on data that are on the device already: for runs of time, where the host launches a kernel after
  // the other and no copy lets it run ahead.
  StreamFiles resident_files(Dispatch dispatch = Dispatch::eager) const;
  std::string write(const std::string& folder) const { return files().write(folder); }

 private:
  void add_input(std::string_view name, std::string_view dtype, u64 elements, std::span<const std::byte> bytes);

  StreamFiles make_files(Dispatch dispatch, std::string_view host_buffers, std::string_view copies_in,
                         std::string_view copies_out) const;

  std::string name_, comment_;
  const config::ChipConfig& chip_;
  std::string host_buffers_, device_buffers_, kernels_, copies_in_, tasks_, copies_out_;
  std::map<std::string, std::vector<std::byte>> files_;
};

}  // namespace vinci::gen
