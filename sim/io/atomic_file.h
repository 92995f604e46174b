// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "isa/base/types.h"
#include "sim/io/input_file.h"

// Files that appear whole or not at all.
namespace vinci::io {

// What a crash of the machine may cost. A process that is killed costs neither.
enum class Durability : u8 {
  rebuildable,  // the file may be lost: the same command makes it again
  durable,      // commit() returns when the disk has the file (fsync of the file and of its folder)
};

// An output file under a temporary name in its folder until commit() renames it. Without commit() an old file of that
// name stays and the temporary file is removed; remove_abandoned() removes those of processes that were killed. A
// target that is not a regular file (/dev/stdout, a pipe) is written directly.
class AtomicFile {
 public:
  // The temporary file is in `temporary_folder`, if that is given and on the same file system, else next to `path`:
  // remove_abandoned() of the folder of a run then finds those of its sub-folders. Throws Fault::Input when the file
  // cannot be created there.
  explicit AtomicFile(std::string path, Durability durability = Durability::rebuildable,
                      const std::string& temporary_folder = {});
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Throws Fault::Limit when the bytes cannot be stored, for example on a full disk.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  // For writers that print; their errors are noticed by commit().
  std::FILE* stream() { return file_; }
  // Gives the file its name. Throws Fault::Limit, with the reason of the first write that failed, when the bytes cannot
  // be stored. To be called at most once.
  void commit();

 private:
  void open_temporary(const std::string& folder);
  [[noreturn]] void fail_write(int error);

  std::string path_;       // as the user named it, for messages
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // "" when written directly
  Durability durability_;
  int first_error_ = 0;
  int fd_ = -1;  // of file_
  std::FILE* file_ = nullptr;
};

void write_file_atomically(const std::string& path, std::string_view text,
                           Durability durability = Durability::rebuildable);
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes,
                           Durability durability = Durability::rebuildable);

// Removes the temporary files of a folder whose AtomicFile ended without its destructor: the process was killed. Files
// of processes that run, here or in another container, stay.
void remove_abandoned(const std::string& folder);
// The same in the folder of a file.
void remove_abandoned_beside(const std::string& file);

}  // namespace vinci::io
