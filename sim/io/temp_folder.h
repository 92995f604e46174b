// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "sim/io/folder_lock.h"

namespace vinci::io {

// A new folder beneath that for temporary files, which goes away with the object. Those of the same prefix whose
// processes were killed go away when it is made.
class TempFolder {
 public:
  // The name of the folder around it begins with `prefix`. Throws Fault::Input when it cannot be made.
  explicit TempFolder(const std::string& prefix);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::unique_ptr<FolderLock> lock_;  // of the folder around `path_`, which others may lock
  std::filesystem::path path_;
};

}  // namespace vinci::io
