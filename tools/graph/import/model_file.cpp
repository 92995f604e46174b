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
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "isa/base/error.h"
#include "sim/io/input_file.h"
#include "tools/graph/import/onnx_module.h"

// The module that reads ONNX files: the only file that sees protobuf.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 100;  // of nested messages; the default of protobuf
constexpr usize kMaxRank = 32;
constexpr usize kMaxCalls = 32;        // of functions by functions
constexpr usize kMaxCalled = 1 << 20;  // nodes of functions in place of calls

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), folder_(fs::path(path_).parent_path()) {}

  Model model(const onnx::ModelProto& m) {
    if (!m.has_graph()) refuse("the file has no graph");
    Model out;
    out.producer = m.producer_name();
    for (const auto& set : m.opset_import())
      opsets_[domain_of(set.domain())] = set.version();
    for (const auto& function : m.functions())
      functions_.insert_or_assign({domain_of(function.domain()), function.name()}, &function);
    out.graph = graph(m.graph());
    out.opsets = opsets_;
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

  static std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

  // Unique in the model.
  std::string name_of(const std::string& wanted) {
    std::string out = wanted;
    for (u32& next = next_[wanted]; !names_.insert(out).second;)
      out = fmt::format("{}_{}", wanted, ++next);
    return out;
  }

  // A node, or the nodes of the function of the model that it calls.
  void add(const onnx::NodeProto& n, std::vector<ModelNode>& out) {
    const auto function = functions_.find({domain_of(n.domain()), n.op_type()});
    if (function == functions_.end()) {
      out.push_back(node(n));
    } else {
      call(n, *function->second, out);
    }
  }

  void call(const onnx::NodeProto& n, const onnx::FunctionProto& function, std::vector<ModelNode>& out) {
    const std::string name = name_of(n.name().empty() ? n.op_type() : n.name());
    if (calls_ == kMaxCalls)
      refuse("{} ({}): functions call each other more than {} deep", name, n.op_type(), kMaxCalls);
    if (n.input_size() > function.input_size() || n.output_size() > function.output_size())
      refuse("{} ({}): {} inputs and {} outputs, but the function has {} and {}", name, n.op_type(), n.input_size(),
             n.output_size(), function.input_size(), function.output_size());
    for (const auto& set : function.opset_import()) {
      const auto at = opsets_.find(domain_of(set.domain()));
      if (at != opsets_.end() && at->second != set.version())
        unsupported("function {}: it is of version {} of the operators '{}', the model of version {}", function.name(),
                    set.version(), set.domain(), at->second);
      opsets_.emplace(domain_of(set.domain()), set.version());
    }
    // Its values by their names there; all others get the name of the call in front.
    std::map<std::string, std::string> values{{"", ""}};
    std::vector<onnx::NodeProto> copies;  // results that are no results of a node of their own
    for (int i = 0; i < function.input_size(); ++i)
      values[function.input(i)] = i < n.input_size() ? n.input(i) : "";
    for (int i = 0; i < n.output_size(); ++i) {
      if (n.output(i).empty()) continue;
      if (!values.emplace(function.output(i), n.output(i)).second) {
        onnx::NodeProto copy;
        copy.set_op_type("Identity");
        copy.set_name(name);
        copy.add_input(values.at(function.output(i)));
        copy.add_output(n.output(i));
        copies.push_back(copy);
      }
    }
    ++calls_;
    for (const onnx::NodeProto& inner : function.node()) {
      onnx::NodeProto made = inner;
      made.set_name(fmt::format("{}/{}", name, inner.name().empty() ? inner.op_type() : inner.name()));
      rename(made, name, values);
      bind_attributes(made, n, function);
      if (++called_ > kMaxCalled) refuse("{} ({}): functions of more than {} nodes", name, n.op_type(), kMaxCalled);
      add(made, out);
    }
    --calls_;
    for (const onnx::NodeProto& copy : copies)
      out.push_back(node(copy));
  }

  // Values of a function, also where branches and loops use them.
  static void rename(onnx::NodeProto& n, const std::string& call, std::map<std::string, std::string>& values) {
    const auto renamed = [&](const std::string& from) {
      return values.emplace(from, fmt::format("{}/{}", call, from)).first->second;
    };
    for (std::string& v : *n.mutable_input())
      v = renamed(v);
    for (std::string& v : *n.mutable_output())
      v = renamed(v);
    for (auto& a : *n.mutable_attribute()) {
      if (!a.has_g()) continue;
      onnx::GraphProto& g = *a.mutable_g();
      for (auto& t : *g.mutable_initializer())
        t.set_name(renamed(t.name()));
      for (auto& v : *g.mutable_input())
        v.set_name(renamed(v.name()));
      for (auto& inner : *g.mutable_node())
        rename(inner, call, values);
      for (auto& v : *g.mutable_output())
        v.set_name(renamed(v.name()));
    }
  }

  // Of an attribute of the function. Versions of ONNX before 1.13 do not know the field.
  template <class Function>
  static std::optional<onnx::AttributeProto> default_of(const std::string& name, const Function& function) {
    constexpr int kAttributeProto = 11;
    const auto& unknown = function.unknown_fields();
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      onnx::AttributeProto value;
      if (field.number() == kAttributeProto && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
          value.ParseFromString(field.length_delimited()) && value.name() == name)
        return value;
    }
    if constexpr (requires { function.attribute_proto(); }) {
      for (const auto& value : function.attribute_proto()) {
        if (value.name() == name) return value;
      }
    }
    return std::nullopt;
  }

  // Attributes that refer to those of the function: what the call gives, or the default; neither leaves them out.
  void bind_attributes(onnx::NodeProto& n, const onnx::NodeProto& call, const onnx::FunctionProto& function) const {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (const auto& a : n.attribute()) {
      if (a.ref_attr_name().empty()) {
        *bound.Add() = a;
        if (!a.has_g()) continue;
        for (auto& inner : *bound.Mutable(bound.size() - 1)->mutable_g()->mutable_node())
          bind_attributes(inner, call, function);
        continue;
      }
      const onnx::AttributeProto* value = nullptr;
      for (const auto& given : call.attribute()) {
        if (given.name() == a.ref_attr_name()) value = &given;
      }
      const std::optional<onnx::AttributeProto> otherwise =
          value == nullptr ? default_of(a.ref_attr_name(), function) : *value;
      if (!otherwise) continue;
      onnx::AttributeProto& made = *bound.Add();
      made = *otherwise;
      made.set_name(a.name());
    }
    n.mutable_attribute()->Swap(&bound);
  }

  ModelNode node(const onnx::NodeProto& n) {
    ModelNode out;
    out.domain = domain_of(n.domain());
    out.op = n.op_type();
    out.name = name_of(n.name().empty() ? n.op_type() : n.name());
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
      add(n, out.nodes);
    return out;
  }

  std::string path_;
  fs::path folder_;
  std::set<std::string> names_;      // of nodes
  std::map<std::string, u32> next_;  // number of a node of the name
  std::map<std::string, i64> opsets_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;  // by domain and name
  usize calls_ = 0;                                                                      // that are open
  usize called_ = 0;                                                                     // nodes of all calls
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
