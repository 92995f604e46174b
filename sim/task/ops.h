// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "sim/task/cache_hint.h"
#include "sim/task/described.h"
#include "sim/task/host_program.h"

// What a task stream is made of but its programs: buffers, tasks, streams. Names follow the vendor runtime (aclrt*,
// rtModelTaskType).
namespace vinci::task {

inline constexpr u32 kMaxDevices = 4096;

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

// Work of the SDMA engine. `written` bytes reach `dst`; `moved` are read and written together, which share the
// bandwidth of the memory. Between two devices the bytes cross a link instead.
struct SdmaWork {
  Slice dst, src;
  u64 written = 0;
  u64 moved = 0;
};

// A kernel argument: a number, or the address of a part of a device buffer.
using Arg = std::variant<u64, Slice>;

// A MIX task runs one kernel on cube cores and another on their vector cores: a block is one AIC and `aivs`
// AIVs of the same AI core, all with the same arguments.
struct KernelLaunch {
  u32 kernel = 0;  // of a MIX task: what the AIC runs
  u32 block_dim = 1;
  std::vector<Arg> args = {};
  u32 aivs = 0;        // MIX: vector cores of a block, 1 (MIX_AIC_1_1) or 2 (MIX_AIC_1_2); 0: no MIX task
  u32 aiv_kernel = 0;  // MIX: what the AIVs run; else 0

  bool mix() const { return aivs != 0; }

  static constexpr OpInfo info{
      .key = "kernel_launch",
      .kind = "KERNEL_AICORE",  // where it runs on no vector core
      .doc =
          "`kernel`; `type` and `aiv_kernel` of a MIX task; `block_dim` (1 to 65535, default 1); `args`: "
          "up to 8191 integers of 64 bits (decimal or `0x`) and device buffers"};
  static constexpr auto fields() {
    return std::tuple(field<&KernelLaunch::kernel>("kernel", as::kernel{}),
                      field<&KernelLaunch::aivs>("type", as::launch_type{}).last(),
                      field<&KernelLaunch::aiv_kernel>("aiv_kernel", as::kernel{}).last(),
                      field<&KernelLaunch::block_dim>("block_dim", as::block_dim{}),
                      field<&KernelLaunch::args>("args", as::args{}));
  }

  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

// aclrtMemcpyAsync, and aclrtMemcpy2dAsync where height > 1. The direction follows from the places of the buffers.
struct MemcpyAsync {
  Slice dst, src;
  u64 width = 0;                     // bytes of a row
  u64 height = 1;                    // rows
  u64 dst_pitch = 0, src_pitch = 0;  // bytes between rows; = width where height is 1

  u64 bytes() const { return width * height; }
  u64 traffic() const { return bytes(); }

  static constexpr OpInfo info{
      .key = "memcpy_async",
      .kind = "MEMCPY_ASYNC",
      .doc =
          "`dst`, `src`, and `count` in bytes; or `width`, `height`, `dst_pitch`, `src_pitch` (pitches "
          "default to `width`). Without either: all of both, which must be equal in size. H2D, D2H or D2D "
          "follows from the places; host to host is refused"};
  static constexpr auto fields() {
    return std::tuple(
        field<&MemcpyAsync::dst>("dst", as::part{.access = as::Access::write, .preposition = "to", .any_device = true}),
        field<&MemcpyAsync::src>("src", as::part{.preposition = "from", .any_device = true}),
        field<&MemcpyAsync::width>("width", as::rows{}), field<&MemcpyAsync::height>("height", as::rows{}),
        field<&MemcpyAsync::dst_pitch>("dst_pitch", as::rows{}),
        field<&MemcpyAsync::src_pitch>("src_pitch", as::rows{}));
  }

  friend bool operator==(const MemcpyAsync&, const MemcpyAsync&) = default;
};

struct MemsetAsync {
  Slice dst;
  u64 bytes = 0;
  u8 value = 0;

  Extent extent() const { return {.bytes = bytes}; }
  u64 traffic() const { return bytes; }
  SdmaWork sdma() const { return {.dst = dst, .src = dst, .written = bytes, .moved = bytes}; }
  std::string why_not() const { return bytes == 0 ? "of 0 bytes sets nothing" : ""; }

