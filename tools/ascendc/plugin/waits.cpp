// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/waits.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "tools/ascendc/plugin/kernel_code.h"

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

// A load of the scalar unit that the library does: of a tensor, or through a pointer to a memory of the core. Its
// address is the operand of this number.
std::optional<unsigned> address_of_load(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr) return std::nullopt;
  if (callee->getName().starts_with("_ZN5vinci7ascendc4loadENS0_6Memory") || callee->getName() == "vinci_kernel_load")
    return 1;
  return std::nullopt;
}

class Waits {
 public:
  explicit Waits(Function& f) : f_(f), m_(*f.getParent()), tree_(f), loops_(tree_) {}

  bool run() {
    for (Loop* loop : loops_.getLoopsInPreorder())
      look(*loop);
    for (Instruction* load : found_) {
      if (!isa<CallBase>(load) || address_of_load(*cast<CallBase>(load))) mark(*load);
    }
    for (Instruction* load : inner_)
      mark(*load);
    for (const auto& [from, to] : exits_)
      mark_exit(*from, *to);
    return !found_.empty();
  }

 private:
  // What a value of a loop comes from. False where it, or the address of a load, counts the turns, or comes from a
  // call.
  bool comes_from(Value* from, const Loop& loop, SmallVectorImpl<Instruction*>& loads) {
    SmallPtrSet<Value*, 16> seen, path;
    return follow(from, loop, loads, seen, path);
  }
  bool follow(Value* value, const Loop& loop, SmallVectorImpl<Instruction*>& loads, SmallPtrSetImpl<Value*>& seen,
              SmallPtrSetImpl<Value*>& path) {
    auto* i = dyn_cast<Instruction>(value);
    if (i == nullptr || !loop.contains(i)) return true;
    if (path.contains(i)) return false;  // it depends on what it was in the turn before
    if (!seen.insert(i).second) return true;
    Value* address = nullptr;
    if (auto* load = dyn_cast<LoadInst>(i)) {
      address = load->getPointerOperand();
    } else if (auto* call = dyn_cast<CallBase>(i); call != nullptr && !isa<IntrinsicInst>(i)) {
      const auto operand = address_of_load(*call);
      if (!operand) {
        // A function of the program that does the load, with arguments that do not change.
        SmallVector<Instruction*, 4> inside, of_arguments;
        if (!returns_load(*call, inside)) return false;
        for (Value* argument : call->args()) {
          if (!follow(argument, loop, of_arguments, seen, path)) return false;
        }
        for (Instruction* inner : inside) {
          if (inner->getFunction() != &f_) inner_.insert(inner);
        }
        loads.push_back(i);
        return true;
      }
      address = call->getArgOperand(*operand);
    }
    if (address != nullptr) {
      SmallVector<Instruction*, 4> of_address;
      SmallPtrSet<Value*, 16> seen_there;
      path.insert(i);  // an index may come from the load itself, as in a list
      if (!follow(address, loop, of_address, seen_there, path)) return false;
      path.erase(i);
      loads.push_back(i);
      return true;
    }
    path.insert(i);
    for (Value* operand : i->operands()) {
      if (!follow(operand, loop, loads, seen, path)) return false;
    }
    path.erase(i);
    return true;
  }

  // Whether a call returns what a load of the function has found, with constants at most.
  static bool returns_load(const CallBase& call, SmallVectorImpl<Instruction*>& loads) {
    Function* callee = call.getCalledFunction();
    if (callee == nullptr || callee->isDeclaration() || !is_kernel_code(*callee)) return false;
    SmallVector<Value*, 8> rest;
    for (BasicBlock& block : *callee) {
      if (auto* back = dyn_cast<ReturnInst>(block.getTerminator());
          back != nullptr && back->getReturnValue() != nullptr)
        rest.push_back(back->getReturnValue());
    }
    SmallPtrSet<Value*, 16> seen;
    while (!rest.empty()) {
      auto* i = dyn_cast<Instruction>(rest.pop_back_val());
      if (i == nullptr || !seen.insert(i).second) continue;
      if (auto* inner = dyn_cast<CallBase>(i); inner != nullptr && !isa<IntrinsicInst>(i)) {
        if (!address_of_load(*inner)) return false;
        loads.push_back(i);
      } else if (auto* load = dyn_cast<LoadInst>(i)) {
        if (!may_be_global(*load)) return false;
        loads.push_back(i);
      } else {
        for (Value* operand : i->operands())
          rest.push_back(operand);
      }
    }
    return !loads.empty();
  }

