// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"

namespace vinci::io {
namespace {

// The folder itself, for a member that locks it.
const std::string& made(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder, "cannot make the output folder: {}", error.message());
  return folder;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, Use use)
    : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const int kind = use == Use::write ? LOCK_EX : LOCK_SH;
  if (fd_ < 0 || ::flock(fd_, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(fd_);
  fail_at(Fault::Input, folder, "another process of vinci {} this folder; wait for its end or choose another folder",
          use == Use::write ? "uses" : "writes into");
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

LockedFolder::LockedFolder(const std::string& folder) : path_(folder), lock_(made(folder)) { remove_abandoned(folder); }

}  // namespace vinci::io
