// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "ascendc/matmul/tiling_data.h"
#include "tiling/platform/platform_ascendc.h"

// The host's side of Matmul: cuts a product for the cores of a chip and for their memories. What is cut how is our own
// choice; it holds the published limits of TCubeTiling. Documentation: Ascend C API, Matmul tiling classes.
namespace matmul_tiling {

enum class TPosition : int32_t {
  GM = 0,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  MAX
};
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };
enum class DataType : int32_t {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_STRING = 13,
  DT_DUAL_SUB_INT8 = 14,
  DT_DUAL_SUB_UINT8 = 15,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_QINT8 = 18,
  DT_QINT16 = 19,
  DT_QINT32 = 20,
  DT_QUINT8 = 21,
  DT_QUINT16 = 22,
  DT_RESOURCE = 23,
  DT_STRING_REF = 24,
  DT_DUAL = 25,
  DT_VARIANT = 26,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_BFLOAT16 = 33,
  DT_HIFLOAT8 = 34,
  DT_FLOAT8_E4M3FN = 35,
  DT_FLOAT8_E5M2 = 36,
  DT_FLOAT4_E2M1 = 37,
  DT_FLOAT8_E8M0 = 38,
  DT_FLOAT4_E1M2 = 39,
  DT_MAX = 40
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1 };
enum class DequantType { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct MatmulConfigParams {
  int32_t mmConfigType;
  bool enableL1CacheUB;
  ScheduleType scheduleType;
  MatrixTraverse traverse;
  bool enVecND2NZ;
  MatmulConfigParams(int32_t type = 1, bool l1_cache_ub = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                     MatrixTraverse order = MatrixTraverse::NOSET, bool vector_nd2nz = false)
      : mmConfigType(type),
        enableL1CacheUB(l1_cache_ub),
        scheduleType(schedule),
        traverse(order),
        enVecND2NZ(vector_nd2nz) {}
};

// Bytes of the memories that a product is cut for.
struct PlatformInfo {
  platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
  uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0, btSize = 0, fbSize = 0;

  static PlatformInfo Of(const platform_ascendc::PlatformAscendC& platform) {
    using platform_ascendc::CoreMemType;
    PlatformInfo p;
    p.socVersion = platform.GetSocVersion();
    platform.GetCoreMemSize(CoreMemType::L1, p.l1Size);
    platform.GetCoreMemSize(CoreMemType::L0_C, p.l0CSize);
    platform.GetCoreMemSize(CoreMemType::UB, p.ubSize);
    platform.GetCoreMemSize(CoreMemType::L0_A, p.l0ASize);
    platform.GetCoreMemSize(CoreMemType::L0_B, p.l0BSize);
    platform.GetCoreMemSize(CoreMemType::BT, p.btSize);
    platform.GetCoreMemSize(CoreMemType::FB, p.fbSize);
    return p;
  }
};

class MatmulApiTilingBase {
 public:
  MatmulApiTilingBase() : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform)
      : MatmulApiTilingBase(PlatformInfo::Of(platform)) {}
  explicit MatmulApiTilingBase(const PlatformInfo& platform) : memory_(platform) {}
  virtual ~MatmulApiTilingBase() = default;

