// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/program.h"
#include "tools/run/arguments.h"
#include "tools/vinci/cc_compiler.h"
#include "tools/vinci/op_headers.h"
#include "tools/vinci/op_objects.h"
#include "tools/vinci/user_cache.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".cpp" || ending == ".cc" || ending == ".cxx";
}

// Folders of op_host that are no host code of these chips: of generations with register vectors, tests, interfaces of
// single operators, lists of prebuilt kernels.
bool is_left_out(const fs::path& folder) {
  static constexpr std::array<std::string_view, 6> kNames{"arch35", "arch36", "tests", "op_api", "config", "op_graph"};
  return std::ranges::find(kNames, folder.filename().string()) != kNames.end();
}

std::vector<fs::path> host_sources_below(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory() && is_left_out(it->path())) {
      it.disable_recursion_pending();
    } else if (is_source(it->path())) {
      out.push_back(fs::weakly_canonical(it->path()));
    }
  }
  std::ranges::sort(out);
  return out;
}

// The source of a header's functions, as packages name it: in the same folder, or in src/ where the header is in inc/
// or include/.
std::vector<fs::path> sources_of(const fs::path& header, const fs::path& checkout) {
  std::vector<fs::path> out;
  const fs::path whole = fs::weakly_canonical(header);
  for (const fs::path& folder : whole.lexically_relative(checkout)) {
    if (is_left_out(folder)) return out;
  }
  fs::path in_src;
  for (const fs::path& part : whole)
    in_src /= part == "inc" || part == "include" ? fs::path("src") : part;
  for (fs::path file : {whole, in_src}) {
    for (const std::string_view ending : {".cpp", ".cc"}) {
      if (fs::is_regular_file(file.replace_extension(ending)) && std::ranges::find(out, file) == out.end())
        out.push_back(file);
    }
  }
  return out;
}

std::vector<std::string> host_command(const OperatorSources& sources, std::vector<std::string> compiler) {
  for (const std::string& folder : include_folders(sources))
    compiler.push_back("-I" + folder);
  for (const std::string& macro : sources.macros)
    compiler.push_back("-D" + macro);
  compiler.insert(compiler.end(), {"-w", "-O0", "-x", "c++", "-std=gnu++17", "-fPIC"});
  return compiler;
}

// The sources of op_host that compile, and of what they include.
std::vector<fs::path> compile_host(const Objects& objects, const fs::path& host, const fs::path& checkout) {
  std::map<fs::path, std::string> failed;
  std::vector<fs::path> out, next = host_sources_below(host), seen = next;
  if (next.empty()) fail_at(Fault::Input, host.string(), "there is no source");
  while (!next.empty()) {
    const std::vector<fs::path> fresh = objects.compile(next, failed);
    out.insert(out.end(), fresh.begin(), fresh.end());
    next.clear();
    for (const fs::path& source : fresh) {
      for (const fs::path& header : objects.files(source)) {
        for (const fs::path& more : sources_of(header, checkout)) {
          if (std::ranges::find(seen, more) != seen.end()) continue;
          seen.push_back(more);
          next.push_back(more);
        }
      }
    }
  }
  for (const auto& [file, error] : failed)
    fmt::print(stderr, "vinci op: left out, as it does not compile: {}\n  {}\n", file.string(), error);
  return out;
}

// What does not compile of a library may not be needed; else the linker misses it.
std::vector<fs::path> compile_libraries(const Objects& objects, const std::vector<std::string>& folders) {
  std::vector<fs::path> all;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) fail(Fault::Input, "--op-lib={}: no such folder", folder);
    const std::vector<fs::path> more = host_sources_below(folder);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::map<fs::path, std::string> failed;
  return objects.compile(all, failed);
}

fs::path compile_main(const Objects& objects, const fs::path& folder) {
  const fs::path main = folder / "operator.cpp";
  const std::string_view text =
      "#include \"ascendc/host/single_operator.h\"\n"
      "int main(int argc, char** argv) { return vinci::ascendc::host::operator_main(argc, argv); }\n";
  if (!fs::exists(main) || io::read_file(main.string()) != text) io::write_file_atomically(main.string(), text);
  std::map<fs::path, std::string> failed;
  objects.compile({main}, failed);
  if (!failed.empty()) fail(Fault::Internal, "{}", failed.begin()->second);
  return main;
}

