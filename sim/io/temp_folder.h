// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <string>

namespace vinci::io {

// A new folder beneath that for temporary files, which goes away with the object.
class TempFolder {
 public:
  // Its name begins with `prefix`. Throws Fault::Input when it cannot be made.
  explicit TempFolder(const std::string& prefix);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace vinci::io
