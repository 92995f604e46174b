// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/cce_types.h"
#include "ascendc/copy_tables.h"

// Fixpipe: results from L0C to global memory or L1, quantised, with relu, as NZ or row-major. Documentation: Ascend C
// API, matrix computation, moving out.

namespace AscendC {

using ::QuantMode_t;

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
  CO2Layout format;
  bool isToUB = false;
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

// Strides: of the source in rows of 16 elements between block columns, of the destination in blocks of 32 bytes (NZ) or
// elements between rows.
struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  constexpr FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src_stride, uint32_t dst_stride, bool relu)
      : nSize(n), mSize(m), srcStride(src_stride), dstStride(dst_stride), reluEn(relu) {}
  constexpr FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src_stride, uint32_t dst_stride, bool relu,
                              QuantMode_t quant, uint64_t scale, uint16_t matrices, uint16_t src_matrix,
                              uint16_t dst_matrix, uint8_t unit_flag)
      : nSize(n),
        mSize(m),
        srcStride(src_stride),
        dstStride(dst_stride),
        quantPre(quant),
        deqScalar(scale),
        ndNum(matrices),
        srcNdStride(src_matrix),
        dstNdStride(dst_matrix),
        reluEn(relu),
        unitFlag(unit_flag) {}
  uint16_t nSize = 0, mSize = 0, srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

// The older form: cburstNum block columns of burstLen blocks of 32 bytes in L0C. srcStride is the rows of 16 elements
// that L0C skips between block columns, which begin at whole fractals; dstStride the blocks of 32 bytes between them in
// NZ, the elements between rows if row-major.
struct QuantParams {
  QuantParams() = default;
  constexpr QuantParams(QuantMode_t quant) : quantPre(quant) {}  // NOLINT(google-explicit-constructor): as published
  constexpr QuantParams(QuantMode_t quant, uint64_t scale) : quantPre(quant), deqScalar(scale) {}
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
};
struct Nz2NdParams {
  bool nz2ndEn = false;
  uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0, originalNSize = 0;
};
template <typename T>
struct FixpipeParams {
  FixpipeParams() = default;
  constexpr FixpipeParams(uint16_t count, uint16_t length, uint16_t src_stride, uint32_t dst_stride)
      : cburstNum(count), burstLen(length), srcStride(src_stride), dstStride(dst_stride) {}
  uint16_t cburstNum = 1, burstLen = 0, srcStride = 0;
  uint32_t dstStride = 0;
  QuantParams quantParams;
  bool reluEn = false;
  Nz2NdParams nz2ndParams;
  uint8_t unitFlag = 0;
};

// For DataCopy from L0C, whose registers the program sets itself.
struct DataCopyCO12DstParams {
  DataCopyCO12DstParams() = default;
  constexpr DataCopyCO12DstParams(uint16_t n, uint16_t m, uint32_t dst_stride, uint16_t src_stride, QuantMode_t quant,
                                  uint8_t relu, bool split, bool nz2nd)
      : nSize(n),
        mSize(m),
        dstStride(dst_stride),
        srcStride(src_stride),
        quantPre(quant),
        reluPre(relu),
        channelSplit(split),
        nz2ndEn(nz2nd) {}
  uint8_t sid = 0;
  uint16_t nSize = 0, mSize = 0;
  uint32_t dstStride = 0;
  uint16_t srcStride = 0;
  uint8_t unitFlag = 0, clipReluPre = 0, eltWiseOp = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint8_t reluPre = 0;
  bool channelSplit = false, nz2ndEn = false;
};

namespace vinci_detail {
constexpr bool IsScalarQuant(QuantMode_t quant) {
  return quant == REQ8 || quant == DEQF16 || quant == SHIFTS322S16 || quant == REQ4 || quant == QF322B8_PRE ||
         quant == QF322S4_PRE;
}
constexpr bool IsVectorQuant(QuantMode_t quant) {
  return quant == VREQ8 || quant == VDEQF16 || quant == VSHIFTS322S16 || quant == VREQ4 || quant == VQF322B8_PRE ||
         quant == VQF322S4_PRE;
}
}  // namespace vinci_detail

// The register by itself, and its fields.
inline void SetNdParaImpl(uint64_t ndPara, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_nd_para");
  ::vinci::ascendc::issue(insn, {ndPara}, place);
}
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride, VINCI_PLACE) {
  SetNdParaImpl(ndNum | uint64_t{srcNdStride} << 16 | uint64_t{dstNdStride} << 32, place);
}
inline void SetFixpipePreQuantFlag(uint64_t config, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_quant_pre");
  ::vinci::ascendc::issue(insn, {config}, place);
}

