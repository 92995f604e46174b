// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "tools/gen/gemm_program.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/matmul_epilogue.h"

// Products of matrices in ND, by the GEMM of tools/gen: batches, B transposed, a bias; on the split core with Relu, by
// FIXPIPE; on the joint core with element-wise nodes, and a transpose that moves whole blocks. Operands are f16, on the
// split core bf16 or f32, or bytes with B transposed, whose sums are i32: AscendDequant behind them makes f16 of these,
// AscendRequant bytes (split core), on their way out of L0C.
namespace vinci::graph {
namespace {

const Node& product_of(const Group& group) { return *group.nodes()[0]; }

u64 product(std::span<const i64> dims) { return elements_of(dims); }
std::span<const i64> batch_axes(const Shape& s) { return std::span(s.dims()).first(s.rank() < 2 ? 0 : s.rank() - 2); }

// What the cube multiplies; none where it has no such product.
std::optional<gen::GemmInput> input_of(DataType a, DataType b) {
  using enum DataType;
  if (b == i8)
    return a == i8 ? std::optional(gen::GemmInput::s8) : a == u8 ? std::optional(gen::GemmInput::u8s8) : std::nullopt;
  if (a != b) return std::nullopt;
  return a == f16    ? std::optional(gen::GemmInput::f16)
         : a == bf16 ? std::optional(gen::GemmInput::bf16)
         : a == f32  ? std::optional(gen::GemmInput::f32)
                     : std::nullopt;
}

// The node behind the product that scales its sums; null where there is none.
const Node* scaling_of(const Group& group) {
  if (group.nodes().size() < 2) return nullptr;
  const Node* const node = group.nodes()[1];
  return node->type == "AscendDequant" || node->type == "AscendRequant" ? node : nullptr;
}

// None where operands are repeated in a way that the GEMM does not know.
std::optional<gen::GemmProblem> problem_of(const Group& group) {
  const Node& node = product_of(group);
  const Shape &a = group.resolve(node.input(0))->shape, &b = group.resolve(node.input(1))->shape;
  gen::GemmProblem p{.b_transposed = b.rank() > 1 && node.integer("adj_x2") != 0,
                     .bias = node.input(2) != nullptr,
                     .relu = group.nodes().back()->type == "Relu",
                     .input = input_of(group.resolve(node.input(0))->type, group.resolve(node.input(1))->type)
                                  .value_or(gen::GemmInput::f16),
                     .hf32 = node.integer("enable_hf32") != 0};
  const DataType result = group.outputs()[0]->type;
  const Node* const scaling = scaling_of(group);
  p.scaled = scaling != nullptr;
  p.relu = p.relu || (p.scaled && scaling->integer("relu_flag") != 0);
  p.out_f32 = info(result).bytes == 4;
  p.out_b8 = info(result).bytes == 1;
  p.k = static_cast<u64>(a[a.rank() - 1]);
  p.m = a.rank() > 1 ? static_cast<u64>(a[a.rank() - 2]) : 1;
  p.n = b.rank() < 2 ? 1 : static_cast<u64>(b[b.rank() - (p.b_transposed ? 2 : 1)]);
  const std::span<const i64> batch_a = batch_axes(a), batch_b = batch_axes(b);
  // One matrix B: the matrices of A are one with more rows.
  if (product(batch_b) == 1) {
    p.m *= product(batch_a);
    return p;
  }
  const Shape& out = node.output()->shape;
  const std::span<const i64> batch =
      std::span(out.dims()).first(out.rank() - (a.rank() > 1 ? 1 : 0) - (b.rank() > 1 ? 1 : 0));
  const auto of_a = matrices_of(batch_a, batch), of_b = matrices_of(batch_b, batch);
  if (!of_a || !of_b) return std::nullopt;
  p.matrices = product(batch);
  p.batch_a = *of_a;
  p.batch_b = *of_b;
  return p;
}

std::string matmul_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = product_of(group);
  if (node.type != "BatchMatMulV2") return "it does not begin with BatchMatMulV2";
  for (usize i = 0; i < 2; ++i) {
    const Value& v = *group.resolve(node.input(i));
    if (!v.shape.known() || v.shape.rank() == 0 || v.shape.elements() == 0) return "an operand has no known extents";
    if (v.format != isa::Format::ND) return "an operand is not in ND";
  }
  if (node.integer("adj_x1") != 0) return "its first operand is transposed";
  const Value &a = *group.resolve(node.input(0)), &b = *group.resolve(node.input(1));
  const std::optional<gen::GemmInput> input = input_of(a.type, b.type);
  if (!input) return "the cube has no product of these types";
  const bool whole = gen::is_integer(*input);
  if (is_joint(chip) && (*input == gen::GemmInput::bf16 || *input == gen::GemmInput::f32))
    return "the cube of a joint core multiplies f16 and bytes alone";
  if (whole && (b.shape.rank() < 2 || node.integer("adj_x2") == 0)) return "bytes need a second operand by rows";
  const Value* const bias = group.resolve(node.input(2));
  const std::optional<gen::GemmProblem> p = problem_of(group);
  if (!p) return "its operands are repeated along axes that do not follow each other";
  const DataType sums = whole ? DataType::i32 : DataType::f32;
  if (bias != nullptr && (bias->type != sums || bias->shape.elements() != p->n || p->n == 1))
    return "its bias is no vector of the type of the sums with a number for each column";
  const Node* const scaling = scaling_of(group);
  const usize used = scaling == nullptr ? 1 : 2;
  const bool relu = group.nodes().size() == used + 1 && group.nodes().back()->type == "Relu";
  const bool floats_on_joint = is_joint(chip) && scaling == nullptr;
  if (!floats_on_joint && group.nodes().size() != used && !relu) return "its epilogue is more than Relu";
  if (floats_on_joint && whole && group.nodes().size() > 1)
    return "only products of f16 have an epilogue on a joint core";
  const DataType result = group.outputs()[0]->type;
  if (scaling != nullptr) {
    const Value* const factors = group.resolve(scaling->input(1));
    if (!whole || factors->type != DataType::u64 || factors->shape.elements() != p->n || p->n == 1)
      return "it has no quantisation parameter for each column";
    if (result != DataType::f16 && is_joint(chip)) return "a joint core stores f16 of scaled sums alone";
    if (relu && result != DataType::f16) return "AscendRequant has a Relu of its own";
  } else if (result != (whole ? DataType::i32 : a.type)) {
    return "its result has another type than its operands";
  }
  const u64 block = p->k_unit();
  if (is_joint(chip) && (p->k % block != 0 || p->n % kC0 != 0))
    return "a joint core copies whole blocks, which k or n do not fill";
  return floats_on_joint ? epilogue_refuses(group, *p, chip) : "";
}

Formats matmul_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND), .outputs = {isa::Format::ND}};
}