  // Each gives 0, or -1 for values that cannot be.
  int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) {
    a_ = {pos, type, dataType, isTrans};
    return 0;
  }
  int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) {
    b_ = {pos, type, dataType, isTrans};
    return 0;
  }
  int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType) {
    c_ = {pos, type, dataType, false};
    return 0;
  }
  int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType) {
    bias_ = {pos, type, dataType, false};
    return 0;
  }
  int32_t SetDequantType(DequantType) { return 0; }
  int32_t SetMadType(MatrixMadType) { return 0; }
  // -1: as the original shape.
  int32_t SetShape(int32_t m, int32_t n, int32_t k) {
    shape_ = {m, n, k};
    const auto possible = [](int32_t size) { return size > 0 || size == -1; };
    return possible(m) && possible(n) && possible(k) ? 0 : -1;
  }
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
    org_kb_ = kb;
    return kb <= 0 ? -1 : Set(org_, {m, n, ka});
  }
  int32_t SetFixSplit(int32_t baseM = -1, int32_t baseN = -1, int32_t baseK = -1) {
    fixed_ = {baseM, baseN, baseK};
    return 0;
  }
  int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1, int32_t minN = -1,
                        int32_t minK = -1) {
    most_ = {maxM, maxN, maxK};
    least_ = {minM, minN, minK};
    return 0;
  }
  int32_t EnableBias(bool isBias = false) {
    has_bias_ = isBias;
    return 0;
  }
  // Of weights of which two of four are there: what a step of k takes is whole fractals of them.
  int32_t SetSparse(bool isSparseIn = false) {
    sparse_ = isSparseIn;
    return 0;
  }
  int32_t SetBias(bool isBias = false) { return EnableBias(isBias); }
  int32_t SetTraverse(MatrixTraverse traverse) {
    traverse_ = traverse;
    return 0;
  }
  int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bt = -1) {
    const auto limit = [](uint64_t& size, int32_t to) {
      if (to >= 0) size = std::min<uint64_t>(size, static_cast<uint64_t>(to));
    };
    limit(memory_.l1Size, l1);
    limit(memory_.l0CSize, l0c);
    limit(memory_.ubSize, ub);
    limit(memory_.btSize, bt);
    return 0;
  }
  int32_t SetDoubleBuffer(bool a, bool b, bool /*c*/, bool /*bias*/, bool /*transA*/ = true, bool /*transB*/ = true) {
    double_a_ = a;
    double_b_ = b;
    return 0;
  }
  void SetMatmulConfigParams(int32_t /*mmConfigType*/ = 1, bool /*enableL1CacheUB*/ = false,
                             ScheduleType /*scheduleType*/ = ScheduleType::INNER_PRODUCT,
                             MatrixTraverse traverse = MatrixTraverse::NOSET, bool /*enVecND2NZ*/ = false) {
    if (traverse != MatrixTraverse::NOSET) traverse_ = traverse;
  }
  void SetMatmulConfigParams(const MatmulConfigParams& p) {
    SetMatmulConfigParams(p.mmConfigType, p.enableL1CacheUB, p.scheduleType, p.traverse);
  }
  int32_t SetBatchNum(int32_t batch) {
    batch_ = batch;
    return batch > 0 ? 0 : -1;
  }
  int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k) {
    batch_ = std::max(batchA, batchB);
    SetOrgShape(m, n, k);
    return SetShape(m, n, k);
  }
  int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(a_layout_, {b, s, n, g, d}); }
  int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(b_layout_, {b, s, n, g, d}); }
  int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(c_layout_, {b, s, n, g, d}); }

  int32_t GetBaseM() const { return done_.baseM; }
  int32_t GetBaseN() const { return done_.baseN; }
  int32_t GetBaseK() const { return done_.baseK; }

  // 0, or -1 where no tiling fits.
  int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) {
    if (!Compute()) return -1;
    tiling = done_;
    return 0;
  }
  int64_t GetTiling(optiling::TCubeTiling& tiling) {
    return GetTiling(static_cast<AscendC::tiling::TCubeTiling&>(tiling));
  }

 protected:
  struct Sizes {
    int32_t m = -1, n = -1, k = -1;
  };
  struct Layout {
    int32_t b = 0, s = 0, n = 0, g = 0, d = 0;
  };
  struct Operand {
    TPosition position = TPosition::GM;
    CubeFormat format = CubeFormat::ND;
    DataType type = DataType::DT_FLOAT16;
    bool transposed = false;
  };
  static int32_t Set(Sizes& to, Sizes values) {
    to = values;
    return values.m > 0 && values.n > 0 && values.k > 0 ? 0 : -1;
  }
  static int32_t Set(Layout& to, Layout values) {
    to = values;
    return 0;
  }
  static int32_t Up(int32_t value, int32_t to) { return (value + to - 1) / to * to; }
  static int32_t Parts(int32_t value, int32_t of) { return (value + of - 1) / of; }
  static int32_t Bits(DataType type) {
    switch (type) {
      case DataType::DT_INT4: return 4;
      case DataType::DT_INT8:
      case DataType::DT_UINT8: return 8;
      case DataType::DT_FLOAT16:
      case DataType::DT_BF16:
      case DataType::DT_BFLOAT16: return 16;
      default: return 32;
    }
  }
  // Elements of the unit of k, and of m and n of a matrix that is transposed on the way: a fractal, or the square that
  // the transposing load takes.
  static int32_t Unit(DataType type) { return std::max(16, 256 / Bits(type)); }

  // What a core computes, into `single`; how many cores. Both classes say it.
  virtual bool Divide(Sizes& single, int32_t& cores) const = 0;

  bool Compute() {
    if (shape_.m == -1) shape_.m = org_.m;
    if (shape_.n == -1) shape_.n = org_.n;
    if (shape_.k == -1) shape_.k = org_.k;
    if (shape_.m <= 0 || shape_.n <= 0 || shape_.k <= 0) return false;
    AscendC::tiling::TCubeTiling t;
    Sizes single;
    if (!Divide(single, t.usedCoreNum)) return false;
    t.M = org_.m > 0 ? org_.m : shape_.m;
    t.N = org_.n > 0 ? org_.n : shape_.n;
    t.Ka = org_.k > 0 ? org_.k : shape_.k;
    t.Kb = org_kb_ > 0 ? org_kb_ : shape_.k;
    t.singleCoreM = single.m;
    t.singleCoreN = single.n;
    t.singleCoreK = single.k;
    t.isBias = has_bias_ ? 1 : 0;
    t.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
    if (!ChooseBase(t, single) || !ChooseDepth(t, single)) return false;
    t.batchM = t.batchN = t.singleBatchM = t.singleBatchN = 1;
    t.BatchNum = batch_;
    t.shareL1Size = static_cast<int32_t>(L1Bytes(t));
    t.shareL0CSize = t.baseM * t.baseN * 4;
    t.ALayoutInfoB = a_layout_.b, t.ALayoutInfoS = a_layout_.s, t.ALayoutInfoN = a_layout_.n;
    t.ALayoutInfoG = a_layout_.g, t.ALayoutInfoD = a_layout_.d;
    t.BLayoutInfoB = b_layout_.b, t.BLayoutInfoS = b_layout_.s, t.BLayoutInfoN = b_layout_.n;
    t.BLayoutInfoG = b_layout_.g, t.BLayoutInfoD = b_layout_.d;
    t.CLayoutInfoB = c_layout_.b, t.CLayoutInfoS1 = c_layout_.s, t.CLayoutInfoN = c_layout_.n;
    t.CLayoutInfoG = c_layout_.g, t.CLayoutInfoS2 = c_layout_.d;
    done_ = t;
    return true;
  }

  PlatformInfo memory_;
  Operand a_, b_, c_, bias_;
  Sizes shape_, org_, fixed_, most_, least_;
  Layout a_layout_, b_layout_, c_layout_;
  int32_t org_kb_ = -1, batch_ = 0;
  bool has_bias_ = false, sparse_ = false, double_a_ = true, double_b_ = true;
  MatrixTraverse traverse_ = MatrixTraverse::FIRSTM;
  AscendC::tiling::TCubeTiling done_;

 private:
  // A block of 128 x 256 results, or what is fixed; smaller where L0C, the bias table or UB ask for it.
  bool ChooseBase(AscendC::tiling::TCubeTiling& t, const Sizes& single) const {
    const int32_t unit_m = a_.transposed ? Unit(a_.type) : 16, unit_n = b_.transposed ? 16 : Unit(b_.type);
    const auto choose = [](int32_t fixed, int32_t usual, int32_t least, int32_t most, int32_t size, int32_t unit) {
      if (fixed > 0) return Up(fixed, unit);
      int32_t base = std::min(usual, Up(size, unit));
      if (most > 0) base = std::min(base, std::max(unit, most / unit * unit));
      return std::max(base, least > 0 ? std::min(Up(least, unit), Up(size, unit)) : 0);
    };
    t.baseM = choose(fixed_.m, 128, least_.m, most_.m, single.m, unit_m);
    t.baseN = choose(fixed_.n, 256, least_.n, most_.n, single.n, unit_n);
    if (has_bias_ && memory_.btSize > 0)
      t.baseN = std::min(t.baseN, std::max(unit_n, static_cast<int32_t>(memory_.btSize / 4) / unit_n * unit_n));
    const uint64_t ub = c_.position == TPosition::GM ? 0 : memory_.ubSize;
    const auto fits = [&] {
      const uint64_t results = static_cast<uint64_t>(t.baseM) * static_cast<uint64_t>(t.baseN);
      return results * 4 <= memory_.l0CSize && (ub == 0 || results * static_cast<uint64_t>(Bits(c_.type)) / 8 <= ub);
    };
    while (!fits()) {
      if (fixed_.n <= 0 && t.baseN > unit_n && (t.baseN >= t.baseM || fixed_.m > 0)) {
        t.baseN = Up(t.baseN / 2, unit_n);
      } else if (fixed_.m <= 0 && t.baseM > unit_m) {
        t.baseM = Up(t.baseM / 2, unit_m);
      } else {
        return false;
      }
    }
    // As deep as two buffers in L0A and in L0B allow.
    const int32_t unit_k = std::max(Unit(a_.type), Unit(b_.type)) * (sparse_ ? 2 : 1);
    const auto deepest = [&](uint64_t memory, int32_t width, DataType type) {
      return static_cast<int32_t>(memory * 8 / static_cast<uint64_t>(width * Bits(type))) / unit_k * unit_k;
    };
    const int32_t whole = Up(single.k, unit_k);
    t.dbL0A = t.dbL0B = 2;
    int32_t k =
        std::min(deepest(memory_.l0ASize / 2, t.baseM, a_.type), deepest(memory_.l0BSize / 2, t.baseN, b_.type));
    if (k < unit_k) {
      t.dbL0A = t.dbL0B = 1;
      k = std::min(deepest(memory_.l0ASize, t.baseM, a_.type), deepest(memory_.l0BSize, t.baseN, b_.type));
    }
    if (most_.k > 0) k = std::min(k, std::max(unit_k, most_.k / unit_k * unit_k));
    if (fixed_.k > 0) k = std::min(k, Up(fixed_.k, unit_k));
    t.baseK = std::min(k, whole);
    t.dbL0C = static_cast<uint64_t>(t.baseM) * static_cast<uint64_t>(t.baseN) * 8 <= memory_.l0CSize ? 2 : 1;
    return t.baseK > 0;
  }

  uint64_t L1Bytes(const AscendC::tiling::TCubeTiling& t) const {
    const auto bytes = [](int32_t width, int32_t deep, int32_t depth, DataType type) {
      return static_cast<uint64_t>(width) * static_cast<uint64_t>(deep * depth) * static_cast<uint64_t>(Bits(type)) / 8;
    };
    return bytes(t.baseM, t.baseK, t.depthA1, a_.type) + bytes(t.baseN, t.baseK, t.depthB1, b_.type) +
           static_cast<uint64_t>(has_bias_ ? t.baseN * 4 : 0);
  }
  // All of k in L1 if it fits twice, else as many steps as fit.
  bool ChooseDepth(AscendC::tiling::TCubeTiling& t, const Sizes& single) const {
    const int32_t steps = Parts(single.k, t.baseK);
    const int32_t times_a = double_a_ ? 2 : 1, times_b = double_b_ ? 2 : 1;
    t.stepM = t.stepN = 1;
    for (int32_t step = steps; step > 0; --step) {
      t.stepKa = t.stepKb = step;
      t.depthA1 = step * times_a;
      t.depthB1 = step * times_b;
      if (L1Bytes(t) <= memory_.l1Size) return true;
    }
    t.stepKa = t.stepKb = t.depthA1 = t.depthB1 = 1;
    return L1Bytes(t) <= memory_.l1Size;
  }
};

