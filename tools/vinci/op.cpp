// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/npy.h"
#include "sim/io/program.h"
#include "tools/vinci/app.h"
#include "tools/vinci/cc_compiler.h"
#include "tools/vinci/cc_operator.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/header_search.h"
#include "tools/vinci/kernel_signature.h"
#include "tools/vinci/op_host.h"
#include "tools/vinci/options.h"

// One use of an operator of a package: its host code says how the kernel is launched, and the kernel runs so.
// docs/operators.md
namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

struct OpRun {
  std::string package, type, soc, chip, output, mode = "timing", numerics, program, opbase;
  std::vector<std::string> inputs, outputs, in_place, attributes, include, libraries, macros;
  bool deterministic = false, check = false, trace = false, explain = false, describe = false, tiling_only = false,
       quiet = false;
  u64 seed = 1;
};

// The number of a type in the published enumeration, and the name of C++.
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

graph::DataType type_named(std::string_view name, const std::string& where) {
  std::vector<std::string_view> names;
  for (usize i = 0; i < graph::kDataTypes.size(); ++i) {
    if (graph::kDataTypes[i].name == name) return static_cast<graph::DataType>(i);
    names.push_back(graph::kDataTypes[i].name);
  }
  fail_at(Fault::Input, where, "there is no type '{}'{}", name, did_you_mean(name, names));
}

int number_of(graph::DataType type) { return std::ranges::find(kTypeNumbers, type, &TypeName::type)->number; }

// Throws Fault::Unsupported for types that tensors of operators have and this command does not.
graph::DataType type_of(const OperatorTensor& t) {
  const auto at = std::ranges::find(kTypeNumbers, t.type, &TypeName::number);
  if (at == kTypeNumbers.end())
    fail(Fault::Unsupported, "{}: the data type with the number {} is not supported here", t.name, t.type);
  return at->type;
}

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

// "NAME=REST".
std::pair<std::string, std::string> named(const std::string& text, const std::string& option) {
  const usize equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    fail_at(Fault::Input, option, "'{}' is no NAME=VALUE", text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void put_raw(const std::string& path, std::span<const std::byte> bytes) { io::write_file_atomically(path, bytes); }

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
  put_raw(raw, file.read(header.data_offset, header.data_bytes));
  return out;
}

// "x=x.npy", "x=f16:4,1024", "x=f16:4,1024:FRACTAL_NZ=0.5", "x=i64=1,2", "x=bf16:4,1024@x.bin". The contents go into
// `raw`.
OperatorTensor parse_input(const std::string& text, Random& random, const std::string& raw) {
  const std::string where = "--input";
  auto [name, rest] = named(text, where);
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
    put_raw(raw, file.read(0, bytes));
    return out;
  }
  graph::Array values(type, out.dims);
  if (mark != std::string::npos) {
    fill_with(values, content, where);
  } else {
    fill_randomly(values, random);
  }
  put_raw(raw, graph::Tensor(values).bytes());
  return out;
}

// "y=4,1024", "y=f16:4,1024".
OperatorTensor parse_output(const std::string& text) {
  const std::string where = "--output";
  const auto [name, rest] = named(text, where);
  const std::vector<std::string> parts = split_list(rest, ':');
  OperatorTensor out{.name = name, .type = -1, .format = -1, .dims = {}, .file = ""};
  if (parts.size() > 1) out.type = number_of(type_named(parts[0], where));
  out.dims = parse_dims(parts[parts.size() > 1 ? 1 : 0], where);
  if (parts.size() > 2) out.format = format_named(parts[2], where);
  return out;
}

