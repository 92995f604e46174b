// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/cc_operator.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "tools/ascendc/prepass/tiling_structs.h"
#include "tools/vinci/cc_compiler.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// The C++ files below a folder, in the order of their names.
std::vector<fs::path> sources_below(const fs::path& folder) {
  static constexpr std::array<std::string_view, 6> kEndings{".h", ".hpp", ".cpp", ".cc", ".cxx", ".hh"};
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (std::ranges::find(kEndings, it->path().extension().string()) != kEndings.end()) out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

// The source, with the headers that it includes in quotes and that are found, each once; other headers are left out.
class Joined {
 public:
  explicit Joined(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  void add(const fs::path& file) {
    const fs::path normal = fs::weakly_canonical(file);
    if (std::ranges::find(seen_, normal) != seen_.end()) return;
    seen_.push_back(normal);
    bool first = true;
    std::istringstream text(io::read_file(file.string()));
    for (std::string line; std::getline(text, line);) {
      usize at = line.find_first_not_of(" \t");
      if (at == std::string::npos || line[at] != '#') {
        out_ += line + "\n";
        continue;
      }
      at = line.find_first_not_of(" \t", at + 1);
      const auto directive = [&](std::string_view name) {
        return at != std::string::npos && line.compare(at, name.size(), name) == 0;
      };
      // Files of different sources may have the same guard.
      if (first && directive("ifndef ")) out_ += "#undef " + line.substr(at + 7) + "\n";
      first = first && directive("pragma");
      if (!directive("include")) {
        // A test for another package's version may not hold where its headers are left out.
        if (!directive("pragma") && !directive("error") && !directive("warning")) out_ += line + "\n";
        continue;
      }
      const usize open = line.find('"', at), close = line.find('"', open + 1);
      if (open != std::string::npos && close != std::string::npos)
        include(file.parent_path(), line.substr(open + 1, close - open - 1));
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void include(const fs::path& beside, const std::string& name) {
    for (usize i = 0; i <= folders_.size(); ++i) {
      const fs::path file = (i == 0 ? beside : folders_[i - 1]) / name;
      std::error_code error;
      if (!fs::is_regular_file(file, error)) continue;
      add(file);
      return;
    }
  }

  std::vector<fs::path> folders_, seen_;
  std::string out_;
};

// A definition's text in which headers that are not found are left out: those of packages that are not installed. Its
// functions, such as for shapes, may not compile without them; then the compiler says so.
std::string without_missing_headers(const fs::path& file) {
  std::string out = fmt::format("#line 1 \"{}\"\n", fs::absolute(file).string());
  std::istringstream text(io::read_file(file.string()));
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const usize hash = line.find_first_not_of(" \t");
    const usize word = hash == std::string::npos ? hash : line.find_first_not_of(" \t", hash + 1);
    const usize open = line.find_first_of("<\"");
    if (word == std::string::npos || line[hash] != '#' || line.compare(word, 7, "include") != 0 ||
        open == std::string::npos) {
      out += line + "\n";
      continue;
    }
    const usize close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    const std::string name = line.substr(open, close == std::string::npos ? close : close - open + 1);
    out += fmt::format("#if __has_include({})\n#include {}\n#endif\n#line {}\n", name, name, number + 1);
  }
  return out;
}

struct Tensor {
  bool output = false;
  std::string name;
  int type = 0, format = 0;
};
struct Definition {
  std::string name, file;
  usize combinations = 0;
  std::vector<Tensor> tensors;
};

std::vector<Definition> parse(const std::string& printed) {
  std::vector<Definition> out;
  std::istringstream lines(printed);
  for (std::string kind; lines >> kind;) {
    if (kind == "op") {
      Definition& d = out.emplace_back();
      lines >> d.name >> d.file >> d.combinations;
    } else {
      Tensor t{kind == "output", "", 0, 0};
      lines >> t.name >> t.type >> t.format;
      if (!out.empty()) out.back().tensors.push_back(t);
    }
  }
  return out;
}

struct Type {
  int number;
  std::string_view macro, cpp;
};
constexpr std::array kTypes{Type{0, "DT_FLOAT", "float"},
                            Type{1, "DT_FLOAT16", "half"},
                            Type{2, "DT_INT8", "int8_t"},
                            Type{3, "DT_INT32", "int32_t"},
                            Type{4, "DT_UINT8", "uint8_t"},
                            Type{6, "DT_INT16", "int16_t"},
                            Type{7, "DT_UINT16", "uint16_t"},
                            Type{8, "DT_UINT32", "uint32_t"},
                            Type{9, "DT_INT64", "int64_t"},
                            Type{10, "DT_UINT64", "uint64_t"},
                            Type{11, "DT_DOUBLE", "double"},
                            Type{12, "DT_BOOL", "bool"},
                            Type{16, "DT_COMPLEX64", "complex64"},
                            Type{17, "DT_COMPLEX128", "complex128"},
                            Type{27, "DT_BF16", "bfloat16_t"},
                            Type{29, "DT_INT4", "int4b_t"},
                            Type{30, "DT_UINT1", "uint1b_t"},
                            Type{33, "DT_COMPLEX32", "complex32"},
                            Type{34, "DT_HIFLOAT8", "hifloat8_t"},
                            Type{35, "DT_FLOAT8_E5M2", "fp8_e5m2_t"},
                            Type{36, "DT_FLOAT8_E4M3FN", "fp8_e4m3fn_t"}};

// Whether the text defines a struct of that name.
bool defines(std::string_view text, std::string_view name) {
  constexpr std::string_view kStruct = "struct";
  const auto skip = [&](usize at) { return std::min(text.find_first_not_of(" \t\r\n", at), text.size()); };
  for (usize at = text.find(kStruct); at != std::string_view::npos; at = text.find(kStruct, at + 1)) {
    const usize begin = skip(at + kStruct.size()), end = begin + name.size();
    if (text.substr(begin, name.size()) != name) continue;
    const usize next = skip(end);
    if (next < text.size() && (text[next] == '{' || text[next] == ':')) return true;
  }
  return false;
}

std::string macros_of(const Definition& definition) {
  std::string out;
  std::vector<std::string> seen;
  for (const Tensor& t : definition.tensors) {
    std::string name = t.name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    // An output with the name of an input is the same tensor.
    if (t.output && std::ranges::find(seen, name) != seen.end()) name += "_REF";
    seen.push_back(name);
    const auto type = std::ranges::find(kTypes, t.type, &Type::number);
    if (type != kTypes.end()) {
      out += fmt::format("#define DTYPE_{} {}\n", name, type->cpp);
      out += fmt::format("#define ORIG_DTYPE_{} {}\n", name, type->macro);
    } else {
      out += fmt::format("#define ORIG_DTYPE_{} {}\n", name, t.type);
    }
    out += fmt::format("#define FORMAT_{} {}\n", name, t.format);
  }
  return out;
}

std::vector<Definition> definitions_of(const OperatorOptions& options, const std::vector<fs::path>& files,
                                       const std::vector<std::string>& compiler, const std::vector<std::string>& chips,
                                       const std::string& stem, const io::TempFolder& scratch) {
  std::vector<fs::path> with, named;
  for (const fs::path& file : files) {
    const std::string ending = file.extension().string();
    if (ending == ".h" || ending == ".hpp" || ending == ".hh") continue;
    if (io::read_file(file.string()).find("OP_ADD") == std::string::npos) continue;
    with.push_back(file);
    const std::string own = file.stem().string();
    if (own == stem || own == stem + "_def") named.push_back(file);
  }
  if (with.empty()) fail(Fault::Input, "--op-host={}: no file defines an operator (OP_ADD)", options.host);
  std::string text = "#include \"register/op_def_registry.h\"\n";
  std::vector<std::string> beside;  // where their own headers are
  for (const fs::path& file : named.empty() ? with : named) {
    text += without_missing_headers(file);
    beside.insert(beside.end(), {"-iquote", fs::absolute(file).parent_path().string()});
  }
  text += "#line 1 \"definition.cpp\"\n";
  text += "int main() {\n  for (const auto& definition : ::ops::VinciDefinitions())\n    (void)(false";
  for (const std::string& chip : chips)
    text += fmt::format(" || definition->print(\"{}\", {})", chip, options.combination);
  text += ");\n}\n";
  const std::string source = scratch / "definition.cpp", program = scratch / "definition";
  io::write_file_atomically(source, text);
  std::vector<std::string> words = compiler;
  words.insert(words.end(), beside.begin(), beside.end());
  // What else is in those files, such as a tiling function that asks the platform, is not called.
  words.insert(words.end(), {"-w", "-O0", "-x", "c++", source, "-o", program, "-fno-pie", "-no-pie",
                             "-Wl,--unresolved-symbols=ignore-in-object-files"});
  run_compiler(words);
  return parse(io::output_of({program}));
}

const Definition& chosen(const std::vector<Definition>& all, const OperatorOptions& options, const std::string& chip,
                         const std::string& stem) {
  if (all.empty()) fail(Fault::Input, "--op-host={}: no operator is defined for {}", options.host, chip);
  std::string names;
  for (const Definition& d : all) {
    if (options.type.empty() ? d.file == stem || snake_case(d.name) == stem : d.name == options.type) return d;
    names += (names.empty() ? "" : ", ") + d.name;
  }
  if (options.type.empty() && all.size() == 1) return all[0];
  if (options.type.empty())
    fail(Fault::Input, "--op-host={}: which operator is {}? --op-type= names one of {}", options.host, stem, names);
  fail(Fault::Input, "--op-type={}: the operators for {} are {}", options.type, chip, names);
}

}  // namespace

std::string_view operator_type(int number) {
  const auto at = std::ranges::find(kTypes, number, &Type::number);
  return at == kTypes.end() ? std::string_view() : at->cpp;
}

std::string snake_case(std::string_view name) {
  std::string out;
  for (usize i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    const bool after_lower = i > 0 && std::isupper(static_cast<unsigned char>(name[i - 1])) == 0;
    const bool before_lower = i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])) != 0;
    if (upper && i > 0 && (after_lower || before_lower)) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string write_operator_header(const OperatorOptions& options, const std::vector<std::string>& compiler,
                                  const std::vector<std::string>& chips, const std::string& source,
                                  const io::TempFolder& scratch) {
  if (!fs::is_directory(options.host)) fail(Fault::Input, "--op-host={}: no such folder", options.host);
  const std::string stem = fs::path(source).stem().string();
  const std::vector<fs::path> files = sources_below(options.host);
  const std::vector<Definition> all = definitions_of(options, files, compiler, chips, stem, scratch);
  const std::string& chip = chips[0];
  const Definition& definition = chosen(all, options, chip, stem);
  if (options.combination >= definition.combinations)
    fail(Fault::Input, "--op-config={}: {} has {} combinations of data types for {}, from 0", options.combination,
         definition.name, definition.combinations, chip);

  std::vector<fs::path> folders{options.host};
  folders.insert(folders.end(), options.include.begin(), options.include.end());
  Joined joined(folders);
  for (const fs::path& file : files)
    joined.add(file);
  for (const std::string& other : options.others) {
    if (!fs::is_directory(other)) fail(Fault::Input, "--op-host={}: no such folder", other);
    for (const fs::path& file : sources_below(other))
      joined.add(file);
  }
  const std::string raw = scratch / "tiling.cpp", preprocessed = scratch / "tiling.i";
  io::write_file_atomically(raw, joined.take());
  std::vector<std::string> words{compiler[0], "-w", "-E", "-P", "-x", "c++", raw, "-o", preprocessed};
  run_compiler(words);
  const ascendc::TilingStructs structs(io::read_file(preprocessed));
  const auto registered = structs.of(definition.name);
  Joined kernel(folders);
  kernel.add(source);
  const std::string kernel_text = kernel.take();
  std::vector<std::string> types;
  std::string own;
  for (const auto& [name, type] : registered) {
    if (defines(kernel_text, type)) continue;  // the kernel has its own, perhaps in a namespace
    types.push_back(type);
    if (name == definition.name && own.empty()) own = type;
    if (options.tiling_key && name == fmt::format("{}_{}", definition.name, *options.tiling_key)) own = type;
  }

  std::string text = "#pragma once\n#include \"ascendc/type_macros.h\"\n#include \"kernel_tiling/kernel_tiling.h\"\n";
  text += macros_of(definition);
  if (!types.empty()) text += structs.declare(types);
  if (!own.empty()) text += fmt::format("REGISTER_TILING_DEFAULT({});\n", own);
  const std::string header = scratch / "operator.h";
  io::write_file_atomically(header, text);
  return header;
}

}  // namespace vinci::cli
