// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "sim/io/temp_folder.h"
#include "tools/ascendc/prepass/launches.h"
#include "tools/vinci/app.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// A step of the build. The compiler has said what is wrong with the source, so this program ends without a message of
// its own; a compiler that was ended by a signal is reported.
void run(const std::vector<std::string>& words) {
  const int code = io::run_program(words);
  if (code == 127) fail(Fault::Input, "cannot run {}", words[0]);
  if (code == 128) fail(Fault::Limit, "{} was ended by a signal", words[0]);
  if (code != 0) throw CLI::RuntimeError(static_cast<int>(Fault::Input));
}

// The text as a string literal of C++.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return fmt::format("\"{}\"", out);
}

struct Architecture {
  std::string_view option, macro, chip;
};
constexpr std::array kArchitectures{Architecture{"dav-2201", "2201", "ascend-910b1"},
                                    Architecture{"dav-2002", "2002", "ascend-310p3"},
                                    Architecture{"dav-1001", "1001", "ascend-910a"}};

// The command line of a compiler, as far as it must be understood.
struct CommandLine {
  std::vector<std::string> sources, options, rest;  // rest: objects and libraries, in order
  std::vector<std::string> dependencies;            // -MD and the like, for the preprocessor
  std::string output, mode = "timing";
  bool compile_only = false;
  Architecture arch = kArchitectures[0];

  explicit CommandLine(const std::vector<std::string>& args) {
    bool optimised = false, standard = false, debug = false;
    for (usize i = 0; i < args.size(); ++i) {
      const std::string& a = args[i];
      const auto value = [&]() -> const std::string& {
        if (i + 1 == args.size()) fail(Fault::Input, "{}: a value is missing", a);
        return args[++i];
      };
      if (a == "-o") {
        output = value();
      } else if (a == "-c") {
        compile_only = true;
      } else if (a == "-x") {
        value();  // every source is Ascend C
      } else if (a.starts_with("--npu-arch=") || a.starts_with("--cce-aicore-arch=")) {
        set_arch(a.substr(a.find('=') + 1));
      } else if (a.starts_with("--cce-")) {
        // Options of the vendor's code generator, such as --cce-auto-sync: nothing here depends on them.
      } else if (a.starts_with("--run-mode=")) {
        set_mode(a.substr(a.find('=') + 1));
      } else if (a == "-MF" || a == "-MT" || a == "-MQ") {
        dependencies.insert(dependencies.end(), {a, value()});
      } else if (a.starts_with("-M")) {
        dependencies.push_back(a);
      } else if (a == "-I" || a == "-D" || a == "-U" || a == "-include" || a == "-isystem") {
        options.push_back(a);
        options.push_back(value());
      } else if (a.starts_with("-l") || a.starts_with("-L") || a.starts_with("-Wl,")) {
        rest.push_back(a);
      } else if (a.starts_with("-") && a.size() > 1) {
        optimised = optimised || a.starts_with("-O");
        standard = standard || a.starts_with("-std=");
        debug = debug || a.starts_with("-g");
        options.push_back(a);
      } else if (is_source(a)) {
        sources.push_back(a);
      } else {
        rest.push_back(a);
      }
    }
    if (!optimised) options.emplace_back("-O1");
    if (!debug) options.emplace_back("-g");
    if (!standard) options.emplace_back("-std=c++17");
    if (sources.empty() && rest.empty()) fail(Fault::Input, "no input file; Example: vinci cc add.asc -o add");
    if (compile_only && !output.empty() && sources.size() > 1)
      fail(Fault::Input, "-c with -o takes one source, there are {}", sources.size());
  }

 private:
  static bool is_source(const std::string& name) {
    static constexpr std::array kEndings{".asc", ".cpp", ".cc", ".cxx", ".cce"};
    return std::ranges::find(kEndings, fs::path(name).extension().string()) != kEndings.end();
  }
  void set_mode(std::string_view name) {
    if (name != "sim" && name != "cpu") fail(Fault::Input, "--run-mode={}: the modes are sim and cpu", name);
    mode = name == "cpu" ? "functional" : "timing";
    if (name == "cpu") options.emplace_back("-DASCENDC_CPU_DEBUG=1");
  }
  void set_arch(std::string_view name) {
    // dav-2201, and with a suffix for one kind of core: dav-c220-vec is older spelling.
    for (const Architecture& a : kArchitectures) {
      if (name.starts_with(a.option)) {
        arch = a;
        return;
      }
    }
    fail(Fault::Unsupported,
         "--npu-arch={}: supported are dav-2201 (Ascend 910B), dav-2002 (Ascend 310P) and dav-1001 "
         "(Ascend 910)",
         name);
  }
};

