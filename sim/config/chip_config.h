// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "isa/arch.h"
#include "isa/table/cost_class.h"
#include "isa/table/exec.h"
#include "sim/config/cost_laws.h"
#include "sim/config/units.h"

// A chip as data: plain structs with defaults, filled and checked by sim/config/load.h from YAML, constant afterwards.
namespace vinci::config {

// Cycles that an Ascend C program is charged for the scalar code inside its API: compilers' code around the intrinsics,
// which native execution does not see (docs/ascendc.md).
struct ApiCosts {
  u32 call = 2;     // a call that issues work: addresses, lengths, masks
  u32 flag = 0;     // a flag or a barrier
  u32 queue = 23;   // AllocTensor, EnQue, DeQue, FreeTensor, each besides its flag
  u32 loop = 2;     // a turn of a loop inside the API
  u32 access = 10;  // a GetValue or SetValue that is not recorded as an instruction
  std::string from = "assumed";

  friend bool operator==(const ApiCosts&, const ApiCosts&) = default;
};

// Cycles that an Ascend C program is charged for its own scalar code, by the operations that the compiler leaves of it
// (docs/front-end.md).
struct CodeCosts {
  double op = 1;      // an integer operation, a comparison, a branch, the address of an access
  double real = 1.5;  // a floating-point operation
  double access = 4;  // a load or store that is not of a local tensor
  std::string from = "assumed";

  friend bool operator==(const CodeCosts&, const CodeCosts&) = default;
};

struct BufferSizes {
  Bytes l1{512 * 1024}, l0a{64 * 1024}, l0b{64 * 1024}, l0c{128 * 1024}, ub{192 * 1024}, bt{0}, fb{0};
  std::string from = "assumed";

  friend bool operator==(const BufferSizes&, const BufferSizes&) = default;
};

// Instructions that a pipe's queue holds before the scalar unit stalls.
struct QueueDepths {
  QueueDepths() { depth.fill(32); }
  u32& operator[](isa::PipeId p) { return depth[isa::index(p)]; }
  u32 operator[](isa::PipeId p) const { return depth[isa::index(p)]; }

  std::array<u32, isa::kPipeCount> depth;  // by PipeId; those of pipes without a queue mean nothing
  std::string from = "assumed";

  friend bool operator==(const QueueDepths&, const QueueDepths&) = default;
};

// Units of a kind that a core has; they share the queue of their pipe.
struct UnitCounts {
  u32 cube = 1, vector = 1, mte1 = 1;
  std::string from = "assumed";

  friend bool operator==(const UnitCounts&, const UnitCounts&) = default;
};

// What get_sys_cnt counts.
struct SystemCounter {
  Hertz frequency{50e6};
  std::string from = "assumed";

  friend bool operator==(const SystemCounter&, const SystemCounter&) = default;
};

// UB consists of single-ported banks of 32 B wide rows. A bank is in a group, address / 32 % groups, and in one of
// the regions of `region` bytes. A group reads one block and writes one block a cycle, a bank does only one of both.
struct UbBanks {
  static constexpr u32 kMaxGroups = 64;
  u32 groups = 0;  // 0: conflicts are not modelled
  Bytes region{64 * 1024};
  double read_write = 0;  // conflicts that a step counts whose results meet sources of the next one in a bank
  std::string from = "assumed";

  friend bool operator==(const UbBanks&, const UbBanks&) = default;
};

// What the units of a core compute in a cycle: the size of the cube and the lanes of the vector unit. Fractals and
// repeats, the units of the instructions, stay what they are.
struct CoreRates {
  u32 m = 16, n = 16, k = 16;  // rows of A, columns of B, and of f16 columns of A: of s8 twice as many, and so on
  u32 lanes = 128;             // of 16 bits; a repeat has 128
  std::string from = "assumed";

  friend bool operator==(const CoreRates&, const CoreRates&) = default;
};

// The cost lines of all classes of instructions. Those of copies to and from global memory are the port of the core, on
// top of which the memory system adds its own latency and contention.
using CostLines = std::array<CostLine, isa::kCostClasses.size()>;
CostLine default_line(isa::CostClass c);  // the law of the class, with its keys at their defaults
CostLines default_lines();

struct CoreConfig {
  BufferSizes buffers;
  CoreRates rates;
  UbBanks ub_banks;
  UnitCounts units;
  QueueDepths queues;
  u32 flags_per_pair = 8;                        // event ids of each ordered pair of pipes
  CostLines lines = default_lines();             // by isa::CostClass
  std::map<std::string, CostLine> instructions;  // "vexp" or "vexp.f16": more specific than the class
  ApiCosts api;
  CodeCosts code;
  SystemCounter sys_cnt;
  bool mask_waits = false;  // a vector instruction whose mask was set after the one before begins when that is done
  Bytes dma_unaligned{0};   // the most of a request of a row that does not begin at a block of 32 B; 0: a line
  u32 dma_requests = 128;   // requests of a pipe, of a line of L2 or less, that may be under way at once
  Bytes dma_chunk{4096};    // bytes that a copy asks the memory system for in one go; smaller is finer interleaving
  std::string from = "assumed";  // of all of these but the groups

