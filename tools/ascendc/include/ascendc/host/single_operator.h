// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ascendc/host/registry.h"
#include "ascendc/tiling.h"
#include "register/op_def_registry.h"

// The program that `vinci op` makes of an operator's host code: it reads which tensors and attributes the operator is
// used with, calls the functions for shapes and tiling, and writes what they say. Requests and answers are lines of
// fields with tabs between them; docs/operators.md

// Whether main() runs: a function that is missing is told from then on (tools/vinci/op_host.cpp).
extern "C" inline bool vinci_operator_started = false;

namespace vinci::ascendc::host {

struct Given {
  std::string name;
  int type = ge::DT_UNDEFINED, format = -1;
  std::vector<std::int64_t> dims;
  std::string file;
};

struct Request {
  std::string op;
  std::vector<std::string> chips, others;  // others: whose definition serves where those have none
  std::vector<Given> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool deterministic = false, cube = false;
};

[[noreturn]] inline void refuse(const std::string& message) { throw std::runtime_error(message); }

inline std::vector<std::string> fields(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string field; std::getline(stream, field, separator);)
    out.push_back(field);
  return out;
}

inline Given tensor_of(const std::vector<std::string>& f) {
  Given out{f.at(1), std::stoi(f.at(2)), std::stoi(f.at(3)), {}, f.size() > 5 ? f[5] : ""};
  if (f.at(4) != "-") {
    for (const std::string& dim : fields(f[4], ','))
      out.dims.push_back(std::stoll(dim));
  }
  return out;
}

inline Request read_request(const char* path) {
  Request out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> f = fields(line, '\t');
    if (f.size() < 2) continue;
    if (f[0] == "op") out.op = f[1];
    if (f[0] == "chip") out.chips.push_back(f[1]);
    if (f[0] == "other_chip") out.others.push_back(f[1]);
    if (f[0] == "deterministic") out.deterministic = f[1] == "1";
    if (f[0] == "cube") out.cube = f[1] == "1";
    if (f[0] == "attr") out.attributes.emplace_back(f[1], f.size() > 2 ? f[2] : "");
    if (f[0] == "input") out.inputs.push_back(tensor_of(f));
    if (f[0] == "output") out.outputs.push_back(tensor_of(f));
  }
  return out;
}

// As the command line takes it: f16, bf16, i32 ...
inline std::string type_name(int type) {
  static const std::map<int, const char*> names{{ge::DT_FLOAT, "f32"},  {ge::DT_FLOAT16, "f16"}, {ge::DT_BF16, "bf16"},
                                                {ge::DT_DOUBLE, "f64"}, {ge::DT_INT8, "i8"},     {ge::DT_INT16, "i16"},
                                                {ge::DT_INT32, "i32"},  {ge::DT_INT64, "i64"},   {ge::DT_UINT8, "u8"},
                                                {ge::DT_UINT16, "u16"}, {ge::DT_UINT32, "u32"},  {ge::DT_UINT64, "u64"},
                                                {ge::DT_BOOL, "bool"}};
  const auto found = names.find(type);
  return found != names.end() ? found->second : ge::TypeUtils::DataTypeToSerialString(static_cast<ge::DataType>(type));
}
inline const char* option_name(ops::Option option) {
  switch (option) {
    case ops::OPTIONAL: return "optional";
    case ops::DYNAMIC: return "a list";
    default: return "required";
  }
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : ", ") + word;
  return out;
}

// The operator as it is defined for the chip.
struct Definition {
  const ops::OpDef* op = nullptr;
  std::vector<const ops::OpParamDef*> params;
  std::size_t inputs = 0;
  std::string file;  // of its kernel; "" if it does not say
  std::string chip;  // whose definition it is

  bool is_input(std::size_t i) const { return i < inputs; }
};

