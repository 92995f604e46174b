// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "configs/embedded.h"

namespace vinci::validate {

using config::EmbeddedFile;

// The files of tests/silicon, by name. The source is generated (tools/cmake/EmbedFiles.cmake).
std::span<const EmbeddedFile> embedded_files();

}  // namespace vinci::validate