// How compilers and definitions of operators name an architecture.
struct OperatorArchitecture {
  isa::Arch arch;
  std::string_view number;
  std::vector<std::string> chips;
};
const OperatorArchitecture& operator_architecture(isa::Arch arch) {
  static const std::array kAll{OperatorArchitecture{isa::Arch::c220, "2201", {"ascend910b", "ascend910_93"}},
                               OperatorArchitecture{isa::Arch::m200, "2002", {"ascend310p"}},
                               OperatorArchitecture{isa::Arch::c100, "1001", {"ascend910"}}};
  const auto at = std::ranges::find(kAll, arch, &OperatorArchitecture::arch);
  if (at == kAll.end()) fail(Fault::Unsupported, "operators are not compiled for {}", isa::name(arch));
  return *at;
}

// Where the checkout of opbase, which most public packages are built with, has its headers and its host code.
void add_opbase(OperatorSources& sources, const std::string& checkout) {
  if (checkout.empty()) return;
  for (const std::string_view folder :
       {"include", "include/op_common", "include/op_common/op_host", "pkg_inc", "pkg_inc/op_common"})
    sources.include.push_back((fs::path(checkout) / folder).string());
  const fs::path code = fs::path(checkout) / "src/op_common";
  if (!fs::is_directory(code)) fail(Fault::Input, "--opbase={}: there is no folder src/op_common", checkout);
  sources.libraries.push_back(code.string());
}

std::string chosen_type(const std::vector<std::string>& all, const OpRun& o) {
  if (!o.type.empty()) {
    if (std::ranges::find(all, o.type) == all.end())
      fail(Fault::Input, "--op-type={}: the operators are {}", o.type, fmt::join(all, ", "));
    return o.type;
  }
  if (all.size() == 1) return all[0];
  const std::string folder = fs::weakly_canonical(o.package).filename().string();
  const auto at = std::ranges::find_if(all, [&](const std::string& name) { return snake_case(name) == folder; });
  if (at != all.end()) return *at;
  fail(Fault::Input, "--op-type: which of {}?", fmt::join(all, ", "));
}

u64 bytes_of(const OperatorTensor& t) { return graph::element_count(t.dims) * graph::info(type_of(t)).bytes; }

std::string cpp_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The program that launches the kernel once.
class LaunchProgram {
 public:
  // `pool`: all tensors are in one allocation.
  LaunchProgram(const OperatorTiling& tiling, const OperatorUse& use, const std::string& folder,
                const std::vector<std::string>& in_place, bool pool)
      : tiling_(tiling), use_(use), folder_(folder), changed_(in_place), pool_(pool) {
    for (const std::string& name : in_place) {
      const auto same = [&](const OperatorParameter& p) { return p.input && p.name == name; };
      if (std::ranges::none_of(tiling.parameters, same))
        fail(Fault::Input, "--in-place={}: there is no such input", name);
    }
  }

  std::string text(const std::string& source, const KernelSignature& kernel) {
    usize next_input = 0;
    all_in_place_ = std::ranges::all_of(tiling_.parameters, &OperatorParameter::input);
    for (const OperatorParameter& p : tiling_.parameters)
      add(p, next_input);
    u64 workspace = 0;
    for (const u64 bytes : tiling_.workspaces)
      workspace += bytes;
    const u64 data = fs::file_size(tiling_.data);
    body_ += fmt::format("  uint8_t* workspace = launch.memory({});\n  uint8_t* tiling = launch.input({}, {});\n",
                         workspace, cpp_string(tiling_.data), data);
    arguments_.insert(arguments_.end(), {"workspace", "tiling"});
    if (arguments_.size() != kernel.parameters.size()) {
      fail_at(Fault::Input, source, "the kernel {} has {} parameters; inputs, outputs, workspace and tiling are {}",
              kernel.name, kernel.parameters.size(), arguments_.size());
    }
    return fmt::format(
        "// Written by `vinci op`.\n#include \"kernel_operator.h\"\n#include \"ascendc/host/launch_operator.h\"\n"
        "#include {}\n\nint main() {{\n  ::vinci::ascendc::host::Launch launch({});\n{}"
        "  {}{}<<<{}, nullptr, launch.stream()>>>({});\n  return launch.finish();\n}}\n",
        cpp_string(source), pool_ ? pool_bytes(workspace + data) : 0, body_, kernel.name,
        template_arguments(kernel, source), tiling_.blocks, fmt::join(arguments_, ", "));
  }
  // The tensors that are written, each with the raw file that it is in.
  const std::vector<OperatorTensor>& outputs() const { return outputs_; }

