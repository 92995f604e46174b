// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "isa/numeric/lanes.h"
#include "isa/table/exec.h"
#include "isa/table/table.h"

// Host speed of the vector unit, as bytes read and written per second on data in the first-level cache:
//   memcpy/READ+WRITE   the yardstick: a copy that moves as many bytes
//   kernel/NAME         a bare lane kernel on 16 repeats, one call for each
//   repeats/NAME        the kernel that takes them all, where there is one
//   insn/NAME           the whole instruction on 16 repeats in UB, all lanes active
// A run of everything, sorted: vinci_bench_vector --benchmark_format=csv | sort -t, -k6 -n
namespace vinci::isa {
namespace {

constexpr usize kRepeats = 16;
constexpr usize kOperand = kRepeats * kRepeatBytes;

// Ordinary numbers of a type, between 0.25 and 0.75: nothing overflows, vanishes or is not finite in any of the
// operations below, also when a fused form meets its own result again.
void fill(std::byte* to, usize bytes, LaneType type) {
  for (usize i = 0; i < bytes / lane_bytes(type); ++i) {
    const float x = 0.005f * static_cast<float>(i % 97) + 0.25f;
    u64 bits = 0;
    switch (type) {
      case LaneType::f16: bits = f16_bits(x); break;
      case LaneType::bf16: bits = std::bit_cast<u32>(x) >> 16; break;
      case LaneType::f32: bits = std::bit_cast<u32>(x); break;
      default: bits = i % 97; break;
    }
    std::memcpy(to + i * lane_bytes(type), &bits, lane_bytes(type));
  }
}

using Buffers = std::vector<LaneBuffer>;
Buffers buffers(LaneType type) {
  Buffers out(kRepeats);
  fill(out.data()->bytes.data(), kOperand, type);
  return out;
}

void copy(benchmark::State& state) {
  const auto bytes = static_cast<usize>(state.range(0));
  std::vector<std::byte> from(bytes / 2), to(bytes / 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes / 2);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Runs one kernel over all repeats; `bytes` are those read and written for each.
template <class F>
void kernel_bench(const std::string& name, usize bytes, F run) {
  benchmark::RegisterBenchmark(("kernel/" + name).c_str(), [run, bytes](benchmark::State& state) {
    Buffers a = run.a(), b = run.b(), out(kRepeats);
    for (auto _ : state) {
      for (usize i = 0; i < kRepeats; ++i)
        benchmark::DoNotOptimize(run(a[i], b[i], out[i]));
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations() * kRepeats * bytes));
  });
}

// The same with a kernel that takes all repeats; each has `a_bytes`, and `out_bytes` of results.
void repeats_bench(const std::string& name, RepeatsKernel kernel, LaneType from, usize a_bytes, usize out_bytes,
                   usize operands) {
  if (kernel == nullptr) return;
  benchmark::RegisterBenchmark(("repeats/" + name).c_str(), [=](benchmark::State& state) {
    Buffers a = buffers(from), b = buffers(from), out(kRepeats);
    const auto first = [](Buffers& x) { return x.data()->bytes.data(); };
    const Repeats job{{first(a), a_bytes}, {first(b), a_bytes}, first(out), out_bytes, kRepeats, {}};
    for (auto _ : state) {
      benchmark::DoNotOptimize(kernel(job));
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations() * kRepeats * (a_bytes * operands + out_bytes)));
  });
}

struct Unary {
  UnaryKernel kernel;
  LaneType from;
  Buffers a() const { return buffers(from); }
  Buffers b() const { return Buffers(kRepeats); }
  u64 operator()(const LaneBuffer& x, const LaneBuffer&, LaneBuffer& out) const { return kernel(x, out, {}); }
};
struct Binary {
  BinaryKernel kernel;
  LaneType type;
  Buffers a() const { return buffers(type); }
  Buffers b() const { return buffers(type); }
  u64 operator()(const LaneBuffer& x, const LaneBuffer& y, LaneBuffer& out) const { return kernel(x, y, out, {}); }
};
struct Compare {
  CompareKernel kernel;
  LaneType type;
  Buffers a() const { return buffers(type); }
  Buffers b() const { return buffers(type); }
  u64 operator()(const LaneBuffer& x, const LaneBuffer& y, LaneBuffer& out) const {
    LaneBits bits;
    const u64 status = kernel(x, y, bits);
    std::memcpy(out.bytes.data(), bits.data(), sizeof bits);
    return status;
  }
};

void register_kernels() {
  constexpr std::array<std::string_view, 8> kUnary{"relu", "abs", "exp", "ln", "rec", "sqrt", "rsqrt", "not"};
  constexpr std::array<std::string_view, 14> kBinary{"add", "sub",      "mul",      "div",   "max", "min", "and",
                                                     "or",  "add_relu", "sub_relu", "lrelu", "shl", "shr", "shr_round"};
  constexpr std::array<std::string_view, 3> kTernary{"madd", "madd_relu", "mla"};
  for (const LaneType type : {LaneType::f16, LaneType::f32, LaneType::s16, LaneType::s32}) {
    const std::string suffix = '.' + std::string(name(type));
    for (usize op = 0; op < kUnary.size(); ++op) {
      const UnaryKernel k = unary_kernel(static_cast<UnaryOp>(op), type);
      if (k != nullptr) kernel_bench(std::string(kUnary[op]) + suffix, 2 * kRepeatBytes, Unary{k, type});
      repeats_bench(std::string(kUnary[op]) + suffix, unary_repeats(static_cast<UnaryOp>(op), type), type, kRepeatBytes,
                    kRepeatBytes, 1);
    }
    for (usize op = 0; op < kBinary.size(); ++op) {
      const BinaryKernel k = binary_kernel(static_cast<BinaryOp>(op), type);
      if (k != nullptr) kernel_bench(std::string(kBinary[op]) + suffix, 3 * kRepeatBytes, Binary{k, type});
      repeats_bench(std::string(kBinary[op]) + suffix, binary_repeats(static_cast<BinaryOp>(op), type), type,
                    kRepeatBytes, kRepeatBytes, 2);
    }
    for (usize op = 0; op < kTernary.size(); ++op) {
      const TernaryKernel k = ternary_kernel(static_cast<TernaryOp>(op), type, type);
      if (k != nullptr) kernel_bench(std::string(kTernary[op]) + suffix, 4 * kRepeatBytes, Binary{k, type});
      repeats_bench(std::string(kTernary[op]) + suffix, ternary_repeats(static_cast<TernaryOp>(op), type, type), type,
                    kRepeatBytes, kRepeatBytes, 3);
    }
    kernel_bench("cmp_lt" + suffix, 2 * kRepeatBytes + 16, Compare{compare_kernel(CompareOp::lt, type), type});
  }
  for (const auto& [from, to] : std::initializer_list<std::pair<LaneType, LaneType>>{{LaneType::f16, LaneType::f32},
                                                                                     {LaneType::f32, LaneType::f16},
                                                                                     {LaneType::f32, LaneType::s32},
                                                                                     {LaneType::s32, LaneType::f32},
                                                                                     {LaneType::f16, LaneType::s32},
                                                                                     {LaneType::f16, LaneType::s8},
                                                                                     {LaneType::f16, LaneType::u8},
                                                                                     {LaneType::s8, LaneType::f16},
                                                                                     {LaneType::bf16, LaneType::f32},
                                                                                     {LaneType::f32, LaneType::bf16},
                                                                                     {LaneType::f32, LaneType::f32},
                                                                                     {LaneType::s32, LaneType::f16},
                                                                                     {LaneType::s64, LaneType::s32}}) {
    const u32 widest = std::max(lane_bits(from), lane_bits(to));
    kernel_bench("cast." + std::string(name(from)) + ".to." + std::string(name(to)),
                 kRepeatBytes * (lane_bits(from) + lane_bits(to)) / widest,
                 Unary{convert_kernel(from, to, RoundMode::rint), from});
    repeats_bench("cast." + std::string(name(from)) + ".to." + std::string(name(to)),
                  convert_repeats(from, to, RoundMode::rint), from, kRepeatBytes * lane_bits(from) / widest,
                  kRepeatBytes * lane_bits(to) / widest, 1);
  }
}

// An instruction of the table with its operands in UB; every operand that is a stride is the usual one.
void insn_bench(const std::string& mnemonic, u8 form, LaneType from, LaneType to, usize operands) {
  const Row* row = row_of(mnemonic);
  if (row == nullptr) return;
  const std::string label = "insn/" + mnemonic + (row->types.empty() ? "" : '.' + std::string(row->types[form].name));
  benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
    GlobalMemory gm;
    CoreMem mem{BufSizes{0, 0, 0, 0, 0, 192 << 10}, gm};
    Spr spr;
    u64 status = 0;
    ResultRegisters results;
    ExecContext context{mem, spr, Arch::c220, OverflowMode::inf_nan, status, results};
    fill(mem[BufId::UB].bytes(0, 3 * kOperand).data(), 3 * kOperand, from);
    const u32 widest = std::max(lane_bits(from), lane_bits(to));
    ArgsStorage args;
    if (row->set_type != nullptr) row->set_type(args, form);
    for (const FieldInfo& f : row->fields) {
      const bool dst = f.name.starts_with("dst");
      const u32 blocks = 8 * lane_bits(dst ? to : from) / widest;
      const u64 value = f.name == "dst"                 ? 2 * kOperand
                        : f.name == "src1"              ? kOperand
                        : f.name == "repeat"            ? kRepeats
                        : f.name == "scalar"            ? (from == LaneType::f16 ? kF16One : kF32One)
                        : f.name.ends_with("BlkStride") ? 1
                        : f.name.ends_with("RepStride") ? blocks
                                                        : 0;
      f.set(args, value);
    }
    for (auto _ : state)
      row->execute(args, context);
    const usize read = kOperand * lane_bits(from) / widest * operands;
    state.SetBytesProcessed(static_cast<i64>(state.iterations() * (read + kOperand * lane_bits(to) / widest)));
  });
}

