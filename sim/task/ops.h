// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "sim/task/cache_hint.h"
#include "sim/task/host_program.h"

// What a task stream is made of but its programs: buffers, tasks, streams. Names follow the vendor runtime (aclrt*,
// rtModelTaskType).
namespace vinci::task {

// In place of an index: there is none.
inline constexpr u32 kNone = ~u32{0};

// Memory of the host or of a device. A device buffer lives until a task frees it, else for the whole run.
struct Buffer {
  enum class Place : u8 { host, device };
  std::string name = {};
  Place place = Place::device;
  u64 bytes = 0;
  std::string file = {};        // host only: .npy or raw file with the initial contents, relative to the task stream
  std::string output = {};      // host only: file name in the output folder that receives the final contents; "" = none
  std::string dtype = {};       // numpy dtype of the contents ("f2", "f4", "i1", "i4", ...), "" = raw bytes
  std::vector<u64> shape = {};  // of the contents, for .npy; empty = one dimension of bytes / element size
  std::vector<std::byte> data = {};  // host only: the initial contents themselves; neither file nor data = zero
  bool random = false;               // host only: contents from the seed of the run, floats uniform in [-1, 1)
  u32 device = 0;                    // device only: whose memory it is
  bool pageable = false;             // host only: not pinned; copies are staged and block the host thread
  CacheHint l2 = CacheHint::normal;  // device only: what L2 does when cores access it

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

inline constexpr auto kPlaceNames = enum_names<Buffer::Place>;

// What a kernel runs on. Names of the public kernel types.
enum class KernelType : u8 { AI_CORE, AIC_ONLY, AIV_ONLY };
inline constexpr auto kKernelTypeNames = enum_names<KernelType>;

// What text may call a kernel or a launch: the types above, and their names as MIX tasks that use one kind of core
// only.
inline constexpr std::array<std::string_view, 5> kKernelTypeWords{"AI_CORE", "AIC_ONLY", "AIV_ONLY", "MIX_AIC_1_0",
                                                                  "MIX_AIV_1_0"};
inline constexpr std::array<std::string_view, 2> kMixTypeNames{"MIX_AIC_1_1", "MIX_AIC_1_2"};  // by aivs - 1
constexpr KernelType kernel_type_of_word(usize word) {
  return word == 3 ? KernelType::AIC_ONLY : word == 4 ? KernelType::AIV_ONLY : static_cast<KernelType>(word);
}

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

// The operators NPUGetFloatStatus and NPUClearFloatStatus. The float status of a device is sticky: it says whether a
// kernel that has finished there since the last clear raised an overflow bit of STATUS (isa::status::kOverflows).
struct NpuGetFloatStatus {
  static constexpr u64 kBytes = 8 * sizeof(float);  // the tensor of the operator: 8 x f32
  Slice dst;                                        // receives it: [0] is 1 after an overflow, all else 0

  friend bool operator==(const NpuGetFloatStatus&, const NpuGetFloatStatus&) = default;
};

struct NpuClearFloatStatus {
  friend bool operator==(const NpuClearFloatStatus&, const NpuClearFloatStatus&) = default;
};

// Types of elements that SDMA reduces and collectives move, in the order of the reduce data types of the runtime.
enum class ElementType : u8 { int8, int16, int32, uint8, uint16, uint32, float16, float32, bfloat16 };
inline constexpr auto kElementTypeNames = enum_table<ElementType, std::string_view>({{ElementType::int8, "i1"},
                                                                                     {ElementType::int16, "i2"},
                                                                                     {ElementType::int32, "i4"},
                                                                                     {ElementType::uint8, "u1"},
                                                                                     {ElementType::uint16, "u2"},
                                                                                     {ElementType::uint32, "u4"},
                                                                                     {ElementType::float16, "f2"},
                                                                                     {ElementType::float32, "f4"},
                                                                                     {ElementType::bfloat16, "bf2"}});
constexpr u64 element_bytes(ElementType type) {
  constexpr auto kBytes = enum_table<ElementType, u8>({{ElementType::int8, 1},
                                                       {ElementType::int16, 2},
                                                       {ElementType::int32, 4},
                                                       {ElementType::uint8, 1},
                                                       {ElementType::uint16, 2},
                                                       {ElementType::uint32, 4},
                                                       {ElementType::float16, 2},
                                                       {ElementType::float32, 4},
                                                       {ElementType::bfloat16, 2}});
  return kBytes[static_cast<usize>(type)];
}

// rtReduceAsync, carried out by SDMA: dst[i] = dst[i] kind src[i]. `dst` is memory of the stream's device, `src` of
// any.
struct ReduceAsync {
  enum class Kind : u8 { ADD, MAX, MIN };
  Slice dst, src;
  u64 bytes = 0;
  Kind kind = Kind::ADD;
  ElementType type = ElementType::float32;

