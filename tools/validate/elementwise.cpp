// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// z = x + y, a copy z = x, or any element-wise function, tile by tile through UB, each core on a contiguous part.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "isa/base/error.h"
#include "isa/table/table.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::Reg, isa::Target, isa::Value;

constexpr u64 kRepeatBytes = 256;
constexpr u64 kMaxRepeats = 255;
constexpr u64 kMaxBlocks = 65535;

struct Tiles {
  u64 bytes = 0;       // of each operand
  u64 tile_bytes = 0;  // of one copy
  u64 inputs = 2;      // 2: z = x + y; 1: z = x, without the vector unit
  u64 blocks = 1;
  u64 unit = 512;           // blocks get whole units of so many bytes
  u64 slots = 1;            // sets of buffers in UB
  bool serial = false;      // a set of buffers is loaded again when its tile is stored, not when it is computed
  u64 ops = 1;              // how often the body is done for each tile
  u64 scalar = 0;           // cycles that the scalar unit works for each tile
  std::vector<u64> places;  // in UB: of x, y and z of each set; empty: one behind the other
  std::string type = "f16";
  std::string body;  // "vmul z x x; vexp z z": instructions on the tile, the operands in order; "" is a copy
};

// Writes the program; `place` is that of the case, for messages.
class ElementwiseWriter {
 public:
  ElementwiseWriter(const Tiles& tiles, const std::string& place, isa::Arch arch)
      : t_(tiles),
        place_(place),
        vector_(!tiles.body.empty()),
        stored_(vector_ && !tiles.serial),
        last_(tiles.serial || !vector_ ? PipeId::MTE3 : PipeId::V),
        p_("elementwise", arch) {}

