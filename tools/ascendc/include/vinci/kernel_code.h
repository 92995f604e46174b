// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>

// What compiled kernels consist of besides their code, and what that code calls: written by the compiler plugin
// (tools/ascendc/plugin), read by the library. docs/front-end.md
extern "C" {

// The code of a kernel for one kind of core.
struct VinciKernelBody {
  void (*code)();        // of the kernel's own type
  std::uint64_t text;    // equal for two kinds if the kernel does the same on both
  std::uint32_t works;   // whether it issues anything
  std::uint32_t matmul;  // whether it has a Matmul object or the workspace of one, which need both kinds of cores
};

// A kernel: calls of it reach the code for the kind of the present core. `type` is an enumerator of
// vinci::ascendc::KernelType, or -1 where the source does not say.
struct VinciKernel {
  const char* name;
  std::int32_t type;
  const VinciKernelBody* vector;  // null where that kind was not compiled
  const VinciKernelBody* cube;
  void (*call)(
      const void* arguments);  // calls it with arguments that are one behind the other, each aligned to its size
};
void (*vinci_kernel_code(const VinciKernel* kernel))();

// Accesses of kernels through pointers to a memory of the core: 1, 2, 4 or 8 bytes as LocalTensor::GetValue and
// SetValue do it, or so many bytes. Memories are numbered as the address spaces of ascendc/language.h; 0 is memory of
// the process, so also global memory.
std::uint64_t vinci_kernel_load(std::uint32_t memory, std::uint64_t address, std::uint32_t bytes, const char* file,
                                std::int32_t line);
void vinci_kernel_store(std::uint32_t memory, std::uint64_t address, std::uint32_t bytes, std::uint64_t value,
                        const char* file, std::int32_t line);
void vinci_kernel_copy(std::uint32_t to_memory, std::uint64_t to, std::uint32_t from_memory, std::uint64_t from,
                       std::uint64_t bytes, const char* file, std::int32_t line);
void vinci_kernel_fill(std::uint32_t memory, std::uint64_t address, std::uint64_t bytes, std::uint8_t value,
                       const char* file, std::int32_t line);

// printf of a kernel: the text begins with the core.
int vinci_kernel_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// What the system counter holds.
std::uint64_t vinci_kernel_system_count(const char* file, std::int32_t line);

// What kernels have done of their own scalar code since the library has charged it: integer operations, floating-point
// operations, accesses to memory. Of the present thread.
extern __thread std::uint64_t vinci_kernel_operations[3];
// The end of a loop of such code: so much more of each, at its line.
void vinci_kernel_loop(std::uint64_t ops, std::uint64_t reals, std::uint64_t accesses, const char* file,
                       std::int32_t line);

// The scalar code has stored so many bytes through a pointer, to global memory or elsewhere.
void vinci_kernel_stored(std::uint64_t address, std::uint64_t bytes, const char* file, std::int32_t line);

// In front of a load of the scalar unit that a loop of the program waits for: it goes on until the load finds another
// value (docs/checker.md). The other one is for a load through a pointer of so many bytes, which becomes an instruction
// if the pointer is to global memory. The third one is where the loop ends.
void vinci_kernel_awaits();
void vinci_kernel_waited(const char* file, std::int32_t line);
void vinci_kernel_await(const void* address, std::uint32_t bytes, const char* file, std::int32_t line);

// Marks a kernel with its type, as KERNEL_TASK_TYPE_DEFAULT; the plugin removes the call.
void vinci_kernel_type(const char* type);
}
