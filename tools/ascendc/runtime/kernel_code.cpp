// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What compiled kernels call (vinci/kernel_code.h).
#include "tools/ascendc/runtime/kernel_code.h"

#include <fmt/format.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tools/ascendc/include/vinci/kernel_code.h"
#include "tools/ascendc/runtime/core.h"
#include "tools/ascendc/runtime/device.h"

namespace vinci::ascendc {
namespace {

// While a launch asks which kernel it reaches, the kernel's entry only says so.
thread_local bool t_asked = false;
thread_local const VinciKernel* t_answer = nullptr;

// By address space.
constexpr std::array kMemories{Memory::none, Memory::none, Memory::l1, Memory::l0a, Memory::l0b,
                               Memory::l0c,  Memory::ub,   Memory::fb, Memory::bt,  Memory::none};

KernelType type_of(const VinciKernel& k) {
  if (k.type >= 0) return static_cast<KernelType>(k.type);
  if ((k.vector != nullptr && k.vector->matmul != 0) || (k.cube != nullptr && k.cube->matmul != 0))
    return KernelType::mix_1_2;
  if (k.cube == nullptr) return KernelType::vector;
  if (k.vector == nullptr) return KernelType::cube;
  if (k.vector->text == k.cube->text) return KernelType::vector;
  if (k.vector->works == 0) return KernelType::cube;
  return k.cube->works == 0 ? KernelType::vector : KernelType::mix_1_2;
}

// Reads or writes the bytes in words of the scalar unit, as wide as alignment and length allow.
template <class F>
void in_words(u64 address, u64 bytes, F&& access) {
  for (u64 done = 0; done < bytes;) {
    u64 width = 8;
    while (width > bytes - done || (address + done) % width != 0)
      width /= 2;
    access(done, static_cast<unsigned>(width));
    done += width;
  }
}

bool is_device(u64 address) {
  return address >= isa::GlobalMemory::kBase && address - isa::GlobalMemory::kBase < isa::GlobalMemory::kMappedBytes;
}

std::byte* host(u64 address) { return reinterpret_cast<std::byte*>(address); }  // NOLINT(performance-no-int-to-ptr)

}  // namespace

KernelType declared_type(const Launch& launch, Call kernel, void* context) {
  t_asked = true;
  t_answer = nullptr;
  kernel(context);
  t_asked = false;
  if (t_answer == nullptr)
    fail(Fault::Program, "'{}' is launched, but it is not a kernel: its definition lacks __global__", launch.name);
  return type_of(*t_answer);
}

const VinciKernel* kernel_of(void (*entry)()) {
  t_asked = true;
  t_answer = nullptr;
  entry();  // which says only so: it looks at no argument
  t_asked = false;
  return t_answer;
}

}  // namespace vinci::ascendc

using namespace vinci::ascendc;  // NOLINT(google-build-using-namespace): the C interface of this file
using vinci::u64;

extern "C" {

void (*vinci_kernel_code(const VinciKernel* kernel))() {
  if (t_asked) {
    t_answer = kernel;
    return nullptr;
  }
  const CoreKind kind = core().kind;
  const VinciKernelBody* body = kind == CoreKind::cube                                ? kernel->cube
                                : kind == CoreKind::vector || kernel->cube == nullptr ? kernel->vector
                                                                                      : kernel->cube;
  if (body == nullptr) {
    const char* name = kind == CoreKind::cube ? "AIC" : "AIV";
    vinci::fail(vinci::Fault::Program,
                "the kernel '{}' has no code for the kind {}: it was compiled for the other kind of core only",
                kernel->name, name);
  }
  return body->code;
}

std::uint64_t vinci_kernel_load(std::uint32_t memory, std::uint64_t address, std::uint32_t bytes, const char* file,
                                std::int32_t line) {
  return pointer_load(kMemories[memory], address, bytes, {file, line});
}

void vinci_kernel_store(std::uint32_t memory, std::uint64_t address, std::uint32_t bytes, std::uint64_t value,
                        const char* file, std::int32_t line) {
  pointer_store(kMemories[memory], address, bytes, value, {file, line});
}

void vinci_kernel_copy(std::uint32_t to_memory, std::uint64_t to, std::uint32_t from_memory, std::uint64_t from,
                       std::uint64_t bytes, const char* file, std::int32_t line) {
  const bool to_local = to_memory > 1, from_local = from_memory > 1;
  in_words(from_local ? from : to, bytes, [&](u64 at, unsigned width) {
    u64 word = 0;
    if (from_local) {
      word = pointer_load(kMemories[from_memory], from + at, width, {file, line});
    } else {
      std::memcpy(&word, host(from + at), width);
    }
    if (to_local) {
      pointer_store(kMemories[to_memory], to + at, width, word, {file, line});
    } else if (is_device(to + at)) {
      pointer_store(Memory::gm, to + at, width, word, {file, line});
    } else {
      std::memcpy(host(to + at), &word, width);
    }
  });
}

void vinci_kernel_fill(std::uint32_t memory, std::uint64_t address, std::uint64_t bytes, std::uint8_t value,
                       const char* file, std::int32_t line) {
  in_words(address, bytes, [&](u64 at, unsigned width) {
    pointer_store(kMemories[memory], address + at, width, value * 0x0101010101010101u, {file, line});
  });
}

__thread std::uint64_t vinci_kernel_operations[3];

void vinci_kernel_loop(std::uint64_t ops, std::uint64_t reals, std::uint64_t accesses, const char* file,
                       std::int32_t line) {
  vinci_kernel_operations[0] += ops;
  vinci_kernel_operations[1] += reals;
  vinci_kernel_operations[2] += accesses;
  if (Core* core = present()) core->pay({file, line});
}

void vinci_kernel_stored(std::uint64_t address, std::uint64_t bytes, const char* file, std::int32_t line) {
  if (present() == nullptr) return;
  if (!is_device(address)) {
    vinci_kernel_operations[2] += (bytes + 7) / 8;
    return;
  }
  in_words(address, bytes, [&](u64 at, unsigned width) {
    u64 word = 0;
    std::memcpy(&word, host(address + at), width);
    pointer_store(Memory::gm, address + at, width, word, {file, line});
  });
}

void vinci_kernel_awaits() {
  if (Core* core = present()) core->awaits();
}

void vinci_kernel_waited(const char* file, std::int32_t line) {
  if (Core* core = present()) core->note_wait({file, line});
}

void vinci_kernel_await(const void* address, std::uint32_t bytes, const char* file, std::int32_t line) {
  const auto at = reinterpret_cast<u64>(address);
  Core* core = present();
  if (core == nullptr || device().gm().find(at, bytes) == nullptr) return;
  core->awaits();
  pointer_load(Memory::gm, at, bytes, {file, line});
}

int vinci_kernel_printf(const char* format, ...) {
  int printed = 0;
  if (const Core* core = present(); core != nullptr) {
    const CoreInfo& c = core->info;
    const bool vector = c.kind == CoreKind::vector;
    printed = std::printf("[%s Block %u/%u] ",
                          vector                     ? "AIV"
                          : c.kind == CoreKind::cube ? "AIC"
                                                     : "CORE",
                          c.block_idx * c.subblock_num + c.subblock_idx, c.block_num * (vector ? c.subblock_num : 1));
  }
  std::va_list arguments;
  va_start(arguments, format);
  printed += std::vprintf(format, arguments);
  va_end(arguments);
  return printed;
}

std::uint64_t vinci_kernel_system_count(const char* file, std::int32_t line) {
  static Insn counter("get_sys_cnt");
  return read(counter, {file, line});
}
}