 private:
  // Of all tensors, lists of them, and `more` bytes.
  u64 pool_bytes(u64 more) const {
    constexpr u64 kRoom = 4096;  // around each
    u64 bytes = more + 4 * kRoom;
    for (const OperatorParameter& p : tiling_.parameters) {
      bytes += kRoom;
      for (const OperatorTensor& t : p.tensors)
        bytes += bytes_of(t) + kRoom;
    }
    return bytes;
  }

  void add(const OperatorParameter& p, usize& next_input) {
    std::vector<std::string> names;
    for (const OperatorTensor& t : p.tensors) {
      const std::string name = fmt::format("tensor{}", tensors_++);
      names.push_back(name);
      if (p.input) {
        body_ += fmt::format("  uint8_t* {} = launch.input({}, {});\n", name, cpp_string(use_input(p.name, next_input)),
                             bytes_of(t));
        if (!p.list) in_place_[p.name] = name;
        if (all_in_place_ || std::ranges::find(changed_, p.name) != changed_.end()) add_in_place(t, name, name);
        continue;
      }
      // An output with the name of an input is the same memory.
      if (const auto same = in_place_.find(p.name); same != in_place_.end()) {
        add_in_place(t, name, same->second);
        continue;
      }
      OperatorTensor out = t;
      out.file = output_file();
      body_ += fmt::format("  uint8_t* {} = launch.output({}, {}, {});\n", name, cpp_string(out.file), bytes_of(t),
                           p.zeroed);
      outputs_.push_back(out);
    }
    if (!p.list) {
      arguments_.push_back(names.empty() ? "nullptr" : names[0]);
      return;
    }
    std::vector<std::string> pieces;
    for (usize i = 0; i < names.size(); ++i)
      pieces.push_back(fmt::format("{{{}, {{{}}}}}", names[i], fmt::join(p.tensors[i].dims, ", ")));
    const std::string list = fmt::format("list{}", arguments_.size());
    body_ += fmt::format("  uint8_t* {} = launch.list({{{}}});\n", list, fmt::join(pieces, ", "));
    arguments_.push_back(list);
  }

  std::string output_file() const { return (fs::path(folder_) / fmt::format("{}.raw", outputs_.size())).string(); }
  // The tensor in that variable is written at the end.
  void add_in_place(const OperatorTensor& t, const std::string& name, const std::string& variable) {
    const std::string file = output_file();
    OperatorTensor& out = outputs_.emplace_back(t);
    out.file = file;
    body_ += fmt::format("  {}{} = launch.written({}, {}, {}, false);\n", name == variable ? "" : "uint8_t* ", name,
                         variable, cpp_string(out.file), bytes_of(t));
  }

  // Inputs come in the order of the definition; those of one name in that of the command line.
  std::string use_input(const std::string& name, usize& next) {
    if (name != last_) next = 0;
    last_ = name;
    usize seen = 0;
    for (const OperatorTensor& t : use_.inputs)
      if (t.name == name && seen++ == next) {
        ++next;
        return t.file;
      }
    fail(Fault::Internal, "the host code names an input {} that is not given", name);
  }

