// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/outputs.h"

#include "sim/config/load.h"
#include "sim/task/run_memory.h"

namespace vinci::results {

std::vector<ShadowOutput> shadow_of(const isa::Census* census, const task::TaskStream& stream,
                                    const task::RunMemory& memory) {
  if (census == nullptr || census->shadow == nullptr) return {};
  return shadow_outputs(*census, stream, memory);
}

constinit const OutputFile files::chip_yaml{.name = "chip.yaml",
                                            .exists = [](const EndedRun&) { return true; },
                                            .contents = [](const EndedRun& r) { return config::write_chip(r.chip); },
                                            .early = true};

}  // namespace vinci::results