// Numbers of a tiling, by name.
struct Field {
  std::string_view name;
  u32 gen::GemmTiling::*member;
};
constexpr std::array kFields{
    Field{"m", &gen::GemmTiling::tile_m},           Field{"n", &gen::GemmTiling::tile_n},
    Field{"l1_k", &gen::GemmTiling::l1_k},          Field{"l0_k", &gen::GemmTiling::l0_k},
    Field{"l1", &gen::GemmTiling::l1_slots},        Field{"l0", &gen::GemmTiling::l0_slots},
    Field{"l0c", &gen::GemmTiling::l0c_slots},      Field{"ub", &gen::GemmTiling::ub_slots},
    Field{"stages", &gen::GemmTiling::stage_slots}, Field{"stage", &gen::GemmTiling::stage_bytes},
    Field{"strip", &gen::GemmTiling::strip},        Field{"chunk", &gen::GemmTiling::chunk}};

// The problem with what is behind the product.
gen::GemmProblem problem_on(const Group& group, const config::ChipConfig& chip) {
  gen::GemmProblem p = *problem_of(group);
  if (!is_joint(chip) || p.scaled) return p;
  p.relu = false;
  add_epilogue(p, group, chip);
  return p;
}

std::vector<Tiling> matmul_tilings(const Group& group, const config::ChipConfig& chip) {
  constexpr usize kMost = 8;
  std::vector<Tiling> out;
  for (const gen::GemmTiling& t : gen::choose_tilings(problem_on(group, chip), chip, kMost)) {
    Tiling& tiling = out.emplace_back();
    for (const Field& f : kFields) {
      if (t.*f.member > 1) tiling[std::string(f.name)] = t.*f.member;
    }
  }
  return out;
}

