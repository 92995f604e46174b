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
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// A step of the build; ends this program with the code of one that fails.
void run(const std::vector<std::string>& words) {
  const int code = io::run_program(words);
  if (code == 127) fail(Fault::Input, "cannot run {}", words[0]);
  if (code != 0) throw CLI::RuntimeError(code);
}

struct Architecture {
  std::string_view option, macro, chip;
};
constexpr std::array kArchitectures{Architecture{"dav-2201", "2201", "ascend-910b1"},
                                    Architecture{"dav-2002", "2002", "ascend-310p3"}};

// The command line of a compiler, as far as it must be understood.
struct CommandLine {
  std::vector<std::string> sources, options, rest;  // rest: objects and libraries, in order
  std::string output;
  bool compile_only = false, preprocess = true;
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
      } else if (a == "-I" || a == "-D" || a == "-U" || a == "-include" || a == "-isystem" || a == "-MF" ||
                 a == "-MT") {
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
  void set_arch(std::string_view name) {
    // dav-2201, and with a suffix for one kind of core: dav-c220-vec is older spelling.
    for (const Architecture& a : kArchitectures) {
      if (name.starts_with(a.option)) {
        arch = a;
        return;
      }
    }
    fail(Fault::Unsupported, "--npu-arch={}: supported are dav-2201 (Ascend 910B) and dav-2002 (Ascend 310P)", name);
  }
};

// The options in a response file beside this program.
std::string response_file(const std::string& name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return "@" + (self.parent_path().parent_path() / "ascendc" / name).string();
}

void compile(const CommandLine& line) {
  const io::TempFolder scratch("vinci-cc");
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "g++";
  std::vector<std::string> common{compiler, fmt::format("-D__NPU_ARCH__={}", line.arch.macro), "-D__VINCI_CC__=1",
                                  "-ffp-contract=off"};
  common.insert(common.end(), line.options.begin(), line.options.end());
  common.push_back(response_file("compile.rsp"));

  std::error_code error;
  const std::string tool = fs::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> rewritten;
  for (const std::string& source : line.sources) {
    const std::string stem = fmt::format("{}-{}", rewritten.size(), fs::path(source).stem().string());
    const std::string text = scratch / stem + ".i";
    std::vector<std::string> words = common;
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
        "__attribute__((weak)) const char* vinci_ascendc_tool = \"{}\";\n"
        "__attribute__((weak)) const char* vinci_ascendc_chip = \"{}\";\n}}\n",
        tool, line.arch.chip);
    rewritten.push_back(scratch / stem + ".ii");
    io::write_file_atomically(rewritten.back(), made);
    if (!line.compile_only) continue;
    words = common;
    const std::string output = line.output.empty() ? fs::path(source).stem().string() + ".o" : line.output;
    words.insert(words.end(), {"-c", "-x", "c++-cpp-output", rewritten.back(), "-o", output});
    run(words);
  }
  if (line.compile_only) return;
  std::vector<std::string> words = common;
  if (!rewritten.empty()) words.insert(words.end(), {"-x", "c++-cpp-output"});
  words.insert(words.end(), rewritten.begin(), rewritten.end());
  words.insert(words.end(), {"-x", "none"});
  words.insert(words.end(), line.rest.begin(), line.rest.end());
  words.push_back(response_file("link.rsp"));
  words.insert(words.end(), {"-o", line.output.empty() ? "a.out" : line.output});
  run(words);
}

}  // namespace

void add_cc(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("cc", "Compile a program in Ascend C, with its kernels, for a simulated chip");
  sub->prefix_command();
  sub->footer(
      "Takes the command line of a C++ compiler: sources (.asc, .cpp), -o, -c, -I, -D, -O, -l and so on, and\n"
      "--npu-arch=dav-2201 (the default) or dav-2002. The compiler is g++, or $CXX. The program runs by itself or\n"
      "under `vinci sim`; docs/ascendc.md.\n"
      "Example: vinci cc add.asc -o add && vinci sim ./add");
  sub->callback([sub] { compile(CommandLine(sub->remaining())); });
}

}  // namespace vinci::cli
