// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The last kernel of a task stream in a file: one that a program in Ascend C has recorded, or any other.
#include <filesystem>

#include "sim/task/load.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

Values measure_recorded(const Params& p, const config::ChipConfig& chip) {
  const std::filesystem::path folder = std::filesystem::path(p.place().substr(0, p.place().rfind(':'))).parent_path();
  return last_kernel_times(task::load_task_stream((folder / p.text("stream")).string()), chip, p.place());
}

}  // namespace

Family recorded() {
  return {.name = "recorded",
          .doc = "the last kernel of a task stream, such as a program in Ascend C records",
          .parameters = {{"stream", "", "", ".vts or .yaml, relative to the file of the case"}},
          .metrics = kernel_metrics(),
          .measure = measure_recorded};
}

}  // namespace vinci::validate
