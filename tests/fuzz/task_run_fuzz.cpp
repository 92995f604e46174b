// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A task stream that loads runs to its end, or to an error that says what is wrong, in each mode. The first byte
// chooses
// --check and the number of threads.
#include <cstdlib>
#include <map>

#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"

namespace {

using namespace vinci;

// A small chip of each architecture, so that an execution takes milliseconds.
const config::ChipConfig& chip_for(isa::Arch arch) {
  static std::map<isa::Arch, config::ChipConfig> chips;
  const auto known = chips.find(arch);
  if (known != chips.end()) return known->second;
  const char* const name = arch == isa::Arch::m100   ? "ascend-310"
                           : arch == isa::Arch::c100 ? "ascend-910a"
                           : arch == isa::Arch::m200 ? "ascend-310p3"
                                                     : "tiny";
  config::ChipConfig chip = config::load_chip(name);
  chip.ai_cores = std::min<u32>(chip.ai_cores, 2);
  return chips.emplace(arch, std::move(chip)).first->second;
}

// Steps of a host thread: those of a loop count for each turn.
double steps_of(const std::vector<task::HostStep>& steps, usize begin, usize end) {
  double out = 0;
  for (usize i = begin; i < end; ++i, ++out) {
    if (const auto* loop = std::get_if<task::HostRepeat>(&steps[i])) {
      out += static_cast<double>(loop->times) * (1 + steps_of(steps, i + 1, i + 1 + loop->length));
      i += loop->length;
    }
  }
  return out;
}

// Whether the work of a run is small enough for a fuzzer; limits of the format are tested elsewhere.
bool small(const task::TaskStream& stream) {
  u64 bytes = 0, blocks = 0;
  for (const task::Buffer& b : stream.buffers)
    bytes += std::min<u64>(b.bytes, 1 << 30);
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks) {
      if (const auto* launch = std::get_if<task::KernelLaunch>(&t.op)) blocks += launch->block_dim;
    }
  }
  double steps = 0;
  for (const task::HostThread& t : stream.host.threads)
    steps += steps_of(t.steps, 0, t.steps.size());
  return bytes <= 1 << 20 && blocks <= 64 && stream.devices <= 4 && steps <= 50'000;
}

template <class F>
void run(const task::TaskStream& stream, bool with_data, u8 choice, F&& simulate) {
  try {
    task::RunMemory memory(stream, with_data);
    isa::check::Checker checker(memory.gm());
    models::Options options{.max_cycles = 20'000, .progress = {}, .threads = 1u + choice % 2};
    if (choice & 2) options.checker = &checker;
    simulate(chip_for(stream.arch), stream, memory, options);
  } catch (const Error& e) {
    if (e.fault() == Fault::Internal) throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, usize size) {
  if (size == 0) return 0;
  task::TaskStream stream;
  try {
    stream =
        task::parse_task_stream({reinterpret_cast<const std::byte*>(data) + 1, size - 1}, "fuzz", task::MemoryFiles());
  } catch (const Error& e) {
    if (e.fault() != Fault::Input && e.fault() != Fault::Unsupported) throw;
    return 0;
  }
  if (!small(stream)) return 0;
  run(stream, true, data[0], models::run_functional);
  run(stream, true, data[0], models::simulate);
  run(stream, false, data[0], models::simulate);
  return 0;
}
