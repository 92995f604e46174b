// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/graph/ir/graph.h"

namespace vinci::cli {

// The data of the inputs of a network: from files, and random where there is none.
class NetworkInputs {
 public:
  // `files`: "x:x.npy;mask:mask.npy".
  NetworkInputs(std::string_view files, u64 seed);

  bool given() const { return !files_.empty(); }
  // For the inputs of a graph, in their order, rounded to their types. Throws Fault::Input where a file has another
  // shape, holds floats for an input of integers, or names no input.
  std::vector<graph::Array> data(const graph::Graph& graph) const;
  // The same, but random numbers that go into a logarithm, a root or a power are of its domain; if no shapes follow
  // from the data.
  std::vector<graph::Array> data_in_domain(const graph::Graph& graph) const;

 private:
  std::map<std::string, std::string> files_;  // by the name of the input
  u64 seed_;
};

}  // namespace vinci::cli
