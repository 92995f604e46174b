// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>

#include "ascendc/matmul/types.h"
#include "tiling/platform/platform_ascendc.h"

// How a product is cut for cores and buffers. What the published functions choose is not public: here each core gets a
// rectangle of C, so that the largest is as small as it can be, blocks of 128 x 256 or what fits, and as much of K in
// L1 as fits twice. Documentation: Ascend C API, Matmul tiling.
namespace matmul_tiling {

using ::CubeFormat;
using AscendC::TPosition;

enum class DataType : int32_t {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_BFLOAT16 = 27,
  DT_INT4 = 29,
  DT_BF16 = DT_BFLOAT16
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1 };
enum class DequantType { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT = 1 };

struct PlatformInfo {
  platform_ascendc::SocVersion socVersion;
  uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0;
};

class MatmulApiTilingBase {
 public:
  MatmulApiTilingBase() : MatmulApiTilingBase(platform_ascendc::PlatformAscendC()) {}
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& chip) {
    using platform_ascendc::CoreMemType;
    chip.GetCoreMemSize(CoreMemType::L1, l1_);
    chip.GetCoreMemSize(CoreMemType::L0_A, l0a_);
    chip.GetCoreMemSize(CoreMemType::L0_B, l0b_);
    chip.GetCoreMemSize(CoreMemType::L0_C, l0c_);
    chip.GetCoreMemSize(CoreMemType::BT, bt_);
  }
  explicit MatmulApiTilingBase(const PlatformInfo& chip)
      : l1_(chip.l1Size), l0a_(chip.l0ASize), l0b_(chip.l0BSize), l0c_(chip.l0CSize) {}

