// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/chip_config.h"
#include "tools/validate/params.h"

// Families: what was measured on silicon, as programs with parameters. To add one: a file with a function that returns
// it, its declaration below, and a line in family.cpp.
namespace vinci::validate {

struct Parameter {
  std::string_view name, unit, fallback;  // "" as the fallback: it has to be given
  std::string_view doc;
};

struct Metric {
  std::string_view name, unit, doc;
};

// By metric.
using Values = std::map<std::string, double, std::less<>>;

struct KernelStream;

struct Family {
  std::string_view name, doc;
  std::vector<Parameter> parameters;
  std::vector<Metric> metrics;
  // What is simulated, where it is one kernel over device buffers; null for others.
  std::function<KernelStream(const Params&, const config::ChipConfig&)> kernel = {};
  // Simulates one point in mode timing and measures as the source did. Throws Error; Fault::Input for parameters that
  // do not fit.
  std::function<Values(const Params&, const config::ChipConfig&)> measure;
};

Family instruction_loop();
Family mad_loop();
Family all_reduce();
Family conv2d();
Family copy_loop();
Family cube_chain();
Family elementwise();
Family flash_attention();
Family generated_gemm();
Family gm_copy();
Family grouped_matmul();
Family launch();
Family matmul();
Family nd2nz_ub();
Family recorded();
Family reduction();

std::span<const Family> families();
// Throws Fault::Input with the nearest name.
const Family& family(std::string_view name);
// Those of these names, or all, with their parameters and metrics, as text. Throws as family() does.
std::string describe_families(std::span<const std::string> names = {});

}  // namespace vinci::validate
