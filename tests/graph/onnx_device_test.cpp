// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "isa/base/error.h"
#include "tests/graph/network_fixture.h"
#include "tests/graph/onnx_measure.h"
#include "tools/graph/import/import.h"
#include "tools/graph/ops/run.h"

// The node tests of ONNX on the device: each model that compiles is right by node and as a whole.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

constexpr auto kPrecisionNames = enum_names<PrecisionMode>;
constexpr double kLargestF16 = 65504;

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

// A model with inputs, as it was imported and as it is compiled.
struct Case {
  std::unique_ptr<Graph> imported;
  std::vector<Array> inputs;
  Network network;
};

// With `constants`, all inputs but the first are constants with the values of the test.
Case compiled(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip,
              std::vector<Array> inputs, bool constants) {
  std::unique_ptr<Graph> graph =
      import_model(read_onnx((folder / "model.onnx").string()), {.data = [&](const Graph&) { return inputs; }});
  for (usize i = graph->inputs.size(); constants && i-- > 1;) {
    Value* const input = graph->inputs[i];
    graph->replace(input, graph->add_constant(input->name, Tensor(inputs[i])));
    graph->inputs.pop_back();
  }
  if (constants) inputs.resize(std::min<usize>(inputs.size(), 1));
  infer(*graph);
  std::unique_ptr<Graph> copy = graph->clone();
  return {.imported = std::move(copy),
          .inputs = std::move(inputs),
          .network = compile(std::move(graph), chip, {.precision = precision})};
}

// Weights, axes and extents are inputs in the tests, and constants in networks: what is refused is tried so.
Case compiled(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip,
              const std::vector<Array>& inputs) {
  try {
    return compiled(folder, precision, chip, inputs, false);
  } catch (const Error& e) {
    if (e.fault() != Fault::Unsupported || inputs.size() < 2) throw;
    return compiled(folder, precision, chip, inputs, true);
  }
}

// What is wrong with an output of the device, compared with that of the model as it was imported; "" where nothing is.
std::string difference(const Array& got, const Array& wanted, bool f16) {
  if (got.dims != wanted.dims) return fmt::format("has the shape {}", text(Shape(got.dims)));
  double most = 0;
  for (const double w : wanted.values)
    most = std::isfinite(w) ? std::max(most, std::abs(w)) : most;
  // A quantised value may be the next one where its scale is f16.
  const bool quantised = wanted.type == DataType::u8 || wanted.type == DataType::i8;
  const double allowed = !is_float(wanted.type) ? (quantised && f16 ? 1 : 0) : most * (f16 ? 1e-2 : 1e-4);
  for (usize i = 0; i < got.size(); ++i) {
    const double g = got.values[i], w = wanted.values[i];
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    if (f16 && std::abs(w) > kLargestF16 && std::abs(g) >= kLargestF16 && std::signbit(g) == std::signbit(w)) continue;
    if (!(std::abs(g - w) <= allowed)) return fmt::format("has {} for {} at {}", g, w, i);
  }
  return "";
}

// "" where each node and each output is right and the checker finds nothing.
std::string what_is_wrong(const Case& c, PrecisionMode precision) {
  for (const NodeCheck& row : check_nodes(c.network, c.inputs)) {
    if (!row.right())
      return fmt::format("{} ({}) is off by {:.2e}", row.node->node->name, unit_name(*row.node), row.error);
  }
  const DeviceRun device = run_on_device(c.network, c.inputs);
  if (!device.findings.empty()) return device.findings[0];
  const bool f16 = precision == PrecisionMode::force_fp16;
  // What the Cast at the border makes of the inputs; a chip in mode saturation has neither infinity nor NaN of f16.
  const bool saturates = c.network.chip.numerics.overflow_mode == isa::OverflowMode::saturation;
  std::vector<Array> inputs = c.inputs;
  for (Array& a : inputs) {
    if (!f16 || !is_float(a.type)) continue;
    for (double& v : a.values) {
      if (saturates) v = std::isnan(v) ? 0 : std::clamp(v, -kLargestF16, kLargestF16);
      if (a.type == DataType::f32) v = round_to(DataType::f16, v);
    }
  }
  const std::vector<Array> wanted = run(*c.imported, inputs);
  for (usize i = 0; i < device.outputs.size(); ++i) {
    if (std::string text = difference(device.outputs[i], wanted[i], f16); !text.empty())
      return fmt::format("output {} {}", c.imported->outputs[i]->name, text);
  }
  return "";
}

void run_case(const fs::path& folder, PrecisionMode precision, const config::ChipConfig& chip, Outcome& outcome) {
  const std::string name = folder.filename().string();
  try {
    // Before the inputs, which may be no tensors.
    const std::unique_ptr<Graph> model = import_model(read_onnx((folder / "model.onnx").string()));
    std::vector<Array> inputs = onnx_arrays(folder / "test_data_set_0", "input");
    for (usize i = 0; i < inputs.size(); ++i) {
      const Value& v = *model->inputs.at(i);
      inputs[i] = as_type(inputs[i], v.type);
      // Of what CastLike takes the type from, files have a part.
      if (v.shape.known() && v.shape.elements() != inputs[i].size()) inputs[i] = Array(v.type, v.shape.dims());
    }
    const Case c = compiled(folder, precision, chip, inputs);
    if (c.network.nodes.empty()) {
      outcome.host.insert(name);
      return;
    }
    if (const std::string text = what_is_wrong(c, precision); text.empty()) {
      outcome.right.insert(name);
    } else {
      outcome.wrong.insert(name + ": " + text);
    }
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
  usize refused = 0, counted = 0, counted_right = 0;
  for (const auto& [reason, models] : outcome.refused)
    refused += models.size();
  for (const auto& entry : fs::directory_iterator(nodes)) {
    if (!outside_measure(entry.path()).empty()) continue;
    ++counted;
    counted_right += outcome.right.contains(entry.path().filename().string()) ? 1 : 0;
  }
  // Read by onnx_table.py.
  std::cout << fmt::format(
      "node tests on {}, {}: {} right, {} without a task, {} not supported; of the {} of the measure "
      "{} right\n",
      name, kPrecisionNames[enum_index(precision)], outcome.right.size(), outcome.host.size(), refused, counted,
      counted_right);
  if (std::getenv("VINCI_SHOW_UNSUPPORTED") != nullptr) {
    for (const auto& [reason, models] : outcome.refused)
      std::cout << fmt::format("{} {}: {}\n", models.size(), reason, fmt::join(models, " "));
    std::cout << fmt::format("without a task: {}\n", fmt::join(outcome.host, " "));
  }
  EXPECT_GE(outcome.right.size(), precision == PrecisionMode::force_fp16 ? 690U : 550U);
  if (precision == PrecisionMode::force_fp16) {
    EXPECT_GE(counted_right, 600U);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, OnnxOnDevice,
                         ::testing::Combine(::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"),
                                            ::testing::Values(PrecisionMode::force_fp16,
                                                              PrecisionMode::must_keep_origin_dtype)));

}  // namespace
}  // namespace vinci::graph