// What a function that the linker misses returns. Libraries in which CANN keeps tilings of products that were found
// before are not public: they are ready, and have none. Other functions end the program.
std::string stand_in_value(const std::string& mangled) {
  struct Answer {
    std::string_view name;  // as mangled, with the parameters left out
    std::string_view value;
  };
  static constexpr std::array kAnswers{Answer{"_ZN8optiling23TilingPrepareForOpCacheE", "1"},
                                       Answer{"_ZN8optiling9GenTilingE", "0"},
                                       Answer{"_ZN8optiling25CheckSupportConditionQbmmE", "0"},
                                       Answer{"_ZN9RuntimeKb9QueryBankE", "1"},  // an error
                                       Answer{"_ZN8optiling14GenWqbmmTilingE", "0"},
                                       Answer{"_ZN8optiling12GetTbeTilingE", "0"}};
  const auto at = std::ranges::find_if(kAnswers, [&](const Answer& a) { return mangled.starts_with(a.name); });
  return at == kAnswers.end() ? fmt::format("missing(\"{}\")", mangled) : std::string(at->value);
}

// Functions in place of those that the linker misses: code for other chips, or of libraries that are not there, may
// never be called. If it is, the program ends with the name; what registers itself with such a library before main()
// does nothing.
std::string stand_ins(const std::string& log) {
  static const std::regex missing("undefined reference to `([A-Za-z0-9_.$]+)'");
  std::set<std::string> names;
  for (std::sregex_iterator at(log.begin(), log.end(), missing), end; at != end; ++at)
    names.insert((*at)[1]);
  std::string out =
      "#include <cxxabi.h>\n#include <cstdio>\n#include <cstdlib>\n"
      "extern \"C\" bool vinci_operator_started;\n"
      "static long missing(const char* name) {\n  if (!vinci_operator_started) return 0;\n  int status = 0;\n"
      "  const char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);\n"
      "  std::fprintf(stderr, \"%s is called, whose source is not there or does not compile; --op-lib adds a "
      "folder\\n\",\n"
      "               plain != nullptr ? plain : name);\n  std::exit(2);\n}\n";
  for (const std::string& name : names) {
    out += fmt::format("extern \"C\" long missing_{0}() asm(\"{1}\");\nlong missing_{0}() {{ return {2}; }}\n",
                       fnv1a(name), name, stand_in_value(name));
  }
  return out;
}

u64 whole(std::string_view text) {
  u64 out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

graph::Dims dims_of(std::string_view text) {
  graph::Dims out;
  if (text == "-") return out;
  for (const std::string& part : run::split_list(text, ','))
    out.push_back(static_cast<i64>(whole(part)));
  return out;
}

void add_tensor(std::string& text, std::string_view kind, const OperatorTensor& t) {
  constexpr int kUndefined = 28;  // DT_UNDEFINED
  text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", kind, t.name, t.type < 0 ? kUndefined : t.type, t.format,
                      t.dims.empty() ? "-" : fmt::format("{}", fmt::join(t.dims, ",")), t.file);
}

}  // namespace

std::vector<std::string> include_folders(const OperatorSources& sources) {
  std::vector<std::string> out = sources.include;
  const fs::path package = fs::weakly_canonical(sources.package);
  const auto add = [&](const fs::path& folder) {
    if (fs::is_directory(folder)) out.push_back(folder.string());
  };
  add(package);
  const fs::path checkout = checkout_of(package);
  for (fs::path at = package; at != checkout;) {
    at = at.parent_path();
    add(at);
    add(at / "common/inc");
    add(at / "common/include");
  }
  return out;
}

OperatorHost::OperatorHost(const OperatorSources& sources, const std::vector<std::string>& compiler,
                           const io::TempFolder& scratch)
    : scratch_(scratch), program_(scratch / "operator") {
  const fs::path host = fs::path(sources.package) / "op_host", checkout = checkout_of(sources.package);
  if (!fs::is_directory(host)) fail_at(Fault::Input, sources.package, "there is no folder op_host");
  const std::string cache = user_cache();
  const fs::path kept = cache.empty() ? scratch.path() / "objects" : fs::path(cache) / "op";
  fs::create_directories(kept);
  remove_old(kept.string(), "");
  const std::vector<std::string> command = host_command(sources, compiler);
  const HeaderSearch search(checkout);
  const Objects objects(command, search, kept);

  std::vector<fs::path> compiled = compile_host(objects, host, checkout);
  for (const fs::path& source : compiled)
    note_headers(objects.files(source), checkout);
  compiled.push_back(compile_main(objects, kept));
  link(command, objects, compiled, compile_libraries(objects, sources.libraries));
  start(host.string());
}

void OperatorHost::note_headers(const std::vector<fs::path>& files, const fs::path& checkout) {
  for (const fs::path& file : files) {
    std::error_code error;
    const std::string folder = fs::weakly_canonical(file, error).parent_path().string();
    if (!error && folder.starts_with(checkout.string()) &&
        std::ranges::find(header_folders_, folder) == header_folders_.end())
      header_folders_.push_back(folder);
  }
}

