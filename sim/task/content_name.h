// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Names of files that hold the contents of buffers with a recording: app.data/0123456789abcdef.bin. The digits are a
// hash of the contents; -1, -2 and so on behind them tell contents of the same hash apart.
namespace vinci::task {

// The hexadecimal digits for these contents.
std::string content_digits(std::span<const std::byte> contents);

// The digits in the name of such a file, without its folder; empty for the name of another file.
std::string_view digits_of_name(std::string_view name);

// Whether a file of a recording has contents that its name does not fit: they were changed later. `file`: its path.
bool was_changed(std::string_view file, std::span<const std::byte> contents);

}  // namespace vinci::task
