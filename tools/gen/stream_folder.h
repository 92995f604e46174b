// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/chip_config.h"
#include "tools/gen/elementwise.h"

namespace vinci::gen {

// A task stream that is put together buffer by buffer and task by task, and written as a folder: <name>.yaml, the
// kernels as .s, the inputs as .npy. All tasks stand in one stream.
class StreamFolder {
 public:
  // The kernels are for the vector cores of `chip`; its architecture is the one of the stream.
  StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment);

  // Data of a host buffer `name` that is copied to the device buffer `name`_dev before all kernels.
  template <class T>
  void input(std::string_view name, std::string_view dtype, std::span<const T> values) {
    add_input(name, dtype, values.size(), std::as_bytes(values));
  }
  // A device buffer `name`_dev for results in between.
  void intermediate(std::string_view name, std::string_view dtype, u64 elements);
  // The same, and it is copied to the output file <name>.npy when all kernels are done.
  void output(std::string_view name, std::string_view dtype, u64 elements);
  // A kernel for the vector cores and its launch as one task; numbers follow the buffers as arguments.
  void task(std::string_view name, std::string_view assembly, u32 blocks, const std::vector<std::string>& buffers,
            const std::vector<u64>& numbers = {});
  // The same with an element-wise kernel, whose output is the last buffer.
  void task(std::string_view name, const Elementwise& kernel, u64 elements, const std::vector<std::string>& buffers,
            const std::vector<u64>& scalars = {});

  // Writes the folder; returns the path of the task stream.
  std::string write(const std::string& folder) const;

 private:
  struct File {
    std::string name;
    std::vector<std::byte> bytes;
  };
  void add_input(std::string_view name, std::string_view dtype, u64 elements, std::span<const std::byte> bytes);

  std::string name_, comment_;
  const config::ChipConfig& chip_;
  std::string buffers_, kernels_, copies_in_, tasks_, copies_out_;
  std::vector<File> files_;
};

}  // namespace vinci::gen
