// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/studies/study.h"

// All studies with their defaults, as tables and as a page.
namespace vinci::studies {

// What became of a study, and what it took of the host.
struct Outcome {
  Findings findings;
  std::string fault = {};  // why it ended early; its findings are empty then
  double cpu = 0;          // s
  double mebibytes = 0;    // the most that its process held
};

struct SummaryOptions {
  unsigned jobs = 1;        // processes; each runs one study at a time
  std::string folder = {};  // each study keeps what it has in a folder of its name; "": nowhere
  std::function<bool()> interrupted = {};
  std::function<void(usize begun, usize all)> progress = {};
};

std::vector<Outcome> run_all(const SummaryOptions& options);

// As text for a terminal, and as a table in Markdown.
std::string table(const std::vector<Outcome>& outcomes);
std::string markdown(const std::vector<Outcome>& outcomes);
// A document in HTML that needs nothing else: the table, then each study with a chart, its criteria and its advice.
std::string page(const std::vector<Outcome>& outcomes);

// What the study asks, without what leads to it: the last sentence of its question.
std::string_view short_question(const Definition& definition);

}  // namespace vinci::studies