inline Definition definition_of(const Request& request) {
  Definition out;
  for (const auto* chips : {&request.chips, &request.others}) {
    for (const auto& op : ops::VinciDefinitions()) {
      if (op->VinciName() != request.op) continue;
      for (const std::string& chip : *chips) {
        out.op = op.get();
        if (!op->VinciParams(chip, out.params, out.inputs)) continue;
        out.file = op->VinciFile(chip);
        out.chip = chip;
        if (chips == &request.others)
          std::fprintf(stderr, "note: %s is not defined for %s; its definition for %s is taken\n", request.op.c_str(),
                       joined(request.chips).c_str(), chip.c_str());
        return out;
      }
    }
  }
  refuse(request.op + (out.op == nullptr ? " is not defined" : " is not defined for " + joined(request.chips)));
}

inline std::vector<const Given*> given(const std::vector<Given>& all, const std::string& name) {
  std::vector<const Given*> out;
  for (const Given& g : all)
    if (g.name == name) out.push_back(&g);
  return out;
}

// Names that the definition does not have, tensors that are missing or too many.
inline void check_names(const Definition& d, const Request& request) {
  for (const bool input : {true, false}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < d.params.size(); ++i)
      if (d.is_input(i) == input) names.push_back(d.params[i]->VinciName());
    for (const Given& g : input ? request.inputs : request.outputs) {
      if (std::find(names.begin(), names.end(), g.name) == names.end())
        refuse(std::string("there is no ") + (input ? "input " : "output ") + g.name + "; there are " + joined(names));
    }
  }
  for (std::size_t i = 0; i < d.params.size(); ++i) {
    const ops::OpParamDef& param = *d.params[i];
    const std::size_t number = given(d.is_input(i) ? request.inputs : request.outputs, param.VinciName()).size();
    if (d.is_input(i) && number == 0 && param.VinciOption() == ops::REQUIRED)
      refuse("the input " + param.VinciName() + " is missing; --describe lists what the operator takes");
    if (number > 1 && param.VinciOption() != ops::DYNAMIC)
      refuse(param.VinciName() + " is one tensor, and is given " + std::to_string(number) + " times");
  }
}

// A line for each combination of data types.
inline std::string combinations_text(const Definition& d, std::size_t most) {
  const std::size_t count = ops::OpParams::combinations(d.params);
  std::string all;
  for (std::size_t c = 0; c < count && c < most; ++c) {
    const auto chosen = ops::OpParams::chosen(d.params, c);
    all += "\n ";
    for (std::size_t i = 0; i < d.params.size(); ++i) {
      all += " " + d.params[i]->VinciName() + ":" + type_name(chosen[i].first);
      if (chosen[i].second != ge::FORMAT_ND)
        all += std::string(":") + ge::GetFormatName(static_cast<ge::Format>(chosen[i].second));
    }
  }
  if (count > most) all += "\n  and " + std::to_string(count - most) + " more";
  return all;
}

// The first combination that has the data types of the tensors, and their formats where one has those, too. The message
// of the exception lists the combinations.
inline std::size_t combination_of(const Definition& d, const Request& request) {
  const std::size_t count = ops::OpParams::combinations(d.params);
  for (const bool formats : {true, false}) {
    for (std::size_t c = 0; c < count; ++c) {
      const auto chosen = ops::OpParams::chosen(d.params, c);
      bool fits = true;
      for (std::size_t i = 0; i < d.params.size(); ++i) {
        for (const Given* g : given(d.is_input(i) ? request.inputs : request.outputs, d.params[i]->VinciName())) {
          if (g->type != ge::DT_UNDEFINED) fits = fits && g->type == chosen[i].first;
          if (formats) fits = fits && (g->format < 0 ? int{ge::FORMAT_ND} : g->format) == chosen[i].second;
        }
      }
      if (fits) return c;
    }
  }
  refuse("no kernel has these data types; there are" + combinations_text(d, 12));
}

