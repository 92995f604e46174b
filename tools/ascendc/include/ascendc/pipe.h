// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "ascendc/remark.h"
#include "ascendc/sync.h"
#include "ascendc/tensor.h"

// TPipe hands out memory of the core and event ids; TQue carries tensors from one pipe to the next, with the flags that
// make it safe; TBuf is memory without a queue. Documentation: Ascend C API, resource management.
namespace AscendC {

namespace vinci_detail {
template <class T, class = void>
struct IsQueue : std::false_type {};
template <class T>
struct IsQueue<T, std::void_t<decltype(T::kFilled)>> : std::true_type {};
// What a tensor of a queue must wait for: EnQue sets `filled` and DeQue waits for it, FreeTensor sets `freed` and
// AllocTensor waits for it.
struct QueueEvents {
  HardEvent filled, freed;
};

// The pipe that writes a position, and the one that reads it on, by the path from src to dst.
constexpr QueueEvents EventsOf(TPosition src, TPosition dst) {
  const auto ub = [](TPosition p) { return MemoryOf(p) == ::vinci::ascendc::Memory::ub; };
  const auto l1 = [](TPosition p) { return MemoryOf(p) == ::vinci::ascendc::Memory::l1; };
  if (src == TPosition::GM && ub(dst)) return {HardEvent::MTE2_V, HardEvent::V_MTE2};
  if (src == TPosition::GM && l1(dst)) return {HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2};
  if (src == TPosition::VECIN && (dst == TPosition::VECOUT || dst == TPosition::GM))
    return {HardEvent::MTE2_MTE3, HardEvent::MTE3_MTE2};
  if (ub(src) && dst == TPosition::GM) return {HardEvent::V_MTE3, HardEvent::MTE3_V};
  if (ub(src) && l1(dst)) return {HardEvent::V_MTE3, HardEvent::MTE3_V};
  if (l1(src) && dst == TPosition::C2PIPE2GM) return {HardEvent::FIX_FIX, HardEvent::FIX_FIX};
  if (l1(src)) return {HardEvent::MTE1_M, HardEvent::M_MTE1};
#if __NPU_ARCH__ == 2201
  if (src == TPosition::CO1) return {HardEvent::M_FIX, HardEvent::FIX_M};
#else
  if (src == TPosition::CO1) return {HardEvent::M_V, HardEvent::V_M};
#endif
  return {HardEvent::V_V, HardEvent::V_V};
}
}  // namespace vinci_detail

class TPipe;
TPipe* GetTPipePtr();

namespace vinci_detail {
// One buffer of a queue.
struct QueueBuffer {
  enum class State : uint8_t { free, allocated, queued, taken };
  uint32_t address = 0, bytes = 0;
  State state = State::free;
  int8_t home = 0;  // the event id that it takes if it is free
  // The same for events that EnQue names: a TQueBind may have one for the way in and another one for the way out.
  HardEvent named[2] = {HardEvent::MAX, HardEvent::MAX};
  int8_t named_homes[2] = {0, 0};
  int8_t filled = -1, freed = -1;  // event ids that are set and not waited for yet
  HardEvent freed_event = HardEvent::MAX;
  int32_t tag = 0;
};

// Buffers are of whole blocks.
constexpr uint32_t Rounded(uint32_t bytes) { return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE; }
}  // namespace vinci_detail

class TPipe {
 public:
  TPipe() { ::vinci::ascendc::core().pipe = this; }
  // A copy goes on where the other one is: its buffers come behind those of the other, whose flags stay with it.
  TPipe(const TPipe& other) { *this = other; }
  TPipe& operator=(const TPipe& other) {
    if (this == &other) return *this;
    for (uint32_t i = 0; i < other.count_; ++i) {
      buffers_[i] = other.buffers_[i];
      buffers_[i].filled = buffers_[i].freed = -1;
    }
    count_ = other.count_;
    std::copy(std::begin(other.tops_), std::end(other.tops_), tops_);
    std::copy(std::begin(other.homes_), std::end(other.homes_), homes_);
    destroyed_ = true;  // until it has buffers of its own
    last_ = other.last_;
    return *this;
  }
  ~TPipe() noexcept(false) {
    // Not where a fault ends the kernel: another one on the way would end the program without a message.
    if (!destroyed_ && std::uncaught_exceptions() == 0) Destroy(last_);
  }

