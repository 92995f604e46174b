// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <string>

#include "isa/table/table.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/lane_samples.h"
#include "tests/unit/isa/test_core.h"

// Every kernel that works on repeats in place against a loop over the portable kernel of one repeat, value and
// STATUS, on every vector instruction set of this machine.
namespace vinci::isa {
namespace {

// What is compared: an operation, and the kernels that do it.
struct Case {
  std::string name;
  LaneType from, to;
  UnaryKernel unary = nullptr;
  BinaryKernel binary = nullptr;  // or a ternary one
  RepeatsKernel repeats = nullptr;

  usize bytes(LaneType t) const { return kRepeatBytes * lane_bits(t) / std::max(lane_bits(from), lane_bits(to)); }

  // The loop.
  u64 expected(const Repeats& job) const {
    u64 raised = 0;
    for (usize n = 0; n < job.count; ++n) {
      LaneBuffer a{}, b{}, out{};
      std::memcpy(a.bytes.data(), job.a.at(n), bytes(from));
      if (binary != nullptr) std::memcpy(out.bytes.data(), job.out + n * job.out_stride, bytes(to));
      if (binary != nullptr) std::memcpy(b.bytes.data(), job.b.at(n), bytes(from));
      raised |= binary != nullptr ? binary(a, b, out, job.mode) : unary(a, out, job.mode);
      std::memcpy(job.out + n * job.out_stride, out.bytes.data(), bytes(to));
    }
    return raised;
  }
};

constexpr std::array kTypes{LaneType::f16, LaneType::f32, LaneType::s16, LaneType::u16,  LaneType::s32, LaneType::u32,
                            LaneType::s8,  LaneType::u8,  LaneType::s4,  LaneType::bf16, LaneType::s64};

std::vector<Case> cases(Path path) {
  std::vector<Case> out;
  const auto add = [&](Case c) {
    if (c.repeats != nullptr) out.push_back(std::move(c));
  };
  for (const LaneType t : kTypes) {
    for (int i = 0; i <= static_cast<int>(UnaryOp::not_); ++i) {
      const UnaryOp op = static_cast<UnaryOp>(i);
      add({"unary " + std::to_string(i) + ' ' + std::string(name(t)), t, t, unary_kernel(op, t, Path::portable),
           nullptr, unary_repeats(op, t, path)});
    }
    for (int i = 0; i <= static_cast<int>(BinaryOp::shr_round); ++i) {
      const BinaryOp op = static_cast<BinaryOp>(i);
      add({"binary " + std::to_string(i) + ' ' + std::string(name(t)), t, t, nullptr,
           binary_kernel(op, t, Path::portable), binary_repeats(op, t, path)});
    }
    for (const LaneType dst : {LaneType::f16, LaneType::f32}) {
      for (const TernaryOp op : {TernaryOp::madd, TernaryOp::madd_relu, TernaryOp::mla}) {
        add({"ternary " + std::to_string(static_cast<int>(op)) + ' ' + std::string(name(dst)), t, dst, nullptr,
             ternary_kernel(op, dst, t, Path::portable), ternary_repeats(op, dst, t, path)});
      }
    }
    for (const LaneType to : kTypes) {
      for (const RoundMode round :
           {RoundMode::rint, RoundMode::floor, RoundMode::ceil, RoundMode::round, RoundMode::trunc, RoundMode::odd}) {
        add({"cast " + std::string(name(t)) + " to " + std::string(name(to)) + ' ' + std::string(name(round)), t, to,
             convert_kernel(t, to, round, Path::portable), nullptr, convert_repeats(t, to, round, path)});
      }
    }
  }
  return out;
}

// Calls f with each case of each instruction set; AVX512-FP16 where this machine has it.
template <class F>
void each_case(F f) {
  each_target([&] {
    for (const Path path : {Path::simd, Path::fastest}) {
      if (path == Path::fastest && !detail::host_has_avx512fp16()) continue;
      SCOPED_TRACE(path == Path::simd ? "simd" : "AVX512-FP16");
      const auto list = cases(path);
      EXPECT_GE(list.size(), 22u);
      for (const Case& c : list) {
        SCOPED_TRACE(c.name);
        f(c);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

TEST(Repeats, OneByOne) {
  each_case([](const Case& c) {
    const auto a = samples(c.from, 21, 480, 12, 1);
    const auto b = samples(c.from, 22, 480, 12, 3);
    const auto held = samples(c.to, 23, 480, 12, 7);
    for (const LaneMode& mode : kModes) {
      for (usize i = 0; i < a.size(); ++i) {
        LaneBuffer got = held[i % held.size()], want = got;
        const Repeats job{{a[i].bytes.data(), 0}, {b[i].bytes.data(), 0}, got.bytes.data(), 0, 1, mode};
        Repeats other = job;
        other.out = want.bytes.data();
        ASSERT_EQ(c.repeats(job), c.expected(other)) << i;
        ASSERT_EQ(std::memcmp(got.bytes.data(), want.bytes.data(), kRepeatBytes), 0) << i;
      }
    }
  });
}

// Every f16 with values around it, and as many f32 near those that f16 can hold.
TEST(Repeats, Sweep) {
  constexpr usize kBytes = usize{65536} * 4;
  each_case([&](const Case& c) {
    std::vector<std::byte> a(kBytes), b(kBytes), got(2 * kBytes), want(2 * kBytes);
    oracle::Random random(31);
    for (u32 i = 0; i < 65536; ++i) {
      const u64 r = random.next();
      if (c.from == LaneType::f16) {
        const u32 pair = i << 16 | ((i + (r & 7)) & 0xffff);
        const u32 other = static_cast<u32>(r >> 32);
        std::memcpy(a.data() + 4 * usize{i}, &pair, 4);
        std::memcpy(b.data() + 4 * usize{i}, &other, 4);
      } else {
        // An f16 widened, a tie between two, or a neighbour of these; now and then any bits.
        const float value = f16_value(static_cast<u16>(i));
        const u32 near =
            std::bit_cast<u32>(value) + static_cast<u32>(r & 1) * 0x1000 + static_cast<u32>(r >> 1 & 3) - 1;
        const u32 bits = (r >> 8 & 63) == 0 ? static_cast<u32>(r >> 32) : near;
        const u32 other = static_cast<u32>(random.next());
        std::memcpy(a.data() + 4 * usize{i}, &bits, 4);
        std::memcpy(b.data() + 4 * usize{i}, &other, 4);
      }
    }
    for (usize n = 0; n < kBytes / c.bytes(c.from); ++n) {
      const auto from = [&](const std::vector<std::byte>& x) {
        return Repeats::Source{x.data() + n * c.bytes(c.from), 0};
      };
      Repeats job{from(a), from(b), got.data() + n * c.bytes(c.to), 0, 1, {}};
      const u64 raised = c.repeats(job);
      job.out = want.data() + n * c.bytes(c.to);
      ASSERT_EQ(raised, c.expected(job)) << "repeat " << n;
    }
    ASSERT_TRUE(got == want);
  });
}

// Ordinary numbers with some that are special, in blocks of 32 bytes.
std::vector<std::byte> memory_of(LaneType type, u64 seed, usize repeats) {
  std::vector<std::byte> out;
  for (const LaneBuffer& x : samples(type, seed, repeats))
    out.insert(out.end(), x.bytes.begin(), x.bytes.end());
  return out;
}

// Strides from nothing to gaps, operands that overlap in any way.
TEST(Repeats, StridesAndOverlaps) {
  each_case([](const Case& c) {
    oracle::Random random(41);
    const auto memory = memory_of(c.from, 42, 24);
    const usize blocks = 24 * kRepeatBytes / 32;
    for (int i = 0; i < 200; ++i) {
      const usize count = random.next() % 8;
      const auto place = [&] { return random.next() % (blocks - 8 * 16) * 32; };
      const auto stride = [&] { return random.next() % 16 * 32; };
      const usize a = place(), b = place(), out = i % 3 == 0 ? a : place();
      const usize sa = stride(), sb = stride(), so = i % 6 == 0 ? sa : stride();
      auto got = memory, want = memory;
      const auto job = [&](std::vector<std::byte>& m) {
        return Repeats{{m.data() + a, sa}, {m.data() + b, sb}, m.data() + out, so, count, kModes[i % kModes.size()]};
      };
      ASSERT_EQ(c.repeats(job(got)), c.expected(job(want)));
      ASSERT_TRUE(got == want) << i;
    }
  });
}

// Instructions whose lanes are contiguous take these kernels: against the loop again, in counter mode with a repeat
// that is not full, and with operands that overlap.
TEST(Repeats, Instructions) {
  struct Insn {
    std::string_view mnemonic;
    LaneType from, to;
    UnaryKernel unary = nullptr;
    BinaryKernel binary = nullptr;  // or a ternary one
    bool scalar = false;
  };
  constexpr LaneType f16 = LaneType::f16, f32 = LaneType::f32;
  std::vector<Insn> list;
  for (const LaneType t : {f16, f32}) {
    for (const auto& [n, op] : {std::pair{"vadd", BinaryOp::add},
                                {"vsub", BinaryOp::sub},
                                {"vmul", BinaryOp::mul},
                                {"vmax", BinaryOp::max},
                                {"vmin", BinaryOp::min}})
      list.push_back({n, t, t, nullptr, binary_kernel(op, t, Path::portable)});
    for (const auto& [n, op] : {std::pair{"vadds", BinaryOp::add},
                                {"vmuls", BinaryOp::mul},
                                {"vmaxs", BinaryOp::max},
                                {"vmins", BinaryOp::min}})
      list.push_back({n, t, t, nullptr, binary_kernel(op, t, Path::portable), true});
    list.push_back({"vmadd", t, t, nullptr, ternary_kernel(TernaryOp::madd, t, t, Path::portable)});
    list.push_back({"vmla", t, t, nullptr, ternary_kernel(TernaryOp::mla, t, t, Path::portable)});
    list.push_back({"vaxpy", t, t, nullptr, ternary_kernel(TernaryOp::mla, t, t, Path::portable), true});
    for (const auto& [n, op] : {std::pair{"vrelu", UnaryOp::relu}, {"vabs", UnaryOp::abs}})
      list.push_back({n, t, t, unary_kernel(op, t, Path::portable)});
  }
  list.push_back({"vconv_f162f32", f16, f32, convert_kernel(f16, f32, RoundMode::rint, Path::portable)});
  list.push_back({"vconv_f322f16", f32, f16, convert_kernel(f32, f16, RoundMode::rint, Path::portable)});
  oracle::Random random(51);
  for (const Insn& insn : list) {
    SCOPED_TRACE(std::string(insn.mnemonic) + '.' + std::string(name(insn.from)));
    const Row* row = row_of(insn.mnemonic);
    ASSERT_NE(row, nullptr);
    const auto memory = memory_of(insn.from, 52, 48);
    const u32 widest = std::max(lane_bits(insn.from), lane_bits(insn.to));
    const usize lanes = 8 * kRepeatBytes / widest;
    for (int i = 0; i < 300; ++i) {
      TestCore core(Arch::c220, i % 2 == 0 ? OverflowMode::inf_nan : OverflowMode::saturation);
      const View& ub = core.mem[BufId::UB];
      std::memcpy(ub.bytes(0, memory.size()).data(), memory.data(), memory.size());
      const auto place = [&] { return random.next() % 128 * 32; };
      const auto stride = [&] { return random.next() % 12; };
      const u64 src0 = place(), src1 = place(), dst = i % 3 == 0 ? src0 : place();
      const u64 step0 = stride(), step1 = stride(), step = i % 6 == 0 ? step0 : stride();
      const u64 scalar = random.next() & (insn.from == f16 ? 0xffff : 0xffffffff);
      const usize elements = random.next() % (10 * lanes);
      const bool counter = i % 5 < 2;
      const usize repeats = counter ? (elements + lanes - 1) / lanes : elements / lanes;
      core.spr.ctrl = counter ? ctrl::kCounterMode : 0;
      core.spr.vector_mask = counter ? std::array<u64, 2>{elements, 0} : std::array<u64, 2>{~u64{0}, ~u64{0}};
      ArgsStorage args;
      for (usize form = 0; form < row->types.size(); ++form) {
        if (row->types[form].name == name(insn.from)) row->set_type(args, static_cast<u8>(form));
      }
      for (const FieldInfo& f : row->fields) {
        f.set(args, f.name == "dst"                                         ? dst
                    : f.name == "src0" || f.name == "src"                   ? src0
                    : f.name == "src1"                                      ? src1
                    : f.name == "scalar"                                    ? scalar
                    : f.name == "repeat"                                    ? (counter ? 0 : repeats)
                    : f.name == "dstRepStride"                              ? step
                    : f.name == "src0RepStride" || f.name == "srcRepStride" ? step0
                    : f.name == "src1RepStride"                             ? step1
                    : f.name.ends_with("BlkStride")                         ? 1
                                                                            : f.fallback);
      }
      row->execute(args, core.context);

      auto want = memory;
      u64 raised = 0;
      for (usize r = 0; r < repeats; ++r) {
        const usize active = counter ? std::min(lanes, elements - r * lanes) : lanes;
        const usize read = active * lane_bits(insn.from) / 8;
        LaneBuffer a{}, b{}, out{};  // zeros raise nothing
        std::memcpy(a.bytes.data(), want.data() + src0 + r * step0 * 32, read);
        std::memcpy(b.bytes.data(), want.data() + src1 + r * step1 * 32, read);
        if (insn.binary != nullptr) std::memcpy(out.bytes.data(), want.data() + dst + r * step * 32, read);
        for (usize at = 0; insn.scalar && at < read; at += lane_bytes(insn.from))
          std::memcpy(b.bytes.data() + at, &scalar, lane_bytes(insn.from));
        const LaneMode mode{core.context.overflow, false, {}};
        raised |= insn.binary != nullptr ? insn.binary(a, b, out, mode) : insn.unary(a, out, mode);
        std::memcpy(want.data() + dst + r * step * 32, out.bytes.data(), active * lane_bits(insn.to) / 8);
      }
      ASSERT_EQ(core.status, raised) << i;
      ASSERT_EQ(std::memcmp(ub.bytes(0, want.size()).data(), want.data(), want.size()), 0) << i;
    }
  }
}

}  // namespace
}  // namespace vinci::isa
