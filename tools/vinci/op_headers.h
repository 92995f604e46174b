// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// Headers that a compiler does not find, looked for in the whole checkout of an operator: which folders its build adds
// is written in build scripts that nothing here runs.
namespace vinci::cli {

// The nearest folder around an operator that is a checkout (a repository, or what has version.cmake or build.sh), at
// most five above; the operator itself where there is none.
std::filesystem::path checkout_of(const std::filesystem::path& package);

// The folders op_kernel below the checkout, by the name of the folder that each is in. A package's build lays them side
// by side, so that kernels include "../rms_norm/rms_norm_base.h".
std::map<std::string, std::filesystem::path> kernel_folders(const std::filesystem::path& checkout);

class HeaderSearch {
 public:
  explicit HeaderSearch(std::filesystem::path checkout) : checkout_(std::move(checkout)) {}

  // The folder for the header that the compiler's messages say is not found; of several the nearest to the source. ""
  // where the messages do not speak of a header, or no file has its name.
  std::string folder_for(const std::string& messages, const std::filesystem::path& source) const;

 private:
  std::filesystem::path checkout_;
  mutable std::mutex mutex_;
  mutable bool listed_ = false;
  mutable std::multimap<std::string, std::filesystem::path> headers_;  // by the name of the file
};

}  // namespace vinci::cli