  void Init() { destroyed_ = false; }
  // Waits for the pending flags of all queues, and for all pipes.
  void Destroy(VINCI_PLACE) {
    Release(place);
    vinci_detail::IssueBarrier(PIPE_ALL, place);
    destroyed_ = true;
  }
  // The same without the wait for all pipes.
  void DestroyWithoutPipeAll(VINCI_PLACE) {
    Release(place);
    destroyed_ = true;
  }
  // Gives all memory back, for other buffers.
  void Reset(VINCI_PLACE) {
    Release(place);
    count_ = 0;
    for (unsigned memory = 0; memory < std::size(tops_); ++memory)
      if (std::exchange(tops_[memory], 0) != 0) vinci_detail::NoteNoBuffers(memory, place);
    for (uint32_t& home : homes_)
      home = 0;
  }

  template <class Queue>
  bool InitBuffer(Queue& queue, uint8_t buffers, uint32_t bytes, VINCI_PLACE) {
    static_assert(vinci_detail::IsQueue<Queue>::value,
                  "InitBuffer: a TBuf is one buffer, so it takes no number of buffers");
    bytes = vinci_detail::Rounded(bytes);
    return AddQueue(queue, buffers, bytes, Take(Queue::kBuffer, buffers * bytes, place), place);
  }
  template <class Buffer>
  bool InitBuffer(Buffer& buffer, uint32_t bytes, VINCI_PLACE) {
    bytes = vinci_detail::Rounded(bytes);
    buffer.address_ = Take(Buffer::kBuffer, bytes, place);
    buffer.bytes_ = bytes;
    vinci_detail::NoteBuffer(Buffer::kBuffer, buffer.address_, bytes, place);
    return true;
  }
  // A pool, for other queues and buffers; or one more for the same memory.
  template <class Pool>
  bool InitBufPool(Pool& pool, uint32_t bytes, VINCI_PLACE) {
    pool.Set(Take(Pool::kBuffer, vinci_detail::Rounded(bytes), place), vinci_detail::Rounded(bytes));
    return true;
  }
  template <class Pool, class Shared>
  bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared, VINCI_PLACE) {
    static_assert(vinci_detail::MemoryOf(Pool::kBuffer) == vinci_detail::MemoryOf(Shared::kBuffer),
                  "pools that share memory are in the same");
    if (vinci_detail::Rounded(bytes) > shared.bytes_)
      ::vinci::ascendc::wrong("InitBufPool: the pool is larger than the one that it shares memory with", place);
    pool.Set(shared.address_, vinci_detail::Rounded(bytes));
    return true;
  }
  // Buffers of a queue at an address, one behind the other.
  template <class Queue>
  bool AddQueue(Queue& queue, uint8_t buffers, uint32_t bytes, uint32_t address, vinci_detail::Place place) {
    if (count_ + buffers > kMaxBuffers) ::vinci::ascendc::wrong("InitBuffer: a TPipe has 64 buffers", place);
    queue.first_ = count_;
    queue.buffers_ = buffers;
    queue.pipe_ = this;
    for (uint32_t i = 0; i < buffers; ++i) {
      buffers_[count_] = vinci_detail::QueueBuffer{};
      buffers_[count_].address = address + i * bytes;
      buffers_[count_].bytes = bytes;
      buffers_[count_].home = static_cast<int8_t>(homes_[Queue::kFilled]++ % kEventIds);
      vinci_detail::NoteBuffer(Queue::kBuffer, buffers_[count_].address, bytes, place);
      ++count_;
    }
    return true;
  }
  // Buffers without a queue, for a pool of the program's own.
  uint32_t Reserve(uint32_t buffers, vinci_detail::Place place) {
    if (count_ + buffers > kMaxBuffers) ::vinci::ascendc::wrong("InitBufPool: a TPipe has 64 buffers", place);
    const uint32_t first = count_;
    for (uint32_t i = 0; i < buffers; ++i)
      buffers_[count_++] = vinci_detail::QueueBuffer{};
    return first;
  }
  uint32_t IndexOf(TBufHandle handle, vinci_detail::Place place) const {
    const auto* buffer = static_cast<const vinci_detail::QueueBuffer*>(handle);
    if (buffer < buffers_ || buffer >= buffers_ + count_)
      ::vinci::ascendc::wrong("the handle is none of a pool: GetBufHandle gives them", place);
    return static_cast<uint32_t>(buffer - buffers_);
  }
  template <class Queue>
  void Place(uint32_t index, uint32_t address, uint32_t bytes) {
    buffers_[index] = vinci_detail::QueueBuffer{};
    buffers_[index].address = address;
    buffers_[index].bytes = bytes;
    buffers_[index].home = static_cast<int8_t>(homes_[Queue::kFilled]++ % kEventIds);
  }
  // Waits for the pending flags of the buffers at these addresses.
  void Settle(uint32_t address, uint32_t bytes, vinci_detail::Place place) {
    for (uint32_t i = 0; i < count_; ++i) {
      vinci_detail::QueueBuffer& b = buffers_[i];
      if (b.freed < 0 || b.address < address || b.address - address >= bytes) continue;
      vinci_detail::IssueWaitFlag(b.freed_event, b.freed, place);
      ReleaseEventID(b.freed_event, b.freed);
      b.freed = -1;
    }
  }

