// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "sim/io/temp_folder.h"
#include "tools/ascendc/prepass/launches.h"
#include "tools/vinci/app.h"
#include "tools/vinci/cc_compiler.h"
#include "tools/vinci/cc_headers.h"
#include "tools/vinci/cc_launch.h"
#include "tools/vinci/cc_operator.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// The text as a string literal of C++.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return fmt::format("\"{}\"", out);
}

// The kinds of cores that a source is compiled for.
enum class Kinds : u8 { split, vector, cube, joint };

struct Architecture {
  std::string_view option, macro, chip;
  Kinds kinds;
};
// Names of --npu-arch, and those of --cce-aicore-arch.
constexpr std::array kArchitectures{Architecture{"dav-2201", "2201", "ascend-910b1", Kinds::split},
                                    Architecture{"dav-c220", "2201", "ascend-910b1", Kinds::split},
                                    Architecture{"dav-c220-vec", "2201", "ascend-910b1", Kinds::vector},
                                    Architecture{"dav-c220-cube", "2201", "ascend-910b1", Kinds::cube},
                                    Architecture{"dav-2002", "2002", "ascend-310p3", Kinds::joint},
                                    Architecture{"dav-m200", "2002", "ascend-310p3", Kinds::joint},
                                    Architecture{"dav-1001", "1001", "ascend-910a", Kinds::joint},
                                    Architecture{"dav-c100", "1001", "ascend-910a", Kinds::joint}};

// Libraries of the vendor's that programs link. What Vinci has of them is in its own library; a file of that name in a
// folder of -L goes first.
constexpr std::array<std::string_view, 20> kLibraries{
    "ascendcl",     "acl_rt",   "runtime",    "ascendc_runtime", "runtime_camodel", "tiling_api",   "register",
    "platform",     "graph",    "graph_base", "exe_graph",       "metadef",         "c_sec",        "mmpa",
    "unified_dlog", "nnopbase", "profapi",    "ascendalog",      "ascend_dump",     "error_manager"};

// Options of the vendor's code generator that change neither what a program computes nor what it issues: its stack,
// the layout of its objects, its messages. They are accepted without an effect.
constexpr std::array<std::string_view, 20> kWithoutEffect{
    "cce-aicore-stack-size",
    "cce-aicore-function-stack-size",
    "cce-aicore-block-local-init",
    "cce-aicore-record-overflow",
    "cce-aicore-addr-transform",
    "cce-aicore-dcci-insert-for-scalar",
    "cce-aicore-dcci-before-kernel-end",
    "cce-aicore-jump-expand",
    "cce-aicore-long-call",
    "cce-aicore-mask-opt",
    "cce-aicore-or-combine",
    "cce-aicore-sink-function-addr",
    "cce-disable-kernel-global-attr-check",
    "cce-enable-mix",
    "cce-enable-print",
    "cce-fatobj-link",
    "cce-long-call",
    "cce-soc-core-type",
    "cce-soc-version",
    "cce-vf-vl",
};

// The command line of a compiler, as far as it must be understood.
struct CommandLine {
  std::vector<std::string> sources, options, rest;  // rest: objects and libraries, in order
  std::vector<std::string> dependencies;            // -MD and the like, for the preprocessor
  std::string output, mode = "timing";
  std::string auto_sync, auto_sync_log;  // "on" or "off", a file; "": not given
  bool scalar_code = true;               // it is counted
  bool compile_only = false;
  bool cce = false;  // -xcce: intrinsics are known without a header
  OperatorOptions op;
  Architecture arch = kArchitectures[0];

