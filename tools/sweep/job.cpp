// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/job.h"

#include <fmt/format.h>
#include <link.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "tools/sweep/table.h"

namespace vinci::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string digits(u64 hash) { return fmt::format("{:016x}", hash); }

u64 hash_text(std::string_view text, u64 before) { return fnv1a(text, fnv1a(std::string_view("\0", 1), before)); }

// A file that a word names, and names, sizes and times of the files in its folder, to which it may refer.
u64 hash_file(const std::string& word, u64 before) {
  std::error_code none;
  if (!fs::is_regular_file(word, none)) return before;
  u64 hash = hash_text(io::read_file(word), before);
  const fs::path folder = fs::path(word).has_parent_path() ? fs::path(word).parent_path() : fs::path(".");
  std::vector<std::string> beside;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (!entry.is_regular_file(none)) continue;
    beside.push_back(fmt::format("{} {} {}", entry.path().filename().string(), entry.file_size(none),
                                 entry.last_write_time(none).time_since_epoch().count()));
  }
  std::ranges::sort(beside);
  for (const std::string& line : beside)
    hash = hash_text(line, hash);
  return hash;
}

// With "--m" of the point in place of the same option of the command.
void set_option(std::vector<std::string>& command, const Setting& s) {
  const auto at = std::ranges::find_if(
      command, [&](const std::string& word) { return word == s.key || word.starts_with(s.key + "="); });
  if (at == command.end()) {
    command.push_back(s.key + "=" + s.value);
    return;
  }
  const bool separate = *at == s.key && at + 1 != command.end();
  *at = s.key + "=" + s.value;
  if (separate) command.erase(at + 1);
}

// The hash of a task stream with the contents of its buffers; `stream` loses its data.
u64 hash_stream(task::TaskStream& stream) {
  u64 hash = kFnv1aBasis;
  for (u32 i = 0; i < stream.buffers.size(); ++i)
    hash = fnv1a(task::initial_data(stream, i), hash);
  stream.name.clear();
  return fnv1a(task::to_vts(stream), hash);
}

// The task stream that a command has written: the only one in its folder.
std::string stream_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".vts") found.push_back(entry.path());
  }
  if (found.size() != 1) fail(Fault::Input, "the command wrote {} task streams; a point has one", found.size());
  return found.front();
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void add_counters(const json& value, const std::string& name, std::map<std::string, double>& out) {
  if (value.is_number()) {
    out[name] += value.get<double>();
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      add_counters(inner, name.empty() ? key : fmt::format("{}.{}", name, key), out);
  }
}

// "core12.AIC" is "AIC": cores of a kind are summed.
std::string kind_of(const std::string& unit) {
  if (!unit.starts_with("core")) return unit;
  const usize dot = unit.find('.');
  const usize end = unit.find_first_not_of("0123456789", 4);
  if (end == 4) return unit;
  return dot == std::string::npos ? "core" : unit.substr(dot + 1);
}

void simulate(const Job& job, const std::string& folder, const RunCommand& run, Result& result) {
  const config::ChipConfig chip = config::load_chip(job.chip, job.set);
  result.chip_file = config::write_chip(chip);
  result.chip = digits(fnv1a(result.chip_file));
  const std::string chip_path = folder + "/chip.yaml", made = folder + "/stream", out = folder + "/out";
  io::write_file_atomically(chip_path, result.chip_file);
  std::string path = job.command.size() > 1 ? job.command[1] : std::string();
  if (job.command.front() != "run") {
    std::vector<std::string> words = job.command;
    const bool compile = words.front() == "compile";
    words.insert(words.end(), {compile ? "--soc_version" : "--chip", chip_path, "-o", made});
    run(words);
    path = stream_in(made);
  } else if (job.command.size() != 2) {
    fail(Fault::Input, "`run` of a sweep takes the task stream alone; mode and chip are keys of the sweep");
  }
  task::TaskStream stream = task::load_task_stream(path);
  result.stream = digits(hash_stream(stream));
  if (auto known = job.table.empty() ? std::nullopt : Table::look_up(job.table, result)) {
    result.stats = std::move(*known);
    result.found = true;
    return;
  }
  run({"run", path, "--chip", chip_path, "--mode", job.mode, "--profile=off", "--quiet", "--out", out});
  result.stats = columns_of(io::read_file(out + "/stats.json"));
}

}  // namespace

