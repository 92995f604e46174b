// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"
#include "ascendc/reduce.h"

// Reductions of whole tensors, made of reductions of repeats, and the newer names of the latter. Documentation: Ascend
// C API, reductions.
namespace AscendC {

enum class ReduceType : uint8_t { SUM, MAX, MIN };

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true, typename Mask>
void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask, const int32_t repeatTime,
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, VINCI_PLACE) {
  static_assert(std::is_same_v<T, U>, "ReduceDataBlock to another type is not supported by Vinci");
  if constexpr (reduceType == ReduceType::SUM)
    BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, place);
  else if constexpr (reduceType == ReduceType::MAX)
    BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, place);
  else
    BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, place);
}

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true, typename Mask>
void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, VINCI_PLACE) {
  static_assert(reduceType == ReduceType::SUM && std::is_same_v<T, U>, "ReducePairElem sums pairs of one type");
  PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, place);
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true, typename Mask>
void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, const Mask& mask, const int32_t repeatTime,
                  const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, VINCI_PLACE) {
  static_assert(std::is_same_v<T, U>, "ReduceRepeat of another type than that of its result is not supported by Vinci");
  if constexpr (reduceType == ReduceType::SUM)
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, place);
  else if constexpr (reduceType == ReduceType::MAX)
    WholeReduceMax<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, place);
  else
    WholeReduceMin<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, place);
}
// The sum of each repeat; dstBlkStride has no meaning.
template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, const int32_t mask,
                     const int32_t /*dstBlkStride*/, const int32_t srcBlkStride, const int32_t dstRepStride,
                     const int32_t srcRepStride, VINCI_PLACE) {
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, place);
}

// What vcadd with mode 1 has summed, and the extremum over the repeats of the last vcmax or vcmin.
template <typename T>
T GetReduceRepeatSumSpr(VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_acc_val");
  return vinci_detail::FromBits<T>(::vinci::ascendc::read(insn, place));
}
template <typename T>
T GetAccVal(VINCI_PLACE) {
  return GetReduceRepeatSumSpr<T>(place);
}
// Its bits, which kernels read as the type that they have summed.
inline int64_t GetAccVal(VINCI_PLACE) { return GetReduceRepeatSumSpr<int64_t>(place); }
template <typename T>
void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("get_max_min_cnt");
  const uint64_t both = ::vinci::ascendc::read(insn, place);
  maxMinValue = vinci_detail::FromBits<T>(both);
  maxMinIndex = vinci_detail::FromBits<T>(both >> 32);
}
template <typename T>
void GetReduceRepeatMaxMinSpr(T& maxMinValue, VINCI_PLACE) {
  T index;
  GetReduceRepeatMaxMinSpr(maxMinValue, index, place);
}
template <typename T>
void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex, VINCI_PLACE) {
  GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex, place);
}
template <typename T>
void GetReduceMaxMinCount(T& maxMinValue, VINCI_PLACE) {
  GetReduceRepeatMaxMinSpr(maxMinValue, place);
}

namespace vinci_detail {
// A reduction of the first round: calls body(first repeat, repeats) for as many repeats as an instruction takes, and
// as keep the results of each in blocks of its own.
template <typename F>
void ForEachRepeats(int32_t repeats, F&& body) {
  constexpr int32_t kMost = 240;
  for (int32_t first = 0; first < repeats; first += kMost) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
    body(first, repeats - first < kMost ? repeats - first : kMost);
  }
}
template <typename T>
inline constexpr int32_t kLanesOf = ONE_REPEAT_BYTE_SIZE / sizeof(T);
template <typename T>
inline constexpr int32_t kBlockElements = ONE_BLK_SIZE / sizeof(T);

// Sums of repeats are summed again until one is left.
template <typename T>
void SumPartials(const LocalTensor<T>& dst, const LocalTensor<T>& work, int32_t count, Place place) {
  while (true) {
    IssueBarrier(PIPE_V, place);
    const int32_t repeats = (count + kLanesOf<T> - 1) / kLanesOf<T>;
    CountedMask mask(static_cast<uint64_t>(count), place);
    IssueReduce(WholeReduceSumInsn<T>(), repeats == 1 ? dst : work, work, 1, 1, 1, 8, place);
    mask.Reset();
    if (repeats == 1) return;
    count = repeats;
  }
}
template <typename T, typename Mask>
void ReduceSumOfRepeats(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
                        const Mask& mask, int32_t repeats, int32_t stride, Place place) {
  if (repeats <= 0) return;
  ForEachRepeats(repeats, [&](int32_t first, int32_t n) {
    WholeReduceSum<T>(repeats == 1 ? dst : work[static_cast<uint32_t>(first)],
                      src[static_cast<uint32_t>(first * stride * kBlockElements<T>)], mask, n, 1, 1, stride, place);
  });
  if (repeats > 1) SumPartials(dst, work, repeats, place);
  ResetMask(place);
}
}  // namespace vinci_detail

