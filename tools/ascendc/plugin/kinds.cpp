// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/kinds.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "tools/ascendc/plugin/entries.h"

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

using Variables = SmallPtrSet<GlobalVariable*, 32>;

bool is_body(const Kernels& kernels, const Function& f) {
  return any_of(kernels.by_entry, [&](const auto& k) { return k.second.body == &f; });
}

void make_internal(GlobalObject& o) {
  o.setLinkage(GlobalValue::InternalLinkage);
  o.setVisibility(GlobalValue::DefaultVisibility);
  o.setDSOLocal(true);
  o.setComdat(nullptr);
}

void add_variables(const Constant& c, Variables& out) {
  if (const auto* v = dyn_cast<GlobalVariable>(&c)) {
    auto* found = const_cast<GlobalVariable*>(v);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    if (out.insert(found).second && v->hasInitializer()) add_variables(*v->getInitializer(), out);
  } else if (!isa<Function>(c)) {
    for (const Value* operand : c.operands()) {
      if (const auto* inner = dyn_cast<Constant>(operand)) add_variables(*inner, out);
    }
  }
}
void add_variables(const Function& f, Variables& out) {
  for (const Instruction& i : instructions(f)) {
    for (const Value* operand : i.operands()) {
      if (const auto* c = dyn_cast<Constant>(operand)) add_variables(*c, out);
    }
  }
}

// Keeps the initialisation of what kernels use and what this object has.
void filter_constructors(Module& m, const Functions& device) {
  GlobalVariable* all = m.getNamedGlobal("llvm.global_ctors");
  if (all == nullptr) return;
  Variables used;
  for (const Function* f : device)
    add_variables(*f, used);
  const auto needed = [&](const GlobalVariable* v) {
    return used.contains(v) && (v->hasLocalLinkage() || v->isWeakForLinker());
  };
  std::vector<std::pair<Function*, int>> keep;
  for (const Use& use : all->getInitializer()->operands()) {
    const auto* entry = dyn_cast<ConstantStruct>(use.get());
    auto* f = entry == nullptr ? nullptr : dyn_cast<Function>(entry->getOperand(1)->stripPointerCasts());
    if (f == nullptr) continue;
    const auto priority = static_cast<int>(cast<ConstantInt>(entry->getOperand(0))->getZExtValue());
    Variables own;
    add_variables(*f, own);
    if (any_of(own, needed)) {
      keep.emplace_back(f, priority);
      continue;
    }
    for (Instruction& i : instructions(*f)) {
      const auto* call = dyn_cast<CallBase>(&i);
      Function* inner = call == nullptr ? nullptr : call->getCalledFunction();
      if (inner == nullptr || inner->isDeclaration()) continue;
      Variables of_inner;
      add_variables(*inner, of_inner);
      if (any_of(of_inner, needed)) keep.emplace_back(inner, priority);
    }
  }
  all->eraseFromParent();
  for (const auto& [f, priority] : keep) {
    f->setComdat(nullptr);  // that of the variable, of which the linker keeps one alone
    appendToGlobalCtors(m, f, priority);
  }
}

}  // namespace

Functions copy_shared_code(const Kernels& kernels, const Functions& device) {
  ValueToValueMapTy copies;
  Functions out;
  for (Function* f : device) {
    if (is_body(kernels, *f)) {
      out.insert(f);
      continue;
    }
    ValueToValueMapTy inside;
    Function* copy = CloneFunction(f, inside);
    copy->setLinkage(GlobalValue::InternalLinkage);
    copy->setVisibility(GlobalValue::DefaultVisibility);
    copy->setDSOLocal(true);
    copy->setComdat(nullptr);
    copies[f] = copy;
    out.insert(copy);
  }
  for (Function* f : out)
    RemapFunction(*f, copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  return out;
}

void leave_only_kernels(Module& m, const Kernels& kernels, const Functions& device) {
  const Type* body = body_type(m.getContext());
  filter_constructors(m, device);
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_dtors"}) {
    if (GlobalVariable* v = m.getNamedGlobal(name)) v->eraseFromParent();
  }
  for (Function& f : m) {
    if (f.isDeclaration() || f.hasLocalLinkage() || kernels.by_entry.contains(&f)) continue;
    make_internal(f);
  }
  for (GlobalVariable& v : m.globals()) {
    if (v.isDeclaration() || v.hasLocalLinkage() || v.getName().starts_with("llvm.")) continue;
    if (v.getValueType() == body) continue;
    if (v.isConstant()) {
      make_internal(v);
    } else if (!v.isWeakForLinker()) {
      v.setInitializer(nullptr);
      v.setComdat(nullptr);
      v.setLinkage(GlobalValue::ExternalLinkage);
    }
  }
  while (!m.alias_empty()) {
    GlobalAlias& alias = *m.alias_begin();
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
}

}  // namespace vinci::plugin