  int32_t SetAType(TPosition, CubeFormat, DataType dataType, bool isTrans = false) {
    a_ = dataType;
    a_transposed_ = isTrans;
    return 0;
  }
  int32_t SetBType(TPosition, CubeFormat, DataType dataType, bool isTrans = false) {
    b_ = dataType;
    b_transposed_ = isTrans;
    return 0;
  }
  int32_t SetCType(TPosition, CubeFormat, DataType) { return 0; }
  int32_t SetBiasType(TPosition, CubeFormat, DataType) { return 0; }
  int32_t SetDequantType(DequantType) { return 0; }
  int32_t SetMadType(MatrixMadType) { return 0; }
  int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
  void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                             MatrixTraverse traverse = MatrixTraverse::NOSET, bool = false) {
    if (traverse != MatrixTraverse::NOSET) traverse_ = traverse;
  }
  int32_t EnableBias(bool isBiasIn = false) {
    bias_ = isBiasIn;
    return 0;
  }
  int32_t SetBias(bool isBiasIn = false) { return EnableBias(isBiasIn); }
  int32_t SetShape(int32_t m, int32_t n, int32_t k) {
    m_ = m;
    n_ = n;
    k_ = k;
    return 0;
  }
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
  int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
    org_m_ = m;
    org_n_ = n;
    org_ka_ = ka;
    org_kb_ = kb;
    return 0;
  }
  int32_t SetFixSplit(int32_t baseM = -1, int32_t baseN = -1, int32_t baseK = -1) {
    fixed_m_ = baseM;
    fixed_n_ = baseN;
    fixed_k_ = baseK;
    return 0;
  }
  int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t = -1, int32_t = -1,
                        int32_t = -1) {
    max_m_ = maxM;
    max_n_ = maxN;
    max_k_ = maxK;
    return 0;
  }
  int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t = -1, int32_t bt = -1) {
    if (l1 > 0) l1_ = std::min(l1_, static_cast<uint64_t>(l1));
    if (l0c > 0) l0c_ = std::min(l0c_, static_cast<uint64_t>(l0c));
    if (bt > 0) bt_ = std::min(bt_, static_cast<uint64_t>(bt));
    return 0;
  }
  int32_t SetTraverse(MatrixTraverse traverse) {
    traverse_ = traverse;
    return 0;
  }
  int32_t GetBaseM() const { return base_m_; }
  int32_t GetBaseN() const { return base_n_; }
  int32_t GetBaseK() const { return base_k_; }

 protected:
  static int32_t Up(int32_t x, int32_t unit) { return (x + unit - 1) / unit * unit; }
  static int32_t Parts(int32_t x, int32_t part) { return (x + part - 1) / part; }
  static int32_t Bits(DataType type) {
    switch (type) {
      case DataType::DT_FLOAT:
      case DataType::DT_INT32: return 32;
      case DataType::DT_FLOAT16:
      case DataType::DT_BFLOAT16: return 16;
      case DataType::DT_INT4: return 4;
      default: return 8;
    }
  }

  // The blocks of one core, for a part of M x N x K; -1 where nothing fits.
  int64_t Split(TCubeTiling& t, int32_t m, int32_t n, int32_t k, int32_t cores) {
    if (m <= 0 || n <= 0 || k <= 0) return -1;
    const int32_t bits = std::max(Bits(a_), Bits(b_));
    const int32_t unit = std::max(16, 256 / bits);  // of K: whole fractals, also transposed
    base_m_ = fixed_m_ > 0 ? fixed_m_ : std::min({Up(m, 16), 128, max_m_ > 0 ? max_m_ : 128});
    base_n_ = fixed_n_ > 0 ? fixed_n_ : std::min({Up(n, unit), 256, max_n_ > 0 ? max_n_ : 256});
    while (fixed_n_ <= 0 && base_n_ > unit &&
           (Bytes(base_m_, base_n_, 32) > l0c_ || (bias_ && bt_ != 0 && base_n_ * 4u > bt_)))
      base_n_ = Up(base_n_ / 2, unit);
    while (fixed_m_ <= 0 && base_m_ > 16 && Bytes(base_m_, base_n_, 32) > l0c_)
      base_m_ = Up(base_m_ / 2, 16);
    base_k_ = fixed_k_ > 0 ? fixed_k_ : Up(std::min(k, max_k_ > 0 ? max_k_ : k), unit);
    while (fixed_k_ <= 0 && base_k_ > unit && !FitsL0(bits))
      base_k_ = Up(base_k_ / 2, unit);
    if (Bytes(base_m_, base_n_, 32) > l0c_ || !FitsL0(bits)) return -1;
    const uint64_t of_bias = bias_ ? base_n_ * 4u : 0;
    const uint64_t both = Bytes(base_m_, base_k_, bits) + Bytes(Up(base_n_, unit), base_k_, bits);
    const auto room = static_cast<int32_t>((l1_ - of_bias) / (2 * both));
    if (room < 1) return -1;
    const int32_t steps = std::min(room, Parts(k, base_k_));
    t.usedCoreNum = cores;
    t.M = org_m_ > 0 ? org_m_ : m_;
    t.N = org_n_ > 0 ? org_n_ : n_;
    t.Ka = org_ka_ > 0 ? org_ka_ : k_;
    t.Kb = org_kb_ > 0 ? org_kb_ : k_;
    t.singleCoreM = m;
    t.singleCoreN = n;
    t.singleCoreK = k;
    t.baseM = base_m_;
    t.baseN = base_n_;
    t.baseK = base_k_;
    t.stepM = t.stepN = 1;
    t.stepKa = t.stepKb = steps;
    t.depthA1 = t.depthB1 = 2 * steps;
    t.isBias = bias_ ? 1 : 0;
    t.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 1;
    t.shareL1Size = static_cast<int32_t>(static_cast<uint64_t>(steps) * 2 * both + of_bias);
    t.shareL0CSize = static_cast<int32_t>(Bytes(base_m_, base_n_, 32));
    t.batchM = t.batchN = t.singleBatchM = t.singleBatchN = t.BatchNum = 1;
    return 0;
  }

  DataType a_ = DataType::DT_FLOAT16, b_ = DataType::DT_FLOAT16;
  bool a_transposed_ = false, b_transposed_ = false, bias_ = false;
  int32_t m_ = 0, n_ = 0, k_ = 0, org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0;
  int32_t fixed_m_ = -1, fixed_n_ = -1, fixed_k_ = -1, max_m_ = -1, max_n_ = -1, max_k_ = -1;
  int32_t base_m_ = 0, base_n_ = 0, base_k_ = 0;
  MatrixTraverse traverse_ = MatrixTraverse::FIRSTM;
  uint64_t l1_ = 0, l0a_ = 0, l0b_ = 0, l0c_ = 0, bt_ = 0;

 private:
  static uint64_t Bytes(int32_t rows, int32_t columns, int32_t bits) {
    return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * static_cast<uint64_t>(bits) / 8;
  }
  bool FitsL0(int32_t bits) const {
    return 2 * Bytes(base_m_, base_k_, bits) <= l0a_ && 2 * Bytes(base_n_, base_k_, bits) <= l0b_;
  }
};