  // Event ids, a set for each pair of pipes. Fetch names one that is free, Alloc takes it. The buffers of queues have
  // ids of their own, from the lowest on, as long as there are enough: so an id is set again only when the buffer has
  // gone round, and the wait for it before is certainly over.
  static TEventID FetchEventID(HardEvent event, VINCI_PLACE) {
    const uint64_t used = UsedIds(event);
    for (int8_t id = kEventIds - 1; id >= 0; --id) {
      if ((used >> id & 1) == 0) return id;
    }
    constexpr const char* kUsed =
        kEventIds == 8 ? "all 8 event ids of a pair of pipes are in use; ReleaseEventID or FreeTensor is missing"
                       : "all 4 event ids of a pair of pipes are in use; ReleaseEventID or FreeTensor is missing";
    ::vinci::ascendc::wrong(kUsed, place);
  }
  template <HardEvent event>
  static TEventID FetchEventID(VINCI_PLACE) {
    return FetchEventID(event, place);
  }
  // The second pipe of the event goes on when the first has done what it was given.
  // From the scalar unit to a pipe only after the other way round: the id must not be set again before it is waited
  // for.
  static void Order(HardEvent event, vinci_detail::Place place) {
    const TEventID id = FetchEventID(event, place);
    vinci_detail::IssueSetFlag(event, id, place);
    vinci_detail::IssueWaitFlag(event, id, place);
  }
  TEventID AllocEventID(HardEvent event, VINCI_PLACE) {
    const TEventID id = FetchEventID(event, place);
    UsedIds(event) |= uint64_t{1} << id;
    return id;
  }
  template <HardEvent event>
  TEventID AllocEventID(VINCI_PLACE) {
    return AllocEventID(event, place);
  }
  TEventID AllocEventID(HardEvent event, TEventID home, vinci_detail::Place place) {
    if ((UsedIds(event) >> home & 1) != 0) return AllocEventID(event, place);
    UsedIds(event) |= uint64_t{1} << home;
    return home;
  }
  // The id of a buffer for an event other than those of its queue: the next one of that event when it is first set.
  TEventID HomeOf(HardEvent event, vinci_detail::QueueBuffer& buffer) {
    for (unsigned i = 0; i < std::size(buffer.named); ++i) {
      if (buffer.named[i] == event) return buffer.named_homes[i];
      if (buffer.named[i] != HardEvent::MAX) continue;
      buffer.named[i] = event;
      buffer.named_homes[i] = static_cast<int8_t>(homes_[static_cast<unsigned>(event)]++ % kEventIds);
      return buffer.named_homes[i];
    }
    return buffer.home;
  }
  void ReleaseEventID(HardEvent event, TEventID id) { UsedIds(event) &= ~(uint64_t{1} << id); }
  template <HardEvent event>
  void ReleaseEventID(TEventID id) {
    ReleaseEventID(event, id);
  }

  template <TPosition position, typename T>
  LocalTensor<T> GetAbsAddr(int32_t offset, int32_t elements) const {
    return {position, static_cast<uint32_t>(offset), static_cast<uint32_t>(elements)};
  }
  // How much of the memory of a position is handed out, in bytes.
  uint32_t GetBaseAddr(TPosition position) const {
    return tops_[static_cast<unsigned>(vinci_detail::MemoryOf(position))];
  }

  vinci_detail::QueueBuffer& BufferAt(uint32_t index) { return buffers_[index]; }
  // Every use of a queue says where; the end of the pipe is shown at the last one.
  void Used(vinci_detail::Place place) { last_ = place; }

 private:
  static constexpr uint32_t kMaxBuffers = 64;
  static constexpr int8_t kEventIds = QUE_MAX_EVENT;

