// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>

// The base of the headers of Ascend C: the narrow layer between code that the user's compiler sees (C++17) and the
// library behind it. A call of the API becomes instructions of Vinci's table; `issue` executes one at once, on the core
// that the present thread is, and records it. docs/ascendc.md
namespace vinci::ascendc {

// A line of the user's source. As the default argument of a function it is the line of the call.
struct Place {
  const char* file;
  int line;
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// A row of the instruction table, found by name and type form ("vadd", "f16") when it is first issued.
class Insn {
 public:
  explicit Insn(const char* name, const char* type = nullptr) : name_(name), type_(type) {}

 private:
  friend void issue(Insn&, std::initializer_list<std::uint64_t>, Place);
  void find(Place place);

  const char* name_;
  const char* type_;
  const void* row_ = nullptr;
  std::uint8_t form_ = 0;
};

// Operands in the order of the public intrinsic. Faults end the program with the place.
void issue(Insn& insn, std::initializer_list<std::uint64_t> operands, Place place);

// The vector instructions that follow are for so many elements, on an architecture without counter mode: each is issued
// as full repeats and a last one with a mask. kNoCount: as their operands say.
constexpr std::uint64_t kNoCount = ~std::uint64_t{0};
void count_elements(std::uint64_t count);

// issue() for an instruction whose one operand is a register that it writes, such as get_rsvd_cnt; gives its value.
std::uint64_t read(Insn& insn, Place place);

// Scalar work of the API itself, which runs natively and is not seen otherwise: cycles of the scalar unit that are
// charged to the next instruction. docs/ascendc.md has the table.
enum class Work : std::uint8_t { call, flag, queue, loop };
void charge(Work what, unsigned times = 1);

// Memories of a core, and global memory.
enum class Memory : std::uint8_t { gm, l1, l0a, l0b, l0c, ub, bt, fb, none };
std::uint64_t size_of(Memory memory);
// The same on the chip, whatever core has it: the host may ask, too.
std::uint64_t size_on_chip(Memory memory);
// GetValue and SetValue: loads and stores of the scalar unit, 1, 2, 4 or 8 bytes.
std::uint64_t load(Memory memory, std::uint64_t address, unsigned bytes, Place place);
void store(Memory memory, std::uint64_t address, unsigned bytes, std::uint64_t value, Place place);
// What is there, of any memory, without an instruction: for debugging.
std::uint64_t peek(Memory memory, std::uint64_t address, unsigned bytes, Place place);

// What the cores of a block know of each other natively, besides what the chip lets them.
struct BlockState {
  bool ended[3]{};                // by part: the AIC, AIV0, AIV1
  std::shared_ptr<void> mailbox;  // of the API's own messages
};

enum class CoreKind : std::uint8_t { cube, vector, joint };
struct CoreInfo {
  CoreKind kind = CoreKind::vector;
  std::uint32_t block_idx = 0, block_num = 1;
  std::uint32_t subblock_idx = 0, subblock_num = 1;
  bool mix = false;                        // one of the cores of a block of a MIX task
  void* pipe = nullptr;                    // the present TPipe
  std::uint64_t sync_base = 0;             // the base address of the cross-core flags, once it is set
  std::int32_t rounds = 0;                 // how often WaitPreBlock was called
  std::uint32_t block_aivs = 0;            // of a MIX task
  BlockState* block = nullptr;             // null without other cores in the block
  void* workspace = nullptr;               // of the system, as SetSysWorkspace says
  std::uint64_t event_ids[64]{};           // by pair of pipes, the event ids in use: one bit each
  std::shared_ptr<void> arrays = nullptr;  // of local_array
};
// The core that the present thread is. Outside of a kernel the program ends with a message.
CoreInfo& core();
bool in_kernel();
std::uint32_t core_count(CoreKind kind);
const char* product();

// Waits until the 32-bit number at the address of global memory is `value` or more, while other cores run. That is no
// instruction: those that load the number follow, and then repeat() with the value and what await() has returned. So a
// recording with data has a loop that waits as long as it takes there; one without data reads once.
std::uint32_t await(std::uint64_t address, std::int32_t value, Place place);
void repeat(std::uint32_t from, std::int32_t value, Place place);

// The address of an array that a function declares in a memory of the core, whose address space has that number
// (ascendc/language.h); the same each time for one declaration, by its site.
std::uint64_t local_array(const void* site, unsigned space, std::uint64_t bytes, Place place);

// Lets other cores run. Natively only; `stirs`: this core goes on even if no other core can.
void give_way(bool stirs, Place place);
// Device memory for messages between cores, where a program has set no workspace.
void* system_workspace(std::size_t bytes);
// Where device memory ends natively. Beyond it are the program's own arrays (`constexpr __gm__ int32_t table[]`), which
// a device loads with the program: constants() gives the address of their copy in device memory, and other addresses as
// they are. `bytes` 0: not known. In one launch the same array has the same address each time, so calls may be merged;
// otherwise the compiler would compute again behind a call what the kernel has, and its scalar code would cost more.
constexpr std::uint64_t kDeviceEnd = (std::uint64_t{1} << 40) + (std::uint64_t{1} << 32);
[[gnu::const]] std::uint64_t constants(std::uint64_t address, std::uint64_t bytes);
// For kernels from now on: what GetSysWorkSpacePtr gives before SetSysWorkspace, as for operators of packages.
void set_operator_workspace(void* workspace);

// What L2 does when cores access the buffer of global memory that holds the address.
enum class L2 : std::uint8_t { normal, bypass };
void set_l2(std::uint64_t address, L2 hint, Place place);

// Device memory that the host works on, too: in the recording it is copied to the device before each launch, and back
// after it. Null where there is no room.
void* allocate_shared(std::size_t bytes);
void free_shared(void* address);

// Ends the program: what was asked for is not supported, or is wrong.
[[noreturn]] void unsupported(const char* what, Place place);
[[noreturn]] void wrong(const char* what, Place place);

// The kernel type of a launch; names as of the public enumeration KernelMetaType. `declared`: as its source says.
enum class KernelType : std::uint8_t { vector, cube, mix_1_0, mix_0_1, mix_1_1, mix_1_2, declared };
struct Launch {
  const char* name;
  KernelType type;
  std::uint32_t blocks;
  void* stream;
  Place place;
};
// Runs a kernel on all its cores; `call` calls it with its arguments.
using Call = void (*)(void*);
void run(const Launch& launch, Call call, void* context);
template <class F>
void run(const Launch& launch, F&& kernel) {
  run(
      launch, [](void* f) { (*static_cast<F*>(f))(); }, &kernel);
}

#ifdef __clang__
// A pointer of the host as one to global memory (__gm__ of ascendc/language.h).
template <class T>
T on_device(T value) {
  return value;
}
template <class T>
auto on_device(T* pointer) -> __attribute__((opencl_generic)) T* {
  return pointer;
}
// A pointer of the host as a pointer to anything, such as pointers to global memory.
struct AnyPointer {
  void* value;
  template <class T>
  operator T*() const {  // NOLINT(google-explicit-constructor): it is an argument
    return (T*)value;    // NOLINT(google-readability-casting): the memory changes, too
  }
};
template <class T>
T as_any(T value) {
  return value;
}
template <class T>
AnyPointer as_any(T* pointer) {
  return {(void*)pointer};  // NOLINT(google-readability-casting)
}
// What `kernel<<<blocks, l2, stream>>>(arguments)` becomes. A kernel template that finds its types by its arguments
// gets pointers to global memory.
template <class F, class... A>
void launch(const Launch& what, F kernel, A... arguments) {
  if constexpr (std::is_invocable_v<F, A&...>) {
    run(what, [&] { kernel(arguments...); });
  } else if constexpr (std::is_invocable_v<F, decltype(on_device(arguments))...>) {
    run(what, [&] { kernel(on_device(arguments)...); });
  } else {
    run(what, [&] { kernel(as_any(arguments)...); });
  }
}
#endif

}  // namespace vinci::ascendc