// One core.
class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  int64_t GetTiling(TCubeTiling& tiling) {
    return Split(tiling, m_ > 0 ? m_ : org_m_, n_ > 0 ? n_ : org_n_, k_ > 0 ? k_ : org_ka_, 1);
  }
};

// So many cores as SetDim says.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  int32_t SetDim(int32_t dim) {
    dim_ = dim;
    return 0;
  }
  int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
    single_m_ = m;
    single_n_ = n;
    single_k_ = k;
    return 0;
  }
  int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1) {
    max_single_m_ = maxM;
    max_single_n_ = maxN;
    return 0;
  }
  int32_t SetAlignSplit(int32_t m, int32_t n, int32_t k) {
    align_m_ = m > 0 ? m : 1;
    align_n_ = n > 0 ? n : 1;
    align_k_ = k > 0 ? k : 1;
    return 0;
  }
  void SetSplitK(bool flag) { split_k_ = flag; }
  void EnableMultiCoreSplitK(bool flag) { split_k_ = flag; }
  int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const {
    m = out_m_;
    n = out_n_;
    k = out_k_;
    return 0;
  }
  int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim) const {
    dim = used_;
    mDim = m_dim_;
    nDim = n_dim_;
    return 0;
  }

  int64_t GetTiling(TCubeTiling& tiling) {
    const int32_t m = m_ > 0 ? m_ : org_m_, n = n_ > 0 ? n_ : org_n_, k = k_ > 0 ? k_ : org_ka_;
    if (m <= 0 || n <= 0 || k <= 0) return -1;
    const int32_t unit_m = Up(16, align_m_), unit_n = Up(std::max(16, 256 / std::max(Bits(a_), Bits(b_))), align_n_);
    int64_t best = -1;
    for (int32_t across = 1; across <= dim_; ++across) {
      const int32_t part_m = single_m_ > 0 ? single_m_ : std::min(m, Up(Parts(m, across), unit_m));
      const int32_t part_n = single_n_ > 0 ? single_n_ : std::min(n, Up(Parts(n, dim_ / across), unit_n));
      if ((max_single_m_ > 0 && part_m > max_single_m_) || (max_single_n_ > 0 && part_n > max_single_n_)) continue;
      if (Parts(m, part_m) * Parts(n, part_n) > dim_) continue;
      // The larger side of what is loaded decides between rectangles of one area.
      const int64_t cost = int64_t{Up(part_m, 16)} * Up(part_n, 16) * 1024 + Up(part_m, 16) + Up(part_n, 16);
      if (best >= 0 && cost >= best) continue;
      best = cost;
      out_m_ = part_m;
      out_n_ = part_n;
    }
    if (best < 0) return -1;
    m_dim_ = Parts(m, out_m_);
    n_dim_ = Parts(n, out_n_);
    used_ = m_dim_ * n_dim_;
    out_k_ = single_k_ > 0 ? single_k_ : k;
    if (split_k_ && single_k_ <= 0) out_k_ = std::min(k, Up(Parts(k, std::max(1, dim_ / used_)), Up(32, align_k_)));
    used_ *= Parts(k, out_k_);
    return Split(tiling, out_m_, out_n_, out_k_, used_);
  }

 private:
  int32_t dim_ = 1, single_m_ = -1, single_n_ = -1, single_k_ = -1, max_single_m_ = -1, max_single_n_ = -1;
  int32_t align_m_ = 1, align_n_ = 1, align_k_ = 1;
  bool split_k_ = false;
  int32_t out_m_ = 0, out_n_ = 0, out_k_ = 0, used_ = 1, m_dim_ = 1, n_dim_ = 1;
};

}  // namespace matmul_tiling
