// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The part of `vinci cc` inside the compiler, a pass of LLVM 19 that runs first: gives kernels an entry that chooses
// the code for the kind of the present core, keeps the code of both kinds apart, and turns accesses to the core's own
// memories into calls of the library. docs/front-end.md
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>
#include <string>

#include "vinci/ascendc.h"

namespace {

using namespace llvm;  // NOLINT(google-build-using-namespace)
using vinci::ascendc::KernelType;

// Address spaces of the memories of a core, as ascendc/language.h numbers them. Global memory is the host's, 0.
constexpr unsigned kFirstMemory = 2, kLastMemory = 9;
bool is_local(unsigned space) { return space >= kFirstMemory && space <= kLastMemory; }

// What `vinci cc` says of this compilation: a string in the text, "HOST KIND HASH".
struct Pass {
  bool host = true;  // whether the object has the host's code, too
  std::string kind;  // "vector", "cube"; "both" where one compilation serves both, "only-..." where there is one kind
  std::string hash;  // of the file
};

std::optional<StringRef> string_of(const Value* v) {
  const auto* global = dyn_cast<GlobalVariable>(v->stripPointerCasts());
  if (global == nullptr || !global->hasInitializer()) return std::nullopt;
  const auto* data = dyn_cast<ConstantDataArray>(global->getInitializer());
  if (data == nullptr || !data->isCString()) return std::nullopt;
  return data->getAsCString();
}

std::optional<Pass> take_pass(Module& m) {
  GlobalVariable* mark = m.getNamedGlobal("vinci_front_end_pass");
  if (mark == nullptr) return std::nullopt;
  const std::optional<StringRef> text = string_of(mark);
  if (!text) return std::nullopt;
  SmallVector<StringRef, 3> words;
  text->split(words, ' ');
  return Pass{words[0] == "host", words[1].str(), words[2].str()};
}

std::optional<KernelType> type_of(StringRef name) {
  return StringSwitch<std::optional<KernelType>>(name)
      .Cases("KERNEL_TYPE_AIV_ONLY", "vector", KernelType::vector)
      .Cases("KERNEL_TYPE_AIC_ONLY", "cube", KernelType::cube)
      .Cases("KERNEL_TYPE_MIX_AIV_HARD_SYNC", "KERNEL_TYPE_MIX_AIV_1_0", "mix 0 1", KernelType::mix_0_1)
      .Cases("KERNEL_TYPE_MIX_AIC_HARD_SYNC", "KERNEL_TYPE_MIX_AIC_1_0", "mix 1 0", KernelType::mix_1_0)
      .Cases("KERNEL_TYPE_MIX_AIC_1_1", "mix 1 1", KernelType::mix_1_1)
      .Cases("KERNEL_TYPE_MIX_AIC_1_2", "mix 1 2", KernelType::mix_1_2)
      .Default(std::nullopt);
}

struct Kernel {
  std::optional<KernelType> type;
  bool matmul = false;
  Function* body = nullptr;
};

using Functions = SetVector<Function*>;
using Variables = SmallPtrSet<GlobalVariable*, 32>;

class Rewriter {
 public:
  Rewriter(Module& m, Pass pass) : m_(m), pass_(std::move(pass)), builder_(m.getContext()) {}

  void run(ModuleAnalysisManager& analyses) {
    read_annotations();
    drop_marks();
    for (auto& [entry, kernel] : kernels_)
      separate(*entry, kernel);
    device_ = reachable_from_kernels();
    describe_kernels();
    if (pass_.host && pass_.kind != "both" && !kernels_.empty()) copy_shared_code();
    for (Function* f : device_)
      instrument(*f);
    if (!pass_.host) leave_only_kernels();
    GlobalDCEPass().run(m_, analyses);
  }

 private:
  // ------------------------------------------------------------------------------------------------------------------
  // Which functions are kernels, and of which type.

  void read_annotations() {
    GlobalVariable* all = m_.getNamedGlobal("llvm.global.annotations");
    if (all == nullptr) return;
    std::vector<std::pair<Function*, StringRef>> found;
    for (const Use& use : all->getInitializer()->operands()) {
      const auto* entry = dyn_cast<ConstantStruct>(use.get());
      auto* f = entry == nullptr ? nullptr : dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
      const std::optional<StringRef> text = entry == nullptr ? std::nullopt : string_of(entry->getOperand(1));
      if (f != nullptr && text && !f->isDeclaration()) found.emplace_back(f, *text);
    }
    for (const auto& [f, text] : found) {
      if (text == "vinci.kernel") kernels_[f];
      if (text == "vinci.matmul") matmul_.insert(f);
    }
    for (auto [f, text] : found) {
      const auto it = kernels_.find(f);
      if (it != kernels_.end() && text.consume_front("vinci.type ")) it->second.type = type_of(text);
    }
  }

