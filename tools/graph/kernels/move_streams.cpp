// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "tools/gen/tile_pipeline.h"
#include "tools/graph/kernels/block_transpose.h"
#include "tools/graph/kernels/launch_arguments.h"
#include "tools/graph/kernels/strided_copy.h"
#include "tools/graph/kernels/vector_ops.h"

// Moves whose rows have fewer elements than a block of 32 B, on a joint core, which copies whole blocks. The move is
// cut into boxes: some of each axis, so that runs of the operand and runs of the result have many elements. A tile has
// 16 boxes, each of them a stream in UB. Transposed, an element of all streams is a block, and blocks move as the axes
// of a box do; transposed back, the streams have the runs of the result. Where the last run along an axis fills no
// blocks, its last 16 elements are in the stream once more, so that they begin at a block, and are stored as one.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kStreams = 16, kUnit = 16, kBlockBytes = 32;
constexpr usize kMostAxes = 7;
constexpr i64 kMostGap = 4;  // elements that are loaded for one that is needed

// An axis of the move. Distances are in elements of 16 bits, places in a stream in elements, too.
struct Axis {
  u64 extent = 1;
  i64 from = 0, to = 0;
  u64 box = 1;          // of the axis in a box
  u64 in = 0, out = 0;  // from one to the next in a stream
  bool run = false;     // of a run of the result
  bool span = false;    // of what is loaded as one

  u64 boxes() const { return ceil_div(extent, box); }
  u64 last() const { return extent - (boxes() - 1) * box; }
  bool partial() const { return last() != box; }
};

struct Streams {
  std::vector<Axis> axes;           // by distance in the result, the smallest one first
  i64 from = 0, to = 0;             // of the first element
  u64 span = 1, run = 1;            // elements of a whole box that are loaded and stored as one
  u64 in = 1, out = 1;              // elements of a stream
  u64 in_pitch = 0, out_pitch = 0;  // from span to span, and from run to run
  bool ends = false;

  u64 boxes() const {
    return std::accumulate(axes.begin(), axes.end(), u64{1}, [](u64 n, const Axis& a) { return n * a.boxes(); });
  }
  u64 tiles() const { return ceil_div(boxes(), kStreams); }
  // In UB: streams as they come and go, in slots, and both transposed.
  u64 bytes(u64 slots) const { return (slots + 1) * (in + out) * kStreams * 2; }
};

// The axes of a move of elements of 16 bits; neighbours that both tensors have as one are one.
std::vector<Axis> merged_axes(const StridedCopy& copy) {
  std::vector<Axis> out;
  const i64 parts = copy.from.bytes / 2;
  const auto add = [&](Axis axis) {
    const auto extent = static_cast<i64>(axis.extent);
    if (extent == 1) return;
    if (!out.empty() && out.back().from == axis.from * extent && out.back().to == axis.to * extent) {
      axis.extent *= out.back().extent;
      out.pop_back();
    }
    out.push_back(axis);
  };
  for (usize a = 0; a < copy.dims.size(); ++a)
    add({static_cast<u64>(copy.dims[a]), copy.from.strides[a] * parts, copy.to.strides[a] * parts});
  add({static_cast<u64>(parts), 1, 1});
  return out;
}

const Axis* neighbours(const std::vector<Axis>& axes, i64 Axis::*distance) {
  const auto found = std::ranges::find(axes, i64{1}, distance);
  return found == axes.end() ? nullptr : &*found;
}

// Whether a box has, behind `inner` elements that follow each other in the result, more of them along the axis, such
// that each box begins at a block and has one at least. Another axis has a run for each of its elements.
bool goes_on(const Axis& a, u64 inner) {
  if (a.to != static_cast<i64>(inner)) return false;
  return a.box == a.extent || (a.box * inner % kUnit == 0 && a.last() * inner >= kUnit);
}

// The axes by distance in the operand.
std::vector<Axis*> by_operand(std::vector<Axis>& axes) {
  std::vector<Axis*> out;
  for (Axis& a : axes) {
    if (a.from != 0) out.push_back(&a);
  }
  std::ranges::stable_sort(out, {}, [](const Axis* a) { return a->from; });
  return out;
}

u64 whole_box(const std::vector<Axis>& axes) {
  return std::accumulate(axes.begin(), axes.end(), u64{1}, [](u64 n, const Axis& a) { return n * a.box; });
}

