// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The part of `vinci cc` inside the compiler, a pass of LLVM 19 that runs first: gives kernels an entry that chooses
// the code for the kind of the present core, keeps the code of both kinds apart, and turns accesses to the core's own
// memories into calls of the library. A second pass runs last and counts what is left of the kernels' own scalar code.
// docs/front-end.md
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "tools/ascendc/plugin/accesses.h"
#include "tools/ascendc/plugin/device_binary.h"
#include "tools/ascendc/plugin/divisions.h"
#include "tools/ascendc/plugin/entries.h"
#include "tools/ascendc/plugin/kernel_code.h"
#include "tools/ascendc/plugin/kinds.h"
#include "tools/ascendc/plugin/module.h"
#include "tools/ascendc/plugin/scalar_code.h"
#include "tools/ascendc/plugin/stores.h"
#include "tools/ascendc/plugin/waits.h"

namespace vinci::plugin {
namespace {

using namespace llvm;  // NOLINT(google-build-using-namespace)

void rewrite(Module& m, const Pass& pass) {
  Kernels kernels = take_kernels(m);
  Literals literals(m);
  for (auto& [entry, kernel] : kernels.by_entry)
    separate(m, *entry, kernel);
  if (pass.host) write_device_binary(m, pass, kernels);
  Functions device = kernels.reachable();
  write_entries(m, pass, kernels, literals);
  if (pass.host && pass.kind != "both" && !kernels.by_entry.empty()) device = copy_shared_code(kernels, device);
  instrument(m, device, literals);
  mark_divisions(device);
  mark_kernel_code(device, pass.headers);
  if (pass.counted) mark_counted(device);
  if (!pass.host) leave_only_kernels(m, kernels, device);
}

struct KernelsPass : PassInfoMixin<KernelsPass> {
  static PreservedAnalyses run(Module& m, ModuleAnalysisManager& analyses) {
    std::optional<Pass> pass = take_pass(m);
    if (!pass) return PreservedAnalyses::all();
    rewrite(m, *pass);
    GlobalDCEPass().run(m, analyses);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct ScalarCodePass : PassInfoMixin<ScalarCodePass> {
  static PreservedAnalyses run(Module& m, ModuleAnalysisManager& /*analyses*/) {
    // In this order: what is told is not counted, and what guards a division is neither.
    const bool waits = mark_waits(m), told = tell_stores(m), counted = count_operations(m),
               guarded = guard_divisions(m);
    return waits || told || counted || guarded ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

}  // namespace
}  // namespace vinci::plugin

extern "C" LLVM_ATTRIBUTE_WEAK ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "vinci_kernels", LLVM_VERSION_STRING, [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(vinci::plugin::KernelsPass());
            });
            builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(vinci::plugin::ScalarCodePass());
            });
          }};
}
