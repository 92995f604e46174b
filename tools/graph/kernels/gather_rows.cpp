// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// GatherV2 and GatherNd of whole rows, such as of a table of embeddings: the scalar unit computes where each row is,
// the rows of a tile are copied to UB, and from there to the result. The indices of a tile are copied to UB, too.
namespace vinci::graph {
namespace {

using isa::Reg;

constexpr u64 kBlock = 32;

// The result as rows that are contiguous in the input, too.
struct GatheredRows {
  u64 parts, rows;  // rows of a part have neighbouring indices, and are of the same part of the input
  u64 width;
  u32 bytes;        // of an element; those of 8 bytes are two
  Dims extents;     // of the axes that a row has indices for
  u64 index_parts;  // parts that have indices of their own
};

GatheredRows gathered_rows(const Node& node) {
  const Dims &in = node.input(0)->shape.dims(), &index = node.input(1)->shape.dims();
  GatheredRows out{.parts = 1,
                   .rows = element_count(index),
                   .width = 1,
                   .bytes = info(node.output()->type).bytes,
                   .extents = {},
                   .index_parts = 1};
  if (node.type == "GatherV2") {
    const AroundAxis a = around_axis(in, axis_of(node, node.integer("axis"), in.size()));
    out.parts = a.outer;
    out.width = a.inner;
    out.extents = {static_cast<i64>(a.extent)};
  } else {
    const auto batch = static_cast<usize>(node.integer("batch_dims")), depth = static_cast<usize>(index.back());
    out.parts = out.index_parts = element_count(std::span(in).first(batch));
    out.rows /= std::max<u64>(out.parts * depth, 1);
    out.width = element_count(std::span(in).subspan(batch + depth));
    out.extents.assign(in.begin() + static_cast<i64>(batch), in.begin() + static_cast<i64>(batch + depth));
  }
  if (out.bytes == 8) {
    out.bytes = 4;
    out.width *= 2;
  }
  return out;
}

std::string gather_refuses(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const Node& node = group.node();
  if (node.type != "GatherV2" && node.type != "GatherNd") return "it gathers nothing";
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
      if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
    }
  }
  if (std::ranges::find(group.inputs(), node.input(0)) == group.inputs().end()) return "it gathers a number";
  const GatheredRows r = gathered_rows(node);
  if (node.output()->shape.elements() == 0) return "it gathers nothing";
  if (r.bytes == 1) return "its elements have one byte";
  constexpr u64 kFewRows = 8;
  if (r.width * r.bytes < kBlock && (is_joint(chip) || r.rows < kFewRows))
    return "its rows are shorter than a block of 32 B";
  if (is_joint(chip) && r.width * r.bytes % kBlock != 0)
    return "a joint core copies whole blocks, and its rows are no whole blocks";
  return "";
}

u64 index_bytes(const Node& node) { return info(node.input(1)->type).bytes; }

// Of a slot: each row begins at a block.
u64 row_slot(const GatheredRows& r, u64 rows, u64 columns) { return rows * align_up(columns * r.bytes, kBlock); }
u64 index_slot(const Node& node, const GatheredRows& r, u64 rows) {
  return rows == 1 ? 0 : align_up(rows * r.extents.size() * index_bytes(node), kBlock);
}

u64 table_bytes(const Node& node) { return node.input(0)->shape.elements() * info(node.input(0)->type).bytes; }

// Whether each core has the whole table in UB, and the vector unit copies the rows: that is several times faster than a
// copy from memory, once a core has so many rows that the table costs little.
bool keeps_table(const Node& node, const GatheredRows& r, const config::ChipConfig& chip) {
  constexpr u64 kBytesOfRow = 1024, kRest = 3;  // of UB, a third is for rows
  const u64 table = table_bytes(node), share = ceil_div(r.rows, u64{vector_cores(chip)});
  return r.parts == 1 && r.width * r.bytes % kBlock == 0 && table <= share * kBytesOfRow &&
         table <= chip.core.buffers.ub / kRest * 2;
}