// Boxes of about as many elements as wanted, whose runs are long in both tensors.
void choose_boxes(std::vector<Axis>& axes, u64 wanted) {
  const std::vector<Axis*> operand = by_operand(axes);
  while (true) {
    u64 in = 1;
    for (const Axis* const a : operand) {
      in *= a->box;
      if (a->box < a->extent) break;
    }
    u64 out = 1;
    for (const Axis& a : axes) {
      if (a.to != static_cast<i64>(out)) break;
      out *= a.box;
      if (a.box < a.extent) break;
    }
    const auto next_out = std::ranges::find_if(axes, [](const Axis& a) { return a.box < a.extent; });
    if (next_out == axes.end()) return;
    const auto next_in = std::ranges::find_if(operand, [](const Axis* a) { return a->box < a->extent; });
    const bool by_result = next_in == operand.end() || out < kUnit || (in >= kUnit && out <= in);
    Axis& axis = by_result ? *next_out : **next_in;
    const u64 box = std::min(axis.extent, 2 * axis.box);
    if (out >= kUnit && whole_box(axes) / axis.box * box > wanted) return;
    axis.box = box;
  }
}

// Boxes of an axis are about equal. Those along a run are made to go on where that takes few more elements.
bool even_boxes(std::vector<Axis>& axes) {
  for (Axis& a : axes)
    a.box = ceil_div(a.extent, a.boxes());
  u64 inner = 1;
  for (Axis& a : axes) {
    if (a.to != static_cast<i64>(inner)) break;
    const u64 wanted = a.box, grain = kUnit / std::gcd(kUnit, inner);
    if (!goes_on(a, inner)) a.box = align_up(a.box, grain);
    while (a.box < a.extent && !goes_on(a, inner))
      a.box += grain;
    a.box = std::min(a.box, a.extent);
    if (inner >= kUnit && a.box > 2 * wanted) a.box = wanted;
    if (!goes_on(a, inner)) break;
    inner *= a.box;
    if (a.box < a.extent) break;
  }
  return inner >= kUnit;
}

// The places of the elements of a box in its stream.
void place_elements(Streams& x) {
  for (Axis& a : x.axes) {
    if (!goes_on(a, x.run)) break;
    a.run = true;
    a.out = x.run;
    x.run *= a.box;
    x.ends = (x.run / a.box * a.last()) % kUnit != 0;
    if (a.box < a.extent) break;
  }
  for (Axis* const a : by_operand(x.axes)) {
    if (a->box == 1) continue;
    if (a->from > std::max(2 * static_cast<i64>(x.span), 2 * kMostGap)) break;
    a->span = true;
    a->in = static_cast<u64>(a->from);
    x.span += (a->box - 1) * static_cast<u64>(a->from);
  }
  x.in = x.in_pitch = align_up(x.span, kUnit);
  x.out = x.out_pitch = align_up(x.run, kUnit) + (x.ends ? kUnit : 0);
  for (Axis* const a : by_operand(x.axes)) {
    if (a->span || a->box == 1) continue;
    a->in = x.in;
    x.in *= a->box;
  }
  for (Axis& a : x.axes) {
    if (a.run || a.box == 1) continue;
    a.out = x.out;
    x.out *= a.box;
  }
}

std::optional<Streams> streams_of(const Group& group, u64 wanted) {
  const StridedCopy copy = *sole_copy(group);
  const i64 parts = copy.from.bytes / 2;
  Streams out{.axes = merged_axes(copy), .from = copy.from.base * parts, .to = copy.to.base * parts};
  std::ranges::stable_sort(out.axes, {}, &Axis::to);
  choose_boxes(out.axes, wanted);
  if (!even_boxes(out.axes)) return std::nullopt;
  place_elements(out);
  return out;
}

constexpr std::array<u64, 5> kWanted{1024, 640, 320, 160, 80};

std::vector<Tiling> streams_tilings(const Group& group, const config::ChipConfig& chip) {
  std::vector<Tiling> out;
  std::vector<Tiling> fewer;  // that give not each core a tile
  for (const u64 wanted : kWanted) {
    const auto x = streams_of(group, wanted);
    if (!x) continue;
    for (const u64 slots : {2, 1}) {
      if (x->bytes(slots) > chip.core.buffers.ub) continue;
      (x->tiles() >= vector_cores(chip) ? out : fewer)
          .push_back({{"elements", static_cast<i64>(wanted)}, {"slots", static_cast<i64>(slots)}});
      break;
    }
  }
  out.insert(out.end(), fewer.rbegin(), fewer.rend());
  return out;
}

