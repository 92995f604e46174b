// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vscatter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "isa/check/repeats.h"
#include "isa/sem/va_blocks.h"
#include "tests/unit/isa/vector_model.h"

// The scatter_* instructions against their plain forms, which are tested elsewhere: repeat by repeat, the blocks are
// gathered into packed copies, the plain form works on those, and its result goes back.
namespace vinci::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr u32 kBlock = 32, kUsedBlocks = 256;

bool is_scatter(const Row& row) {
  return row.name.starts_with("scatter_") && row.name.find("vnchwconv") == std::string_view::npos;
}
bool has(const Row& row, std::string_view field) {
  return std::ranges::any_of(row.fields, [&](const FieldInfo& f) { return f.name == field; });
}
std::string plain_name(const Row& row) {
  const std::string name(row.name.substr(8));
  return name == "vector_mov" ? "vcopy" : name;
}
std::string suffix_of(const Row& row, u8 type) {
  return row.types.empty() ? std::string() : std::string(row.types[type].name);
}

// Bits of a lane of the destination and of the sources, from the mnemonic.
struct Widths {
  u32 dst, src;
};

// "scatter_vconv_f322s16r" reads 32 bits and writes 16. The sources' digits end before a 2 and the letter of a type.
std::optional<Widths> widths_of_conversion(const std::string& name) {
  usize src = 0;  // where the digits of the source begin
  for (const std::string_view prefix : {"scatter_vconv_", "scatter_vmulconv_"}) {
    if (name.starts_with(prefix)) src = prefix.size() + 1;
  }
  if (src == 0) return std::nullopt;
  const usize to = std::min({name.find("2f", src), name.find("2s", src), name.find("2u", src)});
  if (to == std::string::npos) return std::nullopt;
  const auto number = [&](usize at, usize size) { return static_cast<u32>(std::stoi(name.substr(at, size))); };
  return Widths{.dst = number(to + 2, name.npos), .src = number(src, to - src)};
}

Widths widths_of(const Row& row, u8 type) {
  const std::string name(row.name), suffix = suffix_of(row, type);
  if (name == "scatter_vconv_deq") return {16, 32};
  if (const auto widths = widths_of_conversion(name)) return *widths;
  if (suffix == "fmix") return {32, 16};
  const u32 bits = static_cast<u32>(std::stoi(suffix.substr(1)));
  return {bits, bits};
}

class Scattered {
 public:
  Scattered(Arch arch, u64 seed) : core_(arch), plain_(arch), random_(seed) {
    for (u32 at = 0; at < core_.mem[BufId::UB].size(); at += 8)
      core_.mem[BufId::UB].store<u64>(at, random_());
    core_.spr.parameters.write()[SprId::deqscale] = 0x3400;
    if (below(2) == 0) core_.context.overflow = plain_.context.overflow = OverflowMode::saturation;
    core_.results.cmpmask = plain_.results.cmpmask = {random_(), random_()};
  }

  void random_call(const Row& row, u8 type) {
    const bool regular = below(2) == 0;
    const bool whole = random_mask(core_, random_);
    for (u8 va = 0; va < kVaRegisters; ++va)
      core_.spr.parameters.write().va[va] = regular ? spaced_blocks() : random_blocks();
    VectorCall call(row.name, suffix_of(row, type));
    for (const FieldInfo& f : row.fields) {
      if (f.name.ends_with("Stride")) call.operands[f.name] = below(5);
      if (f.name.starts_with("dst") && f.name.size() == 3) call.operands[f.name] = below(8);
      if (f.name.starts_with("src") && f.name.size() <= 4) call.operands[f.name] = below(8);
      if (f.name == "repeat") call.operands[f.name] = below(5);
      if (f.name == "storeHighHalf") call.operands[f.name] = below(2);
      if (f.name == "scalar") call.operands[f.name] = random_() & (~u64{0} >> (64 - widths_of(row, type).src));
    }
    const std::string what = fmt::format("{}.{} on {}", row.name, suffix_of(row, type), name(core_.context.arch));
    const Footprint footprint = call.footprint(core_);
    expect_plain(call, type);
    call.run(core_);
    const auto now = core_.mem[BufId::UB].bytes(0, want_.size());
    EXPECT_TRUE(std::ranges::equal(now, want_)) << what;
    EXPECT_EQ(core_.status, plain_.status) << what;
    EXPECT_EQ(core_.results.cmpmask, plain_.results.cmpmask) << what;
    expect_covered(footprint, whole && regular, what);
  }

 private:
  u64 below(u64 n) { return random_() % n; }