void OperatorHost::link(const std::vector<std::string>& command, const Objects& objects,
                        const std::vector<fs::path>& sources, const std::vector<fs::path>& library) const {
  std::vector<std::string> rest{"-x", "none", "-o", program_};
  for (const fs::path& source : sources)
    rest.push_back(objects.object(source).string());
  if (!library.empty()) {
    const std::string archive = scratch_ / "library.a";
    std::vector<std::string> pack{"ar", "rcs", archive};
    for (const fs::path& source : library)
      pack.push_back(objects.object(source).string());
    run_compiler(pack);
    rest.push_back(archive);
  }
  const std::vector<std::string> ours = compiler_options("link.txt");
  rest.insert(rest.end(), ours.begin(), ours.end());
  rest.emplace_back("-Wl,--no-demangle");

  const auto joined = [&](std::vector<std::string> words) {
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  };
  const auto [code, log] = run_logged(joined(command), scratch_ / "link.log");
  if (code == 0) return;
  const std::string file = scratch_ / "missing.cpp";
  io::write_file_atomically(file, stand_ins(log));
  std::vector<std::string> words = command;
  words.push_back(file);
  run_compiler(joined(std::move(words)));
}

void OperatorHost::start(const std::string& host) {
  const std::string list = scratch_ / "names.txt";
  const auto [code, said] = run_logged({program_, "names", list}, scratch_ / "log");
  if (code != 0) fail_at(Fault::Input, host, "the host code does not start: {}", said);
  std::istringstream names(io::read_file(list));
  for (std::string name; names >> name;)
    operators_.push_back(name);
  if (operators_.empty()) fail_at(Fault::Input, host, "nothing defines an operator (OP_ADD)");
}

std::string OperatorHost::request(const OperatorUse& use) const {
  std::string text =
      fmt::format("op\t{}\ndeterministic\t{}\ncube\t{}\n", use.type, use.deterministic ? 1 : 0, use.cube ? 1 : 0);
  for (const std::string& name : use.chips)
    text += fmt::format("chip\t{}\n", name);
  for (const std::string& name : use.other_chips)
    text += fmt::format("other_chip\t{}\n", name);
  for (const auto& [name, value] : use.attributes)
    text += fmt::format("attr\t{}\t{}\n", name, value);
  for (const OperatorTensor& t : use.inputs)
    add_tensor(text, "input", t);
  for (const OperatorTensor& t : use.outputs)
    add_tensor(text, "output", t);
  std::string path = scratch_ / "request.txt";
  io::write_file_atomically(path, text);
  return path;
}

void OperatorHost::describe(const OperatorUse& use) const {
  if (io::run_program({program_, request(use), "describe"}) != 0)
    fail(Fault::Input, "{} cannot be described", use.type);
}

OperatorTiling OperatorHost::tile(const OperatorUse& use, const std::string& chip) {
  const std::string question = request(use), answer = scratch_ / "answer.txt";
  OperatorTiling out;
  out.data = scratch_ / "tiling.bin";
  auto [code, said] = run_logged({"env", "VINCI_CHIP=" + chip, program_, question, answer, out.data}, scratch_ / "log");
  while (said.ends_with('\n'))
    said.pop_back();
  constexpr int kSignal = 128;
  if (code >= kSignal)
    fail(Fault::Input, "{}: the host code of the operator crashed{}{}", use.type, said.empty() ? "" : "\n", said);
  if (code != 0) fail(Fault::Input, "{}: {}", use.type, said);
  if (!said.empty()) fmt::print(stderr, "{}\n", said);

  std::istringstream lines(io::read_file(answer));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> f = run::split_list(line, '\t');
    if (f.size() < 2) continue;
    const std::string& kind = f[0];
    if (kind == "combination") out.combination = whole(f[1]);
    if (kind == "key") out.key = whole(f[1]);
    if (kind == "blocks") out.blocks = whole(f[1]);
    if (kind == "file") out.kernel_file = f[1];
    if (kind == "chip") out.chip = f[1];
    for (usize i = 1; i < f.size() && (kind == "arguments" || kind == "workspace"); ++i)
      (kind == "arguments" ? out.template_arguments : out.workspaces).push_back(whole(f[i]));
    if (kind == "parameter") {
      out.parameters.push_back(
          {.input = f[1] == "input", .list = f[3] == "list", .zeroed = f[4] == "zeroed", .name = f[2], .tensors = {}});
    }
    if (kind == "tensor") {
      out.parameters.back().tensors.push_back({.name = out.parameters.back().name,
                                               .type = static_cast<int>(whole(f[1])),
                                               .format = static_cast<int>(whole(f[2])),
                                               .dims = dims_of(f[3]),
                                               .file = ""});
    }
  }
  return out;
}

}  // namespace vinci::cli
