// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/cc_headers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "tools/vinci/user_cache.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// Texts that are precompiled, the largest first; each with the file that a source must have included for it.
struct Choice {
  std::string_view sign, headers;
};
constexpr std::array kChoices{
    Choice{"/ascendc/matmul/matmul.h", "#include \"kernel_operator.h\"\n#include \"lib/matmul_intf.h\"\n"},
    Choice{"/kernel_operator.h", "#include \"kernel_operator.h\"\n"}};

// The file that a line marker names, # 12 "file" 3; nothing for another line.
std::optional<std::string_view> named_by(std::string_view line) {
  if (line.size() < 5 || line[0] != '#' || line[1] != ' ' || line[2] < '0' || line[2] > '9') return std::nullopt;
  const usize open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close <= open) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

template <class F>
void each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const usize end = std::min(text.find('\n'), text.size() - 1) + 1;
    f(text.substr(0, end));
    text.remove_prefix(end);
  }
}

u64 age_of(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  return error ? 0 : static_cast<u64>(time.time_since_epoch().count());
}

// What the texts depend on besides the options: the compiler, and all headers of ours.
u64 state_of(const std::vector<std::string>& compiler) {
  u64 out = age_of(fs::path("/usr/bin") / compiler[0]);
  for (const std::string& word : compiler) {
    if (!word.starts_with("-I") || word.find("ascend") == std::string::npos) continue;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(word.substr(2), error))
      out = out * 31 + age_of(entry.path());
  }
  return out;
}

// The flags behind the name in a line marker: 1 enters a file, 2 returns to one, 3 is for system headers.
bool has_flag(std::string_view marker, char flag) {
  return marker.find(flag, marker.rfind('"')) != std::string_view::npos;
}

// Which file includes which, as line markers say, and what of that a text without some of the files has to say: some
// warnings are for the main file alone.
class Inclusions {
 public:
  void follow(std::string_view file, std::string_view marker) {
    if (has_flag(marker, '2') && !now_.empty()) now_.pop_back();
    if (has_flag(marker, '1') || now_.empty()) {
      now_.push_back({file, has_flag(marker, '3'), ++entered_});
    } else {
      now_.back().file = file;
    }
  }

  // Goes from the file that was shown last to the present one, whose marker is `marker`.
  void show(std::string& out, std::string_view marker, const FileTexts& left_out) {
    std::vector<Entry> next;
    std::ranges::copy_if(now_, std::back_inserter(next), [&](const Entry& e) { return !left_out.contains(e.file); });
    usize same = 0;
    while (same < next.size() && same < shown_.size() && next[same].number == shown_[same].number)
      ++same;
    const std::string_view line = marker.substr(2, marker.find(' ', 2) - 2);
    if (same == next.size() && same == shown_.size()) write(out, line, next.back(), "");
    for (usize depth = shown_.size(); depth > std::max<usize>(same, 1); --depth)
      write(out, depth - 1 == next.size() ? line : "1", shown_[depth - 2], " 2");
    for (usize i = same; i < next.size(); ++i)
      write(out, i + 1 == next.size() ? line : "1", next[i], i == 0 ? "" : " 1");
    shown_ = std::move(next);
  }

 private:
  struct Entry {
    std::string_view file;
    bool of_system;
    u32 number;  // of the inclusion
  };
  static void write(std::string& out, std::string_view line, const Entry& e, std::string_view flag) {
    out += fmt::format("# {} \"{}\"{}{}\n", line, e.file, flag, e.of_system ? " 3" : "");
  }

  std::vector<Entry> now_, shown_;
  u32 entered_ = 0;
};

}  // namespace

FileTexts texts_of_files(std::string_view preprocessed) {
  FileTexts out;
  FileText* now = nullptr;
  each_line(preprocessed, [&](std::string_view line) {
    if (const auto file = named_by(line)) {
      const auto it = out.find(*file);
      now = it != out.end() ? &it->second : &out[std::string(*file)];
      now->of_system = now->of_system || has_flag(line, '3');
    } else if (now != nullptr && line.size() > 1) {
      now->lines.push_back(fnv1a(line));
      if (line.starts_with("typedef ") && line.ends_with(";\n")) now->typedefs.insert(now->lines.back());
    }
  });
  return out;
}

