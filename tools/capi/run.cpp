// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "isa/base/error.h"
#include "isa/census/census.h"
#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "sim/io/atomic_file.h"
#include "sim/io/temp_folder.h"
#include "sim/task/run_memory.h"
#include "sim/trace/chrome_trace.h"
#include "tools/capi/handles.h"
#include "tools/capi/turn.h"
#include "tools/explain/range.h"
#include "tools/explain/simulate.h"
#include "tools/report/page.h"
#include "tools/results/findings.h"
#include "tools/results/outputs.h"

namespace vinci::capi {
namespace {

// Of the structures in version 0.1.
constexpr size_t kFirstOptions = offsetof(vinci_options, check) + sizeof(uint32_t);
constexpr size_t kFirstOutput = offsetof(vinci_output, bytes) + sizeof(size_t);
constexpr u32 kMostThreads = 1024;

// The device's memory and the run's exchange their contents while no other thread uses the device.
template <class F>
void with_device(vinci_run& r, F&& exchange) {
  if (r.device == nullptr) return;
  const std::scoped_lock lock(r.device->mutex);
  exchange(r);
}

void simulate(vinci_run& r) {
  const Turn turn(r.cancelled);
  const config::ChipConfig& chip = *r.config;
  const task::TaskStream& tasks = *r.tasks;
  const bool timed = r.options.mode != VINCI_MODE_FUNCTIONAL;
  const bool with_data = r.options.mode != VINCI_MODE_TIMING;
  auto memory = std::make_unique<task::RunMemory>(tasks, with_data, r.options.seed);
  r.memory = std::move(memory);
  if (with_data) with_device(r, put_device_memory);
  std::unique_ptr<isa::check::Checker> checker;
  if (r.options.check != 0) checker = std::make_unique<isa::check::Checker>(r.memory->gm());
  std::optional<isa::Census> census;
  if (r.options.numerics != 0) census.emplace();
  if (r.options.numerics == VINCI_NUMERICS_SHADOW) census->shadow = std::make_shared<isa::Shadow>();
  const models::Options options{.max_cycles = r.options.max_cycles,
                                .interrupted = [&r] { return r.cancelled.load(); },
                                .census = census ? &*census : nullptr,
                                .checker = checker.get(),
                                .threads = r.options.threads};
  const auto make_files = [&](const Error* cut_short) {
    results::EndedRun end{.chip = chip, .stream = tasks, .census = census ? &*census : nullptr, .cut_short = cut_short};
    if (timed && cut_short == nullptr) end.result = &r.result;
    if (checker) end.findings = &checker->findings();
    end.shadow = results::shadow_of(end.census, tasks, *r.memory);
    for (const results::OutputFile* file : results::kOutputFiles) {
      if (file->exists(end)) r.files.emplace(file->name, file->contents(end));
    }
  };
  try {
    if (timed) {
      r.result = models::simulate(chip, tasks, *r.memory, options);
    } else {
      r.result.instructions = models::run_functional(chip, tasks, *r.memory, options);
    }
  } catch (const Error& e) {
    make_files(&e);
    throw;
  }
  make_files(nullptr);
  if (checker && !checker->findings().empty()) {
    fail(Fault::Program, "the check found faults in the program: {}",
         results::findings_text(checker->findings(), 5, nullptr));
  }
  if (with_data) with_device(r, take_device_memory);
}

void fill(const vinci_run& r, size_t index, vinci_output& out) {
  check_size(out.size, kFirstOutput, "vinci_output");
  const task::Buffer& b = r.tasks->buffers[r.outputs[index]];
  vinci_output o{};
  o.size = sizeof o;
  o.name = b.name.c_str();
  o.dtype = b.dtype.c_str();
  o.shape = r.output_shapes[index].data();
  o.dimensions = r.output_shapes[index].size();
  o.bytes = b.bytes;
  if (r.done && r.status == VINCI_OK && r.memory->with_data()) o.data = r.memory->host(r.outputs[index]).data();
  const size_t size = std::min(out.size, sizeof o);
  std::memcpy(&out, &o, size);
  out.size = size;
}

vinci_options checked(const vinci_options* given) {
  vinci_options out = VINCI_OPTIONS_INIT;
  if (given == nullptr) return out;
  check_size(given->size, kFirstOptions, "vinci_options");
  std::memcpy(&out, given, std::min(given->size, sizeof out));
  check_enumerator(out.mode, VINCI_MODE_TIMING, "mode");
  if (out.numerics != 0 && out.mode == VINCI_MODE_TIMING)
    fail(Fault::Input, "numerics looks at data; mode timing has none, full and functional have");
  if (out.threads > kMostThreads)
    fail(Fault::Input, "threads = {}: 1 to {} are possible, or 0", out.threads, kMostThreads);
  return out;
}

bool is_done(const vinci_run* run) { return run != nullptr && run->done; }

// The number at "a/b/c", null where there is none.
const nlohmann::ordered_json* find_counter(const nlohmann::ordered_json& stats, std::string_view path) {
  if (!stats.is_object()) return nullptr;
  const auto slash = path.find('/');
  const auto member = stats.find(path.substr(0, slash));
  if (member == stats.end()) return nullptr;
  if (slash != std::string_view::npos) return find_counter(*member, path.substr(slash + 1));
  return member->is_number() ? &*member : nullptr;
}

explain::Options options_of(const vinci_run& r) {
  return {.seed = r.options.seed, .data = !r.of_device, .max_cycles = r.options.max_cycles, .interrupted = [&r] {
            return r.cancelled.load();
          }};
}

void need_time(const vinci_run& r) {
  if (r.options.mode == VINCI_MODE_FUNCTIONAL) fail(Fault::Unsupported, "a run of mode functional has no time");
}

// Buffers of a device held what they hold no more.
std::string explanation_of(const vinci_run& r) {
  need_time(r);
  const Turn turn(r.cancelled);
  return explain::to_json(explain::explain(*r.config, *r.tasks, options_of(r)), r.config->clock);
}

std::string range_of(const vinci_run& r) {
  need_time(r);
  const Turn turn(r.cancelled);
  return explain::range_json(explain::time_range(*r.config, *r.tasks, options_of(r), 1), r.config->clock);
}

std::string trace_of(const vinci_run& r) {
  need_time(r);
  const Turn turn(r.cancelled);
  const io::TempFolder folder("trace");
  const std::string path = folder / "trace.json";
  explain::simulate_fastest(options_of(r), [&](bool with_data) {
    trace::ChromeTrace sink(path, r.config->clock);
    task::RunMemory memory(*r.tasks, with_data, r.options.seed);
    models::simulate(
        *r.config, *r.tasks, memory,
        {.max_cycles = r.options.max_cycles, .interrupted = [&r] { return r.cancelled.load(); }, .trace = &sink});
    sink.commit();
  });
  return io::read_file(path);
}

std::string report_of(const vinci_run& r) {
  const auto parsed = [](const std::string& text) { return text.empty() ? report::Json() : report::Json::parse(text); };
  const report::RunFiles files{.chip = *r.config,
                               .stats = parsed(r.file("stats.json")),
                               .numerics = parsed(r.file("numerics.json")),
                               .findings = parsed(r.file("findings.json")),
                               .explanation = parsed(r.file("explain.json"))};
  if (files.stats.is_null() && files.numerics.is_null() && files.findings.is_null())
    fail(Fault::Unsupported, "a run of mode functional without check and numerics has nothing to report");
  return report::page(report::report_data(files));
}

// Files that are made when they are asked for, because they take time.
struct OnRequest {
  std::string_view name;
  std::string (*make)(const vinci_run&);
  bool again = false;  // made anew each time: it contains other files
};
constexpr std::array kOnRequest{OnRequest{"explain.json", explanation_of}, OnRequest{"range.json", range_of},
                                OnRequest{"trace.json", trace_of}, OnRequest{"report.html", report_of, true}};

std::string known_files(const vinci_run& r) {
  std::string out;
  for (const auto& [name, contents] : r.files)
    out += (out.empty() ? "" : ", ") + name;
  for (const OnRequest& file : kOnRequest)
    out.append(out.empty() ? "" : ", ").append(file.name);
  return out;
}

// The contents of a file of a run that is done.
const std::string& file_of(vinci_run& run, std::string_view name) {
  if (!run.done) fail(Fault::Input, "the run is not done");
  if (const auto file = run.files.find(name); file != run.files.end()) return file->second;
  const auto* request = std::ranges::find(kOnRequest, name, &OnRequest::name);
  if (request == kOnRequest.end()) fail(Fault::Input, "the run has no file '{}'; it has {}", name, known_files(run));
  const auto kept = run.requested.find(name);
  if (kept != run.requested.end() && !request->again) return kept->second;
  return run.requested.insert_or_assign(std::string(name), request->make(run)).first->second;
}

vinci_status text_of(vinci_run* run, const char** text, std::string_view name) {
  return guarded([&] {
    const char*& out = need(text, "text");
    out = file_of(need(run, "run"), name).c_str();
  });
}

// The text of a file that the run has without being asked, "" where it has none.
const char* text_of(const vinci_run* run, std::string_view name) {
  return run != nullptr && run->done ? run->file(name).c_str() : "";
}

// Carries the run out on this thread, where no thread has done so.
void carry_out(vinci_run& run) {
  const std::scoped_lock alone(run.waiting);
  if (run.done) return;
  run.status = guarded([&] { simulate(run); });
  if (run.status != VINCI_OK) run.error = vinci_last_error();
  leave_device(run);
  run.done = true;
}

}  // namespace

void leave_device(vinci_run& run) {
  if (run.device == nullptr) return;
  const std::scoped_lock lock(run.device->mutex);
  run.device->run = nullptr;
  run.device = nullptr;
}

std::unique_ptr<vinci_run> make_run(std::shared_ptr<const config::ChipConfig> chip,
                                    std::shared_ptr<const task::TaskStream> tasks, const vinci_options* options) {
  auto run = std::make_unique<vinci_run>();
  run->options = checked(options);
  run->config = std::move(chip);
  run->tasks = std::move(tasks);
  if (run->tasks->arch != run->config->arch) {
    fail(Fault::Input, "the task stream is for {}, and {} is {}", isa::name(run->tasks->arch), run->config->name,
         isa::name(run->config->arch));
  }
  for (u32 i = 0; i < run->tasks->buffers.size(); ++i) {
    const task::Buffer& b = run->tasks->buffers[i];
    if (b.output.empty()) continue;
    run->outputs.push_back(i);
    const u64 element = b.dtype.empty() ? 1 : std::max<u64>(1, static_cast<u64>(b.dtype.back() - '0'));
    run->output_shapes.push_back(b.shape.empty() ? std::vector<u64>{b.bytes / element} : b.shape);
  }
  return run;
}

}  // namespace vinci::capi

