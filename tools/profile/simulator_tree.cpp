// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/simulator_tree.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "isa/arch.h"
#include "isa/base/error.h"
#include "sim/trace/json_text.h"

namespace vinci::profile {
namespace {

using isa::PipeId;
using trace::json_string;

// By pipe, colours that Chrome trace viewers know; behind the last one they begin again.
constexpr std::array<std::string_view, 7> kColours{
    "thread_state_runnable", "rail_response", "rail_animation", "rail_idle", "rail_load", "startup", "good"};

// Of a track, "M", or of a further unit of a pipe, "M.2"; PipeId::ALL: of none.
PipeId pipe_of(std::string_view track) {
  return parse_enum<PipeId>(isa::kPipeNames, track.substr(0, track.find('.'))).value_or(PipeId::ALL);
}

constexpr usize kBufferBytes = 1 << 16;  // there is a file for each of up to hundreds of cores
constexpr u64 kInstructionBytes = 32;    // one instruction word

std::string made_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_at(Fault::Input, path, "cannot make the folder: {}", error.message());
  return path;
}

}  // namespace

SimulatorTree::Timeline::Timeline(const std::string& path) : file_(path, kBufferBytes) {
  file_.print("{{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":1,\"traceEvents\":[");
}

void SimulatorTree::Timeline::event(std::string_view text) {
  file_.print("{}\n{}", first_ ? "" : ",", text);
  first_ = false;
}

void SimulatorTree::Timeline::commit() {
  file_.print("\n]}}\n");
  file_.commit();
}

bool TreeFilter::shows_kernel(std::string_view task) const {
  return kernels.empty() || std::ranges::any_of(kernels, [&](const auto& name) { return task.starts_with(name); });
}

bool TreeFilter::shows_core(std::string_view name) const {
  if (cores.empty()) return true;
  const usize dot = std::min(name.rfind('.'), name.size());
  const usize digits = name.find_last_not_of("0123456789", dot - 1) + 1;
  return std::ranges::find(cores, std::stoul(std::string(name.substr(digits, dot - digits)))) != cores.end();
}

SimulatorTree::SimulatorTree(const std::string& folder, double hertz, u32 vectors_per_core, TreeFilter filter)
    : folder_(made_folder(folder)),
      hertz_(hertz),
      vectors_per_core_(vectors_per_core),
      filter_(std::move(filter)),
      all_(folder_ + "/trace.json") {}

// "core5.AIV" of a chip with two vector cores for each cube core is core2.veccore1. The text before "core", the
// name of a device, stays.
std::string SimulatorTree::core_name(std::string_view group) const {
  const usize kind = group.rfind('.');
  const usize digits = group.find_last_not_of("0123456789", kind - 1) + 1;
  const std::string_view before = group.substr(0, digits);
  const u32 id = static_cast<u32>(std::stoul(std::string(group.substr(digits, kind - digits))));
  if (group.ends_with(isa::name(isa::CoreKind::vector)))
    return fmt::format("{}{}.veccore{}", before, id / vectors_per_core_, id % vectors_per_core_);
  if (group.ends_with(isa::name(isa::CoreKind::cube))) return fmt::format("{}{}.cubecore0", before, id);
  return fmt::format("{}{}", before, id);
}

trace::TrackId SimulatorTree::track(std::string_view group, std::string_view name) {
  const PipeId pipe = pipe_of(name);
  Track track;
  const bool core = pipe != PipeId::ALL && std::ranges::any_of(isa::kCoreKindNames, [&](std::string_view kind) {
                      return group.ends_with("." + std::string(kind));
                    });
  if (core) {
    const std::string of = core_name(group);
    if (!filter_.shows_core(of)) {
      tracks_.emplace_back();
      return static_cast<trace::TrackId>(tracks_.size() - 1);
    }
    const auto it = std::ranges::find(cores_, of, &Core::name);
    track = {.core = static_cast<usize>(it - cores_.begin()), .pipe = pipe};
    if (it == cores_.end()) cores_.emplace_back().name = of;
  }
  tracks_.push_back(track);
  return static_cast<trace::TrackId>(tracks_.size() - 1);
}

void SimulatorTree::span(const trace::Span& s) {
  const Track& track = tracks_[s.track];
  if (!track.core || s.source.empty() || !filter_.shows_kernel(s.task)) return;
  Core& core = cores_[*track.core];
  const std::string source(s.source), lane(isa::row_of(track.pipe).lane);
  const std::string address = fmt::format("0x{:x}", s.pc * kInstructionBytes);
  const auto ns = [this](u64 cycle) { return static_cast<u64>(static_cast<double>(cycle) * (1e9 / hertz_)); };
  const u64 begin = ns(s.begin), length = ns(s.end) - begin;
  const std::string event = fmt::format(
      "{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":\"{}\",\"ts\":{}.{:03},\"dur\":{}.{:03},\"cname\":\"{}\","
      "\"args\":{{\"code\":{},\"detail\":{},\"pc_addr\":\"{}\"}}}}",
      json_string(s.name), json_string(core.name), lane, begin / 1000, begin % 1000, length / 1000, length % 1000,
      kColours[isa::index(track.pipe) % kColours.size()], json_string(fmt::format("{}:{}", source, s.line)),
      json_string(s.detail), address);
  all_.event(event);
  if (!core.timeline) core.timeline.emplace(made_folder(folder_ + "/" + core.name) + "/trace.json");
  core.timeline->event(event);

  const u64 cycles = s.end - s.begin;
  Instruction& instruction = core.instructions[{source, s.pc, lane, std::string(s.name), std::string(s.task)}];
  if (instruction.calls == 0) instruction.detail = s.detail;
  for (Cost* cost : {static_cast<Cost*>(&instruction), &core.lines[{source, s.line}]}) {
    ++cost->calls;
    cost->cycles += cycles;
  }
}

void SimulatorTree::write_tables(const Core& core) const {
  const std::string path = folder_ + "/" + core.name + "/" + core.name;
  io::TextFile instructions(path + "_instr_exe.csv", kBufferBytes);
  instructions.print("instr,addr,pipe,call_count,cycles,running_time(us),detail\n");
  for (const auto& [key, cost] : core.instructions) {
    const auto& [source, pc, lane, name, task] = key;
    instructions.print("{},0x{:x},{},{},{},{:.3f},{}\n", name, pc * kInstructionBytes, lane, cost.calls, cost.cycles,
                       microseconds(cost.cycles), io::csv_field(cost.detail));
  }
  instructions.commit();
  io::TextFile lines(path + "_code_exe.csv", kBufferBytes);
  lines.print("code,call_count,cycles,running_time(us)\n");
  for (const auto& [key, cost] : core.lines) {
    lines.print("{},{},{},{:.3f}\n", io::csv_field(fmt::format("{}:{}", key.first, key.second)), cost.calls,
                cost.cycles, microseconds(cost.cycles));
  }
  lines.commit();
}

void SimulatorTree::commit() {
  all_.commit();
  for (Core& core : cores_) {
    if (!core.timeline) continue;  // it ran nothing
    core.timeline->commit();
    write_tables(core);
  }
}

}  // namespace vinci::profile