  isa::BuiltProgram program() {
    begin();
    flags(true);
    const Target finish = p_.label("finish"), loop = p_.here("loop");
    for (u64 slot = 0; slot < t_.slots; ++slot) {
      p_.bge(at, end, finish);
      tile(slot);
    }
    p_.b(loop);
    p_.bind(finish);
    flags(false);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  isa::Const constant(std::string_view name, u64 value) { return p_.constant(name, static_cast<i64>(value)); }

  // at, end: the part of this block; the first blocks have one unit more, where it does not come out even.
  void begin() {
    p_.ld_arg(x, 0);
    p_.ld_arg(y, 1);
    p_.ld_arg(z, 2);
    p_.get_block_idx(at);
    p_.add(end, at, 1);
    p_.min(n, end, MORE);
    p_.mul(end, end, BASE);
    p_.add(end, end, n);
    p_.mul(end, end, UNIT);
    p_.min(n, at, MORE);
    p_.mul(at, at, BASE);
    p_.add(at, at, n);
    p_.mul(at, at, UNIT);
  }
  // The next load of a set waits for `last_`; if that is not the store, the vector unit waits for the store.
  void flags(bool set) {
    const auto flag = [&](PipeId from, PipeId to, u64 slot) {
      set ? p_.set_flag(from, to, slot) : p_.wait_flag(from, to, slot);
    };
    for (u64 slot = 0; slot < t_.slots; ++slot) {
      flag(last_, PipeId::MTE2, slot);
      if (stored_) flag(PipeId::MTE3, PipeId::V, slot);
    }
  }

  // Where an operand of a set is in UB.
  u64 place_of(u64 slot, u64 operand) const {
    const u64 index = slot * (t_.inputs + vector_) + operand;
    return t_.places.empty() ? index * t_.tile_bytes : t_.places[index];
  }

  void tile(u64 slot) {
    const u64 ux = place_of(slot, 0), uy = t_.inputs == 2 ? place_of(slot, 1) : ux;
    const u64 uz = place_of(slot, t_.inputs + vector_ - 1);
    p_.sub(n, end, at);
    p_.min(n, n, TILE);
    p_.shr(blocks, n, 5);
    if (t_.scalar > 0) p_.nop(t_.scalar);
    p_.wait_flag(last_, PipeId::MTE2, slot);
    p_.add(src, x, at);
    p_.copy_gm_to_ubuf(ux, src, 0, 1, blocks, 0, 0);
    if (t_.inputs == 2) {
      p_.add(src, y, at);
      p_.copy_gm_to_ubuf(uy, src, 0, 1, blocks, 0, 0);
    }
    if (vector_) {
      compute(slot, {{'x', ux}, {'y', uy}, {'z', uz}});
    } else {
      p_.hand_over(PipeId::MTE2, PipeId::MTE3, slot);
    }
    p_.add(src, z, at);
    p_.copy_ubuf_to_gm(src, uz, 0, 1, blocks, 0, 0);
    p_.set_flag(PipeId::MTE3, stored_ ? PipeId::V : PipeId::MTE2, slot);
    p_.add(at, at, TILE);
  }

  using Addresses = std::map<char, u64>;
  void compute(u64 slot, const Addresses& addresses) {
    p_.hand_over(PipeId::MTE2, PipeId::V, slot);
    if (stored_) p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    p_.shr(repeats, n, 8);
    for (u64 op = 0; op < t_.ops; ++op)
      body(addresses);
    if (stored_) p_.set_flag(PipeId::V, PipeId::MTE2, slot);
    p_.hand_over(PipeId::V, PipeId::MTE3, slot);
  }
  // The body once, for `repeats` of the tile.
  void body(const Addresses& addresses) {
    const u64 most = t_.tile_bytes / kRepeatBytes;
    std::istringstream lines(t_.body);
    for (std::string line; std::getline(lines, line, ';');) {
      for (u64 done = 0; done < most; done += kMaxRepeats) {
        p_.sub(n, repeats, done);
        p_.max(n, n, 0);
        p_.min(n, n, std::min(kMaxRepeats, most - done));
        instruction(line, addresses, done);
      }
      if (line.size() < t_.body.size()) p_.pipe_barrier(PipeId::V);
    }
  }
  // One instruction of the body, on the repeats from `done` on; strides are those of contiguous operands.
  void instruction(const std::string& line, const Addresses& addresses, u64 done) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const auto rows = isa::table();
    const auto row = std::ranges::find(rows, name, &isa::Row::name);
    if (row == rows.end()) fail_at(Fault::Input, place_, "body: there is no instruction '{}'", name);
    std::vector<Value> operands;
    for (const isa::FieldInfo& f : row->fields) {
      if (f.optional) break;
      const bool address = (f.name == "dst" || f.name.starts_with("src")) && !f.name.ends_with("Stride");
      if (address) {
        operands.emplace_back(address_of(words, addresses, line) + done * kRepeatBytes);
      } else if (f.name == "repeat") {
        operands.emplace_back(n);
      } else {
        operands.emplace_back(f.name.ends_with("RepStride") ? 8 : 1);
      }
    }
    p_.call(fmt::format("{}.{}", name, t_.type), operands);
  }
  // Of the next word, which names an operand.
  u64 address_of(std::istringstream& words, const Addresses& addresses, const std::string& line) const {
    std::string word;
    words >> word;
    const auto it = word.size() == 1 ? addresses.find(word[0]) : addresses.end();
    if (it == addresses.end()) fail_at(Fault::Input, place_, "body: operands are x, y and z, in '{}'", line);
    return it->second;
  }

  const Tiles& t_;
  const std::string& place_;
  const bool vector_;  // there is a body
  const bool stored_;  // the vector unit waits for the store
  const PipeId last_;
  isa::ProgramBuilder p_;
  const isa::Const BASE = constant("BASE", t_.bytes / t_.unit / t_.blocks),
                   MORE = constant("MORE", t_.bytes / t_.unit % t_.blocks), UNIT = constant("UNIT", t_.unit),
                   TILE = constant("TILE", t_.tile_bytes);
  const Reg x = p_.reg("x"), y = p_.reg("y"), z = p_.reg("z"), at = p_.reg("at"), end = p_.reg("end"), n = p_.reg("n"),
            src = p_.reg("src"), blocks = p_.reg("blocks"), repeats = p_.reg("repeats");
};

