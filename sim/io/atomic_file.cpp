// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Where a write to `path` really goes; a link that leads nowhere yet stays as it is.
std::string resolve(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// The entry of a renamed file survives a crash only when its folder is on disk too; not every file system can do that.
void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(resolve(path_)) {
  if (path_.empty()) fail(Fault::Input, "the name of an output file is empty");
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail(Fault::Input, "cannot write '{}': it is a folder", path_);

  int fd = -1;
  if (exists && !S_ISREG(info.st_mode)) {
    fd = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    const std::filesystem::path target(target_);
    // The process id only keeps two runs apart; it is in no output.
    const std::string stem = target.filename().string().substr(0, 200) + "." + std::to_string(::getpid());
    for (unsigned n = 0; n < 1000 && fd < 0; ++n) {
      temporary_ = (target.parent_path() / ("." + stem + "." + std::to_string(n) + ".tmp")).string();
      fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd < 0 && errno != EEXIST) break;
    }
  }
  if (fd < 0) {
    const int error = errno;
    temporary_.clear();
    fail(Fault::Input, "cannot write '{}': {}", path_, reason(error));
  }
  file_ = ::fdopen(fd, "wb");
  if (file_ == nullptr) {
    ::close(fd);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    fail(Fault::Limit, "cannot write '{}': out of memory", path_);
  }
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail_write(int error) const { fail(Fault::Limit, "cannot write '{}': {}", path_, reason(error)); }

void AtomicFile::write(std::string_view text) {
  VINCI_CHECK(file_ != nullptr);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail_write(errno);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::commit() {
  VINCI_CHECK(file_ != nullptr);
  if (std::ferror(file_) != 0) fail_write(EIO);
  if (std::fflush(file_) != 0) fail_write(errno);
  if (!temporary_.empty() && ::fsync(::fileno(file_)) != 0) fail_write(errno);
  const int closed = std::fclose(file_);
  file_ = nullptr;
  if (closed != 0) fail_write(errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_write(errno);
  temporary_.clear();
  sync_folder(std::filesystem::path(target_).parent_path());
}

void write_file_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string read_file(const std::string& path, u64 max_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(Fault::Input, "cannot read '{}': {}", path, reason(errno));
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};

  struct stat info {};
  if (::fstat(fd, &info) != 0) fail(Fault::Input, "cannot read '{}': {}", path, reason(errno));
  if (S_ISDIR(info.st_mode)) fail(Fault::Input, "cannot read '{}': it is a folder", path);
  const auto check_size = [&](u64 size) {
    if (size > max_bytes)
      fail(Fault::Input, "'{}' has more than {} bytes, the most that is read here", path, max_bytes);
  };
  const u64 expected = S_ISREG(info.st_mode) ? static_cast<u64>(info.st_size) : 0;
  check_size(expected);

  // The size is only a hint: the file may grow, and a pipe has none.
  std::string contents(static_cast<usize>(expected) + 1, '\0');
  usize used = 0;
  while (true) {
    if (used == contents.size()) contents.resize(contents.size() + std::max<usize>(contents.size() / 2, 65536));
    const ssize_t n = ::read(fd, contents.data() + used, contents.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(Fault::Input, "cannot read '{}': {}", path, reason(errno));
    if (n == 0) break;
    used += static_cast<usize>(n);
    check_size(used);
  }
  contents.resize(used);
  return contents;
}

}  // namespace vinci::io
