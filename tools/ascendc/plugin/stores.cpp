// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/stores.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "tools/ascendc/plugin/kernel_code.h"

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

constexpr StringLiteral kTold = "vinci.told";
constexpr StringLiteral kTell = "vinci_kernel_stored";

// The pointer of what writes memory; null for other instructions.
Value* written(Instruction& i) {
  if (auto* store = dyn_cast<StoreInst>(&i)) return store->getPointerOperand();
  if (auto* all = dyn_cast<MemIntrinsic>(&i)) return all->getRawDest();
  if (auto* update = dyn_cast<AtomicRMWInst>(&i)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&i)) return exchange->getPointerOperand();
  return nullptr;
}

bool may_be_global_memory(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer);
  return !isa<GlobalVariable>(object) && !is_own_object(object);
}

void tell(Instruction& i, Value* pointer, const DILocation* line, Literals& literals) {
  Module& m = *i.getModule();
  IRBuilder<> builder(i.getNextNode());
  Value* bytes = nullptr;
  if (auto* all = dyn_cast<MemIntrinsic>(&i)) {
    bytes = builder.CreateZExtOrTrunc(all->getLength(), builder.getInt64Ty());
  } else {
    Type* type = i.getOperand(isa<StoreInst>(i) ? 0 : 1)->getType();
    bytes = builder.getInt64(m.getDataLayout().getTypeStoreSize(type));
  }
  Value* arguments[] = {builder.CreatePtrToInt(pointer, builder.getInt64Ty()), bytes, literals[line->getFilename()],
                        builder.getInt32(line->getLine())};
  std::vector<Type*> types;
  for (const Value* a : arguments)
    types.push_back(a->getType());
  CallInst* call =
      builder.CreateCall(m.getOrInsertFunction(kTell, FunctionType::get(builder.getVoidTy(), types, false)), arguments);
  call->setDebugLoc(i.getDebugLoc());
  i.setMetadata(kTold, MDNode::get(m.getContext(), {}));
}

}  // namespace

bool tell_stores(Module& m) {
  Literals literals(m);
  bool any = false;
  for (Function* f : kernel_code(m)) {
    Owner owner(*f);
    std::vector<std::pair<Instruction*, const DILocation*>> found;
    for (Instruction& i : instructions(*f)) {
      const Value* pointer = written(i);
      if (pointer == nullptr || !may_be_global_memory(pointer)) continue;
      if (const DILocation* line = owner.users_line(i.getDebugLoc().get())) found.emplace_back(&i, line);
    }
    for (const auto& [i, line] : found)
      tell(*i, written(*i), line, literals);
    any = any || !found.empty();
  }
  return any;
}

bool is_told(const Instruction& store) { return store.hasMetadata(kTold); }

bool is_telling(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->getName() == kTell;
}

}  // namespace vinci::plugin
