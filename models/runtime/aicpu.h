// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/runtime/element.h"
#include "sim/task/task.h"

// Host functions that AICPU tasks run on device memory (rtCpuKernelLaunch). Each has a name, parameters, the parts of
// memory that it touches, from which follow its declared cost and what the checker is told, and what it does to them.
namespace vinci::models {

// The arguments of one AICPU task, as its function sees them. Wrong ones are Fault::Input.
class AicpuArgs {
 public:
  AicpuArgs(const task::CpuKernelLaunch& op, std::span<const std::string_view> parameters)
      : op_(op), parameters_(parameters) {}

  u64 number(usize i) const;
  const task::Slice& slice(usize i) const;
  Element type(usize i) const;  // a number of ge::DataType
  // A product of numbers as a size in bytes, which fits the memory of any device.
  u64 product(std::initializer_list<u64> factors) const;
  [[noreturn]] void refuse(usize i, std::string_view why) const;

 private:
  const task::CpuKernelLaunch& op_;
  std::span<const std::string_view> parameters_;
};

struct AicpuFunction {
  // What it touches of an argument that is an address.
  struct Operand {
    usize argument = 0;
    u64 bytes = 0;
    bool read = false, write = false;
  };
  using Data = std::vector<std::vector<std::byte>>;  // by operand: the bytes before, and what becomes of them

  std::string_view name;
  std::span<const std::string_view> parameters;
  std::vector<Operand> (*operands)(const AicpuArgs& args);
  void (*run)(const AicpuArgs& args, Data& data);
};

std::span<const AicpuFunction> aicpu_functions();

// The name of a function that does nothing to memory, whatever its arguments: the task must state its time.
inline constexpr std::string_view kOpaqueAicpu = "Opaque";

// The function of a task, with the parts of memory that the task touches, all of them inside their buffers. Throws
// Fault::Unsupported where there is no such function, Fault::Input for arguments that it does not take.
struct AicpuTask {
  const AicpuFunction* function = nullptr;  // null: opaque
  AicpuArgs args;
  std::vector<AicpuFunction::Operand> operands;

  u64 bytes() const;  // read and written
};
AicpuTask aicpu_task(const task::TaskStream& stream, const task::CpuKernelLaunch& op);

}  // namespace vinci::models