// For one core.
class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

 private:
  bool Divide(Sizes& single, int32_t& cores) const override {
    single = shape_;
    cores = 1;
    return true;
  }
};

// For several: as few rows and columns for the busiest as can be.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

  int32_t SetDim(int32_t dim) {
    dim_ = dim;
    return dim > 0 ? 0 : -1;
  }
  int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
    single_ = {m, n, k};
    return 0;
  }
  int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1, int32_t minN = -1,
                         int32_t minK = -1) {
    single_most_ = {maxM, maxN, maxK};
    single_least_ = {minM, minN, minK};
    return 0;
  }
  int32_t SetAlignSplit(int32_t m, int32_t n, int32_t k) {
    align_ = {m, n, k};
    return 0;
  }
  void EnableMultiCoreSplitK(bool flag) { split_k_ = flag; }
  int32_t SetSplitK(bool flag) {
    split_k_ = flag;
    return 0;
  }
  int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const {
    m = done_.singleCoreM;
    n = done_.singleCoreN;
    k = done_.singleCoreK;
    return m > 0 ? 0 : -1;
  }
  int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim) const {
    if (done_.singleCoreM <= 0) return -1;
    dim = done_.usedCoreNum;
    mDim = Parts(shape_.m, done_.singleCoreM);
    nDim = Parts(shape_.n, done_.singleCoreN);
    return 0;
  }

 private:
  bool Divide(Sizes& single, int32_t& cores) const override {
    const auto unit = [](int32_t asked, int32_t own) { return asked > 0 ? Up(asked, own) : own; };
    const int32_t unit_m = unit(align_.m, a_.transposed ? Unit(a_.type) : 16),
                  unit_n = unit(align_.n, b_.transposed ? 16 : Unit(b_.type));
    const auto size = [](int32_t whole, int32_t parts, int32_t fixed, int32_t least, int32_t most, int32_t to) {
      if (fixed > 0) return std::min(fixed, whole);
      int32_t out = parts == 1 ? whole : std::min(whole, Up(Parts(whole, parts), to));
      if (most > 0) out = std::min(out, most);
      return std::max(out, least > 0 ? std::min(least, whole) : 1);
    };
    single = {-1, -1, single_.k > 0 ? std::min(single_.k, shape_.k) : shape_.k};
    cores = 0;
    int64_t best = -1;
    for (int32_t parts_m = dim_; parts_m >= 1; --parts_m) {
      for (int32_t parts_n = 1; parts_n <= dim_ / parts_m; ++parts_n) {
        const int32_t m = size(shape_.m, parts_m, single_.m, single_least_.m, single_most_.m, unit_m);
        const int32_t n = size(shape_.n, parts_n, single_.n, single_least_.n, single_most_.n, unit_n);
        const int32_t used = Parts(shape_.m, m) * Parts(shape_.n, n);
        const bool given = single_.m > 0 && single_.n > 0;
        if (used > dim_ && !given) continue;
        // Work first, where parts that are not all of one size, or no whole base blocks if the program fixes these,
        // count twice. Then, with a fixed base block, the base blocks along n, because each brings its own part of B;
        // then what is read, m + n rows of k elements. Of splits that are alike the one with more parts of m is taken.
        // Programs rely on each of these: the published samples matmul_async_iterate and matmul_nbuffer33, which know
        // no tails, matmul_fused, matmul_leakyrelu_advanced_api and matmul_advanced_api.
        const auto whole = [](int32_t all, int32_t part, int32_t base) {
          return all % part == 0 && (base <= 0 || part % base == 0);
        };
        const bool even = whole(shape_.m, m, fixed_.m) && whole(shape_.n, n, fixed_.n);
        const int64_t work = int64_t{Up(m, 16)} * Up(n, 16) * (even ? 1 : 2);
        const int64_t blocks_n = fixed_.n > 0 ? Parts(n, fixed_.n) : 0;
        const int64_t cost = (work << 28) + (blocks_n << 20) + Up(m, 16) + Up(n, 16);
        if (best >= 0 && cost >= best) continue;
        best = cost;
        single.m = m;
        single.n = n;
        cores = used;
      }
    }
    if (best < 0) return false;
    // Even parts of k, if there are any.
    const int32_t most_k = split_k_ ? std::max(1, dim_ / cores) : 1;
    int32_t parts_k = most_k;
    while (parts_k > 1 && shape_.k % (parts_k * Unit(a_.type)) != 0)
      --parts_k;
    if (parts_k == 1) parts_k = most_k;
    if (parts_k > 1 && single_.k <= 0) single.k = Up(Parts(shape_.k, parts_k), Unit(a_.type));
    cores *= Parts(shape_.k, single.k);
    return true;
  }

  int32_t dim_ = 1;
  bool split_k_ = false;
  Sizes single_, single_most_, single_least_, align_;
};