  // Eight blocks, no two the same.
  VaRegister random_blocks() {
    VaRegister va{};
    for (usize i = 0; i < va.size();) {
      va[i] = static_cast<u16>(below(kUsedBlocks));
      if (std::find(va.begin(), va.begin() + static_cast<i64>(i), va[i]) == va.begin() + static_cast<i64>(i)) ++i;
    }
    return va;
  }
  // The same, equally spaced, forwards or backwards.
  VaRegister spaced_blocks() {
    VaRegister va{};
    const u64 first = below(100), step = 1 + below(12);
    const bool back = below(2) == 0;
    for (usize i = 0; i < va.size(); ++i)
      va[i] = static_cast<u16>(first + step * (back ? 7 - i : i));
    return va;
  }

  // What UB holds after the instruction, in want_; status and CMPMASK in plain_; the touched blocks.
  void expect_plain(const VectorCall& call, u8 type) {
    const Row& row = *call.row;
    const Widths widths = widths_of(row, type);
    const u32 lanes = 2048 / std::max(widths.dst, widths.src);
    const auto ub = core_.mem[BufId::UB].bytes(0, core_.mem[BufId::UB].size());
    want_.assign(ub.begin(), ub.end());
    plain_.spr = core_.spr;
    plain_.spr.ctrl &= ~ctrl::kCounterMode;
    const VectorModel masks(core_);

    VectorCall plain(plain_name(row), suffix_of(row, type));
    plain.operands["repeat"] = 1;
    for (const FieldInfo& f : plain.row->fields) {
      if (f.name.ends_with("BlkStride")) plain.operands[f.name] = 1;
    }
    if (has(row, "scalar")) plain.operands["scalar"] = call["scalar"];
    const std::map<std::string_view, u64> copies{{"dst", 0}, {"src", 0x400}, {"src0", 0x400}, {"src1", 0x800}};

    for (u64 r = 0; r < masks.repeats(call["repeat"], lanes); ++r) {
      LaneBits active{};
      u32 first = lanes, last = 0;
      for (u32 i = 0; i < lanes; ++i) {
        if (!masks.active(r, i, lanes)) continue;
        active[i / 64] |= u64{1} << (i % 64);
        first = std::min(first, i);
        last = i;
      }
      if (first == lanes) continue;
      plain_.spr.vector_mask = active;
      for (const auto& [operand, copy] : copies) {
        if (!has(row, operand)) continue;
        plain.operands[operand] = copy;
        const bool dst = operand == "dst";
        const u64 piece = lanes * (dst ? widths.dst : widths.src) / 64;
        for (u32 b = 0; b < 8; ++b) {
          std::copy_n(want_.begin() + static_cast<i64>(place(call, operand, piece, r, b)), piece,
                      plain_.mem[BufId::UB].bytes(copy + b * piece, piece).begin());
          if (b < first / (lanes / 8) || b > last / (lanes / 8)) continue;
          (dst ? written_ : read_).insert(place(call, operand, piece, r, b) / kBlock);
        }
      }
      plain.run(plain_);
      if (!has(row, "dst")) continue;
      const u64 piece = lanes * widths.dst / 64;
      for (u32 b = 0; b < 8; ++b)
        std::ranges::copy(plain_.mem[BufId::UB].bytes(b * piece, piece),
                          want_.begin() + static_cast<i64>(place(call, "dst", piece, r, b)));
    }
  }
  u64 place(const VectorCall& call, std::string_view operand, u64 piece, u64 repeat, u32 block) const {
    const u64 first = core_.spr.parameters->va[call[operand]][block];
    const u64 half = call["storeHighHalf"] != 0 ? kBlock - piece : 0;
    return (first + repeat * call[std::string(operand) + "Stride"]) * kBlock + half;
  }

  void expect_covered(const Footprint& footprint, bool exact, const std::string& what) const {
    std::set<u64> reads, writes;
    for (const Access& a : footprint) {
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 i = 0; i < a.count[0]; ++i) {
          for (u64 b = 0; b < a.len; b += kBlock)
            (a.write ? writes : reads)
                .insert((a.address + b + static_cast<u64>(a.stride[0] * i + a.stride[1] * j)) / kBlock);
        }
      }
    }
    EXPECT_TRUE(std::ranges::includes(reads, read_)) << what;
    EXPECT_TRUE(std::ranges::includes(writes, written_)) << what;
    if (!exact) return;
    EXPECT_EQ(writes, written_) << what;
    std::set<u64> inputs = read_;
    if (updates(what)) inputs.insert(written_.begin(), written_.end());
    EXPECT_EQ(reads, inputs) << what;
  }
  static bool updates(const std::string& what) {
    return what.find("vmadd") != std::string::npos || what.find("vmla") != std::string::npos ||
           what.find("vaxpy") != std::string::npos;
  }

  TestCore core_, plain_;
  std::mt19937_64 random_;
  std::vector<std::byte> want_;
  std::set<u64> read_, written_;  // blocks
};

