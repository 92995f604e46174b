// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/task_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/check/checker.h"
#include "isa/shadow/shadow.h"
#include "models/runtime/aicpu.h"
#include "models/runtime/task_place.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

using isa::check::FaultId;

namespace {

task::Signal event_of(u32 index) { return {.kind = task::Signal::Kind::event, .index = index}; }

}  // namespace

TaskEffects::TaskEffects(const task::TaskStream& stream, const config::LinksConfig& links, task::RunMemory& memory,
                         isa::check::Checker* checker)
    : stream_(stream),
      memory_(memory),
      checker_(checker),
      collectives_(stream, links, memory, checker != nullptr),
      float_overflow_(stream.devices),
      threads_(std::max<u32>(1, static_cast<u32>(stream.host.threads.size()))),
      semaphores_(static_cast<u32>(stream.host.semaphores.size())),
      numbers_(std::make_shared<TaskNumbers>(stream)),
      host_reached_(threads_) {
  append();
  if (checker_ == nullptr) return;
  tasks_.emplace(*checker_);
  checker_->set_places([&stream, numbers = numbers_](u32 number) {
    const auto at = numbers->place(number);
    return at ? task::place(stream, at->stream, at->task) : std::string();  // else a host thread
  });
}

void TaskEffects::append() {
  numbers_->append();
  collectives_.append();
  reached_.resize(stream_.streams.size());
  checked_.resize(stream_.streams.size());
  for (u32 s = 0; s < checked_.size(); ++s) {
    for (usize& t = checked_[s]; t < stream_.streams[s].tasks.size(); ++t)
      check_arguments(s, static_cast<u32>(t));
  }
}

// What can be wrong with a task before anything runs.
void TaskEffects::check_arguments(u32 stream, u32 task) const {
  const task::Task& t = stream_.streams[stream].tasks[task];
  with_place(stream_, stream, task, [&] {
    if (const auto* op = std::get_if<task::CpuKernelLaunch>(&t.op)) aicpu_task(stream_, *op);
  });
}

u32 TaskEffects::begin(u32 stream, u32 task) {
  if (reached_[stream]) {
    const u32 reached = *std::exchange(reached_[stream], std::nullopt);
    tasks_->begin(reached);
    return reached;
  }
  const u32 begun = tasks_->reach(of_stream(stream), number(stream, task), stream_.streams[stream].tasks[task].name);
  tasks_->begin(begun);
  return begun;
}

u32 TaskEffects::begin_kernel(u32 stream, u32 task) { return checker_ != nullptr ? begin(stream, task) : 0; }

void TaskEffects::order(u32 later, u32 earlier) {
  if (tasks_) tasks_->order(later, earlier);
}

void TaskEffects::enqueue(u32 stream, u32 thread) {
  if (tasks_) tasks_->enqueue(of_stream(stream), thread);
}

void TaskEffects::dequeue(u32 stream) {
  if (tasks_) tasks_->dequeue(of_stream(stream));
}

void TaskEffects::reach(u32 stream, u32 task) {
  if (checker_ == nullptr) return;
  const task::Task& t = stream_.streams[stream].tasks[task];
  const u32 reached = tasks_->reach(of_stream(stream), number(stream, task), t.name);
  reached_[stream] = reached;
  if (const auto signal = task::awaited_by(t.op)) tasks_->reach_wait(reached, *signal, name_of(*signal));
}

const std::string& TaskEffects::name_of(const task::Signal& signal) const {
  return (signal.is_notify() ? stream_.notifies : stream_.events)[signal.index];
}

void TaskEffects::host_reaches(u32 thread, u32 event) {
  if (checker_ == nullptr) return;
  constexpr u32 kBehindTasks = u32{1} << 31;
  const u32 reached =
      tasks_->reach(thread, kBehindTasks + thread,
                    fmt::format("synchronize_event of host thread {}", stream_.host.threads[thread].name));
  host_reached_[thread] = reached;
  tasks_->reach_wait(reached, event_of(event), stream_.events[event]);
}

void TaskEffects::host_passes(u32 thread, u32 event) {
  if (checker_ == nullptr) return;
  tasks_->begin(host_reached_[thread]);
  tasks_->pass_wait(host_reached_[thread], event_of(event));
}

bool TaskEffects::alive(u32 buffer, u32 task, std::string_view what) {
  if (memory_.alive(buffer)) return true;
  const bool ordered = checker_->freed_before(task, memory_.address({.buffer = buffer}));
  checker_->task_fault(task, ordered ? FaultId::use_after_free : FaultId::unordered_free,
                       fmt::format("use after free: {} buffer '{}', which {}", what, stream_.buffers[buffer].name,
                                   ordered ? "an earlier task freed"
                                           : "a task has freed; nothing orders the free before or after the use"));
  return false;
}

