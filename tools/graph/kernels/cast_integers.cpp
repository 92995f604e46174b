// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/block_transpose.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"

// Casts from and to i32 and i64, in one pass over memory; joint cores cast to i64 only. Those between floats and bytes
// are element-wise nodes.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kCastGrain = 128;   // elements; tiles are multiples
constexpr usize kMostTypes = 4;   // of a way, with both ends
constexpr u64 kBetweenBytes = 4;  // bytes of an element between two instructions

// The types through which numbers go, one instruction for each step. None of them rounds twice: f16 has no number as
// large as those that f32 rounds. A Boolean says whether a number is not 0.
struct CastWay {
  std::array<DataType, kMostTypes> types;
  usize steps;
  bool split_cores = false;  // joint ones have no integers of 64 bits in UB, but make them of s32
};
constexpr auto kCastWays = [] {
  using enum DataType;
  return std::to_array<CastWay>({
      {{f32, i32}, 1},
      {{f16, i32}, 1},
      {{i32, f32}, 1},
      {{i32, f32, f16}, 2},
      {{i32, f32, boolean}, 2},
      {{u8, f16, i32}, 2},
      {{i8, f16, i32}, 2},
      {{boolean, f16, i32}, 2},
      {{f32, i64}, 1, true},
      {{f16, i32, i64}, 2},
      {{i64, f32}, 1, true},
      {{i64, f32, f16}, 2, true},
      {{i64, f32, boolean}, 2, true},
      {{i32, i64}, 1},
      {{i64, i32}, 1, true},
      {{u8, f16, i32, i64}, 3},
      {{i8, f16, i32, i64}, 3},
      {{boolean, f16, i32, i64}, 3},
  });
}();

const CastWay* cast_way(const Node& node, const config::ChipConfig& chip) {
  const auto at = std::ranges::find_if(kCastWays, [&](const CastWay& w) {
    return w.types[0] == node.input(0)->type && w.types[w.steps] == node.output()->type;
  });
  return at == kCastWays.end() || (at->split_cores && is_joint(chip)) ? nullptr : &*at;
}

std::string cast_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (node.type != "Cast") return "it is no Cast";
  if (group.nodes().size() != 1 || group.inputs().size() != 1) return "it is more than a Cast of a tensor";
  const Value &in = *node.input(0), &out = *node.output();
  if (cast_way(node, chip) == nullptr)
    return fmt::format("no vector instructions from {} to {}", info(in.type).name, info(out.type).name);
  if (!out.shape.known() || out.shape.elements() == 0) return "it has no elements, or their number is not known";
  return "";
}

Formats cast_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::ND}, .outputs = {isa::Format::ND}};
}

// Bytes of UB for each element: two slots of both tensors, and numbers between steps in two buffers.
u64 cast_element_bytes(const Node& node) {
  return 2 * (info(node.input(0)->type).bytes + info(node.output()->type).bytes) + 2 * kBetweenBytes;
}
constexpr u64 kCastRoom = kNumberBytes + kWidenBytes;

std::vector<Tiling> cast_tilings(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  const u64 room = (chip.core.buffers.ub - kCastRoom) / cast_element_bytes(node) / kCastGrain * kCastGrain;
  const u64 share = ceil_div<u64>(node.output()->shape.elements(), vector_cores(chip));
  std::vector<Tiling> out;
  for (const u64 parts : {u64{1}, u64{2}, u64{4}}) {
    const auto tile = static_cast<i64>(std::clamp(align_up<u64>(ceil_div(share, parts), kCastGrain), kCastGrain, room));
    if (out.empty() || out.back().at("tile") != tile) out.push_back({{"tile", tile}});
  }
  return out;
}

Footprint cast_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = kCastRoom + static_cast<u64>(tiling.at("tile")) * cast_element_bytes(group.node())};
}

// One step for all elements of a tile.
class CastWriter {
 public:
  CastWriter(isa::ProgramBuilder& p, u64 elements, u64 scratch) : p_(p), elements_(elements), scratch_(scratch) {}

  // `spare`: a buffer of 4 bytes for each element that is not `src`.
  void step(DataType from, DataType to, u64 dst, u64 src, u64 spare) {
    using enum DataType;
    if (is_byte(from)) return widen_bytes(p_, from, dst, src, elements_);
    if (to == boolean) return whether_not_zero(dst, src, spare);
    if (from == i32 && to == i64 && p_.arch() != isa::Arch::c220) return widen(dst, src, spare);
    if (from == i64 || to == i64)
      return each(from, to,
                  from == f32   ? "f322s64z"
                  : from == i32 ? "s322s64"
                  : to == f32   ? "s642f32r"
                                : "s642s32",
                  dst, src);
    each(from, to,
         from == i32   ? "s322f32"
         : from == f16 ? (to == i32 ? "f162s32z" : "f162f32")
                       : (to == i32 ? "f322s32z" : "f322f16"),
         dst, src);
  }

