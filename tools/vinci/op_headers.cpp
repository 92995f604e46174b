// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_headers.h"

#include <algorithm>
#include <regex>

#include "isa/base/types.h"

namespace vinci::cli {

namespace fs = std::filesystem;

namespace {

// How many folders two paths have in common from the root on.
usize common_folders(const fs::path& a, const fs::path& b) {
  return static_cast<usize>(std::ranges::mismatch(a, b).in1 == a.end()
                                ? std::distance(a.begin(), a.end())
                                : std::distance(a.begin(), std::ranges::mismatch(a, b).in1));
}

}  // namespace

fs::path checkout_of(const fs::path& package) {
  const fs::path whole = fs::weakly_canonical(package);
  constexpr int kMost = 8;
  fs::path at = whole;
  for (int i = 0; i < kMost && at.has_relative_path(); ++i) {
    at = at.parent_path();
    for (const std::string_view sign : {".git", "version.cmake", "build.sh"})
      if (fs::exists(at / sign)) return at;
  }
  return whole;
}

std::map<std::string, fs::path> kernel_folders(const fs::path& checkout) {
  std::map<std::string, fs::path> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(checkout, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory()) continue;
    const std::string name = it->path().filename().string();
    if (name == "op_kernel") {
      out.emplace(it->path().parent_path().filename().string(), it->path());
      it.disable_recursion_pending();
    } else if (name == "tests" || name == ".git" || name == "experimental") {
      it.disable_recursion_pending();
    }
  }
  return out;
}

std::string HeaderSearch::folder_for(const std::string& messages, const fs::path& source) const {
  static const std::regex missing("fatal error: '([^']+)' file not found");
  std::smatch m;
  if (!std::regex_search(messages, m, missing)) return {};
  const fs::path wanted = m[1].str();
  const std::scoped_lock lock(mutex_);
  if (!listed_) {
    listed_ = true;
    std::error_code error;
    for (fs::recursive_directory_iterator it(checkout_, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (it->is_directory() && (name == "tests" || name == ".git")) {
        it.disable_recursion_pending();
      } else if (name.ends_with(".h") || name.ends_with(".hpp")) {
        headers_.emplace(name, it->path());
      }
    }
  }
  // "a/b.h" is found in FOLDER where FOLDER/a/b.h is.
  const auto [first, last] = headers_.equal_range(wanted.filename().string());
  fs::path best;
  for (auto at = first; at != last; ++at) {
    fs::path folder = at->second;
    bool ends = true;
    fs::path rest = wanted;
    while (!rest.empty() && ends) {
      ends = rest.filename() == folder.filename();
      folder = folder.parent_path();
      rest = rest.parent_path();
    }
    if (ends && (best.empty() || common_folders(folder, source) > common_folders(best, source))) best = folder;
  }
  return best.string();
}

}  // namespace vinci::cli
