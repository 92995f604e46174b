// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/sweep/job.h"

struct sqlite3;

namespace vinci::sweep {

// A row of the table: a point, and what came of it.
struct Row {
  Point point;
  bool done = false;
  std::map<std::string, double> stats;
  std::string error;
  double cpu_seconds = 0;
};

// The results of sweeps in a SQLite file: `simulations` by hash of task stream and effective chip, `points` by what
// made them, `chips` with each effective chip, and the view `sweep`, a row for each point of the sweep that ran last.
class Table {
 public:
  // Opens the file, or makes it. Throws Fault::Input where it is something else, Fault::Limit where the disk is full.
  explicit Table(const std::string& path);

  // Keeps a result; the disk may have it later, but a process that is killed afterwards does not lose it.
  void add(const Result& result, const Point& point);
  bool has(const std::string& key) const;
  // Which points the view shows, in this order, with a column for each key and measure.
  void show(const std::vector<std::string>& points, const std::vector<std::string>& keys,
            const std::vector<std::string>& measures);
  // The row of a point that is in the table.
  Row row(const std::string& key) const;

  // The statistics of the simulation of this task stream on this chip, if the file has them. It is only read.
  static std::optional<std::map<std::string, double>> look_up(const std::string& path, const Result& wanted);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace vinci::sweep
