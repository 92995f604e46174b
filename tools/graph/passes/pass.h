// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string_view>

#include "isa/base/enums.h"
#include "sim/config/chip_config.h"
#include "tools/graph/ir/graph.h"
#include "tools/graph/passes/notes.h"

namespace vinci::graph {

// Stages of the compilation, in order, with the names of GE's dumps.
enum class Stage : u8 {
  Prepare,
  OptimizeOriginalGraph,
  RefineRunningPrecision,
  RefineRunningFormat,
  Optimize1,
  UbFusion
};
inline constexpr auto kStageNames = enum_names<Stage>;

// The lowest optimisation level (--oo_level) at which a pass runs. O1 is what makes shapes known and what kernels need.
enum class Level : u8 { O1, O3 };

enum class PrecisionMode : u8 { force_fp16, must_keep_origin_dtype, allow_fp32_to_fp16 };

// What a graph is compiled for.
struct Target {
  const config::ChipConfig* chip = nullptr;  // null: no pass that asks for kernels changes anything
  PrecisionMode precision = PrecisionMode::force_fp16;
  bool hf32 = false;    // products of f32 round their operands to HF32
  bool branch = false;  // the graph is a branch of a node, not the network
};

struct Pass {
  std::string_view name;  // in switch files; GE's where GE has the pass. A pass of two stages is there twice
  Stage stage;
  Level level;
  bool changes_values;  // bits of results may differ; without it, they are equal
  std::string_view doc;
  // One of these. Neighbours in the list that look at nodes share one walk over the graph: each node is seen by all of
  // them before the next one, so that shapes and constants reach those behind it. A visit may insert nodes in front of
  // the node and erase it and nodes in front of it.
  Visit (*node)(Graph& graph, Node& node) = nullptr;
  Effect (*graph)(Graph& graph) = nullptr;
  // Or one of these, which depend on what is compiled for.
  Visit (*node_for)(Graph& graph, Node& node, const Target& target) = nullptr;
  Effect (*graph_for)(Graph& graph, const Target& target) = nullptr;
};

// All passes in the order in which they run.
std::span<const Pass> all_passes();

// The parts of the list
// -------------------------------------------------------------------------------------------------

// What several passes do: all uses of the node's only output use `value`, and the node is erased, unless both have
// names that outputs of the network must keep.
Visit bypass(Graph& graph, Node& node, Value* value);

// Prepare
Visit infer_shape(Graph& graph, Node& node);
Visit compute_dimension(Graph& graph, Node& node);
Visit fold_constant(Graph& graph, Node& node);
Visit replace_empty(Graph& graph, Node& node);
Visit remove_condition(Graph& graph, Node& node);
Visit unroll_loop(Graph& graph, Node& node);
Visit remove_identity(Graph& graph, Node& node);
Visit remove_dropout(Graph& graph, Node& node);
Visit remove_reshape(Graph& graph, Node& node);
Visit remove_transpose(Graph& graph, Node& node);
Visit remove_cast(Graph& graph, Node& node);
Visit remove_binary(Graph& graph, Node& node);
Effect prune(Graph& graph);

// OptimizeOriginalGraph
Visit fuse_conv_bias(Graph& graph, Node& node);
Visit fuse_conv_batchnorm(Graph& graph, Node& node);
Visit infer_batchnorm(Graph& graph, Node& node);
Visit reduce_global_pool(Graph& graph, Node& node);
Visit fuse_layer_norm(Graph& graph, Node& node);
Visit fuse_gelu(Graph& graph, Node& node);
Visit gemm_to_matmul(Graph& graph, Node& node);
Visit fuse_matmul_bias(Graph& graph, Node& node);
Visit divide_by_constant(Graph& graph, Node& node);
Visit fuse_transposes(Graph& graph, Node& node);
Visit fuse_transpose_matmul(Graph& graph, Node& node);
Visit gather_to_slice(Graph& graph, Node& node);
Visit remove_broadcast(Graph& graph, Node& node);
Visit transpose_before_reshape(Graph& graph, Node& node);

Effect quantise_products(Graph& graph, const Target& target);
Visit decompose(Graph& graph, Node& node, const Target& target);
Visit full_connection(Graph& graph, Node& node);

// RefineRunningPrecision
Effect insert_casts(Graph& graph, const Target& target);

// RefineRunningFormat
Visit widen_map(Graph& graph, Node& node, const Target& target);
Visit fold_stride(Graph& graph, Node& node, const Target& target);
Visit unroll_window(Graph& graph, Node& node, const Target& target);
Visit regroup_convolution(Graph& graph, Node& node, const Target& target);
Visit move_axes_last(Graph& graph, Node& node, const Target& target);
Visit align_product(Graph& graph, Node& node, const Target& target);
Visit align_columns(Graph& graph, Node& node, const Target& target);
Visit fill_rows(Graph& graph, Node& node, const Target& target);
Visit write_out_constants(Graph& graph, Node& node, const Target& target);
Effect select_formats(Graph& graph, const Target& target);

// UbFusion
Visit fuse_conv_elementwise(Graph& graph, Node& node, const Target& target);
Visit fuse_matmul_transpose(Graph& graph, Node& node, const Target& target);
Visit fuse_matmul_elementwise(Graph& graph, Node& node, const Target& target);
Visit fuse_dequantisation(Graph& graph, Node& node, const Target& target);
Visit fuse_elementwise(Graph& graph, Node& node, const Target& target);

// Optimize1
Visit remove_symmetry(Graph& graph, Node& node);
Visit convert_condition(Graph& graph, Node& node);
Effect remove_same_constants(Graph& graph);
Effect eliminate_common_subexpressions(Graph& graph);

}  // namespace vinci::graph
