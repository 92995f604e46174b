// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sim/io/atomic_file.h"

namespace vinci::io {

// A text file that is written piece by piece through a buffer, and appears with commit().
class TextFile {
 public:
  explicit TextFile(std::string path, usize buffer_bytes = 1 << 18)
      : file_(std::move(path)), buffer_bytes_(buffer_bytes) {}

  template <class... A>
  void print(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(fmt::appender(buffer_), format, std::forward<A>(args)...);
    if (buffer_.size() >= buffer_bytes_) flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(std::string_view(buffer_.data(), buffer_.size()));
    buffer_.clear();
  }

  AtomicFile file_;
  usize buffer_bytes_;
  fmt::memory_buffer buffer_;
};

// A field of a CSV file (RFC 4180); quoted where it holds a comma, a quote or a line break.
inline std::string csv_field(std::string_view s) {
  if (s.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(s);
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace vinci::io
