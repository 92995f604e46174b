// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/temp_folder.h"

#include <cstdlib>
#include <system_error>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnique = "-XXXXXX";     // as mkdtemp() wants it
constexpr std::string_view kInside = "vinci-temp";  // by which a folder is known as one of these

// Null: another process uses it.
std::unique_ptr<FolderLock> lock(const fs::path& folder) {
  try {
    return std::make_unique<FolderLock>(folder.string());
  } catch (const Error&) {
    return nullptr;
  }
}

void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != prefix.size() + kUnique.size() || !name.starts_with(prefix + '-')) continue;
    if (entry.is_symlink(error) || !fs::is_directory(entry.path() / kInside, error)) continue;
    if (const auto locked = lock(entry.path())) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

TempFolder::TempFolder(const std::string& prefix) {
  const fs::path parent = fs::temp_directory_path();
  remove_abandoned(parent, prefix);
  std::string name = (parent / prefix).string().append(kUnique);
  if (::mkdtemp(name.data()) == nullptr) fail(Fault::Input, "cannot make a temporary folder {}", name);
  lock_ = lock(name);
  path_ = fs::path(name) / kInside;
  fs::create_directory(path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_.parent_path(), ignored);
}

}  // namespace vinci::io
