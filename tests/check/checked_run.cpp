// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/checked_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check/checker.h"
#include "isa/text/text.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

namespace vinci::test {

usize Lines::at(const std::string& tag) const {
  const auto it = std::ranges::find(lines, tag, &Line::tag);
  if (it == lines.end()) fail(Fault::Internal, "no line is called '{}'", tag);
  return static_cast<usize>(it - lines.begin());
}

void Lines::drop(const std::string& tag) { lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at(tag))); }

void Lines::replace(const std::string& tag, std::string text) { lines[at(tag)].text = std::move(text); }

void Lines::insert_after(const std::string& tag, std::string text, std::string new_tag) {
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at(tag) + 1), {std::move(text), std::move(new_tag)});
}

std::string Lines::text() const {
  std::string out;
  for (const Line& l : lines)
    out += l.text + "\n";
  return out;
}

bool Checked::has(isa::check::FaultId id) const {
  return std::ranges::any_of(findings, [&](const auto& f) { return f.id == id; });
}

std::string Checked::text() const {
  std::string out = fault.empty() ? "" : fault + "\n";
  for (const auto& f : findings)
    out += fmt::format("{}: {}\n", name(f.id), f.message);
  return out;
}

Checked check(const config::ChipConfig& chip, const task::TaskStream& stream, Mode mode) {
  Checked out;
  task::RunMemory memory(stream, mode != Mode::timing);
  isa::check::Checker checker(memory.gm());
  models::Options options{.max_cycles = 10'000'000, .checker = &checker};
  try {
    if (mode == Mode::functional) {
      models::run_functional(chip, stream, memory, options);
    } else {
      models::simulate(chip, stream, memory, options);
    }
  } catch (const Error& e) {
    out.fault = e.what();
  }
  out.findings = checker.findings().sorted();
  out.same_writes = checker.findings().same_writes();
  return out;
}

namespace {

// The buffers, a stream with a memset of each or a copy to it, and the launch.
void add_launch(task::TaskStream& out, task::KernelLaunch launch, const std::vector<DeviceBuffer>& buffers) {
  task::Stream& stream = out.streams.emplace_back();
  stream.name = "s";
  for (const DeviceBuffer& b : buffers) {
    launch.args.push_back(task::Slice{.buffer = static_cast<u32>(out.buffers.size())});
    out.buffers.push_back({.name = b.name, .bytes = b.bytes});
  }
  for (usize i = 0; i < buffers.size(); ++i) {
    const DeviceBuffer& b = buffers[i];
    const task::Slice dst = std::get<task::Slice>(launch.args[i]);
    if (!b.set) continue;
    if (!b.random) {
      stream.tasks.push_back(
          {.name = "set " + b.name, .op = task::MemsetAsync{.dst = dst, .bytes = b.bytes, .value = 0}});
      continue;
    }
    const auto from = static_cast<u32>(out.buffers.size());
    out.buffers.push_back(
        {.name = "host " + b.name, .place = task::Buffer::Place::host, .bytes = b.bytes, .random = true});
    stream.tasks.push_back(
        {.name = "set " + b.name, .op = task::MemcpyAsync{.dst = dst, .src = {.buffer = from}, .width = b.bytes}});
  }
  stream.tasks.push_back({.name = "launch", .op = launch});
}

}  // namespace

task::TaskStream launch_stream(const config::ChipConfig& chip, isa::CoreKind kind, const std::string& text,
                               const std::vector<DeviceBuffer>& buffers, u32 blocks) {
  task::TaskStream out;
  out.name = "checked";
  out.arch = chip.arch;
  const auto type = kind == isa::CoreKind::joint  ? task::KernelType::AI_CORE
                    : kind == isa::CoreKind::cube ? task::KernelType::AIC_ONLY
                                                  : task::KernelType::AIV_ONLY;
  out.kernels.push_back({.name = "k", .type = type, .program = isa::assemble(text, "k.s", chip.arch)});
  add_launch(out, {.kernel = 0, .block_dim = blocks, .args = {}}, buffers);
  return out;
}

task::TaskStream mix_stream(const config::ChipConfig& chip, const std::string& cube, const std::string& vector,
                            const std::vector<DeviceBuffer>& buffers, u32 blocks, u32 aivs) {
  task::TaskStream out;
  out.name = "checked";
  out.arch = chip.arch;
  out.kernels.push_back(
      {.name = "c", .type = task::KernelType::AIC_ONLY, .program = isa::assemble(cube, "c.s", chip.arch)});
  out.kernels.push_back(
      {.name = "v", .type = task::KernelType::AIV_ONLY, .program = isa::assemble(vector, "v.s", chip.arch)});
  add_launch(out, {.kernel = 0, .block_dim = blocks, .args = {}, .aivs = aivs, .aiv_kernel = 1}, buffers);
  return out;
}

config::ChipConfig mix_chip(u32 cube_cores, u32 aivs) {
  config::ChipConfig chip = round_chip(isa::Arch::c220);
  chip.ai_cores = cube_cores;
  chip.vector_cores = cube_cores * aivs;
  return chip;
}

}  // namespace vinci::test