// The inputs, outputs and attributes of the operator, for people.
inline void describe(const Definition& d) {
  std::printf("%s\n", d.op->VinciName());
  for (std::size_t i = 0; i < d.params.size(); ++i) {
    std::printf("  %-6s %-24s %s%s\n", d.is_input(i) ? "input" : "output", d.params[i]->VinciName().c_str(),
                option_name(d.params[i]->VinciOption()), d.params[i]->VinciOnHost() ? ", read by the host" : "");
  }
  static const char* const kKinds[] = {"",      "bool", "int",    "float",        "string",
                                       "bools", "ints", "floats", "lists of ints"};
  for (const ops::OpAttrDef& a : d.op->VinciAttributes()) {
    std::printf("  attr   %-24s %s, %s%s\n", a.VinciName().c_str(), kKinds[static_cast<int>(a.VinciKind())],
                a.VinciRequired() ? "required" : "optional",
                a.VinciHasDefault() ? (", " + a.VinciDefault() + " if not given").c_str() : "");
  }
  std::printf("data types of inputs and outputs:%s\n", combinations_text(d, 1000).c_str());
}

template <class T>
T number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  T out{};
  if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(std::strtod(text.c_str(), &end));
  } else {
    out = static_cast<T>(std::strtoll(text.c_str(), &end, 0));
  }
  if (text.empty() || *end != 0 || errno != 0) refuse("the attribute " + name + " is no number: " + text);
  return out;
}
inline bool truth(const std::string& name, const std::string& text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  refuse("the attribute " + name + " is true or false, not " + text);
}

// "[1,2,3]" or "1,2,3".
inline std::vector<std::string> elements(const std::string& text) {
  const bool brackets = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  std::vector<std::string> out = fields(brackets ? text.substr(1, text.size() - 2) : text, ',');
  for (std::string& word : out) {
    while (!word.empty() && word.front() == ' ')
      word.erase(0, 1);
  }
  return out;
}

inline void add_attribute(gert::RuntimeAttrs& attrs, const ops::OpAttrDef& def, const std::string& text) {
  using ops::AttrKind;
  const std::string& name = def.VinciName();
  switch (def.VinciKind()) {
    case AttrKind::boolean: attrs.VinciAdd<std::int64_t>(truth(name, text)); return;  // room for readers of integers
    case AttrKind::integer: attrs.VinciAdd(number<std::int64_t>(name, text)); return;
    case AttrKind::real: attrs.VinciAdd(number<float>(name, text)); return;
    case AttrKind::text: attrs.VinciAddText(text); return;
    case AttrKind::integers: {
      std::vector<std::int64_t> values;
      for (const std::string& e : elements(text))
        values.push_back(number<std::int64_t>(name, e));
      attrs.VinciAddList(std::move(values));
      return;
    }
    case AttrKind::reals: {
      std::vector<float> values;
      for (const std::string& e : elements(text))
        values.push_back(number<float>(name, e));
      attrs.VinciAddList(std::move(values));
      return;
    }
    case AttrKind::booleans: {
      std::vector<char> values;
      for (const std::string& e : elements(text))
        values.push_back(truth(name, e) ? 1 : 0);
      attrs.VinciAddList(std::move(values));
      return;
    }
    case AttrKind::lists: {
      std::vector<std::vector<std::int64_t>> lists;
      for (std::size_t open = text.find('[', 1); open != std::string::npos; open = text.find('[', open + 1)) {
        const std::size_t close = text.find(']', open);
        if (close == std::string::npos) refuse("the attribute " + name + " is no list of lists: " + text);
        for (lists.emplace_back(); const std::string& e : elements(text.substr(open, close - open + 1)))
          lists.back().push_back(number<std::int64_t>(name, e));
      }
      attrs.VinciAddLists(lists);
      return;
    }
    case AttrKind::none: attrs.VinciAddNone(); return;
  }
}

