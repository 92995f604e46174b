// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isa/builder/program_builder.h"
#include "sim/config/chip_config.h"
#include "sim/task/stream_builder.h"
#include "sim/task/task.h"
#include "tools/gen/elementwise.h"

namespace vinci::gen {

// How the kernels get to the device: each by a task of the host, or all in a model that one task of the host executes.
enum class Dispatch : u8 { eager, sunk };

// An argument of a launch: a position in a buffer, by the name of the buffer, or a number.
struct Arg {
  // NOLINTBEGIN(google-explicit-constructor)
  Arg(const char* name) : buffer(name) {}
  Arg(std::string name, u64 offset_bytes = 0) : buffer(std::move(name)), number(offset_bytes) {}
  template <std::integral T>
  Arg(T value) : number(static_cast<u64>(value)) {}
  // NOLINTEND(google-explicit-constructor)

  std::string buffer = {};  // "": a number
  u64 number = 0;           // or the offset in the buffer, in bytes
};

// A task stream of kernels that run one after the other, on data that the host copies to the device before all of them
// and back behind them. All tasks are in one stream.
class StreamFolder {
 public:
  // Kernels are for the vector cores of `chip` unless they say otherwise; its architecture is the one of the stream.
  StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment);

  // Data of a host buffer `name` that is copied to the device buffer `name`_dev before all kernels.
  template <class T>
  void input(std::string_view name, std::string_view dtype, std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    add_input({.name = std::string(name),
               .dtype = std::string(dtype),
               .shape = {values.size()},
               .data = {bytes.begin(), bytes.end()}});
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
  void kernel(std::string_view name, const isa::BuiltProgram& program, bool cube = false);
  // A launch as one task.
  void launch(std::string_view name, std::string_view kernel, u32 blocks, std::vector<Arg> args);
  static Arg slice(std::string_view buffer, u64 offset_bytes) { return {fmt::format("{}_dev", buffer), offset_bytes}; }
  // A kernel for the vector cores and its launch as one task; numbers follow the buffers as arguments.
  template <class Program>
  void task(std::string_view name, const Program& program, u32 blocks, const std::vector<std::string>& buffers,
            const std::vector<u64>& numbers = {}) {
    kernel(name, program);
    launch(name, name, blocks, arguments(buffers, numbers));
  }
  // The same with an element-wise kernel, whose output is the last buffer.
  void task(std::string_view name, const Elementwise& kernel, u64 elements, const std::vector<std::string>& buffers,
            const std::vector<u64>& scalars = {});

  task::BuiltStream files(Dispatch dispatch = Dispatch::eager) const { return build(dispatch, false); }
  // The kernels alone, on data that are on the device already: for runs of time, where the host launches a kernel after
  // the other and no copy lets it run ahead.
  task::BuiltStream resident_files(Dispatch dispatch = Dispatch::eager) const { return build(dispatch, true); }
  std::string write(const std::string& folder) const { return files().write(folder); }

 private:
  struct Kernel {
    std::string name;
    task::KernelType type;
    isa::BuiltProgram program;
  };
  struct Launch {
    std::string name, kernel;
    u32 blocks;
    std::vector<Arg> args;
  };
  struct Copy {
    std::string host, device;
  };

  void add_input(task::Buffer buffer);
  static std::vector<Arg> arguments(const std::vector<std::string>& buffers, const std::vector<u64>& numbers);
  task::BuiltStream build(Dispatch dispatch, bool resident) const;

  std::string name_, comment_;
  const config::ChipConfig& chip_;
  std::vector<task::Buffer> host_ = {}, device_ = {};
  std::vector<Kernel> kernels_ = {};
  std::vector<Launch> launches_ = {};
  std::vector<Copy> in_ = {}, out_ = {};
};

}  // namespace vinci::gen