// Whether the kernel of exchanges does it as fast: neighbours of both tensors are a block, or those of the result are
// and the others come by strided copies of some elements each.
bool is_long_exchange(const Group& group, StridedCopy copy, const config::ChipConfig& chip) {
  constexpr u64 kSome = 4;
  if (!kTransposeKernel.refuses(group, chip).empty()) return false;
  const u64 block = kBlockBytes / copy.from.bytes;
  copy.from.bytes = 2;
  const std::vector<Axis> axes = merged_axes(copy);
  const Axis *const in = neighbours(axes, &Axis::from), *const out = neighbours(axes, &Axis::to);
  const bool strided = out->from % static_cast<i64>(block) == 0 && in->extent >= kSome;
  return out->extent >= kUnit && (in->extent >= kUnit || strided);
}

std::string streams_refuse(const Group& group, const config::ChipConfig& chip) {
  if (!is_joint(chip)) return "a split core copies bytes";
  const auto copy = sole_copy(group);
  if (!copy) return "it is no copy of one piece with known positions";
  if (copy->from.bytes % 2 != 0) return "its elements have one byte";
  if (group.inputs()[copy->input]->type != group.outputs()[0]->type) return "its types differ";
  const std::vector<Axis> axes = merged_axes(*copy);
  if (axes.empty() || axes.size() > kMostAxes) return "it has too few or too many axes";
  const auto backward = [](const Axis& a) { return a.from < 0 || a.to <= 0; };
  if (copy->from.base < 0 || copy->to.base < 0 || std::ranges::any_of(axes, backward)) return "it goes backwards";
  const Axis *const in = neighbours(axes, &Axis::from), *const out = neighbours(axes, &Axis::to);
  if (in != nullptr && in == out && in->extent >= kUnit) return "its rows have a block";
  if (out != nullptr && out->from == 0 && out->extent >= kUnit) return "a row repeats one element";
  if (is_long_exchange(group, *copy, chip)) return "it exchanges two long axes";
  if (streams_tilings(group, chip).empty()) return "UB has no room for boxes whose runs have a block";
  return "";
}

Streams streams_with(const Group& group, const Tiling& tiling) {
  return *streams_of(group, static_cast<u64>(tiling.at("elements")));
}

Footprint streams_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = streams_with(group, tiling).bytes(static_cast<u64>(tiling.at("slots")))};
}

// Writes the program.
class StreamsWriter {
 public:
  StreamsWriter(const Group& group, const config::ChipConfig& chip, Streams x, u32 slots)
      : input_(sole_copy(group)->input),
        tensors_(group.inputs().size() + 1),
        x_(std::move(x)),
        slots_(slots),
        p_(group.node().name, chip.arch),
        addresses_(p_, tensors_) {
    turned_out_ = slots_ * x_.in * kBlockBytes;
    turned_in_ = turned_out_ + x_.out * kBlockBytes;
    out_ = turned_in_ + x_.in * kBlockBytes;
    for (const Axis& a : x_.axes) {
      if (a.boxes() > 1) places_.push_back({.axis = &a});
    }
  }

  isa::BuiltProgram program() {
    gen::TilePipeline pipeline{.tiles = x_.tiles(), .slots = slots_};
    pipeline.prologue = [&](isa::ProgramBuilder&) { prologue(); };
    pipeline.locate = [&](isa::ProgramBuilder&, Reg tile) { p_.mul(first_, tile, kStreams); };
    pipeline.load = [&](isa::ProgramBuilder&, u32 slot) { load(slot * x_.in * kBlockBytes); };
    pipeline.compute = [&](isa::ProgramBuilder&, u32 slot) {
      turn_streams(p_, slot * x_.in * kBlockBytes, turned_in_, x_.in, false);
      move_blocks();
      turn_streams(p_, out_at(slot), turned_out_, x_.out, true);
    };
    pipeline.store = [&](isa::ProgramBuilder&, u32 slot) { store(out_at(slot)); };
    gen::write_tile_pipeline(p_, pipeline);
    return p_.finish();
  }

 private:
  // An axis along which there are several boxes, and which one it is.
  struct Place {
    const Axis* axis;
    Reg index = {};
    std::optional<Reg> count = {};  // of the axis in this box, where it is not always the same
  };
  u64 out_at(u32 slot) const { return out_ + slot * x_.out * kBlockBytes; }

  void prologue() {
    addresses_.load_all();
    for (Reg* const r : {&first_, &left_, &at_, &place_, &blocks_, &t_, &far_, &near_})
      *r = p_.reg("stream");
    for (Place& place : places_) {
      place.index = p_.reg("box");
      if (place.axis->partial()) place.count = p_.reg("count");
    }
    // What no copy writes is transposed, too.
    in_repeats(p_, false, turned_in_ / 2, [&](u64 e, u64 n) { p_.vector_dup(Type::f16, e * 2, 0, n, 1, 1, 8, 8); });
    p_.pipe_barrier(PipeId::ALL);
  }