inline void add_attributes(gert::VinciNode& node, const Definition& d, const Request& request) {
  std::vector<std::string> names;
  for (const ops::OpAttrDef& def : d.op->VinciAttributes()) {
    names.push_back(def.VinciName());
    const auto found = std::find_if(request.attributes.begin(), request.attributes.end(),
                                    [&](const auto& a) { return a.first == def.VinciName(); });
    if (found != request.attributes.end()) {
      add_attribute(node.attributes, def, found->second);
    } else if (def.VinciHasDefault()) {
      add_attribute(node.attributes, def, def.VinciDefault());
    } else if (def.VinciRequired()) {
      refuse("the attribute " + def.VinciName() + " is missing");
    } else {
      add_attribute(node.attributes, def, def.VinciZero());
    }
  }
  for (const auto& [name, value] : request.attributes) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse("there is no attribute " + name + (names.empty() ? "" : "; there are " + joined(names)));
  }
}

// The shape before formatting of one in NZ: (..., N1, M1, M0, N0) is (..., M1 * M0, N1 * N0).
inline gert::Shape origin_shape(const gert::Shape& storage, int format) {
  const std::size_t rank = storage.GetDimNum();
  if (format != ge::FORMAT_FRACTAL_NZ || rank < 4) return storage;
  gert::Shape out;
  for (std::size_t i = 0; i + 4 < rank; ++i)
    out.AppendDim(storage[i]);
  out.AppendDim(storage[rank - 3] * storage[rank - 2]);
  out.AppendDim(storage[rank - 4] * storage[rank - 1]);
  return out;
}

inline gert::Tensor make_tensor(const std::vector<std::int64_t>& dims, int format, int type) {
  gert::Shape storage;
  for (const std::int64_t dim : dims)
    storage.AppendDim(dim);
  const auto own = static_cast<ge::Format>(format < 0 ? int{ge::FORMAT_ND} : format);
  const auto origin = own == ge::FORMAT_FRACTAL_NZ ? ge::FORMAT_ND : own;
  return {gert::StorageShape(origin_shape(storage, own), storage), gert::StorageFormat(origin, own),
          static_cast<ge::DataType>(type)};
}

inline gert::CompileTimeTensorDesc desc_of(const gert::Tensor& t) {
  gert::CompileTimeTensorDesc out;
  out.SetDataType(t.GetDataType());
  out.SetOriginFormat(t.GetOriginFormat());
  out.SetStorageFormat(t.GetStorageFormat());
  return out;
}

class Use {
 public:
  explicit Use(const Request& request) : request_(request), definition_(definition_of(request)) {
    check_names(definition_, request);
    combination_ = combination_of(definition_, request);
    node_.type = request.op;
    node_.name = request.op;
    node_.deterministic = request.deterministic;
    add_attributes(node_, definition_, request);
    add_tensors();
    const auto& known = gert::VinciOperators();
    if (const auto found = known.find(request.op); found != known.end()) registered_ = found->second;
    load_host_inputs();
  }