  friend bool operator==(const ReduceAsync&, const ReduceAsync&) = default;
};
inline constexpr auto kReduceKindNames = enum_names<ReduceAsync::Kind>;

// rtEventReset: the event has not happened again, for use in loops.
struct EventReset {
  u32 event = 0;

  friend bool operator==(const EventReset&, const EventReset&) = default;
};

// A notify is seen by all devices, and a wait that it satisfies resets it.
struct NotifyRecord {
  u32 notify = 0;

  friend bool operator==(const NotifyRecord&, const NotifyRecord&) = default;
};

struct NotifyWait {
  u32 notify = 0;

  friend bool operator==(const NotifyWait&, const NotifyWait&) = default;
};

// Comparisons of rtStreamSwitch (rtCondition_t), in its order.
enum class Condition : u8 { EQUAL, NOT_EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL };
inline constexpr auto kConditionNames = enum_names<Condition>;

// rtStreamSwitchEx, in a stream of a model: where *value cond *target holds, `true_stream` of the same model starts at
// its first task. Its own stream goes on either way. Both are signed integers in memory of the stream's device.
struct StreamSwitch {
  Slice value, target;
  Condition cond = Condition::EQUAL;
  u8 bytes = 4;  // of an integer: 4 (INT32) or 8 (INT64)
  u32 true_stream = 0;

  friend bool operator==(const StreamSwitch&, const StreamSwitch&) = default;
};
inline constexpr std::array<std::string_view, 2> kSwitchTypeNames{"i4", "i8"};  // by bytes / 4 - 1

// rtStreamActive: the stream, of the same model, starts at its first task.
struct StreamActive {
  u32 stream = 0;

  friend bool operator==(const StreamActive&, const StreamActive&) = default;
};

// A place in a stream of a model that tasks of the same stream can jump to.
struct LabelSet {
  u32 label = 0;

  friend bool operator==(const LabelSet&, const LabelSet&) = default;
};

struct LabelGoto {
  u32 label = 0;

  friend bool operator==(const LabelGoto&, const LabelGoto&) = default;
};

// rtLabelSwitchByIndex: jumps to labels[index]; to the last one where there are not so many.
struct LabelSwitch {
  Slice index;  // a u32 in memory of the stream's device
  std::vector<u32> labels = {};

  friend bool operator==(const LabelSwitch&, const LabelSwitch&) = default;
};

// rtCpuKernelLaunch: a host function on the AICPU, on memory of the stream's device.
struct CpuKernelLaunch {
  std::string kernel = {};  // name of the function, e.g. AssignAdd
  u32 block_dim = 1;
  std::vector<Arg> args = {};
  double seconds = 0;  // > 0: how long it takes, in place of what the function declares

  friend bool operator==(const CpuKernelLaunch&, const CpuKernelLaunch&) = default;
};

// rtModelExecute, in a stream that is not of a model: done when the model is.
struct ModelExecute {
  u32 model = 0;

  friend bool operator==(const ModelExecute&, const ModelExecute&) = default;
};

// In a stream of the model: the model is done.
struct ModelEndGraph {
  u32 model = 0;