  static constexpr OpInfo info{
      .key = "memset_async",
      .kind = "MEMSET_ASYNC",
      .memory = "fills device buffers",
      .doc = "`dst` (device), `value` (0 to 255), `count` (default: to the end of the buffer)"};
  static constexpr auto fields() {
    return std::tuple(field<&MemsetAsync::dst>("dst", as::part{.access = as::Access::write, .preposition = "of"}),
                      field<&MemsetAsync::value>("value", as::number{.max = 255}),
                      field<&MemsetAsync::bytes>("count", as::extent{}));
  }

  friend bool operator==(const MemsetAsync&, const MemsetAsync&) = default;
};

struct EventRecord {
  u32 event = 0;

  Signal records() const { return {.kind = Signal::Kind::event, .index = event}; }

  static constexpr OpInfo info{.key = "event_record",
                               .kind = "EVENT_RECORD",
                               .role = TaskRole::order,
                               .doc = "an event; recording declares it, a list `events` at the top may do so before"};
  static constexpr auto fields() { return std::tuple(field<&EventRecord::event>("", as::event{.declares = true})); }

  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

struct StreamWaitEvent {
  u32 event = 0;

  Signal waits_for() const { return {.kind = Signal::Kind::event, .index = event}; }

  static constexpr OpInfo info{.key = "stream_wait_event",
                               .kind = "STREAM_WAIT_EVENT",
                               .role = TaskRole::order,
                               .doc = "an event that some task records. Once recorded, an event stays recorded"};
  static constexpr auto fields() { return std::tuple(field<&StreamWaitEvent::event>("", as::event{})); }

  friend bool operator==(const StreamWaitEvent&, const StreamWaitEvent&) = default;
};

// aclrtFree of a whole device buffer, in the order of its stream.
struct Free {
  u32 buffer = 0;

  static constexpr OpInfo info{
      .key = "free",
      .kind = "FREE",
      .memory = "returns device memory",
      .doc =
          "a device buffer, whole, in the order of its stream; accessing it later, or freeing it twice, is "
          "a program fault of the run; its address may still be an argument"};
  static constexpr auto fields() { return std::tuple(field<&Free::buffer>("", as::buffer{})); }

  friend bool operator==(const Free&, const Free&) = default;
};

// The operators NPUGetFloatStatus and NPUClearFloatStatus. The float status of a device is sticky: it says whether a
// kernel that has finished there since the last clear raised an overflow bit of STATUS (isa::status::kOverflows).
struct NpuGetFloatStatus {
  static constexpr u64 kBytes = 8 * sizeof(float);  // the tensor of the operator: 8 x f32
  Slice dst;                                        // receives it: [0] is 1 after an overflow, all else 0

  static Extent extent() { return {.bytes = kBytes}; }
  static u64 traffic() { return kBytes; }

  static constexpr OpInfo info{.key = "npu_get_float_status",
                               .kind = "NPU_GET_FLOAT_STATUS",
                               .memory = "writes device buffers",
                               .doc = "`dst` (device): receives 8 x f32, 32 bytes"};
  static constexpr auto fields() {
    return std::tuple(
        field<&NpuGetFloatStatus::dst>("dst", as::part{.access = as::Access::write, .preposition = "to"}));
  }

  friend bool operator==(const NpuGetFloatStatus&, const NpuGetFloatStatus&) = default;
};

struct NpuClearFloatStatus {
  static constexpr OpInfo info{.key = "npu_clear_float_status", .kind = "NPU_CLEAR_FLOAT_STATUS", .doc = "none: `{}`"};
  static constexpr auto fields() { return std::tuple(); }
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

enum class ReduceKind : u8 { ADD, MAX, MIN };
inline constexpr auto kReduceKindNames = enum_names<ReduceKind>;

// rtReduceAsync, carried out by SDMA: dst[i] = dst[i] kind src[i]. `dst` is memory of the stream's device, `src` of
// any.
struct ReduceAsync {
  using Kind = ReduceKind;
  Slice dst, src;
  u64 bytes = 0;
  Kind kind = Kind::ADD;
  ElementType type = ElementType::float32;