  void infer() {
    const auto infer_type =
        registered_.infer_type != nullptr ? registered_.infer_type : definition_.op->VinciInferDataType();
    bool unknown = false;
    for (const gert::Tensor& output : node_.outputs)
      unknown = unknown || output.GetDataType() == ge::DT_UNDEFINED;
    if (unknown && infer_type != nullptr) {
      gert::InferDataTypeContext context(node_);
      if (infer_type(&context) != ge::GRAPH_SUCCESS) refuse("InferDataType failed");
    }
    std::deque<gert::Tensor> stated = node_.outputs;
    const auto infer_shape =
        registered_.infer_shape != nullptr ? registered_.infer_shape : definition_.op->VinciInferShape();
    if (infer_shape != nullptr && !all_stated()) {
      gert::InferShapeContext context(node_);
      if (infer_shape(&context) != ge::GRAPH_SUCCESS) refuse("InferShape failed");
    }
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      gert::Tensor& output = node_.outputs[i];
      if (stated_[i]) {
        output.GetShape() = stated[i].GetShape();
      } else if (infer_shape == nullptr) {
        refuse("the operator has no InferShape; state the shape of the output " + output_names_[i]);
      } else {
        for (std::size_t k = 0; k < output.GetOriginShape().GetDimNum(); ++k) {
          if (output.GetOriginShape()[k] < 0)
            refuse("InferShape does not know the shape of the output " + output_names_[i] + "; state it");
        }
        output.MutableStorageShape() = output.GetOriginShape();
      }
      node_.output_descs.push_back(desc_of(output));
    }
  }

  void tile() {
    if (registered_.compile_info != nullptr) node_.compile_info = registered_.compile_info();
    if (registered_.tiling_parse != nullptr) {
      gert::TilingParseContext context(node_);
      if (registered_.tiling_parse(&context) != ge::GRAPH_SUCCESS) refuse("the function of TilingParse failed");
    }
    const auto tiling = registered_.tiling != nullptr ? registered_.tiling : definition_.op->VinciTiling();
    if (tiling == nullptr) refuse("no tiling function is registered for " + request_.op);
    gert::TilingContext context(node_);
    if (tiling(&context) != ge::GRAPH_SUCCESS) refuse("the tiling function refuses this use");
  }

  void write(const char* answer, const char* data) const {
    std::ofstream tiling(data, std::ios::binary);
    tiling.write(static_cast<const char*>(node_.tiling.GetData()),
                 static_cast<std::streamsize>(node_.tiling.GetDataSize()));
    std::ofstream out(answer);
    out << "chip\t" << definition_.chip << "\nfile\t" << definition_.file << "\ncombination\t" << combination_
        << "\nkey\t" << node_.tiling_key << "\nblocks\t" << node_.blocks;
    const auto& keys = template_keys();
    if (const auto found = keys.find(node_.tiling_key); found != keys.end()) {
      out << "\narguments";
      for (const std::uint64_t value : found->second)
        out << '\t' << value;
    }
    out << "\nworkspace";
    for (const std::size_t size : node_.workspace_sizes)
      out << '\t' << size;
    out << '\n';
    for (std::size_t i = 0; i < definition_.params.size(); ++i) {
      const bool input = definition_.is_input(i);
      const gert::AnchorInstanceInfo& info = input ? node_.ir_inputs[i] : node_.ir_outputs[i - definition_.inputs];
      out << "parameter\t" << (input ? "input" : "output") << '\t' << definition_.params[i]->VinciName() << '\t'
          << (definition_.params[i]->VinciOption() == ops::DYNAMIC ? "list" : "one") << '\t'
          << (definition_.params[i]->VinciZeroed() ? "zeroed" : "any") << '\n';
      for (std::size_t k = 0; k < info.GetInstanceNum(); ++k) {
        const gert::Tensor& t = (input ? node_.inputs : node_.outputs)[info.GetInstanceStart() + k];
        out << "tensor\t" << int{t.GetDataType()} << '\t' << int{t.GetStorageFormat()} << '\t';
        for (std::size_t dim = 0; dim < t.GetStorageShape().GetDimNum(); ++dim)
          out << (dim == 0 ? "" : ",") << t.GetStorageShape()[dim];
        out << (t.GetStorageShape().IsScalar() ? "-" : "") << '\n';
      }
    }
    if (!tiling.flush() || !out.flush()) refuse(std::string("cannot write ") + answer);
  }

 private:
  void add_tensors() {
    const auto chosen = ops::OpParams::chosen(definition_.params, combination_);
    for (std::size_t i = 0; i < definition_.params.size(); ++i) {
      const ops::OpParamDef& param = *definition_.params[i];
      const bool input = definition_.is_input(i);
      auto& tensors = input ? node_.inputs : node_.outputs;
      const auto stated = given(input ? request_.inputs : request_.outputs, param.VinciName());
      const auto start = static_cast<std::uint32_t>(tensors.size());
      for (const Given* g : stated) {
        const int type = g->type != ge::DT_UNDEFINED ? g->type : chosen[i].first;
        tensors.push_back(make_tensor(g->dims, g->format >= 0 ? g->format : chosen[i].second, type));
        if (input) {
          files_.push_back(g->file);
        } else {
          stated_.push_back(true);
        }
      }
      // An output with the name of an input is the same tensor.
      for (std::size_t k = 0; !input && stated.empty() && k < definition_.inputs; ++k) {
        if (definition_.params[k]->VinciName() != param.VinciName()) continue;
        const gert::AnchorInstanceInfo& same = node_.ir_inputs[k];
        for (std::size_t n = 0; n < same.GetInstanceNum(); ++n)
          tensors.push_back(node_.inputs[same.GetInstanceStart() + n]);
        stated_.resize(tensors.size(), true);
      }
      if (!input && stated.empty() && tensors.size() == start) {
        if (param.VinciOption() == ops::DYNAMIC) refuse("state each tensor of the output " + param.VinciName());
        tensors.push_back(make_tensor({}, chosen[i].second, chosen[i].first));
        stated_.push_back(false);
      }
      if (!input) output_names_.resize(tensors.size(), param.VinciName());
      (input ? node_.ir_inputs : node_.ir_outputs)
          .emplace_back(start, static_cast<std::uint32_t>(tensors.size()) - start);
    }
    for (const gert::Tensor& t : node_.inputs)
      node_.input_descs.push_back(desc_of(t));
  }

  bool all_stated() const { return std::find(stated_.begin(), stated_.end(), false) == stated_.end(); }

  // Only what the definition or the registration says that the host reads.
  void load_host_inputs() {
    for (std::size_t ir = 0; ir < definition_.inputs; ++ir) {
      const auto& host = registered_.host_inputs;
      if (!definition_.params[ir]->VinciOnHost() && std::find(host.begin(), host.end(), ir) == host.end()) continue;
      const gert::AnchorInstanceInfo& info = node_.ir_inputs[ir];
      for (std::size_t k = 0; k < info.GetInstanceNum(); ++k) {
        const std::size_t i = info.GetInstanceStart() + k;
        std::ifstream in(files_[i], std::ios::binary);
        data_.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        node_.inputs[i].VinciSetData(&data_.back());
      }
    }
  }

  const Request& request_;
  Definition definition_;
  gert::VinciNode node_;
  gert::VinciOperator registered_;
  std::size_t combination_ = 0;
  std::vector<std::string> files_, output_names_;  // of the inputs; of the definition, for each output
  std::vector<bool> stated_;                       // the user stated the shape of the output
  std::deque<std::vector<char>> data_;
};

