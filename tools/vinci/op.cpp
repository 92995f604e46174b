// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/program.h"
#include "tools/vinci/app.h"
#include "tools/vinci/cc_compiler.h"
#include "tools/vinci/cc_operator.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/kernel_signature.h"
#include "tools/vinci/op_headers.h"
#include "tools/vinci/op_host.h"
#include "tools/vinci/op_launch.h"
#include "tools/vinci/op_tensors.h"
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

// The number of __NPU_ARCH__.
std::string_view npu_arch(isa::Arch arch) {
  switch (arch) {
    case isa::Arch::c220: return "2201";
    case isa::Arch::m200: return "2002";
    case isa::Arch::c100: return "1001";
    case isa::Arch::m100: break;
  }
  fail(Fault::Unsupported, "operators are not compiled for {}", isa::name(arch));
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
  const std::string_view number = npu_arch(chip.arch);
  OperatorSources sources{.package = o.package, .include = o.include, .libraries = o.libraries, .macros = o.macros};
  add_opbase(sources, o.opbase);
  std::vector<std::string> compiler{kCompiler, "-D__VINCI_CC__=1", "-DVINCI_HOST_CODE=1",
                                    fmt::format("-D__NPU_ARCH__={}", number)};
  const std::vector<std::string> ours = compiler_options("compile.txt");
  compiler.insert(compiler.end(), ours.begin(), ours.end());

  Random random(o.seed);
  OperatorUse use{.type = "",
                  .chips = definition_chips(number),
                  .other_chips = other_definition_chips(number),
                  .inputs = {},
                  .outputs = {},
                  .attributes = {},
                  .deterministic = o.deterministic};
  for (usize i = 0; i < o.inputs.size(); ++i)
    use.inputs.push_back(parse_input(o.inputs[i], random, scratch / fmt::format("input{}.raw", i)));
  for (const std::string& text : o.outputs)
    use.outputs.push_back(parse_output(text));
  for (const std::string& text : o.attributes)
    use.attributes.push_back(name_and_value(text, "--attr"));

  use.cube = has_products((fs::path(o.package) / "op_kernel").string());
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
  const LaunchProgram launch =
      launch_program(tiling, use, source, kernel,
                     {.folder = scratch.path().string(),
                      .in_place = o.in_place,
                      .pool = allocation != nullptr && std::string_view(allocation) == "pages"});
  const std::string asc = scratch / (snake_case(use.type) + ".asc");
  io::write_file_atomically(asc, launch.text);
  const std::string tool = fs::read_symlink("/proc/self/exe").string();
  const std::string program = o.program.empty() ? scratch / snake_case(use.type) : fs::absolute(o.program).string();
  std::vector<std::string> compile{tool,
                                   "cc",
                                   asc,
                                   "-o",
                                   program,
                                   fmt::format("--npu-arch=dav-{}", number),
                                   "--op-host=" + (fs::path(o.package) / "op_host").string(),
                                   "--op-type=" + use.type,
                                   "--op-chip=" + tiling.chip,
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
  const int code = io::run_program(std::move(run));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(Fault::Input, "cannot make the folder {}: {}", folder.string(), error.message());
  std::map<std::string, usize> seen;
  for (const OperatorTensor& t : launch.outputs) {
    const usize count = seen[t.name]++;
    // The program writes them before the check says what it has found, and not where a fault ends it.
    if (code != 0 && !fs::exists(t.file)) continue;
    const fs::path path = folder / (count == 0 ? t.name + ".npy" : fmt::format("{}-{}.npy", t.name, count));
    write_npy(t, path.string());
    if (!o.quiet) print_out(fmt::format("{}: {} [{}]\n", path.string(), type_text(t), fmt::join(t.dims, ", ")));
  }
  if (code != 0) throw CLI::RuntimeError(code);
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
  sub->add_option("--mode", o->mode, "timing, full or functional, as `vinci sim`")
      ->capture_default_str()
      ->check(CLI::IsMember({"timing", "full", "functional"}));
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