std::string simulator_id() {
  // The build id of this executable, which the linker makes of its contents.
  std::string out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, usize, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_NOTE) continue;
          // NOLINTNEXTLINE(performance-no-int-to-ptr): where the loader put it
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
          const char* const end = at + header.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* const name = at + sizeof note;
            const char* const text = name + (note.n_namesz + 3) / 4 * 4;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
              *static_cast<std::string*>(to) = digits(fnv1a(std::string_view(text, note.n_descsz)));
            }
            at = text + (note.n_descsz + 3) / 4 * 4;
          }
        }
        return 1;  // the first object is the executable
      },
      &out);
  return out;
}

Job make_job(const Definition& d, const Point& point, std::string_view simulator) {
  Job job{.command = d.command, .chip = d.chip, .mode = d.mode, .simulator = std::string(simulator)};
  const auto apply = [&](const Setting& s) {
    if (s.key.starts_with("-"))
      set_option(job.command, s);
    else if (s.key == "chip")
      job.chip = s.value;
    else
      job.set.push_back(s.key + "=" + s.value);
  };
  std::ranges::for_each(d.set, apply);
  std::ranges::for_each(point, apply);
  u64 hash = hash_text(job.mode, hash_text(job.simulator, kFnv1aBasis));
  for (const std::string& word : job.command) {
    hash = hash_file(word, hash_text(word, hash));
    if (const usize equals = word.find('='); equals != std::string::npos)
      hash = hash_file(word.substr(equals + 1), hash);
  }
  hash = hash_file(job.chip, hash_text(job.chip, hash));
  for (const std::string& text : job.set)
    hash = hash_text(text, hash);
  job.key = digits(hash);
  return job;
}

std::string to_json(const Job& job) {
  return json{{"key", job.key},   {"command", job.command},     {"chip", job.chip},  {"set", job.set},
              {"mode", job.mode}, {"simulator", job.simulator}, {"table", job.table}}
      .dump(2);
}

std::string to_json(const Result& r) {
  return json{{"key", r.key},
              {"stream", r.stream},
              {"chip", r.chip},
              {"chip_file", r.chip_file},
              {"mode", r.mode},
              {"simulator", r.simulator},
              {"stats", r.stats},
              {"error", r.error},
              {"found", r.found},
              {"exit_code", r.exit_code},
              {"cpu_seconds", r.cpu_seconds}}
      .dump();
}

Job read_job(const std::string& file) {
  try {
    const json j = json::parse(io::read_file(file));
    return {.key = j.at("key"),
            .command = j.at("command"),
            .chip = j.at("chip"),
            .set = j.at("set"),
            .mode = j.at("mode"),
            .simulator = j.at("simulator"),
            .table = j.at("table")};
  } catch (const json::exception& e) {
    fail_at(Fault::Input, file, "this is no job of a sweep: {}", e.what());
  }
}

Result read_result(const std::string& file) {
  try {
    const json j = json::parse(io::read_file(file));
    Result r{.key = j.at("key"),
             .stream = j.at("stream"),
             .chip = j.at("chip"),
             .mode = j.at("mode"),
             .simulator = j.at("simulator"),
             .chip_file = j.at("chip_file"),
             .error = j.at("error")};
    r.stats = j.at("stats").get<std::map<std::string, double>>();
    r.exit_code = j.at("exit_code");
    r.cpu_seconds = j.at("cpu_seconds");
    r.found = j.at("found");
    return r;
  } catch (const json::exception& e) {
    fail_at(Fault::Input, file, "this is no result of a sweep: {}", e.what());
  }
}

std::map<std::string, double> columns_of(std::string_view text) {
  const json stats = json::parse(text);
  std::map<std::string, double> out;
  for (const auto& [key, value] : stats.items()) {
    if (value.is_number() && key != "format") out[key] = value.get<double>();
  }
  out["us"] = out.at("seconds") * 1e6;
  const double cold = out.contains("cold_cycles") ? out.at("cold_cycles") : 0;
  out["cold_us"] = cold / out.at("clock_hz") * 1e6;
  out["kernel_us"] = (out.at("kernel_cycles") - cold) / out.at("clock_hz") * 1e6;
  for (const auto& [unit, counters] : stats.at("counters").items())
    add_counters(counters, kind_of(unit), out);
  return out;
}

Result do_job(const Job& job, const std::string& folder, const RunCommand& run) {
  Result result{.key = job.key, .mode = job.mode, .simulator = job.simulator};
  try {
    simulate(job, folder, run, result);
  } catch (const Error& e) {
    result.error = e.what();
    result.exit_code = static_cast<int>(e.fault());
  }
  result.cpu_seconds = cpu_seconds();
  return result;
}

}  // namespace vinci::sweep
