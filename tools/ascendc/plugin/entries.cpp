// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/entries.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/xxhash.h>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)
using ascendc::KernelType;

void separate(Module& m, Function& entry, Kernel& kernel) {
  Function* body =
      Function::Create(entry.getFunctionType(), GlobalValue::InternalLinkage, entry.getName() + "$body", m);
  body->copyAttributesFrom(&entry);
  body->setDSOLocal(true);
  body->splice(body->begin(), &entry);
  for (unsigned i = 0; i < entry.arg_size(); ++i) {
    body->getArg(i)->takeName(entry.getArg(i));
    entry.getArg(i)->replaceAllUsesWith(body->getArg(i));
  }
  body->setSubprogram(entry.getSubprogram());
  entry.setSubprogram(nullptr);
  entry.removeFnAttr(Attribute::AlwaysInline);
  entry.setPersonalityFn(nullptr);
  kernel.body = body;
}

StructType* body_type(LLVMContext& context) {
  Type* number = Type::getInt32Ty(context);
  return StructType::get(PointerType::getUnqual(context), Type::getInt64Ty(context), number, number);
}

namespace {

class Entries {
 public:
  Entries(Module& m, const Pass& pass, Kernels& kernels, Literals& literals)
      : m_(m),
        pass_(pass),
        kernels_(kernels),
        literals_(literals),
        builder_(m.getContext()),
        body_type_(body_type(m.getContext())) {}

  void write() {
    for (auto& [entry, kernel] : kernels_.by_entry) {
      take_stated_type(*kernel.body, kernel.type);
    }
    erase_stated_types();
    for (auto& [entry, kernel] : kernels_.by_entry)
      describe(*entry, kernel);
  }

 private:
  struct Facts {
    std::string text;
    bool works = false, matmul = false;
    bool vector = false, cube = false;  // whether it has instructions that one kind alone has
  };
  // The constructor of an instruction of the API, which has its name.
  static void add_instruction(const CallBase& call, StringRef callee, Facts& out) {
    if (!callee.starts_with("_ZN5vinci7ascendc4InsnC") || call.arg_size() < 2) return;
    const auto name = string_of(call.getArgOperand(1));
    if (!name) return;
    const bool cube = name->starts_with("mad") || name->starts_with("load_cbuf_to_c") ||
                      name->starts_with("load_gm_to_c") || name->starts_with("img2col") ||
                      name->starts_with("copy_matrix_cc");
    out.cube = out.cube || cube;
    out.vector = out.vector || name->starts_with("v") || (name->contains("ubuf") && !name->contains("cbuf"));
  }
  // What a kernel does, as far as two kinds of cores are to be compared.
  Facts facts_of(Function& body) {
    Facts out;
    Functions all;
    kernels_.add_reachable(body, all);
    raw_string_ostream text(out.text);
    for (Function* f : all) {
      out.matmul = out.matmul || kernels_.matmul.contains(f);
      for (const Instruction& i : instructions(*f)) {
        text << i.getOpcode() << ' ';
        if (isa<DbgInfoIntrinsic>(i)) continue;
        if (const auto* call = dyn_cast<CallBase>(&i)) {
          if (const Function* callee = call->getCalledFunction()) {
            text << callee->getName();
            add_instruction(*call, callee->getName(), out);
            out.works = out.works || callee->getName().starts_with("_ZN5vinci7ascendc5issue") ||
                        callee->getName().starts_with("_ZN5vinci7ascendc4load") ||
                        callee->getName().starts_with("_ZN5vinci7ascendc5store") ||
                        callee->getName().starts_with("_ZN5vinci7ascendc4read");
            if (callee->getIntrinsicID() == Intrinsic::var_annotation)
              out.matmul = out.matmul || string_of(call->getArgOperand(1)) == StringRef("vinci.matmul");
          }
        }
        if (const Value* p = getLoadStorePointerOperand(&i)) {
          const unsigned space = p->getType()->getPointerAddressSpace();
          out.works = out.works || !isa<AllocaInst>(getUnderlyingObject(p));
          text << space;
        }
        for (const Value* operand : i.operands()) {
          if (const auto* n = dyn_cast<ConstantInt>(operand)) text << n->getValue();
          if (const auto* x = dyn_cast<ConstantFP>(operand)) text << x->getValueAPF().bitcastToAPInt();
        }
        text << '\n';
      }
    }
    // Code that is for the other kind, of which only parts ask for the kind: `if ASCEND_IS_AIV` in a vector kernel.
    if (pass_.kind == "cube" && out.vector && !out.cube) out.works = false;
    if (pass_.kind == "vector" && out.cube && !out.vector) out.works = false;
    return out;
  }

