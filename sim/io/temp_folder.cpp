// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/temp_folder.h"

#include <cstdlib>
#include <system_error>

#include "isa/base/error.h"

namespace vinci::io {

TempFolder::TempFolder(const std::string& prefix) {
  std::string name = (std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) fail(Fault::Input, "cannot make a temporary folder {}", name);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace vinci::io
