// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/accesses.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

// Address spaces of the memories of a core, as ascendc/language.h numbers them. Global memory is the host's, 0.
constexpr unsigned kFirstMemory = 2, kLastMemory = 9;
bool is_local(unsigned space) { return space >= kFirstMemory && space <= kLastMemory; }

class Accesses {
 public:
  Accesses(Module& m, Literals& literals) : m_(m), literals_(literals), builder_(m.getContext()) {}

  void instrument(Function& f) {
    std::vector<Instruction*> accesses;
    for (Instruction& i : instructions(f)) {
      if (isa<LoadInst, StoreInst, MemIntrinsic, AtomicRMWInst, AtomicCmpXchgInst>(i) || is_assembly(i)) {
        accesses.push_back(&i);
      } else if (auto* call = dyn_cast<CallBase>(&i)) {
        print_as_kernel(*call);
      }
    }
    for (Instruction* i : accesses) {
      builder_.SetInsertPoint(i);
      if (auto* load = dyn_cast<LoadInst>(i)) {
        rewrite(*load);
      } else if (auto* store = dyn_cast<StoreInst>(i)) {
        rewrite(*store);
      } else if (auto* all = dyn_cast<MemIntrinsic>(i)) {
        rewrite(*all);
      } else if (auto* call = dyn_cast<CallBase>(i)) {
        rewrite_assembly(*call);
      } else {
        if (!is_local(i->getOperand(0)->getType()->getPointerAddressSpace())) continue;
        m_.getContext().diagnose(DiagnosticInfoUnsupported(
            f, "an atomic operation on a memory of the core: its scalar unit has none", i->getDebugLoc()));
      }
    }
  }

