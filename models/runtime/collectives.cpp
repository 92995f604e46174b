// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "isa/census/lanes.h"
#include "isa/census/origins.h"
#include "isa/shadow/shadow.h"
#include "models/runtime/task_place.h"
#include "sim/task/run_memory.h"

namespace vinci::models {
namespace {

using Op = task::Hccl::Op;

std::optional<isa::LaneType> float_type(task::ElementType type) {
  switch (type) {
    case task::ElementType::float16: return isa::LaneType::f16;
    case task::ElementType::float32: return isa::LaneType::f32;
    case task::ElementType::bfloat16: return isa::LaneType::bf16;
    default: return {};
  }
}

// Does to the references of a collective what its transfers do to its elements.
class ReferenceCarrier final : public TransferObserver {
 public:
  using References = std::vector<std::vector<std::vector<double>>>;
  ReferenceCarrier(isa::LaneType type, task::Hccl::Reduce reduce, const std::vector<std::vector<std::byte>>& work,
                   References& references, isa::ShadowPoint* first)
      : type_(type), reduce_(reduce), work_(work), references_(references), first_(first) {}

  // Elements as doubles.
  static void values(isa::LaneType type, std::span<const std::byte> bytes, std::span<double> into) {
    const usize size = isa::lane_bytes(type);
    for (usize i = 0; i < into.size(); ++i) {
      isa::LaneBuffer one{};
      std::ranges::copy(bytes.subspan(i * size, size), one.bytes.begin());
      into[i] = isa::lane_value(type, one, 0);
    }
  }

  void before(const Schedule::Transfer& t) override {
    if (!t.reduce) return;
    x_ = values_of(t.to, t.dst, t.count);
    y_ = values_of(t.from, t.src, t.count);
  }
  void after(const Schedule::Transfer& t) override {
    if (!t.reduce) {
      for (auto& by_rank : references_)
        std::copy_n(by_rank[t.from].begin() + static_cast<std::ptrdiff_t>(t.src), t.count,
                    by_rank[t.to].begin() + static_cast<std::ptrdiff_t>(t.dst));
      return;
    }
    const std::vector<double> now = values_of(t.to, t.dst, t.count);
    usize shadow = 0;
    for (isa::ShadowPoint* point = first_; point != nullptr; point = point->next, ++shadow) {
      const double* from = &references_[shadow][t.from][t.src];
      double* to = &references_[shadow][t.to][t.dst];
      std::vector<double> exact(t.count);
      u64 decided = 0;
      for (usize i = 0; i < t.count; ++i)
        combine(x_[i], y_[i], from[i], exact[i], to[i], decided);
      point->add_decided(decided);
      for (usize i = 0; i < t.count; i += isa::kShadowLanes) {
        const usize some = std::min<usize>(isa::kShadowLanes, t.count - i);
        point->count(type_, std::span(now).subspan(i, some), std::span(exact).subspan(i, some), std::span(to + i, some),
                     t.dst + i);
      }
    }
  }

 private:
  std::vector<double> values_of(u32 rank, u64 first, u64 count) const {
    const usize size = isa::lane_bytes(type_);
    std::vector<double> out(count);
    values(type_, std::span(work_[rank]).subspan(first * size, count * size), out);
    return out;
  }
  void combine(double x, double y, double other, double& exact, double& reference, u64& decided) const {
    switch (reduce_) {
      case task::Hccl::Reduce::sum: exact = x + y, reference += other; return;
      case task::Hccl::Reduce::prod: exact = x * y, reference *= other; return;
      default: break;
    }
    const double sign = reduce_ == task::Hccl::Reduce::max ? 1 : -1;
    decided += (sign * x > sign * y && sign * reference < sign * other) ||
                       (sign * x < sign * y && sign * reference > sign * other)
                   ? 1
                   : 0;
    exact = sign * std::max(sign * x, sign * y);
    reference = x == y ? sign * std::max(sign * reference, sign * other) : sign * x > sign * y ? reference : other;
  }

  isa::LaneType type_;
  task::Hccl::Reduce reduce_;
  const std::vector<std::vector<std::byte>>& work_;
  References& references_;
  isa::ShadowPoint* first_;
  std::vector<double> x_, y_;
};

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
  if (census_->shadow != nullptr && float_type(all.type)) {
    carry_references(call, number, &point);
  } else {
    carry_out(s, all.reduce, all.type, call.work, all.reduces() ? &point : nullptr);
  }
  call.origin = followed.node();
}

void Collectives::carry_references(Call& call, u32 task, isa::CensusPoint* point) const {
  const Schedule& s = *call.schedule;
  const task::Hccl& all = call.ranks.front().op();
  const isa::LaneType type = *float_type(all.type);
  const u64 element = task::element_bytes(all.type);
  const isa::Moment moment{0, call.number, 0};
  isa::ShadowPoint first(*census_->shadow, nullptr, task, point->id(), moment, "collective");
  std::optional<isa::ShadowPoint> second;
  if (census_->what_if != nullptr)
    first.next = &second.emplace(*census_->what_if, nullptr, task, point->id(), moment, "collective");
  for (isa::ShadowPoint* p = &first; p != nullptr; p = p->next) {
    auto& by_rank = call.references.emplace_back(s.ranks, std::vector<double>(s.work));
    for (u32 r = 0; r < s.ranks; ++r) {
      const task::Hccl& op = call.ranks[r].op();
      const task::Slice& in = op.op == Op::broadcast ? op.recv : op.send;
      const Schedule::Range& input = s.input[r];
      if (input.count == 0 || !memory_.alive(in.buffer)) continue;
      std::vector<double> own(input.count);
      ReferenceCarrier::values(type, std::span(call.work[r]).subspan(input.begin * element, input.count * element),
                               own);
      const u64 ended = p->shadow().global().load(type, memory_.address(in), own,
                                                  std::span(by_rank[r]).subspan(input.begin, input.count));
      if (all.reduces()) p->add_restarted(ended);
    }
  }
  ReferenceCarrier carrier(type, all.reduce, call.work, call.references, &first);
  carry_out(s, all.reduce, all.type, call.work, all.reduces() ? point : nullptr, &carrier);
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
    if (census_ != nullptr && census_->shadow != nullptr) {
      usize number = 0;
      for (isa::Shadow* shadow : {census_->shadow.get(), census_->what_if.get()}) {
        if (shadow == nullptr) continue;
        const u64 address = memory_.address(op.recv);
        if (call.references.empty()) {  // integers
          shadow->global().clear(address, received.size());
        } else {
          shadow->global().store(*float_type(op.type), address,
                                 std::span(call.references[number][r]).subspan(out.begin, out.count));
        }
        ++number;
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
