// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/language.h"
#include "ascendc/matmul/tiling_data.h"

// What a Matmul object is declared with: matrices and templates. Of a template only what changes results or what is
// called has an effect; how data moves is one way here (docs/ascendc.md). Documentation: Ascend C API, MatmulType,
// MatmulConfig.
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, COLUMN_MAJOR };

namespace AscendC {

using ::CubeFormat;
using ::TCubeTiling;
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum IterateMode : uint8_t {
  ITERATE_MODE_NONE = 0,
  ITERATE_MODE_NORMAL = 1,
  ITERATE_MODE_ALL = 2,
  ITERATE_MODE_BATCH = 4,
  ITERATE_MODE_N_BATCH = 8,
  ITERATE_MODE_DEFAULT = 255
};

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct MatmulType {
  static constexpr TPosition pos = POSITION, srcPos = SRCPOS;
  static constexpr CubeFormat format = FORMAT;
  using T = TYPE;
  static constexpr bool isTrans = ISTRANS, ibShare = IBSHARE;
  static constexpr LayoutMode layout = LAYOUT;
  static constexpr bool isSparse = false;
};
// A right matrix of int8_t that has two weights for each four rows, and a matrix of their indices, as NZ of blocks of
// 16 columns and 8 bytes.
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct SparseMatmulType : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE, SRCPOS> {
  static constexpr TPosition indexPosition = INDEX_POSITION;
  static constexpr bool isSparse = true;
};

// Functions of no templates, so that those of a program that are fit better.
inline uint16_t CeilDiv(uint16_t num1, uint16_t num2) {
  return num2 == 0 ? uint16_t{0} : static_cast<uint16_t>((num1 + num2 - 1) / num2);
}
inline uint16_t CeilAlign(uint16_t num1, uint16_t num2) { return CeilDiv(num1, num2) * num2; }
template <typename T>
T CeilAlign(T num1, T num2) {
  return Ceil(num1, num2) * num2;
}
template <typename T>
constexpr T Align(T num1, T num2) {
  return num2 == 0 ? 0 : (num1 + num2 - 1) / num2 * num2;
}
template <typename T>
constexpr T AlignDown(T num1, T num2) {
  return num2 == 0 ? 0 : num1 / num2 * num2;
}
template <typename T>
constexpr T MaxValue(T value) {
  return value;
}
template <typename T, typename... More>
constexpr T MaxValue(T value, More... more) {
  const T rest = MaxValue(more...);
  return value > rest ? value : rest;
}
template <typename T>
constexpr T MinValue(T value) {
  return value;
}
template <typename T, typename... More>
constexpr T MinValue(T value, More... more) {
  const T rest = MinValue(more...);
  return value < rest ? value : rest;
}

// The type of results in L0C of matrices of T.
template <typename T>
struct GetMmDstType {
  using Type = std::conditional_t<std::is_same_v<T, int8_t> || std::is_same_v<T, int4b_t>, int32_t, float>;
};

// Which blocks of results a product has: all, or those on and on one side of the diagonal of blocks of baseM x baseN.
// How a policy moves tiles is one way here. Documentation: Ascend C API, MatmulPolicy.
namespace vinci_detail {
enum class KeptBlocks : uint8_t { all, upper, lower };
}  // namespace vinci_detail
namespace Impl {
constexpr int32_t QUEUE_DEPTH = 1;
namespace Detail {
#define VINCI_POLICY(name, kept)                                                                                      \
  template <const auto& MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE> \
  struct name {                                                                                                       \
    static constexpr vinci_detail::KeptBlocks kKept = vinci_detail::KeptBlocks::kept;                                 \
  };
VINCI_POLICY(MatmulPolicy, all)
VINCI_POLICY(NBuffer33MatmulPolicy, all)
VINCI_POLICY(TrianUpperMatmulPolicy, upper)
VINCI_POLICY(TrianLowerMatmulPolicy, lower)
#undef VINCI_POLICY
}  // namespace Detail
}  // namespace Impl

struct MatmulConfig {
  bool doNorm = false, doBasicBlock = false, doMultiDataLoad = false;
  uint32_t basicM = 0, basicN = 0, basicK = 0;
  bool intrinsicsCheck = false, isNBatch = false, enVecND2NZ = false, doSpecialBasicBlock = false;
  uint32_t doMTE2Preload = 0;
  uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, stepM = 0, stepN = 0, baseMN = 0, singleCoreMN = 0;
  bool enUnitFlag = true, isPerTensor = false, hasAntiQuantOffset = false, doIBShareNorm = false, doSpecialMDL = false;
  bool enableInit = true;
  BatchMode batchMode = BatchMode::NONE;
  bool enableEnd = true, enableGetTensorC = true, enableSetOrgShape = true, enableSetBias = true, enableSetTail = true;
  bool enableQuantVector = true, enableSetDefineData = true;
  uint8_t iterateMode = ITERATE_MODE_DEFAULT;
  bool enableReuse = true, enableUBReuse = false, enableL1CacheUB = false, intraBlockPartSum = false;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableDoubleCache = false, isBiasBatch = true, enableStaticPadZeros = false, isPartialOutput = false;
  bool enableMixDualMaster = false, isA2B2Shared = false, isEnableChannelSplit = false, enableKdimReorderLoad = false;
  bool isCO1Shared = false;
  uint32_t sharedCO1BufferSize = 0;
  BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
  bool enableL1BankConflictOptimise = false, enableRelu = false;
};

constexpr MatmulConfig GetNormalConfig(bool intrinsicsLimit = false, bool batchLoop = false, bool isVecND2NZ = false,
                                       BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, bool /*isMsgReuse*/ = true,
                                       IterateOrder iterateOrder = IterateOrder::UNDEF,
                                       ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, bool enUnitFlag = true,
                                       bool enableMixDualMaster = false,
                                       BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
  MatmulConfig c;
  c.doNorm = true;
  c.intrinsicsCheck = intrinsicsLimit;
  c.isNBatch = batchLoop;
  c.enVecND2NZ = isVecND2NZ;
  c.batchMode = bmmMode;
  c.iterateOrder = iterateOrder;
  c.scheduleType = scheduleType;
  c.enUnitFlag = enUnitFlag;
  c.enableMixDualMaster = enableMixDualMaster;
  c.bmmOutMode = bmmOutMode;
  return c;
}
constexpr MatmulConfig GetMDLConfig(bool intrinsicsLimit = false, bool batchLoop = false, uint32_t doMTE2Preload = 0,
                                    bool isVecND2NZ = false, bool isPerTensor = false, bool hasAntiQuantOffset = false,
                                    bool enUnitFlag = false, bool /*isMsgReuse*/ = true, bool enableUBReuse = true,
                                    bool enableL1CacheUB = false, bool enableMixDualMaster = false,
                                    bool enableKdimReorderLoad = false) {
  MatmulConfig c;
  c.doMultiDataLoad = true;
  c.intrinsicsCheck = intrinsicsLimit;
  c.isNBatch = batchLoop;
  c.doMTE2Preload = doMTE2Preload;
  c.enVecND2NZ = isVecND2NZ;
  c.isPerTensor = isPerTensor;
  c.hasAntiQuantOffset = hasAntiQuantOffset;
  c.enUnitFlag = enUnitFlag;
  c.enableUBReuse = enableUBReuse;
  c.enableL1CacheUB = enableL1CacheUB;
  c.enableMixDualMaster = enableMixDualMaster;
  c.enableKdimReorderLoad = enableKdimReorderLoad;
  return c;
}
constexpr MatmulConfig GetSpecialMDLConfig(bool intrinsicsLimit = false, bool batchLoop = false,
                                           uint32_t doMTE2Preload = 0, bool isVecND2NZ = false,
                                           bool isPerTensor = false, bool hasAntiQuantOffset = false) {
  MatmulConfig c = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
  c.doMultiDataLoad = false;
  c.doSpecialMDL = true;
  return c;
}
constexpr MatmulConfig GetIBShareNormConfig(bool intrinsicsLimit = false, bool batchLoop = false,
                                            bool isVecND2NZ = false, BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                            bool isDoubleCache = false, bool enUnitFlag = true) {
  MatmulConfig c = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
  c.doIBShareNorm = true;
  c.enableDoubleCache = isDoubleCache;
  c.enUnitFlag = enUnitFlag;
  return c;
}
constexpr MatmulConfig GetBasicConfig(uint32_t basicM, uint32_t basicN, uint32_t basicK, bool intrinsicsLimit = false,
                                      bool batchLoop = false, BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
  MatmulConfig c = GetNormalConfig(intrinsicsLimit, batchLoop, false, bmmMode);
  c.doNorm = false;
  c.doBasicBlock = true;
  c.basicM = basicM;
  c.basicN = basicN;
  c.basicK = basicK;
  return c;
}
constexpr MatmulConfig GetSpecialBasicConfig(uint32_t basicM, uint32_t basicN, uint32_t basicK, uint32_t singleCoreM,
                                             uint32_t singleCoreN, uint32_t singleCoreK, uint32_t stepM, uint32_t stepN,
                                             bool intrinsicsLimit = false, bool batchLoop = false,
                                             BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
  MatmulConfig c = GetBasicConfig(basicM, basicN, basicK, intrinsicsLimit, batchLoop, bmmMode);
  c.doSpecialBasicBlock = true;
  c.singleCoreM = singleCoreM;
  c.singleCoreN = singleCoreN;
  c.singleCoreK = singleCoreK;
  c.stepM = stepM;
  c.stepN = stepN;
  return c;
}

// A template from parts of its parameters, in any order.
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };
struct MatmulShapeParams {
  uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, basicM = 0, basicN = 0, basicK = 0;
};
struct MatmulQuantParams {
  bool isPerTensor = false, hasAntiQuantOffset = false;
};
struct MatmulBatchParams {
  bool isNBatch = false;
  BatchMode batchMode = BatchMode::BATCH_LESS_THAN_L1;
  bool isBiasBatch = true;
  BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
  bool intrinsicsLimit = false, enVecND2NZ = false, enableDoubleCache = false, enableL1CacheUB = false;
  uint32_t doMTE2Preload = 0;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableReuse = true, enableUBReuse = true, isPartialOutput = false, isA2B2Shared = false;
  bool isEnableChannelSplit = false, enableKdimReorderLoad = false;
};
struct MatmulBiasParams {
  bool enableSetBias = true;
};

