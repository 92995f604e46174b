// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "isa/base/error.h"

namespace vinci::io {

std::string reason(int error) { return std::generic_category().message(error); }

// O_NONBLOCK: opening a pipe must not wait for a writer.
InputFile::InputFile(const std::string& path, const std::string& name, Links links)
    : name_(name),
      fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::refuse ? O_NOFOLLOW : 0))) {
  // A socket cannot be opened at all.
  if (fd_ < 0 && errno == ENXIO) fail(Fault::Input, "cannot read '{}': it is not a regular file", name_);
  if (fd_ < 0) fail(Fault::Input, "cannot read '{}': {}", name_, reason(errno));
  struct stat info {};
  const bool known = ::fstat(fd_, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    size_ = static_cast<u64>(info.st_size);
    return;
  }
  ::close(fd_);
  fail(Fault::Input, "cannot read '{}': it is {}", name_,
       known && S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::check_range(u64 offset, u64 count) const {
  if (offset > size_ || count > size_ - offset) {
    fail(Fault::Input, "'{}' has {} bytes; [{}, +{}) is outside", name_, size_, offset, count);
  }
}

void InputFile::read(u64 offset, std::span<std::byte> out) const {
  check_range(offset, out.size());
  for (usize done = 0; done < out.size();) {
    const ssize_t n = ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(Fault::Input, "cannot read '{}': {}", name_, reason(errno));
    if (n == 0) fail(Fault::Input, "'{}' became shorter while it was read", name_);
    done += static_cast<usize>(n);
  }
}

std::vector<std::byte> InputFile::read(u64 offset, u64 count) const {
  check_range(offset, count);
  std::vector<std::byte> out(count);
  read(offset, out);
  return out;
}

std::string read_file(const std::string& path, u64 max_bytes) {
  const InputFile file(path);
  if (file.size() > max_bytes) {
    fail(Fault::Input, "'{}' has more than {} bytes, the most that is read here", path, max_bytes);
  }
  std::string contents(file.size(), '\0');
  file.read(0, {reinterpret_cast<std::byte*>(contents.data()), contents.size()});
  return contents;
}

}  // namespace vinci::io
