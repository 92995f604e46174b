// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "isa/arch.h"
#include "models/runtime/task_sink.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"
#include "tools/profile/decimal.h"

// What all files of a profile need to know of the run.
namespace vinci::profile {

// What a task stream does not say of an operator: its type, and of its tensors shapes ("1,64,56,56;64,64,3,3"), data
// types
// ("FLOAT16;FLOAT16") and formats ("NC1HWC0;FRACTAL_Z"), in the vendor's words.
struct OpDescription {
  std::string type;
  struct Tensors {
    std::string shapes, types, formats;
  } inputs, outputs;
};

class Target {
 public:
  // Null where nothing is known.
  using Describe = std::function<const OpDescription*(const models::TaskRecord&)>;

  // Chip and stream must outlive the profile.
  Target(const config::ChipConfig& chip, const task::TaskStream& stream, Describe describe = {})
      : chip_(chip), stream_(stream), describe_(std::move(describe)) {}

  const task::TaskStream& stream() const { return stream_; }
  bool split() const { return chip_.vector_cores > 0; }  // cube and vector cores
  double hertz() const { return chip_.clock; }
  u32 cores(isa::CoreKind kind) const { return kind == isa::CoreKind::vector ? chip_.vector_cores : chip_.ai_cores; }

  // From simulated time zero. Rounded down, so that tasks that touch in cycles also touch here.
  u64 nanoseconds(u64 cycle) const { return static_cast<u64>(static_cast<double>(cycle) * (1e9 / hertz())); }
  u64 duration(const models::TaskRecord& r) const { return nanoseconds(r.end) - nanoseconds(r.start); }

  // How long the host thread worked on handing a task over.
  u64 host_nanoseconds(const models::TaskRecord& r) const;

  // The model that a task belongs to; the vendor's value for "none" is the same 4294967295.
  u32 model(const models::TaskRecord& r) const { return stream_.streams[r.stream_id].model; }
  // The collective that a task is a rank of; null: it is none.
  const task::Hccl* collective(const models::TaskRecord& r) const {
    return std::get_if<task::Hccl>(&stream_.streams[r.stream_id].tasks[r.task_id].op);
  }
  bool bound(const models::TaskRecord& r) const { return model(r) != task::kNone; }
  const OpDescription* describe(const models::TaskRecord& r) const { return describe_ ? describe_(r) : nullptr; }
  // The operator's type: as it is described, else the kernel, the AICPU function or the collective that a task runs.
  std::string_view op_type(const models::TaskRecord& r) const;

 private:
  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  Describe describe_;
};

// Whether a task is an operator, as op_summary and op_statistic list them: a kernel or a collective.
bool is_operator(const models::TaskRecord& r);
// Whether it runs on AI cores.
bool on_cores(const models::TaskRecord& r);
// AI_CORE, AI_VECTOR_CORE, MIX_AIC, AI_CPU, COMMUNICATION; of other tasks their kind.
std::string_view task_type(const models::TaskRecord& r);
// The kernel, the AICPU function or the collective that a task runs.
std::string_view op_type(const task::TaskStream& stream, const models::TaskRecord& r);

// The number of a task in its stream as the hardware holds it, 16 bits, and how often those have rolled over.
inline u32 task_id(const models::TaskRecord& r) { return r.task_id & 0xffff; }
inline u32 batch_id(const models::TaskRecord& r) { return r.task_id >> 16; }

}  // namespace vinci::profile