  // A call in the kernel, or in a function of it, that states the type; such calls are erased.
  void take_stated_type(Function& body, std::optional<KernelType>& type) {
    Function* mark = m_.getFunction("vinci_kernel_type");
    if (mark == nullptr) return;
    Functions all;
    kernels_.add_reachable(body, all);
    for (Function* f : all) {
      for (const Instruction& i : instructions(*f)) {
        const auto* call = dyn_cast<CallBase>(&i);
        if (call == nullptr || call->getCalledFunction() != mark) continue;
        if (const auto text = string_of(call->getArgOperand(0))) {
          if (const auto stated = type_of(*text)) type = stated;
        }
      }
    }
  }
  void erase_stated_types() {
    Function* mark = m_.getFunction("vinci_kernel_type");
    if (mark == nullptr) return;
    for (User* user : make_early_inc_range(mark->users())) {
      if (auto* invoke = dyn_cast<InvokeInst>(user)) {
        BranchInst::Create(invoke->getNormalDest(), invoke->getIterator());
        invoke->getUnwindDest()->removePredecessor(invoke->getParent());
        invoke->eraseFromParent();
      } else if (auto* call = dyn_cast<CallInst>(user)) {
        call->eraseFromParent();
      }
    }
  }

  GlobalVariable* body_symbol(StringRef entry, StringRef kind, Constant* value) {
    const std::string name = (entry + "$" + kind + "." + pass_.hash).str();
    auto* out = new GlobalVariable(m_, body_type_, true,
                                   value != nullptr ? GlobalValue::ExternalLinkage : GlobalValue::ExternalWeakLinkage,
                                   value, name);
    out->setVisibility(GlobalValue::HiddenVisibility);
    return out;
  }

  void describe(Function& entry, Kernel& kernel) {
    const Facts facts = facts_of(*kernel.body);
    auto* pointer = PointerType::getUnqual(m_.getContext());
    Constant* value = ConstantStruct::get(
        body_type_, {kernel.body, builder_.getInt64(xxh3_64bits(facts.text)), builder_.getInt32(facts.works ? 1 : 0),
                     builder_.getInt32(facts.matmul ? 1 : 0)});
    Constant* vector = ConstantPointerNull::get(pointer);
    Constant* cube = vector;
    if (pass_.kind == "both") {
      vector = cube = body_symbol(entry.getName(), "both", value);
    } else if (pass_.kind == "only-vector") {
      vector = body_symbol(entry.getName(), "vector", value);
    } else if (pass_.kind == "only-cube") {
      cube = body_symbol(entry.getName(), "cube", value);
    } else {
      const bool is_cube = pass_.kind == "cube";
      vector = body_symbol(entry.getName(), "vector", is_cube ? nullptr : value);
      cube = body_symbol(entry.getName(), "cube", is_cube ? value : nullptr);
    }
    const DISubprogram* subprogram = kernel.body->getSubprogram();
    Constant* name = literals_[subprogram != nullptr ? subprogram->getName() : entry.getName()];
    auto* type = StructType::get(pointer, builder_.getInt32Ty(), pointer, pointer, pointer);
    auto* table = new GlobalVariable(
        m_, type, true, GlobalValue::PrivateLinkage,
        ConstantStruct::get(type, {name, builder_.getInt32(kernel.type ? static_cast<unsigned>(*kernel.type) : ~0u),
                                   vector, cube, call_with_block(entry, kernel)}),
        "vinci_kernel");
    write_entry(entry, kernel, *table);
    // Where the object with the host's code has an entry of this name, the linker takes that one.
    if (!pass_.host && entry.hasExternalLinkage()) {
      entry.setLinkage(GlobalValue::WeakAnyLinkage);
      entry.setComdat(nullptr);
    }
  }