namespace vinci_detail {
constexpr void SetPart(MatmulConfig& c, const MatmulBiasParams& p) { c.enableSetBias = p.enableSetBias; }
constexpr void SetPart(MatmulConfig& c, const MatmulShapeParams& p) {
  c.singleCoreM = p.singleCoreM;
  c.singleCoreN = p.singleCoreN;
  c.singleCoreK = p.singleCoreK;
  c.basicM = p.basicM;
  c.basicN = p.basicN;
  c.basicK = p.basicK;
}
constexpr void SetPart(MatmulConfig& c, const MatmulQuantParams& p) {
  c.isPerTensor = p.isPerTensor;
  c.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void SetPart(MatmulConfig& c, const MatmulBatchParams& p) {
  c.isNBatch = p.isNBatch;
  c.batchMode = p.batchMode;
  c.isBiasBatch = p.isBiasBatch;
  c.bmmOutMode = p.bmmOutMode;
}
constexpr void SetPart(MatmulConfig& c, const MatmulFuncParams& p) {
  c.intrinsicsCheck = p.intrinsicsLimit;
  c.enVecND2NZ = p.enVecND2NZ;
  c.enableDoubleCache = p.enableDoubleCache;
  c.enableL1CacheUB = p.enableL1CacheUB;
  c.doMTE2Preload = p.doMTE2Preload;
  c.iterateOrder = p.iterateOrder;
  c.scheduleType = p.scheduleType;
  c.enableReuse = p.enableReuse;
  c.enableUBReuse = p.enableUBReuse;
  c.isPartialOutput = p.isPartialOutput;
  c.isA2B2Shared = p.isA2B2Shared;
  c.isEnableChannelSplit = p.isEnableChannelSplit;
  c.enableKdimReorderLoad = p.enableKdimReorderLoad;
}
}  // namespace vinci_detail
template <MatmulConfigMode configMode, typename... ArgTypes>
constexpr MatmulConfig GetMMConfig(ArgTypes&&... args) {
  MatmulConfig c = configMode == MatmulConfigMode::CONFIG_NORM         ? GetNormalConfig()
                   : configMode == MatmulConfigMode::CONFIG_MDL        ? GetMDLConfig()
                   : configMode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                                                                       : GetIBShareNormConfig();
  (vinci_detail::SetPart(c, args), ...);
  return c;
}

// A tiling that is known when the kernel is compiled: zeros are taken from the tiling at run time, or chosen.
struct MatmulApiStaticTiling : tiling::TCubeTiling {
  MatmulConfig cfg;
};
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& mmCFG, int32_t /*l1Size*/ = 0) {
  MatmulApiStaticTiling t{};
  t.cfg = mmCFG;
  t.singleCoreM = static_cast<int32_t>(mmCFG.singleCoreM);
  t.singleCoreN = static_cast<int32_t>(mmCFG.singleCoreN);
  t.singleCoreK = static_cast<int32_t>(mmCFG.singleCoreK);
  t.baseM = static_cast<int32_t>(mmCFG.basicM);
  t.baseN = static_cast<int32_t>(mmCFG.basicN);
  t.baseK = static_cast<int32_t>(mmCFG.basicK);
  return t;
}

