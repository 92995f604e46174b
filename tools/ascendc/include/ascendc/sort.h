// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy.h"
#include "ascendc/gather.h"

// Sorting: records of 8 bytes (score and index) on A2 and A3, region proposals on the older generations. Documentation:
// Ascend C API, sorting.
namespace AscendC {

struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool suspension, uint16_t valid, uint16_t repeats)
      : ifExhaustedSuspension(suspension), validBit(valid), repeatTimes(static_cast<uint8_t>(repeats)) {
    for (int i = 0; i < 4; ++i)
      elementLengths[i] = lengths[i];
  }
  uint16_t elementLengths[4]{};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};
template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b, const LocalTensor<T>& c, const LocalTensor<T>& d)
      : src1(a), src2(b), src3(c), src4(d) {}
  LocalTensor<T> src1, src2, src3, src4;
};

// Each repeat: 32 scores with their indices, by descending score.
VINCI_INSN(Sort32Insn, "vbitsort32", TypeName<T>())
template <typename T>
void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<uint32_t>& src1,
            const int32_t repeatTime, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(vinci_detail::Sort32Insn<T>(),
                          {dst.Address(), src0.Address(), src1.Address(), static_cast<uint64_t>(repeatTime)}, place);
}

// Merges up to four sorted lists.
VINCI_INSN(MrgSortInsn, "vmrgsort4v2", TypeName<T>())
VINCI_INSN(MrgSort4Insn, "vmrgsort4", TypeName<T>())
namespace vinci_detail {
template <typename T>
void IssueMerge(::vinci::ascendc::Insn& insn, const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                const MrgSort4Info& p, Place place) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), src.src1.Address(), src.src2.Address(), src.src3.Address(),
                           src.src4.Address(), p.repeatTimes, p.elementLengths[0], p.elementLengths[1],
                           p.elementLengths[2], p.elementLengths[3], p.ifExhaustedSuspension, p.validBit},
                          place);
}
}  // namespace vinci_detail

template <typename T>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params, VINCI_PLACE) {
  vinci_detail::IssueMerge(vinci_detail::MrgSortInsn<T>(), dst, src, params, place);
}
template <typename T>
void MrgSort4(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& params, VINCI_PLACE) {
  vinci_detail::IssueMerge(vinci_detail::MrgSort4Insn<T>(), dst, src, params, place);
}
// How many elements of each list the last merge has taken.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3,
                             uint16_t& mrgSortList4, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_vms4_sr");
  const uint64_t taken = ::vinci::ascendc::read(insn, place);
#if __NPU_ARCH__ == 2201
  constexpr unsigned kBits = 16;
#else
  constexpr unsigned kBits = 13;
#endif
  const auto list = [&](unsigned i) {
    return static_cast<uint16_t>(taken >> (kBits * i) & vinci_detail::LowBits(kBits));
  };
  mrgSortList1 = list(0);
  mrgSortList2 = list(1);
  mrgSortList3 = list(2);
  mrgSortList4 = list(3);
}

// Proposals: 16 in a repeat.
VINCI_INSN(RpSort16Insn, "vbitsort", TypeName<T>())
template <typename T>
void RpSort16(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(vinci_detail::RpSort16Insn<T>(),
                          {dst.Address(), src.Address(), static_cast<uint64_t>(repeatTime)}, place);
}
#define VINCI_PROPOSAL(Name, mnemonic)                                                                                \
  VINCI_INSN(Name##Insn, mnemonic, TypeName<T>())                                                                     \
  template <typename T>                                                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t modeNumber, \
            VINCI_PLACE) {                                                                                            \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                           \
    ::vinci::ascendc::issue(                                                                                          \
        vinci_detail::Name##Insn<T>(),                                                                                \
        {dst.Address(), src.Address(), static_cast<uint64_t>(repeatTime), static_cast<uint64_t>(modeNumber)}, place); \
  }
VINCI_PROPOSAL(ProposalConcat, "vconcat")
VINCI_PROPOSAL(ProposalExtract, "vextract")
#undef VINCI_PROPOSAL

