// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/task/content_name.h"
#include "sim/task/load.h"

namespace vinci::ascendc {
namespace {

namespace fs = std::filesystem;

constexpr u64 kLargestInside = u64{1} << 20, kMostInside = u64{16} << 20;  // bytes of one buffer, and of all

bool holds(const fs::path& path, std::span<const std::byte> bytes) {
  const io::InputFile file(path.string());
  if (file.size() != bytes.size()) return false;
  constexpr u64 kPiece = u64{1} << 20;
  for (u64 at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min<u64>(kPiece, bytes.size() - at));
    if (!std::ranges::equal(file.read(at, piece.size()), piece)) return false;
  }
  return true;
}

}  // namespace

DataFiles::DataFiles(const std::string& recording)
    : folder_(fs::path(recording).parent_path().string()), name_(fs::path(recording).stem().string() + ".data") {}

bool DataFiles::takes(u64 bytes) {
  if (bytes > kLargestInside || inside_ + bytes > kMostInside) return true;
  inside_ += bytes;
  return false;
}

std::string DataFiles::keep(std::span<const std::byte> bytes) {
  const fs::path folder = fs::path(folder_) / name_;
  const std::string hint = "; leave out the data with --no-data (VINCI_RECORD_DATA=0)";
  if (bytes.size() > task::kMaxBufferBytes - outside_) {
    fail(Fault::Limit, "the recording would have {} bytes of data; buffers of the host have at most {}{}",
         outside_ + bytes.size(), task::kMaxBufferBytes, hint);
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail_at(Fault::Input, folder.string(), "cannot make the folder for the data of the recording: {}", error.message());
  if (fs::is_symlink(folder, error)) {
    fail_at(Fault::Input, folder.string(),
            "the folder for the data of the recording is a symbolic link; remove it or record elsewhere");
  }
  lock();
  const std::string digits = task::content_digits(bytes);
  for (u32 n = 0;; ++n) {
    const std::string file = fmt::format("{}{}.bin", digits, n == 0 ? "" : fmt::format("-{}", n));
    const fs::path path = folder / file;
    if (fs::exists(path, error)) {
      if (!holds(path, bytes)) continue;  // another one of the same hash
    } else {
      const fs::space_info space = fs::space(folder, error);
      if (!error && space.available < bytes.size()) {
        fail(Fault::Limit, "the recording needs {} bytes for a buffer, and there are {} left for {}{}", bytes.size(),
             space.available, folder.string(), hint);
      }
      io::write_file_atomically(path.string(), bytes, io::Durability::durable);
    }
    if (kept_.insert(file).second) outside_ += bytes.size();
    return name_ + "/" + file;
  }
}

void DataFiles::lock() {
  if (lock_) return;
  const std::string folder = (fs::path(folder_) / name_).string();
  lock_ = std::make_unique<io::FolderLock>(folder);
  io::remove_abandoned(folder);
}

void DataFiles::remove_others() {
  const fs::path folder = fs::path(folder_) / name_;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return;
  try {
    lock();
  } catch (const Error&) {
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!task::digits_of_name(name).empty() && !kept_.contains(name)) fs::remove(entry.path(), error);
  }
  fs::remove(folder, error);  // where it is empty
  lock_.reset();
}

}  // namespace vinci::ascendc
