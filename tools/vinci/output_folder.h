// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "sim/task/task.h"

namespace vinci::cli {

// Where one run leaves its files. Making it makes the folder, refuses to overwrite what the run reads, and removes what
// an earlier run left there, so that a run that fails is not mistaken for the one before.
class OutputFolder {
 public:
  // `folder` may be empty: then out/<folder>-<name> of the task stream, so that gemm.yaml of two folders do not share
  // one, or out/<name> where its path names no folder. `chip` is the chip as the user named it, a built-in name or a
  // file.
  OutputFolder(const std::string& folder, const std::string& task_file, const std::string& chip,
               const task::TaskStream& stream);

  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

}  // namespace vinci::cli