 private:
  // printf of a kernel says which core it is.
  void print_as_kernel(CallBase& call) {
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr || callee->getName() != "printf") return;
    call.setCalledFunction(m_.getOrInsertFunction("vinci_kernel_printf", callee->getFunctionType()));
  }
  // File and line of an instruction, as arguments.
  void add_place(const Instruction& i, std::vector<Value*>& arguments) {
    const DILocation* at = i.getDebugLoc().get();
    arguments.push_back(literals_[at != nullptr ? at->getFilename() : StringRef(m_.getSourceFileName())]);
    arguments.push_back(builder_.getInt32(at != nullptr ? at->getLine() : 0));
  }
  Value* call(const Instruction& at, StringRef name, Type* result, std::vector<Value*> arguments) {
    add_place(at, arguments);
    std::vector<Type*> types;
    for (const Value* a : arguments)
      types.push_back(a->getType());
    return builder_.CreateCall(m_.getOrInsertFunction(name, FunctionType::get(result, types, false)), arguments);
  }
  Value* number(Value* pointer) { return builder_.CreatePtrToInt(pointer, builder_.getInt64Ty()); }
  Value* memory(const Value* pointer) { return builder_.getInt32(pointer->getType()->getPointerAddressSpace()); }

  // The number of bytes where one access of the scalar unit does it; 0 otherwise.
  unsigned word(Type* type) {
    const DataLayout& layout = m_.getDataLayout();
    if (!type->isIntegerTy() && !type->isFloatingPointTy() && !type->isPointerTy()) return 0;
    const uint64_t bytes = layout.getTypeStoreSize(type);
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? static_cast<unsigned>(bytes) : 0;
  }
  Value* from_word(Value* word, Type* type, unsigned bytes) {
    if (type->isPointerTy()) return builder_.CreateIntToPtr(word, type);
    Value* bits = builder_.CreateTrunc(word, builder_.getIntNTy(bytes * 8));
    return type->isIntegerTy() ? builder_.CreateTrunc(bits, type) : builder_.CreateBitCast(bits, type);
  }
  Value* to_word(Value* value, unsigned bytes) {
    Type* type = value->getType();
    if (type->isPointerTy()) return builder_.CreatePtrToInt(value, builder_.getInt64Ty());
    if (!type->isIntegerTy()) value = builder_.CreateBitCast(value, builder_.getIntNTy(bytes * 8));
    return builder_.CreateZExt(value, builder_.getInt64Ty());
  }
  AllocaInst* room(Function& f, Type* type) {
    return new AllocaInst(type, 0, "", f.getEntryBlock().getFirstInsertionPt());
  }

  void rewrite(LoadInst& load) {
    Value* p = load.getPointerOperand();
    Type* type = load.getType();
    const uint64_t bytes = m_.getDataLayout().getTypeStoreSize(type);
    if (!is_local(load.getPointerAddressSpace())) return;
    Value* value = nullptr;
    if (const unsigned n = word(type)) {
      value = from_word(
          call(load, "vinci_kernel_load", builder_.getInt64Ty(), {memory(p), number(p), builder_.getInt32(n)}), type,
          n);
    } else {
      AllocaInst* to = room(*load.getFunction(), type);
      copy(load, to, p, builder_.getInt64(bytes));
      value = builder_.CreateLoad(type, to);
    }
    load.replaceAllUsesWith(value);
    load.eraseFromParent();
  }
  void rewrite(StoreInst& store) {
    Value* p = store.getPointerOperand();
    Value* value = store.getValueOperand();
    const uint64_t bytes = m_.getDataLayout().getTypeStoreSize(value->getType());
    if (!is_local(store.getPointerAddressSpace())) return;
    if (const unsigned n = word(value->getType())) {
      call(store, "vinci_kernel_store", builder_.getVoidTy(),
           {memory(p), number(p), builder_.getInt32(n), to_word(value, n)});
    } else {
      AllocaInst* from = room(*store.getFunction(), value->getType());
      builder_.CreateStore(value, from);
      copy(store, p, from, builder_.getInt64(bytes));
    }
    store.eraseFromParent();
  }
  void rewrite(MemIntrinsic& all) {
    Value* to = all.getRawDest();
    Value* bytes = builder_.CreateZExtOrTrunc(all.getLength(), builder_.getInt64Ty());
    if (auto* transfer = dyn_cast<MemTransferInst>(&all)) {
      Value* from = transfer->getRawSource();
      if (!is_local(to->getType()->getPointerAddressSpace()) && !is_local(from->getType()->getPointerAddressSpace())) {
        return;
      }
      copy(all, to, from, bytes);
    } else {
      if (!is_local(to->getType()->getPointerAddressSpace())) return;
      call(all, "vinci_kernel_fill", builder_.getVoidTy(),
           {memory(to), number(to), bytes, cast<MemSetInst>(all).getValue()});
    }
    all.eraseFromParent();
  }
  static bool is_assembly(const Instruction& i) {
    const auto* call = dyn_cast<CallBase>(&i);
    return call != nullptr && call->isInlineAsm() &&
           !StringRef(cast<InlineAsm>(call->getCalledOperand())->getAsmString()).trim().empty();
  }
  // Assembly is that of the core, and would be taken for the host's. Known is what public kernels have of it: the
  // system counter, nothing at all, and the address of the code, which is not modelled.
  void rewrite_assembly(CallBase& call) {
    const StringRef text = StringRef(cast<InlineAsm>(call.getCalledOperand())->getAsmString()).trim();
    if (text.equals_insensitive("MOV $0, PC") && call.getType()->isIntegerTy()) {
      call.replaceAllUsesWith(ConstantInt::get(call.getType(), 0));
      call.eraseFromParent();
      return;
    }
    if (text.equals_insensitive("MOV $0, SYS_CNT") && call.getType()->isIntegerTy(64)) {
      call.replaceAllUsesWith(this->call(call, "vinci_kernel_system_count", call.getType(), {}));
      call.eraseFromParent();
      return;
    }
    if (text.equals_insensitive("nop")) {
      call.eraseFromParent();
      return;
    }
    m_.getContext().diagnose(
        DiagnosticInfoUnsupported(*call.getFunction(), "assembly of the core: " + text.str(), call.getDebugLoc()));
  }
  void copy(const Instruction& at, Value* to, Value* from, Value* bytes) {
    call(at, "vinci_kernel_copy", builder_.getVoidTy(), {memory(to), number(to), memory(from), number(from), bytes});
  }

  Module& m_;
  Literals& literals_;
  IRBuilder<> builder_;
};

}  // namespace

void instrument(Module& m, const Functions& device, Literals& literals) {
  Accesses accesses(m, literals);
  for (Function* f : device)
    accesses.instrument(*f);
}

}  // namespace vinci::plugin
