// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/scalar_code.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <array>

#include "tools/ascendc/plugin/kernel_code.h"
#include "tools/ascendc/plugin/stores.h"

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

constexpr StringLiteral kCounted = "vinci-counted";

// As vinci/kernel_code.h numbers them.
enum Kind : unsigned { op, real, access, kinds };
using Work = std::array<uint64_t, kinds>;

// What has a register, at a fixed offset.
bool is_variable(const Value* pointer, const DataLayout& layout) {
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  return is_own_object(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
}

uint64_t words(uint64_t bytes) { return (bytes + 7) / 8; }

Work of_call(const CallBase& call, Owner& owner) {
  if (call.isInlineAsm()) return {};
  const Function* callee = call.getCalledFunction();
  if (callee != nullptr) {
    const DISubprogram* subprogram = callee->getSubprogram();
    if (subprogram != nullptr && owner.is_ours(subprogram->getFile())) return {};
    if (subprogram == nullptr && callee->getName().contains("vinci")) return {};
    if (call.getType()->isFloatingPointTy() && callee->isDeclaration()) return {0, 1, 0};
  }
  return {1, 0, 0};
}

Work of_intrinsic(const IntrinsicInst& call) {
  if (isa<DbgInfoIntrinsic>(call) || call.isLifetimeStartOrEnd() || call.isAssumeLikeIntrinsic()) return {};
  if (const auto* all = dyn_cast<MemIntrinsic>(&call)) {
    const DataLayout& layout = call.getModule()->getDataLayout();
    const auto* length = dyn_cast<ConstantInt>(all->getLength());
    const uint64_t each = length == nullptr ? 1 : words(length->getZExtValue());
    uint64_t accesses = is_told(call) || is_variable(all->getDest(), layout) ? 0 : each;
    if (const auto* transfer = dyn_cast<MemTransferInst>(all))
      accesses += is_variable(transfer->getSource(), layout) ? 0 : each;
    return {0, 0, accesses};
  }
  const Type* type = call.getType();
  if (type->isVoidTy()) return {};
  return type->isFPOrFPVectorTy() ? Work{0, 1, 0} : Work{1, 0, 0};
}

// What an instruction is on a scalar unit with registers of 64 bits. Free are what only names a value, and
// unconditional branches, which the layout of the code decides.
Work work_of(const Instruction& i, Owner& owner) {
  const DataLayout& layout = i.getModule()->getDataLayout();
  switch (i.getOpcode()) {
    case Instruction::FNeg:
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FRem:
    case Instruction::FCmp:
    case Instruction::FPExt:
    case Instruction::FPTrunc:
    case Instruction::FPToSI:
    case Instruction::FPToUI:
    case Instruction::SIToFP:
    case Instruction::UIToFP: return {0, 1, 0};
    case Instruction::Br: return {cast<BranchInst>(i).isConditional() ? 1u : 0u, 0, 0};
    case Instruction::GetElementPtr: {
      uint64_t computed = 0;
      for (const Use& index : cast<GetElementPtrInst>(i).indices())
        computed += isa<Constant>(index) ? 0 : 1;
      return {computed, 0, 0};
    }
    case Instruction::Load: return {0, 0, is_variable(cast<LoadInst>(i).getPointerOperand(), layout) ? 0u : 1u};
    case Instruction::Store:
      return {0, 0, is_told(i) || is_variable(cast<StoreInst>(i).getPointerOperand(), layout) ? 0u : 1u};
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: return {0, 0, is_told(i) ? 1u : 2u};
    case Instruction::Call:
    case Instruction::Invoke:
      if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) return of_intrinsic(*intrinsic);
      return of_call(cast<CallBase>(i), owner);
    case Instruction::ICmp:
    case Instruction::Select:
    case Instruction::Switch: return {1, 0, 0};
    default: return {i.isBinaryOp() ? 1u : 0u, 0, 0};
  }
}

