// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/divisions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

constexpr StringLiteral kDivides = "vinci-divides-by-zero";

bool may_trap(const Instruction& i) {
  if (!i.isIntDivRem() || i.getType()->isVectorTy()) return false;
  const auto* divisor = dyn_cast<ConstantInt>(i.getOperand(1));
  return divisor == nullptr || divisor->isZero();
}

// By one in place of zero, and the result is 0.
void guard(Instruction& division) {
  IRBuilder<> builder(&division);
  Type* type = division.getType();
  Value* divisor = division.getOperand(1);
  Value* is_zero = builder.CreateICmpEQ(divisor, ConstantInt::get(type, 0));
  division.setOperand(1, builder.CreateSelect(is_zero, ConstantInt::get(type, 1), divisor));
  builder.SetInsertPoint(division.getNextNode());
  auto* result = cast<Instruction>(builder.Insert(SelectInst::Create(is_zero, ConstantInt::get(type, 0), &division)));
  division.replaceUsesWithIf(result, [&](const Use& use) { return use.getUser() != result; });
}

}  // namespace

void mark_divisions(const Functions& device) {
  for (Function* f : device)
    f->addFnAttr(kDivides);
}

bool guard_divisions(Module& m) {
  std::vector<Instruction*> divisions;
  for (Function& f : m) {
    if (!f.hasFnAttribute(kDivides)) continue;
    for (Instruction& i : instructions(f)) {
      if (may_trap(i)) divisions.push_back(&i);
    }
  }
  for (Instruction* i : divisions)
    guard(*i);
  return !divisions.empty();
}

}  // namespace vinci::plugin
