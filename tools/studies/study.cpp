// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/task/run_memory.h"

namespace vinci::studies {
namespace {

bool is_kernel(const models::TaskTime& t) { return t.kind.starts_with("KERNEL") && t.kind != "KERNEL_AICPU"; }

config::ChipConfig load(const Definition& d, const Request& r, std::span<const std::string> more = {}) {
  std::vector<std::string> overrides = r.overrides;
  overrides.insert(overrides.end(), more.begin(), more.end());
  return config::load_chip(r.chip.empty() ? d.chip : r.chip, overrides);
}

template <class T>
std::vector<std::string_view> names_of(const std::vector<T>& list) {
  std::vector<std::string_view> names;
  for (const T& item : list)
    names.push_back(item.name);
  return names;
}

usize index_of(const auto& list, std::string_view name) {
  const auto names = names_of(list);
  return static_cast<usize>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

usize Run::kernels() const { return static_cast<usize>(std::ranges::count_if(result.tasks, is_kernel)); }

double Run::kernel_us() const {
  u64 sum = 0;
  for (const models::TaskTime& t : result.tasks)
    if (is_kernel(t)) sum += t.end - t.start;
  return us(sum);
}

double Run::kernel_span_us() const {
  u64 begin = ~u64{0}, end = 0;
  for (const models::TaskTime& t : result.tasks) {
    if (!is_kernel(t)) continue;
    begin = std::min(begin, t.start);
    end = std::max(end, t.end);
  }
  return end == 0 ? 0 : us(end - begin);
}

u64 Run::gm_read_bytes() const { return result.stats["l2"]["read_bytes"]; }

u64 Run::gm_write_bytes() const { return result.stats["l2"]["write_bytes"]; }

u64 Run::busy_cycles(isa::PipeId pipe) const {
  u64 sum = 0;
  for (const models::PipeTime& p : result.pipes)
    if (p.pipe == pipe) sum += p.busy;
  return sum;
}

Study::Study(Definition definition, Request request)
    : findings_(std::move(definition)), request_(std::move(request)), chip_(load(findings_.definition, request_)) {
  const Definition& d = findings_.definition;
  for (const Knob& k : d.knobs)
    knobs_.push_back(k.fallback);
  for (const auto& [name, text] : request_.set) {
    const std::string where = fmt::format("--set {}={}", name, text);
    const usize i = index_of(d.knobs, name);
    if (i == knobs_.size()) {
      fail_at(Fault::Input, where, "{} has no knob '{}' (it has {}){}; `vinci study {} --list` describes them", d.id,
              name, fmt::join(names_of(d.knobs), ", "), did_you_mean(name, names_of(d.knobs)), d.id);
    }
    if (const std::string why = d.knobs[i].why_not(text); !why.empty()) {
      fail_at(Fault::Input, where, "{}", why);
    }
    knobs_[i] = text;
  }
  if (request_.folder.empty()) return;
  locked_ = std::make_shared<io::LockedFolder>(request_.folder);
  std::error_code error;
  std::filesystem::remove(report_file(), error);  // a file that stays cannot be replaced either: writing it will fail
}

config::ChipConfig Study::chip_with(const std::vector<std::string>& overrides) const {
  return load(findings_.definition, request_, overrides);
}

const std::string& Study::value_of(std::string_view knob) const {
  const usize i = index_of(findings_.definition.knobs, knob);
  VINCI_CHECK(i < knobs_.size());
  return knobs_[i];
}

double Study::number(std::string_view knob) const { return std::strtod(value_of(knob).c_str(), nullptr); }

u64 Study::whole(std::string_view knob) const { return static_cast<u64>(number(knob)); }

const std::string& Study::choice(std::string_view knob) const { return value_of(knob); }

Run Study::simulate(std::string_view variant, const task::BuiltStream& built, const config::ChipConfig& chip,
                    bool with_data, Watchers watchers) const {
  Run out{.stream = {}, .result = {}, .hertz = chip.clock, .host = {}};
  task::RunMemory memory(built.stream(), with_data);
  models::Options options;
  options.interrupted = request_.interrupted;
  options.trace = watchers.trace;
  options.census = watchers.census;
  out.result = models::simulate(chip, built.stream(), memory, options);
  if (!request_.folder.empty()) {
    const std::string folder = fmt::format("{}/{}", request_.folder, variant);
    built.write(folder);
    if (chip.name != chip_.name) io::write_file_atomically(folder + "/chip.txt", chip.name + "\n");
    if (with_data) memory.write_outputs(folder);
  }
  out.stream = built.stream();
  for (task::Buffer& b : out.stream.buffers)
    b.data = {};  // what a run leaves is in `host`
  if (!with_data) return out;
  for (u32 i = 0; i < out.stream.buffers.size(); ++i) {
    if (out.stream.buffers[i].place != task::Buffer::Place::host) continue;
    const auto bytes = memory.host(i);
    out.host[out.stream.buffers[i].name] = {bytes.begin(), bytes.end()};
  }
  return out;
}

Run Study::run(std::string_view variant, const task::BuiltStream& stream, const config::ChipConfig& chip,
               trace::Sink* trace) const {
  return simulate(variant, stream, chip, true, {.trace = trace});
}

Run Study::count(std::string_view variant, const task::BuiltStream& stream, isa::Census& census) const {
  return simulate(variant, stream, chip_, true, {.census = &census});
}

Run Study::time(std::string_view variant, const task::BuiltStream& stream, const config::ChipConfig& chip) const {
  return simulate(variant, stream, chip, false, {});
}

void Study::measured(std::string_view criterion, double value) {
  const usize i = index_of(findings_.definition.criteria, criterion);
  VINCI_CHECK(i < findings_.values.size() && !findings_.values[i] && !std::isnan(value));
  findings_.values[i] = value;
}

void Study::fact(std::string_view what, double value, std::string_view unit) {
  findings_.facts.push_back({std::string(what), value, std::string(unit)});
}

std::function<void(usize)> Study::begun(usize all) const {
  if (!request_.progress && !request_.interrupted) return {};
  return [this, all](usize count) {
    if (request_.interrupted && request_.interrupted()) {
      fail(Fault::Limit, "interrupted when {} of {} variants had begun", count, all);
    }
    if (request_.progress) request_.progress(count, all);
  };
}

std::string Study::report() const {
  const Definition& d = findings_.definition;
  std::string out = fmt::format("{}  {}\n{}\nfrom {}\n\n", d.id, d.title, d.question, d.from);
  if (std::ranges::all_of(findings_.values, [](const auto& v) { return v.has_value(); })) {
    out += fmt::format("{}\n{}\n\n", findings_.answer(), d.advice);
  }
  out += fmt::format("on {}", chip_.name);
  for (usize i = 0; i < knobs_.size(); ++i)
    out += fmt::format("{}{}={}{}", i == 0 ? " with " : ", ", d.knobs[i].name, knobs_[i],
                       d.knobs[i].unit.empty() ? "" : " " + d.knobs[i].unit);
  out += "\n\n";
  for (const Fact& f : findings_.facts)
    out += fmt::format("  {:<58} {:>14.6g} {}\n", f.what, f.value, f.unit);
  out += fmt::format("\n{:<28} {:<10} {:>16} {:>14} {:<6}\n", "criterion", "kind", "bound", "measured", "");
  for (usize i = 0; i < d.criteria.size(); ++i) {
    const Criterion& c = d.criteria[i];
    const std::string value = findings_.values[i] ? fmt::format("{:.6g}", *findings_.values[i]) : "nothing";
    const bool holds = findings_.holds(i);
    out +=
        fmt::format("{:<28} {:<10} {:>16} {:>14} {:<6} {}\n", c.name, kCriterionKindNames[static_cast<usize>(c.kind)],
                    c.bound_text(), value, c.unit, holds ? "pass" : "FAIL");
    if (!holds) out += fmt::format("    {}\n", c.doc);
    if (!holds && !c.open.empty()) out += fmt::format("    open: {}\n", c.open);
  }
  return out;
}

const Entry& entry(std::string_view id) {
  const auto list = entries();
  const auto it = std::ranges::find(list, id, &Entry::id);
  if (it != list.end()) return *it;
  std::vector<std::string_view> ids;
  for (const Entry& e : list)
    ids.push_back(e.id);
  fail(Fault::Input, "there is no study '{}'{} (see `vinci study`)", id, did_you_mean(id, ids));
}

Study run_study(std::string_view id, const Request& request) {
  const Entry& e = entry(id);
  Study study(builtin_definition(e.id), request);
  e.run(study);
  return study;
}

}  // namespace vinci::studies
