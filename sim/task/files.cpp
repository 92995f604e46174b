// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "isa/base/error.h"
#include "sim/io/input_file.h"

namespace vinci::task {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string why_not_relative(const std::string& name) {
  if (name.empty()) return "the file name is empty";
  if (name.size() > 4096) return "the file name is longer than 4096 bytes";
  if (name.find('\0') != std::string::npos) return "the file name contains a NUL byte";
  const fs::path path(name);
  if (path.is_absolute()) return fmt::format("'{}' is an absolute path; name files relative to the task stream", name);
  if (std::find(path.begin(), path.end(), "..") != path.end()) {
    return fmt::format("'{}' contains '..'; only files beneath the folder of the task stream can be named", name);
  }
  return {};
}

std::string FolderFiles::resolve(const std::string& name) const {
  if (const std::string why = why_not_relative(name); !why.empty()) fail(Fault::Input, "{}", why);
  std::error_code error;
  const fs::path root = fs::canonical(folder_.empty() ? fs::path(".") : fs::path(folder_), error);
  if (error) fail(Fault::Input, "cannot open folder '{}': {}", folder_, error.message());
  const fs::path path = fs::weakly_canonical(root / name, error);
  if (error) fail(Fault::Input, "cannot read '{}': {}", name, error.message());
  if (std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first != root.end()) {
    fail(Fault::Input, "'{}' is a symbolic link that leaves the folder of the task stream", name);
  }
  return path.string();
}

// The canonical path holds no links any more; Links::refuse refuses one that appears in between.
u64 FolderFiles::size(const std::string& name) const {
  return io::InputFile(resolve(name), name, io::InputFile::Links::refuse).size();
}

std::vector<std::byte> FolderFiles::read(const std::string& name, u64 offset, u64 count) const {
  return io::InputFile(resolve(name), name, io::InputFile::Links::refuse).read(offset, count);
}

u64 MemoryFiles::size(const std::string& name) const {
  if (const std::string why = why_not_relative(name); !why.empty()) fail(Fault::Input, "{}", why);
  const auto it = files_.find(name);
  if (it == files_.end()) fail(Fault::Input, "cannot read '{}': No such file or directory", name);
  return it->second.size();
}

std::vector<std::byte> MemoryFiles::read(const std::string& name, u64 offset, u64 count) const {
  const u64 bytes = size(name);
  if (offset > bytes || count > bytes - offset) {
    fail(Fault::Input, "'{}' has {} bytes; [{}, +{}) is outside", name, bytes, offset, count);
  }
  const std::vector<std::byte>& all = files_.at(name);
  return {all.begin() + static_cast<std::ptrdiff_t>(offset), all.begin() + static_cast<std::ptrdiff_t>(offset + count)};
}

std::vector<std::byte> read_whole_file(const std::string& path) {
  try {
    const io::InputFile file(path);
    if (file.size() > kMaxFileBytes) {
      fail(Fault::Input, "the file has {} bytes; at most {} are read", file.size(), kMaxFileBytes);
    }
    return file.read(0, file.size());
  } catch (const Error& e) {
    throw Error(e.fault(), e.message(), path);
  }
}

}  // namespace vinci::task