 private:
  // Lanes are those of the wider type.
  void each(DataType from, DataType to, std::string_view cast, u64 dst, u64 src) {
    const u64 of_from = info(from).bytes, of_to = info(to).bytes, lanes = 256 / std::max(of_from, of_to);
    constexpr u64 kMostRepeats = 255, kBlock = 32;
    for (u64 e = 0; e < elements_; e += kMostRepeats * lanes) {
      const u64 repeats = std::min(kMostRepeats, (elements_ - e) / lanes);
      p_.call(fmt::format("vconv_{}", cast),
              {dst + e * of_to, src + e * of_from, repeats, 1, 1, lanes * of_to / kBlock, lanes * of_from / kBlock});
    }
    p_.pipe_barrier(isa::PipeId::V);
  }
  // Of whole numbers of f32, which are overwritten.
  void whether_not_zero(u64 dst, u64 src, u64 spare) {
    VectorWriter w(p_, {.wide = true, .first = 0, .repeats = elements_ / kLanes32}, scratch_, 0);
    w.unary("vabs", src, src);
    w.scalar("vmins", src, src, 1);
    w.to_f16(spare, src);
    narrow_bytes(p_, DataType::boolean, dst, spare, elements_);
  }

  // On a joint core; the numbers stay.
  void widen(u64 dst, u64 src, u64 spare) {
    VectorWriter w(p_, {.wide = true, .first = 0, .repeats = elements_ / kLanes32}, scratch_, 0);
    w.convert("vconv_s322f32", spare, src);
    w.scalar("vmins", spare, spare, 0);
    w.scalar("vmaxs", spare, spare, -1);
    w.convert("vconv_f322s32z", spare, spare);
    widen_to_s64(p_, dst, src, elements_, scratch_ + kNumberBytes, spare);
  }

  isa::ProgramBuilder& p_;
  u64 elements_, scratch_;
};

KernelProgram cast_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Node& node = group.node();
  const CastWay& way = *cast_way(node, chip);
  const DataType from = node.input(0)->type, to = node.output()->type;
  const u64 all = node.output()->shape.elements(), tile = static_cast<u64>(tiling.at("tile"));
  const u64 tiles = ceil_div(all, tile), last = all - (tiles - 1) * tile;
  const u64 in_at = 0, out_at = 2 * tile * info(from).bytes, between = out_at + 2 * tile * info(to).bytes;
  isa::ProgramBuilder p(node.name, chip.arch);
  Reg in, out, size, blocks, at, address;
  gen::TilePipeline pipeline{.tiles = tiles};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    in = p.arg("in");
    out = p.arg("out");
    for (Reg* const r : {&size, &blocks, &at, &address})
      *r = p.reg("t");
    // Elements behind the last one are cast, too.
    in_repeats(p, true, 2 * tile * info(from).bytes / 4,
               [&](u64 e, u64 n) { p.vector_dup(Type::s32, in_at + e * 4, 0, n, 1, 1, 8, 8); });
    if (from == DataType::i64 && to == DataType::i32) {  // the low bits
      p.get_ctrl(at);
      p.or_(at, at, isa::ctrl::kWrapCasts);
      p.set_ctrl(at);
    }
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg number) {
    p.mov(size, tile);
    if (last != tile) p.if_(isa::Value(number) == tiles - 1, [&] { p.mov(size, last); });
    p.mul(at, number, tile);
  };
  // address = where the tile is in the tensor, blocks = how many it has.
  const auto piece = [&](Reg pointer, DataType type) {
    p.set(address, at * info(type).bytes + pointer);
    p.set(blocks, (size * info(type).bytes + 31) >> 5);
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    piece(in, from);
    p.copy_gm_to_ubuf(in_at + slot * tile * info(from).bytes, address, 0, 1, blocks, 0, 0);
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    CastWriter writer(p, tile, between + 2 * tile * kBetweenBytes);
    u64 src = in_at + slot * tile * info(from).bytes;
    for (usize i = 0; i < way.steps; ++i) {
      const u64 spare = between + i % 2 * tile * kBetweenBytes;
      const u64 dst = i + 1 == way.steps ? out_at + slot * tile * info(to).bytes : spare;
      writer.step(way.types[i], way.types[i + 1], dst, src, spare);
      src = dst;
    }
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    piece(out, to);
    p.copy_ubuf_to_gm(address, out_at + slot * tile * info(to).bytes, 0, 1, blocks, 0, 0);
  };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles, chip);
}

}  // namespace

const Kernel kCastIntegersKernel{"cast_integers", cast_refuses, cast_formats, cast_tilings, cast_footprint, cast_build};

}  // namespace vinci::graph
