// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/matmul_kernel.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "isa/sem/fractal_kernel.h"
#include "isa/sem/hwy_targets.h"
#include "isa/sem/matmul_inputs.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/sem/matmul_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "isa/sem/matmul_widen-inl.h"

// How it works. Both inputs are widened once for each instruction (MatmulInputs): rows of A then give scalars to
// broadcast at constant distances, and B is one panel [k][16] for each column of fractals, made when its columns are
// multiplied, where there is vector code to make it. A block of rows x fractal columns of C lives in registers while k
// runs.
#ifndef VINCI_ISA_SEM_MATMUL_COMMON
#define VINCI_ISA_SEM_MATMUL_COMMON
namespace vinci::isa {

// An instruction, and memory for its widened inputs.
struct MatmulJob {
  const MatmulTile& tile;
  const MatmulInputs& in;
  std::byte* column;  // [m][16], for a column of C that the matrix does not fill
  bool saturate = false;
};

}  // namespace vinci::isa
#endif

HWY_BEFORE_NAMESPACE();
namespace vinci::isa {
namespace {  // of this file: other kernels may use the same names
namespace HWY_NAMESPACE {

// Where the panels of some columns are. Those that are widened just before they are used, one after the other in the
// same place, stay in the first cache of the host.
template <class Input>
struct WidenedNow {
  static void begin(const MatmulJob& job) { widen_rows<Input>(job.tile, job.in); }
  static const typename Input::T* columns(const MatmulJob& job, usize j, usize count) {
    auto* into = reinterpret_cast<typename Input::T*>(job.in.b);
    widen_columns<Input>(job.tile, job.in, j, count, into);
    return into;
  }
};
template <class T>
struct WidenedBefore {
  static void begin(const MatmulJob&) {}
  static const T* columns(const MatmulJob& job, usize j, usize) {
    return reinterpret_cast<const T*>(job.in.b) + j * job.in.b_panel();
  }
};

// What differs between the types of sums: how a block of C starts, grows and ends.
//   kFused  a product is exact in f32, so that the rounding of a separate one does not exist
template <bool kFused>
struct FloatKind {
  using T = float;
  using D = hn::CappedTag<T, kEdge>;
  using V = hn::Vec<D>;
  static constexpr usize chunk = 16;

  static HWY_INLINE V mul_add(V x, V y, V sum) {
    if constexpr (kFused) return hn::MulAdd(x, y, sum);
    return hn::Add(hn::Mul(x, y), sum);
  }
  static HWY_INLINE V start(D d, const std::byte* c, bool init) {
    return init ? hn::Zero(d) : hn::LoadU(d, reinterpret_cast<const T*>(c));
  }
  // What is collected over a block to see whether anything special happened: here x - x, zero for a finite x.
  static HWY_INLINE V finish(D d, V acc, std::byte* c, bool, bool, V seen) {
    hn::StoreU(acc, d, reinterpret_cast<T*>(c));
    return hn::Or(seen, hn::Sub(acc, acc));
  }
  static bool is_special([[maybe_unused]] D d, V seen) {
    const hn::RebindToUnsigned<D> du;
    return !hn::AllTrue(du, hn::Eq(hn::BitCast(du, seen), hn::Zero(du)));
  }
  // The NaN of the host is not the same everywhere.
  static void repair(D d, std::byte* c) {
    const hn::RebindToUnsigned<D> du;
    const V v = hn::LoadU(d, reinterpret_cast<const T*>(c));
    const V nan = hn::BitCast(d, hn::Set(du, 0x7fc00000u));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(v), nan, v), d, reinterpret_cast<T*>(c));
  }
};

template <bool kUnsigned>
struct IntKind {
  using T = std::int32_t;
  using D = hn::CappedTag<T, kEdge>;
  using V = hn::Vec<D>;
  static constexpr usize chunk = 32;

