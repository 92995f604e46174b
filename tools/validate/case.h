// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/validate/family.h"

// Published measurements as data: the files of configs/silicon. docs/silicon.md describes the format.
namespace vinci::validate {

// One thing that was measured: parameters, and the value of each metric in the unit of its family.
struct Point {
  Params params;
  Values measured;
};

// A curve or a kernel.
struct Case {
  std::string id = {};  // of the file, or made from what is fixed
  std::string chip = {}, source = {};
  std::string assumed = {};                 // where the source is silent
  std::vector<std::string> overrides = {};  // of the chip: core.cube.startup=30
  const Family* family = nullptr;
  std::vector<Point> points = {};
};

// Two variants of the same work: what the metric of one is in terms of the other's.
struct Ratio {
  std::string of = {}, to = {};  // ids of cases with one point
  std::string metric = {};
  std::string place = {};
};

struct NotExpressed {
  std::string what = {}, reason = {}, source = {};
  u64 points = 0;
};

// Bounds of the errors of one metric, in percent; what a file does not name has none.
struct ErrorTarget {
  double mean = std::numeric_limits<double>::infinity(), worst = std::numeric_limits<double>::infinity();
  u64 skip = 0;  // so many first points of each curve are not held against it
};

// A file.
struct Group {
  std::string name = {};  // of the file, without folder and .yaml
  std::string title = {}, place = {};
  std::map<std::string, ErrorTarget> targets = {};  // what the model is meant to reach, by metric
  std::map<std::string, double> gates = {};         // the mean error that it may not exceed again, percent, by metric
  std::vector<Case> cases = {};
  std::vector<Ratio> ratios = {};
  std::vector<NotExpressed> not_expressed = {};
};

// Throws Fault::Input at file:line for what is misspelt, missing or does not fit together.
Group parse_group(std::string_view text, const std::string& source);
Group load_group(const std::string& file);
// The files of configs/silicon, as they were when the library was built.
std::vector<Group> builtin_groups();

}  // namespace vinci::validate