  static uint64_t& UsedIds(HardEvent event) { return ::vinci::ascendc::core().event_ids[static_cast<unsigned>(event)]; }

  uint32_t Take(TPosition position, uint32_t bytes, vinci_detail::Place place) {
    const auto memory = vinci_detail::MemoryOf(position);
    uint32_t& top = tops_[static_cast<unsigned>(memory)];
    const uint64_t size = ::vinci::ascendc::size_of(memory);
    const uint32_t address = top;
    last_ = place;
    destroyed_ = false;
    if (size != 0 && uint64_t{address} + bytes > size)
      ::vinci::ascendc::wrong("InitBuffer: the buffers of this TPipe are larger than the memory of the core", place);
    top += bytes;
    return address;
  }

  void Release(vinci_detail::Place place) { Settle(0, ~uint32_t{0}, place); }

  vinci_detail::QueueBuffer buffers_[kMaxBuffers];
  uint32_t count_ = 0;
  uint32_t tops_[9]{};                                       // by Memory
  uint32_t homes_[static_cast<unsigned>(HardEvent::MAX)]{};  // handed out, by event
  bool destroyed_ = false;
  vinci_detail::Place last_{nullptr, 0};
};

inline TPipe* GetTPipePtr() { return static_cast<TPipe*>(::vinci::ascendc::core().pipe); }

// What a queue may be told at compile time; copies that convert are chosen by their parameters here.
struct TQueConfig {
  bool nd2nz = false, nz2nd = false, scmBlockGroup = false;
  uint32_t bufferLen = 0, bufferNumber = 0, consumerSize = 0;
  TPosition consumer[8]{};
};

