// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/task_names.h"

#include "models/runtime/overloaded.h"

namespace vinci::models {
namespace {

std::string_view direction(const task::Buffer& dst, const task::Buffer& src) {
  using enum task::Buffer::Place;
  if (src.place == host) return "host to device";
  return dst.place == host ? "device to host" : "device to device";
}

}  // namespace

std::string_view task_kind(const task::TaskStream& stream, const task::Task& task) {
  if (const auto* op = std::get_if<task::KernelLaunch>(&task.op)) {
    if (op->mix()) return "KERNEL_MIX_AIC";
    if (stream.kernels[op->kernel].type == task::KernelType::AIV_ONLY) return "KERNEL_AIVEC";
  }
  return task.info().kind;
}

TaskRecord task_record(const task::TaskStream& stream, u32 stream_id, u32 task_id) {
  const task::Stream& s = stream.streams[stream_id];
  const task::Task& task = s.tasks[task_id];
  TaskRecord out{.name = task.name,
                 .kind = task_kind(stream, task),
                 .stream = s.name,
                 .device = s.device,
                 .stream_id = stream_id,
                 .task_id = task_id};
  std::visit(Overloaded{
                 [&](const task::KernelLaunch& op) {
                   out.block_dim = op.block_dim;
                   out.mix = op.mix();
                 },
                 [&](const task::CpuKernelLaunch& op) { out.block_dim = op.block_dim; },
                 [&](const task::MemcpyAsync& op) {
                   out.direction = direction(stream.buffers[op.dst.buffer], stream.buffers[op.src.buffer]);
                 },
                 [](const auto&) {},
             },
             task.op);
  std::visit(
      [&](const auto& op) {
        if constexpr (requires { op.traffic(); }) out.bytes = op.traffic();
      },
      task.op);
  return out;
}

}  // namespace vinci::models
