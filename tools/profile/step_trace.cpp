// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/step_trace.h"

#include <algorithm>

namespace vinci::profile {
namespace {

// The most collectives that one iteration of a model can have on a device.
usize most_reduces(const task::TaskStream& stream) {
  std::map<std::pair<u32, u32>, usize> counts;
  usize most = 0;
  for (const task::Stream& s : stream.streams) {
    usize& n = counts[{s.device, s.model}];
    n += static_cast<usize>(
        std::ranges::count_if(s.tasks, [](const task::Task& t) { return std::holds_alternative<task::Hccl>(t.op); }));
    most = std::max(most, n);
  }
  return most;
}

// a - b, where both are known.
std::optional<u64> minus(std::optional<u64> a, std::optional<u64> b) {
  if (!a || !b) return std::nullopt;
  return *a - std::min(*a, *b);  // iterations may overlap
}

}  // namespace

StepTrace::StepTrace(const std::string& path, const Target& target)
    : target_(target), file_(path), reduces_(most_reduces(target.stream())) {
  file_.print(
      "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
      "Iteration Refresh(us),Data Aug Bound(us),Model ID");
  for (usize i = 0; i < reduces_; ++i)
    file_.print(",Reduce Start(us),Reduce Duration(us)");
  file_.print("\n");
}

void StepTrace::task(const models::TaskRecord& r) {
  const Key key{r.device, target_.model(r)};
  Model& model = models_[key];
  u64 iteration = r.iteration + 1;
  if (model.latest_end && !model.open.empty()) iteration = std::max(iteration, model.open.begin()->first);
  const u64 start = target_.nanoseconds(r.start), end = target_.nanoseconds(r.end);
  const auto [it, first] = model.open.try_emplace(iteration);
  Step& step = it->second;
  step.start = first ? start : std::min(step.start, start);
  step.end = std::max(step.end, end);
  if (on_cores(r)) {
    step.fp_start = std::min(step.fp_start.value_or(start), start);
    step.bp_end = std::max(step.bp_end.value_or(end), end);
  }
  if (task_type(r) == "COMMUNICATION" && step.reduces.size() < reduces_) step.reduces.emplace_back(start, end - start);
  if (model.open.size() > kOpen) close_first(key, model);
}

void StepTrace::close_first(const Key& key, Model& model) {
  const auto first = model.open.begin();
  const Step& s = first->second;
  // The first iteration has none before it that it could be counted from.
  const u64 since = model.latest_end.value_or(s.fp_start.value_or(s.start));
  file_.print("{},{},{},{},{},{},{},{},{},{}", key.first, first->first, microseconds(s.fp_start),
              microseconds(s.bp_end), microseconds(s.end), microseconds(minus(s.end, since)),
              microseconds(minus(s.bp_end, s.fp_start)), microseconds(minus(s.end, s.bp_end)),
              microseconds(minus(s.fp_start, model.latest_end)), key.second);
  for (usize i = 0; i < reduces_; ++i) {
    if (i < s.reduces.size()) {
      file_.print(",{},{}", microseconds(s.reduces[i].first), microseconds(s.reduces[i].second));
    } else {
      file_.print(",{0},{0}", kMissing);
    }
  }
  file_.print("\n");
  model.latest_end = s.end;
  model.open.erase(first);
}

void StepTrace::commit() {
  for (auto& [key, model] : models_) {
    while (!model.open.empty())
      close_first(key, model);
  }
  file_.commit();
}

}  // namespace vinci::profile
