// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "isa/base/types.h"
#include "sim/io/folder_lock.h"

namespace vinci::ascendc {

// Contents of buffers next to a recording: app.vts has them in app.data/. A file is named by what it holds and is
// written before the task stream that names it, so a recording is there with all its data, or the one before it is,
// with its own. From the first file until remove_others() no other recording can write into the folder of data.
class DataFiles {
 public:
  // `recording`: the task stream.
  explicit DataFiles(const std::string& recording);

  // Whether so many bytes go into a file; the others are part of the task stream.
  bool takes(u64 bytes);
  // Writes a file, or finds one that holds the same; its name, relative to the folder of the recording. Throws
  // Fault::Limit where there is no room for it, Fault::Input where another recording writes into the folder of data, or
  // where that is a symbolic link, through which a task stream cannot name files.
  std::string keep(std::span<const std::byte> bytes);
  // Removes files of an earlier recording of that name, which must have been replaced. Leaves the folder of data alone
  // while another recording writes into it.
  void remove_others();
  // The folder of the recording.
  const std::string& folder() const { return folder_; }

 private:
  // Reserves the folder of data, once, and removes what a recording that was killed has left in it.
  void lock();

  std::string folder_, name_;  // name_: of the folder of data
  std::unique_ptr<io::FolderLock> lock_;
  std::set<std::string> kept_;
  u64 inside_ = 0, outside_ = 0;  // bytes
};

}  // namespace vinci::ascendc
