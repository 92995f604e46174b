// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"
#include "tools/graph/ops/window.h"

// The largest element of each window of an NC1HWC0 map of f16, or on a split core of f32, or their mean. A tile is some
// rows of the result of one block of channels; the rows of the map under it are in UB with their padding, which is
// minus infinity or zero. Each point of the window is one instruction over a row, which steps over the map by blocks of
// channels: vmax, or vaxpy with the part that a point is of the window. At the borders, where windows have fewer
// points, the mean is scaled up: row by row, then column by column.
namespace vinci::graph {
namespace {

using isa::Reg, isa::Type;

constexpr u64 kRowBlocks = 8;        // of a repeat
constexpr u64 kMaxRowRepeats = 255;  // of an instruction
constexpr usize kMostBorders = 32;   // windows along an axis that have fewer points than others

struct Pool {
  explicit Pool(const Group& group) {
    const Node& node = group.node();
    const Shape& in = node.input(0)->shape;
    window = window_of(node, {in[2], in[3]}, node.integers("kernel_shape"));
    type = node.input(0)->type == DataType::f32 ? Type::f32 : Type::f16;
    planes = static_cast<u64>(in[0]) * ceil_div<u64>(static_cast<u64>(in[1]), lanes());
    height = static_cast<u64>(in[2]);
    width = static_cast<u64>(in[3]);
    out_height = static_cast<u64>(window.out[0]);
    out_width = static_cast<u64>(window.out[1]);
    mean = node.type == "AvgPool";
    counts_padding = node.integer("count_include_pad") != 0;
  }
  // Windows along an axis in which fewer points count than in others, and the factor that scales their mean.
  struct Border {
    u64 window;
    float factor;
  };
  std::vector<Border> borders(usize axis) const {
    std::vector<Border> out;
    const i64 extent = axis == 0 ? static_cast<i64>(height) : static_cast<i64>(width);
    const i64 low = counts_padding ? -window.pad_begin[axis] : 0;
    const i64 high = extent + (counts_padding ? window.pad_end[axis] : 0);
    for (i64 o = 0; mean && o < window.out[axis]; ++o) {
      i64 points = 0;
      for (i64 k = 0; k < window.kernel[axis]; ++k) {
        const i64 at = o * window.stride[axis] - window.pad_begin[axis] + k * window.dilation[axis];
        points += at >= low && at < high ? 1 : 0;
      }
      if (points < window.kernel[axis] && points > 0)
        out.push_back({static_cast<u64>(o), static_cast<float>(window.kernel[axis]) / static_cast<float>(points)});
    }
    return out;
  }
  // Blocks of a row in UB. With ceil_mode, the last window may go beyond the padding.
  u64 pitch() const {
    const u64 windows = (out_width - 1) * stride(1) + static_cast<u64>(window.span(1));
    return std::max(windows, width + static_cast<u64>(window.pad_begin[1] + window.pad_end[1]));
  }
  u64 out_pitch() const { return align_up(out_width, kRowBlocks); }
  u64 stride(usize axis) const { return static_cast<u64>(window.stride[axis]); }
  u64 in_rows(u64 rows) const { return (rows - 1) * stride(0) + static_cast<u64>(window.span(0)); }
  // Bytes in UB of the map under `rows` rows; the last row is read beyond its end.
  u64 in_bytes(u64 rows) const {
    const u64 behind = kRowBlocks * stride(1) + static_cast<u64>(window.span(1));
    return align_up((in_rows(rows) * pitch() + behind) * 32, u64{256});
  }
  u64 out_bytes(u64 rows) const { return rows * out_pitch() * 32; }

  // Channels of a block.
  u64 lanes() const { return type == Type::f32 ? 8 : kC0; }
  isa::Value number(float value) const {
    return type == Type::f32 ? isa::Value(isa::f32(value)) : isa::Value(isa::f16(value));
  }

