// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "isa/base/error.h"
#include "isa/base/suggest.h"

namespace vinci::io {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr usize kMaxDimensions = 32;  // of NumPy

// The header is a Python dictionary literal; this reads the one form of it that describes an array.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader h;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !descr) {
        h.dtype = dtype();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        if (boolean()) problem("the array is in Fortran order; save it with numpy.ascontiguousarray");
        order = true;
      } else if (key == "shape" && !shape) {
        h.shape = tuple();
        shape = true;
      } else {
        problem(fmt::format("key '{}' is repeated or not one of 'descr', 'fortran_order', 'shape'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) problem("text after the dictionary");
    if (!descr || !order || !shape) problem("'descr', 'fortran_order' and 'shape' are all needed");
    return h;
  }

 private:
  [[noreturn]] void problem(const std::string& what) const {
    fail_at(Fault::Input, where_, "bad .npy header: {}", what);
  }

  static std::string printable(std::string_view s) {
    std::string out(s.substr(0, 40));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return out;
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) problem(fmt::format("expected '{}' at byte {}", c, at_));
  }

  std::string_view string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const usize end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) problem(fmt::format("expected a string at byte {}", at_));
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }

  bool boolean() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    problem(fmt::format("expected True or False at byte {}", at_));
  }

  std::string dtype() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') problem("structured types are not supported");
    const std::string_view s = string();
    const char order = s.empty() ? '\0' : s[0];
    const std::string_view type = s.substr(std::min<usize>(1, s.size()));
    const u64 size = npy_element_bytes(type);
    if (order == '>' && size > 1) problem(fmt::format("type '{}' is big endian; save it as '<{}'", s, type));
    if (size == 0 || (size == 1 ? order != '|' && order != '<' && order != '>' : order != '<')) {
      problem(fmt::format("type '{}' is not one of <{}", printable(s), fmt::join(kNpyTypes, " <")));
    }
    return std::string(type);
  }

  std::vector<u64> tuple() {
    std::vector<u64> out;
    expect('(');
    while (!accept(')')) {
      skip();
      u64 v = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
      if (error != std::errc{}) problem(fmt::format("expected a size at byte {}", at_));
      if (out.size() == kMaxDimensions) problem(fmt::format("more than {} dimensions", kMaxDimensions));
      at_ = static_cast<usize>(end - text_.data());
      out.push_back(v);
      if (!accept(',')) {
        if (out.size() == 1) problem("a tuple of one size needs a comma");
        expect(')');
        break;
      }
    }
    return out;
  }

  std::string_view text_;
  const std::string& where_;
  usize at_ = 0;
};

std::optional<u64> checked_bytes(u64 element, std::span<const u64> shape) {
  // A zero anywhere makes the product zero, whatever the other factors would overflow to.
  if (std::find(shape.begin(), shape.end(), u64{0}) != shape.end()) return 0;
  for (const u64 n : shape) {
    if (__builtin_mul_overflow(element, n, &element)) return std::nullopt;
  }
  return element;
}

}  // namespace

u64 npy_bytes(std::string_view dtype, std::span<const u64> shape) {
  const u64 element = npy_element_bytes(dtype);
  if (element == 0) {
    fail(Fault::Input, "unknown element type '{}'; known are {}{}", dtype, fmt::join(kNpyTypes, " "),
         did_you_mean(dtype, kNpyTypes));
  }
  const std::optional<u64> bytes = checked_bytes(element, shape);
  if (!bytes) fail(Fault::Input, "shape [{}] of {} has more than 2^64 bytes", fmt::join(shape, ", "), dtype);
  return *bytes;
}

NpyHeader parse_npy_header(std::span<const std::byte> head, u64 file_bytes, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.substr(0, kMagic.size()) != kMagic || text.size() < 10) {
    fail_at(Fault::Input, where, "not a .npy file: it does not start with \\x93NUMPY");
  }
  const auto byte = [&](usize i) { return static_cast<u64>(static_cast<u8>(text[i])); };
  const u64 major = byte(6);
  const u64 minor = byte(7);
  if ((major != 1 && major != 2) || minor != 0) {
    fail_at(Fault::Input, where, ".npy version {}.{} is not supported; 1.0 and 2.0 are", major, minor);
  }
  if (major == 2 && text.size() < 12) fail_at(Fault::Input, where, "the .npy file ends inside its header");
  const usize begin = major == 1 ? 10 : 12;
  const u64 length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > kNpyMaxHeaderBytes - begin) {
    fail_at(Fault::Input, where, "the .npy header says it has {} bytes; at most {} are read", length,
            kNpyMaxHeaderBytes - begin);
  }
  if (text.size() - begin < length) fail_at(Fault::Input, where, "the .npy file ends inside its header");
  NpyHeader h = HeaderParser(text.substr(begin, length), where).parse();
  h.data_offset = begin + length;
  const std::optional<u64> bytes = checked_bytes(npy_element_bytes(h.dtype), h.shape);
  if (!bytes || *bytes != file_bytes - h.data_offset) {
    fail_at(Fault::Input, where, "shape ({}) of {} does not fit the {} bytes that follow the .npy header",
            fmt::join(h.shape, ", "), h.dtype, file_bytes - h.data_offset);
  }
  h.data_bytes = *bytes;
  return h;
}

std::vector<std::byte> npy_header(std::string_view dtype, std::span<const u64> shape) {
  npy_bytes(dtype, shape);
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 npy_element_bytes(dtype) == 1 ? '|' : '<', dtype, fmt::join(shape, ", "),
                                 shape.size() == 1 ? "," : "");
  constexpr usize kBegin = 10;
  const usize total = align_up<usize>(kBegin + text.size() + 1, 64);
  text.append(total - kBegin - text.size() - 1, ' ');
  text.push_back('\n');
  if (text.size() > 0xffff) fail(Fault::Input, "a shape of {} dimensions has no .npy header", shape.size());
  std::vector<std::byte> out(total);
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  out[6] = std::byte{1};
  out[7] = std::byte{0};
  out[8] = static_cast<std::byte>(text.size() & 0xff);
  out[9] = static_cast<std::byte>(text.size() >> 8);
  std::memcpy(out.data() + kBegin, text.data(), text.size());
  return out;
}

std::vector<std::byte> to_npy(std::string_view dtype, std::span<const u64> shape, std::span<const std::byte> data) {
  const u64 want = npy_bytes(dtype, shape);
  if (want != data.size()) {
    fail(Fault::Input, "shape [{}] of {} has {} bytes, but the contents have {}", fmt::join(shape, ", "), dtype, want,
         data.size());
  }
  std::vector<std::byte> out = npy_header(dtype, shape);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace vinci::io
