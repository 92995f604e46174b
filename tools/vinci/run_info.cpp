// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/run_files.h"

#include <fmt/chrono.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace vinci::cli {
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
    if (t.work != models::WorkSums{}) task["work"] = work_json(t.work);
    tasks.push_back(std::move(task));
  }
  Json pipes = Json::array();
  for (const models::PipeTime& p : r.pipes) {
    pipes.push_back(
        {{"core", p.core}, {"pipe", isa::name(p.pipe)}, {"busy", p.busy}, {"stalled", p.stalled}, {"idle", p.idle}});
  }
  const Json out = {{"format", 1},
                    {"task_stream", stream.name},
                    {"chip", chip.name},
                    {"clock_hz", chip.clock.value},
                    {"cycles", r.cycles},
                    {"seconds", r.seconds},
                    {"instructions", r.instructions},
                    {"cube_macs", r.cube_macs},
                    {"kernel_cycles", r.kernel_cycles},
                    {"task_count", r.task_count},
                    {"tasks", std::move(tasks)},
                    {"pipes", std::move(pipes)},
                    {"counters", r.stats}};
  return out.dump(2) + "\n";
}

std::string run_info_json(const std::string& task_file, double wall, u64 instructions) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const Json out = {{"version", VINCI_VERSION},
                    {"task_stream", std::filesystem::absolute(task_file).string()},
                    {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                    {"host", host},
                    {"wall_seconds", wall},
                    {"instructions_per_second", static_cast<double>(instructions) / wall},
                    {"peak_rss_kib", usage.ru_maxrss}};
  return out.dump(2) + "\n";
}

}  // namespace vinci::cli
