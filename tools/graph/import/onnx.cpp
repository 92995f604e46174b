// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <dlfcn.h>

#include "isa/base/error.h"
#include "tools/graph/import/lists.h"
#include "tools/graph/import/onnx_module.h"

namespace vinci::graph {
namespace {

// Found by the run path of the program; it stays loaded.
const OnnxModule& module() {
  static const OnnxModule& loaded = []() -> const OnnxModule& {
    void* const library = ::dlopen(kOnnxModuleFile, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(Fault::Unsupported, "the reader of ONNX files cannot be loaded: {}", ::dlerror());
    void* const entry = ::dlsym(library, kOnnxModuleEntry);
    if (entry == nullptr) fail(Fault::Internal, "the reader of ONNX files is incomplete: {}", ::dlerror());
    return *reinterpret_cast<decltype(&vinci_onnx_module)>(entry)();
  }();
  return loaded;
}

}  // namespace

Model read_onnx(const std::string& path) {
  Model model = module().read_model(path);
  stack_lists(model.graph);
  return model;
}

Tensor read_onnx_tensor(const std::string& path) { return module().read_tensor(path); }

}  // namespace vinci::graph
