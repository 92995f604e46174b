// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tools/graph/compile/stream.h"

namespace vinci::graph {
namespace {

// Start and end of the tasks of the model, in order.
class ModelTasks final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& record) override {
    if (record.stream == kModelStream && record.kind.starts_with("KERNEL"))
      spans.push_back({record.task_id, record.start, record.end});
  }

  struct Span {
    u32 task;
    u64 start, end;
  };
  std::vector<Span> spans;
};

}  // namespace

NetworkTime time_network(const Network& network) {
  const task::BuiltStream stream = to_task_stream(network, "timing");
  task::RunMemory memory(stream.stream(), false);
  ModelTasks tasks;
  models::simulate(network.chip, stream.stream(), memory, {.progress = {}, .tasks = &tasks});
  std::ranges::sort(tasks.spans, {}, &ModelTasks::Span::task);
  VINCI_CHECK(tasks.spans.size() == network.nodes.size());
  const double us = 1e6 / static_cast<double>(network.chip.clock);
  NetworkTime out;
  u64 first = ~u64{0}, last = 0;
  for (usize i = 0; i < tasks.spans.size(); ++i) {
    const ModelTasks::Span& s = tasks.spans[i];
    out.nodes.push_back({&network.nodes[i], static_cast<double>(s.end - s.start) * us});
    first = std::min(first, s.start);
    last = std::max(last, s.end);
  }
  if (last > 0) out.microseconds = static_cast<double>(last - first) * us;
  return out;
}

std::string node_table(const Network& network, const NetworkTime& time) {
  std::string out = fmt::format("{:>4} {:<28} {:<14} {:>7} {:>9} {:>6}  {:<30} {}\n", "task", "node", "kernel",
                                "blocks", "us", "share", "tiling", "nodes of the model");
  double sum = 0;
  for (const NodeTime& n : time.nodes)
    sum += n.microseconds;
  for (usize i = 0; i < time.nodes.size(); ++i) {
    const CompiledNode& n = *time.nodes[i].node;
    out +=
        fmt::format("{:>4} {:<28} {:<14} {:>7} {:>9.2f} {:>5.1f}%  {:<30} {}\n", i, n.node->name, n.kernel->name,
                    n.program.blocks, time.nodes[i].microseconds, sum == 0 ? 0 : 100 * time.nodes[i].microseconds / sum,
                    text(n.tiling), fmt::join(n.node->origins, " "));
  }
  out += fmt::format("{} tasks on {}, {:.2f} us; buffers of {} KiB, {} KiB without reuse, at least {} KiB\n",
                     network.nodes.size(), network.chip.name, time.microseconds, network.memory.features / 1024,
                     network.memory.without_reuse / 1024, network.memory.lower_bound / 1024);
  return out;
}

}  // namespace vinci::graph
