// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isa/base/types.h"

namespace vinci::task {

// No task stream, assembly file or program file that we read is longer.
inline constexpr u64 kMaxFileBytes = u64{64} << 20;

// The files that a task stream may name. All functions throw Fault::Input, without a location, where the name is not
// allowed or the file cannot be read.
class Files {
 public:
  virtual ~Files() = default;
  // Bytes of the file.
  virtual u64 size(const std::string& name) const = 0;
  // Bytes [offset, offset + count) of the file; all of them must exist.
  virtual std::vector<std::byte> read(const std::string& name, u64 offset, u64 count) const = 0;
};

// Files beneath one folder: relative names without "..", and no symbolic link that leads out of it.
class FolderFiles final : public Files {
 public:
  explicit FolderFiles(std::string folder) : folder_(std::move(folder)) {}
  u64 size(const std::string& name) const override;
  std::vector<std::byte> read(const std::string& name, u64 offset, u64 count) const override;

 private:
  std::string resolve(const std::string& name) const;

  std::string folder_;
};

// Files that live in memory, for tests and for task streams that must not name any (an empty one).
class MemoryFiles final : public Files {
 public:
  MemoryFiles() = default;
  explicit MemoryFiles(std::map<std::string, std::vector<std::byte>> files) : files_(std::move(files)) {}
  u64 size(const std::string& name) const override;
  std::vector<std::byte> read(const std::string& name, u64 offset, u64 count) const override;

 private:
  std::map<std::string, std::vector<std::byte>> files_;
};

// Why a name cannot name a file beneath a folder, or "".
std::string why_not_relative(const std::string& name);

// The whole of a regular file of at most kMaxFileBytes, wherever it is. Throws Fault::Input located at `path`.
std::vector<std::byte> read_whole_file(const std::string& path);

}  // namespace vinci::task
