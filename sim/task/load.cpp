// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/load.h"

#include <algorithm>
#include <filesystem>

#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "sim/task/content_name.h"
#include "sim/task/draft.h"
#include "sim/task/locate.h"

namespace vinci::task {

TaskStream load_task_stream(const std::string& path) {
  const std::vector<std::byte> bytes = read_whole_file(path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  TaskStream stream = parse_task_stream(bytes, path, FolderFiles(folder));
  stream.folder = folder;
  return stream;
}

namespace {

// Reads either spelling. What is wrong with it is in the draft.
Draft read_draft(std::span<const std::byte> bytes, const std::string& name, const Files& files) {
  if (bytes.size() > kMaxFileBytes) {
    fail_at(Fault::Input, name, "the file has {} bytes; at most {} are read", bytes.size(), kMaxFileBytes);
  }
  Draft draft;
  if (is_vts(bytes)) {
    read_vts(bytes, name, files, draft);
  } else if (name.ends_with(".vts")) {
    fail_at(Fault::Input, name, "not a binary task stream: bytes 4 to 7 are not 'VNTS'");
  } else {
    read_yaml({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name, files, draft);
  }
  return draft;
}

}  // namespace

std::string locate(const std::string& path, const Path& part) {
  const std::vector<std::byte> bytes = read_whole_file(path);
  return read_draft(bytes, path, FolderFiles(std::filesystem::path(path).parent_path().string())).locator->at(part);
}

TaskStream parse_task_stream(std::span<const std::byte> bytes, const std::string& name, const Files& files) {
  Draft draft = read_draft(bytes, name, files);
  check_rest(draft.stream, *draft.locator, draft.problems);
  draft.problems.throw_if_any();
  draft.stream.places.file = std::filesystem::path(name).filename().string();
  return std::move(draft.stream);
}

void verify(TaskStream& stream, const std::string& name, const Files& files) {
  config::Problems problems;
  check_buffers(stream, PathLocator(name), files, problems);
  check_rest(stream, PathLocator(name), problems);
  problems.throw_if_any();
}

std::vector<std::byte> initial_data(const TaskStream& stream, u32 buffer) {
  const Buffer& b = stream.buffers.at(buffer);
  if (b.file.empty()) return b.data;
  const std::string where = (std::filesystem::path(stream.folder) / b.file).string();
  try {
    const FolderFiles files(stream.folder);
    const u64 size = files.size(b.file);
    u64 offset = 0;
    if (b.file.ends_with(".npy")) {
      const io::NpyHeader h =
          io::parse_npy_header(files.read(b.file, 0, std::min(size, io::kNpyMaxHeaderBytes)), size, b.file);
      offset = h.data_offset;
      if (h.dtype != b.dtype) fail(Fault::Input, "buffer '{}' is {}, but the file holds {}", b.name, b.dtype, h.dtype);
    }
    if (size - offset != b.bytes) {
      fail(Fault::Input, "buffer '{}' has {} bytes, but the file has {}", b.name, b.bytes, size - offset);
    }
    std::vector<std::byte> bytes = files.read(b.file, offset, b.bytes);
    if (was_changed(b.file, bytes)) {
      fail(Fault::Input,
           "buffer '{}': the file was changed after it was recorded: its name is a hash of other contents; record the "
           "program again, or give the file another name in the task stream",
           b.name);
    }
    return bytes;
  } catch (const Error& e) {
    throw Error(e.fault(), e.message(), where);
  }
}

void write_output(const TaskStream& stream, u32 buffer, std::span<const std::byte> contents,
                  const std::string& folder) {
  const Buffer& b = stream.buffers.at(buffer);
  VINCI_CHECK(!b.output.empty() && contents.size() == b.bytes);
  if (const std::string why = why_not_relative(b.output); !why.empty()) fail(Fault::Input, "{}", why);
  const std::filesystem::path path = std::filesystem::path(folder) / b.output;
  std::error_code error;
  if (b.output.find('/') != std::string::npos) std::filesystem::create_directories(path.parent_path(), error);
  if (error) fail_at(Fault::Input, path.parent_path().string(), "cannot make the folder: {}", error.message());
  io::AtomicFile file(path.string(), io::Durability::rebuildable, folder);
  if (b.output.ends_with(".npy")) {
    const std::vector<u64> flat{b.bytes / io::npy_element_bytes(b.dtype)};
    const std::span<const u64> shape = b.shape.empty() ? std::span<const u64>(flat) : std::span<const u64>(b.shape);
    file.write(std::span<const std::byte>(io::npy_header(b.dtype, shape)));
  }
  file.write(contents);
  file.commit();
}

}  // namespace vinci::task