namespace vinci_detail {
// FPC: addresses of the tables in the FIXPIPE buffer.
inline void IssueFpc(uint32_t relu, uint32_t quant, Place place) {
  static ::vinci::ascendc::Insn insn("set_fpc");
  ::vinci::ascendc::issue(insn, {(uint64_t{relu} / 64 & 0xff) | (uint64_t{quant} / 128 & 0xff) << 8}, place);
}
}  // namespace vinci_detail

// `isUnitFlag` asks for cleared unit flags, which a FIXPIPE with unitFlag 3 leaves anyway.
template <typename T>
void SetFixPipeConfig(const LocalTensor<T>& reluPre, const LocalTensor<T>& quantPre, bool = false, VINCI_PLACE) {
  vinci_detail::IssueFpc(reluPre.Address(), quantPre.Address(), place);
}
template <typename T, bool setRelu = false>
void SetFixPipeConfig(const LocalTensor<T>& preData, bool = false, VINCI_PLACE) {
  if (vinci_detail::MemoryOf(preData.GetPosition()) != ::vinci::ascendc::Memory::fb) return;
  vinci_detail::IssueFpc(setRelu ? preData.Address() : 0, setRelu ? 0 : preData.Address(), place);
}

namespace vinci_detail {
template <typename U>
constexpr void CheckResult() {
  static_assert(std::is_same_v<U, float> || std::is_same_v<U, int32_t>, "Fixpipe: results are float or int32_t");
}
// The instruction. Into L1 there is NZ alone.
struct FixpipeCopy {
  uint64_t dst;
  uint32_t src;
  bool to_l1;
  uint32_t n, m, dst_stride, src_stride;
  uint8_t unit_flag;
  QuantMode_t quant;
  uint8_t relu;
  bool channel_split, row_major;
};
inline void IssueFixpipe(const FixpipeCopy& c, Place place) {
  static ::vinci::ascendc::Insn to_gm("copy_matrix_cc_to_gm"), to_l1("copy_matrix_cc_to_cbuf");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(c.to_l1 ? to_l1 : to_gm,
                          {c.dst, c.src, 0, c.n, c.m, c.dst_stride, c.src_stride, c.unit_flag, c.quant, c.relu,
                           c.channel_split, c.row_major && !c.to_l1},
                          place);
}

// Global memory, or L1.
template <typename T>
bool IsL1(const LocalTensor<T>& dst, Place place) {
  if (MemoryOf(dst.GetPosition()) != ::vinci::ascendc::Memory::l1)
    ::vinci::ascendc::unsupported("Fixpipe to a position other than L1 and global memory", place);
  return true;
}
template <typename T>
bool IsL1(const GlobalTensor<T>&, Place) {
  return false;
}

// A table of parameters, one for each of n columns, from L1 to the begin of the FIXPIPE buffer.
inline void LoadQuantTable(const LocalTensor<uint64_t>& table, uint32_t n, Place place) {
  const LocalTensor<uint64_t> buffer(TPosition::C2PIPE2GM, 0, n);
  IssueBarrier(PIPE_FIX, place);
  CopyToFixpipeBuffer(buffer, table, {1, static_cast<uint16_t>((n * sizeof(uint64_t) + 127) / 128), 0, 0}, place);
  IssueFpc(0, 0, place);
  IssueBarrier(PIPE_FIX, place);
}

// Columns of a quantisation table that the FIXPIPE buffer takes.
inline uint32_t QuantColumns() {
  return static_cast<uint32_t>(::vinci::ascendc::size_of(::vinci::ascendc::Memory::fb) / sizeof(uint64_t)) / 16 * 16;
}

template <typename Dst, typename U>
void FixpipeTo(const Dst& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p, CO2Layout layout, Place place) {
  CheckResult<U>();
  const bool to_l1 = IsL1(dst, place), row_major = layout == CO2Layout::ROW_MAJOR;
  if (IsScalarQuant(p.quantPre)) SetFixpipePreQuantFlag(p.deqScalar, place);
  if (row_major && !to_l1) {
    if (p.ndNum == 0) return;
    SetFixpipeNz2ndFlag(p.ndNum, p.srcNdStride, p.dstNdStride, place);
  }
  IssueFixpipe({dst.Address(), src.Address(), to_l1, p.nSize, p.mSize, p.dstStride, p.srcStride, p.unitFlag, p.quantPre,
                static_cast<uint8_t>(p.reluEn), p.isChannelSplit, row_major},
               place);
}
// With a table of parameters in L1; more columns than the FIXPIPE buffer takes are several instructions.
template <typename Dst, typename U>
void FixpipeTo(const Dst& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& table,
               const FixpipeParamsV220& p, CO2Layout layout, Place place) {
  using T = typename Dst::PrimType;
  if (!IsVectorQuant(p.quantPre)) return FixpipeTo(dst, src, p, layout, place);
  const bool row_major = layout == CO2Layout::ROW_MAJOR && !IsL1(dst, place);
  // Of NZ a block column has 16 elements, of 8 bits 32, of 4 bits 64.
  const uint64_t width = 256 / kBitsOf<T> < 16 ? 16 : 256 / kBitsOf<T>;
  for (uint32_t first = 0; first < p.nSize; first += QuantColumns()) {
    FixpipeParamsV220 part = p;
    part.nSize = static_cast<uint16_t>(p.nSize - first < QuantColumns() ? p.nSize - first : QuantColumns());
    LoadQuantTable(table[first], part.nSize, place);
    const uint64_t moved = row_major ? first : first / width * p.dstStride * 256 / kBitsOf<T>;
    FixpipeTo(dst[static_cast<uint32_t>(moved)], src[first * p.srcStride], part, layout, place);
  }
}
}  // namespace vinci_detail