inline constexpr MatmulConfig CFG_NORM = GetNormalConfig();
inline constexpr MatmulConfig CFG_MDL = GetMDLConfig();
inline constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();
inline constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);

namespace vinci_detail {
constexpr const MatmulConfig& ConfigOf(const MatmulConfig& c) { return c; }
constexpr const MatmulConfig& ConfigOf(const MatmulApiStaticTiling& t) { return t.cfg; }
}  // namespace vinci_detail
constexpr const MatmulConfig& ToMatmulConfig(const MatmulConfig& c) { return c; }
constexpr const MatmulConfig& ToMatmulConfig(const MatmulApiStaticTiling& t) { return t.cfg; }

}  // namespace AscendC

// Kernels name them without AscendC, or in the older namespace matmul.
// clang-format off
#define VINCI_MATMUL_NAMES(NAME) \
  NAME(LayoutMode) NAME(IterateOrder) NAME(ScheduleType) NAME(BatchMode) NAME(BatchOutMode) NAME(MatmulType) NAME(SparseMatmulType) NAME(MatmulConfig) \
  NAME(GetNormalConfig) NAME(GetMDLConfig) NAME(GetSpecialMDLConfig) NAME(GetIBShareNormConfig) NAME(GetBasicConfig) \
  NAME(GetSpecialBasicConfig) NAME(GetMMConfig) NAME(MatmulConfigMode) NAME(MatmulShapeParams) \
  NAME(MatmulQuantParams) NAME(MatmulBatchParams) NAME(MatmulFuncParams) NAME(MatmulBiasParams) NAME(MatmulApiStaticTiling) \
  NAME(GetMatmulApiTiling) NAME(ToMatmulConfig) NAME(CFG_NORM) NAME(CFG_MDL) NAME(CFG_IBSHARE_NORM) NAME(MM_CFG_BB)
// clang-format on
#define VINCI_USING(name) using AscendC::name;
VINCI_MATMUL_NAMES(VINCI_USING)
#undef VINCI_USING
namespace matmul = AscendC;
