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
// FIXPIPE; on the joint core with element-wise nodes, and a transpose that moves whole blocks.
namespace vinci::graph {
namespace {

const Node& product_of(const Group& group) { return *group.nodes()[0]; }

u64 product(std::span<const i64> dims) { return elements_of(dims); }
std::span<const i64> batch_axes(const Shape& s) { return std::span(s.dims()).first(s.rank() < 2 ? 0 : s.rank() - 2); }

// None where operands are repeated in a way that the GEMM does not know.
std::optional<gen::GemmProblem> problem_of(const Group& group) {
  const Node& node = product_of(group);
  const Shape &a = group.resolve(node.input(0))->shape, &b = group.resolve(node.input(1))->shape;
  gen::GemmProblem p{
      .b_transposed = b.rank() > 1 && node.integer("adj_x2") != 0, .bias = node.input(2) != nullptr, .relu = false};
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
    if (v.type != DataType::f16) return "an operand is not f16";
    if (v.format != isa::Format::ND) return "an operand is not in ND";
    if (v.constant && v.shape.elements() == 1) return "an operand is a constant number";
  }
  if (node.integer("adj_x1") != 0) return "its first operand is transposed";
  const Value* const bias = group.resolve(node.input(2));
  const std::optional<gen::GemmProblem> p = problem_of(group);
  if (!p) return "its operands are repeated along axes that do not follow each other";
  if (bias != nullptr && (bias->type != DataType::f32 || bias->shape.elements() != p->n || p->n == 1))
    return "its bias is no f32 vector with a number for each column";
  if (!is_joint(chip) && group.nodes().size() > 1 && !only_relu(group)) return "FIXPIPE applies no epilogue but Relu";
  if (group.outputs()[0]->type != DataType::f16) return "its result is not f16";
  if (is_joint(chip) && (p->k % 16 != 0 || p->n % 16 != 0))
    return "a joint core copies whole blocks, and k or n is no multiple of 16";
  return is_joint(chip) ? epilogue_refuses(group, *p, chip) : "";
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
  if (is_joint(chip)) {
    add_epilogue(p, group, chip);
  } else {
    p.relu = only_relu(group);
  }
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
  Footprint f{.l1 = u64{t.l1_slots} * (t.tile_m + t.tile_n) * t.l1_k * 2,
              .l0a = u64{t.l0_slots} * t.tile_m * t.l0_k * 2,
              .l0b = u64{t.l0_slots} * t.tile_n * t.l0_k * 2,
              .l0c = u64{t.l0c_slots} * t.tile_m * t.tile_n * 4};
  if (is_joint(chip)) {
    f.ub = u64{t.ub_slots} * t.tile_m * t.tile_n * 2 + u64{t.stage_slots} * t.stage_bytes + gen::gemm_bias_bytes(p);
    if (p.epilogue != nullptr) f.ub += gen::epilogue_bytes(*p.epilogue, t.tile_m, t.chunk);
  } else {
    f.l1 += gen::gemm_bias_bytes(p);
  }
  return f;
}

KernelProgram matmul_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const gen::GemmProblem p = problem_on(group, chip);
  const gen::GemmTiling t = gemm_tiling(p, chip, tiling);
  const auto argument = [&](usize operand) {
    const Value* const v = group.resolve(product_of(group).input(operand));
    return static_cast<u32>(std::ranges::find(group.inputs(), v) - group.inputs().begin());
  };
  const gen::GemmArguments arguments{
      .a = argument(0), .b = argument(1), .c = static_cast<u32>(group.inputs().size()), .bias = argument(2)};
  return {.program = gen::gemm_program(p, t, {.a = p.k, .b = p.b_transposed ? p.k : p.n, .c = p.n}, chip, arguments),
          .type = is_joint(chip) ? task::KernelType::AI_CORE : task::KernelType::AIC_ONLY,
          .blocks = t.blocks};
}

}  // namespace

const Kernel kMatmulKernel{"matmul", matmul_refuses, matmul_formats, matmul_tilings, matmul_footprint, matmul_build};

}  // namespace vinci::graph