gen::GemmTiling gemm_tiling(const gen::GemmProblem& p, const config::ChipConfig& chip, const Tiling& tiling) {
  gen::GemmTiling t;
  for (const Field& f : kFields) {
    const auto at = tiling.find(f.name);
    t.*f.member = at == tiling.end() ? 1 : static_cast<u32>(at->second);
  }
  t.m_tiles = static_cast<u32>(ceil_div<u64>(p.m, t.tile_m));
  t.n_tiles = static_cast<u32>(ceil_div<u64>(p.n, t.tile_n));
  t.matrices = static_cast<u32>(p.matrices);
  t.blocks = static_cast<u32>(std::min<u64>(t.tiles(), chip.ai_cores));
  if (!is_joint(chip)) t.stage_bytes = 0;
  return t;
}

Footprint matmul_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const gen::GemmProblem p = problem_on(group, chip);
  const gen::GemmTiling t = gemm_tiling(p, chip, tiling);
  Footprint f{.l1 = u64{t.l1_slots} * (t.tile_m + t.tile_n) * t.l1_k * p.in_bytes(),
              .l0a = u64{t.l0_slots} * t.tile_m * t.l0_k * p.in_bytes(),
              .l0b = u64{t.l0_slots} * t.tile_n * t.l0_k * p.in_bytes(),
              .l0c = u64{t.l0c_slots} * t.tile_m * t.tile_n * 4};
  if (is_joint(chip)) {
    f.ub = u64{t.ub_slots} * t.tile_m * t.tile_n * p.out_bytes() + u64{t.stage_slots} * t.stage_bytes +
           gen::gemm_table_bytes(p);
    if (p.epilogue != nullptr) f.ub += gen::epilogue_bytes(*p.epilogue, t.tile_m, t.chunk);
  } else {
    f.l1 += gen::gemm_table_bytes(p);
  }
  return f;
}

KernelProgram matmul_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const gen::GemmProblem p = problem_on(group, chip);
  const gen::GemmTiling t = gemm_tiling(p, chip, tiling);
  const auto number = [&](const Value* operand) {
    const Value* const v = group.resolve(operand);
    return static_cast<u32>(std::ranges::find(group.inputs(), v) - group.inputs().begin());
  };
  const Node& product = product_of(group);
  const Node* const scaling = scaling_of(group);
  const gen::GemmArguments arguments{.a = number(product.input(0)),
                                     .b = number(product.input(1)),
                                     .c = static_cast<u32>(group.inputs().size()),
                                     .bias = number(product.input(2)),
                                     .factors = scaling == nullptr ? 0 : number(scaling->input(1))};
  return {.program = gen::gemm_program(p, t, {.a = p.k, .b = p.b_transposed ? p.k : p.n, .c = p.n}, chip, arguments),
          .type = is_joint(chip) ? task::KernelType::AI_CORE : task::KernelType::AIC_ONLY,
          .blocks = t.blocks};
}

}  // namespace

const Kernel kMatmulKernel{"matmul", matmul_refuses, matmul_formats, matmul_tilings, matmul_footprint, matmul_build};

}  // namespace vinci::graph
