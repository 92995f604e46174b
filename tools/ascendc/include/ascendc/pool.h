// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/pipe.h"

// Memory of a core by other rules than those of TPipe: pools, and an allocator from the beginning on. Documentation:
// Ascend C API, resource management.
namespace AscendC {

// Part of the memory of a TPipe, for queues, buffers and pools of its own. Reset gives it back to itself.
constexpr uint32_t defaultBufIDSize = 4;
template <TPosition position, uint32_t bufIDSize = defaultBufIDSize>
class TBufPool {
 public:
  static constexpr TPosition kBuffer = position;

  template <class Queue>
  bool InitBuffer(Queue& queue, uint8_t buffers, uint32_t bytes, VINCI_PLACE) {
    bytes = vinci_detail::Rounded(bytes);
    return GetTPipePtr()->AddQueue(queue, buffers, bytes, Take(buffers * bytes, place), place);
  }
  template <class Buffer>
  bool InitBuffer(Buffer& buffer, uint32_t bytes, VINCI_PLACE) {
    bytes = vinci_detail::Rounded(bytes);
    buffer.address_ = Take(bytes, place);
    buffer.bytes_ = bytes;
    vinci_detail::NoteBuffer(position, buffer.address_, bytes, place);
    return true;
  }
  template <class Pool>
  bool InitBufPool(Pool& pool, uint32_t bytes, VINCI_PLACE) {
    pool.Set(Take(vinci_detail::Rounded(bytes), place), vinci_detail::Rounded(bytes));
    return true;
  }
  template <class Pool, class Shared>
  bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared, VINCI_PLACE) {
    return GetTPipePtr()->InitBufPool(pool, bytes, shared, place);
  }
  void Reset(VINCI_PLACE) {
    GetTPipePtr()->Settle(address_, bytes_, place);
    used_ = 0;
  }

 private:
  friend class TPipe;
  template <TPosition, uint32_t>
  friend class TBufPool;

  void Set(uint32_t address, uint32_t bytes) {
    address_ = address;
    bytes_ = bytes;
    used_ = 0;
  }
  uint32_t Take(uint32_t bytes, vinci_detail::Place place) {
    if (uint64_t{used_} + bytes > bytes_) ::vinci::ascendc::wrong("InitBuffer: the pool has not so much room", place);
    const uint32_t address = address_ + used_;
    used_ += bytes;
    return address;
  }

  uint32_t address_ = 0, bytes_ = 0, used_ = 0;
};

// A pool whose InitBuffer is the program's own: the members that it needs, in a class of the program. BUFID_SIZE is the
// number of its buffers.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                                        \
 private:                                                                                                             \
  friend class ::AscendC::TPipe;                                                                                      \
  template <::AscendC::TPosition, uint32_t>                                                                           \
  friend class ::AscendC::TBufPool;                                                                                   \
  static constexpr ::AscendC::TPosition kBuffer = POSITION;                                                           \
  void Set(uint32_t address, uint32_t bytes) {                                                                        \
    const auto place = ::AscendC::vinci_detail::Place::here();                                                        \
    Init();                                                                                                           \
    address_ = top_ = address;                                                                                        \
    bytes_ = bytes;                                                                                                   \
    first_ = ::AscendC::GetTPipePtr()->Reserve(BUFID_SIZE, place);                                                    \
  }                                                                                                                   \
  uint32_t address_ = 0, bytes_ = 0, top_ = 0, first_ = 0;                                                            \
  uint8_t handed_ = 0;                                                                                                \
                                                                                                                      \
 public:                                                                                                              \
  EXT_BUFPOOL(const EXT_BUFPOOL&) = delete;                                                                           \
  EXT_BUFPOOL& operator=(const EXT_BUFPOOL&) = delete;                                                                \
  void Init() {                                                                                                       \
    address_ = bytes_ = top_ = first_ = 0;                                                                            \
    handed_ = 0;                                                                                                      \
  }                                                                                                                   \
  void Reset(::vinci::ascendc::Place place = ::vinci::ascendc::Place::here()) {                                       \
    ::AscendC::GetTPipePtr()->Settle(address_, bytes_, place);                                                        \
    top_ = address_;                                                                                                  \
    handed_ = 0;                                                                                                      \
  }                                                                                                                   \
  ::AscendC::TBufHandle GetBufHandle(uint8_t offset,                                                                  \
                                     ::vinci::ascendc::Place place = ::vinci::ascendc::Place::here()) {               \
    if (offset >= (BUFID_SIZE)) ::vinci::ascendc::wrong("GetBufHandle: the pool has " #BUFID_SIZE " buffers", place); \
    return &::AscendC::GetTPipePtr()->BufferAt(first_ + offset);                                                      \
  }                                                                                                                   \
  void SetCurAddr(uint32_t curAddr, ::vinci::ascendc::Place place = ::vinci::ascendc::Place::here()) {                \
    if (curAddr < address_ || curAddr - address_ > bytes_)                                                            \
      ::vinci::ascendc::wrong("SetCurAddr: the pool has not so much room", place);                                    \
    top_ = curAddr;                                                                                                   \
  }                                                                                                                   \
  uint32_t GetCurAddr() const { return top_; }                                                                        \
  void SetCurBufSize(uint8_t curBufSize) { handed_ = curBufSize; }                                                    \
  uint8_t GetCurBufSize() const { return handed_; }

// Memory of a core from its beginning on, without a TPipe.
template <Hardware hardware = Hardware::UB>
class LocalMemAllocator {
 public:
  template <typename T, uint32_t elements>
  LocalTensor<T> Alloc(VINCI_PLACE) {
    return Take<T>(kPosition, elements, place);
  }
  template <TPosition position, typename T, uint32_t elements>
  LocalTensor<T> Alloc(VINCI_PLACE) {
    return Take<T>(position, elements, place);
  }
  template <typename T>
  LocalTensor<T> Alloc(uint32_t elements, VINCI_PLACE) {
    return Take<T>(kPosition, elements, place);
  }
  template <TPosition position, typename T>
  LocalTensor<T> Alloc(uint32_t elements, VINCI_PLACE) {
    return Take<T>(position, elements, place);
  }
  uint32_t GetCurAddr() const { return top_; }

 private:
  static constexpr TPosition kPosition = hardware == Hardware::UB       ? TPosition::VECCALC
                                         : hardware == Hardware::L1     ? TPosition::A1
                                         : hardware == Hardware::L0A    ? TPosition::A2
                                         : hardware == Hardware::L0B    ? TPosition::B2
                                         : hardware == Hardware::L0C    ? TPosition::CO1
                                         : hardware == Hardware::BIAS   ? TPosition::C2
                                         : hardware == Hardware::FIXBUF ? TPosition::C2PIPE2GM
                                                                        : TPosition::MAX;
  static_assert(kPosition != TPosition::MAX, "LocalMemAllocator: a memory of the core is needed");

  template <typename T>
  LocalTensor<T> Take(TPosition position, uint32_t elements, vinci_detail::Place place) {
    const auto bytes = static_cast<uint32_t>(vinci_detail::BytesOf<T>(elements));
    const uint64_t size = ::vinci::ascendc::size_of(vinci_detail::MemoryOf(kPosition));
    if (size != 0 && uint64_t{top_} + bytes > size)
      ::vinci::ascendc::wrong("Alloc: the memory of the core has not so much room", place);
    const LocalTensor<T> out{position, top_, elements};
    top_ += (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
    return out;
  }

  uint32_t top_ = 0;
};

}  // namespace AscendC
