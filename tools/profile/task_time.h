// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/io/text_file.h"
#include "tools/profile/target.h"
#include "tools/profile/writer.h"

namespace vinci::profile {

// task_time_<time>.csv: a row for each execution of any task.
class TaskTime final : public Writer {
 public:
  TaskTime(const std::string& path, const Target& target) : target_(target), file_(path) {
    file_.print("Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n");
  }

  void task(const models::TaskRecord& r) override {
    file_.print("{},{},{},{},{},{},{},{}\n", r.device, io::csv_field(r.name), r.kind, r.stream_id, task_id(r),
                microseconds(target_.duration(r)), microseconds(target_.nanoseconds(r.start)),
                microseconds(target_.nanoseconds(r.end)));
  }
  void commit() override { file_.commit(); }

 private:
  const Target& target_;
  io::TextFile file_;
};

}  // namespace vinci::profile