  // How many of the axis the box has.
  isa::Value count(const Axis& axis) const {
    for (const Place& place : places_) {
      if (place.axis == &axis && place.count) return *place.count;
    }
    return axis.box;
  }

  // body() for each stream of the tile: at_ is the first element of its box in memory, place_ where UB has the stream.
  void each_stream(i64 Axis::*distance, u64 ub, u64 elements, const std::function<void()>& body) {
    const bool load = distance == &Axis::from;
    const auto step = [&](const Axis& a) { return static_cast<i64>(a.box) * (a.*distance) * 2; };
    p_.sub(left_, x_.boxes(), first_);
    p_.min(left_, left_, kStreams);
    p_.add(at_, addresses_.of(load ? input_ : tensors_ - 1), (load ? x_.from : x_.to) * 2);
    p_.mov(place_, first_);
    for (usize i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      if (i + 1 < places_.size()) {
        p_.rem(place.index, place_, place.axis->boxes());
        p_.div(place_, place_, place.axis->boxes());
      } else {
        p_.mov(place.index, place_);
      }
      if (step(*place.axis) == 0) continue;
      p_.mul(t_, place.index, step(*place.axis));
      p_.add(at_, at_, t_);
    }
    p_.mov(place_, ub);
    p_.loop(left_, [&](Reg) {
      for (const Place& place : places_) {
        if (!place.count) continue;
        p_.mul(t_, place.index, place.axis->box);
        p_.sub(t_, place.axis->extent, t_);
        p_.min(*place.count, t_, place.axis->box);
      }
      body();
      p_.add(place_, place_, elements * 2);
      // The next box.
      const isa::Target done = p_.label("next");
      for (usize i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        const i64 by = step(*place.axis);
        p_.add(place.index, place.index, 1);
        if (by != 0) p_.add(at_, at_, by);
        if (i + 1 == places_.size()) break;
        p_.branch(isa::Value(place.index) != place.axis->boxes(), done);
        p_.mov(place.index, 0);
        if (by != 0) p_.sub(at_, at_, by * static_cast<i64>(place.axis->boxes()));
      }
      p_.bind(done);
    });
  }

  // copy(place in UB, in memory, copies) of the axes that are not in a run or in a span, of which the first one may be
  // one instruction for several copies.
  struct Burst {
    const Axis* axis;
    i64 far;   // elements, in memory
    u64 near;  // and in UB
  };
  // Bursts of blocks_ between at_ and place_, which stay as they are.
  void bursts(std::span<const Burst> axes, bool load) {
    const auto copy = [&](const isa::Value& times, const isa::Value& far, const isa::Value& near) {
      if (load) return p_.copy_gm_to_ubuf(place_, at_, 0, times, blocks_, far, near);
      p_.copy_ubuf_to_gm(at_, place_, 0, times, blocks_, near, far);
    };
    if (axes.empty()) return copy(1, 0, 0);
    const Burst& b = axes.back();
    constexpr i64 kUnits = kUnit;
    if (axes.size() == 1 && b.far % kUnits == 0 && b.far >= static_cast<i64>(b.near) &&
        b.far / kUnits <= static_cast<i64>(kMaxCopyGap)) {
      p_.sub(far_, b.far / kUnits, blocks_);
      p_.sub(near_, b.near / kUnit, blocks_);
      return copy(count(*b.axis), far_, near_);
    }
    const isa::Value times = count(*b.axis);
    p_.loop(times, [&](Reg) {
      bursts(axes.first(axes.size() - 1), load);
      p_.add(at_, at_, b.far * 2);
      p_.add(place_, place_, b.near * 2);
    });
    p_.mul(t_, times, b.far * 2);
    p_.sub(at_, at_, t_);
    p_.mul(t_, times, b.near * 2);
    p_.sub(place_, place_, t_);
  }

  void load(u64 ub) {
    std::vector<Burst> axes;
    for (const Axis& a : x_.axes) {
      if (!a.span && a.box > 1 && a.from != 0) axes.push_back({&a, a.from, a.in});
    }
    std::ranges::sort(axes, {}, &Burst::near);
    each_stream(&Axis::from, ub, x_.in, [&] {
      p_.mov(blocks_, 1);
      for (const Axis& a : x_.axes) {
        if (!a.span) continue;
        p_.sub(t_, count(a), 1);
        p_.mul(t_, t_, a.from);
        p_.add(blocks_, blocks_, t_);
      }
      p_.add(blocks_, blocks_, kUnit - 1);
      p_.shr(blocks_, blocks_, 4);
      bursts(axes, true);
    });
  }