  Extent extent() const { return {.bytes = bytes, .align = element_bytes(type)}; }
  u64 traffic() const { return bytes; }
  SdmaWork sdma() const { return {.dst = dst, .src = src, .written = bytes, .moved = 3 * bytes}; }
  std::string why_not() const {
    if (bytes == 0) return "of 0 bytes reduces nothing";
    if (bytes % element_bytes(type) == 0) return {};
    return "of " + std::to_string(bytes) + " bytes: no whole number of " +
           std::string(kElementTypeNames[enum_index(type)]);
  }

  static constexpr OpInfo info{
      .key = "reduce_async",
      .kind = "REDUCE_ASYNC",
      .memory = "reduces device buffers",
      .doc =
          "SDMA: dst[i] = dst[i] `kind` src[i]; `dst`, `src` (of any device), `count` in bytes (default: "
          "all of both), `kind` (`ADD`, the default, `MAX`, `MIN`), `dtype` (`i1 i2 i4 u1 u2 u4 f2 f4 "
          "bf2`; `bf2` is bfloat16)"};
  static constexpr auto fields() {
    return std::tuple(field<&ReduceAsync::dst>("dst", as::part{.access = as::Access::update, .preposition = "to"}),
                      field<&ReduceAsync::src>("src", as::part{.preposition = "from", .any_device = true}),
                      field<&ReduceAsync::bytes>("count", as::extent{}),
                      field<&ReduceAsync::kind>("kind", as::choice<kReduceKindNames>{}),
                      field<&ReduceAsync::type>("dtype", as::choice<kElementTypeNames>{.required = true}));
  }

  friend bool operator==(const ReduceAsync&, const ReduceAsync&) = default;
};

// rtEventReset: the event has not happened again, for use in loops.
struct EventReset {
  u32 event = 0;

  static constexpr OpInfo info{.key = "event_reset",
                               .kind = "EVENT_RESET",
                               .role = TaskRole::order,
                               .doc = "an event: it has not happened again, for use in loops"};
  static constexpr auto fields() { return std::tuple(field<&EventReset::event>("", as::event{})); }

  friend bool operator==(const EventReset&, const EventReset&) = default;
};

// A notify is seen by all devices, and a wait that it satisfies resets it.
struct NotifyRecord {
  u32 notify = 0;

  Signal records() const { return {.kind = Signal::Kind::notify, .index = notify}; }

  static constexpr OpInfo info{
      .key = "notify_record",
      .kind = "NOTIFY_RECORD",
      .role = TaskRole::order,
      .doc =
          "a notify; recording declares it, a list `notifies` at the top may do so before. All devices see "
          "it"};
  static constexpr auto fields() { return std::tuple(field<&NotifyRecord::notify>("", as::notify{.declares = true})); }

  friend bool operator==(const NotifyRecord&, const NotifyRecord&) = default;
};

struct NotifyWait {
  u32 notify = 0;

  Signal waits_for() const { return {.kind = Signal::Kind::notify, .index = notify}; }

  static constexpr OpInfo info{.key = "notify_wait",
                               .kind = "NOTIFY_WAIT",
                               .role = TaskRole::order,
                               .doc = "a notify that some task records; a wait that it satisfies resets it"};
  static constexpr auto fields() { return std::tuple(field<&NotifyWait::notify>("", as::notify{})); }

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

  Extent extent() const { return {.bytes = bytes, .align = bytes}; }
  u32 starts() const { return true_stream; }

  static constexpr OpInfo info{
      .key = "stream_switch",
      .kind = "STREAM_SWITCH",
      .role = TaskRole::steer,
      .memory = "compares device memory",
      .doc =
          "in a stream of a model: `value` `cond` `target` compares two integers in device memory, of "
          "`dtype` `i4` (default) or `i8`; `cond` is `EQUAL`, `NOT_EQUAL`, `GREATER`, `GREATER_OR_EQUAL`, "
          "`LESS` or `LESS_OR_EQUAL`. Where it holds, `true_stream` of the same model starts at its first "
          "task; the stream goes on either way"};
  static constexpr auto fields() {
    return std::tuple(field<&StreamSwitch::value>("value", as::part{.preposition = "on", .steers = true}),
                      field<&StreamSwitch::cond>("cond", as::choice<kConditionNames>{.required = true}),
                      field<&StreamSwitch::target>("target", as::part{.preposition = "on", .steers = true}),
                      field<&StreamSwitch::true_stream>("true_stream", as::stream{}),
                      field<&StreamSwitch::bytes>("dtype", as::integer_type{}));
  }

