// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

// What compilations keep for the next ones.
namespace vinci::cli {

// $XDG_CACHE_HOME/vinci or ~/.cache/vinci, made if it is not there; "" where there is no such place to write to.
std::string user_cache();

// Removes the files of a folder whose names begin so and that are a month old.
void remove_old(const std::string& folder, std::string_view prefix);

}  // namespace vinci::cli