void TaskEffects::check(const task::MemcpyAsync& op, u32 task) {
  const auto rows = [&](const task::Slice& slice, u64 pitch, bool write) {
    if (stream_.buffers[slice.buffer].place == task::Buffer::Place::host) return;
    const bool whole = pitch == op.width;
    for (u64 r = 0; r < (whole ? 1 : op.height); ++r)
      checker_->task_access(task, memory_.address(slice) + r * pitch, whole ? op.bytes() : op.width, write);
  };
  rows(op.src, op.src_pitch, false);
  rows(op.dst, op.dst_pitch, true);
}

// Whether a task may touch a part of a buffer; with a checker, what is refused is reported and left out.
bool TaskEffects::touch(Run run, const task::Slice& slice, u64 bytes, std::string_view what, bool write) {
  if (checker_ == nullptr) return true;
  if (!alive(slice.buffer, run.task, what)) return false;
  checker_->task_access(run.task, memory_.address(slice), bytes, write);
  return true;
}

void TaskEffects::end_kernel(u32 stream, u64 status) {
  if ((status & isa::status::kOverflows) != 0) float_overflow_[stream_.streams[stream].device] = true;
}

// Operations. What none of them says steers streams only, or has begin_kernel() and end_kernel().

template <class Op>
void TaskEffects::perform(const Op& op, [[maybe_unused]] Run run) {
  if constexpr (requires { op.records(); }) record(op.records(), run);
  if constexpr (requires { op.waits_for(); }) pass(op.waits_for(), run);
}

// What is read alone comes first. Then follows what is written; an update reads it before.
template <class Op>
bool TaskEffects::touch_parts(const Op& op, Run run) {
  using enum task::as::Access;
  const auto touch_part = [&](const auto& field, bool write) {
    const task::Slice& part = field.of(op);
    // The text is for messages about a buffer that is freed.
    const std::string what =
        memory_.alive(part.buffer) ? std::string() : fmt::format("{} {}", Op::info.key, field.spelling.preposition);
    if (checker_ != nullptr) return touch(run, part, op.extent().bytes, what, write);
    memory_.need(part.buffer, what);
    return true;
  };
  bool all = true;
  task::for_each_spelled<task::as::part, Op>([&](const auto& field) {
    if (field.spelling.access == read && !touch_part(field, false)) all = false;
  });
  task::for_each_spelled<task::as::part, Op>([&](const auto& field) {
    if (field.spelling.access == update) all = all && touch_part(field, false);
    if (field.spelling.access != read) all = all && touch_part(field, true);
  });
  return all;
}

void TaskEffects::record(const task::Signal& signal, Run run) {
  if (tasks_) tasks_->record(run.task, signal, name_of(signal));
}

void TaskEffects::pass(const task::Signal& signal, Run run) {
  if (tasks_) tasks_->pass_wait(run.task, signal);
}

template <>
void TaskEffects::perform(const task::MemcpyAsync& op, Run run) {
  if (checker_ != nullptr) {
    if (!alive(op.src.buffer, run.task, "memcpy_async from")) return;
    if (!alive(op.dst.buffer, run.task, "memcpy_async to")) return;
    check(op, run.task);
  }
  memory_.copy(op);
  follow(op, run);
}

template <>
void TaskEffects::perform(const task::MemsetAsync& op, Run) {
  memory_.fill(op);
  clear_references(op.dst, op.bytes);
  if (isa::Origins* origins = marked()) origins->clear(place(op.dst), op.bytes);
}

isa::Origins* TaskEffects::marked() const {
  return census_ == nullptr || census_->origins == nullptr || census_->origins->empty() ? nullptr
                                                                                        : census_->origins.get();
}

isa::Origins::Place TaskEffects::place(const task::Slice& s) const {
  using Space = isa::Origins::Space;
  if (stream_.buffers[s.buffer].place == task::Buffer::Place::host) return {Space::host(s.buffer), s.offset};
  return {Space::global(), memory_.address(s)};
}

isa::RefSpace& TaskEffects::references(isa::Shadow& shadow, const task::Slice& s) const {
  if (stream_.buffers[s.buffer].place == task::Buffer::Place::host) return shadow.host(s.buffer);
  return shadow.global();
}

// Bytes that are written with values which are their own references.
void TaskEffects::clear_references(const task::Slice& s, u64 bytes) const {
  for_each_shadow([&](isa::Shadow& shadow) { references(shadow, s).clear(place(s).begin, bytes); });
}

