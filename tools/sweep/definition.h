// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// What a sweep file says: a command that makes a task stream, a chip, and which of their values change from point to
// point (docs/sweep.md).
namespace vinci::sweep {

// A value that a point has: of an option of the command (`--m`), of the chip (`core.cube.startup`), or its chip
// (`chip`).
struct Setting {
  std::string key;
  std::string value;

  bool operator==(const Setting&) const = default;
};
using Point = std::vector<Setting>;

// The name of the column of a key: "m" of "--m".
std::string column_of(std::string_view key);

// The values that a key may take: these texts, or numbers from `low` to `high`.
struct Axis {
  std::string key;
  std::vector<std::string> values = {};
  double low = 0, high = 0;
  double step = 0;           // 0: any number of the range
  bool logarithmic = false;  // as many below the geometric mean of the range as above it
  bool whole = false;        // both ends are whole numbers, and so are all values
  std::string unit = {};     // of both ends, "KiB", or ""
};

// So many points, each with a value of each axis that was drawn by itself.
struct Random {
  u32 points = 0;
  u64 seed = 1;
  std::vector<Axis> axes = {};
};

// Points that an optimiser asks for, in groups whose points are simulated at the same time.
struct Optimise {
  u32 trials = 0;
  u32 group = 4;
  u64 seed = 1;
  std::vector<std::string> minimise = {};
  std::vector<Axis> axes = {};
};

struct Definition {
  std::string name = {};
  std::vector<std::string> command = {};  // gen gemm --m 1024 ..., compile model.onnx ..., run stream.yaml
  std::string chip = {};
  std::vector<Setting> set = {};  // of every point, before those of the point
  std::string mode = "timing";
  std::vector<Axis> grid = {};
  std::vector<Point> list = {};
  Random random = {};
  std::optional<Optimise> optimise = {};
  std::vector<std::string> measures = {"us", "kernel_us"};  // columns of the table
  std::vector<std::string> pareto = {};                     // columns of which less is better

  // Every key that a point may have, in the order of the file.
  std::vector<std::string> keys() const;
};

// Throws Fault::Input at file:line:column.
Definition read_definition(const std::string& file);
Definition parse_definition(std::string_view text, const std::string& source);

// The points of grid, list and random, in this order, each once. Throws Fault::Limit above a million.
std::vector<Point> points(const Definition& definition);

}  // namespace vinci::sweep