  friend bool operator==(const StreamSwitch&, const StreamSwitch&) = default;
};
inline constexpr std::array<std::string_view, 2> kSwitchTypeNames{"i4", "i8"};  // by bytes / 4 - 1

// rtStreamActive: the stream, of the same model, starts at its first task.
struct StreamActive {
  u32 stream = 0;

  u32 starts() const { return stream; }

  static constexpr OpInfo info{.key = "stream_active",
                               .kind = "STREAM_ACTIVE",
                               .role = TaskRole::steer,
                               .doc = "a stream of the same model: starts it at its first task"};
  static constexpr auto fields() { return std::tuple(field<&StreamActive::stream>("", as::stream{})); }

  friend bool operator==(const StreamActive&, const StreamActive&) = default;
};

// A place in a stream of a model that tasks of the same stream can jump to.
struct LabelSet {
  u32 label = 0;

  static constexpr OpInfo info{
      .key = "label_set",
      .kind = "LABEL_SET",
      .role = TaskRole::order,
      .doc =
          "in a stream of a model: declares a label, a place that tasks of the same stream jump to; a list "
          "`labels` at the top may declare it before"};
  static constexpr auto fields() { return std::tuple(field<&LabelSet::label>("", as::label{.declares = true})); }

  friend bool operator==(const LabelSet&, const LabelSet&) = default;
};

struct LabelGoto {
  u32 label = 0;

  std::span<const u32> jumps() const { return {&label, 1}; }

  static constexpr OpInfo info{
      .key = "label_goto", .kind = "LABEL_GOTO", .role = TaskRole::steer, .doc = "a label of the same stream"};
  static constexpr auto fields() { return std::tuple(field<&LabelGoto::label>("", as::label{})); }

  friend bool operator==(const LabelGoto&, const LabelGoto&) = default;
};

// rtLabelSwitchByIndex: jumps to labels[index]; to the last one where there are not so many.
struct LabelSwitch {
  Slice index;  // a u32 in memory of the stream's device
  std::vector<u32> labels = {};

  static Extent extent() { return {.bytes = sizeof(u32), .align = sizeof(u32)}; }
  std::span<const u32> jumps() const { return labels; }

  static constexpr OpInfo info{
      .key = "label_switch",
      .kind = "LABEL_SWITCH",
      .role = TaskRole::steer,
      .memory = "reads device memory",
      .doc =
          "`index`, a u32 in device memory, and `labels`: jumps to that one, to the last where there are "
          "not so many"};
  static constexpr auto fields() {
    return std::tuple(field<&LabelSwitch::index>("index", as::part{.preposition = "on", .steers = true}),
                      field<&LabelSwitch::labels>("labels", as::labels{}));
  }

  friend bool operator==(const LabelSwitch&, const LabelSwitch&) = default;
};

// rtCpuKernelLaunch: a host function on the AICPU, on memory of the stream's device.
struct CpuKernelLaunch {
  std::string kernel = {};  // name of the function, e.g. AssignAdd
  u32 block_dim = 1;
  std::vector<Arg> args = {};
  double seconds = 0;  // > 0: how long it takes, in place of what the function declares

  static constexpr OpInfo info{
      .key = "cpu_kernel_launch",
      .kind = "KERNEL_AICPU",
      .doc =
          "a host function on the AICPU: `kernel` (its name, such as `AssignAdd`), `block_dim`, `args` as "
          "of a launch, `time`: how long it takes, in place of what the function declares"};
  static constexpr auto fields() {
    return std::tuple(field<&CpuKernelLaunch::kernel>("kernel", as::text{}),
                      field<&CpuKernelLaunch::block_dim>("block_dim", as::block_dim{}),
                      field<&CpuKernelLaunch::args>("args", as::args{}),
                      field<&CpuKernelLaunch::seconds>("time", as::time{}));
  }

