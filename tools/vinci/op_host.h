// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/io/temp_folder.h"
#include "tools/vinci/op_objects.h"
#include "tools/vinci/op_tensors.h"

// The host code of an operator, compiled and asked. docs/operators.md
namespace vinci::cli {

struct OperatorSources {
  std::string package;                 // the operator's folder, with op_host and op_kernel in it
  std::vector<std::string> include;    // folders of headers, as given
  std::vector<std::string> libraries;  // folders of more host code, of which the parts that are needed are linked
  std::vector<std::string> macros;     // NAME or NAME=VALUE
};

// The folders that an operator's code finds headers in: those that are given, the folder of its checkout with what such
// checkouts keep common headers in, and the folders around the operator.
std::vector<std::string> include_folders(const OperatorSources& sources);

struct OperatorUse {
  std::string type;                      // of the operator
  std::vector<std::string> chips;        // as definitions name them, the first that one has
  std::vector<std::string> other_chips;  // whose definition serves where those have none
  std::vector<OperatorTensor> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool deterministic = false;
  bool cube = false;  // the kernel has products: blocks are given to AI Cores, not to vector cores
};

// A parameter of the kernel: one tensor, none, or those of a list.
struct OperatorParameter {
  bool input = true, list = false;
  bool zeroed = false;  // an output that the kernel adds to
  std::string name;
  std::vector<OperatorTensor> tensors;
};

struct OperatorTiling {
  u64 combination = 0, key = 0, blocks = 1;
  std::string chip;                     // whose definition it is
  std::string kernel_file;              // of op_kernel, without its ending; "" if the definition does not name it
  std::vector<u64> template_arguments;  // if the key is a number for some
  std::vector<u64> workspaces;          // bytes
  std::vector<OperatorParameter> parameters;
  std::string data;  // the file of the tiling data
};

class OperatorHost {
 public:
  // Compiles what of the host code compiles; what does not is said on standard error with its first error. Objects are
  // kept in the user's cache. Throws Fault::Input where nothing defines an operator.
  OperatorHost(const OperatorSources& sources, const std::vector<std::string>& compiler, const io::TempFolder& scratch);

  // The names of the operators that are defined.
  const std::vector<std::string>& operators() const { return operators_; }
  // The folders of the checkout with headers that the host code includes: tiling data may be defined there.
  const std::vector<std::string>& header_folders() const { return header_folders_; }
  // Prints the tensors and attributes of the operator.
  void describe(const OperatorUse& use) const;
  // Calls the functions for shapes and tiling. `chip` is a built-in chip or a chip file. Throws Fault::Input with what
  // they say where they refuse the use.
  OperatorTiling tile(const OperatorUse& use, const std::string& chip);

 private:
  // Writes the use as the host program reads it, and returns the file.
  std::string request(const OperatorUse& use) const;
  void note_headers(const std::vector<std::filesystem::path>& files, const std::filesystem::path& checkout);
  // Functions that are missing get stand-ins, which end the program with their names.
  void link(const std::vector<std::string>& command, const Objects& objects,
            const std::vector<std::filesystem::path>& sources, const std::vector<std::filesystem::path>& library) const;
  // Asks the program for the names of the operators.
  void start(const std::string& host);

  const io::TempFolder& scratch_;
  std::string program_;
  std::vector<std::string> operators_, header_folders_;
};

}  // namespace vinci::cli
