// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string_view>

namespace vinci::config {

// A file of configs/ as it was when the library was built.
struct EmbeddedFile {
  std::string_view path;  // below configs/, with '/': chips/tiny.yaml
  std::string_view text;
};

// All of them, by path. The source is generated (tools/cmake/EmbedFiles.cmake).
std::span<const EmbeddedFile> embedded_files();

}  // namespace vinci::config