// A queue from one position to another.
template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  // The position whose memory the buffers are in.
  static constexpr TPosition kBuffer =
      src == TPosition::GM || vinci_detail::MemoryOf(src) == ::vinci::ascendc::Memory::l1 ? dst : src;
  static constexpr auto kFilled = static_cast<unsigned>(vinci_detail::EventsOf(src, dst).filled);

  template <typename T>
  LocalTensor<T> AllocTensor(VINCI_PLACE) {
    const uint32_t index = FindFree();
    if (index == kNone) {
      ::vinci::ascendc::wrong("AllocTensor: all buffers of the queue are in use; FreeTensor or InitBuffer is missing",
                              place);
    }
    TPipe& pipe = Pipe(place);
    vinci_detail::QueueBuffer& b = pipe.BufferAt(index);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::queue);
    if (b.freed >= 0) {
      vinci_detail::IssueWaitFlag(b.freed_event, b.freed, place);
      pipe.ReleaseEventID(b.freed_event, b.freed);
      b.freed = -1;
    }
    b.state = vinci_detail::QueueBuffer::State::allocated;
    return {kBuffer, b.address, b.bytes, &b};
  }
  template <typename T>
  void AllocTensor(LocalTensor<T>& tensor, VINCI_PLACE) {
    tensor = AllocTensor<T>(place);
  }

  template <typename T>
  bool EnQue(const LocalTensor<T>& tensor, VINCI_PLACE) {
    return EnQueHandle(tensor.Handle(), tensor.GetUserTag(), kEvents.filled, place);
  }
  template <TPosition from, TPosition to, typename T>
  bool EnQue(const LocalTensor<T>& tensor, VINCI_PLACE) {
    return EnQueHandle(tensor.Handle(), tensor.GetUserTag(), vinci_detail::EventsOf(from, to).filled, place);
  }
  bool EnQue(TBufHandle handle, VINCI_PLACE) { return EnQueHandle(handle, 0, kEvents.filled, place); }

  template <typename T>
  LocalTensor<T> DeQue(VINCI_PLACE) {
    return Taken<T>(kEvents.filled, place);
  }
  template <TPosition from, TPosition to, typename T>
  LocalTensor<T> DeQue(VINCI_PLACE) {
    return Taken<T>(vinci_detail::EventsOf(from, to).filled, place);
  }
  template <typename T>
  void DeQue(LocalTensor<T>& tensor, VINCI_PLACE) {
    tensor = DeQue<T>(place);
  }
  TBufHandle DeQue(VINCI_PLACE) { return &TakenBuffer(kEvents.filled, place); }

  template <typename T>
  void FreeTensor(const LocalTensor<T>& tensor, VINCI_PLACE) {
    vinci_detail::QueueBuffer& b = BufferOf(tensor.Handle(), place);
    if (b.state == vinci_detail::QueueBuffer::State::free)
      ::vinci::ascendc::wrong("FreeTensor: the tensor is free already", place);
    TPipe& pipe = Pipe(place);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::queue);
    b.state = vinci_detail::QueueBuffer::State::free;
    if constexpr (kEvents.freed != HardEvent::V_V) {
      b.freed_event = kEvents.freed;
      b.freed = pipe.AllocEventID(kEvents.freed, b.home, place);
      vinci_detail::IssueSetFlag(kEvents.freed, b.freed, place);
    }
  }
  void FreeAllEvent(VINCI_PLACE) {
    for (uint32_t i = first_; i < first_ + buffers_; ++i) {
      vinci_detail::QueueBuffer& b = Pipe(place).BufferAt(i);
      if (b.freed < 0) continue;
      vinci_detail::IssueWaitFlag(b.freed_event, b.freed, place);
      Pipe(place).ReleaseEventID(b.freed_event, b.freed);
      b.freed = -1;
    }
  }

  bool VacantInQue() const { return queued_ < kDepth; }
  bool HasTensorInQue() const { return queued_ > 0; }
  int32_t GetTensorCountInQue() const { return static_cast<int32_t>(queued_); }
  bool HasIdleBuffer() const { return FindFree() != kNone; }
  TBufHandle GetBufferHandle(uint32_t index) const {
    return &Pipe(vinci_detail::Place::here()).BufferAt(first_ + index);
  }

  // For pools of the program's own (EXTERN_IMPL_BUFPOOL): the queue has `num` buffers from this one of the pool on, and
  // each is at an address.
  void InitStartBufHandle(TBufHandle startBufhandle, uint8_t num, uint32_t /*len*/, VINCI_PLACE) {
    first_ = Pipe(place).IndexOf(startBufhandle, place);
    buffers_ = num;
  }
  template <typename Pool>
  void InitBufHandle(Pool* /*bufPool*/, uint32_t index, TBufHandle bufhandle, uint32_t curPoolAddr, uint32_t len,
                     VINCI_PLACE) {
    const uint32_t first = Pipe(place).IndexOf(bufhandle, place);
    Pipe(place).template Place<TQueBind>(first + index, curPoolAddr, len);
  }

 private:
  friend class TPipe;
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kMaxQueued = 64;
  static constexpr uint32_t kDepth = depth > 0 ? depth : 1;
  static constexpr vinci_detail::QueueEvents kEvents = vinci_detail::EventsOf(src, dst);

  TPipe& Pipe(vinci_detail::Place place) const {
    TPipe* pipe = pipe_ != nullptr ? pipe_ : GetTPipePtr();
    if (pipe == nullptr) ::vinci::ascendc::wrong("a queue is used without a TPipe", place);
    pipe->Used(place);
    return *pipe;
  }
  // Buffers are used in turn, so that the next one has had the longest time to become free.
  uint32_t FindFree() const {
    TPipe* pipe = pipe_ != nullptr ? pipe_ : GetTPipePtr();
    for (uint32_t i = 0; i < buffers_; ++i) {
      const uint32_t index = first_ + (next_ + i) % buffers_;
      if (pipe->BufferAt(index).state != vinci_detail::QueueBuffer::State::free) continue;
      next_ = (index - first_ + 1) % buffers_;
      return index;
    }
    return kNone;
  }
  static vinci_detail::QueueBuffer& BufferOf(TBufHandle handle, vinci_detail::Place place) {
    if (handle == nullptr) ::vinci::ascendc::wrong("the tensor is none of a queue: AllocTensor makes them", place);
    return *static_cast<vinci_detail::QueueBuffer*>(handle);
  }

  bool EnQueHandle(TBufHandle handle, int32_t tag, HardEvent event, vinci_detail::Place place) {
    vinci_detail::QueueBuffer& b = BufferOf(handle, place);
    if (queued_ == kMaxQueued) ::vinci::ascendc::wrong("EnQue: the queue is full; DeQue is missing", place);
    TPipe& pipe = Pipe(place);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::queue);
    b.state = vinci_detail::QueueBuffer::State::queued;
    b.tag = tag;
    if (event != HardEvent::V_V) {
      b.filled = pipe.AllocEventID(event, event == kEvents.filled ? b.home : pipe.HomeOf(event, b), place);
      vinci_detail::IssueSetFlag(event, b.filled, place);
    }
    order_[(head_ + queued_++) % kMaxQueued] = &b;
    return true;
  }
  template <typename T>
  LocalTensor<T> Taken(HardEvent event, vinci_detail::Place place) {
    vinci_detail::QueueBuffer& b = TakenBuffer(event, place);
    LocalTensor<T> out{kBuffer, b.address, b.bytes, &b};
    out.SetUserTag(b.tag);
    return out;
  }
  vinci_detail::QueueBuffer& TakenBuffer(HardEvent event, vinci_detail::Place place) {
    if (queued_ == 0) ::vinci::ascendc::wrong("DeQue: the queue is empty; EnQue is missing", place);
    vinci_detail::QueueBuffer& b = *order_[head_];
    head_ = (head_ + 1) % kMaxQueued;
    --queued_;
    ::vinci::ascendc::charge(::vinci::ascendc::Work::queue);
    if (event == HardEvent::V_V) {
      vinci_detail::IssueBarrier(PIPE_V, place);
    } else if (b.filled >= 0) {
      vinci_detail::IssueWaitFlag(event, b.filled, place);
      Pipe(place).ReleaseEventID(event, b.filled);
      b.filled = -1;
    }
    b.state = vinci_detail::QueueBuffer::State::taken;
    return b;
  }

  TPipe* pipe_ = nullptr;  // that has given it its buffers
  uint32_t first_ = 0, buffers_ = 0;
  mutable uint32_t next_ = 0;
  vinci_detail::QueueBuffer* order_[kMaxQueued]{};
  uint32_t head_ = 0, queued_ = 0;
};

