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
#include "tools/profile/op_statistic.h"
#include "tools/profile/op_summary.h"

namespace vinci::graph {
namespace {

// The tasks of the model.
class TaskRecords final : public models::TaskSink {
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
    TaskRecords tasks;
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

// Where the task of a record is in the first execution.
u32 position_of(const StreamOptions::Positions& places, const models::TaskRecord& r) {
  if (places.apart == 0 || places.tasks.empty()) return r.task_id;
  const u32 begin = *std::ranges::min_element(places.tasks);
  return r.task_id < begin || r.task_id >= places.end ? r.task_id : begin + (r.task_id - begin) % places.apart;
}

void write_profile(const Network& network, const task::TaskStream& stream, const StreamOptions::Positions& places,
                   const std::vector<const models::TaskRecord*>& records, const std::string& folder) {
  std::map<u32, profile::OpDescription> at;
  for (usize i = 0; i < network.nodes.size(); ++i)
    at[places.tasks[i]] = described(*network.nodes[i].node);
  const profile::Target target(network.chip, stream, [&](const models::TaskRecord& r) {
    const auto found = at.find(position_of(places, r));
    return found == at.end() ? nullptr : &found->second;
  });
  profile::OpSummary summary(folder + "/op_summary.csv", target);
  profile::OpStatistic statistic(folder + "/op_statistic.csv", target);
  for (profile::Writer* const writer : std::initializer_list<profile::Writer*>{&summary, &statistic}) {
    for (const models::TaskRecord* const r : records)
      writer->task(*r);
    writer->commit();
  }
}

}  // namespace

NetworkTime time_network(const Network& network, u32 executions, const std::string& profile) {
  StreamOptions::Positions places;
  const task::BuiltStream stream = to_task_stream(network, "timing", {.executions = executions, .positions = &places});
  const std::vector<u32>& positions = places.tasks;
  const std::vector<models::TaskRecord> records = timed_tasks(network, stream.stream());
  // Tasks end in the order of the stream: the last record of a task is that of the last execution.
  std::map<u32, const models::TaskRecord*> at, first_at;
  for (const models::TaskRecord& r : records) {
    at[position_of(places, r)] = &r;
    first_at.emplace(position_of(places, r), &r);
  }
  const double us = 1e6 / static_cast<double>(network.chip.clock);
  const auto span = [&](const std::map<u32, const models::TaskRecord*>& of) {
    u64 first = ~u64{0}, last = 0;
    for (const u32 position : positions) {
      const auto found = of.find(position);
      if (found == of.end()) continue;  // in a branch that has not run
      first = std::min(first, found->second->start);
      last = std::max(last, found->second->end);
    }
    return last > 0 ? static_cast<double>(last - first) * us : 0;
  };
  NetworkTime out;
  for (usize i = 0; i < network.nodes.size(); ++i) {
    NodeTime& n = out.nodes.emplace_back(NodeTime{.node = &network.nodes[i]});
    const auto found = at.find(positions[i]);
    if (found == at.end()) continue;
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
  }
  out.microseconds = span(at);
  out.first_microseconds = span(first_at);
  if (!profile.empty()) {
    std::vector<const models::TaskRecord*> last;
    for (const auto& [position, record] : at)
      last.push_back(record);
    std::ranges::stable_sort(last, {}, &models::TaskRecord::start);
    write_profile(network, stream.stream(), places, last, profile);
  }
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
  out += fmt::format(
      "{} tasks on {}{}, {:.2f} us warm, {:.2f} us in the first execution; buffers of {} KiB, {} KiB without "
      "reuse, at least {} KiB\n",
      network.nodes.size(), network.chip.name, network.execution.sunk ? "" : " that the host launches",
      time.microseconds, time.first_microseconds, network.memory.features / 1024, network.memory.without_reuse / 1024,
      network.memory.lower_bound / 1024);
  return out;
}

}  // namespace vinci::graph