  void store(u64 ub) {
    std::vector<Burst> axes;
    const Axis* last = nullptr;  // of a run
    for (const Axis& a : x_.axes) {
      if (a.run) last = &a;
      if (!a.run && a.box > 1) axes.push_back({&a, a.to, a.out});
    }
    std::ranges::sort(axes, {}, &Burst::near);
    each_stream(&Axis::to, ub, x_.out, [&] {
      p_.mul(blocks_, count(*last), x_.run / last->box);
      p_.shr(blocks_, blocks_, 4);
      bursts(axes, false);
    });
    if (!x_.ends) return;
    // The ends of the last boxes along the run go over the last whole blocks of these.
    const u64 behind = align_up(x_.run, kUnit) * 2, before = (x_.run / last->box * last->last() - kUnit) * 2;
    const auto place = std::ranges::find(places_, last, &Place::axis);
    p_.pipe_barrier(PipeId::MTE3);
    each_stream(&Axis::to, ub + behind, x_.out, [&] {
      const auto end = [&] {
        p_.mov(blocks_, 1);
        p_.add(at_, at_, before);
        bursts(axes, false);
        p_.sub(at_, at_, before);
      };
      if (place == places_.end()) return end();
      p_.if_(isa::Value(place->index) == last->boxes() - 1, end);
    });
  }

  // Blocks of a box, or of a part of it.
  struct Part {
    u64 count, in, out;
  };
  void copy_blocks(std::vector<Part> parts, u64 in, u64 out) {
    std::erase_if(parts, [](const Part& a) { return a.count == 1; });
    Part row{1, 1, 1}, rows{1, 1, 1};
    const auto take = [&](Part& into, const auto& fits) {
      auto best = parts.end();
      for (auto a = parts.begin(); a != parts.end(); ++a) {
        if (fits(*a) && (best == parts.end() || a->count > best->count)) best = a;
      }
      if (best == parts.end()) return;
      into = *best;
      parts.erase(best);
    };
    take(row, [](const Part& a) { return a.in == 1 && a.out == 1; });
    take(rows, [&](const Part& a) { return a.in >= row.count && a.out >= row.count; });
    const std::function<void(usize, u64, u64)> each = [&](usize i, u64 from, u64 to) {
      if (i == parts.size()) {
        const bool one = rows.count == 1;
        return p_.copy_ubuf_to_ubuf(turned_out_ + to * kBlockBytes, turned_in_ + from * kBlockBytes, 0, rows.count,
                                    row.count, one ? 0 : rows.in - row.count, one ? 0 : rows.out - row.count);
      }
      for (u64 k = 0; k < parts[i].count; ++k)
        each(i + 1, from + k * parts[i].in, to + k * parts[i].out);
    };
    each(0, in, out);
  }

  void move_blocks() {
    std::vector<Part> all, runs;
    std::vector<const Axis*> run;
    for (const Axis& a : x_.axes) {
      all.push_back({a.box, a.in, a.out});
      if (a.run) {
        run.push_back(&a);
      } else {
        runs.push_back(all.back());
      }
    }
    copy_blocks(all, 0, 0);
    if (x_.ends) {
      // The last 16 elements of the last run, as parts of its first axis.
      const u64 end = x_.run / run.back()->box * run.back()->last();
      for (u64 e = end - kUnit; e < end;) {
        u64 in = 0, rest = e;
        for (const Axis* const a : run) {
          in += rest % a->box * a->in;
          rest /= a->box;
        }
        const u64 some = std::min(end - e, run[0]->box - e % run[0]->box);
        std::vector<Part> parts = runs;
        parts.push_back({some, run[0]->in, 1});
        copy_blocks(parts, in, align_up(x_.run, kUnit) + e - (end - kUnit));
        e += some;
      }
    }
    p_.pipe_barrier(PipeId::V);
  }

  const usize input_, tensors_;
  const Streams x_;
  const u32 slots_;
  isa::ProgramBuilder p_;
  LaunchArguments addresses_;
  u64 turned_out_ = 0, turned_in_ = 0, out_ = 0;
  std::vector<Place> places_;
  Reg first_, left_, at_, place_, blocks_, t_, far_, near_;
};

KernelProgram streams_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const Streams x = streams_with(group, tiling);
  StreamsWriter writer(group, chip, x, static_cast<u32>(tiling.at("slots")));
  return vector_program(writer.program(), x.tiles(), chip);
}

}  // namespace

const Kernel kMoveStreamsKernel{"move_streams",  streams_refuse,    present_formats,
                                streams_tilings, streams_footprint, streams_build};

}  // namespace vinci::graph
