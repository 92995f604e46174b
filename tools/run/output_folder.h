// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/io/folder_lock.h"
#include "sim/task/task.h"

namespace vinci::run {

// Where one run leaves its files. The constructor makes the folder, reserves it for this run, refuses outputs that
// would replace inputs, leave the folder or cannot be created, and removes the files of an earlier run, so that a run
// that fails is not mistaken for the one before. A second run into the same folder is refused while this object lives.
class OutputFolder {
 public:
  // `folder` may be empty: then out/<folder>-<name> of the task stream, so that gemm.yaml of two folders do not share
  // one, or out/<name> where its path names no folder. `chip` is the chip as the user named it, a built-in name or a
  // file. `reserved`: a folder that the caller has reserved; it may be this one.
  OutputFolder(const std::string& folder, const std::string& task_file, const std::string& chip,
               const task::TaskStream& stream, std::shared_ptr<const io::LockedFolder> reserved = nullptr);

  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  // The parts of the constructor, in its order.
  void refuse_inputs(const std::vector<std::string>& written, const std::vector<std::string>& read) const;
  void prepare_outputs(const std::string& task_file, const task::TaskStream& stream) const;
  void remove_earlier(const std::vector<std::string>& written) const;

  std::string folder_;
  std::shared_ptr<const io::LockedFolder> lock_;
};

}  // namespace vinci::run
