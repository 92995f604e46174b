// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What must not take more memory of the host than it is worth.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tests/speed/problems.h"

namespace vinci::test {
namespace {

// The most memory that the process has held since reset_peak(), in MiB.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib / 1024;
  }
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

// A loop of ten vector instructions on each vector core of each device.
Problem on_devices(u32 devices) {
  Problem p{.chip = config::load_chip("ascend-910b1")};
  p.stream.arch = p.chip.arch;
  p.stream.devices = devices;
  p.stream.kernels.push_back(
      {.name = "loop",
       .type = task::KernelType::AIV_ONLY,
       .program = isa::assemble("  mov X0, 0\nloop:\n  vadd.f16 1024, 0, 0, 4, 1, 1, 1, 8, 8, 8\n"
                                "  add X0, X0, 1\n  blt X0, 10, loop\n  end\n",
                                "loop.s", p.chip.arch)});
  const task::KernelLaunch launch{.block_dim = p.chip.vector_cores};
  for (u32 d = 0; d < devices; ++d)
    p.stream.streams.push_back({.name = fmt::format("s{}", d), .tasks = {{.name = "loop", .op = launch}}, .device = d});
  return p;
}

// In a run of time only.
double peak_of(const Problem& p) {
  reset_peak();
  task::RunMemory memory(p.stream, false);
  models::simulate(p.chip, p.stream, memory, {.threads = 1});
  return peak_mib();
}

TEST(Growth, ADeviceTakesLittleMemory) {
#if defined(VINCI_SANITIZED)
  GTEST_SKIP() << "memory of the sanitizer comes on top";
#endif
  constexpr u32 kMore = 32;
  const Problem one = on_devices(1), many = on_devices(1 + kMore);
  const double few = peak_of(one);
  const double each = (peak_of(many) - few) / kMore;
  RecordProperty("MiB_of_a_device", fmt::format("{:.2f}", each));
  EXPECT_GT(each, 0.1);  // else the peak of the process is not what was measured
  EXPECT_LT(each, 3) << "MiB";
}

}  // namespace
}  // namespace vinci::test