  std::string template_arguments(const KernelSignature& kernel, const std::string& source) const {
    const auto& parameters = kernel.template_parameters;
    if (parameters.empty()) return "";
    if (parameters.size() != tiling_.template_arguments.size()) {
      fail_at(Fault::Input, source, "the kernel {} is a template with {} parameters; its tiling key names {}",
              kernel.name, parameters.size(), tiling_.template_arguments.size());
    }
    std::vector<std::string> out;
    for (usize i = 0; i < parameters.size(); ++i) {
      out.push_back(parameters[i].type == "typename"
                        ? fmt::format("::vinci::ascendc::host::TypeOf<{}>::type", tiling_.template_arguments[i])
                        : fmt::format("({}){}", parameters[i].type, tiling_.template_arguments[i]));
    }
    return fmt::format("<{}>", fmt::join(out, ", "));
  }

  const OperatorTiling& tiling_;
  const OperatorUse& use_;
  std::string folder_, body_, last_;
  std::vector<std::string> arguments_, changed_;  // inputs that are written, too
  std::map<std::string, std::string> in_place_;
  std::vector<OperatorTensor> outputs_;
  usize tensors_ = 0;
  bool pool_, all_in_place_ = false;  // it has no outputs: it changes its inputs
};

std::string kernel_source(const OpRun& o, const OperatorTiling& tiling, const std::string& type) {
  const fs::path folder = fs::path(o.package) / "op_kernel";
  const std::string stem =
      tiling.kernel_file.empty() || tiling.kernel_file == "-" ? snake_case(type) : tiling.kernel_file;
  for (const std::string& name : {stem, snake_case(type)}) {
    for (const std::string_view ending : {".cpp", ".cce", ".asc"}) {
      const fs::path file = folder / (name + std::string(ending));
      if (fs::is_regular_file(file)) return fs::absolute(file).string();
    }
  }
  fail_at(Fault::Input, folder.string(), "there is no kernel {}.cpp", stem);
}

std::string type_text(const OperatorTensor& t) {
  const auto at = std::ranges::find(kTypeNumbers, t.type, &TypeName::number);
  return at == kTypeNumbers.end() ? fmt::format("type {}", t.type) : std::string(graph::info(at->type).name);
}

void print_tiling(const OperatorTiling& tiling, const std::string& type) {
  print_out(fmt::format("{}: tiling key {}, {}, workspace {} bytes, tiling data {} bytes\n", type, tiling.key,
                        counted(tiling.blocks, "block"),
                        tiling.workspaces.empty() ? "0" : fmt::format("{}", fmt::join(tiling.workspaces, " + ")),
                        fs::file_size(tiling.data)));
  for (const OperatorParameter& p : tiling.parameters) {
    for (const OperatorTensor& t : p.tensors)
      print_out(fmt::format("  {:6} {} {} [{}]\n", p.input ? "input" : "output", p.name, type_text(t),
                            fmt::join(t.dims, ", ")));
  }
}

// bfloat16 becomes float32, which NumPy has and which has each of its values.
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

void step(std::vector<std::string> words) {
  if (const int code = io::run_program(std::move(words)); code != 0) throw CLI::RuntimeError(code);
}

// A folder in which "../NAME/" is the folder op_kernel of the operator NAME.
std::string beside_other_kernels(const std::string& package, const io::TempFolder& scratch) {
  const fs::path all = scratch.path() / "kernels", own = all / "this";
  fs::create_directories(own);
  for (const auto& [name, folder] : kernel_folders(checkout_of(package)))
    if (name != own.filename()) fs::create_directory_symlink(folder, all / name);
  return own.string();
}

void compile_kernel(std::vector<std::string> words, const std::string& package, const std::string& source,
                    const std::string& log) {
  const HeaderSearch search(checkout_of(package));
  constexpr int kMost = 16;  // folders that are found
  for (int i = 0;; ++i) {
    const auto [code, text] = run_logged(words, log);
    if (code == 0) return;
    const std::string folder = i < kMost ? search.folder_for(text, source) : "";
    if (folder.empty() || std::ranges::find(words, "-I" + folder) != words.end()) {
      fmt::print(stderr, "{}", text);
      throw CLI::RuntimeError(code);
    }
    words.push_back("-I" + folder);
  }
}

