// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/kernel_code.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Path.h>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {
constexpr StringLiteral kMark = "vinci-kernel-code";
}  // namespace

void mark_kernel_code(const Functions& device, StringRef headers) {
  for (Function* f : device)
    f->addFnAttr(kMark, headers);
}

bool is_kernel_code(const Function& f) { return f.hasFnAttribute(kMark); }

std::vector<Function*> kernel_code(Module& m) {
  std::vector<Function*> all;
  for (Function& f : m) {
    if (!f.isDeclaration() && is_kernel_code(f)) all.push_back(&f);
  }
  return all;
}

bool is_own_object(const Value* base) {
  if (isa<AllocaInst>(base)) return true;
  const auto* argument = dyn_cast<Argument>(base);
  return argument != nullptr && (argument->getDereferenceableBytes() != 0 || argument->hasPointeeInMemoryValueAttr());
}

Owner::Owner(const Function& f) : headers_(f.getFnAttribute(kMark).getValueAsString()) {}

const DILocation* Owner::users_line(const DILocation* at) {
  const DILocation* outermost = at;
  for (; at != nullptr; at = at->getInlinedAt()) {
    const Whose whose = whose_is(at->getFile());
    if (whose == Whose::user) return at;
    if (whose == Whose::ours) return nullptr;
    outermost = at;
  }
  return outermost;
}

// A file is named by its folder and the rest, which may share a part of the folder that is compiled in.
Owner::Whose Owner::whose_is(const DIFile* file) {
  if (file == nullptr) return Whose::user;
  const auto [it, fresh] = known_.try_emplace(file, Whose::user);
  if (fresh) {
    SmallString<256> path;
    if (!sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
    sys::path::append(path, file->getFilename());
    const StringRef name = path;
    if (name.starts_with(headers_)) {
      it->second = Whose::ours;
    } else if (name.starts_with("/usr/include/") || name.starts_with("/usr/lib/")) {
      it->second = Whose::library;
    }
  }
  return it->second;
}

}  // namespace vinci::plugin
