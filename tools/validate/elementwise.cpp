// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// z = x + y, a copy z = x, or any element-wise function, tile by tile through UB, each core on a contiguous part.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "isa/base/error.h"
#include "isa/table.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

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

// One instruction of the body, on the repeats from `done` on; strides are those of contiguous operands.
std::string instruction(const std::string& text, const std::string& type, const std::map<char, u64>& addresses,
                        u64 done, const std::string& place) {
  std::istringstream words(text);
  std::string name, word;
  words >> name;
  const auto rows = isa::table();
  const auto row = std::ranges::find(rows, name, &isa::Row::name);
  if (row == rows.end()) fail_at(Fault::Input, place, "body: there is no instruction '{}'", name);
  std::string out = fmt::format("  {}.{}", name, type);
  for (const isa::FieldInfo& f : row->fields) {
    if (f.optional) break;
    std::string value = f.name == "repeat" ? "n" : f.name.ends_with("RepStride") ? "8" : "1";
    if ((f.name == "dst" || f.name.starts_with("src")) && !f.name.ends_with("Stride")) {
      words >> word;
      const auto at = word.size() == 1 ? addresses.find(word[0]) : addresses.end();
      if (at == addresses.end()) fail_at(Fault::Input, place, "body: operands are x, y and z, in '{}'", text);
      value = fmt::format("{}", at->second + done * kRepeatBytes);
    }
    out += fmt::format("{} {}", &f == row->fields.data() ? "" : ",", value);
  }
  return out + "\n";
}

// The body once, for `repeats` of the tile.
std::string compute(const Tiles& t, const std::map<char, u64>& addresses, const std::string& place) {
  std::string s;
  const u64 repeats = t.tile_bytes / kRepeatBytes;
  std::istringstream body(t.body);
  for (std::string line; std::getline(body, line, ';');) {
    for (u64 done = 0; done < repeats; done += kMaxRepeats) {
      s += fmt::format("  sub n, repeats, {}\n  max n, n, 0\n  min n, n, {}\n", done,
                       std::min(kMaxRepeats, repeats - done));
      s += instruction(line, t.type, addresses, done, place);
    }
    if (line.size() < t.body.size()) s += "  pipe_barrier PIPE_V\n";
  }
  return s;
}

std::string text(const Tiles& t, const std::string& where) {
  const u64 units = t.bytes / t.unit;  // the first cores have one more, where it does not come out even
  const bool vector = !t.body.empty();
  const std::string_view reader = vector ? "PIPE_V" : "PIPE_MTE3";  // of what MTE2 loads
  std::string s = fmt::format(".const BASE = {}\n.const MORE = {}\n.const UNIT = {}\n.const TILE = {}\n",
                              units / t.blocks, units % t.blocks, t.unit, t.tile_bytes);
  s += R"(.alias x = X0
.alias y = X1
.alias z = X2
.alias at = X3
.alias end = X4
.alias n = X5
.alias src = X6
.alias blocks = X7
.alias repeats = X8
  ld_arg x, 0
  ld_arg y, 1
  ld_arg z, 2
  get_block_idx at
  add end, at, 1
  min n, end, MORE
  mul end, end, BASE
  add end, end, n
  mul end, end, UNIT
  min n, at, MORE
  mul at, at, BASE
  add at, at, n
  mul at, at, UNIT
)";
  // Whom the next load of a set waits for; if that is not the store, the vector unit waits for the store.
  const std::string_view last = t.serial ? "PIPE_MTE3" : reader;
  const bool stored = vector && !t.serial;
  const auto flags = [&](std::string_view what) {
    for (u64 slot = 0; slot < t.slots; ++slot) {
      s += fmt::format("  {} {}, PIPE_MTE2, {}\n", what, last, slot);
      if (stored) s += fmt::format("  {} PIPE_MTE3, PIPE_V, {}\n", what, slot);
    }
  };
  flags("set_flag");
  s += "loop:\n";
  for (u64 slot = 0; slot < t.slots; ++slot) {
    const u64 operands = t.inputs + vector;
    const auto place = [&](u64 operand) {
      const u64 n = slot * operands + operand;
      return t.places.empty() ? n * t.tile_bytes : t.places[n];
    };
    const u64 ux = place(0), uy = t.inputs == 2 ? place(1) : ux, uz = place(operands - 1);
    s += "  bge at, end, finish\n  sub n, end, at\n  min n, n, TILE\n  shr blocks, n, 5\n";
    if (t.scalar > 0) s += fmt::format("  nop {}\n", t.scalar);
    s += fmt::format("  wait_flag {}, PIPE_MTE2, {}\n", last, slot);
    s += fmt::format("  add src, x, at\n  copy_gm_to_ubuf {}, src, 0, 1, blocks, 0, 0\n", ux);
    if (t.inputs == 2) s += fmt::format("  add src, y, at\n  copy_gm_to_ubuf {}, src, 0, 1, blocks, 0, 0\n", uy);
    if (vector) {
      s += fmt::format("  set_flag PIPE_MTE2, PIPE_V, {0}\n  wait_flag PIPE_MTE2, PIPE_V, {0}\n", slot);
      if (stored) s += fmt::format("  wait_flag PIPE_MTE3, PIPE_V, {}\n", slot);
      s += "  shr repeats, n, 8\n";
      for (u64 op = 0; op < t.ops; ++op)
        s += compute(t, {{'x', ux}, {'y', uy}, {'z', uz}}, where);
      if (stored) s += fmt::format("  set_flag PIPE_V, PIPE_MTE2, {}\n", slot);
      s += fmt::format("  set_flag PIPE_V, PIPE_MTE3, {0}\n  wait_flag PIPE_V, PIPE_MTE3, {0}\n", slot);
    } else {
      s += fmt::format("  set_flag PIPE_MTE2, PIPE_MTE3, {0}\n  wait_flag PIPE_MTE2, PIPE_MTE3, {0}\n", slot);
    }
    s += fmt::format("  add src, z, at\n  copy_ubuf_to_gm src, {}, 0, 1, blocks, 0, 0\n", uz);
    s += fmt::format("  set_flag PIPE_MTE3, {}, {}\n  add at, at, TILE\n", stored ? "PIPE_V" : "PIPE_MTE2", slot);
  }
  s += "  b loop\nfinish:\n";
  flags("wait_flag");
  s += "  pipe_barrier PIPE_ALL\n  end\n";
  return s;
}

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

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
  const Tiles t = read(p);
  const bool bypass = p.flag("bypass_l2");
  return {.code = text(t, p.place()),
          .blocks = static_cast<u32>(t.blocks),
          .l2 = l2_state(p),
          .buffers = {{t.bytes, bypass}, {t.bytes, bypass}, {t.bytes}}};
}

Values measure(const Params& p, const config::ChipConfig& chip) {
  const Tiles t = read(p);
  Values out = kernel_times(kernel(p, chip), chip);
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
          .kernel = kernel,
          .measure = measure};
}

}  // namespace vinci::validate