namespace vinci_detail {
// Whole tensors of records, A2 and A3: Concat prepares scores, Sort sorts them, Extract takes them apart.
template <typename T>
inline constexpr uint32_t kRecordElements = 8 / sizeof(T);
constexpr uint32_t kSortedAtOnce = 32;
}  // namespace vinci_detail

inline uint32_t GetSortLen(uint32_t elements, uint32_t bytes_of_element) { return elements * 8 / bytes_of_element; }
template <typename T>
uint32_t GetSortLen(const uint32_t elemCount) {
  return GetSortLen(elemCount, sizeof(T));
}
template <typename T>
uint32_t GetSortOffset(const uint32_t elemOffset) {
  return GetSortLen(elemOffset, sizeof(T));
}

template <typename T>
void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& /*tmp*/,
            const int32_t /*repeatTime*/) {
  concat = src;
}

// Sorts each 32 elements; a full sort then merges four lists at a time, between `tmp` and `dst`, until one is left.
template <typename T, bool isFullSort>
void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index,
          LocalTensor<T>& tmp, const int32_t repeatTime, VINCI_PLACE) {
  Sort32(dst, concat, index, repeatTime, place);
  if constexpr (isFullSort) {
    const auto total = static_cast<uint32_t>(repeatTime) * vinci_detail::kSortedAtOnce;
    LocalTensor<T> from = dst, to = tmp;
    for (uint32_t length = vinci_detail::kSortedAtOnce; length < total; length *= 4) {
      vinci_detail::IssueBarrier(PIPE_V, place);
      for (uint32_t first = 0; first < total; first += 4 * length) {
        MrgSort4Info info;
        LocalTensor<T> lists[4];
        uint16_t valid = 0;
        for (uint32_t i = 0; i < 4 && first + i * length < total; ++i) {
          const uint32_t begin = first + i * length, left = total - begin;
          lists[i] = from[begin * vinci_detail::kRecordElements<T>];
          info.elementLengths[i] = static_cast<uint16_t>(left < length ? left : length);
          valid = static_cast<uint16_t>(valid * 2 + 1);
        }
        const LocalTensor<T> out = to[first * vinci_detail::kRecordElements<T>];
        if (valid == 1) {
          DataCopyParams rows{1, static_cast<uint16_t>(info.elementLengths[0] * 8 / ONE_BLK_SIZE), 0, 0};
          DataCopy(out, lists[0], rows, place);
        } else {
          info.validBit = valid;
          MrgSort(out, MrgSortSrcList<T>(lists[0], lists[1], lists[2], lists[3]), info, place);
        }
      }
      const LocalTensor<T> sorted = to;
      to = from;
      from = sorted;
    }
    if (from.Address() != dst.Address()) {
      vinci_detail::IssueBarrier(PIPE_V, place);
      DataCopy(dst, from, total * vinci_detail::kRecordElements<T>, place);
    }
  }
}

// Lists of records given one by one, with their lengths; sortedNum says what was taken of each.
template <typename T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& sortList, const uint16_t elementCountList[4],
             uint32_t sortedNum[4], uint16_t validBit, const int32_t repeatTime, VINCI_PLACE) {
  MrgSort(dst, sortList,
          MrgSort4Info(elementCountList, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeatTime)), place);
  if constexpr (isExhaustedSuspension) {
    TPipe::Order(HardEvent::V_S, place);
    uint16_t taken[4];
    GetMrgSortResult(taken[0], taken[1], taken[2], taken[3], place);
    for (int i = 0; i < 4; ++i)
      sortedNum[i] = taken[i];
  }
}

template <typename T>
void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
             const int32_t repeatTime, VINCI_PLACE) {
  // 32 records are a repeat of 256 bytes.
  const GatherMaskParams params{1, static_cast<uint16_t>(repeatTime), 8, 0};
  uint64_t kept = 0;
  constexpr uint8_t kOdd = 2;
  constexpr uint8_t kValues = sizeof(T) == 4 ? 1 : 3;  // the first of two, or of four
  GatherMask(dstValue, sorted, kValues, false, 0, params, kept, place);
  GatherMask(dstIndex, sorted.template ReinterpretCast<uint32_t>(), kOdd, false, 0, params, kept, place);
}

}  // namespace AscendC