void run_operator(const OpRun& o) {
  if (!fs::is_directory(o.package)) fail_at(Fault::Input, o.package, "there is no such folder");
  const std::string chip_name = !o.chip.empty() ? o.chip : !o.soc.empty() ? chip_of_soc(o.soc) : "ascend-910b1";
  const config::ChipConfig chip = config::load_chip(chip_name);
  const io::TempFolder scratch("vinci-op");
  const OperatorArchitecture& architecture = operator_architecture(chip.arch);
  OperatorSources sources{.package = o.package, .include = o.include, .libraries = o.libraries, .macros = o.macros};
  add_opbase(sources, o.opbase);
  std::vector<std::string> compiler{kCompiler, "-D__VINCI_CC__=1", "-DVINCI_HOST_CODE=1",
                                    fmt::format("-D__NPU_ARCH__={}", architecture.number)};
  const std::vector<std::string> ours = compiler_options("compile.txt");
  compiler.insert(compiler.end(), ours.begin(), ours.end());

  Random random(o.seed);
  OperatorUse use{.type = "",
                  .chips = architecture.chips,
                  .inputs = {},
                  .outputs = {},
                  .attributes = {},
                  .deterministic = o.deterministic};
  for (usize i = 0; i < o.inputs.size(); ++i)
    use.inputs.push_back(parse_input(o.inputs[i], random, scratch / fmt::format("input{}.raw", i)));
  for (const std::string& text : o.outputs)
    use.outputs.push_back(parse_output(text));
  for (const std::string& text : o.attributes)
    use.attributes.push_back(named(text, "--attr"));

  OperatorHost host(sources, compiler, scratch);
  use.type = chosen_type(host.operators(), o);
  if (o.describe) return host.describe(use);
  const OperatorTiling tiling = host.tile(use, chip_name);
  if (!o.quiet || o.tiling_only) print_tiling(tiling, use.type);
  if (o.tiling_only) return;

  const std::string source = kernel_source(o, tiling, use.type);
  const std::vector<KernelSignature> kernels = kernels_in(without_comments(io::read_file(source)));
  const KernelSignature& kernel = kernel_named(kernels, snake_case(use.type), source);
  const char* const allocation = std::getenv("VINCI_ALLOCATION");
  LaunchProgram launch(tiling, use, scratch.path().string(), o.in_place,
                       allocation != nullptr && std::string_view(allocation) == "pages");
  const std::string asc = scratch / (snake_case(use.type) + ".asc");
  io::write_file_atomically(asc, launch.text(source, kernel));
  const std::string tool = fs::read_symlink("/proc/self/exe").string();
  const std::string program = o.program.empty() ? scratch / snake_case(use.type) : fs::absolute(o.program).string();
  std::vector<std::string> compile{tool,
                                   "cc",
                                   asc,
                                   "-o",
                                   program,
                                   fmt::format("--npu-arch=dav-{}", architecture.number),
                                   "--op-host=" + (fs::path(o.package) / "op_host").string(),
                                   "--op-type=" + use.type,
                                   fmt::format("--op-config={}", tiling.combination),
                                   fmt::format("--tiling-key={}", tiling.key),
                                   "-I" + fs::path(source).parent_path().string(),
                                   "-w"};
  compile.push_back("-I" + beside_other_kernels(o.package, scratch));
  for (const auto& folders : {include_folders(sources), host.header_folders()})
    for (const std::string& folder : folders)
      compile.push_back("-I" + folder);
  for (const std::string& macro : o.macros)
    compile.push_back("-D" + macro);
  compile_kernel(std::move(compile), o.package, source, scratch / "kernel.log");

  const fs::path folder = o.output.empty() ? fs::path("out") / kernel.name : fs::path(o.output);
  std::vector<std::string> run{tool,     "sim",  "--chip",   chip_name,
                               "--mode", o.mode, "--output", (folder / "profile").string()};
  if (o.check) run.emplace_back("--check");
  if (o.trace) run.emplace_back("--trace");
  if (o.explain) run.emplace_back("--explain");
  if (o.quiet) run.emplace_back("--quiet");
  if (!o.numerics.empty()) run.push_back("--numerics=" + o.numerics);
  run.push_back(program);
  step(run);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(Fault::Input, "cannot make the folder {}: {}", folder.string(), error.message());
  std::map<std::string, usize> seen;
  for (const OperatorTensor& t : launch.outputs()) {
    const usize count = seen[t.name]++;
    const fs::path path = folder / (count == 0 ? t.name + ".npy" : fmt::format("{}-{}.npy", t.name, count));
    write_npy(t, path.string());
    if (!o.quiet) print_out(fmt::format("{}: {} [{}]\n", path.string(), type_text(t), fmt::join(t.dims, ", ")));
  }
}

}  // namespace