Tiles read(const Params& p) {
  Tiles t{.bytes = p.whole("bytes"),
          .tile_bytes = p.whole("tile_bytes"),
          .inputs = p.whole("inputs"),
          .blocks = p.whole("blocks"),
          .unit = p.whole("unit"),
          .slots = p.whole("slots"),
          .serial = p.flag("serial"),
          .ops = p.whole("ops"),
          .scalar = p.whole("scalar"),
          .places = {},
          .type = p.text("type"),
          .body = p.text("body") != "-"    ? p.text("body")
                  : p.whole("inputs") == 2 ? "vadd z x y"
                                           : ""};
  const u64 step = t.body.empty() ? 32 : kRepeatBytes;
  p.need(t.inputs == 1 || t.inputs == 2, "inputs: 1 or 2");
  p.need(t.slots == 1 || t.slots == 2, "slots: 1 or 2");
  p.need(t.blocks > 0 && t.blocks <= kMaxBlocks, "blocks: 1 to 65535");
  p.need(t.tile_bytes > 0 && t.tile_bytes <= (1 << 20) && t.tile_bytes % step == 0,
         "tile_bytes: up to 1 MiB, a multiple of 32, with a body of 256");
  p.need(t.unit > 0 && t.unit % 32 == 0 && t.bytes % t.unit == 0, "unit: a multiple of 32 of which bytes is one");
  p.need(t.ops <= 10'000 && t.scalar <= 1'000'000, "ops: at most 10000; scalar: at most 1000000 cycles");
  if (p.text("places") == "-") return t;
  t.places = p.wholes("places");
  p.need(t.places.size() == t.slots * (t.inputs + !t.body.empty()),
         "places: as text, an address in UB for each operand of each set, with blanks between them");
  std::vector<u64> sorted = t.places;
  std::ranges::sort(sorted);
  for (usize i = 1; i < sorted.size(); ++i)
    p.need(sorted[i] - sorted[i - 1] >= t.tile_bytes, "places: tiles overlap");
  return t;
}

KernelStream elementwise_kernel(const Params& p, const config::ChipConfig& chip) {
  const Tiles t = read(p);
  const bool bypass = p.flag("bypass_l2");
  return {.code = ElementwiseWriter(t, p.place(), chip.arch).program(),
          .blocks = static_cast<u32>(t.blocks),
          .l2 = l2_state(p),
          .buffers = {{t.bytes, bypass}, {t.bytes, bypass}, {t.bytes}}};
}

Values measure_elementwise(const Params& p, const config::ChipConfig& chip) {
  const Tiles t = read(p);
  Values out = kernel_times(elementwise_kernel(p, chip), chip);
  const double bytes = static_cast<double>(t.bytes) * static_cast<double>(t.inputs + 1);
  out["bandwidth"] = bytes / (out.at("task") + p.number("host")) / 1e3;
  return out;
}

std::vector<Metric> metrics() {
  std::vector<Metric> out = kernel_metrics();
  out.push_back({"bandwidth", "GB/s", "of all operands over the task and what the host adds to it"});
  return out;
}

}  // namespace

Family elementwise() {
  return {.name = "elementwise",
          .doc = "z = x + y, z = x or another function through UB, each core on a contiguous part",
          .parameters = {{"bytes", "B", "", "of each operand"},
                         {"tile_bytes", "B", "", "of one copy"},
                         {"inputs", "", "2", "2: z = x + y; 1: z = x, without the vector unit, unless there is a body"},
                         {"body", "", "-",
                          "vector instructions on a tile: vmul z x x; vexp z z; a pipe_barrier after each"},
                         {"blocks", "", "1", "of the launch"},
                         {"unit", "B", "512", "blocks get whole units of so many bytes"},
                         {"slots", "", "1", "sets of buffers in UB: 2 lets loads overlap with the tile before"},
                         {"places", "B", "-",
                          "in UB, of x, y and z of each set, with blanks; one behind the other if not given"},
                         {"serial", "", "0", "1: a load into a set of buffers waits until their last tile is stored"},
                         {"ops", "", "1", "how often the body is done for each tile"},
                         {"scalar", "cycle", "0", "scalar work for each tile"},
                         {"type", "", "f16", "of the addition"},
                         {"bypass_l2", "", "0", "1: the inputs go past L2"},
                         {"host", "us", "0", "in the measured bandwidth: the call and the synchronisation"},
                         l2_parameter("empty")},
          .metrics = metrics(),
          .kernel = elementwise_kernel,
          .measure = measure_elementwise};
}

}  // namespace vinci::validate