  friend bool operator==(const CpuKernelLaunch&, const CpuKernelLaunch&) = default;
};

// rtModelExecute, in a stream that is not of a model: done when the model is.
struct ModelExecute {
  u32 model = 0;

  static constexpr OpInfo info{.key = "model_execute",
                               .kind = "MODEL_EXECUTE",
                               .doc = "a model (below): runs it, in a stream that is of none; done when the model is"};
  static constexpr auto fields() { return std::tuple(field<&ModelExecute::model>("", as::model{})); }

  friend bool operator==(const ModelExecute&, const ModelExecute&) = default;
};

// In a stream of the model: the model is done.
struct ModelEndGraph {
  u32 model = 0;

  static constexpr OpInfo info{.key = "model_end_graph",
                               .kind = "MODEL_END_GRAPH",
                               .role = TaskRole::order,
                               .doc = "a model, in one of its streams: the model is done"};
  static constexpr auto fields() { return std::tuple(field<&ModelEndGraph::model>("", as::model{})); }

  friend bool operator==(const ModelEndGraph&, const ModelEndGraph&) = default;
};

enum class HcclOp : u8 { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all };
enum class HcclAlgorithm : u8 { automatic, ring, halving_doubling, hierarchical, mesh };
enum class HcclReduce : u8 { sum, prod, max, min };
inline constexpr auto kHcclOpNames = enum_names<HcclOp>;
inline constexpr auto kHcclAlgorithmNames =
    enum_table<HcclAlgorithm, std::string_view>({{HcclAlgorithm::automatic, "auto"},
                                                 {HcclAlgorithm::ring, "ring"},
                                                 {HcclAlgorithm::halving_doubling, "halving_doubling"},
                                                 {HcclAlgorithm::hierarchical, "hierarchical"},
                                                 {HcclAlgorithm::mesh, "mesh"}});
inline constexpr auto kHcclReduceNames = enum_names<HcclReduce>;

// A collective of the devices of a communicator, under the names of HCCL; its kind is msprof's, because the runtime
// does not know it as one task. The n-th one that each device reaches belong together; none is done before all devices
// have reached it.
struct Hccl {
  using Op = HcclOp;
  using Algorithm = HcclAlgorithm;
  using Reduce = HcclReduce;
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

  u64 traffic() const { return count * element_bytes(type); }

  static constexpr OpInfo info{
      .key = "hccl",
      .kind = "COMMUNICATION",
      .memory = "moves device memory",
      .doc =
          "a collective: `op`, `comm`, `send`, `recv`, `count`, `dtype`, `reduce`, `root`, `algorithm` "
          "(below)"};
  static constexpr auto fields() {
    return std::tuple(
        field<&Hccl::op>("op", as::choice<kHcclOpNames>{.required = true}),
        field<&Hccl::comm>("comm", as::communicator{}),
        field<&Hccl::reduce>("reduce", as::choice<kHcclReduceNames>{})
            .only([](const Hccl& o) { return o.reduces(); }, "'reduce' is a key of all_reduce and reduce_scatter")
            .last(),
        field<&Hccl::root>("root", as::number{.max = kMaxDevices - 1, .required = false})
            .only([](const Hccl& o) { return o.op == Op::broadcast; }, "'root' is a key of broadcast")
            .last(),
        field<&Hccl::send>("send", as::part{.preposition = "from"})
            .only([](const Hccl& o) { return o.op != Op::broadcast; },
                  "a broadcast has one buffer, 'recv', which the root sends"),
        field<&Hccl::recv>("recv", as::part{.access = as::Access::write, .preposition = "to"}),
        field<&Hccl::count>("count", as::number{.min = 1}),
        field<&Hccl::type>("dtype", as::choice<kElementTypeNames>{.required = true}),
        field<&Hccl::algorithm>("algorithm", as::choice<kHcclAlgorithmNames>{}).last());
  }

  friend bool operator==(const Hccl&, const Hccl&) = default;
};
// aclrtValueWrite: writes 64 bits of memory of the stream's device.
struct ValueWrite {
  Slice dst;
  u64 value = 0;

  static Extent extent() { return {.bytes = sizeof(u64), .align = sizeof(u64)}; }
  static u64 traffic() { return sizeof(u64); }