  explicit CommandLine(const std::vector<std::string>& args) {
    bool optimised = false, standard = false, debug = false, arch_given = false;
    std::vector<std::string> library_folders;
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
        cce = value() == "cce" || cce;  // every source is Ascend C
      } else if (a.starts_with("-x")) {
        cce = a == "-xcce" || cce;
      } else if (a.starts_with("--npu-arch=") || a.starts_with("--cce-aicore-arch=")) {
        set_arch(a.substr(0, a.find('=')), a.substr(a.find('=') + 1));
        arch_given = true;
      } else if (a.starts_with("--cce-")) {
        take_vendor_option(a);
      } else if (a == "-mllvm") {
        const std::string& option = value();
        if (option.starts_with("-cce-")) {
          take_vendor_option(option);
        } else {
          options.insert(options.end(), {a, option});
        }
      } else if (a == "-Xhost-start" || a == "-Xhost-end" || a == "-Xaicore-start" || a == "-Xaicore-end") {
        // What is between them is for the host's code, or for kernels: one compilation has both.
      } else if (a == "--scalar-code=on" || a == "--scalar-code=off") {
        scalar_code = a.ends_with("=on");
      } else if (a.starts_with("--scalar-code")) {
        fail(Fault::Input, "{}: --scalar-code=on or --scalar-code=off", a);
      } else if (a.starts_with("--op-host=")) {
        (op.host.empty() ? op.host : op.others.emplace_back()) = a.substr(a.find('=') + 1);
      } else if (a.starts_with("--op-type=")) {
        op.type = a.substr(a.find('=') + 1);
      } else if (a.starts_with("--op-chip=")) {
        op.chip = a.substr(a.find('=') + 1);
      } else if (a.starts_with("--op-config=")) {
        op.combination = number(a);
      } else if (a.starts_with("--tiling-key=")) {
        op.tiling_key = number(a);
        options.push_back(fmt::format("-DTILING_KEY_VAR={}UL", *op.tiling_key));
      } else if (a == "--sanitizer" || a == "-lineinfo") {
        // Kernels know their lines, and `--check` asks for no preparation.
      } else if (a.starts_with("--run-mode=")) {
        set_mode(a.substr(a.find('=') + 1));
      } else if (a == "-MF" || a == "-MT" || a == "-MQ") {
        dependencies.insert(dependencies.end(), {a, value()});
      } else if (a.starts_with("-M")) {
        dependencies.push_back(a);
      } else if (a == "-I" || a == "-D" || a == "-U" || a == "-include" || a == "-isystem") {
        options.push_back(a);
        options.push_back(value());
        if (a == "-I") op.include.push_back(options.back());
      } else if (a.starts_with("-L")) {
        rest.push_back(a);
        library_folders.push_back(a.size() == 2 ? value() : a.substr(2));
        if (a.size() == 2) rest.push_back(library_folders.back());
      } else if (a.starts_with("-l") || a.starts_with("-Wl,")) {
        rest.push_back(a);
      } else if (a.starts_with("-") && a.size() > 1) {
        optimised = optimised || a.starts_with("-O");
        standard = standard || a.starts_with("-std=");
        debug = debug || a.starts_with("-g");
        if (a.starts_with("-I")) op.include.push_back(a.substr(2));
        options.push_back(a == "-g0" ? "-gline-tables-only" : a);  // instructions have lines
      } else if (is_source(a)) {
        sources.push_back(a);
      } else {
        rest.push_back(a);
      }
    }
    if (!optimised) options.emplace_back("-O1");
    // addr2line of Debian 12 loses inlined calls in version 5. An option behind it says how much there is.
    options.insert(options.begin(), "-gdwarf-4");
    // Instructions have lines; what else a debugger needs takes a quarter of the time to compile.
    if (!debug) options.emplace_back(mode == "functional" ? "-g" : "-gline-tables-only");
    std::erase_if(rest, [&](const std::string& word) { return vendors_library(word, library_folders); });
    // Packages of operators are built as C++17: in C++20 a class that declares a defaulted constructor is no aggregate.
    if (!standard) options.emplace_back("-std=gnu++17");
    if (cce && !arch_given) set_arch("--cce-aicore-arch", "dav-c220");
    if (sources.empty() && rest.empty()) fail(Fault::Input, "no input file; Example: vinci cc add.asc -o add");
    if (compile_only && !output.empty() && sources.size() > 1)
      fail(Fault::Input, "-c with -o takes one source, there are {}", sources.size());
  }

 private:
  static u64 number(const std::string& option) {
    const std::string value = option.substr(option.find('=') + 1);
    u64 out = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (error != std::errc() || end != value.data() + value.size())
      fail(Fault::Input, "{}: a whole number from 0", option);
    return out;
  }
  static bool vendors_library(const std::string& word, const std::vector<std::string>& folders) {
    if (!word.starts_with("-l") || std::ranges::find(kLibraries, word.substr(2)) == kLibraries.end()) return false;
    return std::ranges::none_of(folders, [&](const fs::path& folder) {
      const std::string file = "lib" + word.substr(2);
      return fs::exists(folder / (file + ".so")) || fs::exists(folder / (file + ".a"));
    });
  }
  static bool is_source(const std::string& name) {
    static constexpr std::array kEndings{".asc", ".cpp", ".cc", ".cxx", ".cce"};
    return std::ranges::find(kEndings, fs::path(name).extension().string()) != kEndings.end();
  }
  void set_mode(std::string_view name) {
    if (name != "sim" && name != "cpu") fail(Fault::Input, "--run-mode={}: the modes are sim and cpu", name);
    mode = name == "cpu" ? "functional" : "timing";
    if (name == "cpu") options.emplace_back("-DASCENDC_CPU_DEBUG=1");
  }
  void set_arch(std::string_view option, std::string_view name) {
    for (const Architecture& a : kArchitectures) {
      if (name == a.option) {
        arch = a;
        return;
      }
    }
    fail(Fault::Unsupported,
         "{}={}: supported are dav-2201 (Ascend 910B), dav-2002 (Ascend 310P) and dav-1001 (Ascend 910), or by their "
         "older names dav-c220, dav-c220-vec, dav-c220-cube, dav-m200 and dav-c100",
         option, name);
  }
  void take_vendor_option(std::string_view option) {
    const std::string_view name = option.substr(option.find_first_not_of('-'));
    constexpr std::string_view kSync = "cce-auto-sync", kLog = "cce-auto-sync-log=";
    if (name == kSync || name == "cce-auto-sync=on" || name == "cce-auto-sync=off") {
      auto_sync = name == kSync ? "on" : name.substr(kSync.size() + 1);
      return;
    }
    if (name.starts_with("cce-auto-sync=")) fail(Fault::Input, "{}: on or off", option);
    if (name.starts_with(kLog) && name.size() > kLog.size()) {
      auto_sync_log = fs::absolute(name.substr(kLog.size())).string();
      return;
    }
    if (name.starts_with("cce-auto-sync-log")) fail(Fault::Input, "{}: a file is missing", option);
    for (const std::string_view known : kWithoutEffect) {
      if (name == known || (name.starts_with(known) && name[known.size()] == '=')) return;
    }
    fail(Fault::Unsupported, "{}: this option is not known here, and could change what the program does; leave it out",
         option);
  }
};

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