// A call that may reach the library, where what was counted is to be known.
bool may_pay(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  return call != nullptr && !isa<IntrinsicInst>(i) && !call->isInlineAsm() && !call->doesNotAccessMemory() &&
         !is_telling(*call);
}

class Counter {
 public:
  Counter(Function& f, Literals& literals)
      : f_(f), m_(*f.getParent()), literals_(literals), owner_(f), builder_(f.getContext()), tree_(f), loops_(tree_) {}

  bool run() {
    read();
    if (steps_.empty()) return false;
    find_pending();
    IRBuilder<> at_entry(&*f_.getEntryBlock().getFirstInsertionPt());
    for (unsigned k = 0; k < kinds; ++k) {
      if (!used_[k]) continue;
      counts_[k] = at_entry.CreateAlloca(at_entry.getInt64Ty());
      at_entry.CreateStore(at_entry.getInt64(0), counts_[k]);
    }
    for (const auto& [block, list] : steps_) {
      bool pending = pending_[block];
      for (const Step& s : list) {
        add(s);
        pending = pending || s.counts();
        if (s.pays && pending) hand_over(*s.before);
        pending = pending && !s.pays;
      }
    }
    for (const Loop* loop : loops_)
      pay_loops(*loop);
    SmallVector<AllocaInst*, kinds> all;
    for (AllocaInst* a : counts_) {
      if (a != nullptr) all.push_back(a);
    }
    PromoteMemToReg(all, tree_);
    return true;
  }

 private:
  // Work between two calls, or up to the end of a block.
  struct Step {
    Instruction* before;
    Work work;
    bool pays;
    bool counts() const { return work != Work{}; }
  };
  using Steps = SmallVector<Step, 4>;

  void read() {
    for (BasicBlock& block : f_) {
      if (block.isEHPad() || !tree_.isReachableFromEntry(&block)) continue;
      Steps list;
      Work work{};
      for (Instruction& i : block) {
        if (owner_.is_users(i)) {
          const Work more = work_of(i, owner_);
          for (unsigned k = 0; k < kinds; ++k) {
            work[k] += more[k];
            used_[k] = used_[k] || more[k] != 0;
          }
        }
        const bool pays = may_pay(i) || isa<ReturnInst>(i);
        if (pays || (i.isTerminator() && work != Work{})) list.push_back({&i, std::exchange(work, Work{}), pays});
      }
      if (!list.empty()) steps_.insert({&block, std::move(list)});
    }
    if (none_of(used_, [](bool used) { return used; })) steps_.clear();
  }

