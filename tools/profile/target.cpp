// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/target.h"

#include <algorithm>
#include <array>
#include <variant>

#include "isa/base/enums.h"

namespace vinci::profile {
namespace {

struct TypeOfKind {
  std::string_view kind, type;
};
constexpr std::array kTypes{TypeOfKind{"KERNEL_AICORE", "AI_CORE"}, TypeOfKind{"KERNEL_AIVEC", "AI_VECTOR_CORE"},
                            TypeOfKind{"KERNEL_MIX_AIC", "MIX_AIC"}, TypeOfKind{"KERNEL_AICPU", "AI_CPU"},
                            TypeOfKind{"COMMUNICATION", "COMMUNICATION"}};

// By Hccl::Op: the names under which HCCL reports to the profiler (PROF_OP_NAME).
constexpr auto kCollectives =
    enum_table<task::Hccl::Op, std::string_view>({{task::Hccl::Op::all_reduce, "hcom_allReduce_"},
                                                  {task::Hccl::Op::all_gather, "hcom_allGather_"},
                                                  {task::Hccl::Op::reduce_scatter, "hcom_reduceScatter_"},
                                                  {task::Hccl::Op::broadcast, "hcom_broadcast_"},
                                                  {task::Hccl::Op::all_to_all, "hcom_alltoall_"}});

}  // namespace

u64 Target::host_nanoseconds(const models::TaskRecord& r) const {
  const double seconds = on_cores(r) ? chip_.host.launch : chip_.host.enqueue;
  return static_cast<u64>(seconds * 1e9);
}

std::string_view Target::op_type(const models::TaskRecord& r) const {
  const OpDescription* const known = describe(r);
  return known != nullptr ? std::string_view(known->type) : profile::op_type(stream_, r);
}

std::string_view task_type(const models::TaskRecord& r) {
  const auto it = std::ranges::find(kTypes, r.kind, &TypeOfKind::kind);
  return it == kTypes.end() ? r.kind : it->type;
}

bool is_operator(const models::TaskRecord& r) {
  return std::ranges::find(kTypes, r.kind, &TypeOfKind::kind) != kTypes.end();
}

bool on_cores(const models::TaskRecord& r) {
  const std::string_view type = task_type(r);
  return type == "AI_CORE" || type == "AI_VECTOR_CORE" || type == "MIX_AIC";
}

std::string_view op_type(const task::TaskStream& stream, const models::TaskRecord& r) {
  const auto& op = stream.streams[r.stream_id].tasks[r.task_id].op;
  if (const auto* launch = std::get_if<task::KernelLaunch>(&op)) return stream.kernels[launch->kernel].name;
  if (const auto* cpu = std::get_if<task::CpuKernelLaunch>(&op)) return cpu->kernel;
  if (const auto* hccl = std::get_if<task::Hccl>(&op)) return kCollectives[static_cast<usize>(hccl->op)];
  return r.kind;
}

}  // namespace vinci::profile