// Where this program is, and the folder that it was installed into: bin/vinci, lib/vinci.
fs::path self() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

// The options in a file of ours, one a line, with @PREFIX@ for that folder.
std::vector<std::string> options_of(const std::string& name) {
  const fs::path prefix = self().parent_path().parent_path();
  std::istringstream text(io::read_file((prefix / "lib/vinci" / name).string()));
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view kPrefix = "@PREFIX@";
    const usize at = line.find(kPrefix);
    if (at != std::string::npos) line.replace(at, kPrefix.size(), prefix.string());
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

std::string object_of(const CommandLine& line, const std::string& source) {
  return line.output.empty() ? fs::path(source).stem().string() + ".o" : line.output;
}

// What the source depends on is seen by the preprocessor, which does not know the name of the object.
void add_dependencies(std::vector<std::string>& words, const CommandLine& line, const std::string& source) {
  const std::string object = object_of(line, source);
  const auto given = [&](std::string_view option) { return std::ranges::find(line.dependencies, option); };
  words.insert(words.end(), line.dependencies.begin(), line.dependencies.end());
  if (given("-MT") == line.dependencies.end() && given("-MQ") == line.dependencies.end())
    words.insert(words.end(), {"-MT", object});
  if (given("-MF") == line.dependencies.end())
    words.insert(words.end(), {"-MF", fs::path(object).replace_extension(".d").string()});
}

void compile(const CommandLine& line) {
  const io::TempFolder scratch("vinci-cc");
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "g++";
  std::vector<std::string> common{compiler, fmt::format("-D__NPU_ARCH__={}", line.arch.macro), "-D__VINCI_CC__=1",
                                  "-ffp-contract=off"};
  common.insert(common.end(), line.options.begin(), line.options.end());
  const std::vector<std::string> ours = options_of("compile.txt");
  common.insert(common.end(), ours.begin(), ours.end());
  std::vector<std::string> rewritten;
  for (const std::string& source : line.sources) {
    const std::string stem = fmt::format("{}-{}", rewritten.size(), fs::path(source).stem().string());
    const std::string text = scratch / stem + ".i";
    std::vector<std::string> words = common;
    if (!line.dependencies.empty()) add_dependencies(words, line, source);
    words.insert(words.end(), {"-E", "-x", "c++", source, "-o", text});
    run(words);
    std::string made;
    try {
      made = ascendc::rewrite_launches(io::read_file(text));
    } catch (const Error& e) {
      throw Error(e.fault(), e.message(), source);
    }
    // What the library wants to know, for every translation unit the same.
    made += fmt::format(
        "\nextern \"C\" {{\n"
        "__attribute__((weak)) const char* vinci_ascendc_chip = {};\n"
        "__attribute__((weak)) const char* vinci_ascendc_mode = {};\n}}\n",
        literal(line.arch.chip), literal(line.mode));
    rewritten.push_back(scratch / stem + ".ii");
    io::write_file_atomically(rewritten.back(), made);
    if (!line.compile_only) continue;
    words = common;
    const std::string output = object_of(line, source);
    words.insert(words.end(), {"-c", "-x", "c++-cpp-output", rewritten.back(), "-o", output});
    run(words);
  }
  if (line.compile_only) return;
  std::vector<std::string> words = common;
  if (!rewritten.empty()) words.insert(words.end(), {"-x", "c++-cpp-output"});
  words.insert(words.end(), rewritten.begin(), rewritten.end());
  words.insert(words.end(), {"-x", "none"});
  words.insert(words.end(), line.rest.begin(), line.rest.end());
  const std::vector<std::string> libraries = options_of("link.txt");
  words.insert(words.end(), libraries.begin(), libraries.end());
  words.insert(words.end(), {"-o", line.output.empty() ? "a.out" : line.output});
  run(words);
}

}  // namespace

void add_cc(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("cc", "Compile a program in Ascend C, with its kernels, for a simulated chip");
  take_command_line(*sub, "[COMPILER_OPTION...] SOURCE...");
  sub->footer(
      "Takes the command line of a C++ compiler: sources (.asc, .cpp), -o, -c, -I, -D, -O, -l and so on, and\n"
      "--npu-arch=dav-2201 (the default), dav-2002 or dav-1001, and --run-mode=sim (the default) or cpu (no time, for\n"
      "debugging). Options --cce-* have no effect. The compiler is g++, or $CXX. The program runs by itself or\n"
      "under `vinci sim`; docs/ascendc.md. Exit code 2 where the compiler finds faults, 7 where it is ended by a "
      "signal.\n"
      "Example: vinci cc add.asc -o add && vinci sim ./add");
  sub->callback([sub] { compile(CommandLine(sub->remaining())); });
}

}  // namespace vinci::cli
