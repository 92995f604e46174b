// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/task_names.h"

#include "models/runtime/overloaded.h"

namespace vinci::models {
namespace {

// By alternative of Task::op; of a kernel, the name where it runs on no vector core. Names of rtModelTaskType_t and
// TS_TASK_TYPE_*; of collectives, which the runtime does not know as one task, msprof's.
constexpr auto kKinds = std::to_array<std::string_view>(
    {"KERNEL_AICORE", "MEMCPY_ASYNC",         "MEMSET_ASYNC",           "EVENT_RECORD",  "STREAM_WAIT_EVENT",
     "FREE",          "NPU_GET_FLOAT_STATUS", "NPU_CLEAR_FLOAT_STATUS", "REDUCE_ASYNC",  "EVENT_RESET",
     "NOTIFY_RECORD", "NOTIFY_WAIT",          "STREAM_SWITCH",          "STREAM_ACTIVE", "LABEL_SET",
     "LABEL_GOTO",    "LABEL_SWITCH",         "KERNEL_AICPU",           "MODEL_EXECUTE", "MODEL_END_GRAPH",
     "COMMUNICATION"});
static_assert(kKinds.size() == task::kOpNames.size());

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
  return kKinds[task.op.index()];
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
                   out.bytes = op.bytes();
                   out.direction = direction(stream.buffers[op.dst.buffer], stream.buffers[op.src.buffer]);
                 },
                 [&](const task::MemsetAsync& op) { out.bytes = op.bytes; },
                 [&](const task::NpuGetFloatStatus& op) { out.bytes = op.kBytes; },
                 [&](const task::ReduceAsync& op) { out.bytes = op.bytes; },
                 [&](const task::Hccl& op) { out.bytes = op.count * task::element_bytes(op.type); },
                 [](const auto&) {},
             },
             task.op);
  return out;
}

}  // namespace vinci::models
