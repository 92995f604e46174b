// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/program.h"
#include "tools/run/arguments.h"
#include "tools/vinci/cc_compiler.h"
#include "tools/vinci/header_search.h"

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

// The files that a compiler's list of dependencies ("object: source header \ header") names.
std::vector<fs::path> dependencies(const fs::path& list) {
  std::vector<fs::path> out;
  if (!fs::exists(list)) return out;
  std::istringstream words(io::read_file(list.string()));
  std::string word;
  words >> word;  // the object
  while (words >> word)
    if (word != "\\") out.emplace_back(word);
  return out;
}

fs::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path base = cache != nullptr && *cache != 0 ? fs::path(cache)
                        : home != nullptr               ? fs::path(home) / ".cache"
                                                        : fs::temp_directory_path();
  fs::path out = base / "vinci/op";
  std::error_code error;
  fs::create_directories(out, error);
  if (error) fail(Fault::Input, "cannot make the folder {}: {}", out.string(), error.message());
  return out;
}

// Objects of host code, compiled two and more at a time, kept until a file that they are made of is newer.
class Objects {
 public:
  Objects(std::vector<std::string> command, const HeaderSearch& search)
      : command_(std::move(command)), search_(search), cache_(cache_folder()) {}

  fs::path object(const fs::path& source) const { return cache_ / (stem(source) + ".o"); }
  std::vector<fs::path> headers(const fs::path& source) const { return dependencies(cache_ / (stem(source) + ".d")); }

  // Those of the sources that compile; `failed` gets the others with the first error of each.
  std::vector<fs::path> compile(const std::vector<fs::path>& sources, std::map<fs::path, std::string>& failed) const {
    std::atomic<usize> next = 0;
    std::mutex mutex;
    const auto work = [&] {
      for (usize i = next++; i < sources.size(); i = next++) {
        const std::string error = compile(sources[i]);
        const std::scoped_lock lock(mutex);
        if (!error.empty()) failed.emplace(sources[i], error);
      }
    };
    {
      std::vector<std::jthread> threads;
      const usize count = std::min<usize>(std::max(1U, std::thread::hardware_concurrency()), sources.size());
      for (usize i = 1; i < count; ++i)
        threads.emplace_back(work);
      work();
    }
    std::vector<fs::path> out;
    for (const fs::path& source : sources)
      if (!failed.contains(source)) out.push_back(source);
    return out;
  }

