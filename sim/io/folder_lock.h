// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/base/types.h"

namespace vinci::io {

// Reserves a folder for one writer or for several readers, for as long as the object and its process live. The lock is
// one of the folder itself (flock), so it leaves no file behind and needs no clean-up after a process that was killed.
class FolderLock {
 public:
  enum class Use : u8 { write, read };

  // Throws Fault::Input, located at the folder, when others use it. Nothing is reserved on file systems without locks,
  // and where there is no such folder.
  explicit FolderLock(const std::string& folder, Use use = Use::write);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

// A folder that gets the files of one writer: made where it is missing, reserved, and without the temporary files of
// writers that were killed.
class LockedFolder {
 public:
  // Throws Fault::Input, located at the folder, when it cannot be made or others use it.
  explicit LockedFolder(const std::string& folder);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FolderLock lock_;
};

}  // namespace vinci::io