std::string with_real_names(std::string text) {
  if (text.find("/../") == std::string::npos) return text;
  std::map<std::string, std::string, std::less<>> known;
  std::string out;
  each_line(text, [&](std::string_view line) {
    const auto file = named_by(line);
    if (!file || file->find("/../") == std::string_view::npos) {
      out += line;
      return;
    }
    auto at = known.find(*file);
    if (at == known.end()) {
      std::error_code error;
      const fs::path real = fs::canonical(*file, error);
      const bool through_link = !error && real != fs::absolute(*file).lexically_normal();
      at = known.emplace(*file, through_link ? real.string() : std::string(*file)).first;
    }
    const usize begin = line.find('"') + 1;
    out += line.substr(0, begin);
    out += at->second;
    out += line.substr(begin + file->size());
  });
  return out;
}

bool says_the_same(const FileTexts& source, const FileTexts& precompiled, std::unordered_set<u64>& kept) {
  std::vector<const FileText*> other;  // of the source, with another text
  std::unordered_set<u64> declared;    // by headers of C that are precompiled
  for (const auto& [name, text] : precompiled) {
    const auto it = source.find(name);
    if (it == source.end()) return false;
    const bool of_c = text.of_system && name.find("/c++/") == std::string::npos;
    if (of_c) declared.insert(text.lines.begin(), text.lines.end());
    if (it->second.lines == text.lines) continue;
    if (!of_c) return false;
    other.push_back(&it->second);
  }
  for (const FileText* text : other) {
    for (const u64 line : text->lines) {
      if (declared.contains(line)) continue;
      if (!text->typedefs.contains(line)) return false;
      kept.insert(line);
    }
  }
  return true;
}

std::string without_files(std::string_view preprocessed, const FileTexts& files, const std::unordered_set<u64>& kept) {
  std::string out;
  Inclusions inclusions;
  bool keep = true;
  each_line(preprocessed, [&](std::string_view line) {
    if (const auto file = named_by(line)) {
      inclusions.follow(*file, line);
      keep = !files.contains(*file);
      if (keep) inclusions.show(out, line, files);
    } else if (keep || (!kept.empty() && kept.contains(fnv1a(line)))) {
      out += line;
    }
  });
  return out;
}

std::optional<PrecompiledHeaders::Ready> PrecompiledHeaders::ready(const std::string& folder,
                                                                   std::string_view headers) const {
  u64 key = fnv1a(headers, state_of(compiler_));
  for (const std::string& word : compiler_)
    key = fnv1a(word, key * 31);
  const std::string stem = fmt::format("{}/headers-{:016x}", folder, key);
  Ready out{stem + ".pch", {}};
  std::error_code error;
  if (!fs::exists(out.path, error)) {
    // Built under a name of its own, then renamed: others may build it at the same time.
    const std::string own = fmt::format("{}-{}", stem, ::getpid());
    io::write_file_atomically(stem + ".h", headers);
    std::vector<std::string> words = compiler_;
    words.insert(words.end(), {"-E", "-x", "c++", stem + ".h", "-o", own + ".i"});
    bool good = io::run_program(words, io::Stdout::to_stderr) == 0;
    if (good) {
      io::write_file_atomically(stem + ".i", without_files(io::read_file(own + ".i"), {}));
      words.clear();  // the text has no macros and no includes any more
      std::ranges::copy_if(compiler_, std::back_inserter(words),
                           [](const std::string& word) { return !word.starts_with("-D") && !word.starts_with("-I"); });
      words.insert(words.end(),
                   {"-w", "-x", "c++-header", "-Xclang", "-fno-pch-timestamp", stem + ".i", "-o", own + ".pch"});
      good = io::run_program(words, io::Stdout::to_stderr) == 0;
    }
    if (good) fs::rename(own + ".pch", out.path, error);
    fs::remove(own + ".i", error);
    if (!good) return std::nullopt;
    remove_old(folder, "headers-");
  }
  for (const char* ending : {".pch", ".i", ".h"})
    fs::last_write_time(stem + ending, fs::file_time_type::clock::now(), error);
  out.files = texts_of_files(io::read_file(stem + ".i"));
  std::erase_if(out.files, [&](const auto& f) { return f.first.starts_with('<') || f.first.starts_with(stem); });
  return out;
}

std::vector<std::string> PrecompiledHeaders::use(std::string& text) const {
  const auto files = texts_of_files(text);
  const std::string folder = user_cache();
  if (folder.empty()) return {};
  for (const Choice& choice : kChoices) {
    const bool included =
        std::ranges::any_of(files, [&](const auto& f) { return std::string_view(f.first).ends_with(choice.sign); });
    if (!included) continue;
    const auto found = ready(folder, choice.headers);
    if (!found) continue;
    std::unordered_set<u64> kept;
    if (!says_the_same(files, found->files, kept)) continue;
    text = without_files(text, found->files, kept);
    return {"-Xclang", "-include-pch", "-Xclang", found->path};
  }
  return {};
}

}  // namespace vinci::cli
