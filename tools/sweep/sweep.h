// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/definition.h"
#include "tools/sweep/executor.h"
#include "tools/sweep/table.h"

namespace vinci::sweep {

struct Progress {
  usize done = 0;
  usize all = 0;
  usize failed = 0;
};

struct Request {
  std::string folder;
  bool retry = false;  // points that failed are tried again
  std::function<bool()> interrupted = {};
  std::function<void(const Progress&)> progress = {};
};

// What a sweep found: its points in their order.
struct Outcome {
  std::vector<std::string> keys;      // that points have
  std::vector<std::string> measures;  // columns
  std::vector<Row> rows;
  std::vector<bool> front;  // whether a row is on the Pareto front
  usize known = 0;          // points that the table had already

  usize failed() const;
};

// Simulates the points that the table of the folder (sweep.db) does not have. Throws Fault::Limit where it is
// interrupted; what is in the table stays there.
Outcome run_sweep(const Definition& definition, const Request& request, Executor& executor);

// The value of a column, of a measure or of a key whose values are numbers; nothing where the row has none.
std::optional<double> value_of(const Row& row, const std::string& column);

// The value of a key, or of a measure, as text; "" where the row has none.
std::string setting_of(const Row& row, const std::string& key);
std::string number_of(const Row& row, const std::string& measure);

// By row, whether no other row has at least as little of everything and less of something. Rows without all values are
// not on the front; no row is where `columns` is empty.
std::vector<bool> pareto_front(const std::vector<Row>& rows, const std::vector<std::string>& columns);

std::string to_csv(const Outcome& outcome);
// The table as text, the least of the first measure first, at most `most` rows.
std::string to_text(const Outcome& outcome, usize most);
// A page with a plot of each key, the front and the table.
std::string to_html(const Definition& definition, const Outcome& outcome);

}  // namespace vinci::sweep