// Several rows that follow each other in the result; parts of a row where there are fewer rows than cores, or where UB
// has no room for two.
std::vector<Tiling> gather_tilings(const Group& group, const config::ChipConfig& chip) {
  constexpr u64 kGrain = 128, kMostRows = 4095, kFewest = 4;  // kMostRows: bursts of a copy
  const Node& node = group.node();
  const GatheredRows r = gathered_rows(node);
  const u64 cores = vector_cores(chip), all = r.parts * r.rows, ub = chip.core.buffers.ub;
  std::vector<Tiling> out;
  const u64 each = 2 * row_slot(r, 1, r.width) + r.extents.size() * index_bytes(node);
  const auto several = [&](u64 table) {
    const u64 fit = std::min({(ub - kBlock - table) / each, kMostRows, r.rows});
    const u64 fewest_tiles = ceil_div(all, cores * std::max<u64>(fit, 1));  // of a core
    for (const u64 parts : {u64{1}, u64{2}, u64{4}}) {
      const u64 rows = std::min(ceil_div(all, cores * fewest_tiles * parts), fit);
      if (rows < kFewest) continue;
      Tiling tiling{{"rows", static_cast<i64>(rows)}, {"columns", static_cast<i64>(r.width)}, {"table", table > 0}};
      if (std::ranges::find(out, tiling) == out.end()) out.push_back(std::move(tiling));
    }
  };
  if (keeps_table(node, r, chip)) several(table_bytes(node));
  several(0);
  if (!out.empty()) return out;
  const u64 room = ub / 2 / r.bytes / kGrain * kGrain;
  const u64 share = align_up(ceil_div(all * r.width, cores), kGrain);
  const u64 columns = std::min({r.width, room, std::max(share, 2 * kGrain)});
  return {{{"rows", 1}, {"columns", static_cast<i64>(columns)}, {"table", 0}}};
}

Footprint gather_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  const GatheredRows r = gathered_rows(group.node());
  const auto rows = static_cast<u64>(tiling.at("rows")), columns = static_cast<u64>(tiling.at("columns"));
  const u64 table = tiling.at("table") != 0 ? table_bytes(group.node()) : 0;
  return {.ub = 2 * row_slot(r, rows, columns) + index_slot(group.node(), r, rows) + table};
}

class GatherWriter {
 public:
  GatherWriter(const Group& group, const config::ChipConfig& chip, const Tiling& tiling)
      : group_(group),
        node_(group.node()),
        r_(gathered_rows(node_)),
        chip_(chip),
        tiles_({.outer = {r_.parts, r_.rows}, .width = r_.width, .grain = kBlock / r_.bytes}, chip,
               {.rows = static_cast<u64>(tiling.at("rows")), .columns = static_cast<u64>(tiling.at("columns"))}),
        slot_(row_slot(r_, tiles_.rows(), tiles_.columns())),
        keeps_table_(tiling.at("table") != 0),
        p_(node_.name, chip.arch) {}

