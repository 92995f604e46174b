// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "isa/census/origins.h"
#include "isa/shadow/shadow.h"
#include "models/runtime/task_place.h"

namespace vinci::models {
namespace {

using Op = task::Hccl::Op;

std::string_view op_name(const task::Hccl& op) { return task::kHcclOpNames[static_cast<usize>(op.op)]; }

}  // namespace

Collectives::Collectives(const task::TaskStream& stream, const config::LinksConfig& links, task::RunMemory& memory,
                         bool lenient)
    : stream_(stream), links_(links), memory_(memory), lenient_(lenient), present_(stream.streams.size()) {
  for (const task::Comm& c : stream.comms)
    reached_.emplace_back(c.devices.size());
}

std::string Collectives::device_name(u32 comm, u32 rank) const {
  return fmt::format("npu{}", stream_.comms[comm].devices[rank]);
}

u32 Collectives::rank_of(u32 stream, u32 comm) const {
  const auto& devices = stream_.comms[comm].devices;
  const auto it = std::ranges::find(devices, stream_.streams[stream].device);
  if (it == devices.end()) {
    fail(Fault::Program, "stream '{}' is on npu{}, which is not in comm '{}'", stream_.streams[stream].name,
         stream_.streams[stream].device, stream_.comms[comm].name);
  }
  return static_cast<u32>(it - devices.begin());
}

void Collectives::check_same(const Call& call, u32 rank) const {
  const Rank &first = call.ranks[call.first], &mine = call.ranks[rank];
  if (first.op().matches(mine.op())) return;
  const auto line = [&](const Rank& r) {
    return fmt::format("\n  npu{}: {} is {}", stream_.streams[r.stream].device, task_text(r), task::to_string(r.op()));
  };
  throw Error(Fault::Program,
              fmt::format("collective {} of comm '{}' is not the same on all ranks:{}{}", call.number,
                          stream_.comms[mine.op().comm].name, line(first), line(mine)),
              place(mine));
}

std::string Collectives::place(const Rank& rank) const { return task::place(stream_, rank.stream, rank.position); }

std::string Collectives::task_text(const Rank& rank) const {
  return fmt::format("task '{}' of stream '{}' ({})", rank.task->name, stream_.streams[rank.stream].name, place(rank));
}

std::shared_ptr<const Schedule> Collectives::schedule_of(const task::Hccl& op) {
  const u64 element = task::element_bytes(op.type);
  std::shared_ptr<const Schedule>& known = schedules_[{op.comm, op.op, op.algorithm, op.count, element, op.root}];
  if (known != nullptr) return known;
  const Topology topology(links_);
  CollectiveShape shape{.op = op.op, .algorithm = op.algorithm, .count = op.count, .root = op.root};
  shape.piece = std::max<u64>(1, links_.collective_piece / element);
  for (const u32 device : stream_.comms[op.comm].devices)
    shape.groups.push_back(topology.group(device));
  if (op.algorithm == task::Hccl::Algorithm::automatic)
    shape.algorithm = choose_algorithm(op.op, shape.groups, op.count * element);
  return known = std::make_shared<const Schedule>(schedule(shape));
}

const Collectives::Call* Collectives::arrive(u32 stream, u32 position) {
  const task::Task& task = stream_.streams[stream].tasks[position];
  const auto& op = std::get<task::Hccl>(task.op);
  const u32 rank = rank_of(stream, op.comm);
  const Key key{op.comm, reached_[op.comm][rank]++};
  present_[stream] = key;
  Call& call = calls_[key];
  if (call.arrived == 0) {
    call.number = key.second;
    call.first = rank;
    call.ranks.resize(stream_.comms[op.comm].devices.size());
  }
  call.ranks[rank] = {.stream = stream, .position = position, .task = &task};
  check_same(call, rank);
  if (++call.arrived < call.ranks.size()) return nullptr;
  call.schedule = schedule_of(op);
  compute(call);
  return &call;
}

void Collectives::compute(Call& call) const {
  const Schedule& s = *call.schedule;
  const task::Hccl& all = call.ranks.front().op();
  const u64 element = task::element_bytes(all.type);
  const bool with_data = memory_.with_data();
  if (with_data) call.work.resize(s.ranks);
  for (u32 r = 0; r < s.ranks; ++r) {
    const task::Hccl& op = call.ranks[r].op();
    const task::Slice& in = op.op == Op::broadcast ? op.recv : op.send;
    const Schedule::Range& input = s.input[r];
    if (with_data) call.work[r].resize(s.work * element);
    if (input.count == 0 || (lenient_ && !memory_.alive(in.buffer))) continue;
    with_place(stream_, call.ranks[r].stream, call.ranks[r].position, [&] {
      if (!with_data) return memory_.need(in.buffer, "hccl from");
      memory_.read(in, std::span(call.work[r]).subspan(input.begin * element, input.count * element), "hccl from");
    });
  }
  if (!with_data) return;
  if (census_ == nullptr) return carry_out(s, all.reduce, all.type, call.work);
  const u32 number = numbers_->number(call.ranks.front().stream, call.ranks.front().position);
  isa::CensusPoint point(census_->of(number), {isa::Site::kNoKernel, 0}, {0, call.number, 0}, "collective");
  isa::FollowedResults followed(*census_, point, number, false);
  for (u32 r = 0; r < s.ranks; ++r) {
    const task::Hccl& op = call.ranks[r].op();
    const task::Slice& in = op.op == Op::broadcast ? op.recv : op.send;
    if (s.input[r].count == 0 || !memory_.alive(in.buffer)) continue;
    followed.read({isa::Origins::Space::global(), memory_.address(in)}, s.input[r].count * element);
  }
  carry_out(s, all.reduce, all.type, call.work, all.reduces() ? &point : nullptr);
  call.origin = followed.node();
}

void Collectives::deliver(u32 stream) {
  const Key key = present_[stream];
  Call& call = calls_.at(key);
  const auto r = static_cast<usize>(std::ranges::find(call.ranks, stream, &Rank::stream) - call.ranks.begin());
  const task::Hccl& op = call.ranks[r].op();
  const bool skipped = lenient_ && !memory_.alive(op.recv.buffer);
  if (!skipped) memory_.need(op.recv.buffer, "hccl to");
  if (!skipped && !call.work.empty()) {
    const u64 element = task::element_bytes(op.type);
    const Schedule::Range& out = call.schedule->output[r];
    const auto received = std::span<const std::byte>(call.work[r]).subspan(out.begin * element, out.count * element);
    memory_.write(op.recv, received, "hccl to");
    if (census_ != nullptr && census_->shadow != nullptr) {  // references end here
      for (isa::Shadow* shadow : {census_->shadow.get(), census_->what_if.get()}) {
        if (shadow != nullptr) shadow->global().clear(memory_.address(op.recv), received.size());
      }
    }
    if (census_ != nullptr && census_->origins != nullptr)
      census_->origins->wrote({isa::Origins::Space::global(), memory_.address(op.recv)}, received, call.origin);
  }
  if (++call.delivered == call.ranks.size()) calls_.erase(key);
}

Collectives::Sizes Collectives::bytes(const task::Hccl& op) const {
  const u64 one = op.count * task::element_bytes(op.type), all = one * stream_.comms[op.comm].devices.size();
  switch (op.op) {
    case Op::all_reduce: return {one, one};
    case Op::all_gather: return {one, all};
    case Op::reduce_scatter: return {all, one};
    case Op::broadcast: return {0, one};
    case Op::all_to_all: return {all, all};
  }
  return {};
}

void Collectives::report(std::vector<std::string>& lines) const {
  for (const auto& [key, call] : calls_) {
    if (call.arrived == call.ranks.size()) continue;
    std::string absent;
    for (u32 r = 0; r < call.ranks.size(); ++r) {
      if (call.ranks[r].task == nullptr) absent += (absent.empty() ? "" : ", ") + device_name(key.first, r);
    }
    for (const Rank& r : call.ranks) {
      if (r.task == nullptr) continue;
      lines.push_back(fmt::format("stream '{}' waits in task '{}' ({}) for {} in {}, collective {} of comm '{}'",
                                  stream_.streams[r.stream].name, r.task->name, place(r), absent, op_name(r.op()),
                                  call.number, stream_.comms[key.first].name));
    }
  }
}

}  // namespace vinci::models
