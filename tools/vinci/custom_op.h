// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/io/temp_folder.h"
#include "tools/graph/import/import.h"
#include "tools/graph/kernels/kernel.h"

// Kernels of the user as operators of a network (`vinci compile --custom_op`). docs/graph.md, "Kernels of the user"
namespace vinci::cli {

class CustomKernels {
 public:
  // "Gelu=gelu.asc;Erf=erf.asc". Throws Fault::Input for what is no list of operators and files, and for files that are
  // not there or have no kernel.
  explicit CustomKernels(const std::string& list);

  graph::CustomOps ops() const;
  // Compiles the kernel of a node for its types and shapes, runs it once on the host, and returns what it did. Equal
  // nodes share one run. Throws Fault::Input where it does not compile or the run fails.
  std::shared_ptr<const graph::RecordedKernel> record(const graph::Node& node, const config::ChipConfig& chip);

 private:
  struct Source {
    std::string file, kernel;
    std::vector<std::string> parameters;
    bool has_blocks = false, has_workspace = false;  // it says BLOCK_DIM, WORKSPACE_BYTES
  };

  std::map<std::string, Source, std::less<>> sources_;                            // by operator
  std::map<std::string, std::shared_ptr<const graph::RecordedKernel>> recorded_;  // by the text of the program
  std::unique_ptr<io::TempFolder> folder_;
};

}  // namespace vinci::cli