  // Whether there may be something to hand over where a block begins.
  void find_pending() {
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock& block : f_) {
        bool pending = pending_[&block];
        if (const auto it = steps_.find(&block); it != steps_.end()) {
          for (const Step& s : it->second)
            pending = (pending || s.counts()) && !s.pays;
        }
        if (!pending) continue;
        for (BasicBlock* next : successors(&block)) {
          changed = changed || !pending_[next];
          pending_[next] = true;
        }
      }
    }
  }

  void add(const Step& s) {
    builder_.SetInsertPoint(s.before);
    for (unsigned k = 0; k < kinds; ++k) {
      if (s.work[k] == 0) continue;
      Value* old = builder_.CreateLoad(builder_.getInt64Ty(), counts_[k]);
      builder_.CreateStore(builder_.CreateAdd(old, builder_.getInt64(s.work[k])), counts_[k]);
    }
  }

  // To the library's counters of this thread.
  void hand_over(Instruction& before) {
    builder_.SetInsertPoint(&before);
    auto* type = ArrayType::get(builder_.getInt64Ty(), kinds);
    auto* all = cast<GlobalVariable>(m_.getOrInsertGlobal("vinci_kernel_operations", type, [&] {
      return new GlobalVariable(m_, type, false, GlobalValue::ExternalLinkage, nullptr, "vinci_kernel_operations",
                                nullptr, GlobalValue::InitialExecTLSModel);
    }));
    Value* here = builder_.CreateThreadLocalAddress(all);
    for (unsigned k = 0; k < kinds; ++k) {
      if (counts_[k] == nullptr) continue;
      Value* place = builder_.CreateConstInBoundsGEP2_32(type, here, 0, k);
      Value* old = builder_.CreateLoad(builder_.getInt64Ty(), place);
      Value* more = builder_.CreateLoad(builder_.getInt64Ty(), counts_[k]);
      builder_.CreateStore(builder_.CreateAdd(old, more), place);
      builder_.CreateStore(builder_.getInt64(0), counts_[k]);
    }
  }

  // A loop that calls nothing is paid where it ends, at its own line; of loops around loops the outermost such.
  void pay_loops(const Loop& loop) {
    bool calls = false, counts = false;
    for (const BasicBlock* block : loop.blocks()) {
      const auto it = steps_.find(block);
      if (it == steps_.end()) continue;
      for (const Step& s : it->second) {
        calls = calls || s.pays;
        counts = counts || s.counts();
      }
    }
    if (calls) {
      for (const Loop* inner : loop)
        pay_loops(*inner);
      return;
    }
    if (!counts) return;
    const DILocation* line = line_of(loop);
    SmallVector<BasicBlock*, 4> exits;
    loop.getUniqueExitBlocks(exits);
    for (BasicBlock* exit : exits) {
      if (line == nullptr || exit->isEHPad()) continue;
      builder_.SetInsertPoint(&*exit->getFirstInsertionPt());
      std::vector<Value*> arguments;
      for (AllocaInst* count : counts_) {
        Value* number = builder_.getInt64(0);
        if (count != nullptr) number = builder_.CreateLoad(builder_.getInt64Ty(), count);
        arguments.push_back(number);
      }
      arguments.push_back(literals_[line->getFilename()]);
      arguments.push_back(builder_.getInt32(line->getLine()));
      std::vector<Type*> types;
      for (const Value* a : arguments)
        types.push_back(a->getType());
      CallInst* call = builder_.CreateCall(
          m_.getOrInsertFunction("vinci_kernel_loop", FunctionType::get(builder_.getVoidTy(), types, false)),
          arguments);
      // A call of a function with debug information has a line.
      call->setDebugLoc(DILocation::get(f_.getContext(), 0, 0, f_.getSubprogram()));
      for (AllocaInst* count : counts_) {
        if (count != nullptr) builder_.CreateStore(builder_.getInt64(0), count);
      }
    }
  }
  const DILocation* line_of(const Loop& loop) {
    const DILocation* start = loop.getStartLoc().get();
    if (start != nullptr && start->getLine() != 0 && owner_.users_line(start) != nullptr &&
        !owner_.is_ours(start->getFile()))
      return start;
    for (const BasicBlock* block : loop.blocks()) {
      for (const Instruction& i : *block) {
        const DILocation* at = i.getDebugLoc().get();
        if (at != nullptr && at->getLine() != 0 && owner_.users_line(at) != nullptr) return at;
      }
    }
    return nullptr;
  }

  Function& f_;
  Module& m_;
  Literals& literals_;
  Owner owner_;
  IRBuilder<> builder_;
  DominatorTree tree_;
  LoopInfo loops_;
  MapVector<const BasicBlock*, Steps> steps_;
  DenseMap<const BasicBlock*, bool> pending_;
  std::array<bool, kinds> used_{};
  std::array<AllocaInst*, kinds> counts_{};
};

}  // namespace

void mark_counted(const Functions& device) {
  for (Function* f : device)
    f->addFnAttr(kCounted);
}

bool count_operations(Module& m) {
  Literals literals(m);
  bool any = false;
  for (Function* f : kernel_code(m)) {
    if (f->hasFnAttribute(kCounted)) any = Counter(*f, literals).run() || any;
  }
  return any;
}

}  // namespace vinci::plugin
