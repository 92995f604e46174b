// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include <functional>

#include "tests/unit/isa/vector_model.h"

// Every instruction that works lane by lane, with random masks, strides and repeats, against the model. The values are
// such that every result is exact in every type; what rounding does is tested with the lane kernels.
namespace vinci::isa {
namespace {

constexpr u64 kSrc0 = 0, kSrc1 = 0x1800, kDst = 0x3000, kUsedBytes = 0x4800;

// a: src or src0, b: src1 or the scalar, old: what the destination holds
using Meaning = std::function<double(double a, double b, double old)>;

struct Lanewise {
  std::string_view mnemonic;
  Meaning meaning;
  bool positive = false;  // sources are powers of two, for quotients
};

i64 as_int(double x) { return static_cast<i64>(x); }
double relu(double x) { return std::max(x, 0.0); }

const std::vector<Lanewise>& lanewise() {
  static const std::vector<Lanewise> list{
      {"vadd", [](double a, double b, double) { return a + b; }},
      {"vsub", [](double a, double b, double) { return a - b; }},
      {"vmul", [](double a, double b, double) { return a * b; }},
      {"vdiv", [](double a, double b, double) { return a / b; }, true},
      {"vmax", [](double a, double b, double) { return std::max(a, b); }},
      {"vmin", [](double a, double b, double) { return std::min(a, b); }},
      {"vand", [](double a, double b, double) { return static_cast<double>(as_int(a) & as_int(b)); }},
      {"vor", [](double a, double b, double) { return static_cast<double>(as_int(a) | as_int(b)); }},
      {"vaddrelu", [](double a, double b, double) { return relu(a + b); }},
      {"vsubrelu", [](double a, double b, double) { return relu(a - b); }},
      {"vmadd", [](double a, double b, double old) { return old * a + b; }},
      {"vmaddrelu", [](double a, double b, double old) { return relu(old * a + b); }},
      {"vmla", [](double a, double b, double old) { return old + a * b; }},
      {"vrelu", [](double a, double, double) { return relu(a); }},
      {"vabs", [](double a, double, double) { return std::abs(a); }},
      {"vnot", [](double a, double, double) { return static_cast<double>(~as_int(a)); }},
      {"vcopy", [](double a, double, double) { return a; }},
      {"vector_dup", [](double, double b, double) { return b; }},
      {"vadds", [](double a, double b, double) { return a + b; }},
      {"vmuls", [](double a, double b, double) { return a * b; }},
      {"vmaxs", [](double a, double b, double) { return std::max(a, b); }},
      {"vmins", [](double a, double b, double) { return std::min(a, b); }},
      {"vlrelu", [](double a, double b, double) { return a < 0 ? a * b : a; }},
      {"vaxpy", [](double a, double b, double old) { return old + a * b; }},
      {"vaddreluconv_f162s8", [](double a, double b, double) { return relu(a + b); }},
      {"vaddreluconv_s162s8", [](double a, double b, double) { return relu(a + b); }},
      {"vaddreluconv_f322f16", [](double a, double b, double) { return relu(a + b); }},
      {"vsubreluconv_f162s8", [](double a, double b, double) { return relu(a - b); }},
      {"vsubreluconv_s162s8", [](double a, double b, double) { return relu(a - b); }},
      {"vsubreluconv_f322f16", [](double a, double b, double) { return relu(a - b); }},
      {"vmulconv_f162s8", [](double a, double b, double) { return a * b; }},
      {"vmulconv_f162u8", [](double a, double b, double) { return std::max(a * b, 0.0); }},
  };
  return list;
}

// The types of destination and sources, from the mnemonic or its suffix.
struct Types {
  LaneType dst, src;
};
Types types_of(const Row& row, u8 type) {
  if (!row.types.empty()) {
    if (row.types[type].name == "fmix") return {LaneType::f32, LaneType::f16};
    const LaneType t = type_named(row.types[type].name);
    return {t, t};
  }
  const std::string_view pair = row.name.substr(row.name.find('_') + 1);
  const usize two = pair.find('2', pair.starts_with("bf16")                           ? 4
                                   : pair.starts_with("s8") || pair.starts_with("u8") ? 2
                                   : pair.starts_with("s4")                           ? 2
                                                                                      : 3);
  std::string_view to = pair.substr(two + 1);
  while (!to.empty() && (to.back() < '0' || to.back() > '9'))
    to.remove_suffix(1);
  return {type_named(to), type_named(pair.substr(0, two))};
}

class Walk {
 public:
  Walk(Arch arch, u64 seed) : core_(arch), random_(seed) {}

