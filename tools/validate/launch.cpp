// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A kernel whose program does nothing: what a task takes at least.
#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

KernelStream launch_kernel(const Params& p, const config::ChipConfig& chip) {
  const std::string& cores = p.text("cores");
  if (cores != "cube" && cores != "vector") fail_at(Fault::Input, p.place(), "cores: cube or vector, not '{}'", cores);
  isa::ProgramBuilder b("launch", chip.arch);
  b.end();
  return {
      .code = b.finish(), .cube = cores == "cube", .blocks = static_cast<u32>(p.whole("blocks")), .l2 = l2_state(p)};
}

}  // namespace

Family launch() {
  return {.name = "launch",
          .doc = "a kernel that ends at once",
          .parameters = {{"cores", "", "vector", "cube or vector, where these are apart"},
                         {"blocks", "", "1", "of the launch"},
                         l2_parameter("own")},
          .metrics = kernel_metrics(),
          .kernel = launch_kernel,
          .measure = times_of(launch_kernel)};
}

}  // namespace vinci::validate
