// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/format.h"

#include "isa/base/suggest.h"

namespace vinci::isa {
namespace {

// Calls f for each word of a text.
template <class F>
void each_word(std::string_view text, F&& f) {
  for (usize begin = 0; begin < text.size();) {
    const usize end = std::min(text.find(' ', begin), text.size());
    f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

constexpr bool takes_leading_axes(const FormatInfo& f) { return f.axes.starts_with('B'); }

}  // namespace

Format parse_format(std::string_view text) {
  std::vector<std::string_view> names;
  for (usize i = 0; i < kFormats.size(); ++i) {
    const FormatInfo& f = kFormats[i];
    bool found = f.name == text;
    names.push_back(f.name);
    each_word(f.other_names, [&](std::string_view word) {
      found |= word == text;
      names.push_back(word);
    });
    if (found) return static_cast<Format>(i);
  }
  fail(Fault::Input, "no format is called '{}'{}", text.substr(0, 64), did_you_mean(text, names));
}

std::string axes_text(Format format) {
  const FormatInfo& f = info(format);
  std::string out = takes_leading_axes(f) ? "..." : "";
  for (const char axis : f.axes.substr(takes_leading_axes(f) ? 1 : 0)) {
    if (!out.empty()) out += ',';
    out += axis;
  }
  return out;
}

std::string storage_text(Format format) {
  const FormatInfo& f = info(format);
  const std::string c0 = f.fixed_c0 != 0 ? std::to_string(f.fixed_c0) : "C0";
  std::string out;
  each_word(f.dims, [&](std::string_view word) {
    out += out.empty() ? "(" : ", ";
    for (usize i = 0; i < word.size(); ++i) {
      const bool part = i + 1 < word.size() && std::string_view("10o").find(word[i + 1]) != std::string_view::npos;
      if (i != 0) out += '*';
      if (word[i] == 'B') {
        out += "...";
      } else if (part && word[i + 1] == '1') {
        out += word.substr(i, 2);
      } else if (part) {
        out += word[i] == f.c0_axis ? c0 : std::to_string(kFractalEdge);
      } else {
        out += word[i];
      }
      i += part ? 1 : 0;
    }
  });
  return out + ")";
}

TensorLayout tensor_layout(Format format, std::span<const u64> shape, u32 c0, u64 groups) {
  const FormatInfo& f = info(format);
  const bool leading = takes_leading_axes(f);
  const usize named = f.axes.size() - (leading ? 1 : 0);
  if (shape.size() < named || (!leading && shape.size() > named)) {
    fail(Fault::Input, "a tensor in {} has {}{} axes ({}), but the shape has {}", f.name, leading ? "at least " : "",
         named, axes_text(format), shape.size());
  }
  std::vector<u64> extents;
  if (leading) {
    u64 batch = 1;
    for (const u64 n : shape.first(shape.size() - named)) {
      if (__builtin_mul_overflow(batch, n, &batch)) fail(Fault::Limit, "the tensor has more than 2^63 elements");
    }
    extents.push_back(batch);
  }
  extents.insert(extents.end(), shape.end() - static_cast<std::ptrdiff_t>(named), shape.end());
  return {format, extents, c0, groups};
}

std::vector<u64> storage_shape(const TensorLayout& layout, std::span<const u64> shape) {
  const bool leading = takes_leading_axes(layout.info());
  std::vector<u64> out;
  if (leading) out.assign(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(layout.axes() - 1));
  for (usize i = leading ? 1 : 0; i < layout.dims(); ++i)
    out.push_back(layout.dim(i));
  return out;
}

}  // namespace vinci::isa