void TaskEffects::follow(const task::MemcpyAsync& op, Run run) {
  for_each_shadow([&](isa::Shadow& shadow) {
    for (u64 row = 0; row < op.height; ++row) {
      references(shadow, op.dst)
          .copy(references(shadow, op.src), place(op.src).begin + row * op.src_pitch,
                place(op.dst).begin + row * op.dst_pitch, op.width);
    }
  });
  isa::Origins* origins = marked();
  if (origins == nullptr) return;
  const isa::Origins::Place from = place(op.src), to = place(op.dst);
  for (u64 row = 0; row < op.height; ++row) {
    origins->copy({from.space, from.begin + row * op.src_pitch}, {to.space, to.begin + row * op.dst_pitch}, op.width,
                  number(run.stream, run.position));
  }
}

template <class Op>
void TaskEffects::reduce_with_shadow(const Op& op, u32 task, isa::CensusPoint& point) {
  const isa::Moment moment{0, 0, 0};
  isa::ShadowPoint first(*census_->shadow, nullptr, task, point.id(), moment, "SDMA");
  std::optional<isa::ShadowPoint> second;
  if (census_->what_if != nullptr)
    first.next = &second.emplace(*census_->what_if, nullptr, task, point.id(), moment, "SDMA");
  isa::ShadowCombined combined;
  combined.mem = &memory_.gm();
  combined.op = op.kind == task::ReduceKind::ADD   ? isa::ShadowCombined::Op::add
                : op.kind == task::ReduceKind::MAX ? isa::ShadowCombined::Op::max
                                                   : isa::ShadowCombined::Op::min;
  switch (op.type) {
    case task::ElementType::float16: combined.type = isa::LaneType::f16; break;
    case task::ElementType::float32: combined.type = isa::LaneType::f32; break;
    case task::ElementType::bfloat16: combined.type = isa::LaneType::bf16; break;
    default: break;
  }
  combined.pieces = {{memory_.address(op.dst), op.bytes}};
  combined.take_before(&first);
  combined.take_source_at(&first, memory_.address(op.src));
  memory_.reduce(op.dst, op.src, op.bytes, op.kind, op.type, &point);
  combined.count(&first);
}

template <>
void TaskEffects::perform(const task::ReduceAsync& op, Run run) {
  if (census_ == nullptr || !memory_.with_data()) return memory_.reduce(op.dst, op.src, op.bytes, op.kind, op.type);
  const u32 task = number(run.stream, run.position);
  constexpr isa::Site kSite{isa::Site::kNoKernel, 0};
  isa::TaskCensus& counted = census_->of(task);
  const auto before = counted.sites.find(kSite);
  isa::CensusPoint point(counted, kSite, {0, before == counted.sites.end() ? 0 : before->second.executions, 0}, "SDMA");
  isa::FollowedResults followed(*census_, point, task, false);
  followed.read(place(op.src), op.bytes);
  followed.read(place(op.dst), op.bytes);
  if (census_->shadow == nullptr) {
    memory_.reduce(op.dst, op.src, op.bytes, op.kind, op.type, &point);
  } else {
    reduce_with_shadow(op, task, point);
  }
  if (!followed.writes()) return;
  std::vector<std::byte> contents(op.bytes);
  memory_.read(op.dst, contents, "reduce_async to");
  followed.wrote(place(op.dst), contents);
}

template <>
void TaskEffects::perform(const task::Free& op, Run run) {
  if (checker_ != nullptr) {
    if (!memory_.alive(op.buffer)) {
      checker_->task_fault(run.task, FaultId::double_free,
                           fmt::format("double free: free of buffer '{}', which an earlier task freed",
                                       stream_.buffers[op.buffer].name));
      return;
    }
    checker_->task_frees(run.task, memory_.address({.buffer = op.buffer}), stream_.buffers[op.buffer].bytes);
  }
  memory_.free(op);
}

template <>
void TaskEffects::perform(const task::NpuGetFloatStatus& op, Run run) {
  memory_.put_float_status(op, float_overflow_[stream_.streams[run.stream].device]);
  clear_references(op.dst, op.kBytes);
}

template <>
void TaskEffects::perform(const task::ValueWrite& op, Run) {
  if (!memory_.has_bytes(op.dst.buffer)) return;
  memory_.write(op.dst, std::as_bytes(std::span(&op.value, 1)), op.info.key);
  clear_references(op.dst, sizeof op.value);
  if (isa::Origins* origins = marked()) origins->clear(place(op.dst), sizeof op.value);
}

template <>
void TaskEffects::perform(const task::NpuClearFloatStatus&, Run run) {
  float_overflow_[stream_.streams[run.stream].device] = false;
}