// For products of batches: the tiling is that of one of them, for one core; cores take batches.
class BatchMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

  int32_t SetSingleBatch(int32_t batchM, int32_t batchN) {
    single_batch_m_ = batchM;
    single_batch_n_ = batchN;
    return 0;
  }
  int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim, int32_t& batchCoreM, int32_t& batchCoreN) const {
    dim = mDim = nDim = batchCoreM = batchCoreN = 1;
    return done_.singleCoreM > 0 ? 0 : -1;
  }

 private:
  bool Divide(Sizes& single, int32_t& cores) const override {
    single = shape_;
    cores = 1;
    return true;
  }
  int32_t single_batch_m_ = 1, single_batch_n_ = 1;
};

// Bytes of the memories that the product itself takes.
struct SysTilingTempBufSize {
  int32_t ubSize = 0, l1Size = 0, l0cSize = 0;
};
// Raises `bufSize` to what a tiling needs; gives 0.
inline int32_t MatmulGetTmpBufSize(const AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& bufSize) {
  bufSize.l1Size = std::max(bufSize.l1Size, tiling.shareL1Size);
  bufSize.l0cSize = std::max(bufSize.l0cSize, tiling.shareL0CSize);
  // On joint cores the vector unit brings an operand into fractals, by halves.
  bufSize.ubSize = std::max({bufSize.ubSize, tiling.shareUbSize, 2 * tiling.transLength});
  return 0;
}
inline int32_t MatmulGetTmpBufSizeV2(const AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& bufSize) {
  return MatmulGetTmpBufSize(tiling, bufSize);
}
inline int32_t MultiCoreMatmulGetTmpBufSize(const AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& bufSize) {
  return MatmulGetTmpBufSize(tiling, bufSize);
}
inline int32_t MultiCoreMatmulGetTmpBufSizeV2(const AscendC::tiling::TCubeTiling& tiling,
                                              SysTilingTempBufSize& bufSize) {
  return MatmulGetTmpBufSize(tiling, bufSize);
}
inline int32_t BatchMatmulGetTmpBufSize(const AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& bufSize) {
  return MatmulGetTmpBufSize(tiling, bufSize);
}
inline int32_t BatchMatmulGetTmpBufSizeV2(const AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& bufSize) {
  return MatmulGetTmpBufSize(tiling, bufSize);
}

}  // namespace matmul_tiling
