// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

#include "isa/base/error.h"
#include "sim/io/input_file.h"
#include "tools/graph/import/onnx_module.h"

// The module that reads ONNX files: the only file that sees protobuf.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 100;  // of nested messages; the default of protobuf
constexpr usize kMaxRank = 32;

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), folder_(fs::path(path_).parent_path()) {}

  Model model(const onnx::ModelProto& m) {
    if (!m.has_graph()) refuse("the file has no graph");
    Model out;
    out.producer = m.producer_name();
    for (const auto& set : m.opset_import())
      out.opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
    if (m.functions_size() != 0) refuse("functions of the model ('{}') are not supported", m.functions(0).name());
    out.graph = graph(m.graph());
    return out;
  }

  Tensor tensor(const onnx::TensorProto& t) {
    const std::optional<DataType> type = onnx_data_type(t.data_type());
    if (!type) unsupported("constant '{}' has elements of type {}", t.name(), type_name(t.data_type()));
    if (t.has_segment()) refuse("constant '{}' is one of several segments", t.name());
    Dims dims(t.dims().begin(), t.dims().end());
    check_dims(t.name(), dims);
    const u64 count = element_count(dims), bytes = count * info(*type).bytes;
    if (t.data_location() == onnx::TensorProto::EXTERNAL) return {*type, dims, external(t, bytes)};
    if (t.has_raw_data()) {
      if (t.raw_data().size() != bytes)
        refuse("constant '{}' has {} bytes, but its shape {} has {}", t.name(), t.raw_data().size(), text(dims), bytes);
      std::vector<std::byte> data(bytes);
      if (bytes != 0) std::memcpy(data.data(), t.raw_data().data(), bytes);
      return {*type, dims, std::move(data)};
    }
    return {*type, dims, listed(t, *type, count)};
  }

 private:
  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> text, A&&... args) const {
    fail_at(Fault::Input, path_, "{}", fmt::format(text, std::forward<A>(args)...));
  }
  template <class... A>
  [[noreturn]] void unsupported(fmt::format_string<A...> text, A&&... args) const {
    fail_at(Fault::Unsupported, path_, "{}", fmt::format(text, std::forward<A>(args)...));
  }
  static std::string type_name(int type) {
    const std::string& name = onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(type));
    return name.empty() ? fmt::format("{}", type) : name;
  }

  void check_dims(const std::string& name, const Dims& dims) const {
    if (dims.size() > kMaxRank) refuse("'{}' has {} axes; at most {} are supported", name, dims.size(), kMaxRank);
    for (const i64 d : dims) {
      if (d < 0) refuse("'{}' has an extent of {}", name, d);
    }
  }

  // Elements from one of the typed lists of a TensorProto.
  std::vector<std::byte> listed(const onnx::TensorProto& t, DataType type, u64 count) const {
    std::vector<std::byte> out;
    const auto copy = [&](const auto& list, auto element) {
      if (static_cast<u64>(list.size()) != count)
        refuse("constant '{}' has {} elements, but its shape has {}", t.name(), list.size(), count);
      out.resize(count * sizeof(element));
      for (u64 i = 0; i < count; ++i) {
        element = static_cast<decltype(element)>(list[static_cast<int>(i)]);
        std::memcpy(&out[i * sizeof(element)], &element, sizeof(element));
      }
    };
    switch (type) {
      case DataType::f32: copy(t.float_data(), float{}); break;
      case DataType::f64: copy(t.double_data(), double{}); break;
      case DataType::i64: copy(t.int64_data(), i64{}); break;
      case DataType::u64: copy(t.uint64_data(), u64{}); break;
      case DataType::u32: copy(t.uint64_data(), u32{}); break;
      case DataType::i32: copy(t.int32_data(), i32{}); break;
      case DataType::f16:
      case DataType::bf16:
      case DataType::u16: copy(t.int32_data(), u16{}); break;
      case DataType::i16: copy(t.int32_data(), i16{}); break;
      case DataType::i8: copy(t.int32_data(), i8{}); break;
      case DataType::u8:
      case DataType::boolean: copy(t.int32_data(), u8{}); break;
    }
    return out;
  }

  std::vector<std::byte> external(const onnx::TensorProto& t, u64 bytes) const {
    std::string location;
    u64 offset = 0, length = bytes;
    const auto number = [&](const onnx::StringStringEntryProto& e) {
      u64 value = 0;
      const char* const end = e.value().data() + e.value().size();
      const auto [at, error] = std::from_chars(e.value().data(), end, value);
      if (error != std::errc() || at != end)
        refuse("constant '{}': {} '{}' is no number", t.name(), e.key(), e.value());
      return value;
    };
    for (const auto& entry : t.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") offset = number(entry);
      if (entry.key() == "length") length = number(entry);
    }
    if (length != bytes)
      refuse("constant '{}' has {} bytes in '{}', but its shape needs {}", t.name(), length, location, bytes);
    const fs::path file(location);
    std::error_code error;
    const fs::path root = fs::weakly_canonical(folder_.empty() ? fs::path(".") : folder_, error);
    const fs::path whole = fs::weakly_canonical(root / file, error);
    const auto [end, unused] = std::mismatch(root.begin(), root.end(), whole.begin(), whole.end());
    if (error || location.empty() || file.is_absolute() || end != root.end())
      refuse("constant '{}': its data '{}' are not in the folder of the model", t.name(), location);
    const io::InputFile in(whole.string());
    if (offset > in.size() || in.size() - offset < bytes)
      refuse("constant '{}' needs {} bytes at {} of '{}', which has {}", t.name(), bytes, offset, location, in.size());
    return in.read(offset, bytes);
  }

  ModelValue value(const onnx::ValueInfoProto& v) {
    ModelValue out{.name = v.name()};
    if (!v.has_type()) return out;  // an input of a body, whose type is that of what it is given
    if (!v.type().has_tensor_type()) {
      out.is_sequence = true;
      return out;
    }
    const auto& tensor = v.type().tensor_type();
    const std::optional<DataType> type = onnx_data_type(tensor.elem_type());
    if (!type) unsupported("'{}' has elements of type {}", v.name(), type_name(tensor.elem_type()));
    out.type = *type;
    if (!tensor.has_shape()) return out;
    Dims dims;
    for (const auto& d : tensor.shape().dim()) {
      if (d.has_dim_value() && d.dim_value() < -1) refuse("'{}' has an extent of {}", v.name(), d.dim_value());
      dims.push_back(d.has_dim_value() ? d.dim_value() : Shape::kUnknown);
    }
    if (dims.size() > kMaxRank) refuse("'{}' has {} axes; at most {} are supported", v.name(), dims.size(), kMaxRank);
    out.shape = dims;
    return out;
  }

  Attribute attribute(const std::string& node, const onnx::AttributeProto& a) {
    using onnx::AttributeProto;
    switch (a.type()) {
      case AttributeProto::FLOAT: return static_cast<double>(a.f());
      case AttributeProto::INT: return i64{a.i()};
      case AttributeProto::STRING: return a.s();
      case AttributeProto::TENSOR: return tensor(a.t());
      case AttributeProto::FLOATS: return std::vector<double>(a.floats().begin(), a.floats().end());
      case AttributeProto::INTS: return std::vector<i64>(a.ints().begin(), a.ints().end());
      case AttributeProto::STRINGS: return std::vector<std::string>(a.strings().begin(), a.strings().end());
      default: break;
    }
    unsupported("{}: attribute '{}' has a type that is not supported", node, a.name());
  }

  ModelNode node(const onnx::NodeProto& n) {
    ModelNode out;
    out.domain = n.domain() == "ai.onnx" ? "" : n.domain();
    out.op = n.op_type();
    const std::string wanted = n.name().empty() ? n.op_type() : n.name();
    out.name = wanted;
    for (u32 i = 1; !names_.insert(out.name).second; ++i)
      out.name = fmt::format("{}_{}", wanted, i);
    out.inputs.assign(n.input().begin(), n.input().end());
    out.outputs.assign(n.output().begin(), n.output().end());
    for (const auto& a : n.attribute()) {
      if (a.type() == onnx::AttributeProto::GRAPH) {
        out.bodies.emplace(a.name(), graph(a.g()));
      } else {
        out.attributes.insert_or_assign(a.name(), attribute(out.name, a));
      }
    }
    return out;
  }

  ModelGraph graph(const onnx::GraphProto& g) {
    ModelGraph out;
    out.name = g.name();
    for (const auto& t : g.initializer())
      out.constants.insert_or_assign(t.name(), tensor(t));
    if (g.sparse_initializer_size() != 0) unsupported("sparse constants are not supported");
    for (const auto& v : g.input()) {
      if (!out.constants.contains(v.name())) out.inputs.push_back(value(v));
    }
    for (const auto& v : g.output())
      out.outputs.push_back({.name = v.name()});
    for (const auto& n : g.node())
      out.nodes.push_back(node(n));
    return out;
  }

  std::string path_;
  fs::path folder_;
  std::set<std::string> names_;  // of nodes
};

template <class Message>
Message parse(const std::string& path) {
  const io::InputFile file(path);
  if (file.size() > static_cast<u64>(std::numeric_limits<int>::max()))
    fail_at(Fault::Limit, path, "a model file of more than 2 GiB; keep its weights as external data");
  const std::vector<std::byte> bytes = file.read(0, file.size());
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const u8*>(bytes.data()), static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxDepth);
  Message message;
  if (!message.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage())
    fail_at(Fault::Input, path, "not an ONNX file");
  return message;
}

const OnnxModule kModule = {
    .read_model = [](const std::string& path) { return Reader(path).model(parse<onnx::ModelProto>(path)); },
    .read_tensor = [](const std::string& path) { return Reader(path).tensor(parse<onnx::TensorProto>(path)); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const OnnxModule* vinci_onnx_module() { return &kModule; }

}  // namespace vinci::graph