TEST(Scatter, EveryInstructionIsItsPlainFormOnGatheredBlocks) {
  int forms = 0;
  for (const Row& row : table()) {
    if (!is_scatter(row)) continue;
    for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200}) {
      if (!contains(row.archs, arch)) continue;
      for (usize t = 0; t < std::max<usize>(1, row.types.size()); ++t) {
        if (!row.types.empty() && !contains(row.types[t].archs, arch)) continue;
        ++forms;
        for (u64 i = 0; i < 12; ++i) {
          Scattered(arch, 1000 * t + i).random_call(row, static_cast<u8>(t));
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(forms, 250);
}

// What each architecture has; source: CANN runtime platform_config of Ascend910A and Ascend310P3.
TEST(Scatter, TypesOfEachArchitecture) {
  struct Line {
    std::string_view name, c100, m200;
  };
  constexpr std::array kLines{Line{"vector_mov", "f16 s16 u16 ", "f16 s16 u16 "},
                              Line{"vabs", "f16 f32 ", "f16 f32 "},
                              Line{"vexp", "f16 f32 ", "f16 f32 "},
                              Line{"vrelu", "f16 ", "f16 f32 s32 "},
                              Line{"vrec", "f16 f32 ", "f16 f32 "},
                              Line{"vln", "f16 f32 ", "f16 f32 "},
                              Line{"vrsqrt", "f16 f32 ", "f16 f32 "},
                              Line{"vsqrt", "f16 f32 ", "f16 f32 "},
                              Line{"vadds", "f16 f32 ", "f16 f32 s16 s32 "},
                              Line{"vmuls", "f16 f32 ", "f16 f32 s16 s32 "},
                              Line{"vmaxs", "", "f16 f32 s16 s32 "},
                              Line{"vmins", "", "f16 f32 s16 s32 "},
                              Line{"vaxpy", "f16 f32 fmix ", "f16 f32 fmix "},
                              Line{"vsel", "f16 f32 ", "f16 f32 "},
                              Line{"vcmp_lt", "f16 f32 ", "f16 f32 "},
                              Line{"vadd", "f16 f32 s32 ", "f16 f32 s16 s32 "},
                              Line{"vsub", "f16 f32 s32 ", "f16 f32 s16 s32 "},
                              Line{"vmul", "f16 f32 s32 ", "f16 f32 s16 s32 "},
                              Line{"vmax", "f16 f32 s32 ", "f16 f32 s16 s32 "},
                              Line{"vmin", "f16 f32 s32 ", "f16 f32 s16 s32 "},
                              Line{"vdiv", "f16 f32 ", "f16 f32 "},
                              Line{"vmadd", "f16 f32 ", "f16 f32 "},
                              Line{"vmaddrelu", "f16 f32 ", "f16 f32 "},
                              Line{"vmla", "f16 f32 fmix ", "f16 f32 fmix "}};
  for (const Line& line : kLines) {
    const Row* row = row_of(fmt::format("scatter_{}", line.name));
    ASSERT_NE(row, nullptr) << line.name;
    const auto types_on = [&](Arch arch) {
      std::set<std::string> names;
      for (const TypeForm& t : row->types)
        if (contains(row->archs, arch) && contains(t.archs, arch)) names.insert(std::string(t.name) + " ");
      std::string all;
      for (const std::string& n : names)
        all += n;
      return all;
    };
    EXPECT_EQ(types_on(Arch::c100), line.c100) << line.name;
    EXPECT_EQ(types_on(Arch::m200), line.m200) << line.name;
  }
  std::set<std::string> casts;
  for (const Row& row : table()) {
    if (!is_scatter(row)) continue;
    EXPECT_FALSE(contains(row.archs, Arch::c220)) << row.name;
    if (row.name.find("conv_") == std::string_view::npos) continue;
    casts.insert(std::string(row.name.substr(8)));
    EXPECT_TRUE(contains(row.archs, Arch::c100)) << row.name;
    EXPECT_EQ(contains(row.archs, Arch::m200), row.name != "scatter_vconv_deq") << row.name;
  }
  EXPECT_EQ(casts, (std::set<std::string>{
                       "vmulconv_f162s8", "vmulconv_f162u8", "vconv_deq",      "vconv_f322f16",  "vconv_f162f32",
                       "vconv_f322f16o",  "vconv_f162s8",    "vconv_f162s8a",  "vconv_f162s8f",  "vconv_f162s8c",
                       "vconv_f162s8z",   "vconv_f162u8",    "vconv_f162u8a",  "vconv_f162u8f",  "vconv_f162u8c",
                       "vconv_f162u8z",   "vconv_s322f32",   "vconv_f162s32r", "vconv_f162s32a", "vconv_f162s32f",
                       "vconv_f162s32c",  "vconv_f162s32z",  "vconv_f322s32r", "vconv_f322s32a", "vconv_f322s32f",
                       "vconv_f322s32c",  "vconv_f322s32z",  "vconv_u82f16",   "vconv_s82f16",   "vconv_s322f16"}));
}

auto set_is(u32 first, u32 count, u32 stride, u32 range) {
  return testing::AllOf(testing::Field(&insn::BlockSet::first, first), testing::Field(&insn::BlockSet::count, count),
                        testing::Field(&insn::BlockSet::stride, stride), testing::Field(&insn::BlockSet::range, range));
}

TEST(Scatter, BlocksAreFewSetsOrRanges) {
  const std::array<u32, 6> blocks{0x600, 0, 0x40, 0x20, 0x700, 0x20};
  EXPECT_THAT(insn::block_sets(blocks, 2), ElementsAre(set_is(0, 3, 0x20, 0), set_is(0x600, 2, 0x100, 0)));
  EXPECT_THAT(insn::block_sets(blocks, 1), ElementsAre(set_is(0, 1, 0, 0x720)));
  const std::array<u32, 5> uneven{0, 0x20, 0x60, 0x1000, 0x1060};
  EXPECT_THAT(insn::block_sets(uneven, 2), ElementsAre(set_is(0, 1, 0, 0x80), set_is(0x1000, 1, 0, 0x80)));
}

// Columns of two blocks each, as a transpose of 32 bits writes them.
TEST(Scatter, RunsOfBlocksAreExact) {
  std::array<u32, 16> blocks{};
  for (u32 i = 0; i < blocks.size(); ++i)
    blocks[i] = i / 2 * 0xc0 + i % 2 * 0x20;
  EXPECT_THAT(insn::block_sets(blocks, 4), ElementsAre(set_is(0, 8, 0xc0, 0), set_is(0x20, 8, 0xc0, 0)));
}

// Two runs of repeats and four uses of blocks without order still fit.
TEST(Scatter, FootprintHasRoomForAnyBlocks) {
  TestCore core(Arch::m200);
  core.spr.ctrl |= ctrl::kCounterMode;
  core.spr.vector_mask = {64 * 3 + 40, 0};
  for (u8 va = 0; va < 3; ++va)
    core.spr.parameters.write().va[va] = {1, 90, 4, 33, 72, 50, 7, static_cast<u16>(20 + va)};
  VectorCall call("scatter_vmla", "f32");
  call.operands = {{"dst", 0},         {"src0", 1},       {"src1", 2},      {"repeat", 1},
                   {"dstStride", 100}, {"src0Stride", 0}, {"src1Stride", 9}};
  const Footprint f = call.footprint(core);
  EXPECT_EQ(f.size(), Footprint::kMaxAccesses);
  for (const Access& a : f)
    EXPECT_EQ(a.unit, a.len) << a.operand;  // ranges, of which some bytes may never have been written
}

TEST(Scatter, OverlapsOfRepeatsAreKnown) {
  TestCore core(Arch::c100);
  core.spr.parameters.write().va[0] = {0, 8, 16, 24, 32, 40, 48, 56};
  core.spr.parameters.write().va[1] = {1, 9, 17, 25, 33, 41, 49, 57};
  VectorCall call("scatter_vabs", "f16");
  call.operands = {{"dst", 0}, {"src", 0}, {"repeat", 4}, {"dstStride", 64}, {"srcStride", 64}};
  EXPECT_FALSE(check::find_repeat_fault(call.footprint(core)));
  call.operands["dst"] = 1;  // a repeat writes what the next one reads
  call.operands["dstStride"] = call.operands["srcStride"] = 1;
  const Footprint f = call.footprint(core);
  const auto fault = check::find_repeat_fault(f);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->later);
  EXPECT_EQ(fault->begin, 32u);
}

TEST(Scatter, RefusesWhatHasNoMeaning) {
  TestCore core(Arch::m200);
  VectorCall sel("scatter_vsel", "f16");
  sel.operands = {{"repeat", 1}, {"mode", 1}};
  EXPECT_THAT(error_of([&] { sel.footprint(core); }), HasSubstr("mode = 1 of scatter_vsel has no public form"));
  VectorCall adds("scatter_vadds", "f16");
  adds.operands = {{"repeat", 1}, {"scalar", 0x3f800000}};
  EXPECT_THAT(error_of([&] { adds.footprint(core); }), HasSubstr("does not fit a lane of type f16"));
  TestCore first(Arch::c100);
  first.spr.ctrl |= ctrl::kCounterMode;
  EXPECT_THAT(error_of([&] { VectorCall("scatter_vabs", "f16").footprint(first); }),
              HasSubstr("has no counter mode of the vector mask"));
}

}  // namespace
}  // namespace vinci::isa
