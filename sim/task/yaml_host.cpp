// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/yaml_host.h"

#include "sim/task/load.h"

namespace vinci::task {
namespace {

class HostReader {
 public:
  HostReader(YamlNodes& yaml, YamlNames& names, TaskStream& s) : yaml_(yaml), names_(names), s_(s) {}

  void read(const Node& node) {
    if (!yaml_.expect(node, NodeKind::map, "host")) return;
    const auto f = yaml_.fields<2>(node, "host", {"semaphores", "threads"});
    if (f[0]) read_semaphores(*f[0]);
    if (!yaml_.need(node, f[1], "host", "threads")) return;
    yaml_.each_entry(*f[1], "threads", [&](const std::string& key, const Node& steps) {
      HostThread& thread = s_.host.threads.emplace_back(HostThread{.name = key});
      s_.places.steps.emplace_back();
      read_steps(steps, "a thread", thread.steps);
    });
  }

 private:
  void read_semaphores(const Node& node) {
    yaml_.each_entry(node, "semaphores", [&](const std::string& key, const Node& value) {
      names_.semaphores.emplace(key, static_cast<u32>(s_.host.semaphores.size()));
      s_.host.semaphores.push_back({.name = key, .initial = yaml_.read_count(value, "a semaphore", kMaxSemaphore)});
    });
  }

  void read_steps(const Node& node, std::string_view what, std::vector<HostStep>& out) {
    yaml_.each_item(node, what, [&](const Node& item) {
      // The same limit as the check, before there is anything to hold.
      if (++steps_ > kMaxTasks) fail_at(Fault::Input, yaml_.where().at(item), "more than {} steps", kMaxTasks);
      read_step(item, out);
    });
  }

  void read_step(const Node& node, std::vector<HostStep>& out) {
    const usize at = out.size();
    if (yaml_.expect(node, NodeKind::map, "a step")) read_known_step(node, out);
    if (out.size() == at) out.emplace_back(HostCompute{});  // positions count steps that mean nothing as well
    std::vector<u32>& lines = s_.places.steps.back();
    lines.resize(out.size(), lines.empty() ? 0 : lines.back());
    lines[at] = yaml_.tree().mark(node).line;
  }

  void read_known_step(const Node& node, std::vector<HostStep>& out) {
    const u64 before = yaml_.reports();
    const auto f = yaml_.fields<kHostStepNames.size()>(node, "a step", kHostStepNames);
    const auto given = [](const Node* n) { return n != nullptr; };
    if (std::count_if(f.begin(), f.end(), given) != 1) {
      if (yaml_.reports() == before) yaml_.report(node, "a step is one of {}", fmt::join(kHostStepNames, ", "));
      return;
    }
    if (f[0]) out.emplace_back(enqueue(*f[0]));
    if (f[1]) out.emplace_back(compute(*f[1]));
    if (f[2]) out.emplace_back(SynchronizeStream{stream(*f[2])});
    if (f[3]) out.emplace_back(SynchronizeEvent{names_.resolve(*f[3], "event", names_.events, s_.events)});
    if (f[4]) {
      const u64 device = yaml_.read_count(*f[4], "synchronize_device", kMaxDevices - 1);
      out.emplace_back(SynchronizeDevice{static_cast<u32>(device)});
    }
    if (f[5]) out.emplace_back(HostPost{semaphore(*f[5])});
    if (f[6]) out.emplace_back(HostWait{semaphore(*f[6])});
    if (f[7]) read_repeat(*f[7], out);
  }

  u32 stream(const Node& node) { return names_.resolve(node, "stream", names_.streams, s_.streams); }
  u32 semaphore(const Node& node) { return names_.resolve(node, "semaphore", names_.semaphores, s_.host.semaphores); }

  // A stream, or {stream: name, first: task, count: tasks}.
  HostEnqueue enqueue(const Node& node) {
    if (node.kind != NodeKind::map) return {.stream = stream(node)};
    HostEnqueue step{.stream = kUnresolved};
    const auto f = yaml_.fields<3>(node, "enqueue", {"stream", "first", "count"});
    if (yaml_.need(node, f[0], "enqueue", "stream")) step.stream = stream(*f[0]);
    if (f[1]) step.first = static_cast<u32>(yaml_.read_count(*f[1], "first", kMaxTasks));
    if (f[2]) step.count = static_cast<u32>(yaml_.read_count(*f[2], "count", kMaxTasks, 1));
    return step;
  }

  // A time, or {time: 3ms, name: text}.
  HostCompute compute(const Node& node) {
    HostCompute step;
    if (node.kind != NodeKind::map) {
      step.seconds = yaml_.read_time(node, "compute");
      return step;
    }
    const auto f = yaml_.fields<2>(node, "compute", {"time", "name"});
    if (yaml_.need(node, f[0], "compute", "time")) step.seconds = yaml_.read_time(*f[0], "time");
    if (f[1]) step.name = yaml_.read_text(*f[1], "name");
    return step;
  }

  void read_repeat(const Node& node, std::vector<HostStep>& out) {
    if (!yaml_.expect(node, NodeKind::map, "repeat")) return;
    const auto f = yaml_.fields<2>(node, "repeat", {"times", "steps"});
    const usize at = out.size();
    HostRepeat repeat;
    out.emplace_back(repeat);
    if (yaml_.need(node, f[0], "repeat", "times")) repeat.times = yaml_.read_count(*f[0], "times", kMaxRepeats, 1);
    if (yaml_.need(node, f[1], "repeat", "steps")) read_steps(*f[1], "the steps of a repeat", out);
    repeat.length = static_cast<u32>(out.size() - at - 1);
    out[at] = repeat;
  }

  YamlNodes& yaml_;
  YamlNames& names_;
  TaskStream& s_;
  u64 steps_ = 0;
};

}  // namespace

void read_host(const Node& node, YamlNodes& yaml, YamlNames& names, TaskStream& s) {
  HostReader(yaml, names, s).read(node);
}

}  // namespace vinci::task
