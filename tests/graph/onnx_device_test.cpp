// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "isa/base/error.h"
#include "tests/graph/network_fixture.h"
#include "tests/graph/onnx_testdata.h"
#include "tools/graph/import/import.h"
#include "tools/graph/ops/run.h"

// The node tests of ONNX on the device: each model that compiles is right by node.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::set<std::string> right, wrong;
  std::map<std::string, std::set<std::string>> refused;  // by reason
  std::set<std::string> host;                            // models of which nothing is left for the device
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

// Compiles the model; with `constants`, all inputs but the first are constants with the values of the test.
Network compiled(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip,
                 std::vector<Array>& inputs, bool constants) {
  std::unique_ptr<Graph> graph = import_model(read_onnx((folder / "model.onnx").string()));
  for (usize i = graph->inputs.size(); constants && i-- > 1;) {
    Value* const input = graph->inputs[i];
    graph->replace(input, graph->add_constant(input->name, Tensor(inputs[i])));
    graph->inputs.pop_back();
  }
  if (constants) inputs.resize(std::min<usize>(inputs.size(), 1));
  infer(*graph);
  return compile(std::move(graph), chip, {.precision = precision});
}

// Weights, axes and extents are inputs in the tests, and constants in networks: what is refused is tried so.
Network compiled(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip,
                 std::vector<Array>& inputs) {
  try {
    return compiled(folder, precision, chip, inputs, false);
  } catch (const Error& e) {
    if (e.fault() != Fault::Unsupported || inputs.size() < 2) throw;
    return compiled(folder, precision, chip, inputs, true);
  }
}

void run_case(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip, Outcome& outcome) {
  const std::string name = folder.filename().string();
  try {
    // Before the inputs, which may be no tensors.
    const std::unique_ptr<Graph> model = import_model(read_onnx((folder / "model.onnx").string()));
    std::vector<Array> inputs = onnx_arrays(folder / "test_data_set_0", "input");
    for (usize i = 0; i < inputs.size(); ++i)
      inputs[i] = as_type(inputs[i], model->inputs.at(i)->type);
    const Network network = compiled(folder, precision, chip, inputs);
    if (network.nodes.empty()) {
      outcome.host.insert(name);
      return;
    }
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
  std::cout << outcome.right.size() << " right, " << outcome.host.size() << " without a task, " << refused
            << " not supported\n";
  if (std::getenv("VINCI_SHOW_UNSUPPORTED") != nullptr) {
    for (const auto& [reason, models] : outcome.refused)
      std::cout << fmt::format("{} {}: {}\n", models.size(), reason, fmt::join(models, " "));
    std::cout << fmt::format("without a task: {}\n", fmt::join(outcome.host, " "));
  }
  EXPECT_GE(outcome.right.size(), precision == PrecisionMode::force_fp16 ? 690U : 550U);
}

INSTANTIATE_TEST_SUITE_P(Chips, OnnxOnDevice,
                         ::testing::Combine(::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"),
                                            ::testing::Values(PrecisionMode::force_fp16,
                                                              PrecisionMode::must_keep_origin_dtype)));

}  // namespace
}  // namespace vinci::graph