void add_op(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("op", "Run one operator of a package: its tiling function, then its kernel");
  const auto o = std::make_shared<OpRun>();
  const auto repeated = [&](const std::string& name, std::vector<std::string>& into, const std::string& help) {
    sub->add_option(name, into, help + "; may be repeated")->allow_extra_args(false);
  };
  sub->add_option("package", o->package, "The operator's folder, with op_host and op_kernel in it")->required();
  repeated("--input", o->inputs,
           "An input: NAME=FILE.npy, NAME=TYPE:SHAPE[:FORMAT] (random), and then =VALUE,... or @FILE of raw contents");
  repeated("--output", o->outputs, "The shape of an output that the operator cannot infer: NAME=[TYPE:]SHAPE");
  repeated("--in-place", o->in_place, "An input that the kernel changes: it is written as outputs are");
  repeated("--attr", o->attributes, "An attribute: NAME=VALUE, a list as 1,2,3");
  sub->add_option("--op-type", o->type, "Which operator, if the folder defines several");
  repeated("-I,--include", o->include, "A folder of headers");
  sub->add_option("--opbase", o->opbase, "A checkout of opbase: its headers and its host code");
  repeated("--op-lib", o->libraries, "A folder of more host code, of which what is needed is linked");
  repeated("-D", o->macros, "A macro: NAME or NAME=VALUE");
  sub->add_option("--soc-version", o->soc, "The chip by its product name, such as Ascend910B1");
  sub->add_option("--chip", o->chip, "The same as a built-in chip or a chip file")->excludes("--soc-version");
  sub->add_option("--output-dir", o->output, "Folder of the results; if not given, out/OPERATOR");
  sub->add_option("--mode", o->mode, "timing, full or functional, as `vinci sim`")->capture_default_str();
  sub->add_flag("--deterministic", o->deterministic, "Tell the host code to choose what does not depend on the order");
  sub->add_flag("--describe", o->describe, "Print the inputs, outputs and attributes of the operator, and run nothing");
  sub->add_flag("--tiling-only", o->tiling_only, "Print what the tiling function says, and run nothing");
  sub->add_option("--program", o->program, "Also keep the compiled program in this file");
  sub->add_option("--seed", o->seed, "Seed of random inputs")->capture_default_str()->transform(integer());
  add_allocation(*sub);
  sub->add_flag("--check", o->check, "Look for races and the like");
  sub->add_flag("--numerics{events}", o->numerics, "Count numeric events, as `vinci sim`");
  sub->add_flag("--trace", o->trace, "Also write the timeline trace.json");
  sub->add_flag("--explain", o->explain, "Also say why the kernel takes its time");
  sub->add_flag("-q,--quiet", o->quiet, "Print no summary");
  sub->footer("Example: vinci op ops-math/math/is_finite --opbase opbase --input x=f16:64,1024");
  sub->callback([o] { run_operator(*o); });
}

}  // namespace vinci::cli
