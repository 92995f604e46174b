// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A built task stream as files.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "isa/base/error.h"
#include "isa/text/text.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/io/npy.h"
#include "sim/task/stream_builder.h"
#include "sim/task/task.h"
#include "sim/task/write.h"

namespace vinci::task {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The contents of a buffer as a file: .npy where they have a type.
std::vector<std::byte> contents(const Buffer& b) {
  if (b.dtype.empty()) return b.data;
  const std::vector<u64> flat{b.bytes / io::npy_element_bytes(b.dtype)};
  return io::to_npy(b.dtype, b.shape.empty() ? flat : b.shape, b.data);
}

// Names of files for names of kernels and buffers, which are any text.
class FileNames {
 public:
  // The name without '/', cut to a length that file systems take, and with a number where that is another one's.
  std::string make(std::string_view name, std::string_view extension) {
    std::string stem(name);
    std::ranges::replace(stem, '/', '_');
    if (stem.size() > kMaxStem) {
      usize end = kMaxStem;
      while (end > 0 && (static_cast<unsigned char>(stem[end]) & 0xc0) == 0x80)
        --end;  // a character of UTF-8 begins at `end`
      stem.resize(end);
    }
    std::string made = fmt::format("{}{}", stem, extension);
    for (u32 n = 2; !taken_.insert(made).second; ++n)
      made = fmt::format("{}_{}{}", stem, n, extension);
    return made;
  }

 private:
  static constexpr usize kMaxStem = 200;
  std::set<std::string> taken_;
};

}  // namespace

std::string BuiltStream::yaml() const { return to_yaml(*stream_); }
std::vector<std::byte> BuiltStream::vts() const { return to_vts(*stream_); }

StreamFiles BuiltStream::files() const {
  FileNames file_names;
  StreamFiles out{.main = file_names.make(stream_->name, ".yaml")};
  FilesOfYaml names{.comment = comment_};
  for (usize i = 0; i < stream_->kernels.size(); ++i) {
    const Kernel& k = stream_->kernels[i];
    names.kernels.push_back(k.opaque() ? std::string() : file_names.make(k.name, ".s"));
    if (!k.opaque())
      out.files[names.kernels.back()] = bytes_of((*texts_)[i].empty() ? isa::disassemble(k.program) : (*texts_)[i]);
  }
  for (const Buffer& b : stream_->buffers) {
    names.buffers.push_back(b.data.empty() ? std::string()
                                           : file_names.make(b.name, b.dtype.empty() ? ".bin" : ".npy"));
    if (!b.data.empty()) out.files[names.buffers.back()] = contents(b);
  }
  out.files[out.main] = bytes_of(to_yaml(*stream_, names));
  return out;
}

std::string StreamFiles::write(const std::string& folder) const { return write(io::LockedFolder(folder)); }

std::string StreamFiles::write(const io::LockedFolder& folder) const {
  for (const auto& [name, bytes] : files)
    io::write_file_atomically(folder.path() + "/" + name, bytes);
  return folder.path() + "/" + main;
}

}  // namespace vinci::task