template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
               const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride, VINCI_PLACE) {
  vinci_detail::ReduceSumOfRepeats(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, place);
}
template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
               const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, VINCI_PLACE) {
  vinci_detail::ReduceSumOfRepeats(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, place);
}
// Of the first elements: on A2 and A3 the sums of the repeats are added one after the other, in a register, which the
// scalar unit then stores.
template <typename T, bool isSetMask = true>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               [[maybe_unused]] const LocalTensor<T>& sharedTmpBuffer, const int32_t count, VINCI_PLACE) {
  if (isSetMask && count <= 0) return;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
#if __NPU_ARCH__ == 2201
  static ::vinci::ascendc::Insn insn("vcadd", vinci_detail::TypeName<T>());
  if constexpr (isSetMask) {
    SetMaskCount(place);
    vinci_detail::IssueMask(0, static_cast<uint64_t>(count), place);
  }
  ::vinci::ascendc::issue(insn, {dst.Address(), src.Address(), 1, 1, 1, 8, 1}, place);
  if constexpr (isSetMask) {
    SetMaskNorm(place);
    ResetMask(place);
  }
  TPipe::Order(HardEvent::V_S, place);
  dst.SetValue(0, GetReduceRepeatSumSpr<T>(place), place);
  TPipe::Order(HardEvent::S_V, place);
#else
  static_assert(isSetMask, "ReduceSum without a mask of its own is not supported by Vinci");
  const int32_t repeats = (count + vinci_detail::kLanesOf<T> - 1) / vinci_detail::kLanesOf<T>;
  vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);
  vinci_detail::IssueReduce(vinci_detail::WholeReduceSumInsn<T>(), repeats == 1 ? dst : sharedTmpBuffer, src, 1, 1, 1,
                            8, place);
  mask.Reset();
  if (repeats > 1) vinci_detail::SumPartials(dst, sharedTmpBuffer, repeats, place);
#endif
}

namespace vinci_detail {
// The extremum of a tensor in rounds: each leaves a pair of value and index for every repeat of the round before. With
// an index, the pairs of all rounds stay in `work`, each round at whole blocks, and the scalar unit follows the indices
// back; without, rounds may overlap.
template <typename T>
class ExtremumRounds {
 public:
  ExtremumRounds(::vinci::ascendc::Insn& insn, const LocalTensor<T>& work, bool index, Place place)
      : insn_(insn), work_(work), index_(index), place_(place) {}

  // Pairs of the first round are in `work`; `stride` is the distance of its repeats in elements of the source.
  void Finish(const LocalTensor<T>& dst, int32_t pairs, int32_t stride) {
    starts_[0] = 0;
    while (pairs > 1) {
      const int32_t lanes = pairs * 2, repeats = (lanes + kLanesOf<T> - 1) / kLanesOf<T>;
      const uint32_t from = starts_[rounds_];
      const uint32_t to = index_ ? from + static_cast<uint32_t>(Aligned(lanes)) : from;
      starts_[++rounds_] = to;
      IssueBarrier(PIPE_V, place_);
      Round(to, from, pairs);
      pairs = repeats;
    }
    TPipe::Order(HardEvent::V_S, place_);
    uint32_t at = 0;  // which pair
    for (int32_t round = rounds_; index_ && round > 0; --round)
      at = (at * kLanesOf<T> + IndexAt(starts_[round] + 2 * at)) / 2;
    const T value = work_.GetValue(starts_[rounds_], place_);
    dst.SetValue(0, value, place_);
    if (index_) {
      const uint32_t position = at * static_cast<uint32_t>(stride) + IndexAt(2 * at);
      dst.SetValue(1, FromBits<T>(position), place_);
    }
    TPipe::Order(HardEvent::S_V, place_);
  }

