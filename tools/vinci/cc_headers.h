// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "isa/base/types.h"

// Precompiled headers of `vinci cc`. A source is preprocessed as a whole; the text that its headers have in common with
// a precompiled text is left out of it, if it says the same there. docs/front-end.md
namespace vinci::cli {

// What a file contributes to preprocessed text.
struct FileText {
  std::vector<u64> lines;            // hashes, without empty lines
  std::unordered_set<u64> typedefs;  // those of them that are a whole typedef
  bool of_system = false;            // found where the compiler's own headers are
};
using FileTexts = std::map<std::string, FileText, std::less<>>;

class PrecompiledHeaders {
 public:
  // What all compilations of a source share: the compiler and its options.
  explicit PrecompiledHeaders(std::vector<std::string> compiler) : compiler_(std::move(compiler)) {}

  // The options with which `text`, which is preprocessed, is to be compiled; takes out of it what they bring. Nothing
  // where no precompiled text fits, or where there is no folder for it.
  std::vector<std::string> use(std::string& text) const;

 private:
  struct Ready {
    std::string path;
    FileTexts files;
  };
  std::optional<Ready> ready(const std::string& folder, std::string_view headers) const;

  std::vector<std::string> compiler_;
};

FileTexts texts_of_files(std::string_view preprocessed);

// Preprocessed text in which files that were found through a link to a folder ("../name", where a build has
// laid links side by side) have their real names, which messages and lines of kernels then show.
std::string with_real_names(std::string text);
// Whether `precompiled` declares all that its files declare in `source`. The text of a file has to be the same; but the
// headers of C declare names such as size_t in the file that is included first, so those files are compared as one.
// Typedefs that `precompiled` does not have are stored into `kept`: the compiler sees whether they agree.
bool says_the_same(const FileTexts& source, const FileTexts& precompiled, std::unordered_set<u64>& kept);
// The text without that of these files, but for the lines `kept`. What is left has the line markers that it needs.
std::string without_files(std::string_view preprocessed, const FileTexts& files,
                          const std::unordered_set<u64>& kept = {});

}  // namespace vinci::cli