namespace vinci_detail {
// The other end of a queue that names one position.
constexpr TPosition SourceOf(TPosition p) {
  switch (p) {
    case TPosition::VECIN:
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1: return TPosition::GM;
    case TPosition::A2: return TPosition::A1;
    case TPosition::B2: return TPosition::B1;
    case TPosition::C2:
    case TPosition::C2PIPE2GM: return TPosition::C1;
    default: return p;
  }
}
constexpr TPosition SinkOf(TPosition p) {
  switch (p) {
    case TPosition::VECOUT:
    case TPosition::CO2: return TPosition::GM;
    case TPosition::CO1: return TPosition::CO2;
    default: return p;
  }
}
}  // namespace vinci_detail

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<vinci_detail::SourceOf(position), vinci_detail::SinkOf(position), depth, mask> {};

// A queue into L1 that the matrices of a product are taken from.
template <TPosition position, int32_t depth, auto mask = 0>
using TSCM = TQueBind<position, TPosition::TSCM, depth, mask>;

// Memory of a position without a queue.
template <TPosition position = TPosition::LCM>
class TBuf {
 public:
  static constexpr TPosition kBuffer = position;

  template <typename T>
  LocalTensor<T> Get(vinci_detail::Place = vinci_detail::Place::here()) const {
    return {position, address_, bytes_, nullptr};
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t elements, vinci_detail::Place = vinci_detail::Place::here()) const {
    return {position, address_, elements};
  }
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t bytes_before) const {
    return {position, address_ + bytes_before, elements};
  }
  uint32_t GetBufLen() const { return bytes_; }
  TBuffAddr GetBufferAddr(TBufHandle handle) const {
    return {bytes_, address_, handle, static_cast<uint8_t>(position)};
  }
  // As of a queue, for templates that take both: there is nothing to wait for.
  template <typename T>
  LocalTensor<T> AllocTensor() const {
    return Get<T>();
  }
  template <typename T>
  void FreeTensor(const LocalTensor<T>&) const {}

  // For pools of the program's own (EXTERN_IMPL_BUFPOOL).
  void InitStartBufHandle(TBufHandle /*startBufhandle*/, uint8_t /*num*/, uint32_t len) { bytes_ = len; }
  template <typename Pool>
  void InitBufHandle(Pool* /*bufPool*/, uint32_t /*index*/, TBufHandle /*bufhandle*/, uint32_t curPoolAddr,
                     uint32_t len) {
    address_ = curPoolAddr;
    bytes_ = len;
  }

 private:
  friend class TPipe;
  template <TPosition, uint32_t>
  friend class TBufPool;
  uint32_t address_ = 0, bytes_ = 0;
};

}  // namespace AscendC

// Samples name it both ways.
using AscendC::GetTPipePtr;  // NOLINT(google-global-names-in-headers)
