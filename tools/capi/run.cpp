// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <cstring>
#include <mutex>

#include "isa/base/error.h"
#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "tools/capi/handles.h"
#include "tools/results/findings.h"
#include "tools/results/stats_json.h"

namespace vinci::capi {
namespace {

// SystemC has one simulation at a time in a process.
std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

void simulate(vinci_run& r) {
  const config::ChipConfig& chip = *r.config;
  const task::TaskStream& tasks = *r.tasks;
  const bool timed = r.options.mode != VINCI_MODE_FUNCTIONAL;
  const bool with_data = r.options.mode != VINCI_MODE_TIMING;
  auto memory = std::make_unique<task::RunMemory>(tasks, with_data, r.options.seed);
  r.memory = std::move(memory);
  if (r.device != nullptr && with_data) put_device_memory(r);
  std::unique_ptr<isa::check::Checker> checker;
  if (r.options.check != 0) checker = std::make_unique<isa::check::Checker>(r.memory->gm());
  const models::Options options{.max_cycles = r.options.max_cycles,
                                .interrupted = [&r] { return r.cancelled.load(); },
                                .checker = checker.get(),
                                .threads = r.options.threads};
  const auto report = [&](const Error* cut_short) {
    if (checker) r.findings = results::findings_json(checker->findings(), cut_short);
  };
  try {
    if (timed) {
      r.result = models::simulate(chip, tasks, *r.memory, options);
      r.stats = results::stats_json(chip, tasks, r.result);
    } else {
      r.result.instructions = models::run_functional(chip, tasks, *r.memory, options);
    }
  } catch (const Error& e) {
    report(&e);
    throw;
  }
  report(nullptr);
  if (checker && !checker->findings().empty()) {
    fail(Fault::Program, "the check found faults in the program: {}",
         results::findings_text(checker->findings(), 5, nullptr));
  }
  if (r.device != nullptr && with_data) take_device_memory(r);
}

void fill(const vinci_run& r, size_t index, vinci_output& out) {
  const task::Buffer& b = r.tasks->buffers[r.outputs[index]];
  vinci_output o{};
  o.size = sizeof o;
  o.name = b.name.c_str();
  o.dtype = b.dtype.c_str();
  o.shape = r.output_shapes[index].data();
  o.dimensions = r.output_shapes[index].size();
  o.bytes = b.bytes;
  if (r.done == VINCI_OK && r.memory->with_data()) o.data = r.memory->host(r.outputs[index]).data();
  const size_t size = std::min(out.size, sizeof o);
  std::memcpy(&out, &o, size);
  out.size = size;
}

}  // namespace

std::unique_ptr<vinci_run> make_run(std::shared_ptr<const config::ChipConfig> chip,
                                    std::shared_ptr<const task::TaskStream> tasks, const vinci_options* options) {
  auto run = std::make_unique<vinci_run>();
  run->options = VINCI_OPTIONS_INIT;
  if (options != nullptr) {
    if (options->size < sizeof(size_t) + sizeof(vinci_mode)) fail(Fault::Input, "the size of the options is not set");
    std::memcpy(&run->options, options, std::min(options->size, sizeof *options));
  }
  if (run->options.mode > VINCI_MODE_TIMING) fail(Fault::Input, "there is no mode {}", int{run->options.mode});
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
using vinci::capi::need;

extern "C" {

vinci_status vinci_wait(vinci_run* run) {
  if (run == nullptr) return guarded([&] { need(run, "run"); });
  if (!run->done) {
    const std::scoped_lock lock(vinci::capi::turn());
    run->done = guarded([&] { vinci::capi::simulate(*run); });
    if (run->done != VINCI_OK) run->error = vinci_last_error();
    if (run->device != nullptr) run->device->run = nullptr;
    run->device = nullptr;
  }
  return run->done == VINCI_OK ? VINCI_OK : vinci::capi::failure(*run->done, run->error);
}

void vinci_cancel(vinci_run* run) { run->cancelled = true; }

void vinci_run_destroy(vinci_run* run) {
  if (run != nullptr && run->device != nullptr) run->device->run = nullptr;
  delete run;
}

uint64_t vinci_run_cycles(const vinci_run* run) { return run->result.cycles; }
double vinci_run_seconds(const vinci_run* run) { return run->result.seconds; }
uint64_t vinci_run_kernel_cycles(const vinci_run* run) { return run->result.kernel_cycles; }
uint64_t vinci_run_instructions(const vinci_run* run) { return run->result.instructions; }
const char* vinci_run_stats(const vinci_run* run) { return run->stats.c_str(); }
const char* vinci_run_findings(const vinci_run* run) { return run->findings.c_str(); }

vinci_status vinci_run_counter(const vinci_run* run, const char* path, uint64_t* value) {
  return guarded([&] {
    const nlohmann::ordered_json& stats = need(run, "run").result.stats;
    const std::string name = &need(path, "path");
    const nlohmann::ordered_json::json_pointer at("/" + name);
    if (!stats.contains(at) || !stats.at(at).is_number())
      vinci::fail(vinci::Fault::Input, "there is no counter '{}'", name);
    need(value, "value") = stats.at(at).get<uint64_t>();
  });
}

size_t vinci_run_output_count(const vinci_run* run) { return run->outputs.size(); }

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