// One compilation of a source: for which kind of core, and its text after preprocessing and pre-pass.
struct Pass {
  std::string_view kind;  // as the plugin knows it
  int core_type;          // AscendC::AIC, AIV or MIX
  std::vector<std::string> macros;
  std::string text;
  std::vector<std::string> headers;  // options for what is precompiled of it
  bool asks_for_kind = false;        // its files mention macros of the kind
};

std::vector<Pass> passes_of(Kinds kinds) {
  const Pass vector{"vector", 2, {"-D__DAV_C220_VEC__=1", "-D__DAV_VEC__=1"}, "", {}, false};
  const Pass cube{"cube", 1, {"-D__DAV_C220_CUBE__=1", "-D__DAV_CUBE__=1"}, "", {}, false};
  switch (kinds) {
    case Kinds::split: return {vector, cube};
    case Kinds::vector: return {{"only-vector", 2, vector.macros, "", {}, false}};
    case Kinds::cube: return {{"only-cube", 1, cube.macros, "", {}, false}};
    case Kinds::joint: return {{"both", 3, {}, "", {}, false}};
  }
  return {};
}

class Compilation {
 public:
  explicit Compilation(const CommandLine& line) : line_(line) {
    common_ = {kCompiler, fmt::format("-D__NPU_ARCH__={}", line.arch.macro), "-D__CCE__=1", "-D__VINCI_CC__=1"};
    common_.insert(common_.end(), line.options.begin(), line.options.end());
    const std::vector<std::string> ours = compiler_options("compile.txt");
    common_.insert(common_.end(), ours.begin(), ours.end());
    // Kernels follow pointers of other types, and the null pointer is an address of UB.
    common_.insert(common_.end(), {"-ffp-contract=off", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks"});
    headers_ = PrecompiledHeaders(for_headers());
  }

  void run_all() {
    std::vector<std::string> objects;
    for (const std::string& source : line_.sources) {
      const std::string stem = fmt::format("{}-{}", objects.size(), fs::path(source).stem().string());
      objects.push_back(line_.compile_only ? object_of(line_, source) : scratch_ / stem + ".o");
      compile(source, scratch_ / stem, objects.back());
    }
    if (line_.compile_only) return;
    std::vector<std::string> words = common_;
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), line_.rest.begin(), line_.rest.end());
    const std::vector<std::string> libraries = compiler_options("link.txt");
    words.insert(words.end(), libraries.begin(), libraries.end());
    words.insert(words.end(),
                 {"-Wno-unused-command-line-argument", "-o", line_.output.empty() ? "a.out" : line_.output});
    run_compiler(words);
  }

