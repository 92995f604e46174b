// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/profile/start_order.h"
#include "tools/profile/target.h"
#include "tools/profile/writer.h"

// The files that the vendor's profiler leaves of a run, with its names and columns: facts of the public sources of
// msprof (Ascend, Mulan PSL v2). Times count from simulated time zero; none is that of a clock on the wall.
namespace vinci::profile {

// The time in the names of files where none is given: fixed, so that runs can be compared.
inline constexpr std::string_view kTimestamp = "19700101000000";

// Whether a text can be the time in the name of a file: 14 digits, YYYYMMDDhhmmss.
bool is_timestamp(std::string_view text);

enum class Level : u8 {
  csv,  // op_summary, op_statistic, task_time, step_trace
  all,  // and msprof_<time>.json
};

// Writes the files as tasks end; they appear with commit().
class Profile final : public models::TaskSink {
 public:
  // `chip` and `stream` must outlive it.
  Profile(const std::string& folder, std::string_view timestamp, Level level, const config::ChipConfig& chip,
          const task::TaskStream& stream);

  void task(const models::TaskRecord& record) override { order_.task(record); }
  void commit();

 private:
  class Fan final : public models::TaskSink {
   public:
    void task(const models::TaskRecord& record) override;
    std::vector<std::unique_ptr<Writer>> writers;
  };
  // Tasks that are held back until earlier ones have ended; a record takes some 400 B.
  static constexpr usize kHeldTasks = 1 << 16;

  Target target_;
  Fan fan_;
  StartOrder order_{fan_, kHeldTasks};
};

// Whether a file or folder of this name in an output folder is one that a profile of any time leaves.
bool is_profile_name(std::string_view name);
// The folder of the simulator's files: OPPROF_<time>_VINCI.
std::string simulator_folder(std::string_view timestamp);

}  // namespace vinci::profile
