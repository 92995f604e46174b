// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>

#include "vinci/ascendc.h"

// What the parts of the plugin know of a module: how it is compiled, its kernels, and what these reach.
namespace vinci::plugin {

// What `vinci cc` says of this compilation: a string in the text, "HOST KIND HASH COUNTED HEADERS".
struct Pass {
  bool host = true;  // whether the object has the host's code, too
  std::string kind;  // "vector", "cube"; "both" where one compilation serves both, "only-..." where there is one kind
  std::string hash;  // of the file
  bool counted = true;  // kernels' own scalar code takes time
  std::string headers;  // the folder of our headers, whose code is not the user's
};

// Nothing in a module that is not of `vinci cc`.
std::optional<Pass> take_pass(llvm::Module& m);

struct Kernel {
  std::optional<ascendc::KernelType> type;
  bool matmul = false;
  llvm::Function* body = nullptr;
};

using Functions = llvm::SetVector<llvm::Function*>;

struct Kernels {
  llvm::MapVector<llvm::Function*, Kernel> by_entry;
  llvm::SmallPtrSet<llvm::Function*, 8> matmul;  // functions that need both kinds of cores

  // Adds a function with what it uses, transitively; of constants only what they name.
  void add_reachable(llvm::Function& from, Functions& out) const;
  Functions reachable() const;
};
// Those that are marked as kernels; all marks are removed.
Kernels take_kernels(llvm::Module& m);

std::optional<llvm::StringRef> string_of(const llvm::Value* v);
// The type that a mark of the source names.
std::optional<ascendc::KernelType> type_of(llvm::StringRef name);

// Strings of the module, each once.
class Literals {
 public:
  explicit Literals(llvm::Module& m) : m_(m) {}
  llvm::Constant* operator[](llvm::StringRef text);

 private:
  llvm::Module& m_;
  llvm::StringMap<llvm::Constant*> known_;
};

}  // namespace vinci::plugin
