// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

#include "tools/graph/passes/pass.h"
#include "tools/graph/passes/trans_ops.h"

namespace vinci::graph {
namespace {

using enum Stage;
using enum Level;
constexpr bool kExact = false, kRounds = true;

// Of passes that run in two stages.
constexpr std::string_view
    kCasts = "a Cast to the type that its operand has is removed, and what is between a Boolean and its second Cast",
    kSymmetry = "a TransposeD, TransData or Cast that undoes the one before it is removed with it";

constexpr auto kPasses = std::to_array<Pass>({
    {"InferShapePass", Prepare, O1, kExact, "types and shapes of what nodes make", infer_shape},
    {"DimensionComputePass", Prepare, O1, kExact, "Shape and Size of a known shape become constants",
     compute_dimension},
    {"ConstantFoldingPass", Prepare, O1, kExact, "a node of constants becomes a constant", fold_constant},
    {"ReplaceWithEmptyConstPass", Prepare, O1, kExact,
     "a node that makes no elements becomes a constant; Concat loses operands without elements", replace_empty},
    {"CondRemovePass", Prepare, O1, kExact, "If with a constant condition becomes its branch", remove_condition},
    {"LoopUnrollPass", Prepare, O1, kExact, "a loop with a known number of turns becomes its turns", unroll_loop},
    {"CondPass", Prepare, O1, kExact, "the condition of If and Case becomes an i32", convert_condition},
    {"IdentityPass", Prepare, O3, kExact, "Identity is removed", remove_identity},
    {"DropOutPass", Prepare, O3, kExact, "Dropout is removed, as in inference", remove_dropout},
    {"CastRemovePass", Prepare, O3, kExact, kCasts, remove_cast},
    {"UnchangedTransposeRemovePass", Prepare, O3, kExact,
     "a transpose that moves no element becomes a Reshape or nothing", remove_transpose},
    {"NoUseReshapeRemovePass", Prepare, O1, kExact, "a Reshape to the shape that it has is removed, chains become one",
     remove_reshape},
    {"UselessBinaryOpRemovePass", Prepare, O3, kExact, "x + 0, x - 0, x * 1 and x / 1 become x", remove_binary},
    {"PrunePass", Prepare, O3, kExact, "nodes that no output depends on are removed", nullptr, prune},

    {"QuantizedProductPass", OptimizeOriginalGraph, O3, kRounds,
     "a product between QuantizeLinear and DequantizeLinear becomes AscendQuant, a product of bytes, AscendDequant",
     nullptr, nullptr, nullptr, quantise_products},
    {"DecompositionPass", OptimizeOriginalGraph, O1, kRounds,
     "operators without a kernel become nodes that have one: Resize, transposed convolution, norms, quantisation",
     nullptr, nullptr, decompose},
    {"GatherToSliceFusionPass", OptimizeOriginalGraph, O3, kExact,
     "GatherV2 of constant positions that are equally far apart becomes StridedSliceV2", gather_to_slice},
    {"BroadcastRemovePass", OptimizeOriginalGraph, O3, kExact,
     "BroadcastTo that repeats nothing, or in front of a node that repeats its operands anyway, is removed; a Tile of "
     "axes "
     "of extent 1 is one",
     remove_broadcast},
    {"AABiasaddConvFusion", OptimizeOriginalGraph, O3, kRounds,
     "Conv2D and an Add of a constant for each channel become Conv2D with bias", fuse_conv_bias},
    {"ConvBatchnormFusionPass", OptimizeOriginalGraph, O3, kRounds,
     "Conv2D and BatchNorm become Conv2D with other weights and bias", fuse_conv_batchnorm},
    {"BatchNormBnInferFusionPass", OptimizeOriginalGraph, O1, kRounds,
     "BatchNorm of constants becomes x * scale + offset", infer_batchnorm},
    {"Globalavgpoolpass", OptimizeOriginalGraph, O1, kExact,
     "GlobalAveragePool and GlobalMaxPool become ReduceMean and ReduceMax", reduce_global_pool},
    {"LayerNormONNXFusionPass", OptimizeOriginalGraph, O3, kRounds,
     "the nodes of a layer normalisation become LayerNorm", fuse_layer_norm},
    {"TransOpSymmetryEliminationPass", OptimizeOriginalGraph, O3, kExact, kSymmetry, remove_symmetry},
    {"TransOpWithoutReshapeFusionPass", OptimizeOriginalGraph, O3, kExact, "a transpose of a transpose becomes one",
     fuse_transposes},
    {"ReshapeTransposeFusionPass", OptimizeOriginalGraph, O3, kExact,
     "a transpose that puts channels behind merged rows and columns becomes one of the map", transpose_before_reshape},
    {"GeluONNXFusionPass", OptimizeOriginalGraph, O3, kRounds, "the nodes of x * (1 + erf(x / sqrt 2)) / 2 become Gelu",
     fuse_gelu},
    {"GemmToMatmulFusionPass", OptimizeOriginalGraph, O1, kExact,
     "GEMM becomes BatchMatMulV2; alpha and beta become Mul", gemm_to_matmul},
    {"MatMulBiasAddFusionPass", OptimizeOriginalGraph, O3, kRounds,
     "BatchMatMulV2 and an Add of a constant vector become one with bias", fuse_matmul_bias},
    {"TransposeBatchMatMulFusionPass", OptimizeOriginalGraph, O3, kExact,
     "a transpose of the last two axes in front of a product becomes an attribute of the product",
     fuse_transpose_matmul},
    {"RealDiv2MulsFusionPass", OptimizeOriginalGraph, O3, kRounds, "x / c becomes x * (1 / c)", divide_by_constant},
    {"MatmulToFullyConnectionPass", OptimizeOriginalGraph, O3, kExact,
     "a product of a flattened map and constant weights becomes a convolution over the whole map", full_connection},

    {"InsertCastPass", RefineRunningPrecision, O1, kRounds, "types by --precision_mode, with Cast at the borders",
     nullptr, nullptr, nullptr, insert_casts},
    {"CastRemovePass", RefineRunningPrecision, O3, kExact, kCasts, remove_cast},

    {"WidenMapPass", RefineRunningFormat, O1, kExact, "a map of one axis becomes one of two axes", nullptr, nullptr,
     widen_map},
    {"FoldStridePass", RefineRunningFormat, O1, kExact,
     "positions of a map become channels where a window moves further than load3d can", nullptr, nullptr, fold_stride},
    {"UnrollWindowPass", RefineRunningFormat, O1, kExact,
     "padding and dilations of a convolution that load3d does not have become pieces of the map", nullptr, nullptr,
     unroll_window},
    {"GroupConv2DFusionPass", RefineRunningFormat, O1, kExact,
     "groups of a convolution that share blocks of 16 channels become one, with weights of zero between them", nullptr,
     nullptr, regroup_convolution},
    {"TransposeInsertPass", RefineRunningFormat, O1, kExact,
     "the axes of reductions and of Softmax become the last ones, by transposes", nullptr, nullptr, move_axes_last},
    {"AlignColumnsPass", RefineRunningFormat, O1, kExact,
     "joint core: a product by constant weights whose rows do not fill blocks is padded and cut", nullptr, nullptr,
     align_columns},
    {"AlignProductPass", RefineRunningFormat, O1, kRounds,
     "a product is of rows by columns; joint core: rows that do not fill blocks are filled, and the result is cut",
     nullptr, nullptr, align_product},
    {"FillRowsPass", RefineRunningFormat, O3, kExact,
     "joint core: many rows of Softmax, of reductions and of gathers that do not fill blocks are filled", nullptr,
     nullptr, fill_rows},
    {"TransposeByBlocksPass", RefineRunningFormat, O3, kExact,
     "joint core: a transpose of matrices becomes one of a map, whose blocks of 16 channels move", nullptr, nullptr,
     transpose_by_blocks},
    {"BroadcastConstPass", RefineRunningFormat, O3, kExact,
     "joint core: a constant that an element-wise node repeats over rows that fill no blocks is written out", nullptr,
     nullptr, write_out_constants},
    {"TransDataInsertPass", RefineRunningFormat, O1, kExact, "formats from the kernels, with TransData where they meet",
     nullptr, nullptr, nullptr, select_formats},

    {"TransOpSymmetryEliminationPass", Optimize1, O3, kExact, kSymmetry, remove_symmetry},
    {"RemoveSameConstPass", Optimize1, O3, kExact, "constants with equal type, shape and bytes become one", nullptr,
     remove_same_constants},
    {"CommonSubexpressionEliminationPass", Optimize1, O3, kExact,
     "nodes of one type with equal inputs and attributes become one; convolutions and products stay", nullptr,
     eliminate_common_subexpressions},

    {"TbeConvDequantFusionPass", UbFusion, O1, kExact,
     "AscendDequant and AscendRequant become part of the product or convolution of bytes before them", nullptr, nullptr,
     fuse_dequantisation},
    {"TbeConv2DEltwiseFusionPass", UbFusion, O3, kExact,
     "element-wise nodes behind a convolution are computed before it stores (split core: Relu, by FIXPIPE)", nullptr,
     nullptr, fuse_conv_elementwise},
    {"TbeMatmulElemwiseFusionPass", UbFusion, O3, kExact,
     "element-wise nodes behind a product are computed before it stores (split core: Relu, by FIXPIPE)", nullptr,
     nullptr, fuse_matmul_elementwise},
    {"MatmulConfusiontransposeUbFusion", UbFusion, O3, kExact,
     "joint core: a transpose behind a product that moves whole blocks is done where the product stores", nullptr,
     nullptr, fuse_matmul_transpose},
    {"TbeEltwiseFusionPass", UbFusion, O3, kExact, "chains of element-wise nodes become one pass over memory", nullptr,
     nullptr, fuse_elementwise},
});

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

}  // namespace vinci::graph