 private:
  static constexpr int32_t Aligned(int32_t elements) {
    return (elements + kBlockElements<T> - 1) / kBlockElements<T> * kBlockElements<T>;
  }
  uint32_t IndexAt(uint32_t pair) const { return static_cast<uint32_t>(BitsOf(work_.GetValue(pair + 1, place_))); }
  // Values are the even lanes; in the last repeat there may be fewer.
  void Round(uint32_t to, uint32_t from, int32_t pairs) {
    constexpr int32_t kPairs = kLanesOf<T> / 2;
    constexpr uint64_t kEven = 0x5555555555555555;
    const int32_t whole = pairs / kPairs, rest = pairs % kPairs;
    if (whole > 0) {
      IssueMask(sizeof(T) == 2 ? kEven : 0, kEven, place_);
      ForEachRepeats(whole, [&](int32_t first, int32_t n) {
        IssueReduce(insn_, work_[to + static_cast<uint32_t>(2 * first)],
                    work_[from + static_cast<uint32_t>(first * kLanesOf<T>)], n, 1, 1, 8, 0, place_);
      });
    }
    if (rest > 0) {
      if (whole > 0) IssueBarrier(PIPE_V, place_);  // both may write to one block
      const auto lanes = static_cast<uint64_t>(2 * rest);
      IssueMask(lanes > 64 ? kEven & LowBits(lanes - 64) : 0, kEven & LowBits(lanes), place_);
      IssueReduce(insn_, work_[to + static_cast<uint32_t>(2 * whole)],
                  work_[from + static_cast<uint32_t>(whole * kLanesOf<T>)], 1, 1, 1, 8, 0, place_);
    }
    ResetMask(place_);
  }

  ::vinci::ascendc::Insn& insn_;
  LocalTensor<T> work_;
  bool index_;
  Place place_;
  uint32_t starts_[8]{};
  int32_t rounds_ = 0;
};
}  // namespace vinci_detail

#define VINCI_REDUCE_TENSOR(Name, Whole)                                                                               \
  namespace vinci_detail {                                                                                             \
  template <typename T, typename Mask>                                                                                 \
  void Name##OfRepeats(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,               \
                       const Mask& mask, int32_t repeats, int32_t stride, bool index, Place place) {                   \
    if (repeats <= 0) return;                                                                                          \
    ForEachRepeats(repeats, [&](int32_t first, int32_t n) {                                                            \
      Whole<T>(work[static_cast<uint32_t>(2 * first)], src[static_cast<uint32_t>(first * stride * kBlockElements<T>)], \
               mask, n, 1, 1, stride, ReduceOrder::ORDER_VALUE_INDEX, place);                                          \
    });                                                                                                                \
    ResetMask(place);                                                                                                  \
    ExtremumRounds<T>(Whole##Insn<T>(), work, index, place).Finish(dst, repeats, stride* kBlockElements<T>);           \
  }                                                                                                                    \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,               \
            const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,        \
            VINCI_PLACE) {                                                                                             \
    vinci_detail::Name##OfRepeats(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, calIndex, place);         \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,               \
            const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,           \
            VINCI_PLACE) {                                                                                             \
    vinci_detail::Name##OfRepeats(dst, src, sharedTmpBuffer, mask, repeatTime, srcRepStride, calIndex, place);         \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,               \
            const int32_t count, bool calIndex = false, VINCI_PLACE) {                                                 \
    if (count <= 0) return;                                                                                            \
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);                                                            \
    vinci_detail::CountedMask mask(static_cast<uint64_t>(count), place);                                               \
    vinci_detail::IssueReduce(vinci_detail::Whole##Insn<T>(), sharedTmpBuffer, src, 1, 1, 1, 8, 0, place);             \
    mask.Reset();                                                                                                      \
    vinci_detail::ExtremumRounds<T>(vinci_detail::Whole##Insn<T>(), sharedTmpBuffer, calIndex, place)                  \
        .Finish(dst, (count + vinci_detail::kLanesOf<T> - 1) / vinci_detail::kLanesOf<T>, vinci_detail::kLanesOf<T>);  \
  }
VINCI_REDUCE_TENSOR(ReduceMax, WholeReduceMax)
VINCI_REDUCE_TENSOR(ReduceMin, WholeReduceMin)
#undef VINCI_REDUCE_TENSOR

}  // namespace AscendC
