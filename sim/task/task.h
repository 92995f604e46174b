// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isa/arch.h"
#include "isa/program.h"

// A compiled task stream after loading: plain data, names resolved to indices, everything verified. Names follow the
// vendor runtime (aclrt*, rtModelTaskType). YAML and FlatBuffers (.vts) are two spellings of this one meaning.
namespace vinci::task {

// Memory of the host or of the device. A device buffer lives until a task frees it, else for the whole run.
struct Buffer {
  enum class Place : u8 { host, device };
  std::string name;
  Place place = Place::device;
  u64 bytes = 0;
  std::string file;        // host only: .npy or raw file with the initial contents, relative to the task stream
  std::string output;      // host only: file name in the output folder that receives the final contents; "" = none
  std::string dtype;       // numpy dtype of the contents ("f2", "f4", "i1", "i4", ...), "" = raw bytes
  std::vector<u64> shape;  // of the contents, for .npy; empty = one dimension of bytes / element size
  std::vector<std::byte> data{};  // host only: the initial contents themselves; neither file nor data = zero
  bool random = false;            // host only: contents from the seed of the run, floats uniform in [-1, 1)

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

inline constexpr std::array<std::string_view, 2> kPlaceNames{"host", "device"};

// What a kernel runs on. Names of the public kernel types.
enum class KernelType : u8 { AI_CORE, AIC_ONLY, AIV_ONLY };
inline constexpr std::array<std::string_view, 3> kKernelTypeNames{"AI_CORE", "AIC_ONLY", "AIV_ONLY"};

// What text may call a kernel or a launch: the types above, and their names as MIX tasks that use one kind of core
// only.
inline constexpr std::array<std::string_view, 5> kKernelTypeWords{"AI_CORE", "AIC_ONLY", "AIV_ONLY", "MIX_AIC_1_0",
                                                                  "MIX_AIV_1_0"};
inline constexpr std::array<std::string_view, 2> kMixTypeNames{"MIX_AIC_1_1", "MIX_AIC_1_2"};  // by aivs - 1
constexpr KernelType kernel_type_of_word(usize word) {
  return word == 3 ? KernelType::AIC_ONLY : word == 4 ? KernelType::AIV_ONLY : static_cast<KernelType>(word);
}

struct Kernel {
  std::string name;
  KernelType type = KernelType::AI_CORE;
  isa::Program program;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// A part of a buffer.
struct Slice {
  u32 buffer = 0;
  u64 offset = 0;  // bytes

  friend bool operator==(const Slice&, const Slice&) = default;
};

// A kernel argument: a number, or the address of a part of a device buffer.
using Arg = std::variant<u64, Slice>;

// A MIX task runs one kernel on cube cores and another on the vector cores beside them: a block is one AIC and `aivs`
// AIVs of the same AI core, all with the same arguments.
struct KernelLaunch {
  u32 kernel = 0;  // of a MIX task: what the AIC runs
  u32 block_dim = 1;
  std::vector<Arg> args = {};
  u32 aivs = 0;        // MIX: vector cores of a block, 1 (MIX_AIC_1_1) or 2 (MIX_AIC_1_2); 0: no MIX task
  u32 aiv_kernel = 0;  // MIX: what the AIVs run; else 0

  bool mix() const { return aivs != 0; }

  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

// aclrtMemcpyAsync, and aclrtMemcpy2dAsync where height > 1. The direction follows from the places of the buffers.
struct MemcpyAsync {
  Slice dst, src;
  u64 width = 0;                     // bytes of a row
  u64 height = 1;                    // rows
  u64 dst_pitch = 0, src_pitch = 0;  // bytes between rows; = width where height is 1

  u64 bytes() const { return width * height; }

  friend bool operator==(const MemcpyAsync&, const MemcpyAsync&) = default;
};

struct MemsetAsync {
  Slice dst;
  u64 bytes = 0;
  u8 value = 0;

  friend bool operator==(const MemsetAsync&, const MemsetAsync&) = default;
};

struct EventRecord {
  u32 event = 0;

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

struct StreamWaitEvent {
  u32 event = 0;

  friend bool operator==(const StreamWaitEvent&, const StreamWaitEvent&) = default;
};

// aclrtFree of a whole device buffer, in the order of its stream.
struct Free {
  u32 buffer = 0;

  friend bool operator==(const Free&, const Free&) = default;
};

// Names of the alternatives of Task::op, in their order; keys of the YAML spelling.
inline constexpr std::array<std::string_view, 6> kOpNames{"kernel_launch", "memcpy_async",      "memset_async",
                                                          "event_record",  "stream_wait_event", "free"};

struct Task {
  std::string name;  // for reports; the loader makes one up where the file gives none
  std::variant<KernelLaunch, MemcpyAsync, MemsetAsync, EventRecord, StreamWaitEvent, Free> op;

  friend bool operator==(const Task&, const Task&) = default;
};

// Tasks that run strictly one after the other. Streams are concurrent.
struct Stream {
  std::string name;
  std::vector<Task> tasks;

  friend bool operator==(const Stream&, const Stream&) = default;
};

struct TaskStream {
  std::string name;
  isa::Arch arch = isa::Arch::c220;  // that the kernels are assembled for
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<std::string> events;
  std::vector<Stream> streams;
  std::string folder;  // where relative files are looked up; not part of the meaning

  friend bool operator==(const TaskStream&, const TaskStream&) = default;
};

// The position of a task when the streams are read one after the other, as they stand in the file.
inline u32 position(const TaskStream& s, usize stream, usize task) {
  for (usize i = 0; i < stream; ++i)
    task += s.streams[i].tasks.size();
  return static_cast<u32>(task);
}

}  // namespace vinci::task
