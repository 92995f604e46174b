// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_objects.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <sstream>
#include <thread>

#include "isa/base/fnv1a.h"
#include "sim/io/input_file.h"
#include "tools/vinci/cc_compiler.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

std::string first_error(const std::string& text) {
  const usize at = text.find("error:");
  const usize begin = at == std::string::npos ? 0 : text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

Objects::Objects(std::vector<std::string> command, const HeaderSearch& search, fs::path folder)
    : command_(std::move(command)), search_(search), folder_(std::move(folder)) {}

fs::path Objects::object(const fs::path& source) const { return folder_ / (stem(source) + ".o"); }

std::vector<fs::path> Objects::files(const fs::path& source) const {
  std::vector<fs::path> out;
  const fs::path list = folder_ / (stem(source) + ".d");
  if (!fs::exists(list)) return out;
  std::istringstream words(io::read_file(list.string()));
  std::string word;
  words >> word;  // the object: "x.o: x.cpp x.h"
  while (words >> word)
    if (word != "\\") out.emplace_back(word);
  return out;
}

std::vector<fs::path> Objects::compile(const std::vector<fs::path>& sources,
                                       std::map<fs::path, std::string>& failed) const {
  std::atomic<usize> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    for (usize i = next++; i < sources.size(); i = next++) {
      try {
        const std::string error = compile(sources[i]);
        const std::scoped_lock lock(mutex);
        if (!error.empty()) failed.emplace(sources[i], error);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        thrown = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const usize count = std::min<usize>(std::max(1U, std::thread::hardware_concurrency()), sources.size());
    for (usize i = 1; i < count; ++i)
      threads.emplace_back(work);
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
  std::vector<fs::path> out;
  for (const fs::path& source : sources)
    if (!failed.contains(source)) out.push_back(source);
  return out;
}

std::string Objects::stem(const fs::path& source) const {
  u64 hash = fnv1a(source.string());
  for (const std::string& word : command_)
    hash = fnv1a(word + '\n', hash);
  return fmt::format("{}-{:016x}", source.stem().string(), hash);
}

bool Objects::is_fresh(const fs::path& source) const {
  std::error_code error;
  const auto made = fs::last_write_time(object(source), error);
  if (error) return false;
  const std::vector<fs::path> files = this->files(source);
  return !files.empty() && std::ranges::all_of(files, [&](const fs::path& file) {
    const auto changed = fs::last_write_time(file, error);
    return !error && changed < made;
  });
}

std::string Objects::compile(const fs::path& source) const {
  if (is_fresh(source)) return {};
  const fs::path base = folder_ / fmt::format("{}.{}", stem(source), ::getpid());
  const std::string made = base.string() + ".o", list = base.string() + ".d", log = base.string() + ".log";
  std::vector<std::string> words = command_;
  words.insert(words.end(),
               {"-iquote", source.parent_path().string(), "-iquote", source.parent_path().parent_path().string(), "-MD",
                "-MF", list, "-c", source.string(), "-o", made});
  std::error_code error;
  constexpr int kMost = 16;  // folders that are found for one source
  for (int i = 0;; ++i) {
    const auto [code, text] = run_logged(words, log);
    if (code == 0) break;
    if (code == 127) run_compiler(words);  // says that there is none
    fs::remove(made, error);
    fs::remove(list, error);
    const std::string folder = i < kMost ? search_.folder_for(text, source) : "";
    if (folder.empty() || std::ranges::find(words, "-I" + folder) != words.end()) return first_error(text);
    words.push_back("-I" + folder);
  }
  fs::rename(list, folder_ / (stem(source) + ".d"), error);
  fs::rename(made, object(source), error);
  return error ? error.message() : "";
}

}  // namespace vinci::cli