 private:
  std::string stem(const fs::path& source) const {
    u64 hash = fnv1a(source.string());
    for (const std::string& word : command_)
      hash = fnv1a(word + '\n', hash);
    return fmt::format("{}-{:016x}", source.stem().string(), hash);
  }
  bool is_fresh(const fs::path& source) const {
    std::error_code error;
    const auto made = fs::last_write_time(object(source), error);
    if (error) return false;
    const std::vector<fs::path> files = headers(source);
    return !files.empty() && std::ranges::all_of(files, [&](const fs::path& file) {
      const auto changed = fs::last_write_time(file, error);
      return !error && changed < made;
    });
  }
  // "" where it compiles, else the first error.
  std::string compile(const fs::path& source) const {
    if (is_fresh(source)) return {};
    const fs::path base = cache_ / fmt::format("{}.{}", stem(source), ::getpid());
    const std::string made = base.string() + ".o", list = base.string() + ".d", log = base.string() + ".log";
    std::vector<std::string> words = command_;
    words.insert(words.end(),
                 {"-iquote", source.parent_path().string(), "-iquote", source.parent_path().parent_path().string(),
                  "-MD", "-MF", list, "-c", source.string(), "-o", made});
    std::error_code error;
    constexpr int kMost = 16;  // folders that are found for one source
    for (int i = 0;; ++i) {
      const auto [code, text] = run_logged(words, log);
      if (code == 0) break;
      if (code == 127) fail(Fault::Input, "cannot run {}: install the package clang-19", command_[0]);
      fs::remove(made, error);
      fs::remove(list, error);
      const std::string folder = i < kMost ? search_.folder_for(text, source) : "";
      if (folder.empty() || std::ranges::find(words, "-I" + folder) != words.end()) return first_error(text);
      words.push_back("-I" + folder);
    }
    fs::rename(list, cache_ / (stem(source) + ".d"), error);
    fs::rename(made, object(source), error);
    return error ? error.message() : "";
  }
  static std::string first_error(const std::string& text) {
    const usize at = text.find("error:");
    const usize begin = at == std::string::npos ? 0 : text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::vector<std::string> command_;
  const HeaderSearch& search_;
  fs::path cache_;
};

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
    out += fmt::format(
        "extern \"C\" long missing_{0}() asm(\"{1}\");\nlong missing_{0}() {{ return missing(\"{1}\"); }}\n",
        fnv1a(name), name);
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
    : scratch_(scratch) {
  const fs::path host = fs::path(sources.package) / "op_host";
  if (!fs::is_directory(host)) fail_at(Fault::Input, sources.package, "there is no folder op_host");
  std::vector<std::string> command = compiler;
  for (const std::string& folder : include_folders(sources))
    command.push_back("-I" + folder);
  for (const std::string& macro : sources.macros)
    command.push_back("-D" + macro);
  command.insert(command.end(), {"-w", "-O0", "-x", "c++", "-std=gnu++17", "-fPIC"});
  const fs::path checkout = checkout_of(sources.package);
  const HeaderSearch search(checkout);
  const Objects objects(command, search);

  std::map<fs::path, std::string> failed;
  std::vector<fs::path> all = host_sources_below(host);
  if (all.empty()) fail_at(Fault::Input, host.string(), "there is no source");
  for (usize done = 0; done < all.size();) {
    const std::vector<fs::path> fresh =
        objects.compile(std::vector<fs::path>(all.begin() + static_cast<std::ptrdiff_t>(done), all.end()), failed);
    done = all.size();
    for (const fs::path& source : fresh) {
      for (const fs::path& header : objects.headers(source)) {
        for (const fs::path& more : sources_of(header, checkout))
          if (std::ranges::find(all, more) == all.end()) all.push_back(more);
      }
    }
  }
  std::vector<fs::path> library;
  for (const std::string& folder : sources.libraries) {
    if (!fs::is_directory(folder)) fail(Fault::Input, "--op-lib={}: no such folder", folder);
    const std::vector<fs::path> more = host_sources_below(folder);
    library.insert(library.end(), more.begin(), more.end());
  }
  std::map<fs::path, std::string> unused;  // what does not compile of a library is not needed, or the linker says so
  library = objects.compile(library, unused);
  for (const auto& [file, error] : failed)
    fmt::print(stderr, "vinci op: left out, as it does not compile: {}\n  {}\n", file.string(), error);

  const fs::path main = cache_folder() / "operator.cpp";
  const std::string_view text =
      "#include \"ascendc/host/single_operator.h\"\n"
      "int main(int argc, char** argv) { return vinci::ascendc::host::operator_main(argc, argv); }\n";
  if (!fs::exists(main) || io::read_file(main.string()) != text) io::write_file_atomically(main.string(), text);
  std::map<fs::path, std::string> wrong;
  objects.compile({main}, wrong);
  if (!wrong.empty()) fail(Fault::Internal, "{}", wrong.begin()->second);

  program_ = scratch / "operator";
  std::vector<std::string> words = command;
  words.insert(words.end(), {"-x", "none", "-o", program_, objects.object(main).string()});
  for (const fs::path& source : all)
    if (!failed.contains(source)) words.push_back(objects.object(source).string());
  if (!library.empty()) {
    const std::string archive = scratch / "library.a";
    std::vector<std::string> pack{"ar", "rcs", archive};
    for (const fs::path& source : library)
      pack.push_back(objects.object(source).string());
    run_compiler(pack);
    words.push_back(archive);
  }
  const std::vector<std::string> ours = compiler_options("link.txt");
  words.insert(words.end(), ours.begin(), ours.end());
  words.emplace_back("-Wl,--no-demangle");
  const auto [code, log] = run_logged(words, scratch / "link.log");
  if (code != 0) {
    const std::string file = scratch / "missing.cpp";
    io::write_file_atomically(file, stand_ins(log));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(command.size()), file);
    run_compiler(words);
  }

  std::set<std::string> folders;
  for (const fs::path& source : all) {
    for (const fs::path& header : objects.headers(source)) {
      std::error_code error;
      const fs::path folder = fs::weakly_canonical(header, error).parent_path();
      if (!error && folder.string().starts_with(checkout.string())) folders.insert(folder.string());
    }
  }
  header_folders_.assign(folders.begin(), folders.end());

  const std::string list = scratch / "names.txt";
  const auto [names_code, said] = run_logged({program_, "names", list}, scratch / "log");
  if (names_code != 0) fail_at(Fault::Input, host.string(), "the host code does not start: {}", said);
  std::istringstream names(io::read_file(list));
  for (std::string name; names >> name;)
    operators_.push_back(name);
  if (operators_.empty()) fail_at(Fault::Input, host.string(), "nothing defines an operator (OP_ADD)");
}

std::string OperatorHost::request(const OperatorUse& use) const {
  std::string text = fmt::format("op\t{}\ndeterministic\t{}\n", use.type, use.deterministic ? 1 : 0);
  for (const std::string& name : use.chips)
    text += fmt::format("chip\t{}\n", name);
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