  void look(const Loop& loop) {
    SmallVector<BasicBlock*, 4> exiting;
    loop.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting) {
      Instruction* end = block->getTerminator();
      Value* asked = nullptr;
      if (auto* branch = dyn_cast<BranchInst>(end); branch != nullptr && branch->isConditional())
        asked = branch->getCondition();
      else if (auto* choice = dyn_cast<SwitchInst>(end))
        asked = choice->getCondition();
      if (asked == nullptr) continue;
      SmallVector<Instruction*, 4> loads;
      if (!comes_from(asked, loop, loads)) continue;
      bool any = false;
      for (Instruction* load : loads) {
        if (isa<LoadInst>(load) && !may_be_global(*cast<LoadInst>(load))) continue;
        found_.insert(load);
        any = true;
      }
      if (!any) continue;
      for (BasicBlock* next : successors(block)) {
        if (!loop.contains(next) && !next->isEHPad()) exits_.insert({block, next});
      }
      look_in_front(loop, loads);
    }
  }

  // Optimisation puts the first turn's question in front of a loop: a branch that leads into the loop or past it, on
  // loads of the same lines.
  void look_in_front(const Loop& loop, ArrayRef<Instruction*> loads) {
    BasicBlock* in_front = nullptr;
    for (BasicBlock* before : predecessors(loop.getHeader())) {
      if (loop.contains(before)) continue;
      if (in_front != nullptr) return;
      in_front = before;
    }
    for (int i = 0; in_front != nullptr && i < 4; ++i) {
      auto* branch = dyn_cast<BranchInst>(in_front->getTerminator());
      if (branch == nullptr) return;
      if (branch->isUnconditional()) {
        in_front = in_front->getUniquePredecessor();
        continue;
      }
      SmallVector<Value*, 8> rest{branch->getCondition()};
      SmallPtrSet<Value*, 16> seen;
      bool any = false;
      while (!rest.empty()) {
        auto* value = dyn_cast<Instruction>(rest.pop_back_val());
        if (value == nullptr || !seen.insert(value).second) continue;
        const bool same = any_of(loads, [&](const Instruction* l) {
          return l->getOpcode() == value->getOpcode() && l->getDebugLoc().get() != nullptr &&
                 value->getDebugLoc().get() != nullptr && l->getDebugLoc().getLine() == value->getDebugLoc().getLine();
        });
        if (same && (isa<LoadInst>(value) || isa<CallBase>(value))) {
          found_.insert(value);
          any = true;
        } else if (!isa<CallBase>(value) && !isa<LoadInst>(value)) {
          for (Value* operand : value->operands())
            rest.push_back(operand);
        }
      }
      if (!any) return;
      for (BasicBlock* next : successors(in_front)) {
        if (!loop.contains(next) && next->getUniqueSuccessor() != loop.getHeader() && !next->isEHPad())
          exits_.insert({in_front, next});
      }
      return;
    }
  }

  // Variables and constants are in the process, not in memory that cores share.
  static bool may_be_global(const LoadInst& load) {
    const Value* base = getUnderlyingObject(load.getPointerOperand());
    if (isa<AllocaInst>(base) || isa<Constant>(base)) return false;
    const auto* argument = dyn_cast<Argument>(base);
    if (argument != nullptr && (argument->getDereferenceableBytes() != 0 || argument->hasPointeeInMemoryValueAttr()))
      return false;
    const Type* type = load.getType();
    return (type->isIntegerTy() || type->isFloatingPointTy()) && type->getPrimitiveSizeInBits() <= 64;
  }

  void mark_exit(BasicBlock& from, BasicBlock& to) {
    const DILocation* at = from.getTerminator()->getDebugLoc().get();
    BasicBlock* between = SplitEdge(&from, &to);
    if (between == nullptr) return;
    IRBuilder<> builder(between->getTerminator());
    if (at != nullptr)
      builder.SetCurrentDebugLocation(at);
    else if (f_.getSubprogram() != nullptr)
      builder.SetCurrentDebugLocation(DILocation::get(f_.getContext(), 0, 0, f_.getSubprogram()));
    Value* file = ConstantPointerNull::get(builder.getPtrTy());
    Literals literals(m_);
    if (at != nullptr) file = literals[at->getFilename()];
    builder.CreateCall(
        m_.getOrInsertFunction("vinci_kernel_waited", builder.getVoidTy(), builder.getPtrTy(), builder.getInt32Ty()),
        {file, builder.getInt32(at != nullptr ? at->getLine() : 0)});
  }

  void mark(Instruction& load) {
    IRBuilder<> builder(&load);
    if (const auto* before = dyn_cast_or_null<CallInst>(load.getPrevNode());
        before != nullptr && before->getCalledFunction() != nullptr &&
        before->getCalledFunction()->getName().starts_with("vinci_kernel_await"))
      return;  // another loop waits for it, too
    DISubprogram* subprogram = load.getFunction()->getSubprogram();
    if (builder.getCurrentDebugLocation().get() == nullptr && subprogram != nullptr)
      builder.SetCurrentDebugLocation(DILocation::get(f_.getContext(), 0, 0, subprogram));
    auto* plain = dyn_cast<LoadInst>(&load);
    if (plain == nullptr) {
      builder.CreateCall(m_.getOrInsertFunction("vinci_kernel_awaits", builder.getVoidTy()));
      return;
    }
    const DILocation* at = load.getDebugLoc().get();
    Value* file = ConstantPointerNull::get(builder.getPtrTy());
    Literals literals(m_);
    if (at != nullptr) file = literals[at->getFilename()];
    const FunctionCallee await = m_.getOrInsertFunction("vinci_kernel_await", builder.getVoidTy(), builder.getPtrTy(),
                                                        builder.getInt32Ty(), builder.getPtrTy(), builder.getInt32Ty());
    const auto bytes = static_cast<uint32_t>(plain->getType()->getPrimitiveSizeInBits() / 8);
    builder.CreateCall(await, {plain->getPointerOperand(), builder.getInt32(bytes), file,
                               builder.getInt32(at != nullptr ? at->getLine() : 0)});
  }

  Function& f_;
  Module& m_;
  DominatorTree tree_;
  LoopInfo loops_;
  SmallSetVector<Instruction*, 4> found_;
  SmallSetVector<Instruction*, 4> inner_;  // in functions that it calls
  SmallSetVector<std::pair<BasicBlock*, BasicBlock*>, 4> exits_;
};

}  // namespace

bool mark_waits(Module& m) {
  bool any = false;
  for (Function* f : kernel_code(m))
    any = Waits(*f).run() || any;
  return any;
}

}  // namespace vinci::plugin