void register_instructions() {
  using enum LaneType;
  for (const char* mnemonic : {"vadd", "vsub", "vmul", "vdiv", "vmax", "vmla"}) {
    insn_bench(mnemonic, 0, f16, f16, 2);
    insn_bench(mnemonic, 1, f32, f32, 2);
  }
  for (const char* mnemonic : {"vrelu", "vabs", "vadds", "vmuls", "vexp", "vln", "vsqrt", "vrec", "vrsqrt"}) {
    insn_bench(mnemonic, 0, f16, f16, 1);
    insn_bench(mnemonic, 1, f32, f32, 1);
  }
  insn_bench("vconv_f162f32", 0, f16, f32, 1);
  insn_bench("vconv_f322f16", 0, f32, f16, 1);
  insn_bench("vconv_f322s32r", 0, f32, s32, 1);
  insn_bench("vconv_s322f32", 0, s32, f32, 1);
  insn_bench("vconv_f162s8", 0, f16, s8, 1);
}

}  // namespace
}  // namespace vinci::isa

int main(int argc, char** argv) {
  for (const vinci::i64 bytes : {2, 3, 4})
    benchmark::RegisterBenchmark("memcpy", vinci::isa::copy)->Arg(bytes * vinci::isa::kOperand);
  vinci::isa::register_kernels();
  vinci::isa::register_instructions();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