  static constexpr OpInfo info{
      .key = "value_write",
      .kind = "VALUE_WRITE",
      .memory = "writes device buffers",
      .doc =
          "`dst` (device; its offset is a multiple of 8) and `value`: receives the value as a little-endian "
          "integer of 64 bits"};
  static constexpr auto fields() {
    return std::tuple(field<&ValueWrite::dst>("dst", as::part{.access = as::Access::write, .preposition = "to"}),
                      field<&ValueWrite::value>("value", as::number{}));
  }

  friend bool operator==(const ValueWrite&, const ValueWrite&) = default;
};

// "all_reduce (sum) of 100 f4, root 0, algorithm auto"
std::string to_string(const Hccl& op);

// The operations, in the order of the union of task_stream.fbs. A new one is appended here and there.
#define VINCI_TASK_OPS(X) \
  X(KernelLaunch)         \
  X(MemcpyAsync)          \
  X(MemsetAsync)          \
  X(EventRecord)          \
  X(StreamWaitEvent)      \
  X(Free)                 \
  X(NpuGetFloatStatus)    \
  X(NpuClearFloatStatus)  \
  X(ReduceAsync)          \
  X(EventReset)           \
  X(NotifyRecord)         \
  X(NotifyWait)           \
  X(StreamSwitch)         \
  X(StreamActive)         \
  X(LabelSet)             \
  X(LabelGoto)            \
  X(LabelSwitch)          \
  X(CpuKernelLaunch)      \
  X(ModelExecute)         \
  X(ModelEndGraph)        \
  X(Hccl)                 \
  X(ValueWrite)

namespace detail {
template <class, class... Op>
struct OpList {
  using variant = std::variant<Op...>;
  // By alternative, in their order.
  static constexpr std::array<OpInfo, sizeof...(Op)> infos{Op::info...};
  // The position of an operation.
  template <class Wanted>
  static constexpr usize index = [] {
    usize at = 0, i = 0;
    ((std::is_same_v<Wanted, Op> ? at = i++ : i++), ...);
    return at;
  }();
};
#define VINCI_OP(op) , op
using Ops = OpList<void VINCI_TASK_OPS(VINCI_OP)>;
#undef VINCI_OP
}  // namespace detail

using TaskOp = detail::Ops::variant;

// Calls visit(std::type_identity<Op>{}) for each operation.
template <class Visit>
constexpr void for_each_op(Visit&& visit) {
#define VINCI_OP(op) visit(std::type_identity<op>{});
  VINCI_TASK_OPS(VINCI_OP)
#undef VINCI_OP
}

inline constexpr auto& kOpInfos = detail::Ops::infos;

// Names of the alternatives of TaskOp, in their order; keys of the YAML spelling.
inline constexpr auto kOpNames = [] {
  std::array<std::string_view, kOpInfos.size()> names{};
  for (usize i = 0; i < names.size(); ++i)
    names[i] = kOpInfos[i].key;
  return names;
}();

struct Task {
  std::string name;  // for reports; the loader makes one up where the file gives none
  TaskOp op;

  const OpInfo& info() const { return kOpInfos[op.index()]; }

  friend bool operator==(const Task&, const Task&) = default;
};

// What a task records or waits for, if anything.
inline std::optional<Signal> recorded_by(const TaskOp& op) {
  return std::visit(
      [](const auto& o) -> std::optional<Signal> {
        if constexpr (requires { o.records(); }) return o.records();
        return std::nullopt;
      },
      op);
}
inline std::optional<Signal> awaited_by(const TaskOp& op) {
  return std::visit(
      [](const auto& o) -> std::optional<Signal> {
        if constexpr (requires { o.waits_for(); }) return o.waits_for();
        return std::nullopt;
      },
      op);
}
// The stream of a model that a task starts, or kNone.
inline u32 started_by(const TaskOp& op) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.starts(); }) return o.starts();
        return kNone;
      },
      op);
}
// The labels that a task may jump to; empty: it does not jump.
inline std::span<const u32> jumps_of(const TaskOp& op) {
  return std::visit(
      [](const auto& o) -> std::span<const u32> {
        if constexpr (requires { o.jumps(); }) return o.jumps();
        return {};
      },
      op);
}

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
