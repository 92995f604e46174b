// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/aicpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "isa/base/error.h"
#include "isa/base/suggest.h"

namespace vinci::models {

void AicpuArgs::refuse(usize i, std::string_view why) const {
  fail(Fault::Input, "{}: argument {} ({}) {}", op_.kernel, i, parameters_[i], why);
}

u64 AicpuArgs::number(usize i) const {
  const auto* value = std::get_if<u64>(&op_.args[i]);
  if (value == nullptr) refuse(i, "must be a number");
  return *value;
}

const task::Slice& AicpuArgs::slice(usize i) const {
  const auto* value = std::get_if<task::Slice>(&op_.args[i]);
  if (value == nullptr) refuse(i, "must be a device buffer");
  return *value;
}

Element AicpuArgs::type(usize i) const {
  const auto type = element(number(i));
  if (!type) refuse(i, "is no type; write a number of ge::DataType: 0 float32, 1 float16, 3 int32, ...");
  return *type;
}

u64 AicpuArgs::product(std::initializer_list<u64> factors) const {
  constexpr u64 kMost = u64{1} << 48;
  u64 out = 1;
  for (const u64 f : factors) {
    if (f != 0 && out > kMost / f) fail(Fault::Input, "{}: the sizes make more than 2^48 bytes", op_.kernel);
    out *= f;
  }
  return out;
}

u64 AicpuTask::bytes() const {
  u64 out = 0;
  for (const AicpuFunction::Operand& o : operands)
    out += o.bytes * (u64{o.read} + u64{o.write});
  return out;
}

AicpuTask aicpu_task(const task::TaskStream& stream, const task::CpuKernelLaunch& op) {
  if (op.kernel == kOpaqueAicpu) {
    if (op.seconds <= 0) fail(Fault::Input, "{} needs a time", kOpaqueAicpu);
    return {.function = nullptr, .args = AicpuArgs(op, {}), .operands = {}};
  }
  const auto functions = aicpu_functions();
  const auto f = std::ranges::find(functions, op.kernel, &AicpuFunction::name);
  if (f == functions.end()) {
    std::vector<std::string_view> names{kOpaqueAicpu};
    for (const AicpuFunction& known : functions)
      names.push_back(known.name);
    fail(Fault::Unsupported, "the AICPU has no function '{}'; it has {}{}", op.kernel, fmt::join(names, ", "),
         did_you_mean(op.kernel, names));
  }
  if (op.args.size() != f->parameters.size()) {
    fail(Fault::Input, "{} takes {} arguments ({}), not {}", f->name, f->parameters.size(),
         fmt::join(f->parameters, ", "), op.args.size());
  }
  AicpuTask out{.function = &*f, .args = AicpuArgs(op, f->parameters), .operands = {}};
  out.operands = f->operands(out.args);
  for (const AicpuFunction::Operand& o : out.operands) {
    const task::Slice& slice = out.args.slice(o.argument);
    const task::Buffer& buffer = stream.buffers[slice.buffer];
    if (o.bytes > buffer.bytes - std::min(buffer.bytes, slice.offset)) {
      out.args.refuse(o.argument, fmt::format("reaches {} bytes from offset {}, but buffer '{}' has {}", o.bytes,
                                              slice.offset, buffer.name, buffer.bytes));
    }
  }
  return out;
}

}  // namespace vinci::models
