// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

namespace vinci::io {

// What the system calls an error number, for messages: "No such file or directory".
std::string reason(int error);

// An open regular file. Everything that reads a file named by a user opens it here: a pipe, a device or a socket is
// refused at once, because it may never end or never answer.
class InputFile {
 public:
  enum class Links : u8 { follow, refuse };  // what to do where the path itself is a symbolic link

  // `name` is what messages call the file. Throws Fault::Input when it cannot be opened or is not a regular file.
  InputFile(const std::string& path, const std::string& name, Links links = Links::follow);
  explicit InputFile(const std::string& path) : InputFile(path, path) {}
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  u64 size() const { return size_; }
  // Bytes [offset, offset + out.size()). Throws Fault::Input where the file does not have them.
  void read(u64 offset, std::span<std::byte> out) const;
  std::vector<std::byte> read(u64 offset, u64 count) const;

 private:
  void check_range(u64 offset, u64 count) const;

  std::string name_;
  int fd_ = -1;
  u64 size_ = 0;
};

// The whole contents. Throws Fault::Input when the file is missing, unreadable, not a regular file, or larger than
// `max_bytes`.
std::string read_file(const std::string& path, u64 max_bytes = u64{1} << 30);

// The bytes of a text, for functions that read binary files.
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace vinci::io
