// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/base/error.h"
#include "isa/check/finding.h"

// What `vinci run --check` found, as text and as findings.json.
namespace vinci::results {

// The first `limit` findings for people, those on one pair of lines as one, and how many more there are. `cut_short` is
// what has ended the run before its end, so that more may be wrong; null: nothing has.
std::string findings_text(const isa::check::Findings& findings, usize limit, const Error* cut_short);

// All of them.
std::string findings_json(const isa::check::Findings& findings, const Error* cut_short);

}  // namespace vinci::results