  static HWY_INLINE V mul_add(V x, V y, V sum) { return hn::Add(hn::Mul(x, y), sum); }
  static HWY_INLINE V start(D d, const std::byte*, bool) { return hn::Zero(d); }
  // Collects sign bits of sums that left the range.
  static HWY_INLINE V finish(D d, V acc, std::byte* c, bool init, bool saturate, V seen) {
    T* at = reinterpret_cast<T*>(c);
    if (init) {
      hn::StoreU(acc, d, at);
      return seen;
    }
    const V before = hn::LoadU(d, at);
    const V sum = hn::Add(before, acc);
    V out, bound;
    if constexpr (kUnsigned) {  // acc has no sign: a carry leaves the top bit
      out = hn::Or(hn::And(before, acc), hn::AndNot(sum, hn::Or(before, acc)));
      bound = hn::Set(d, -1);
    } else {
      out = hn::And(hn::Xor(before, sum), hn::Xor(acc, sum));
      bound = hn::IfThenElse(hn::Lt(before, hn::Zero(d)), hn::Set(d, std::numeric_limits<T>::min()),
                             hn::Set(d, std::numeric_limits<T>::max()));
    }
    hn::StoreU(saturate ? hn::IfThenElse(hn::Lt(out, hn::Zero(d)), bound, sum) : sum, d, at);
    return hn::Or(seen, out);
  }
  static bool is_special([[maybe_unused]] D d, V seen) { return !hn::AllFalse(d, hn::Lt(seen, hn::Zero(d))); }
  static void repair(D, std::byte*) {}
};

// Registers: kMaxRows x kMaxColumns x (16 / lanes) sums, one row of B, one broadcast element of A.
#if HWY_MAX_BYTES == 64
constexpr usize kMaxRows = 8, kMaxColumns = 3;  // 24 + 3 + 1 of 32
#elif HWY_MAX_BYTES == 32
constexpr usize kMaxRows = 4, kMaxColumns = 1;  // 8 + 2 + 1 of 16
#else
constexpr usize kMaxRows = 2, kMaxColumns = 1;  // 8 + 4 + 1 of 16
#endif

// The instruction, prepared: element counts, and distances in elements of the widened inputs.
template <class Kind>
struct Job {
  usize k;
  usize a_step;   // from one chunk to the next
  usize b_panel;  // from one n1 to the next
  bool init, saturate;
};

template <class Kind, usize R, usize F>
HWY_NOINLINE bool multiply_block(const Job<Kind>& job, const typename Kind::T* a, const typename Kind::T* b,
                                 std::byte* const* c) {
  using D = typename Kind::D;
  using V = typename Kind::V;
  constexpr usize lanes = hn::MaxLanes(D());
  constexpr usize vectors = kEdge / lanes;
  const D d;
  V acc[R][F][vectors];
  HWY_UNROLL(8)
  for (usize r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (usize f = 0; f < F; ++f) {
      HWY_UNROLL(4)
      for (usize v = 0; v < vectors; ++v)
        acc[r][f][v] = Kind::start(d, c[f] + (r * kEdge + v * lanes) * 4, job.init);
    }
  }
  const auto step = [&](const typename Kind::T* a_k, const typename Kind::T* b_k) HWY_ATTR {
    V row[F][vectors];
    HWY_UNROLL(4)
    for (usize f = 0; f < F; ++f) {
      HWY_UNROLL(4)
      for (usize v = 0; v < vectors; ++v)
        row[f][v] = hn::Load(d, b_k + f * job.b_panel + v * lanes);
    }
    HWY_UNROLL(8)
    for (usize r = 0; r < R; ++r) {
      const V x = hn::Set(d, a_k[r * Kind::chunk]);
      HWY_UNROLL(4)
      for (usize f = 0; f < F; ++f) {
        HWY_UNROLL(4)
        for (usize v = 0; v < vectors; ++v)
          acc[r][f][v] = Kind::mul_add(x, row[f][v], acc[r][f][v]);
      }
    }
  };
  usize left = job.k;
  for (; left >= Kind::chunk; left -= Kind::chunk, a += job.a_step) {
    HWY_UNROLL(4)
    for (usize kk = 0; kk < Kind::chunk; ++kk, b += kEdge)
      step(a + kk, b);
  }
  for (usize kk = 0; kk < left; ++kk, b += kEdge)
    step(a + kk, b);

  V seen = hn::Zero(d);
  HWY_UNROLL(8)
  for (usize r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (usize f = 0; f < F; ++f) {
      HWY_UNROLL(4)
      for (usize v = 0; v < vectors; ++v) {
        seen = Kind::finish(d, acc[r][f][v], c[f] + (r * kEdge + v * lanes) * 4, job.init, job.saturate, seen);
      }
    }
  }
  if (HWY_LIKELY(!Kind::is_special(d, seen))) return false;
  for (usize f = 0; f < F; ++f) {
    for (usize i = 0; i < R * kEdge; i += lanes)
      Kind::repair(d, c[f] + i * 4);
  }
  return true;
}

// All rows of F columns of fractals; c[f] is row 0 of column f.
template <class Kind, usize F>
bool multiply_columns(const MatmulJob& all, const Job<Kind>& job, const typename Kind::T* b, std::byte* const* c) {
  const auto* a_begin = reinterpret_cast<const typename Kind::T*>(all.in.a);
  const usize m = all.tile.m;
  bool special = false;
  for (usize row = 0; row < m;) {
    const typename Kind::T* a = a_begin + all.in.a_row(row);
    std::byte* at[F];
    for (usize f = 0; f < F; ++f)
      at[f] = c[f] + row * kEdge * 4;
    const usize left = std::min(kEdge - row % kEdge, m - row);
    if (kMaxRows >= 8 && left >= 8) {
      special |= multiply_block<Kind, std::min<usize>(8, kMaxRows), F>(job, a, b, at);
      row += 8;
    } else if (kMaxRows >= 4 && left >= 4) {
      special |= multiply_block<Kind, std::min<usize>(4, kMaxRows), F>(job, a, b, at);
      row += 4;
    } else if (left >= 2) {
      special |= multiply_block<Kind, 2, F>(job, a, b, at);
      row += 2;
    } else {
      special |= multiply_block<Kind, 1, F>(job, a, b, at);
      row += 1;
    }
  }
  return special;
}

template <class Kind, class Panels = WidenedBefore<typename Kind::T>>
bool multiply(const MatmulJob& all) {
  using T = typename Kind::T;
  static_assert(sizeof(T) == 4);
  const MatmulTile& t = all.tile;
  VINCI_CHECK(all.in.chunk == Kind::chunk);
  const usize m1 = ceil_div<usize>(t.m, kEdge), n1 = ceil_div<usize>(t.n, kEdge);
  Panels::begin(all);
  const Job<Kind> job{
      .k = t.k, .a_step = all.in.a_step(), .b_panel = all.in.b_panel(), .init = t.init, .saturate = all.saturate};
  const usize tail = t.n % kEdge;               // columns of the last fractal, 0: all
  const usize column = m1 * kEdge * kEdge * 4;  // bytes
  const usize whole = tail != 0 ? n1 - 1 : n1;
  bool special = false;
  for (usize j = 0; j < whole;) {
    std::byte* c[kMaxColumns];
    for (usize f = 0; f < kMaxColumns; ++f)
      c[f] = t.c + (j + f) * column;
    const usize left = whole - j;
    if (kMaxColumns >= 3 && left >= 3 && left != 4) {
      special |= multiply_columns<Kind, std::min<usize>(3, kMaxColumns)>(all, job, Panels::columns(all, j, 3), c);
      j += 3;
    } else if (kMaxColumns >= 2 && left >= 2) {
      special |= multiply_columns<Kind, std::min<usize>(2, kMaxColumns)>(all, job, Panels::columns(all, j, 2), c);
      j += 2;
    } else {
      special |= multiply_columns<Kind, 1>(all, job, Panels::columns(all, j, 1), c);
      j += 1;
    }
  }
  if (tail != 0) {
    std::byte* at = t.c + whole * column;
    std::memset(all.column, 0, t.m * kEdge * 4);
    for (usize row = 0; row < t.m; ++row)
      std::memcpy(all.column + row * 64, at + row * 64, tail * 4);
    special |= multiply_columns<Kind, 1>(all, job, Panels::columns(all, whole, 1), &all.column);
    for (usize row = 0; row < t.m; ++row)
      std::memcpy(at + row * 64, all.column + row * 64, tail * 4);
  }
  return special;
}

void widen_f16_tile(const MatmulTile& t, const MatmulInputs& in) {
  widen_rows<F16Input>(t, in);
  widen_columns<F16Input>(t, in, 0, ceil_div<usize>(t.n, kEdge), reinterpret_cast<float*>(in.b));
}
bool multiply_f16(const MatmulJob& job) { return multiply<FloatKind<true>, WidenedNow<F16Input>>(job); }
bool multiply_s8(const MatmulJob& job) { return multiply<IntKind<false>, WidenedNow<S8Input>>(job); }
bool multiply_f32(const MatmulJob& job) { return multiply<FloatKind<false>>(job); }
#if HWY_NATIVE_FMA
bool multiply_fused(const MatmulJob& job) { return multiply<FloatKind<true>>(job); }
#else
bool multiply_fused(const MatmulJob& job) {
  return multiply_in_steps(job.tile, job.in, matmul_k0(MatmulType::f32), Accumulation::fused);
}
#endif
bool multiply_s32(const MatmulJob& job) { return multiply<IntKind<false>>(job); }
bool multiply_u32(const MatmulJob& job) { return multiply<IntKind<true>>(job); }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace vinci::isa
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {
namespace {

HWY_EXPORT(widen_f16_tile);
HWY_EXPORT(multiply_f16);
HWY_EXPORT(multiply_s8);
HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_fused);
HWY_EXPORT(multiply_s32);
HWY_EXPORT(multiply_u32);

// Memory that grows to the largest request and is then reused: no allocation for each instruction.
class Arena {
 public:
  std::byte* get(usize bytes) {
    if (bytes > bytes_) {
      memory_ = hwy::AllocateAligned<std::byte>(bytes);
      if (memory_ == nullptr) throw std::bad_alloc();
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<std::byte[]> memory_;
  usize bytes_ = 0;
};

struct Arenas {
  Arena inputs, c;
};

// One for each thread: kernels of different threads never meet.
Arenas& arenas() {
  thread_local Arenas mine;
  return mine;
}

struct Scratch {
  MatmulInputs in;
  std::byte* column;
};

Scratch scratch_for(const MatmulTile& t, MatmulType type) {
  const usize chunk = matmul_chunk(type), k = align_up<usize>(t.k, std::max<usize>(chunk, matmul_k0(type)));
  const usize m = align_up<usize>(t.m, kEdge), n = align_up<usize>(t.n, kEdge);
  std::byte* all = arenas().inputs.get((m * k + k * n + m * kEdge) * 4);
  return {{.a = all, .b = all + m * k * 4, .chunk = chunk, .chunks = k / chunk, .gemv = t.gemv},
          all + (m * k + k * n) * 4};
}

}  // namespace

MatmulResult matmul(const MatmulTile& t, MatmulType type, const MatmulMode& mode) {
  const Scratch scratch = scratch_for(t, type);
  const MatmulInputs& in = scratch.in;
  const MatmulJob job{t, in, scratch.column, mode.saturate};
  const bool in_steps = mode.accumulation == Accumulation::fractal || mode.accumulation == Accumulation::pairwise;
  const u32 k0 = matmul_k0(type);
  if (type == MatmulType::s8) return {.overflow = HWY_DYNAMIC_DISPATCH(multiply_s8)(job)};
  if (type == MatmulType::f16) {  // what is not finite in C comes from the inputs: see Mad::execute
    if (!in_steps) return {.non_finite = HWY_DYNAMIC_DISPATCH(multiply_f16)(job)};
    HWY_DYNAMIC_DISPATCH(widen_f16_tile)(t, in);
    return {.non_finite = multiply_in_steps(t, in, k0, mode.accumulation)};
  }
  widen_portable(t, type, mode.hf32, in);
  if (!is_float(type)) {
    return {.overflow =
                mode.unsigned_sums ? HWY_DYNAMIC_DISPATCH(multiply_u32)(job) : HWY_DYNAMIC_DISPATCH(multiply_s32)(job)};
  }
  const RangeWatch watch(t, in);
  const bool fused = mode.accumulation == Accumulation::fused;
  MatmulResult result = watch.result(t, in_steps ? multiply_in_steps(t, in, k0, mode.accumulation)
                                        : fused  ? HWY_DYNAMIC_DISPATCH(multiply_fused)(job)
                                                 : HWY_DYNAMIC_DISPATCH(multiply_f32)(job));
  // These round no product.
  if (fused || mode.accumulation == Accumulation::fractal) result.underflow = false;
  return result;
}

std::vector<bool> special_results(const MatmulTile& t, MatmulType type, const MatmulMode& mode) {
  const Scratch scratch = scratch_for(t, type);
  if (type == MatmulType::f16) {
    HWY_DYNAMIC_DISPATCH(widen_f16_tile)(t, scratch.in);
  } else {
    widen_portable(t, type, mode.hf32, scratch.in);
  }
  const RangeWatch watch(t, scratch.in);
  std::vector<bool> out(usize{t.m} * t.n);
  for (usize row = 0; row < t.m; ++row) {
    for (usize column = 0; column < t.n; ++column)
      out[row * t.n + column] = watch.special(row, column);
  }
  return out;
}

MatmulResult matmul_f16_f16(const MatmulTile& t, const MatmulMode& mode) {
  const usize n1 = ceil_div<usize>(t.n, kEdge), rows = align_up<usize>(t.m, kEdge);
  const usize column = rows * kEdge;  // elements
  std::byte* wide = arenas().c.get(n1 * column * 4);
  if (!t.init) widen_f16(t.c, reinterpret_cast<float*>(wide), n1 * column);
  MatmulTile inner = t;
  inner.c = wide;
  MatmulResult result = matmul(inner, MatmulType::f16, mode);
  const auto narrow = [&](usize element, usize count) {
    const Narrowed n = narrow_f32(wide + element * 4, t.c + element * 2, count, {.saturate = mode.saturate});
    result.overflow |= n.overflow;
    result.underflow |= n.underflow;
  };
  for (usize j = 0; j < n1; ++j) {
    const usize columns = std::min<usize>(kEdge, t.n - j * kEdge);
    if (columns == kEdge) {
      narrow(j * column, t.m * kEdge);
    } else {
      for (usize row = 0; row < t.m; ++row)
        narrow(j * column + row * kEdge, columns);
    }
  }
  return result;
}

}  // namespace vinci::isa
#endif
