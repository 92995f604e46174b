// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "isa/base/types.h"

// Files that appear whole or not at all, and files read with a bound.
namespace vinci::io {

// An output file under a temporary name in its folder until commit() renames it; without commit() nothing is left
// behind and an old file of that name stays. A target that is no regular file (/dev/stdout, a pipe) is written
// directly.
class AtomicFile {
 public:
  // Throws Fault::Input when the file cannot be created there.
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Throws Fault::Limit when the bytes cannot be stored, for example on a full disk.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  // For writers that print; their errors are noticed by commit().
  std::FILE* stream() { return file_; }
  // The bytes are on disk and the file has its name when this returns.
  void commit();

 private:
  [[noreturn]] void fail_write(int error) const;

  std::string path_;       // as the user named it, for messages
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // "" when written directly
  std::FILE* file_ = nullptr;
};

void write_file_atomically(const std::string& path, std::string_view text);
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);

// The whole contents. Throws Fault::Input when the file is missing, unreadable, a folder, or larger than `max_bytes`.
std::string read_file(const std::string& path, u64 max_bytes = u64{1} << 30);

// The bytes of a text, for functions that read binary files.
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace vinci::io
