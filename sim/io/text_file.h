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

// A text of others as a spreadsheet may show it: what begins with = + - @, a tab or a carriage return would be taken
// for a formula, an apostrophe in front makes it a text (https://owasp.org/www-community/attacks/CSV_Injection).
inline std::string csv_text(std::string_view s) {
  const bool formula = !s.empty() && std::string_view("=+-@\t\r").find(s.front()) != std::string_view::npos;
  return (formula ? "'" : "") + std::string(s);
}

// Such a text in quotes (RFC 4180).
inline std::string csv_quoted(std::string_view s) {
  std::string out = "\"";
  for (const char c : csv_text(s)) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Such a text as a field of a CSV file; quoted where it holds a comma, a quote or a line break.
inline std::string csv_field(std::string_view s) {
  return s.find_first_of(",\"\n\r") == std::string_view::npos ? csv_text(s) : csv_quoted(s);
}

// A text of others as the text of an HTML element or the value of an attribute.
inline std::string html_text(std::string_view s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace vinci::io
