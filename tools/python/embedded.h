// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string_view>

namespace vinci::python {

// A file of this folder that is part of the module.
struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
};

// extras.py. The source is generated (tools/cmake/EmbedFiles.cmake).
std::span<const EmbeddedFile> embedded_files();

}  // namespace vinci::python
