// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/npy.h"
#include "tools/vinci/options.h"
#include "tools/vinci/tensor_options.h"

namespace vinci::cli {
namespace {

// The number of a type in the published enumeration.
struct TypeName {
  graph::DataType type;
  int number;
};
constexpr std::array kTypeNumbers{
    TypeName{graph::DataType::f32, 0},  TypeName{graph::DataType::f16, 1},  TypeName{graph::DataType::i8, 2},
    TypeName{graph::DataType::i32, 3},  TypeName{graph::DataType::u8, 4},   TypeName{graph::DataType::i16, 6},
    TypeName{graph::DataType::u16, 7},  TypeName{graph::DataType::u32, 8},  TypeName{graph::DataType::i64, 9},
    TypeName{graph::DataType::u64, 10}, TypeName{graph::DataType::f64, 11}, TypeName{graph::DataType::boolean, 12},
    TypeName{graph::DataType::bf16, 27}};

struct FormatName {
  std::string_view name;
  int number;
};
constexpr std::array kFormats{FormatName{"ND", 2},          FormatName{"NCHW", 0},          FormatName{"NHWC", 1},
                              FormatName{"FRACTAL_NZ", 29}, FormatName{"NZ", 29},           FormatName{"NC1HWC0", 3},
                              FormatName{"FRACTAL_Z", 4},   FormatName{"NCDHW", 30},        FormatName{"NDHWC", 27},
                              FormatName{"NDC1HWC0", 32},   FormatName{"FRACTAL_Z_3D", 33}, FormatName{"NCL", 47}};

graph::DataType type_of(const OperatorTensor& t) {
  const auto at = std::ranges::find(kTypeNumbers, t.type, &TypeName::number);
  if (at == kTypeNumbers.end())
    fail(Fault::Unsupported, "{}: the data type with the number {} is not supported here", t.name, t.type);
  return at->type;
}

int number_of(graph::DataType type) { return std::ranges::find(kTypeNumbers, type, &TypeName::type)->number; }

int format_named(std::string_view name, const std::string& where) {
  const auto at = std::ranges::find(kFormats, name, &FormatName::name);
  if (at != kFormats.end()) return at->number;
  std::vector<std::string_view> names;
  for (const FormatName& f : kFormats)
    names.push_back(f.name);
  fail_at(Fault::Input, where, "there is no format '{}'{}", name, did_you_mean(name, names));
}

graph::Dims parse_dims(const std::string& text, const std::string& where) {
  graph::Dims out;
  if (text == "-") return out;  // a scalar
  for (const std::string& part : split_list(text, ',')) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0 || value > (i64{1} << 32))
      fail_at(Fault::Input, where, "'{}' is no extent", part);
    out.push_back(value);
  }
  return out;
}

// Values of an input that the user does not give: floats in [-1, 1), bytes of the whole range, other integers from 0 to
// 99.
void fill_randomly(graph::Array& a, Random& random) {
  using graph::DataType;
  for (double& v : a.values) {
    v = random.uniform();
    if (a.type == DataType::boolean) {
      v = v < 0 ? 0 : 1;
    } else if (a.type == DataType::i8 || a.type == DataType::u8) {
      v = std::floor(v * 128) + (a.type == DataType::u8 ? 128 : 0);
    } else if (!graph::is_float(a.type)) {
      v = std::floor((v + 1) * 50);
    }
  }
  a.round();
}

void fill_with(graph::Array& a, const std::string& text, const std::string& where) {
  const std::vector<std::string> parts = split_list(text, ',');
  std::vector<double> values;
  for (const std::string& part : parts) {
    char* end = nullptr;
    values.push_back(std::strtod(part.c_str(), &end));
    if (*end != 0 || part.empty()) fail_at(Fault::Input, where, "'{}' is no number", part);
  }
  if (values.size() != 1 && values.size() != a.values.size())
    fail_at(Fault::Input, where, "{} values for {} elements", values.size(), a.values.size());
  for (usize i = 0; i < a.values.size(); ++i)
    a.values[i] = values[values.size() == 1 ? 0 : i];
  a.round();
}

