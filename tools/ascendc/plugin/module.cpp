// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/module.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)
using ascendc::KernelType;

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
  SmallVector<StringRef, 5> words;
  text->split(words, ' ', 4);
  if (words.size() != 5) report_fatal_error("vinci_front_end_pass is not of this version");
  return Pass{words[0] == "host", words[1].str(), words[2].str(), words[3] == "counted", words[4].str()};
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

namespace {
void read_annotations(Module& m, Kernels& kernels) {
  GlobalVariable* all = m.getNamedGlobal("llvm.global.annotations");
  if (all == nullptr) return;
  std::vector<std::pair<Function*, StringRef>> found;
  for (const Use& use : all->getInitializer()->operands()) {
    const auto* entry = dyn_cast<ConstantStruct>(use.get());
    auto* f = entry == nullptr ? nullptr : dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const std::optional<StringRef> text = entry == nullptr ? std::nullopt : string_of(entry->getOperand(1));
    if (f != nullptr && text && !f->isDeclaration()) found.emplace_back(f, *text);
  }
  for (const auto& [f, text] : found) {
    if (text == "vinci.kernel") kernels.by_entry[f];
    if (text == "vinci.matmul") kernels.matmul.insert(f);
  }
  for (auto [f, text] : found) {
    const auto it = kernels.by_entry.find(f);
    if (it != kernels.by_entry.end() && text.consume_front("vinci.type ")) it->second.type = type_of(text);
  }
}

void drop_marks(Module& m) {
  for (const char* name : {"llvm.global.annotations", "vinci_front_end_pass"}) {
    if (GlobalVariable* v = m.getNamedGlobal(name)) {
      removeFromUsedLists(m, [&](Constant* c) { return c->stripPointerCasts() == v; });
      v->eraseFromParent();
    }
  }
}
void add_functions(const Constant& c, std::vector<Function*>& out) {
  if (const auto* f = dyn_cast<Function>(&c)) {
    out.push_back(const_cast<Function*>(f));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  } else if (!isa<GlobalValue>(c)) {
    for (const Value* operand : c.operands()) {
      if (const auto* inner = dyn_cast<Constant>(operand)) add_functions(*inner, out);
    }
  }
}
}  // namespace

Kernels take_kernels(Module& m) {
  Kernels out;
  read_annotations(m, out);
  drop_marks(m);
  return out;
}

void Kernels::add_reachable(Function& from, Functions& out) const {
  std::vector<Function*> left{&from};
  while (!left.empty()) {
    Function* f = left.back();
    left.pop_back();
    if (f->isDeclaration() || by_entry.contains(f) || !out.insert(f)) continue;
    for (const Instruction& i : instructions(*f)) {
      for (const Value* operand : i.operands()) {
        if (const auto* c = dyn_cast<Constant>(operand)) add_functions(*c, left);
      }
    }
  }
}
Functions Kernels::reachable() const {
  Functions out;
  for (const auto& [entry, kernel] : by_entry)
    add_reachable(*kernel.body, out);
  return out;
}

Constant* Literals::operator[](StringRef text) {
  Constant*& known = known_[text];
  if (known == nullptr) {
    Constant* data = ConstantDataArray::getString(m_.getContext(), text);
    auto* v = new GlobalVariable(m_, data->getType(), true, GlobalValue::PrivateLinkage, data, ".vinci");
    v->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    known = v;
  }
  return known;
}

}  // namespace vinci::plugin
