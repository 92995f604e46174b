// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/stream.h"

namespace vinci::graph {
namespace {

// The tasks of the model.
class ModelTasks final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& record) override {
    if (record.stream == kModelStream) records.push_back(record);
  }

  std::vector<models::TaskRecord> records;
};

// A kernel makes what chooses a branch: only a run with data knows it.
bool chooses_by_kernels(const Network& network) {
  const auto made = [&](const Value* v) {
    const auto at = network.memory.places.find(storage_of(v));
    return at != network.memory.places.end() && at->second.area == MemoryPlan::Area::features;
  };
  bool found = false;
  const auto task = [&](const Node& node) {
    found = found || (engine_of(node) == Engine::aicpu && made(node.input(0)));
  };
  for_each_task(*network.graph, task, [&](const Node& node) { found = found || made(node.input(0)); });
  return found;
}

// Tasks of the model with their times. Some programs take addresses from data, which only a run with data has.
std::vector<models::TaskRecord> timed_tasks(const Network& network, const task::TaskStream& stream) {
  const auto with_data = [&](bool data) {
    task::RunMemory memory(stream, data);
    ModelTasks tasks;
    models::simulate(network.chip, stream, memory, {.progress = {}, .tasks = &tasks});
    return std::move(tasks.records);
  };
  if (chooses_by_kernels(network)) return with_data(true);
  try {
    return with_data(false);
  } catch (const Error& e) {
    if (e.fault() != Fault::Unsupported) throw;
  }
  return with_data(true);
}

}  // namespace

NetworkTime time_network(const Network& network) {
  std::vector<u32> positions;
  const task::BuiltStream stream = to_task_stream(network, "timing", {.positions = &positions});
  const std::vector<models::TaskRecord> records = timed_tasks(network, stream.stream());
  std::map<u32, const models::TaskRecord*> at;
  for (const models::TaskRecord& r : records)
    at[r.task_id] = &r;
  const double us = 1e6 / static_cast<double>(network.chip.clock);
  NetworkTime out;
  u64 first = ~u64{0}, last = 0;
  for (usize i = 0; i < network.nodes.size(); ++i) {
    NodeTime& n = out.nodes.emplace_back(NodeTime{.node = &network.nodes[i]});
    const auto found = at.find(positions[i]);
    if (found == at.end()) continue;  // in a branch that has not run
    const models::TaskRecord& r = *found->second;
    const auto cycles = static_cast<double>(r.end - r.start);
    n.microseconds = cycles * us;
    for (const models::CoreSums& core : r.cores) {
      n.cube_use += static_cast<double>(core.busy[enum_index(isa::PipeId::M)]) / (cycles * network.chip.ai_cores);
      n.read_bytes += core.work.gm_read_bytes;
      n.written_bytes += core.work.gm_write_bytes;
    }
    out.read_bytes += n.read_bytes;
    out.written_bytes += n.written_bytes;
    first = std::min(first, r.start);
    last = std::max(last, r.end);
  }
  if (last > 0) out.microseconds = static_cast<double>(last - first) * us;
  return out;
}

std::string node_table(const Network& network, const NetworkTime& time) {
  std::string out =
      fmt::format("{:>4} {:<28} {:<14} {:>7} {:>9} {:>6} {:>6} {:>9} {:>9}  {:<30} {}\n", "task", "node", "kernel",
                  "blocks", "us", "share", "cube", "KiB read", "written", "tiling", "nodes of the model");
  double sum = 0;
  for (const NodeTime& n : time.nodes)
    sum += n.microseconds;
  for (usize i = 0; i < time.nodes.size(); ++i) {
    const NodeTime& t = time.nodes[i];
    const CompiledNode& n = *t.node;
    out += fmt::format("{:>4} {:<28} {:<14} {:>7} {:>9.2f} {:>5.1f}% {:>5.1f}% {:>9} {:>9}  {:<30} {}\n", i,
                       n.node->name, unit_name(n), n.program.blocks, t.microseconds,
                       sum == 0 ? 0 : 100 * t.microseconds / sum, 100 * t.cube_use, ceil_div<u64>(t.read_bytes, 1024),
                       ceil_div<u64>(t.written_bytes, 1024), text(n.tiling), fmt::join(n.node->origins, " "));
  }
  out += fmt::format("{} tasks on {}, {:.2f} us; buffers of {} KiB, {} KiB without reuse, at least {} KiB\n",
                     network.nodes.size(), network.chip.name, time.microseconds, network.memory.features / 1024,
                     network.memory.without_reuse / 1024, network.memory.lower_bound / 1024);
  return out;
}

}  // namespace vinci::graph