OperatorTensor from_npy(const std::string& name, const std::string& path, const std::string& where,
                        const std::string& raw) {
  const io::InputFile file(path);
  const std::vector<std::byte> head = file.read(0, std::min(file.size(), io::kNpyMaxHeaderBytes));
  const io::NpyHeader header = io::parse_npy_header(head, file.size(), path);
  const auto at = std::ranges::find(graph::kDataTypes, header.dtype, &graph::DataTypeInfo::npy);
  if (at == std::end(graph::kDataTypes)) fail_at(Fault::Input, where, "{}: type {}", path, header.dtype);
  OperatorTensor out{.name = name,
                     .type = number_of(static_cast<graph::DataType>(at - std::begin(graph::kDataTypes))),
                     .format = -1,
                     .dims = {},
                     .file = raw};
  for (const u64 d : header.shape)
    out.dims.push_back(static_cast<i64>(d));
  io::write_file_atomically(raw, file.read(header.data_offset, header.data_bytes));
  return out;
}

}  // namespace

std::pair<std::string, std::string> name_and_value(const std::string& text, const std::string& option) {
  const usize equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    fail_at(Fault::Input, option, "'{}' is no NAME=VALUE", text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

OperatorTensor parse_input(const std::string& text, Random& random, const std::string& raw) {
  const std::string where = "--input";
  auto [name, rest] = name_and_value(text, where);
  if (rest.ends_with(".npy") && rest.find('@') == std::string::npos) return from_npy(name, rest, where, raw);
  const usize mark = rest.find_first_of("=@");
  const std::string content = mark == std::string::npos ? "" : rest.substr(mark + 1);
  const std::vector<std::string> parts = split_list(rest.substr(0, mark), ':');
  if (parts.empty() || parts.size() > 3) fail_at(Fault::Input, where, "'{}' is no TYPE:SHAPE", rest);
  const graph::DataType type = type_named(parts[0], where);
  OperatorTensor out{.name = name, .type = number_of(type), .format = -1, .dims = {}, .file = raw};
  if (parts.size() > 1) {
    out.dims = parse_dims(parts[1], where);
  } else if (mark != std::string::npos && rest[mark] == '=') {
    out.dims = {std::ssize(split_list(content, ','))};
  } else {
    fail_at(Fault::Input, where, "'{}': the shape is missing, as in x=f16:4,1024", text);
  }
  if (parts.size() > 2) out.format = format_named(parts[2], where);
  if (mark != std::string::npos && rest[mark] == '@') {
    const io::InputFile file(content);
    const u64 bytes = graph::element_count(out.dims) * graph::info(type).bytes;
    if (file.size() != bytes)
      fail_at(Fault::Input, content, "{} bytes; {} of {} are {}", file.size(), text.substr(0, text.find('@')),
              graph::info(type).name, bytes);
    io::write_file_atomically(raw, file.read(0, bytes));
    return out;
  }
  graph::Array values(type, out.dims);
  if (mark != std::string::npos) {
    fill_with(values, content, where);
  } else {
    fill_randomly(values, random);
  }
  io::write_file_atomically(raw, graph::Tensor(values).bytes());
  return out;
}

OperatorTensor parse_output(const std::string& text) {
  const std::string where = "--output";
  const auto [name, rest] = name_and_value(text, where);
  const std::vector<std::string> parts = split_list(rest, ':');
  OperatorTensor out{.name = name, .type = -1, .format = -1, .dims = {}, .file = ""};
  if (parts.size() > 1) out.type = number_of(type_named(parts[0], where));
  out.dims = parse_dims(parts[parts.size() > 1 ? 1 : 0], where);
  if (parts.size() > 2) out.format = format_named(parts[2], where);
  return out;
}

std::string type_text(const OperatorTensor& t) {
  const auto at = std::ranges::find(kTypeNumbers, t.type, &TypeName::number);
  return at == kTypeNumbers.end() ? fmt::format("type {}", t.type) : std::string(graph::info(at->type).name);
}

u64 bytes_of(const OperatorTensor& t) { return graph::element_count(t.dims) * graph::info(type_of(t)).bytes; }

void write_npy(const OperatorTensor& t, const std::string& path) {
  const graph::DataType type = type_of(t);
  const io::InputFile file(t.file);
  graph::Tensor tensor(type, t.dims, file.read(0, file.size()));
  if (graph::info(type).npy.empty()) {
    graph::Array values = tensor.array();
    values.type = graph::DataType::f32;
    tensor = graph::Tensor(values);
  }
  const std::vector<u64> shape(t.dims.begin(), t.dims.end());
  io::write_file_atomically(path, io::to_npy(graph::info(tensor.type()).npy, shape, tensor.bytes()));
}

}  // namespace vinci::cli
