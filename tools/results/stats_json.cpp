// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/stats_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/results/outputs.h"

namespace vinci::results {
namespace {

using Json = nlohmann::ordered_json;

Json work_json(const models::WorkSums& w) {
  return {{"cube_macs", w.cube_macs},
          {"vector_repeats", w.vector_repeats},
          {"gm_read_bytes", w.gm_read_bytes},
          {"gm_write_bytes", w.gm_write_bytes}};
}

}  // namespace

std::string stats_json(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& r) {
  Json tasks = Json::array();
  for (const models::TaskTime& t : r.tasks) {
    Json task = {{"name", t.name},   {"type", t.kind},         {"stream", t.stream}, {"blocks", t.blocks},
                 {"bytes", t.bytes}, {"enqueued", t.enqueued}, {"start", t.start},   {"end", t.end}};
    if (t.cold > 0) task["cold"] = t.cold;
    if (t.work != models::WorkSums{}) task["work"] = work_json(t.work);
    tasks.push_back(std::move(task));
  }
  Json pipes = Json::array();
  for (const models::PipeTime& p : r.pipes) {
    pipes.push_back(
        {{"core", p.core}, {"pipe", isa::name(p.pipe)}, {"busy", p.busy}, {"stalled", p.stalled}, {"idle", p.idle}});
  }
  Json out = {{"format", 1},
              {"task_stream", stream.name},
              {"chip", chip.name},
              {"clock_hz", chip.clock.value},
              {"cycles", r.cycles},
              {"seconds", r.seconds},
              {"instructions", r.instructions},
              {"cube_macs", r.cube_macs},
              {"kernel_cycles", r.kernel_cycles},
              {"cold_cycles", std::min(r.cold_cycles, r.kernel_cycles)},
              {"task_count", r.task_count},
              {"tasks", std::move(tasks)},
              {"pipes", std::move(pipes)},
              {"counters", r.stats.json()}};
  for (const models::InsertedAt& i : r.inserted)
    out["inserted"].push_back({{"before", i.place}, {"what", i.what}, {"count", i.count}, {"cycles", i.cycles}});
  for (const models::NativeAt& n : r.native)
    out["scalar_code"].push_back({{"at", n.place}, {"own", n.own}, {"api", n.api}});
  return out.dump(2) + "\n";
}

constinit const OutputFile files::stats_json{
    .name = "stats.json",
    .exists = [](const EndedRun& r) { return r.result != nullptr; },
    .contents = [](const EndedRun& r) { return results::stats_json(r.chip, r.stream, *r.result); }};

}  // namespace vinci::results