  void random_call(const Row& row, u8 type, const Meaning& meaning, bool positive) {
    const Types types = types_of(row, type);
    fill(types, positive);
    const bool whole = random_mask(core_, random_);
    VectorCall call(row.name, row.types.empty() ? "" : row.types[type].name);
    call.operands["dst"] = kDst;
    call.operands["repeat"] = below(4);
    bool scalar = false, two = false;
    for (const FieldInfo& f : row.fields) {
      if (f.name.ends_with("BlkStride")) call.operands[f.name] = below(4);
      if (f.name.ends_with("RepStride")) call.operands[f.name] = below(12);
      if (f.name == "src" || f.name == "src0") call.operands[f.name] = kSrc0 + 32 * below(8);
      two = two || f.name == "src1";
      scalar = scalar || f.name == "scalar";
    }
    const double s = value(positive);
    const bool accumulate = two && types.dst == types.src && below(4) == 0;  // dst is src1
    if (two) call.operands["src1"] = accumulate ? kDst : kSrc1 + 32 * below(8);
    if (accumulate) {
      call.operands["dstBlkStride"] = std::max<u64>(1, call["dstBlkStride"]);
      call.operands["src1BlkStride"] = call["dstBlkStride"];
      call.operands["src1RepStride"] = call["dstRepStride"];
    }
    if (scalar) call.operands["scalar"] = lane_bits_of(types.src, s);

    VectorModel model(core_);
    model.set_exact(whole);
    const Footprint footprint = call.footprint(core_);
    run_model(model, call, types, scalar, two, s, meaning);
    call.run(core_);
    model.expect_same(
        core_, footprint,
        fmt::format("{}.{} on {}", row.name, row.types.empty() ? "" : row.types[type].name, name(core_.context.arch)));
    EXPECT_EQ(core_.status & ~status::kNegativeToUnsigned, 0u) << row.name;
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  double value(bool positive) {
    const u64 bits = random_();
    const double magnitude = static_cast<double>(1u << bits % 3);
    return positive || (bits >> 32 & 1) == 0 ? magnitude : -magnitude;
  }

  // Everything in UB is a value of the type that is read there.
  void fill(const Types& types, bool positive) {
    for (u64 at = 0; at < kUsedBytes;) {
      const LaneType t = at < kDst ? types.src : types.dst;
      u64 bits = 0;
      for (unsigned shift = 0; shift < 64; shift += lane_bits(t))
        bits |= lane_bits_of(t, is_float(t) || is_signed_int(t) ? value(positive) : value(true)) << shift;
      core_.mem[BufId::UB].store<u64>(at, bits);
      at += 8;
    }
  }

  void run_model(VectorModel& model, const VectorCall& call, const Types& types, bool scalar, bool two, double s,
                 const Meaning& meaning) const {
    const bool rows = call.row->name == "vcopy" && model.row_elements(0) != 0;
    u64 lanes = 2048 / std::max(lane_bits(types.dst), lane_bits(types.src));
    if (rows) lanes = model.row_elements(lanes);
    const bool one = call.row->name != "vector_dup" && !two;
    const bool updates = call.row->name.starts_with("vm")
                             ? call.row->name == "vmla" || call.row->name == "vmadd" || call.row->name == "vmaddrelu"
                             : call.row->name == "vaxpy";
    const u64 dst_blocks = core_.context.arch == Arch::c100 && call["dstBlkStride"] == 0 ? 1 : call["dstBlkStride"];
    const auto dst = [&](u64 r, u64 i) {
      return VectorModel::place(types.dst, call["dst"], dst_blocks, call["dstRepStride"], r, i);
    };
    for (u64 r = 0; r < (rows ? call["repeat"] : model.repeats(call["repeat"], lanes)); ++r) {
      std::map<u64, u64> results;
      for (u64 i = 0; i < lanes; ++i) {
        if (!rows && !model.active(r, i, lanes)) continue;
        const auto source = [&](std::string_view base, std::string_view block, std::string_view repeat) {
          return lane_value_of(types.src, model.load(types.src, VectorModel::place(types.src, call[base], call[block],
                                                                                   call[repeat], r, i)));
        };
        double a = 0, b = 0, old = 0;
        if (one) a = source("src", "srcBlkStride", "srcRepStride");
        if (two) {
          a = source("src0", "src0BlkStride", "src0RepStride");
          b = source("src1", "src1BlkStride", "src1RepStride");
        }
        if (scalar) b = s;
        if (updates) old = lane_value_of(types.dst, model.load(types.dst, dst(r, i)));
        results[i] = lane_bits_of(types.dst, meaning(a, b, old));
      }
      for (const auto& [i, bits] : results)
        model.store(types.dst, dst(r, i), bits);
    }
  }

  TestCore core_;
  std::mt19937_64 random_;
};

void walk(const Row& row, const Meaning& meaning, bool positive, int rounds) {
  for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200, Arch::c220}) {
    if (!contains(row.archs, arch)) continue;
    for (usize t = 0; t < std::max<usize>(1, row.types.size()); ++t) {
      if (!row.types.empty() && !contains(row.types[t].archs, arch)) continue;
      for (int i = 0; i < rounds; ++i) {
        Walk(arch, 1000 * t + static_cast<u64>(i)).random_call(row, static_cast<u8>(t), meaning, positive);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(VectorWalk, EveryArithmeticInstruction) {
  for (const Lanewise& l : lanewise()) {
    SCOPED_TRACE(l.mnemonic);
    const Row* row = row_of(l.mnemonic);
    ASSERT_NE(row, nullptr);
    walk(*row, l.meaning, l.positive, 16);
  }
}

// Small integers are values of every type, so that all casts leave them as they are.
TEST(VectorWalk, EveryCast) {
  int casts = 0;
  for (const Row& row : table()) {
    if (row.cost != "vector.convert"_cost || row.name.starts_with("scatter_") ||
        row.name.find("deq") != std::string_view::npos)
      continue;
    ++casts;
    SCOPED_TRACE(row.name);
    walk(
        row,
        [to_unsigned = row.name.find("2u8") != std::string_view::npos](double a, double, double) {
          return to_unsigned ? relu(a) : a;
        },
        false, 8);
  }
  EXPECT_EQ(casts, 95);
}

}  // namespace
}  // namespace vinci::isa