  CostLine& line(isa::CostClass c) { return lines[isa::index(c)]; }
  const CostLine& line(isa::CostClass c) const { return lines[isa::index(c)]; }

  friend bool operator==(const CoreConfig&, const CoreConfig&) = default;
};

// The network between the cores and L2.
struct NocConfig {
  BytesPerCycle port_read{0};   // of each core, from L2; 0: no limit
  BytesPerCycle port_write{0};  // of each core, to L2; 0: no limit
  Cycles latency{0};            // of a request on its way to L2
  std::string from = "assumed";

  friend bool operator==(const NocConfig&, const NocConfig&) = default;
};

struct L2Config {
  Bytes size{192u << 20};
  Bytes line{512};
  u32 ways = 16;
  u32 slices = 24;
  u32 groups = 1;                  // of slices; lines go to the groups in turn, inside a group they are hashed
  Bytes group_region{0};           // inside which that turn is strict; 0: everywhere
  BytesPerCycle slice_read{128};   // of one slice
  BytesPerCycle slice_write{128};  // of one slice
  Bytes min_request{32};           // a smaller request takes a slice as long as one of this size
  Cycles atomic{0};                // that a line is busy with one atomic write
  u32 fetches = 32;                // misses and requests past L2 that a slice has under way at once
  Cycles hit_latency{120};         // from the slice back to the core
  std::string from = "assumed";

  friend bool operator==(const L2Config&, const L2Config&) = default;
};

struct HbmConfig {
  Bytes size{64ull << 30};
  u32 channels = 32;
  BytesPerSecond bandwidth{1.8e12};  // of the pins of all channels together
  Cycles latency{300};               // on top of L2, for a line that misses, its row open
  Bytes interleave{512};             // consecutive bytes on one channel
  u32 stacks = 1;                    // that share the channels
  Bytes stack_region{4096};          // consecutive bytes in one stack
  Bytes burst{32};                   // the least that a channel moves
  u32 banks = 16;                    // of a channel
  Bytes row{2048};                   // of a bank
  Seconds activate{0};               // opening a row
  Seconds precharge{0};              // closing another one first
  u32 write_batch = 1;               // writes that a channel collects before it turns round for them
  Seconds turn_around{0};            // from reads to writes, and back
  Seconds refresh_interval{244e-9};  // of a channel, from one bank to the next
  Seconds refresh_time{0};           // that a channel loses at each; 0: no refresh
  std::string from = "assumed";

  friend bool operator==(const HbmConfig&, const HbmConfig&) = default;
};

struct MemoryConfig {
  Hertz clock{0};  // of the network and L2, and so of their cycles and of those of copies from and to global memory; 0:
                   // that of the cores
  NocConfig noc{};
  L2Config l2;
  HbmConfig hbm;

  friend bool operator==(const MemoryConfig&, const MemoryConfig&) = default;
};

// Times of the task scheduler; the host pays its own.
struct SchedulerConfig {
  Seconds task_start{150e-9};     // a ready task until its first block is dispatched
  Seconds block_interval{0};      // at least, between two blocks that are given to cores
  Seconds mix_block_interval{0};  // the same after a block of a MIX kernel, which begins on several cores
  Seconds block_dispatch{50e-9};  // a block to an idle core until the core begins
  Seconds program_start{0};       // that core until the first instruction of a block: arguments, tiling
  Seconds first_start{0};         // before that, of a program that its core has not run before: its code is in no cache
  Seconds first_start_per_core{0};  // more of it for each AI core that the launch fills: all fetch the same lines
  Seconds task_completion{500e-9};  // the last block until the stream goes on
  Seconds cross_core_flag{0};       // between two cross-core flags that cores set, of whatever cores: the FFTS is one
  Seconds control{0};               // a task that only steers streams: event, notify, label, switch
  std::string from = "assumed";

  friend bool operator==(const SchedulerConfig&, const SchedulerConfig&) = default;
};

struct HostConfig {
  Seconds launch{3e-6};                // host time to enqueue a kernel
  Seconds enqueue{3e-6};               // host time to enqueue any other task
  Seconds synchronize{0};              // host time of a wait for the device, without the waiting
  Seconds copy_latency{10e-6};         // of one copy between host and device
  BytesPerSecond h2d_bandwidth{20e9};  // of pinned memory
  BytesPerSecond d2h_bandwidth{20e9};
  BytesPerSecond pageable_bandwidth{5e9};  // each way; copied once more by the host
  std::string from = "assumed";

