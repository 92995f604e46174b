// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "isa/table/cost_class.h"
#include "sim/config/chip_config.h"

// Every key of a chip file, once: name, member, meaning, range. The reader, the writer, the manual and the list of
// assumptions are visitors of these descriptions. A visitor is called as
//   visit("key", member, "meaning")           text, truth values, names, groups
//   visit("key", member, "meaning", range)    numbers; the unit follows from the type, a plain double is in cycles
// To add a parameter: a member in chip_config.h and a line here.
namespace vinci::config {

template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;
// A view, LinesOf or ScalarOf, of a core.
template <class S, template <class> class View>
concept Of = std::same_as<std::remove_const_t<S>, View<std::remove_reference_t<decltype(std::declval<S>().core)>>>;

inline constexpr Range kApiRange{0, 65535};
inline constexpr Range kBufferRange{0, 16.0 * 1024 * 1024};  // addresses of a buffer have 24 bits
inline constexpr Range kQueueRange{1, 65536};
inline constexpr Range kUnitRange{1, 16};
inline constexpr Range kTimeRange{0, 1};
inline constexpr Range kDramTimeRange{0, 1e-3};
inline constexpr std::string_view kFromDoc =
    "where the numbers come from: measured <source>, document <source>, assumed";

template <class V, Is<CostLine> S>
void describe(V& visit, S& s) {
  visit("law", s.law, "by which the time grows with the work");
  visit("head", s.head, "added when the pipe was empty", kCycleRange);
  visit("startup", s.startup, "of every instruction, before the work", kCycleRange);
  std::visit([&](auto& law) { law.describe(visit, law); }, s.law);
  visit("minimum", s.minimum, "no instruction takes less", kCycleRange);
  visit("tail", s.tail, "from the end of the work until the result is visible", kCycleRange);
  visit("from", s.from, kFromDoc);
}

// The cost lines of a group of classes, "vector", as a group of keys. `Core` may be const.
template <class Core>
struct LinesOf {
  Core& core;
  std::string_view group;
};
template <class Core>
LinesOf(Core& core, std::string_view group) -> LinesOf<Core>;
template <class V, Of<LinesOf> S>
void describe(V& visit, S& s) {
  for (usize i = 0; i < isa::kCostClasses.size(); ++i) {
    const auto c = static_cast<isa::CostClass>(i);
    if (group_of(c) == s.group) visit(key_of(c), s.core.line(c), isa::row_of(c).doc);
  }
}

template <class V, Is<ApiCosts> S>
void describe(V& visit, S& s) {
  visit("call", s.call, "cycles of a call that issues work: addresses, lengths, masks", kApiRange);
  visit("flag", s.flag, "cycles of a flag or a barrier", kApiRange);
  visit("queue", s.queue, "cycles of AllocTensor, EnQue, DeQue, FreeTensor, each besides its flag", kApiRange);
  visit("loop", s.loop, "cycles of a turn of a loop inside the API", kApiRange);
  visit("access", s.access, "cycles of a GetValue or SetValue that is not recorded as an instruction", kApiRange);
  visit("from", s.from, kFromDoc);
}

template <class V, Is<CodeCosts> S>
void describe(V& visit, S& s) {
  visit("op", s.op, "cycles of an integer operation, a comparison, a branch, a computed address", kApiRange);
  visit("float", s.real, "cycles of a floating-point operation", kApiRange);
  visit("access", s.access, "cycles of a load or store that is neither of a local tensor nor of a variable", kApiRange);
  visit("from", s.from, kFromDoc);
}

// The keys of the scalar unit: its cost lines, and what Ascend C programs are charged.
template <class Core>
struct ScalarOf {
  Core& core;
};
template <class V, Of<ScalarOf> S>
void describe(V& visit, S& s) {
  LinesOf lines{s.core, "scalar"};
  describe(visit, lines);
  visit("api", s.core.api,
        "what Ascend C programs are charged for scalar code inside the API, as nop in their recordings");
  visit("code", s.core.code, "the same of their own scalar code, whose operations `vinci cc` counts");
}

template <class V, Is<SystemCounter> S>
void describe(V& visit, S& s) {
  visit("frequency", s.frequency, "of what get_sys_cnt counts", Range{1e3, 1e10});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<BufferSizes> S>
void describe(V& visit, S& s) {
  visit("l1", s.l1, "L1, the buffer of the cube core", kBufferRange);
  visit("l0a", s.l0a, "left operands of the cube", kBufferRange);
  visit("l0b", s.l0b, "right operands of the cube", kBufferRange);
  visit("l0c", s.l0c, "results of the cube", kBufferRange);
  visit("ub", s.ub, "unified buffer of the vector unit", kBufferRange);
  visit("bt", s.bt, "bias table of the cube (split core), 0: none", kBufferRange);
  visit("fb", s.fb, "parameters of FIXPIPE (split core), 0: none", kBufferRange);
  visit("from", s.from, kFromDoc);
}

template <class V, Is<CoreRates> S>
void describe(V& visit, S& s) {
  visit("m", s.m, "rows of A that the cube multiplies in a cycle", Range{1, 4096});
  visit("n", s.n, "columns of B", Range{1, 4096});
  visit("k", s.k, "columns of A in f16: of s8 twice as many, of f32 a quarter", Range{1, 4096});
  visit("lanes", s.lanes, "of 16 bits of the vector unit; a repeat has 128", Range{1, 65536});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<AssumedRange> S>
void describe(V& visit, S& s) {
  visit("low", s.low, "factor of the times where they are the smallest; rates are divided by it", Range{0.01, 1});
  visit("high", s.high, "the same where they are the largest", Range{1, 100});
  visit("reason", s.reason, "why these");
}

template <class V, Is<UbBanks> S>
void describe(V& visit, S& s) {
  visit("groups", s.groups, "of banks, consecutive 32 B go to them in turn; 0: conflicts are not modelled",
        Range{0, UbBanks::kMaxGroups});
  visit("region", s.region, "addresses that share the banks of a group", Range{512, 16.0 * 1024 * 1024});
  visit("read_write", s.read_write, "conflicts of a step whose results meet sources of the next one in a bank",
        Range{0, 64});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<UnitCounts> S>
void describe(V& visit, S& s) {
  visit("cube", s.cube, "cube units", kUnitRange);
  visit("vector", s.vector, "vector units", kUnitRange);
  visit("mte1", s.mte1, "units that move data out of L1; the other movers share the port to the memory", kUnitRange);
  visit("from", s.from, kFromDoc);
}

template <class V, Is<QueueDepths> S>
void describe(V& visit, S& s) {
  for (usize p = 0; p < isa::kPipeCount; ++p) {
    const isa::PipeRow& pipe = isa::kPipes[p];
    if (!pipe.queue.empty()) visit(pipe.queue, s.depth[p], pipe.doc, kQueueRange);
  }
  visit("from", s.from, kFromDoc);
}

template <class V, Is<CoreConfig> S>
void describe(V& visit, S& s) {
  visit("buffers", s.buffers, "sizes of the buffers of a core");
  visit("rates", s.rates, "what the cube and the vector unit compute in a cycle");
  visit("ub_banks", s.ub_banks, "banks of UB, and what meets in them");
  visit("units", s.units,
        "units of a kind, which share the queue of their pipe: an instruction begins on the first free one when its "
        "operands meet those of none that is busy");
  visit("queues", s.queues, "instructions that wait before a pipe until the scalar unit stalls");
  visit("flags_per_pair", s.flags_per_pair, "event ids of each ordered pair of pipes", Range{1, 64});
  visit("mask_waits", s.mask_waits,
        "a vector instruction whose mask was set after the one before begins when that is done");
  visit("dma_chunk", s.dma_chunk, "what a copy asks of the memory in one go; smaller is finer interleaving",
        Range{32, 1024.0 * 1024});
  visit("dma_unaligned", s.dma_unaligned,
        "the least unit in which rows are asked for: of those that do not begin at a block of 32 B, and of those that "
        "become "
        "NZ, whose unit is twice what they begin at a multiple of; 0B: a line",
        Range{0, 1024.0 * 1024});
  visit("dma_requests", s.dma_requests, "requests of a pipe, of a line of L2 or less, that may be under way at once",
        Range{1, 65536});
  visit("from", s.from, kFromDoc);
  ScalarOf<S> scalar{s};
  LinesOf<S> vector{s, "vector"}, move{s, "move"};
  visit("scalar", scalar, "times of the scalar unit");
  visit("sys_cnt", s.sys_cnt, "the system counter");
  visit("cube", s.line("cube"_cost), isa::row_of("cube"_cost).doc);
  visit("vector", vector, "times of the vector unit; a step is one repeat");
  visit("move", move, "times of copies between memories");
  visit("instructions", s.instructions, "more specific than the classes: vexp, or one type form, vexp.f16");
}

template <class V, Is<NocConfig> S>
void describe(V& visit, S& s) {
  visit("port_read", s.port_read, "of each core, from L2; 0B/cycle: no limit", kRateRange);
  visit("port_write", s.port_write, "of each core, to L2; 0B/cycle: no limit", kRateRange);
  visit("latency", s.latency, "of a request on its way to L2", Range{0, 1e6});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<L2Config> S>
void describe(V& visit, S& s) {
  visit("size", s.size, "of all slices", Range{4096, 4.0 * 1024 * 1024 * 1024});
  visit("line", s.line, "a power of two", Range{32, 4096});
  visit("ways", s.ways, "associativity", Range{1, 64});
  visit("slices", s.slices, "lines are spread over them", Range{1, 256});
  visit("groups", s.groups, "of slices: lines go to them in turn, so that strides can camp on one", Range{1, 256});
  visit(
      "group_region", s.group_region,
      "inside which lines go to the groups strictly in turn, a power of two; which group is first in it is hashed; 0B: "
      "the whole memory is one",
      Range{0, 4.0 * 1024 * 1024 * 1024});
  visit("slice_read", s.slice_read, "reads of one slice", Range{1, 65536});
  visit("slice_write", s.slice_write, "writes of one slice, while it reads", Range{1, 65536});
  visit("min_request", s.min_request, "a smaller request takes a slice as long as one of this size", Range{1, 4096});
  visit("fetches", s.fetches, "misses, and requests past L2, that a slice has under way at once; others wait",
        Range{1, 65536});
  visit("atomic", s.atomic, "that a line is busy with one atomic write; others to it wait", Range{0, 1e6});
  visit("hit_latency", s.hit_latency, "of a read that hits, from the slice back to the core", Range{0, 1e6});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<HbmConfig> S>
void describe(V& visit, S& s) {
  visit("size", s.size, "of the device memory", Range{1024.0 * 1024, 4096.0 * 1024 * 1024 * 1024});
  visit("channels", s.channels, "independent channels", Range{1, 1024});
  visit("bandwidth", s.bandwidth, "of the pins of all channels together", Range{1e6, 1e14});
  visit("latency", s.latency, "on top of L2, for a line that misses, where its row is open", Range{0, 1e6});
  visit("interleave", s.interleave, "consecutive bytes on one channel", Range{32, 1024.0 * 1024});
  visit("stacks", s.stacks, "that share the channels; a hash says which one holds a region of addresses", Range{1, 64});
  visit("stack_region", s.stack_region, "consecutive bytes in one stack; with one stack of no effect",
        Range{32, 1024.0 * 1024 * 1024});
  visit("burst", s.burst, "the least that a channel moves", Range{1, 4096});
  visit("banks", s.banks, "of a channel", Range{1, 1024});
  visit("row", s.row, "of a bank", Range{32, 1024.0 * 1024});
  visit("activate", s.activate, "opening a row", kDramTimeRange);
  visit("precharge", s.precharge, "closing another row first", kDramTimeRange);
  visit("write_batch", s.write_batch, "writes that a channel collects before it turns round for them", Range{1, 4096});
  visit("turn_around", s.turn_around, "from reads to writes, and back again", kDramTimeRange);
  visit("refresh_interval", s.refresh_interval, "of a channel, from the refresh of one bank to that of the next",
        Range{1e-9, 1});
  visit("refresh_time", s.refresh_time, "that a channel loses at each refresh; 0s: no refresh", kDramTimeRange);
  visit("from", s.from, kFromDoc);
}

template <class V, Is<MemoryConfig> S>
void describe(V& visit, S& s) {
  visit("clock", s.clock,
        "of L2, the network and copies from and to global memory: their cycles are cycles of this clock; 0Hz: of the "
        "cores",
        Range{0, 1e10});
  visit("noc", s.noc, "the network between the cores and L2");
  visit("l2", s.l2, "the cache in front of the device memory, shared by all cores");
  visit("hbm", s.hbm, "the device memory, of whatever kind");
}

template <class V, Is<SchedulerConfig> S>
void describe(V& visit, S& s) {
  visit("task_start", s.task_start, "from a ready task to the dispatch of its first block", kTimeRange);
  visit("block_interval", s.block_interval, "at least, between two blocks that are given to cores", kTimeRange);
  visit("mix_block_interval", s.mix_block_interval,
        "the same after a block of a MIX kernel, which begins on cube and vector cores", kTimeRange);
  visit("block_dispatch", s.block_dispatch, "from a block on an idle core until the core begins", kTimeRange);
  visit("program_start", s.program_start, "from there to the first instruction of a block: arguments, tiling",
        kTimeRange);
  visit("first_start", s.first_start,
        "before that, of a program that its core has not run before: the code comes from the device memory",
        kTimeRange);
  visit("first_start_per_core", s.first_start_per_core,
        "so much more of it for each AI core that the blocks of the launch fill: all fetch the same lines", kTimeRange);
  visit("task_completion", s.task_completion, "from the end of the last block until the stream goes on", kTimeRange);
  visit("cross_core_flag", s.cross_core_flag,
        "the FFTS takes one cross-core flag after the other from all cores, each so much later than the one before",
        kTimeRange);
  visit("control", s.control, "a task that only steers streams: event, notify, label, switch; a jump takes a cycle",
        kTimeRange);
  visit("from", s.from, kFromDoc);
}

template <class V, Is<HostConfig> S>
void describe(V& visit, S& s) {
  visit("launch", s.launch, "host time to enqueue a kernel", kTimeRange);
  visit("enqueue", s.enqueue, "host time to enqueue any other task: a copy, an event, a memset", kTimeRange);
  visit("synchronize", s.synchronize, "host time of a wait for the device, without the waiting", kTimeRange);
  visit("copy_latency", s.copy_latency, "of one copy between host and device, before its first byte", kTimeRange);
  visit("h2d_bandwidth", s.h2d_bandwidth, "pinned host memory to device", Range{1e6, 1e13});
  visit("d2h_bandwidth", s.d2h_bandwidth, "device to pinned host memory", Range{1e6, 1e13});
  visit("pageable_bandwidth", s.pageable_bandwidth, "the same of pageable host memory, each way", Range{1e6, 1e13});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<LimitsConfig> S>
void describe(V& visit, S& s) {
  visit("streams", s.streams, "of one device", Range{1, 65536});
  visit("stream_depth", s.stream_depth, "tasks that a stream holds; a host thread that enqueues more waits",
        Range{1, 1e6});
  visit("events", s.events, "of one device", Range{0, 1e6});
  visit("notifies", s.notifies, "of one device", Range{0, 1e6});
  visit("models", s.models, "of one device", Range{0, 65536});
  visit("labels", s.labels, "of one device", Range{0, 1e6});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<AicpuConfig> S>
void describe(V& visit, S& s) {
  visit("threads", s.threads, "that run AICPU tasks", Range{1, 1024});
  visit("dispatch", s.dispatch, "of an AICPU task, before its function starts", kTimeRange);
  visit("bandwidth", s.bandwidth, "at which the function of one thread goes through its data", Range{1e6, 1e13});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<SdmaConfig> S>
void describe(V& visit, S& s) {
  visit("bandwidth", s.bandwidth, "of what it writes, on top of the limit of the memory", Range{1e6, 1e14});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<LinksConfig> S>
void describe(V& visit, S& s) {
  visit("devices_per_node", s.devices_per_node, "devices of one computer", Range{1, 1024});
  visit("hccs_group", s.hccs_group, "devices that HCCS connects, each pair by a link; PCIe connects groups of a node",
        Range{1, 1024});
  visit("hccs_bandwidth", s.hccs_bandwidth, "of one link, each way", Range{1e6, 1e13});
  visit("hccs_latency", s.hccs_latency, "of one transfer over HCCS, after its last byte has left", kTimeRange);
  visit("pcie_bandwidth", s.pcie_bandwidth, "of the PCIe port of a device, each way", Range{1e6, 1e13});
  visit("pcie_latency", s.pcie_latency, "of one transfer between HCCS groups of a node", kTimeRange);
  visit("roce_bandwidth", s.roce_bandwidth, "of the network port of a device, each way", Range{1e6, 1e13});
  visit("roce_latency", s.roce_latency, "of one transfer between nodes", kTimeRange);
  visit("collective_start", s.collective_start, "from a rank that reaches a collective to its first transfer",
        kTimeRange);
  visit("collective_piece", s.collective_piece, "longer transfers of a collective go in pieces of this size",
        Range{64, 1099511627776.0});
  visit("from", s.from, kFromDoc);
}

template <class V, Is<NumericsConfig> S>
void describe(V& visit, S& s) {
  visit("saturation", s.saturation, "the chip has saturation mode: infinity becomes the largest finite value");
  visit("inf_nan", s.inf_nan, "the chip has INF_NAN mode: IEEE 754");
  visit("overflow_mode", s.overflow_mode, "the mode that a run starts in");
  visit("precision", s.precision, "of vrec, vrsqrt, vexp, vln: high_performance or high_precision (correctly rounded)");
  visit("accumulation", s.accumulation,
        "order of the sums in the cube: sequential, fused, fractal or pairwise; not public");
  visit("multiply_add", s.multiply_add,
        "vmadd, vmla and vaxpy of one type round once or twice; public sources disagree");
  visit("half_sums", s.half_sums,
        "mad to f16 rounds at the end of the instruction or after each step of 16; not public");
  visit("hf32_ties", s.hf32_ties, "ties of HF32 with CTRL[47] = 0 go to even or away from zero; sources disagree");
  visit("subnormals", s.subnormals, "subnormal results of vexp, vln and vsqrt are kept or flushed; not public");
  visit("moved_specials", s.moved_specials,
        "infinite and NaN values that leave L0C are ignored, or raised in STATUS[61]; not public");
  visit("from", s.from, kFromDoc);
}

template <class V, Is<ChipConfig> S>
void describe(V& visit, S& s) {
  visit("name", s.name, "of letters, digits, '-', '_' and '.'; the name of the file where it is left out");
  visit("product", s.product, "what the chip is sold as");
  visit("arch", s.arch, "instruction set; c220 has cube cores and vector cores, the others joint cores");
  visit("clock", s.clock, "of the AI cores; cycles are cycles of this clock", Range{1e6, 1e10});
  visit("ai_cores", s.ai_cores, "joint cores, or cube cores of the split form", Range{1, 64});
  visit("vector_cores", s.vector_cores, "of the split form; 0 on the joint form", Range{0, 128});
  visit("from", s.from, kFromDoc);
  visit("core", s.core, "one core, or one cube core and its vector cores");
  visit("memory", s.memory, "what the cores share");
  visit("scheduler", s.scheduler, "the task scheduler of the device");
  visit("limits", s.limits, "how many streams, events and so on the task scheduler has");
  visit("aicpu", s.aicpu, "the processors of the device that run AICPU tasks");
  visit("sdma", s.sdma, "the engine that copies, fills and reduces inside the device");
  visit("links", s.links, "between devices");
  visit("host", s.host, "the computer around the device");
  visit("numerics", s.numerics, "what happens to results that are infinite or NaN");
  visit("ranges", s.ranges, "how far off assumed numbers may be, by group or key: core.queues, memory.noc.latency");
}

// A struct that has a description of its own: a group of keys.
struct AnyVisitor {
  template <class... A>
  void operator()(A&&...) {}
};
template <class S>
concept Described = requires(AnyVisitor& visit, S& s) {
  describe(visit, s);
};

// Members that are maps: cost lines by instruction, ranges by group or key.
template <class T>
inline constexpr bool kIsLines = std::same_as<std::remove_const_t<T>, std::map<std::string, CostLine>>;
template <class T>
inline constexpr bool kIsRanges = std::same_as<std::remove_const_t<T>, std::map<std::string, AssumedRange>>;

// Whether an architecture has instructions of the class of a cost line; `path` from the root of a chip file. True of
// those that are no class.
inline bool has_line(isa::Arch arch, std::string_view path) {
  constexpr std::string_view kCore = "core.";
  const auto c = path.starts_with(kCore) ? isa::cost_class(path.substr(kCore.size())) : std::nullopt;
  return !c || isa::contains(isa::row_of(*c).archs, arch);
}

// A group that says where its numbers come from.
template <class S>
concept HasFrom = requires(S& s) {
  { s.from } -> std::convertible_to<std::string>;
};

}  // namespace vinci::config
