// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tools/graph/compile/partition.h"
#include "tools/graph/compile/storage.h"
#include "tools/profile/op_statistic.h"
#include "tools/profile/op_summary.h"

namespace vinci::graph {
namespace {

using Place = StreamOptions::Place;

// Which node a task belongs to.
class TaskNodes {
 public:
  explicit TaskNodes(const std::vector<std::vector<Place>>& places) {
    for (usize i = 0; i < places.size(); ++i) {
      for (const Place& place : places[i])
        nodes_.emplace(place, i);
    }
  }
  std::optional<usize> of(const models::TaskRecord& r) const {
    const auto at = nodes_.find({std::string(r.stream), r.task_id});
    return at == nodes_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  std::map<Place, usize> nodes_;
};

// The tasks of the nodes.
class TaskRecords final : public models::TaskSink {
 public:
  explicit TaskRecords(const TaskNodes& nodes) : nodes_(nodes) {}
  void task(const models::TaskRecord& record) override {
    if (const auto node = nodes_.of(record)) records.emplace_back(*node, record);
  }

  std::vector<std::pair<usize, models::TaskRecord>> records;

 private:
  const TaskNodes& nodes_;
};

// A kernel makes what chooses a branch: only a run with data knows it.
bool chooses_by_kernels(const Network& network) {
  const auto made = [&](const Value* v) {
    const auto at = network.memory.places.find(storage_of(v));
    return at != network.memory.places.end() && at->second.area == MemoryPlan::Area::features;
  };
  bool found = false;
  const auto task = [&](const Node& node) { found = found || (chooses_branch(node) && made(node.input(0))); };
  for_each_task(*network.graph, task, [&](const Node& node) { found = found || made(node.input(0)); });
  return found;
}

// Tasks with their nodes and times. Some programs take addresses from data, which only a run with data has.
std::vector<std::pair<usize, models::TaskRecord>> timed_tasks(const Network& network, const task::TaskStream& stream,
                                                              const TaskNodes& nodes) {
  const auto with_data = [&](bool data) {
    task::RunMemory memory(stream, data);
    TaskRecords tasks(nodes);
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

// Of ge::DataType.
std::string_view ge_name(DataType type) {
  switch (type) {
    case DataType::f16: return "FLOAT16";
    case DataType::bf16: return "DT_BF16";
    case DataType::f32: return "FLOAT";
    case DataType::f64: return "DOUBLE";
    case DataType::i8: return "INT8";
    case DataType::i16: return "INT16";
    case DataType::i32: return "INT32";
    case DataType::i64: return "INT64";
    case DataType::u8: return "UINT8";
    case DataType::u16: return "UINT16";
    case DataType::u32: return "UINT32";
    case DataType::u64: return "UINT64";
    case DataType::boolean: return "BOOL";
  }
  return "";
}

profile::OpDescription::Tensors described(const std::vector<const Value*>& values) {
  std::vector<std::string> shapes;
  std::vector<std::string_view> types, formats;
  for (const Value* const v : values) {
    shapes.push_back(fmt::format("{}", fmt::join(v->shape.dims(), ",")));
    types.push_back(ge_name(v->type));
    formats.push_back(isa::name(v->format));
  }
  return {.shapes = fmt::format("{}", fmt::join(shapes, ";")),
          .types = fmt::format("{}", fmt::join(types, ";")),
          .formats = fmt::format("{}", fmt::join(formats, ";"))};
}

// The type of a fused node is that of its first one, as CANN has it.
profile::OpDescription described(const Node& node) {
  const Group group(node);
  return {.type = group.nodes()[0]->type, .inputs = described(group.inputs()), .outputs = described(group.outputs())};
}

void write_profile(const Network& network, const task::TaskStream& stream, const TaskNodes& nodes,
                   const std::vector<const models::TaskRecord*>& records, const std::string& folder) {
  std::vector<profile::OpDescription> described_nodes;
  for (const CompiledNode& n : network.nodes)
    described_nodes.push_back(described(*n.node));
  const profile::Target target(network.chip, stream, [&](const models::TaskRecord& r) {
    const auto node = nodes.of(r);
    return node ? &described_nodes[*node] : nullptr;
  });
  profile::OpSummary summary(folder + "/op_summary.csv", target);
  profile::OpStatistic statistic(folder + "/op_statistic.csv", target);
  for (profile::Writer* const writer : std::initializer_list<profile::Writer*>{&summary, &statistic}) {
    for (const models::TaskRecord* const r : records)
      writer->task(*r);
    writer->commit();
  }
}

// Who launches the tasks, as a part of a sentence.
std::string launches(const Network& network) {
  if (!network.execution.sunk) return " that the host launches";
  const std::vector<Part> parts = parts_of(network);
  const auto sunk = static_cast<usize>(std::ranges::count_if(parts, &Part::sunk));
  if (sunk == parts.size()) return "";
  usize launched = 0, reads = network.graph->host_reads.size();
  for (const Part& part : parts) {
    if (part.sunk) continue;
    launched += part.nodes.size();
    reads += static_cast<usize>(std::ranges::count_if(part.nodes, [](const Node* n) { return selects(*n); }));
  }
  std::string out = fmt::format(", {} of them launched by the host", launched);
  if (reads > 0) out += fmt::format(", which waits for {} of their shapes", reads);
  if (sunk > 0) out += fmt::format(", the others in {} sunk {}", sunk, sunk == 1 ? "part" : "parts");
  return out;
}

}  // namespace

NetworkTime time_network(const Network& network, const StreamOptions& wanted,
                         const std::function<std::string()>& profile) {
  StreamOptions options = wanted;
  std::vector<std::vector<Place>> places;
  options.places = &places;
  const task::BuiltStream stream = to_task_stream(network, "timing", options);
  const TaskNodes nodes(places);
  const auto records = timed_tasks(network, stream.stream(), nodes);
  // The last record of a node is that of the last execution; in a branch that has not run it has none.
  std::vector<const models::TaskRecord*> last(network.nodes.size()), first(network.nodes.size());
  for (const auto& [node, r] : records) {
    last[node] = &r;
    if (first[node] == nullptr) first[node] = &r;
  }
  const double us = 1e6 / static_cast<double>(network.chip.clock);
  const auto span = [&](const std::vector<const models::TaskRecord*>& of) {
    u64 start = ~u64{0}, end = 0;
    for (const models::TaskRecord* const r : of) {
      if (r == nullptr) continue;
      start = std::min(start, r->start);
      end = std::max(end, r->end);
    }
    return end > 0 ? static_cast<double>(end - start) * us : 0;
  };
  NetworkTime out;
  for (usize i = 0; i < network.nodes.size(); ++i) {
    NodeTime& n = out.nodes.emplace_back(NodeTime{.node = &network.nodes[i]});
    if (last[i] == nullptr) continue;
    const models::TaskRecord& r = *last[i];
    const auto cycles = static_cast<double>(r.end - r.start);
    n.microseconds = cycles * us;
    for (const models::CoreSums& core : r.cores) {
      n.cube_use += static_cast<double>(core.busy[enum_index(isa::PipeId::M)]) / (cycles * network.chip.ai_cores);
      n.read_bytes += core.work.gm_read_bytes;
      n.written_bytes += core.work.gm_write_bytes;
    }
    out.read_bytes += n.read_bytes;
    out.written_bytes += n.written_bytes;
  }
  out.microseconds = span(last);
  out.first_microseconds = span(first);
  if (profile) {
    std::erase(last, nullptr);
    std::ranges::stable_sort(last, {}, &models::TaskRecord::start);
    write_profile(network, stream.stream(), nodes, last, profile());
  }
  return out;
}

NetworkTime time_network(const Network& network, u32 executions) {
  return time_network(network, {.executions = executions});
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
  out += fmt::format(
      "{} tasks on {}{}, {:.2f} us warm, {:.2f} us in the first execution; buffers of {} KiB, {} KiB without "
      "reuse, at least {} KiB\n",
      network.nodes.size(), network.chip.name, launches(network), time.microseconds, time.first_microseconds,
      network.memory.features / 1024, network.memory.without_reuse / 1024, network.memory.lower_bound / 1024);
  return out;
}

}  // namespace vinci::graph