template <>
void TaskEffects::perform(const task::CpuKernelLaunch& op, Run run) {
  const AicpuTask aicpu = aicpu_task(stream_, op);
  if (aicpu.function == nullptr) return;
  AicpuFunction::Data data;
  bool has_bytes = true;
  for (const AicpuFunction::Operand& o : aicpu.operands) {
    const task::Slice& slice = aicpu.args.slice(o.argument);
    const std::string what = op.kernel + " on";
    if (o.read && !touch(run, slice, o.bytes, what, false)) return;
    if (o.write && !touch(run, slice, o.bytes, what, true)) return;
    has_bytes = has_bytes && memory_.has_bytes(slice.buffer);
    data.emplace_back(memory_.has_bytes(slice.buffer) ? o.bytes : 0);
    memory_.read(slice, data.back(), what);
  }
  if (!has_bytes) return;
  aicpu.function->run(aicpu.args, data);
  for (usize i = 0; i < aicpu.operands.size(); ++i) {
    if (!aicpu.operands[i].write) continue;
    const task::Slice to = aicpu.args.slice(aicpu.operands[i].argument);
    memory_.write(to, data[i], op.kernel);
    clear_references(to, data[i].size());
  }
}

const Collectives::Call* TaskEffects::arrive(u32 stream, u32 task_id) {
  const task::Task& task = stream_.streams[stream].tasks[task_id];
  if (checker_ == nullptr) return collectives_.arrive(stream, task_id);
  const auto& op = std::get<task::Hccl>(task.op);
  const u32 device = stream_.streams[stream].device;
  const u32 reached = tasks_->reach(of_stream(stream), number(stream, task_id), task.name);
  tasks_->reach_collective(reached, u64{op.comm} << 32 | device,
                           fmt::format("comm '{}' on npu{}", stream_.comms[op.comm].name, device));
  const Collectives::Call* call = nullptr;
  try {
    call = collectives_.arrive(stream, task_id);
  } catch (const Error& e) {
    if (e.fault() == Fault::Program) checker_->task_fault(reached, FaultId::program_fault, e.message());
    throw;
  }
  if (call == nullptr) return nullptr;
  for (const Collectives::Rank& r : call->ranks)  // what comes after it on any rank comes after what came before on all
    follow(stream, r.stream);
  for (const Collectives::Rank& r : call->ranks)
    follow(r.stream, stream);
  return call;
}

template <>
void TaskEffects::perform(const task::Hccl& op, Run run) {
  const Collectives::Sizes bytes = collectives_.bytes(op);
  if (op.op != task::Hccl::Op::broadcast) touch(run, op.send, bytes.send, "hccl from", false);
  touch(run, op.recv, bytes.recv, "hccl to", true);
  collectives_.deliver(run.stream);
}

template <>
void TaskEffects::perform(const task::EventReset& op, Run run) {
  if (tasks_) tasks_->reset(run.task, op.event, stream_.events[op.event]);
}

void TaskEffects::perform(u32 stream, u32 task) {
  const task::Task& t = stream_.streams[stream].tasks[task];
  if (std::holds_alternative<task::KernelLaunch>(t.op)) return;
  const Run run{.stream = stream, .position = task, .task = checker_ != nullptr ? begin(stream, task) : 0};
  const auto perform_op = [&](const auto& op) {
    if constexpr (requires { op.extent(); }) {
      if (!touch_parts(op, run)) return;
    }
    perform(op, run);
  };
  with_place(stream_, stream, task, [&] { std::visit(perform_op, t.op); });
}

bool TaskEffects::holds(u32 stream, u32 task) const {
  const auto& op = std::get<task::StreamSwitch>(stream_.streams[stream].tasks[task].op);
  const auto read = [&](const task::Slice& slice) {
    return with_place(stream_, stream, task, [&] {
      if (op.bytes == 8) return memory_.read<i64>(slice, "stream_switch on");
      return i64{memory_.read<i32>(slice, "stream_switch on")};
    });
  };
  const i64 value = read(op.value), target = read(op.target);
  switch (op.cond) {
    case task::Condition::EQUAL: return value == target;
    case task::Condition::NOT_EQUAL: return value != target;
    case task::Condition::GREATER: return value > target;
    case task::Condition::GREATER_OR_EQUAL: return value >= target;
    case task::Condition::LESS: return value < target;
    case task::Condition::LESS_OR_EQUAL: return value <= target;
  }
  return false;
}

u32 TaskEffects::index(u32 stream, u32 task, const task::Slice& slice) const {
  const std::string_view key = stream_.streams[stream].tasks[task].info().key;
  return with_place(stream_, stream, task, [&] { return memory_.read<u32>(slice, fmt::format("{} on", key)); });
}

void TaskEffects::refuse(u32 stream, u32 task, const std::string& message) {
  if (checker_ != nullptr) checker_->task_fault(begin(stream, task), FaultId::program_fault, message);
  throw placed(stream_, stream, task, Error(Fault::Program, message));
}

double TaskEffects::aicpu_seconds(const task::CpuKernelLaunch& op, double bandwidth) const {
  if (op.seconds > 0) return op.seconds;
  return static_cast<double>(aicpu_task(stream_, op).bytes()) / bandwidth / op.block_dim;
}

}  // namespace vinci::models