  friend bool operator==(const HostConfig&, const HostConfig&) = default;
};

// How much of everything the task scheduler of a chip has.
struct LimitsConfig {
  u32 streams = 1024;
  u32 stream_depth = 2048;  // tasks that a stream holds
  u32 events = 65536;
  u32 notifies = 1024;
  u32 models = 1024;
  u32 labels = 65536;
  std::string from = "assumed";

  friend bool operator==(const LimitsConfig&, const LimitsConfig&) = default;
};

// The processors of the device that run AICPU tasks.
struct AicpuConfig {
  u32 threads = 4;
  Seconds dispatch{10e-6};        // of a task, before its function starts
  BytesPerSecond bandwidth{4e9};  // at which the function of one thread goes through its data
  std::string from = "assumed";

  friend bool operator==(const AicpuConfig&, const AicpuConfig&) = default;
};

// The engine that copies, fills and reduces inside the device. It also obeys the bandwidth of the memory.
struct SdmaConfig {
  BytesPerSecond bandwidth{1e14};  // of what it writes
  std::string from = "assumed";

  friend bool operator==(const SdmaConfig&, const SdmaConfig&) = default;
};

// Between devices: HCCS inside a group, each ordered pair with a link of its own; PCIe between the groups of a node and
// RoCE between nodes, one port of each for each device.
struct LinksConfig {
  u32 devices_per_node = 8;
  u32 hccs_group = 8;                   // devices that HCCS connects
  BytesPerSecond hccs_bandwidth{20e9};  // each way, of one link
  Seconds hccs_latency{2e-6};
  BytesPerSecond pcie_bandwidth{20e9};  // each way, of one port
  Seconds pcie_latency{5e-6};
  BytesPerSecond roce_bandwidth{12.5e9};  // each way, of one port
  Seconds roce_latency{5e-6};
  Seconds collective_start{10e-6};  // from a rank that reaches a collective to its first transfer
  Bytes collective_piece{1 << 20};  // longer transfers of a collective go in pieces of this size
  std::string from = "assumed";

  friend bool operator==(const LinksConfig&, const LinksConfig&) = default;
};

struct NumericsConfig {
  bool saturation = true;  // modes that the chip has
  bool inf_nan = true;
  isa::OverflowMode overflow_mode = isa::OverflowMode::inf_nan;  // the one it starts in
  isa::Precision precision = isa::Precision::high_performance;
  isa::Accumulation accumulation = isa::Accumulation::sequential;
  isa::MultiplyAdd multiply_add = isa::MultiplyAdd::once;
  isa::HalfSums half_sums = isa::HalfSums::instruction;
  isa::Hf32Ties hf32_ties = isa::Hf32Ties::even;
  isa::SubnormalResults subnormals = isa::SubnormalResults::kept;
  isa::MovedSpecials moved_specials = isa::MovedSpecials::ignored;
  std::string from = "assumed";

  friend bool operator==(const NumericsConfig&, const NumericsConfig&) = default;
};

// How far off an assumed number or group may be: factors of its times, and why these. Rates and depths of queues are
// divided by them.
struct AssumedRange {
  double low = 0.5;
  double high = 2;
  std::string reason;

  friend bool operator==(const AssumedRange&, const AssumedRange&) = default;
};

struct ChipConfig {
  std::string name;     // ascend-910b1
  std::string product;  // what it is sold as
  isa::Arch arch = isa::Arch::c220;
  Hertz clock{1.85e9};    // of the AI cores; a cycle everywhere is one of this clock
  u32 ai_cores = 24;      // joint cores, or cube cores (AIC) of the split form
  u32 vector_cores = 48;  // AIV of the split form, 0 on the joint form
  CoreConfig core;
  MemoryConfig memory;
  SchedulerConfig scheduler;
  LimitsConfig limits;
  AicpuConfig aicpu;
  SdmaConfig sdma;
  LinksConfig links;
  HostConfig host;
  NumericsConfig numerics;
  std::map<std::string, AssumedRange> ranges;  // by group, "core.queues", or key, "memory.noc.latency"
  std::string from = "assumed";                // of the clock and the counts

  friend bool operator==(const ChipConfig&, const ChipConfig&) = default;
};

// The same chip with all cycles those of its cores and of repeats: times and rates of the clock of its memory are
// converted, and what a repeat takes on another number of lanes.
ChipConfig in_core_cycles(ChipConfig chip);

// The cost line of one instruction form: the most specific of `core.instructions` ("vexp.f16", then "vexp"), else the
// line of its class. `type` is "" where the instruction has no type forms.
const CostLine& cost_line(const CoreConfig& core, isa::CostClass cost_class, std::string_view mnemonic,
                          std::string_view type);

}  // namespace vinci::config
