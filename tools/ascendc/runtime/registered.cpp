// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Kernels that a program registers as a binary and launches by a key.
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/rt.h"
#include "tools/ascendc/include/vinci/kernel_code.h"
#include "tools/ascendc/include/vinci/signature.h"
#include "tools/ascendc/runtime/acl_error.h"
#include "tools/ascendc/runtime/core.h"
#include "tools/ascendc/runtime/kernel_code.h"

namespace vinci::ascendc {
namespace {

// Reads a T at an offset; nothing where the file ends before.
template <class T>
std::optional<T> at(std::span<const char> file, u64 offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return out;
}
std::string_view text(std::span<const char> file, const Elf64_Shdr& names, u64 offset) {
  const u64 begin = names.sh_offset + offset;
  if (begin >= file.size()) return {};
  const std::string_view rest(file.data() + begin, file.size() - begin);
  return rest.substr(0, rest.find('\0'));
}

struct Binary {
  std::map<std::string, const VinciKernel*, std::less<>> kernels;  // by the name in the file
  std::map<std::string, KernelType, std::less<>> types;            // that records state, by the name of the kernel
};

// The record of a kernel in `.ascend.meta`: pairs of a type and a length with what they announce.
std::optional<KernelType> type_of_record(std::span<const char> record) {
  constexpr u16 kRatio = 3;
  for (u64 offset = 0; const auto head = at<std::array<u16, 2>>(record, offset);) {
    const auto [type, length] = *head;
    if (type == kRatio) {
      const auto ratio = at<std::array<u16, 2>>(record, offset + sizeof(*head));
      if (!ratio) return std::nullopt;
      const auto [cube, vector] = *ratio;
      if (cube == 0) return KernelType::mix_0_1;
      return vector == 0 ? KernelType::mix_1_0 : vector == 1 ? KernelType::mix_1_1 : KernelType::mix_1_2;
    }
    offset += sizeof(*head) + length;
  }
  return std::nullopt;
}

const VinciKernel* kernel_named(const std::string& name) {
  for (const std::string_view suffix : {"", "_mix_aic", "_mix_aiv"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string plain = name.substr(0, name.size() - suffix.size());
    if (void* entry = dlsym(RTLD_DEFAULT, plain.c_str())) {
      if (const VinciKernel* kernel = kernel_of(reinterpret_cast<void (*)()>(entry))) return kernel;
    }
  }
  return nullptr;
}

rtError_t load(const void* data, u64 length, void** handle) {
  if (data == nullptr || handle == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a binary or a handle is null");
  const std::span file(static_cast<const char*>(data), length);
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID,
                      fmt::format("a binary of {} bytes that is no ELF file of 64 bits", length));
  std::vector<Elf64_Shdr> sections;
  for (u64 i = 0; i < head->e_shnum; ++i) {
    const auto section = at<Elf64_Shdr>(file, head->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "the table of sections of a binary is not whole");
    sections.push_back(*section);
  }
  if (head->e_shstrndx >= sections.size())
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a binary without names of sections");
  Binary out;
  for (const Elf64_Shdr& s : sections) {
    const std::string_view name = text(file, sections[head->e_shstrndx], s.sh_name);
    constexpr std::string_view kRecord = ".ascend.meta.";
    if (name.starts_with(kRecord) && s.sh_offset <= file.size() && s.sh_size <= file.size() - s.sh_offset) {
      if (const auto type = type_of_record(file.subspan(s.sh_offset, s.sh_size)))
        out.types.emplace(name.substr(kRecord.size()), *type);
    }
    if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections.size()) continue;
    for (u64 i = 0; i < s.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(file, s.sh_offset + i * sizeof(Elf64_Sym));
      if (!symbol || ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        continue;
      const std::string kernel(text(file, sections[s.sh_link], symbol->st_name));
      const VinciKernel* found = kernel_named(kernel);
      if (found == nullptr) {
        return acl_failed(
            ACL_ERROR_RT_PARAM_INVALID,
            fmt::format("the binary names a kernel '{}', which is neither in the program nor in a library "
                        "that it has loaded",
                        kernel));
      }
      out.kernels.emplace(kernel, found);
    }
  }
  *handle = new Binary(std::move(out));
  return ACL_SUCCESS;
}

// A kernel by its name, and the arguments of a launch of it. The program never gives a kernel back.
struct Function {
  std::string name;
  const Signature* signature;
};
struct Arguments {
  const Function* function;
  std::deque<std::vector<char>> values;
  bool final = false;
};

std::vector<char> copy_of(const void* value, usize size) {
  const auto* bytes = static_cast<const char*>(value);
  return {bytes, bytes + size};
}

}  // namespace
}  // namespace vinci::ascendc

using namespace vinci::ascendc;  // NOLINT(google-build-using-namespace): the C interface of this file

extern "C" {

rtError_t rtRegisterAllKernel(const rtDevBinary_t* binary, void** handle) {
  if (binary == nullptr) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "the binary is null");
  return load(binary->data, binary->length, handle);
}
rtError_t rtBinaryLoadWithoutTilingKey(const void* data, uint64_t length, void** handle) {
  return load(data, length, handle);
}

rtError_t rtKernelLaunchWithHandleV2(void* handle, uint64_t key, uint32_t blocks, rtArgsEx_t* arguments, void* /*sm*/,
                                     void* stream, const rtTaskCfgInfo_t* /*config*/) {
  if (handle == nullptr || arguments == nullptr || (arguments->args == nullptr && arguments->argsSize != 0))
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a handle or the arguments are null");
  const auto& binary = *static_cast<const Binary*>(handle);
  const VinciKernel *cube = nullptr, *vector = nullptr, *single = nullptr;
  KernelType type = KernelType::mix_1_2;
  std::string name;
  const auto take = [&](const std::string& suffix, const VinciKernel*& into) {
    for (const auto& [known, kernel] : binary.kernels) {
      if (!known.ends_with(fmt::format("_{}{}", key, suffix))) continue;
      into = kernel;
      name = known;
      if (const auto stated = binary.types.find(known); stated != binary.types.end()) type = stated->second;
    }
  };
  take("", single);
  take("_mix_aic", cube);
  take("_mix_aiv", vector);
  if (single == nullptr && cube == nullptr && vector == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("no kernel of the binary has the key {}", key));
  if (single != nullptr || cube == vector) {
    cube = vector = single != nullptr ? single : cube;
    type = KernelType::declared;
  } else if (vector == nullptr) {
    type = KernelType::cube;
  } else if (cube == nullptr) {
    type = KernelType::vector;
  }
  // The program may change its arguments after the launch.
  const auto* bytes = static_cast<const char*>(arguments->args);
  const std::vector<char> block(bytes, bytes + arguments->argsSize);
  vinci::ascendc::run(Launch{name.c_str(), type, blocks, stream, {__FILE__, 0}}, [&] {
    const bool on_cube = present() != nullptr && core().kind == CoreKind::cube;
    (on_cube && cube != nullptr ? cube : vector != nullptr ? vector : cube)->call(block.data());
  });
  return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* /*options*/, aclrtBinHandle* binary) {
  if (path == nullptr || binary == nullptr) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a path or a handle is null");
  std::ifstream file(path, std::ios::binary);
  std::array<char, SELFMAG> magic{};
  file.read(magic.data(), magic.size());
  if (!file) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("the binary {} cannot be read", path));
  if (std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("the binary {} is no ELF file", path));
  *binary = new std::string(path);
  return ACL_SUCCESS;
}
aclError aclrtBinaryUnLoad(aclrtBinHandle binary) {
  delete static_cast<std::string*>(binary);
  return ACL_SUCCESS;
}
aclError aclrtBinaryGetFunction(const aclrtBinHandle binary, const char* kernel, aclrtFuncHandle* function) {
  if (binary == nullptr || kernel == nullptr || function == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a binary, a name or a handle is null");
  const void* signature = dlsym(RTLD_DEFAULT, fmt::format("vinci_signature_{}", kernel).c_str());
  if (signature == nullptr || static_cast<const Signature*>(signature)->call == nullptr) {
    return acl_failed(
        ACL_ERROR_RT_PARAM_INVALID,
        fmt::format("the kernel '{}' of {} is neither in the program nor in a library that it has loaded; "
                    "compile its source with `vinci cc` and link it",
                    kernel, *static_cast<const std::string*>(binary)));
  }
  *function = new Function{kernel, static_cast<const Signature*>(signature)};
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* arguments) {
  if (function == nullptr || arguments == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a kernel or a handle is null");
  *arguments = new Arguments{.function = static_cast<const Function*>(function), .values = {}};
  return ACL_SUCCESS;
}
aclError aclrtKernelArgsAppend(aclrtArgsHandle arguments, void* value, size_t size, aclrtParamHandle* parameter) {
  if (arguments == nullptr || value == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "the arguments or a value are null");
  auto& all = *static_cast<Arguments*>(arguments);
  if (all.final) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "aclrtKernelArgsAppend behind aclrtKernelArgsFinalize");
  std::vector<char>& added = all.values.emplace_back(copy_of(value, size));
  if (parameter != nullptr) *parameter = &added;
  return ACL_SUCCESS;
}
aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle arguments, aclrtParamHandle parameter, void* value, size_t size) {
  if (arguments == nullptr || parameter == nullptr || value == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "the arguments, a parameter or a value are null");
  auto& old = *static_cast<std::vector<char>*>(parameter);
  if (old.size() != size)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID,
                      fmt::format("an argument of {} bytes gets one of {}", old.size(), size));
  old = copy_of(value, size);
  return ACL_SUCCESS;
}
aclError aclrtKernelArgsFinalize(aclrtArgsHandle arguments) {
  if (arguments == nullptr) return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "the arguments are null");
  static_cast<Arguments*>(arguments)->final = true;
  return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* /*config*/, aclrtArgsHandle arguments, void* /*reserve*/) {
  if (function == nullptr || arguments == nullptr)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, "a kernel or its arguments are null");
  const auto& kernel = *static_cast<const Function*>(function);
  const auto& given = *static_cast<const Arguments*>(arguments);
  const Signature& signature = *kernel.signature;
  if (!given.final)
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("{}: aclrtKernelArgsFinalize is missing", kernel.name));
  if (given.values.size() != signature.count) {
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID,
                      fmt::format("{} takes {} arguments, not {}", kernel.name, signature.count, given.values.size()));
  }
  std::vector<Argument> all;
  for (vinci::u32 i = 0; i < signature.count; ++i) {
    const std::vector<char>& value = given.values[i];
    all.push_back({Argument::Kind::bytes, value.size(), value.data(), 0, 0});
    if (accepts(signature.parameters[i], all.back())) continue;
    return acl_failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("{} takes {} bytes as argument {}, not {}", kernel.name,
                                                              signature.parameters[i].size, i + 1, value.size()));
  }
  run(Launch{kernel.name.c_str(), KernelType::declared, blocks, stream, {__FILE__, 0}},
      [&] { signature.call(all.data()); });
  return ACL_SUCCESS;
}

}  // extern "C"
