// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/io/npy.h"
#include "sim/task/check_parts.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

class BufferChecker {
 public:
  BufferChecker(Checks& checks, const Files& files) : c_(checks), files_(files) {}

  void check_buffers() {
    std::map<std::pair<Buffer::Place, u32>, u64> memories;  // bytes used of each
    std::set<std::string> outputs;
    for (usize i = 0; i < c_.s.buffers.size(); ++i) {
      Buffer& b = c_.s.buffers[i];
      const Path path = Path{} / "buffers" / i;
      check_buffer(b, path);
      if (!b.output.empty() && !outputs.insert(std::filesystem::path(b.output).lexically_normal().string()).second) {
        c_.report(path / "output", "two buffers are written to '{}'", shown(b.output));
      }
      u64& total = memories[{b.place, b.device}];
      if (total > kMaxBufferBytes || c_.unresolved(b)) continue;
      if (__builtin_add_overflow(total, b.bytes, &total)) total = ~u64{0};
      if (total > kMaxBufferBytes) {
        c_.report(path / "bytes", "with buffer '{}' of {} bytes, the buffers of its memory have more than {} bytes",
                  shown(b.name), b.bytes, kMaxBufferBytes);
      }
    }
  }

 private:
  void check_buffer(Buffer& b, const Path& path) {
    if (b.shape.size() > 32) {
      c_.report(path / "shape", "a shape of {} dimensions; at most 32 are possible", b.shape.size());
      return;
    }
    if (c_.unresolved(b)) {
      if (!b.dtype.empty()) check_type_name(b, path);
      return;
    }
    if (b.place == Buffer::Place::device) {
      for (const auto& [key, given] :
           {std::pair{"file", !b.file.empty()}, std::pair{"data", !b.data.empty()},
            std::pair{"output", !b.output.empty()}, std::pair{"random", b.random}, std::pair{"pageable", b.pageable}}) {
        if (given) {
          c_.report(path / key, "buffer '{}' is on the device: only host buffers have {}; copy with memcpy_async",
                    shown(b.name), key);
          return;
        }
      }
    }
    if (b.place == Buffer::Place::host && b.device != 0) {
      c_.report(path / "device", "buffer '{}' is on the host, not on device {}", shown(b.name), b.device);
      return;
    }
    if (b.place == Buffer::Place::host && b.l2 != CacheHint::normal) {
      c_.report(path / "l2", "buffer '{}' is on the host: only device buffers have l2", shown(b.name));
      return;
    }
    if (!c_.known_device(b.device, path / "device")) return;
    if (!b.file.empty() && !b.data.empty()) {
      c_.report(path / "data", "buffer '{}' has both a file and data", shown(b.name));
      return;
    }
    if (b.random && (!b.file.empty() || !b.data.empty())) {
      c_.report(path / "random", "buffer '{}' is random, but has contents", shown(b.name));
      return;
    }
    if (!b.file.empty() && !fill_from_file(b, path)) return;
    if (!b.data.empty()) {
      if (b.bytes == 0) b.bytes = b.data.size();
      if (b.bytes != b.data.size()) {
        c_.report(path / "data", "buffer '{}' has {} bytes, but its data has {}", shown(b.name), b.bytes,
                  b.data.size());
        return;
      }
    }
    if (!b.dtype.empty()) {
      if (!check_type(b, path)) return;
    } else if (!b.shape.empty()) {
      c_.report(path / "shape", "buffer '{}' has a shape but no dtype", shown(b.name));
      return;
    }
    if (b.bytes == 0) {
      c_.report(path, "buffer '{}' has no bytes; give 'bytes', or a dtype with a shape, or a file", shown(b.name));
    }
    if (!b.output.empty()) check_output(b, path);
  }

  bool check_type_name(const Buffer& b, const Path& path) {
    if (io::npy_element_bytes(b.dtype) != 0) return true;
    c_.report(path / "dtype", "unknown dtype '{}'; known are {}{}", shown(b.dtype), fmt::join(io::kNpyTypes, " "),
              did_you_mean(b.dtype, io::kNpyTypes));
    return false;
  }

  bool check_type(Buffer& b, const Path& path) {
    if (!check_type_name(b, path)) return false;
    if (b.shape.empty()) {
      if (b.bytes % io::npy_element_bytes(b.dtype) == 0) return true;
      c_.report(path / "dtype", "buffer '{}' of {} bytes holds no whole number of {}", shown(b.name), b.bytes, b.dtype);
      return false;
    }
    try {
      const u64 bytes = io::npy_bytes(b.dtype, b.shape);
      if (b.bytes == 0) b.bytes = bytes;
      if (bytes == b.bytes) return true;
      c_.report(path / "shape", "buffer '{}' has {} bytes, but shape [{}] of {} has {}", shown(b.name), b.bytes,
                fmt::join(b.shape, ", "), b.dtype, bytes);
    } catch (const Error& e) {
      c_.report(path / "shape", "{}", e.message());
    }
    return false;
  }

  void check_output(const Buffer& b, const Path& path) {
    std::string why = why_not_relative(b.output);
    if (why.empty() && !is_text(b.output)) why = "the file name contains control characters or is not UTF-8";
    const std::string file = std::filesystem::path(b.output).lexically_normal().filename().string();
    if (why.empty() && (file.empty() || file == ".")) why = fmt::format("'{}' names a folder, not a file", b.output);
    if (!why.empty()) {
      c_.report(path / "output", "{}", why);
    } else if (b.output.ends_with(".npy") && b.dtype.empty()) {
      c_.report(path / "output", "'{}' needs a dtype: a .npy file says what its elements are", shown(b.output));
    }
  }

  // What the file says fills the gaps; what the task stream says as well must agree.
  bool fill_from_file(Buffer& b, const Path& path) {
    try {
      if (!is_text(b.file)) fail(Fault::Input, "the file name contains control characters or is not UTF-8");
      u64 bytes = files_.size(b.file);
      if (b.file.ends_with(".npy")) {
        const auto head = files_.read(b.file, 0, std::min(bytes, io::kNpyMaxHeaderBytes));
        io::NpyHeader h = io::parse_npy_header(head, bytes, b.file);
        bytes = h.data_bytes;
        if (h.shape.empty()) h.shape = {1};
        if (!b.dtype.empty() && b.dtype != h.dtype) {
          c_.report(path / "dtype", "buffer '{}' is {}, but {} holds {}", shown(b.name), b.dtype, b.file, h.dtype);
          return false;
        }
        if (!b.shape.empty() && b.shape != h.shape) {
          c_.report(path / "shape", "buffer '{}' has shape [{}], but {} has [{}]", shown(b.name),
                    fmt::join(b.shape, ", "), b.file, fmt::join(h.shape, ", "));
          return false;
        }
        b.dtype = h.dtype;
        b.shape = h.shape;
      }
      if (b.bytes == 0) b.bytes = bytes;
      if (b.bytes == bytes) return true;
      c_.report(path / "bytes", "buffer '{}' has {} bytes, but {} has {}", shown(b.name), b.bytes, b.file, bytes);
    } catch (const Error& e) {
      c_.report(path / "file", "{}", e.what());
    }
    return false;
  }

  Checks& c_;
  const Files& files_;
};

}  // namespace

void check_buffers(TaskStream& stream, const Locator& where, const Files& files, config::Problems& problems) {
  Checks checks(stream, where, problems);
  checks.names("buffers", stream.buffers);
  BufferChecker(checks, files).check_buffers();
}

}  // namespace vinci::task