// The program is called in one of three ways:
//   REQUEST ANSWER TILING_DATA   calls the functions of the operator for the request, and writes both files
//   REQUEST describe             prints what the operator takes
//   names FILE                   writes the names of the operators
// Exit code 2 with a message where the operator cannot be used so.
inline int operator_main(int argc, char** argv) {
  ::vinci_operator_started = true;
  if (argc == 3 && std::string(argv[1]) == "names") {
    std::ofstream out(argv[2]);
    for (const auto& op : ops::VinciDefinitions())
      out << op->VinciName() << '\n';
    return out.flush() ? 0 : 1;
  }
  if (argc != 4 && argc != 3) return 1;
  try {
    const Request request = read_request(argv[1]);
    if (argc == 3) {
      describe(definition_of(request));
      return 0;
    }
    if (request.cube) platform_ascendc::PlatformAscendC::CountedCores() = CoreKind::cube;
    Use use(request);
    use.infer();
    use.tile();
    use.write(argv[2], argv[3]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

}  // namespace vinci::ascendc::host

// What packages log with; errors are shown.
extern "C" {
__attribute__((weak)) std::int32_t CheckLogLevel(std::int32_t, std::int32_t level) {
  constexpr std::int32_t kError = 3;
  return level >= kError ? 1 : 0;
}
__attribute__((weak)) void DlogRecord(std::int32_t, std::int32_t, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
}
}
