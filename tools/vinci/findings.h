// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/check/finding.h"

// What `vinci run --check` found, as text and as findings.json.
namespace vinci::cli {

// The first `limit` findings for people, and how many more there are.
std::string findings_text(const isa::check::Findings& findings, usize limit);

// All of them. `complete` is false when the run was cut short, so that more may be wrong.
std::string findings_json(const isa::check::Findings& findings, bool complete);

}  // namespace vinci::cli