  Type type;
  Window window;
  u64 planes, height, width, out_height, out_width;
  bool mean, counts_padding;
};

u64 ub_bytes(const Pool& x, u64 rows, u64 slots) { return slots * (x.in_bytes(rows) + x.out_bytes(rows)); }

// Two, unless UB has no room for that.
u32 pool_slots(const Pool& x, const config::ChipConfig& chip) {
  return ub_bytes(x, 1, 2) <= chip.core.buffers.ub ? 2 : 1;
}

std::string pool_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (node.type != "MaxPool" && node.type != "AvgPool") return "it is no MaxPool or AvgPool";
  if (node.outputs().size() > 1) return "it also gives positions";
  const Value& in = *node.input(0);
  if (!in.shape.known() || in.shape.rank() != 4 || (in.type != DataType::f16 && in.type != DataType::f32))
    return "its input is no map of f16 or f32 with four axes";
  if (in.type == DataType::f32 && is_joint(chip)) return "maps of f32 have no blocks on a joint core";
  const Pool x(group);
  if (std::max(x.borders(0).size(), x.borders(1).size()) > kMostBorders) return "many windows have fewer points";
  for (usize a = 0; a < 2; ++a) {
    if (x.window.pad_begin[a] >= x.window.span(a)) return "a window may be in the padding alone";
  }
  if (x.stride(1) * kRowBlocks > 255) return "its stride is beyond that of a vector instruction";
  if (x.out_pitch() / kRowBlocks > kMaxRowRepeats) return "a row is beyond a vector instruction";
  if (x.pitch() - x.width > kMaxCopyGap || x.width > kMaxCopyGap) return "a row is beyond a copy";
  if (ub_bytes(x, 1, 1) > chip.core.buffers.ub) return "a row of windows does not fit UB";
  return "";
}

Formats pool_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::NC1HWC0}, .outputs = {isa::Format::NC1HWC0}};
}

std::vector<Tiling> pool_tilings(const Group& group, const config::ChipConfig& chip) {
  const Pool x(group);
  // So that each core has a tile, if there is enough.
  u64 rows = std::clamp<u64>(ceil_div(x.planes * x.out_height, u64{vector_cores(chip)}), 1, x.out_height);
  while (rows > 1 && ub_bytes(x, rows, pool_slots(x, chip)) > chip.core.buffers.ub)
    --rows;
  return {{{"rows", static_cast<i64>(rows)}}};
}

Footprint pool_footprint(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Pool x(group);
  return {.ub = ub_bytes(x, static_cast<u64>(tiling.at("rows")), pool_slots(x, chip))};
}