template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, intriParams, config.format, place);
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, intriParams, config.format, place);
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsV220& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, cbufWorkspace, intriParams, config.format, place);
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsV220& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, cbufWorkspace, intriParams, config.format, place);
}

namespace vinci_detail {
// The older form in terms of the newer one.
template <typename T, typename U>
FixpipeParamsV220 Translated(const FixpipeParams<U>& p) {
  constexpr uint32_t kRow = 16;
  const bool nd = p.nz2ndParams.nz2ndEn;
  const uint32_t rows = p.burstLen * ONE_BLK_SIZE / (kRow * sizeof(U));
  FixpipeParamsV220 out;
  out.nSize = nd ? p.nz2ndParams.originalNSize : static_cast<uint16_t>(p.cburstNum * kRow);
  out.mSize = static_cast<uint16_t>(rows);
  out.srcStride = static_cast<uint16_t>((rows + kRow - 1) / kRow * kRow + p.srcStride);
  out.dstStride = nd ? p.dstStride : p.dstStride + rows * (kBitsOf<T> == 32 ? 2 : 1);
  out.quantPre = p.quantParams.quantPre;
  out.deqScalar = p.quantParams.deqScalar;
  out.ndNum = p.nz2ndParams.ndNum;
  out.srcNdStride = p.nz2ndParams.srcNdStride;
  out.dstNdStride = p.nz2ndParams.dstNdStride;
  out.reluEn = p.reluEn;
  out.unitFlag = p.unitFlag;
  return out;
}
template <typename U>
constexpr CO2Layout LayoutOf(const FixpipeParams<U>& p) {
  return p.nz2ndParams.nz2ndEn ? CO2Layout::ROW_MAJOR : CO2Layout::NZ;
}
}  // namespace vinci_detail

template <typename T, typename U>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, vinci_detail::Translated<T>(intriParams), vinci_detail::LayoutOf(intriParams),
                          place);
}
template <typename T, typename U>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, vinci_detail::Translated<T>(intriParams), vinci_detail::LayoutOf(intriParams),
                          place);
}
template <typename T, typename U>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParams<U>& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, cbufWorkspace, vinci_detail::Translated<T>(intriParams),
                          vinci_detail::LayoutOf(intriParams), place);
}
template <typename T, typename U>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParams<U>& intriParams, VINCI_PLACE) {
  vinci_detail::FixpipeTo(dst, src, cbufWorkspace, vinci_detail::Translated<T>(intriParams),
                          vinci_detail::LayoutOf(intriParams), place);
}

namespace vinci_detail {
template <typename Dst, typename U>
void CopyResult(const Dst& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& p, Place place) {
  CheckResult<U>();
  if (p.clipReluPre != 0 || p.eltWiseOp != 0)
    ::vinci::ascendc::unsupported("clipReluPre or eltWiseOp of DataCopyCO12DstParams", place);
  IssueFixpipe({dst.Address(), src.Address(), IsL1(dst, place), p.nSize, p.mSize, p.dstStride, p.srcStride, p.unitFlag,
                p.quantPre, p.reluPre, p.channelSplit, p.nz2ndEn},
               place);
}
}  // namespace vinci_detail

template <typename T, typename U>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& intriParams,
              VINCI_PLACE) {
  vinci_detail::CopyResult(dst, src, intriParams, place);
}
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyCO12DstParams& intriParams,
              VINCI_PLACE) {
  vinci_detail::CopyResult(dst, src, intriParams, place);
}

}  // namespace AscendC
