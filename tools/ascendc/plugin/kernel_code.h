// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include "tools/ascendc/plugin/module.h"

// Code of kernels at the end of the pipeline, where optimisation has mixed it with that of the library's headers.
namespace vinci::plugin {

// Before anything is optimised: these functions are code of kernels, but for what comes from files in `headers`.
void mark_kernel_code(const Functions& device, llvm::StringRef headers);
bool is_kernel_code(const llvm::Function& f);
// All of a module, with their definitions.
std::vector<llvm::Function*> kernel_code(llvm::Module& m);

// A variable, or an object by reference: the whole kernel is inlined by the core's compiler, so they are no memory of
// others. `base` is a pointer without offsets.
bool is_own_object(const llvm::Value* base);

// Tells instructions of the user from those of our headers. An inlined function of the compiler's own library counts as
// its caller's.
class Owner {
 public:
  explicit Owner(const llvm::Function& f);

  // Where the user's code has an instruction; null where it is not the user's or has no location.
  const llvm::DILocation* users_line(const llvm::DILocation* at);
  bool is_users(const llvm::Instruction& i) { return users_line(i.getDebugLoc().get()) != nullptr; }
  bool is_ours(const llvm::DIFile* file) { return whose_is(file) == Whose::ours; }

 private:
  enum class Whose : uint8_t { user, ours, library };
  Whose whose_is(const llvm::DIFile* file);

  llvm::StringRef headers_;
  llvm::DenseMap<const llvm::DIFile*, Whose> known_;
};

}  // namespace vinci::plugin
