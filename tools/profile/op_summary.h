// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>

#include "sim/io/text_file.h"
#include "tools/profile/target.h"
#include "tools/profile/writer.h"

namespace vinci::profile {

// op_summary_<time>.csv: a row for each execution of an operator, with the counters of its cores (metric group
// PipeUtilization). Columns as of the vendor's exporter for split cores (910B) and for joint ones (910A, 310P).
class OpSummary final : public Writer {
 public:
  OpSummary(const std::string& path, const Target& target);

  void task(const models::TaskRecord& record) override;
  void commit() override { file_.commit(); }

 private:
  const Target& target_;
  io::TextFile file_;
  struct Latest {
    u64 start = 0, duration = 0;
  };
  std::map<u32, Latest> latest_;  // by device
};

}  // namespace vinci::profile
