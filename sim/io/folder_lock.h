// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

namespace vinci::io {

// Reserves an output folder for one writer, for as long as the object and its process live. The lock is one of the
// folder itself (flock), so it leaves no file behind and needs no clean-up after a process that was killed.
class FolderLock {
 public:
  // Throws Fault::Input, located at the folder, when another writer holds it. On file systems without locks nothing is
  // reserved.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace vinci::io
