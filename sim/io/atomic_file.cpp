// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

constexpr std::string_view kTemporarySuffix = ".vinci-tmp";

// Where the temporary file of `target` is: in `wanted`, if a rename can lead from there to the target.
std::filesystem::path temporary_folder_of(const std::filesystem::path& target, const std::string& wanted) {
  const std::filesystem::path beside = target.parent_path();
  struct stat a {
  }, b{};
  const bool same = !wanted.empty() && ::stat(wanted.c_str(), &a) == 0 &&
                    ::stat(beside.empty() ? "." : beside.c_str(), &b) == 0 && a.st_dev == b.st_dev;
  return same ? std::filesystem::path(wanted) : beside;
}

// The n-th temporary name for a file. The process id only makes collisions rare; it is in no output.
std::filesystem::path temporary_name(const std::filesystem::path& folder, const std::filesystem::path& target,
                                     unsigned n) {
  const std::string stem = target.filename().string().substr(0, 200);
  return folder / fmt::format(".{}.{}.{}{}", stem, ::getpid(), n, kTemporarySuffix);
}

// An AtomicFile holds a lock on its temporary file, which ends with the process.
bool take_lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// Creates and locks a file of this name; -1 with errno EEXIST where the name is taken, also by remove_abandoned(),
// which can come between creating and locking.
int create_locked(const char* name) {
  const int fd = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return fd;
  struct stat info {};
  if (take_lock(fd) && ::fstat(fd, &info) == 0 && info.st_nlink != 0) return fd;
  ::close(fd);
  errno = EEXIST;
  return -1;
}

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

AtomicFile::AtomicFile(std::string path, Durability durability, const std::string& temporary_folder)
    : path_(std::move(path)), target_(resolve(path_)), durability_(durability) {
  if (path_.empty()) fail(Fault::Input, "the name of an output file is empty");
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail(Fault::Input, "cannot write '{}': it is a folder", path_);

  if (exists && !S_ISREG(info.st_mode)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    open_temporary(temporary_folder);
  }
  if (fd_ < 0) fail(Fault::Input, "cannot write '{}': {}", path_, reason(errno));
  file_ = ::fdopen(fd_, "wb");
  if (file_ == nullptr) {
    ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    fail(Fault::Limit, "cannot write '{}': out of memory", path_);
  }
}

void AtomicFile::open_temporary(const std::string& folder) {
  const std::filesystem::path where = temporary_folder_of(target_, folder);
  for (unsigned n = 0; n < 1000 && fd_ < 0; ++n) {
    const std::string name = temporary_name(where, target_, n).string();
    fd_ = create_locked(name.c_str());
    if (fd_ >= 0) temporary_ = name;
    if (fd_ < 0 && errno != EEXIST) return;
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (file_ != nullptr) std::fclose(file_);
}

void AtomicFile::fail_write(int error) {
  if (first_error_ == 0) first_error_ = error;
  fail(Fault::Limit, "cannot write '{}': {}", path_, reason(first_error_));
}

void AtomicFile::write(std::string_view text) {
  VINCI_CHECK(file_ != nullptr);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail_write(errno);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// The file is renamed while it is open, so that its lock holds until it has its name.
void AtomicFile::commit() {
  VINCI_CHECK(file_ != nullptr);
  if (std::ferror(file_) != 0) fail_write(EIO);
  if (std::fflush(file_) != 0) fail_write(errno);
  const bool sync = durability_ == Durability::durable && !temporary_.empty();
  if (sync && ::fsync(fd_) != 0) fail_write(errno);
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) fail_write(errno);
  temporary_.clear();
  const int closed = std::fclose(file_);
  file_ = nullptr;
  if (closed != 0) fail_write(errno);
  if (sync) sync_folder(std::filesystem::path(target_).parent_path());
}

void write_file_atomically(const std::string& path, std::string_view text, Durability durability) {
  AtomicFile file(path, durability);
  file.write(text);
  file.commit();
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes, Durability durability) {
  write_file_atomically(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), durability);
}

void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(kTemporarySuffix) || !entry.is_regular_file(error)) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(fd);
  }
}

void remove_abandoned_beside(const std::string& file) {
  const std::string folder = std::filesystem::path(resolve(file)).parent_path().string();
  remove_abandoned(folder.empty() ? "." : folder);
}

}  // namespace vinci::io