using vinci::capi::guarded;
using vinci::capi::is_done;
using vinci::capi::need;

extern "C" {

vinci_status vinci_wait(vinci_run* run) {
  if (run == nullptr) return guarded([&] { need(run, "run"); });
  if (!run->done) vinci::capi::carry_out(*run);
  return run->status == VINCI_OK ? VINCI_OK : vinci::capi::failure(run->status, run->error);
}

void vinci_cancel(vinci_run* run) {
  if (run != nullptr) run->cancelled = true;
}

void vinci_run_destroy(vinci_run* run) {
  if (run != nullptr) vinci::capi::leave_device(*run);
  delete run;
}

uint64_t vinci_run_cycles(const vinci_run* run) { return is_done(run) ? run->result.cycles : 0; }
double vinci_run_seconds(const vinci_run* run) { return is_done(run) ? run->result.seconds : 0; }
uint64_t vinci_run_kernel_cycles(const vinci_run* run) { return is_done(run) ? run->result.kernel_cycles : 0; }
uint64_t vinci_run_cold_cycles(const vinci_run* run) {
  return is_done(run) ? run->result.kernel_cycles - run->result.warm_cycles() : 0;
}
uint64_t vinci_run_instructions(const vinci_run* run) { return is_done(run) ? run->result.instructions : 0; }
const char* vinci_run_stats(const vinci_run* run) { return vinci::capi::text_of(run, "stats.json"); }
const char* vinci_run_numerics(const vinci_run* run) { return vinci::capi::text_of(run, "numerics.json"); }
const char* vinci_run_findings(const vinci_run* run) { return vinci::capi::text_of(run, "findings.json"); }

vinci_status vinci_run_file(vinci_run* run, const char* name, const void** data, size_t* bytes) {
  return guarded([&] {
    const void*& to = need(data, "data");
    size_t& size = need(bytes, "bytes");
    const std::string& contents = vinci::capi::file_of(need(run, "run"), &need(name, "name"));
    to = contents.data();
    size = contents.size();
  });
}
size_t vinci_run_file_count(const vinci_run* run) { return is_done(run) ? run->files.size() : 0; }
const char* vinci_run_file_name(const vinci_run* run, size_t index) {
  if (index >= vinci_run_file_count(run)) return "";
  return std::next(run->files.begin(), static_cast<std::ptrdiff_t>(index))->first.c_str();
}

vinci_status vinci_run_counter(const vinci_run* run, const char* path, uint64_t* value) {
  return guarded([&] {
    const std::string name = &need(path, "path");
    uint64_t& result = need(value, "value");
    if (!is_done(&need(run, "run"))) vinci::fail(vinci::Fault::Input, "the run is not done");
    const nlohmann::ordered_json* counter = vinci::capi::find_counter(run->result.stats.json(), name);
    if (counter == nullptr) vinci::fail(vinci::Fault::Input, "there is no counter '{}'", name);
    result = counter->get<uint64_t>();
  });
}

vinci_status vinci_run_explain(vinci_run* run, const char** text) {
  return vinci::capi::text_of(run, text, "explain.json");
}
vinci_status vinci_run_range(vinci_run* run, const char** text) {
  return vinci::capi::text_of(run, text, "range.json");
}
vinci_status vinci_run_trace(vinci_run* run, const char** text) {
  return vinci::capi::text_of(run, text, "trace.json");
}
vinci_status vinci_run_report(vinci_run* run, const char** text) {
  return vinci::capi::text_of(run, text, "report.html");
}

size_t vinci_run_output_count(const vinci_run* run) { return run == nullptr ? 0 : run->outputs.size(); }

vinci_status vinci_run_output(const vinci_run* run, size_t index, vinci_output* out) {
  return guarded([&] {
    if (index >= need(run, "run").outputs.size()) {
      vinci::fail(vinci::Fault::Input, "there is no output {}; there are {}", index, run->outputs.size());
    }
    vinci::capi::fill(*run, index, need(out, "out"));
  });
}

vinci_status vinci_run_find_output(const vinci_run* run, const char* name, vinci_output* out) {
  return guarded([&] {
    const std::string wanted = &need(name, "name");
    for (size_t i = 0; i < need(run, "run").outputs.size(); ++i) {
      if (run->tasks->buffers[run->outputs[i]].name == wanted) return vinci::capi::fill(*run, i, need(out, "out"));
    }
    vinci::fail(vinci::Fault::Input, "there is no output '{}'", wanted);
  });
}
}
