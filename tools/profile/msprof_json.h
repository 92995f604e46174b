// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/io/text_file.h"
#include "tools/profile/target.h"
#include "tools/profile/writer.h"

namespace vinci::profile {

// msprof_<time>.json: the tasks as Chrome trace events in the processes and with the arguments that MindStudio Insight
// expects: CANN (the host hands a task over), Ascend Hardware (it runs; a thread for each stream), Communication
// (collectives) and AI Core Freq. Arrows HostToDevice lead from the host to the device; tasks of a model, which no host
// call hands over, have none.
class MsprofJson final : public Writer {
 public:
  MsprofJson(const std::string& path, const Target& target);

  void task(const models::TaskRecord& record) override;
  void commit() override;

 private:
  struct Process {
    std::string_view name;
    u32 sort_index = 0;
    u32 device = 0;
    u64 pid() const;
  };
  static const Process kHost;
  static Process hardware(u32 device);
  static Process communication(u32 device);
  static Process frequency(u32 device);

  void describe(const Process& process);
  void describe_thread(const Process& process, u32 tid, std::string_view name);
  void describe_streams();
  void host_call(const models::TaskRecord& r, u64 connection);
  void frequency_point(u32 device, u64 ns);

  const Target& target_;
  io::TextFile file_;
  u64 connections_ = 0;
  u64 end_ = 0;  // nanoseconds
};

}  // namespace vinci::profile
