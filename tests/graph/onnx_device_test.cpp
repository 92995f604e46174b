// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "isa/base/error.h"
#include "tests/graph/network_fixture.h"
#include "tests/graph/onnx_testdata.h"
#include "tools/graph/import/import.h"

// The node tests of ONNX on the device: each model that compiles is right by node.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::set<std::string> right, wrong;
  std::map<std::string, std::set<std::string>> refused;  // by reason
  usize host = 0;                                        // models of which nothing is left for the device
};

// The message without names of nodes, so that models with one reason come together.
std::string reason_of(const Error& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  const usize type = text.find(" ("), end = text.find(')', type);
  if (text.starts_with("no kernel computes") && type != std::string::npos && end != std::string::npos)
    return "no kernel: " + text.substr(type + 2, end - type - 2);
  return text;
}

void run_case(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip, Outcome& outcome) {
  const std::string name = folder.filename().string();
  try {
    std::unique_ptr<Graph> graph = import_model(read_onnx((folder / "model.onnx").string()));
    const Network network = compile(std::move(graph), chip, {.precision = precision});
    if (network.nodes.empty()) return void(++outcome.host);
    const std::vector<Array> inputs = onnx_arrays(folder / "test_data_set_0", "input");
    for (const NodeCheck& row : check_nodes(network, inputs)) {
      if (row.right()) continue;
      outcome.wrong.insert(
          fmt::format("{}: {} ({}) is off by {:.2e}", name, row.node->node->name, row.node->kernel->name, row.error));
      return;
    }
    for (const std::string& text : checker_findings(network)) {
      outcome.wrong.insert(name + ": " + text);
      return;
    }
    outcome.right.insert(name);
  } catch (const Error& e) {
    if (e.fault() == Fault::Unsupported) {
      outcome.refused[reason_of(e)].insert(name);
    } else {
      outcome.wrong.insert(name + ": " + e.what());
    }
  }
}

class OnnxOnDevice : public ::testing::TestWithParam<std::tuple<const char*, PrecisionMode>> {};

TEST_P(OnnxOnDevice, WhatCompilesIsRight) {
  const fs::path nodes = onnx_testdata() / "node";
  if (!fs::exists(nodes)) GTEST_SKIP() << nodes << " is missing: install libonnx-testdata";
  const auto& [name, precision] = GetParam();
  const config::ChipConfig chip = config::load_chip(name);
  Outcome outcome;
  for (const auto& entry : fs::directory_iterator(nodes))
    run_case(entry.path(), precision, chip, outcome);
  for (const std::string& text : outcome.wrong)
    ADD_FAILURE() << text;
  usize refused = 0;
  for (const auto& [reason, models] : outcome.refused)
    refused += models.size();
  std::cout << outcome.right.size() << " right, " << outcome.host << " without a task, " << refused
            << " not supported\n";
  if (std::getenv("VINCI_SHOW_UNSUPPORTED") != nullptr) {
    for (const auto& [reason, models] : outcome.refused)
      std::cout << models.size() << " " << reason << ": " << *models.begin() << "\n";
  }
  EXPECT_GE(outcome.right.size(), precision == PrecisionMode::force_fp16 ? 220U : 130U);
}

INSTANTIATE_TEST_SUITE_P(Chips, OnnxOnDevice,
                         ::testing::Combine(::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"),
                                            ::testing::Values(PrecisionMode::force_fp16,
                                                              PrecisionMode::must_keep_origin_dtype)));

}  // namespace
}  // namespace vinci::graph