  void drop_marks() {
    for (const char* name : {"llvm.global.annotations", "vinci_front_end_pass"}) {
      if (GlobalVariable* v = m_.getNamedGlobal(name)) {
        removeFromUsedLists(m_, [&](Constant* c) { return c->stripPointerCasts() == v; });
        v->eraseFromParent();
      }
    }
  }

  // The kernel becomes an entry that calls the code for the present core; its own code is a function beside it.
  void separate(Function& entry, Kernel& kernel) {
    Function* body =
        Function::Create(entry.getFunctionType(), GlobalValue::InternalLinkage, entry.getName() + "$body", m_);
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

  Functions reachable_from_kernels() {
    Functions out;
    for (auto& [entry, kernel] : kernels_) {
      add_reachable(*kernel.body, out);
    }
    return out;
  }
  // With what it uses, transitively; of constants only what they name.
  void add_reachable(Function& from, Functions& out) const {
    std::vector<Function*> left{&from};
    while (!left.empty()) {
      Function* f = left.back();
      left.pop_back();
      if (f->isDeclaration() || kernels_.contains(f) || !out.insert(f)) continue;
      for (const Instruction& i : instructions(*f)) {
        for (const Value* operand : i.operands()) {
          if (const auto* c = dyn_cast<Constant>(operand)) add_functions(*c, left);
        }
      }
    }
  }
  static void add_functions(const Constant& c, std::vector<Function*>& out) {
    if (const auto* f = dyn_cast<Function>(&c)) {
      out.push_back(const_cast<Function*>(f));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    } else if (!isa<GlobalValue>(c)) {
      for (const Value* operand : c.operands()) {
        if (const auto* inner = dyn_cast<Constant>(operand)) add_functions(*inner, out);
      }
    }
  }

  // ------------------------------------------------------------------------------------------------------------------
  // The table of kernels.

  struct Facts {
    std::string text;
    bool works = false, matmul = false;
  };
  // What a kernel does, as far as two kinds of cores are to be compared.
  Facts facts_of(Function& body) {
    Facts out;
    Functions all;
    add_reachable(body, all);
    raw_string_ostream text(out.text);
    for (Function* f : all) {
      out.matmul = out.matmul || matmul_.contains(f);
      for (const Instruction& i : instructions(*f)) {
        text << i.getOpcode() << ' ';
        if (isa<DbgInfoIntrinsic>(i)) continue;
        if (const auto* call = dyn_cast<CallBase>(&i)) {
          if (const Function* callee = call->getCalledFunction()) {
            text << callee->getName();
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
    return out;
  }

  // A call in the kernel, or in a function of it, that states the type; such calls are erased.
  void take_stated_type(Function& body, std::optional<KernelType>& type) {
    Function* mark = m_.getFunction("vinci_kernel_type");
    if (mark == nullptr) return;
    Functions all;
    add_reachable(body, all);
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

  void describe_kernels() {
    Type* pointer = PointerType::getUnqual(m_.getContext());
    body_type_ = StructType::get(pointer, builder_.getInt64Ty(), builder_.getInt32Ty(), builder_.getInt32Ty());
    for (auto& [entry, kernel] : kernels_) {
      take_stated_type(*kernel.body, kernel.type);
    }
    erase_stated_types();
    for (auto& [entry, kernel] : kernels_)
      describe(*entry, kernel);
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
    Constant* name = literal(subprogram != nullptr ? subprogram->getName() : entry.getName());
    auto* type = StructType::get(pointer, builder_.getInt32Ty(), pointer, pointer);
    auto* table = new GlobalVariable(
        m_, type, true, GlobalValue::PrivateLinkage,
        ConstantStruct::get(
            type, {name, builder_.getInt32(kernel.type ? static_cast<unsigned>(*kernel.type) : ~0u), vector, cube}),
        "vinci_kernel");
    write_entry(entry, kernel, *table);
    // Where the object with the host's code has an entry of this name, the linker takes that one.
    if (!pass_.host && entry.hasExternalLinkage()) {
      entry.setLinkage(GlobalValue::WeakAnyLinkage);
      entry.setComdat(nullptr);
    }
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

  // ------------------------------------------------------------------------------------------------------------------
  // Code of one kind must not meet that of the other: functions of the same name differ.

  // In the object with the host's code: kernels get copies of what they call.
  void copy_shared_code() {
    ValueToValueMapTy copies;
    Functions out;
    for (Function* f : device_) {
      if (is_body(*f)) {
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
    device_ = out;
  }
  bool is_body(const Function& f) const {
    return any_of(kernels_, [&](const auto& k) { return k.second.body == &f; });
  }

  // In the other object: only what kernels need. Data that can change is that of the host's object.
  void leave_only_kernels() {
    filter_constructors();
    for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_dtors"}) {
      if (GlobalVariable* v = m_.getNamedGlobal(name)) v->eraseFromParent();
    }
    for (Function& f : m_) {
      if (f.isDeclaration() || f.hasLocalLinkage() || kernels_.contains(&f)) continue;
      make_internal(f);
    }
    for (GlobalVariable& v : m_.globals()) {
      if (v.isDeclaration() || v.hasLocalLinkage() || v.getName().starts_with("llvm.")) continue;
      if (v.getValueType() == body_type_) continue;
      if (v.isConstant()) {
        make_internal(v);
      } else if (!v.isWeakForLinker()) {
        v.setInitializer(nullptr);
        v.setComdat(nullptr);
        v.setLinkage(GlobalValue::ExternalLinkage);
      }
    }
    while (!m_.alias_empty()) {
      GlobalAlias& alias = *m_.alias_begin();
      alias.replaceAllUsesWith(alias.getAliasee());
      alias.eraseFromParent();
    }
  }
  static void make_internal(GlobalObject& o) {
    o.setLinkage(GlobalValue::InternalLinkage);
    o.setVisibility(GlobalValue::DefaultVisibility);
    o.setDSOLocal(true);
    o.setComdat(nullptr);
  }

  static void add_variables(const Constant& c, Variables& out) {
    if (const auto* v = dyn_cast<GlobalVariable>(&c)) {
      auto* found = const_cast<GlobalVariable*>(v);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
      if (out.insert(found).second && v->hasInitializer()) add_variables(*v->getInitializer(), out);
    } else if (!isa<Function>(c)) {
      for (const Value* operand : c.operands()) {
        if (const auto* inner = dyn_cast<Constant>(operand)) add_variables(*inner, out);
      }
    }
  }
  static void add_variables(const Function& f, Variables& out) {
    for (const Instruction& i : instructions(f)) {
      for (const Value* operand : i.operands()) {
        if (const auto* c = dyn_cast<Constant>(operand)) add_variables(*c, out);
      }
    }
  }

  // Keeps the initialisation of what kernels use and what this object has.
  void filter_constructors() {
    GlobalVariable* all = m_.getNamedGlobal("llvm.global_ctors");
    if (all == nullptr) return;
    Variables used;
    for (const Function* f : device_)
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
      appendToGlobalCtors(m_, f, priority);
    }
  }

  // ------------------------------------------------------------------------------------------------------------------
  // Accesses.

  Constant* literal(StringRef text) {
    Constant*& known = literals_[text];
    if (known == nullptr) {
      Constant* data = ConstantDataArray::getString(m_.getContext(), text);
      auto* v = new GlobalVariable(m_, data->getType(), true, GlobalValue::PrivateLinkage, data, ".vinci");
      v->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      known = v;
    }
    return known;
  }
  // File and line of an instruction, as arguments.
  void add_place(const Instruction& i, std::vector<Value*>& arguments) {
    const DILocation* at = i.getDebugLoc().get();
    arguments.push_back(literal(at != nullptr ? at->getFilename() : StringRef(m_.getSourceFileName())));
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

  void instrument(Function& f) {
    std::vector<Instruction*> accesses;
    for (Instruction& i : instructions(f)) {
      if (isa<LoadInst, StoreInst, MemIntrinsic, AtomicRMWInst, AtomicCmpXchgInst>(i) || is_assembly(i)) {
        accesses.push_back(&i);
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
  Pass pass_;
  IRBuilder<> builder_;
  MapVector<Function*, Kernel> kernels_;  // by entry
  SmallPtrSet<Function*, 8> matmul_;      // functions that need both kinds of cores
  Functions device_;                      // all code of kernels
  StructType* body_type_ = nullptr;
  StringMap<Constant*> literals_;
};

struct KernelsPass : PassInfoMixin<KernelsPass> {
  static PreservedAnalyses run(Module& m, ModuleAnalysisManager& analyses) {
    std::optional<Pass> pass = take_pass(m);
    if (!pass) return PreservedAnalyses::all();
    Rewriter(m, std::move(*pass)).run(analyses);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "vinci_kernels", LLVM_VERSION_STRING, [](PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(KernelsPass()); });
          }};
}