KernelProgram pool_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Pool x(group);
  const u64 rows = static_cast<u64>(tiling.at("rows")), chunks = ceil_div(x.out_height, rows);
  const Window& w = x.window;
  const u64 tiles = x.planes * chunks;
  const u32 slots = pool_slots(x, chip);
  isa::ProgramBuilder p(group.node().name, chip.arch);
  Reg in, out, plane, chunk, first, from, count, at, to;
  const auto in_at = [&](u64 slot) { return slot * x.in_bytes(rows); };
  const auto out_at = [&](u64 slot) { return slots * x.in_bytes(rows) + slot * x.out_bytes(rows); };
  const auto pad = [&](u64 slot) {
    const bool wide = x.type == Type::f32;
    const u64 bytes = wide ? 4 : 2;
    in_repeats(p, wide, x.in_bytes(rows) / bytes, [&](u64 e, u64 n) {
      p.vector_dup(x.type, in_at(slot) + e * bytes, x.number(x.mean ? 0 : -HUGE_VALF), n, 1, 1, 8, 8);
    });
  };
  gen::TilePipeline pipeline{.tiles = tiles, .slots = slots};
  pipeline.prologue = [&](isa::ProgramBuilder&) {
    in = p.arg("in");
    out = p.arg("out");
    for (Reg* const r : {&plane, &chunk, &first, &from, &count, &at, &to})
      *r = p.reg("t");
    for (u64 slot = 0; slot < slots; ++slot)
      pad(slot);
  };
  pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) {
    p.rem(chunk, tile, chunks);
    p.div(plane, tile, chunks);
    p.mul(chunk, chunk, rows);
    p.mul(to, plane, x.out_height);
    p.add(to, to, chunk);
    p.mul(to, to, x.out_width * 32);
    p.add(to, to, out);
  };
  pipeline.load = [&](isa::ProgramBuilder&, u32 slot) {
    // Rows first .. first + in_rows of the map, without those outside of it.
    p.mul(first, chunk, x.stride(0));
    p.sub(first, first, w.pad_begin[0]);
    p.max(from, first, 0);
    p.add(count, first, x.in_rows(rows));
    p.min(count, count, x.height);
    p.sub(count, count, from);
    p.mul(at, plane, x.height);
    p.add(at, at, from);
    p.mul(at, at, x.width * 32);
    p.add(at, at, in);
    p.sub(first, from, first);
    p.mul(first, first, x.pitch() * 32);
    p.add(first, first, in_at(slot) + static_cast<u64>(w.pad_begin[1]) * 32);
    p.copy_gm_to_ubuf(first, at, 0, count, x.width, 0, x.pitch() - x.width);
  };
  pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
    const u64 repeats = x.out_pitch() / kRowBlocks, step = x.stride(1);
    for (i64 kh = 0; kh < w.kernel[0]; ++kh) {
      for (i64 kw = 0; kw < w.kernel[1]; ++kw) {
        for (u64 r = 0; r < rows; ++r) {
          const u64 row = r * x.stride(0) + static_cast<u64>(kh * w.dilation[0]);
          const u64 src = in_at(slot) + (row * x.pitch() + static_cast<u64>(kw * w.dilation[1])) * 32;
          const u64 dst = out_at(slot) + r * x.out_pitch() * 32;
          const bool begin = kh == 0 && kw == 0;
          if (x.mean) {
            const isa::Value part = x.number(1.0F / static_cast<float>(w.kernel[0] * w.kernel[1]));
            if (begin) {
              p.vmuls(x.type, dst, src, part, repeats, 1, step, kRowBlocks, step * kRowBlocks);
            } else {
              p.vaxpy(x.type, dst, src, part, repeats, 1, step, kRowBlocks, step * kRowBlocks);
            }
            continue;
          }
          // The first point is compared with itself.
          p.vmax(x.type, dst, begin ? src : dst, src, repeats, 1, begin ? step : 1, step, kRowBlocks,
                 begin ? step * kRowBlocks : kRowBlocks, step * kRowBlocks);
        }
        p.pipe_barrier(isa::PipeId::V);
      }
    }
    for (const Pool::Border& b : x.borders(0)) {
      p.sub(at, b.window, chunk);
      p.if_(at >= 0, [&] {
        p.if_(at < rows, [&] {
          p.mul(at, at, x.out_pitch() * 32);
          p.add(at, at, out_at(slot));
          p.vmuls(x.type, at, at, x.number(b.factor), repeats, 1, 1, kRowBlocks, kRowBlocks);
        });
      });
    }
    if (!x.borders(0).empty()) p.pipe_barrier(isa::PipeId::V);
    if (!x.borders(1).empty()) set_mask(p, x.lanes());
    for (const Pool::Border& b : x.borders(1)) {
      for (u64 r = 0; r < rows; ++r) {
        const u64 dst = out_at(slot) + (r * x.out_pitch() + b.window) * 32;
        p.vmuls(x.type, dst, dst, x.number(b.factor), 1, 1, 1, kRowBlocks, kRowBlocks);
      }
    }
    if (!x.borders(1).empty()) {
      set_mask(p, kLanes16);
      p.pipe_barrier(isa::PipeId::V);
    }
    // The next rows have other padding.
    pad(slot);
  };
  pipeline.store = [&](isa::ProgramBuilder&, u32 slot) {
    p.sub(count, x.out_height, chunk);
    p.min(count, count, rows);
    p.copy_ubuf_to_gm(to, out_at(slot), 0, count, x.out_width, x.out_pitch() - x.out_width, 0);
  };
  gen::write_tile_pipeline(p, pipeline);
  return vector_program(p.finish(), tiles, chip);
}

}  // namespace

const Kernel kPoolingKernel{"pooling", pool_refuses, pool_formats, pool_tilings, pool_footprint, pool_build};

}  // namespace vinci::graph
