// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "isa/arch.h"

namespace vinci::isa {

// A class of instructions whose times are one cost line of a chip file.
struct CostClassRow {
  std::string_view path;  // of the line, below `core`: the name of the class
  std::string_view law;   // by which the time grows (sim/config/cost_laws.h), where the line names no other
  ArchSet archs;          // that have such instructions
  bool memory_clock;      // cycles of the line are those of the clock of the memory
  std::string_view doc;
};

// All of them. To add one, add a line.
inline constexpr auto kCostClasses = std::to_array<CostClassRow>({
    {"scalar.alu", "fixed", kAllArchs, false, "arithmetic, comparisons, branches, special registers"},
    {"scalar.load", "fixed", kAllArchs, false, "from memory into a register"},
    {"scalar.store", "fixed", kAllArchs, false, "from a register to memory"},
    {"scalar.sync", "fixed", kAllArchs, false, "issue of set_flag, wait_flag, pipe_barrier, wait_flag_dev"},
    {"scalar.cross_core", "fixed", kSplitArchs, false,
     "ffts_cross_core_sync (split core); the tail is the way to the waiting core"},
    {"cube", "rows", kAllArchs, false, "times of mad; a step is one 16 x 16 x 32-byte fractal product"},
    {"vector.unary", "repeats", kAllArchs, false, "one source: vabs, vrelu"},
    {"vector.binary", "repeats", kAllArchs, false, "two sources: vadd, vmul"},
    {"vector.scalar", "repeats", kAllArchs, false, "a source and a scalar: vadds, vmuls"},
    {"vector.dup", "repeats", kAllArchs, false, "vector_dup"},
    {"vector.convert", "repeats", kAllArchs, false, "vconv"},
    {"vector.compare", "repeats", kAllArchs, false, "vcmp, vcmpv, vcmpvs"},
    {"vector.select", "repeats", kAllArchs, false, "vsel"},
    {"vector.reduce", "repeats", kAllArchs, false, "vcadd, vcmax, vcgadd, vcpadd"},
    {"vector.transpose", "repeats", kAllArchs, false, "vtranspose, scatter_vnchwconv, col2img"},
    {"vector.gather", "repeats", kAllArchs, false, "vgather, vgatherb, vscatter, vreduce"},
    {"vector.sort", "repeats", kAllArchs, false, "vbitsort, vmrgsort4, proposals"},
    {"move.gm_to_ub", "port", kAllArchs, true, "global memory to UB, on top of the latency of the memory"},
    {"move.gm_to_l1", "port", kAllArchs, true, "global memory to L1, on top of the latency of the memory"},
    {"move.gm_to_l1_nd2nz", "pieces", kSplitArchs, true, "the same, rows into fractals"},
    {"move.ub_to_gm", "port", kAllArchs, true, "UB to global memory; writes are posted"},
    {"move.ub_to_ub", "rate", kAllArchs, false, "within UB"},
    {"move.ub_to_l1", "rate", kJointArchs, false, "UB to L1 (joint core)"},
    {"move.l1_to_ub", "rate", kJointArchs, false, "L1 to UB (joint core)"},
    {"move.l1_to_l0a", "rate", kAllArchs, false, "load2d into L0A"},
    {"move.l1_to_l0b", "rate", kAllArchs, false, "load2d into L0B"},
    {"move.l0c_to_ub", "rate", kJointArchs, false, "results of the cube to UB (joint core)"},
    {"move.ub_to_l0c", "rate", kJointArchs, false, "initial values of the cube from UB (joint core)"},
    {"move.l0c_to_gm", "port", kSplitArchs, true, "FIXPIPE, fractals as they are (split core); writes are posted"},
    {"move.l0c_to_gm_nz2nd", "port", kSplitArchs, true, "FIXPIPE, fractals into rows (split core); writes are posted"},
    {"move.l0c_to_l1", "rate", kSplitArchs, false, "FIXPIPE, fractals into L1 (split core)"},
    {"move.gm_to_l0a", "port", kAllArchs, true, "load2d from global memory into L0A"},
    {"move.gm_to_l0b", "port", kAllArchs, true, "load2d from global memory into L0B"},
    {"move.l1_to_gm", "port", kSplitArchs, true, "L1 to global memory (split core); writes are posted"},
    {"move.l1_to_bt", "rate", kSplitArchs, false, "L1 to the bias table (split core)"},
    {"move.l1_to_fb", "rate", kSplitArchs, false, "L1 to the parameters of FIXPIPE (split core)"},
    {"move.fill_l0", "steps", kAllArchs, false, "a constant into L0A or L0B; a step is a fractal"},
    {"move.fill_l1", "rate", kAllArchs, false, "a constant into L1"},
});

// One of kCostClasses, by its place there. Written as its path: "vector.unary"_cost, which compiles if there is one.
enum class CostClass : u8 {};
constexpr usize index(CostClass c) { return static_cast<usize>(c); }
constexpr const CostClassRow& row_of(CostClass c) { return kCostClasses[index(c)]; }
constexpr std::string_view name(CostClass c) { return row_of(c).path; }

constexpr std::optional<CostClass> cost_class(std::string_view path) {
  for (usize i = 0; i < kCostClasses.size(); ++i)
    if (kCostClasses[i].path == path) return static_cast<CostClass>(i);
  return std::nullopt;
}
inline namespace literals {
consteval CostClass operator""_cost(const char* path, usize length) {
  return cost_class(std::string_view(path, length)).value();
}
}  // namespace literals

// "vector" of "vector.unary"; of "cube" nothing.
constexpr std::string_view group_of(CostClass c) {
  const usize dot = name(c).find('.');
  return dot == std::string_view::npos ? std::string_view() : name(c).substr(0, dot);
}
// "unary" of "vector.unary", "cube" of "cube".
constexpr std::string_view key_of(CostClass c) {
  const usize dot = name(c).find('.');
  return dot == std::string_view::npos ? name(c) : name(c).substr(dot + 1);
}
constexpr bool is_vector(CostClass c) { return group_of(c) == "vector"; }

}  // namespace vinci::isa

namespace vinci {
using namespace isa::literals;  // for all layers
}