  // A function that calls the entry with arguments that are one behind the other in memory, each aligned to its size.
  Function* call_with_block(Function& entry, const Kernel& kernel) {
    LLVMContext& context = m_.getContext();
    auto* pointer = PointerType::getUnqual(context);
    auto* type = FunctionType::get(Type::getVoidTy(context), {pointer}, false);
    Function* out = Function::Create(type, GlobalValue::PrivateLinkage, entry.getName() + "$block", m_);
    builder_.SetInsertPoint(BasicBlock::Create(context, "", out));
    builder_.SetCurrentDebugLocation(DebugLoc());
    const DataLayout& layout = m_.getDataLayout();
    uint64_t at = 0;
    std::vector<Value*> arguments;
    for (const Argument& a : kernel.body->args()) {
      Type* of = a.hasByValAttr() ? a.getParamByValType() : a.getType();
      at = alignTo(at, layout.getABITypeAlign(of));
      Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), out->getArg(0), at);
      if (a.hasByValAttr())
        arguments.push_back(builder_.CreateAddrSpaceCast(place, a.getType()));
      else
        arguments.push_back(builder_.CreateAlignedLoad(of, place, Align(1)));
      at += layout.getTypeAllocSize(of);
    }
    CallInst* call = builder_.CreateCall(entry.getFunctionType(), &entry, arguments);
    call->setAttributes(kernel.body->getAttributes().removeFnAttributes(context));
    call->setCallingConv(entry.getCallingConv());
    builder_.CreateRetVoid();
    return out;
  }

  void write_entry(Function& entry, const Kernel& kernel, GlobalVariable& table) {
    LLVMContext& context = m_.getContext();
    auto* pointer = PointerType::getUnqual(context);
    builder_.SetInsertPoint(BasicBlock::Create(context, "", &entry));
    builder_.SetCurrentDebugLocation(DebugLoc());
    const FunctionCallee choose = m_.getOrInsertFunction("vinci_kernel_code", pointer, pointer);
    Value* code = builder_.CreateCall(choose, {&table});
    BasicBlock* call_it = BasicBlock::Create(context, "", &entry);
    BasicBlock* leave = BasicBlock::Create(context, "", &entry);
    builder_.CreateCondBr(builder_.CreateIsNull(code), leave, call_it);
    builder_.SetInsertPoint(call_it);
    std::vector<Value*> arguments;
    for (Argument& a : entry.args())
      arguments.push_back(&a);
    CallInst* call = builder_.CreateCall(entry.getFunctionType(), code, arguments);
    AttributeList attributes = kernel.body->getAttributes();
    call->setAttributes(attributes.removeFnAttributes(context));
    call->setCallingConv(entry.getCallingConv());
    builder_.CreateBr(leave);
    builder_.SetInsertPoint(leave);
    if (entry.getReturnType()->isVoidTy()) {
      builder_.CreateRetVoid();
    } else {
      builder_.CreateUnreachable();
    }
  }

  Module& m_;
  const Pass& pass_;
  Kernels& kernels_;
  Literals& literals_;
  IRBuilder<> builder_;
  StructType* body_type_;
};

}  // namespace

void write_entries(Module& m, const Pass& pass, Kernels& kernels, Literals& literals) {
  Entries(m, pass, kernels, literals).write();
}

}  // namespace vinci::plugin