 private:
  void compile(const std::string& source, const std::string& stem, const std::string& object) const {
    std::vector<Pass> passes = passes_of(line_.arch.kinds);
    preprocess(source, fmt::format("{}.{}.i", stem, passes[0].kind), passes[0], true);
    if (passes.size() == 2) {
      Pass& other = passes[1];
      if (passes[0].asks_for_kind) {
        preprocess(source, fmt::format("{}.{}.i", stem, other.kind), other, false);
      } else {
        other.text = passes[0].text;
        other.headers = passes[0].headers;
      }
      // Most sources do not ask for the kind of the core.
      if (passes[0].text == other.text && other.text.find("vinci_core_type") == std::string::npos) {
        passes.pop_back();
        passes[0].kind = "both";
      }
    }
    u64 hash = fnv1a(source);
    for (const Pass& pass : passes)
      hash = fnv1a(pass.text, hash);
    std::vector<std::string> objects;
    for (const Pass& pass : passes) {
      objects.push_back(passes.size() == 1 ? object : fmt::format("{}.{}.o", stem, pass.kind));
      generate(fmt::format("{}.{}.ii", stem, pass.kind), pass, hash, &pass == passes.data(), objects.back());
    }
    if (objects.size() == 1) return;
    std::vector<std::string> words{kCompiler, "-r", "-nostdlib"};
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), {"-o", object});
    run_compiler(words);
  }

  void preprocess(const std::string& source, const std::string& output, Pass& pass, bool first) const {
    std::vector<std::string> words = common_;
    if (first && !line_.dependencies.empty()) add_dependencies(words, line_, source);
    words.insert(words.end(), pass.macros.begin(), pass.macros.end());
    if (line_.cce) words.insert(words.end(), {"-include", "ascendc/cce.h"});
    if (!line_.op.host.empty()) words.insert(words.end(), {"-include", operator_header(source)});
    if (const std::string launches = write_launch_headers(source, scratch_); !launches.empty())
      words.push_back("-I" + launches);
    words.insert(words.end(), {"-E", "-x", "c++", source, "-o", output});
    run_compiler(words);
    try {
      pass.text = with_real_names(io::read_file(output));
      pass.asks_for_kind = asks_for_kind(pass.text);
      pass.headers = headers_.use(pass.text);
      pass.text = ascendc::rewrite_launches(pass.text);
    } catch (const Error& e) {
      throw Error(e.fault(), e.message(), source);
    }
  }

  // Whether the macros of a kind of core, __DAV_VEC__ and the like, may have an effect on the preprocessed text.
  bool asks_for_kind(std::string_view text) const {
    constexpr std::string_view kMacros = "__DAV_";
    const std::string ours = own_headers();
    const auto mentions = [&](const std::string& word) { return word.find(kMacros) != std::string::npos; };
    const auto asks = [&](const auto& file) {
      const std::string& name = file.first;
      if (name.starts_with('<') || (!ours.empty() && name.starts_with(ours))) return false;
      return !fs::exists(name) || mentions(io::read_file(name));
    };
    return std::ranges::any_of(line_.options, mentions) || std::ranges::any_of(texts_of_files(text), asks);
  }

  std::string operator_header(const std::string& source) const {
    std::string& made = operator_headers_[source];
    if (made.empty())
      made = write_operator_header(
          line_.op, common_,
          line_.op.chip.empty() ? definition_chips(line_.arch.macro) : std::vector<std::string>{line_.op.chip}, source,
          scratch_);
    return made;
  }

  void generate(const std::string& input, const Pass& pass, u64 hash, bool host, const std::string& object) const {
    std::string text = fmt::format(
        "inline constexpr int vinci_core_type = {}; namespace AscendC {{ using ::vinci_core_type; }}\n{}\n"
        "extern \"C\" {{\n__attribute__((used)) char vinci_front_end_pass[] = {};\n",
        pass.core_type, pass.text,
        literal(fmt::format("{} {} {:016x} {} {}", host ? "host" : "device", pass.kind, hash,
                            line_.scalar_code ? "counted" : "free", own_headers())));
    if (host) {
      for (const std::string& kernel : ascendc::kernels_of_c(pass.text)) {
        text += fmt::format(
            "__attribute__((weak)) ::vinci::ascendc::Signature vinci_signature_{0} = "
            "::vinci::ascendc::SignatureOf<&::{0}>::value();\n",
            kernel);
      }
      // What the library wants to know, for every translation unit the same.
      text += fmt::format(
          "__attribute__((weak)) const char* vinci_ascendc_chip = {};\n"
          "__attribute__((weak)) const char* vinci_ascendc_mode = {};\n",
          literal(line_.arch.chip), literal(line_.mode));
      for (const auto& [name, value] :
           {std::pair("auto_sync", &line_.auto_sync), {"auto_sync_log", &line_.auto_sync_log}}) {
        if (!value->empty())
          text += fmt::format("__attribute__((weak)) const char* vinci_ascendc_{} = {};\n", name, literal(*value));
      }
    }
    io::write_file_atomically(input, text + "}\n");
    std::vector<std::string> words = common_;
    words.insert(words.end(), pass.headers.begin(), pass.headers.end());
    // Preprocessed text has lost which parentheses a macro has added, and GCC's <algorithm> warns of itself.
    words.insert(words.end(),
                 {"-fno-vectorize", "-fno-slp-vectorize", "-fpass-plugin=" + plugin().string(),
                  "-Wno-unused-command-line-argument", "-Wno-parentheses-equality", "-Wno-deprecated-declarations",
                  // `object.template IterateAll(c)` is what samples write, and what other compilers take.
                  "-Wno-missing-template-arg-list-after-template-kw",
                  // So are numbers in braces that may not fit, which clang refuses otherwise.
                  "-Wno-error=c++11-narrowing"});
    words.insert(words.end(), {"-c", "-x", "c++-cpp-output", input, "-o", object});
    run_compiler(words);
  }

  // The compiler with the options that change what headers are, for all sources that are compiled alike. Those of one
  // source, such as its own macros, are left out: what they change is not taken from the precompiled text.
  std::vector<std::string> for_headers() const {
    std::vector<std::string> out;
    for (usize i = 0; i < common_.size(); ++i) {
      const std::string& word = common_[i];
      static constexpr std::array<std::string_view, 5> kWithValue{"-I", "-D", "-U", "-include", "-isystem"};
      if (std::ranges::find(kWithValue, word) != kWithValue.end()) {
        ++i;
      } else if (word.starts_with("-D_") || word.starts_with("-DNDEBUG") || word.starts_with("-DASC") ||
                 (!word.starts_with("-D") && !word.starts_with("-U") && !word.starts_with("-I") &&
                  !word.starts_with("-W") && !word.starts_with("-isystem"))) {
        out.push_back(word);
      }
    }
    const std::vector<std::string> ours = compiler_options("compile.txt");
    out.insert(out.end(), ours.begin(), ours.end());
    return out;
  }

  // The folder of our headers: code in them is not the user's.
  static std::string own_headers() {
    for (const std::string& option : compiler_options("compile.txt")) {
      if (option.starts_with("-I")) return fs::path(option.substr(2)).lexically_normal().string() + "/";
    }
    return {};
  }

  static fs::path plugin() {
    fs::path out = vinci_prefix() / "lib/vinci/libvinci_kernels.so";
    if (!fs::exists(out)) {
      fail(Fault::Input,
           "{} is missing: this Vinci was built without llvm-19-dev; install clang-19 and llvm-19-dev, then build it "
           "again",
           out.string());
    }
    return out;
  }

  const CommandLine& line_;
  io::TempFolder scratch_{"vinci-cc"};
  std::vector<std::string> common_;
  PrecompiledHeaders headers_{{}};
  mutable std::map<std::string, std::string> operator_headers_;  // by source
};

}  // namespace

void add_cc(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("cc", "Compile a program in Ascend C, with its kernels, for a simulated chip");
  take_command_line(*sub, "[COMPILER_OPTION...] SOURCE...");
  sub->footer(
      "Takes the command line of a C++ compiler: sources (.asc, .cpp), -o, -c, -I, -D, -O, -l and so on, and\n"
      "--npu-arch=dav-2201 (the default), dav-2002 or dav-1001, and --run-mode=sim (the default) or cpu (no time, for\n"
      "debugging). --op-host=FOLDER, --op-type, --op-chip, --op-config and --tiling-key are for kernels of operators; "
      "docs/ascendc.md.\n"
      "The compiler is clang-19. The program runs by itself or under `vinci sim`; docs/ascendc.md.\n"
      "Exit code 2 where the compiler finds faults, 7 where it is ended by a signal.\n"
      "Example: vinci cc add.asc -o add && vinci sim ./add");
  sub->callback([sub] {
    const CommandLine line(sub->remaining());
    Compilation(line).run_all();
  });
}

}  // namespace vinci::cli
