// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

namespace vinci::run {

// Makes report.html from the other files of an output folder, there or as the file `output`; returns its path. Throws
// Fault::Input where the folder has no chip.yaml, nothing to show, or a file that this version did not write.
std::string write_report(const std::string& folder, const std::string& output = {});

}  // namespace vinci::run
