// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

#include "isa/base/error.h"
#include "tests/graph/onnx_measure.h"
#include "tools/graph/import/import.h"
#include "tools/graph/ops/run.h"

// The node tests of ONNX (package libonnx-testdata): each is a model with inputs and outputs. They are an independent
// reference for the import and for the values of operators.
namespace vinci::graph {
namespace {

namespace fs = std::filesystem;

// The tolerance of ONNX's own runner, relative to the element.
::testing::AssertionResult close(const Array& got, const Array& wanted) {
  if (got.type != wanted.type)
    return ::testing::AssertionFailure() << "type " << info(got.type).name << ", not " << info(wanted.type).name;
  if (got.dims != wanted.dims)
    return ::testing::AssertionFailure() << "shape " << text(Shape(got.dims)) << ", not " << text(Shape(wanted.dims));
  for (usize i = 0; i < got.size(); ++i) {
    const double g = got.values[i], w = wanted.values[i];
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double allowed = is_float(got.type) ? 1e-3 * std::abs(w) + 1e-6 : 0;
    if (!(std::abs(g - w) <= allowed))
      return ::testing::AssertionFailure() << "element " << i << " is " << g << ", not " << w;
  }
  return ::testing::AssertionSuccess();
}

// Tests whose expected data differ from CANN on purpose: ONNX 1.12 truncates f32 to bf16, CANN rounds to nearest even.
const std::set<std::string> kOtherRounding{"test_cast_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16",
                                           "test_castlike_FLOAT_to_BFLOAT16_expanded"};

struct Outcome {
  std::set<std::string> right, wrong, unsupported;
};

void run_case(const fs::path& folder, Outcome& outcome) {
  const std::string name = folder.filename().string();
  try {
    const std::unique_ptr<Graph> graph = import_model(read_onnx((folder / "model.onnx").string()));
    for (usize set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
      const fs::path data = folder / ("test_data_set_" + std::to_string(set));
      const std::vector<Array> wanted = onnx_arrays(data, "output");
      std::vector<Array> in = onnx_arrays(data, "input");
      for (usize i = 0; i < in.size(); ++i)
        in[i] = as_type(in[i], graph->inputs.at(i)->type);
      const std::vector<Array> got = run(*graph, in);
      if (got.size() != wanted.size()) throw Error(Fault::Internal, "another number of outputs");
      for (usize i = 0; i < got.size(); ++i) {
        if (const auto result = close(got[i], as_type(wanted[i], got[i].type)); !result)
          throw Error(Fault::Internal, "output " + std::to_string(i) + ": " + result.message());
      }
    }
    outcome.right.insert(name);
  } catch (const Error& e) {
    if (e.fault() == Fault::Unsupported) {
      outcome.unsupported.insert(name + ": " + e.what());
    } else {
      outcome.wrong.insert(name + ": " + e.what());
    }
  }
}

TEST(OnnxNodes, AllThatAreSupportedAreRight) {
  const fs::path nodes = onnx_testdata() / "node";
  if (!fs::exists(nodes)) GTEST_SKIP() << nodes << " is missing: install libonnx-testdata";
  Outcome outcome;
  for (const auto& entry : fs::directory_iterator(nodes))
    if (!kOtherRounding.contains(entry.path().filename().string())) run_case(entry.path(), outcome);
  for (const std::string& text : outcome.wrong)
    ADD_FAILURE() << text;
  usize counted = 0, counted_right = 0;
  for (const auto& entry : fs::directory_iterator(nodes)) {
    if (!outside_measure(entry.path()).empty()) continue;
    ++counted;
    counted_right += outcome.right.contains(entry.path().filename().string()) ? 1 : 0;
  }
  // Read by onnx_table.py.
  std::cout << fmt::format("node tests on the host: {} right, {} not supported; of the {} of the measure {} right\n",
                           outcome.right.size(), outcome.unsupported.size(), counted, counted_right);
  if (std::getenv("VINCI_SHOW_UNSUPPORTED") != nullptr) {
    for (const std::string& text : outcome.unsupported)
      std::cout << text << "\n";
  }
  EXPECT_GE(outcome.right.size(), 720U);
  EXPECT_GE(counted_right, 650U);
}

}  // namespace
}  // namespace vinci::graph
