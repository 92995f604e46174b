// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/profile.h"

#include <algorithm>
#include <array>

#include "tools/profile/msprof_json.h"
#include "tools/profile/op_statistic.h"
#include "tools/profile/op_summary.h"
#include "tools/profile/step_trace.h"
#include "tools/profile/task_time.h"

namespace vinci::profile {
namespace {

// The text before and after the time.
struct Name {
  std::string_view before, after;
  std::string with(std::string_view timestamp) const { return fmt::format("{}{}{}", before, timestamp, after); }
};
constexpr Name kOpSummary{"op_summary_", ".csv"}, kTaskTime{"task_time_", ".csv"},
    kOpStatistic{"op_statistic_", ".csv"}, kStepTrace{"step_trace_", ".csv"}, kMsprof{"msprof_", ".json"},
    kSimulator{"OPPROF_", "_VINCI"};
constexpr std::array kNames{kOpSummary, kTaskTime, kOpStatistic, kStepTrace, kMsprof, kSimulator};

}  // namespace

bool is_timestamp(std::string_view text) {
  return text.size() == kTimestamp.size() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_profile_name(std::string_view name) {
  return std::ranges::any_of(kNames, [&](const Name& n) {
    return name.size() > n.before.size() + n.after.size() && name.starts_with(n.before) && name.ends_with(n.after) &&
           is_timestamp(name.substr(n.before.size(), name.size() - n.before.size() - n.after.size()));
  });
}

std::string simulator_folder(std::string_view timestamp) { return kSimulator.with(timestamp); }

Profile::Profile(const std::string& folder, std::string_view timestamp, Level level, const config::ChipConfig& chip,
                 const task::TaskStream& stream)
    : target_(chip, stream) {
  const auto path = [&](const Name& name) { return folder + "/" + name.with(timestamp); };
  fan_.writers.push_back(std::make_unique<OpSummary>(path(kOpSummary), target_));
  fan_.writers.push_back(std::make_unique<TaskTime>(path(kTaskTime), target_));
  fan_.writers.push_back(std::make_unique<OpStatistic>(path(kOpStatistic), target_));
  fan_.writers.push_back(std::make_unique<StepTrace>(path(kStepTrace), target_));
  if (level == Level::all) fan_.writers.push_back(std::make_unique<MsprofJson>(path(kMsprof), target_));
}

void Profile::Fan::task(const models::TaskRecord& record) {
  for (const auto& writer : writers)
    writer->task(record);
}

void Profile::commit() {
  order_.flush();
  for (const auto& writer : fan_.writers)
    writer->commit();
}

}  // namespace vinci::profile