  friend bool operator==(const ModelEndGraph&, const ModelEndGraph&) = default;
};

// A collective of the devices of a communicator, under the names of HCCL. The n-th one that each device reaches belong
// together; none is done before all devices have reached it.
struct Hccl {
  enum class Op : u8 { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all };
  enum class Algorithm : u8 { automatic, ring, halving_doubling, hierarchical, mesh };
  enum class Reduce : u8 { sum, prod, max, min };
  Op op = Op::all_reduce;
  u32 comm = 0;
  // Memory of the stream's device; may be the same. A broadcast has `recv` alone, which the root sends.
  Slice send = {}, recv = {};
  // Elements, as HCCL counts: all_reduce, broadcast: all; all_gather: that each rank sends; reduce_scatter: that each
  // rank receives; all_to_all: that each rank sends to each.
  u64 count = 0;
  ElementType type = ElementType::float32;
  Reduce reduce = Reduce::sum;  // of all_reduce and reduce_scatter
  u32 root = 0;                 // of broadcast: the rank, a position in Comm::devices
  Algorithm algorithm = Algorithm::automatic;

  bool reduces() const { return op == Op::all_reduce || op == Op::reduce_scatter; }
  // Whether two ranks mean the same collective.
  bool matches(const Hccl& o) const {
    return op == o.op && count == o.count && type == o.type && reduce == o.reduce && root == o.root &&
           algorithm == o.algorithm;
  }

  friend bool operator==(const Hccl&, const Hccl&) = default;
};
inline constexpr auto kHcclOpNames = enum_names<Hccl::Op>;
inline constexpr auto kHcclAlgorithmNames =
    enum_table<Hccl::Algorithm, std::string_view>({{Hccl::Algorithm::automatic, "auto"},
                                                   {Hccl::Algorithm::ring, "ring"},
                                                   {Hccl::Algorithm::halving_doubling, "halving_doubling"},
                                                   {Hccl::Algorithm::hierarchical, "hierarchical"},
                                                   {Hccl::Algorithm::mesh, "mesh"}});
inline constexpr auto kHcclReduceNames = enum_names<Hccl::Reduce>;

// "all_reduce (sum) of 100 f4, root 0, algorithm auto"
std::string to_string(const Hccl& op);

// Names of the alternatives of Task::op, in their order; keys of the YAML spelling.
inline constexpr std::array kOpNames = std::to_array<std::string_view>(
    {"kernel_launch", "memcpy_async",         "memset_async",           "event_record",  "stream_wait_event",
     "free",          "npu_get_float_status", "npu_clear_float_status", "reduce_async",  "event_reset",
     "notify_record", "notify_wait",          "stream_switch",          "stream_active", "label_set",
     "label_goto",    "label_switch",         "cpu_kernel_launch",      "model_execute", "model_end_graph",
     "hccl"});

struct Task {
  std::string name;  // for reports; the loader makes one up where the file gives none
  std::variant<KernelLaunch, MemcpyAsync, MemsetAsync, EventRecord, StreamWaitEvent, Free, NpuGetFloatStatus,
               NpuClearFloatStatus, ReduceAsync, EventReset, NotifyRecord, NotifyWait, StreamSwitch, StreamActive,
               LabelSet, LabelGoto, LabelSwitch, CpuKernelLaunch, ModelExecute, ModelEndGraph, Hccl>
      op;

  friend bool operator==(const Task&, const Task&) = default;
};

static_assert(std::variant_size_v<decltype(Task::op)> == kOpNames.size());

// Tasks that run strictly one after the other. Streams are concurrent.
struct Stream {
  std::string name;
  std::deque<Task> tasks = {};  // elements stay where they are when tasks are appended
  u32 device = 0;
  u8 priority = 0;    // 0 (highest) to kLowestPriority, as of rtStreamCreate
  u32 model = kNone;  // bound to this model, which runs it; kNone: the host hands its tasks over
  bool head = true;   // of a bound stream: starts with the model; false: a task of the model starts it

  friend bool operator==(const Stream&, const Stream&) = default;
};

inline constexpr u8 kLowestPriority = 7;

// A communicator: rank r is devices[r].
struct Comm {
  std::string name;
  std::vector<u32> devices = {};

  friend bool operator==(const Comm&, const Comm&) = default;
};
inline constexpr std::string_view kWorld = "world";  // name of the communicator of all devices

}  // namespace vinci::task
