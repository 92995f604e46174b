// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// Precompiled headers of `vinci cc`. A source is preprocessed as a whole; the text that its headers have in common with
// a precompiled text is left out of it, if it is the same there, character by character. docs/front-end.md
namespace vinci::cli {

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
    std::map<std::string, u64, std::less<>> files;  // hash of the text, by name
  };
  std::optional<Ready> ready(const std::string& folder, std::string_view headers) const;

  std::vector<std::string> compiler_;
};

// Hash of the text of each file in preprocessed text.
std::map<std::string, u64, std::less<>> texts_of_files(std::string_view preprocessed);
// The text without that of these files. Line markers stay, without their order of inclusion.
std::string without_files(std::string_view preprocessed, const std::map<std::string, u64, std::less<>>& files);

}  // namespace vinci::cli