  KernelProgram build() {
    const RowView to{.strides = {static_cast<i64>(r_.rows * r_.width), static_cast<i64>(r_.width)}, .bytes = r_.bytes};
    gen::TilePipeline pipeline{.tiles = tiles_.tiles(), .in_place = !keeps_table_};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prepare(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { locate(tile); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 which) {
      if (keeps_table_) return load_indices();
      if (several()) return load_rows(which * slot_);
      tiles_.load(p_, {.strides = {0, 0}, .bytes = r_.bytes}, source_, which * slot_);
    };
    if (keeps_table_) {
      pipeline.compute = [&](isa::ProgramBuilder&, u32 which) {
        p_.hand_over(isa::PipeId::MTE2, isa::PipeId::S, 0);
        load_rows(which * slot_);
      };
    }
    pipeline.store = [&](isa::ProgramBuilder&, u32 which) { tiles_.store(p_, to, result_, which * slot_, which); };
    gen::write_tile_pipeline(p_, pipeline);
    return vector_program(p_.finish(), tiles_.tiles(), chip_);
  }

 private:
  bool several() const { return tiles_.rows() > 1; }
  u64 indices_at() const { return 2 * slot_; }
  u64 table_at() const { return indices_at() + index_slot(node_, r_, tiles_.rows()); }

  void prepare() {
    w_.emplace(group_, p_);
    tiles_.prepare(p_);
    for (Reg* const r : {&source_, &result_, &part_, &index_, &t_})
      *r = p_.reg("t");
    w_->address(result_, node_.output(), 0);
    if (!keeps_table_) return;
    w_->address(source_, node_.input(0), 0);
    p_.copy_gm_to_ubuf(table_at(), source_, 0, 1, table_bytes(node_) / kBlock, 0, 0);
  }

  // part_ = rows of the input in front of the part; t_ = the first index of the tile.
  void locate(Reg tile) {
    tiles_.locate(p_, tile);
    const u64 depth = r_.extents.size();
    if (r_.parts == 1 || r_.index_parts > 1) {
      p_.mul(t_, tiles_.row(), depth);
    } else {
      p_.rem(t_, tiles_.row(), r_.rows);
      p_.mul(t_, t_, depth);
    }
    p_.mov(part_, 0);
    if (r_.parts > 1) p_.div(part_, tiles_.row(), r_.rows);
    if (keeps_table_) return;
    if (several()) {
      load_indices();
      return p_.hand_over(isa::PipeId::MTE2, isa::PipeId::S, 0);
    }
    p_.mov(source_, part_);
    for (const i64 extent : r_.extents) {
      w_->load(index_, node_.input(1), t_);
      add_index(extent);
      p_.add(t_, t_, 1);
    }
    locate_source();
  }

  // source_ = source_ * extent + index_.
  void add_index(i64 extent) {
    w_->place(index_, extent);
    p_.mul(source_, source_, extent);
    p_.add(source_, source_, index_);
  }
  // Of a number of a row, its address.
  void locate_source() {
    if (keeps_table_) {
      p_.mul(source_, source_, r_.width * r_.bytes);
      return p_.add(source_, source_, table_at());
    }
    p_.mul(source_, source_, r_.width * r_.bytes / info(node_.output()->type).bytes);
    w_->address(source_, node_.input(0), source_);
  }

  void load_indices() {
    const u64 bytes = index_bytes(node_) * r_.extents.size();
    w_->address(t_, node_.input(1), t_);
    p_.mul(index_, tiles_.row_count(), bytes);
    p_.hand_over(isa::PipeId::S, isa::PipeId::MTE2, 0);
    if (is_joint(chip_)) {
      p_.set(index_, (index_ + 31) >> 5);
      p_.copy_gm_to_ubuf(indices_at(), t_, 0, 1, index_, 0, 0);
    } else {
      p_.copy_gm_to_ubuf_align_b32(indices_at(), t_, 0, 1, index_, 0, 0, 0, 0);
    }
  }

  void load_rows(u64 at) {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg to = p_.reg("to");
    p_.mov(t_, indices_at());
    p_.mov(to, at);
    p_.loop(tiles_.row_count(), [&](Reg) {
      if (r_.parts > 1) p_.mov(source_, part_);
      for (usize d = 0; d < r_.extents.size(); ++d) {
        w_->load_from_ub(index_, index_bytes(node_), t_, d * index_bytes(node_));
        if (d == 0 && r_.parts == 1) {
          w_->place(index_, r_.extents[0]);
          p_.mov(source_, index_);
        } else {
          add_index(r_.extents[d]);
        }
      }
      p_.add(t_, t_, r_.extents.size() * index_bytes(node_));
      locate_source();
      load_row(to);
      p_.add(to, to, tiles_.pitch() * r_.bytes);
    });
  }
  void load_row(Reg to) {
    const u64 bytes = r_.width * r_.bytes;
    if (keeps_table_) return p_.copy_ubuf_to_ubuf(to, source_, 0, 1, bytes / kBlock, 0, 0);
    if (bytes % kBlock == 0) return p_.copy_gm_to_ubuf(to, source_, 0, 1, bytes / kBlock, 0, 0);
    if (r_.bytes == 4) return p_.copy_gm_to_ubuf_align_b32(to, source_, 0, 1, bytes, 0, 0, 0, 0);
    p_.copy_gm_to_ubuf_align_b16(to, source_, 0, 1, bytes, 0, 0, 0, 0);
  }

  const Group& group_;
  const Node& node_;
  const GatheredRows r_;
  const config::ChipConfig& chip_;
  RowTiles tiles_;
  const u64 slot_;
  const bool keeps_table_;
  isa::ProgramBuilder p_;
  std::optional<ScalarWriter> w_;
  Reg source_, result_, part_, index_, t_;
};

KernelProgram gather_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return GatherWriter(group, chip, tiling).build();
}

}  // namespace

const Kernel kGatherRowsKernel{"gather_rows",  gather_refuses,   present_formats,
                               gather_tilings, gather_footprint, gather_build};

}  // namespace vinci::graph
