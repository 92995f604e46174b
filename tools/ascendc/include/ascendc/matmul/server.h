// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/cross_core.h"
#include "ascendc/matmul/engine.h"

// Vector cores that ask the cube core of their block for products. What a request says goes from core to core natively;
// that there is one, and that it is done, goes through flags where both AIVs ask at the same time (mode 2 of the flags
// needs all of them), else through a number in the workspace, which the other core reads until it is there.
namespace AscendC::vinci_detail {

struct MatmulRequest {
  uint32_t object = 0;
  Product product;
  Target target;
  TCubeTiling tiling;
  uint32_t block = 0;
  bool all = false, add = false, store = true, sequential = false;
};

class MatmulMailbox {
 public:
  enum class Answer : uint8_t { none, by_flag, by_number };
  struct Client {
    bool registered = false, posted = false, flagged = false;
    int32_t number = 0;  // of its latest request
    uint32_t flags = 0;  // that it has set
    MatmulRequest request;
    Answer answer = Answer::none;
  };
  // Whether both AIVs take part: known when each has registered or ended, the first that asks decides.
  enum class Pair : uint8_t { unknown, yes, no };
  Client clients[2];
  Pair pair = Pair::unknown;

  static MatmulMailbox& Of(Place place) {
    auto* block = ::vinci::ascendc::core().block;
    if (block == nullptr)
      ::vinci::ascendc::wrong("Matmul: the kernel is no MIX task, and ASCENDC_CUBE_ONLY is not defined", place);
    if (!block->mailbox) block->mailbox = std::make_shared<MatmulMailbox>();
    return *static_cast<MatmulMailbox*>(block->mailbox.get());
  }
};

constexpr uint16_t kMatmulRequest = 8, kMatmulDone = 9, kMatmulReady = 10;  // flags
constexpr uint32_t kMatmulNumbers = 64;                                     // bytes of a client: request, done
constexpr uint64_t kMatmulArea = 65536, kMatmulTensors = 320 * 1024;        // where tensors of UB go, bytes of a client

inline uint64_t MatmulWorkspace() {
  GM_ADDR base = GetSysWorkSpacePtr();
  if (base == nullptr) base = static_cast<GM_ADDR>(::vinci::ascendc::system_workspace(RESERVED_WORKSPACE));
  return reinterpret_cast<uint64_t>(base);
}
inline uint64_t MatmulNumber(uint32_t client, bool done) {
  const uint64_t id = uint64_t{::vinci::ascendc::core().block_idx} * 2 + client;
  return MatmulWorkspace() + id * kMatmulNumbers + (done ? kMatmulNumbers / 2 : 0);
}
inline uint64_t MatmulTensors() {
  return MatmulWorkspace() + kMatmulArea + static_cast<uint64_t>(GetBlockIdx()) * kMatmulTensors;
}
inline void WriteNumber(uint64_t address, int32_t value, Place place) {
  ::vinci::ascendc::store(::vinci::ascendc::Memory::gm, address, sizeof(value), static_cast<uint32_t>(value), place);
}
inline void ReadNumber(uint64_t address, int32_t value, Place place) {
  const uint32_t from = ::vinci::ascendc::await(address, value, place);
  ::vinci::ascendc::load(::vinci::ascendc::Memory::gm, address, sizeof(value), place);
  ::vinci::ascendc::repeat(from, value, place);
}

// The side of an AIV.
class MatmulClient {
 public:
  void Register(Place place) {
    MatmulMailbox& box = MatmulMailbox::Of(place);
    self_ = static_cast<uint32_t>(GetSubBlockIdx());
    if (box.clients[self_].registered) return;
    CrossCoreWaitFlag(kMatmulReady, place);
    box.clients[self_].registered = true;
    const uint32_t other = 1 - self_;
    constexpr uint32_t kRounds = 16;  // then it waits for something else
    for (uint32_t i = 0; i < kRounds && box.pair == MatmulMailbox::Pair::unknown; ++i) {
      if (box.clients[other].registered) {
        box.pair = MatmulMailbox::Pair::yes;
      } else if (GetSubBlockNum() == 1 || ::vinci::ascendc::core().block->ended[1 + other]) {
        break;
      } else {
        ::vinci::ascendc::give_way(true, place);
      }
    }
    if (GetSubBlockNum() == 1) box.pair = MatmulMailbox::Pair::yes;
    if (box.pair == MatmulMailbox::Pair::unknown) box.pair = MatmulMailbox::Pair::no;
  }
  void Post(const MatmulRequest& request, Place place) {
    Wait(place);
    MatmulMailbox& box = MatmulMailbox::Of(place);
    MatmulMailbox::Client& me = box.clients[self_];
    me.request = request;
    me.answer = MatmulMailbox::Answer::none;
    me.posted = true;
    ++me.number;
    me.flagged = box.pair == MatmulMailbox::Pair::yes &&
                 (GetSubBlockNum() == 1 || !::vinci::ascendc::core().block->ended[2 - self_]);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    // Results and tensors in global memory are there before the request is.
    TPipe::Order(HardEvent::MTE3_S, place);
    WriteNumber(MatmulNumber(self_, false), me.number, place);
    if (me.flagged) {
      ++me.flags;
      CrossCoreSetFlag<2, PIPE_MTE3>(kMatmulRequest, place);
    }
    open_ = true;
  }
  void Wait(Place place) {
    if (!open_) return;
    MatmulMailbox::Client& me = MatmulMailbox::Of(place).clients[self_];
    while (me.answer == MatmulMailbox::Answer::none)
      ::vinci::ascendc::give_way(false, place);
    if (me.answer == MatmulMailbox::Answer::by_flag) {
      CrossCoreWaitFlag(kMatmulDone, place);
    } else {
      ReadNumber(MatmulNumber(self_, true), me.number, place);
    }
    open_ = false;
  }

 private:
  uint32_t self_ = 0;
  bool open_ = false;
};

// The side of the AIC: serves until the AIVs have ended. `serve(request)` computes.
template <class F>
void ServeMatmul(F&& serve, Place place) {
  MatmulMailbox& box = MatmulMailbox::Of(place);
  const auto* block = ::vinci::ascendc::core().block;
  const auto aivs = static_cast<uint32_t>(::vinci::ascendc::core().block_aivs);
  for (uint32_t i = 0; i < aivs; ++i) {
    WriteNumber(MatmulNumber(i, false), 0, place);
    WriteNumber(MatmulNumber(i, true), 0, place);
  }
  IssueBarrier(PIPE_ALL, place);
  CrossCoreSetFlag<2, PIPE_FIX>(kMatmulReady, place);
  // The flag comes when both AIVs have set it: as often as the one that did so less often.
  uint32_t seen = 0;
  const auto take_flags = [&] {
    for (; seen < box.clients[0].flags && (aivs == 1 || seen < box.clients[1].flags); ++seen)
      CrossCoreWaitFlag(kMatmulRequest, place);
  };
  const auto answer = [&](uint32_t i, MatmulMailbox::Answer how) {
    box.clients[i].posted = false;
    box.clients[i].answer = how;
  };
  for (;;) {
    bool over = true;
    uint32_t next = 2;
    for (uint32_t i = 0; i < aivs; ++i) {
      over = over && block->ended[1 + i];
      if (box.clients[i].posted && (next == 2 || box.clients[i].number < box.clients[next].number)) next = i;
    }
    if (next == 2) {
      if (over) return;
      ::vinci::ascendc::give_way(false, place);
      continue;
    }
    MatmulMailbox::Client& one = box.clients[next];
    MatmulMailbox::Client& other = box.clients[1 - next];
    const bool alone = aivs == 1;
    constexpr uint32_t kRounds = 8;  // then the other one waits for something else
    for (uint32_t i = 0;
         !alone && one.flagged && i < kRounds && !other.posted && other.number < one.number && !block->ended[2 - next];
         ++i)
      ::vinci::ascendc::give_way(true, place);
    const bool together = one.flagged && (alone || (other.posted && other.flagged && other.number == one.number));
    take_flags();
    if (together) {
      serve(one.request);
      if (!alone) serve(other.request);
      CrossCoreSetFlag<2, PIPE_FIX>(kMatmulDone, place);
      answer(next, MatmulMailbox::Answer::by_flag);
      if (!alone) answer(1 - next, MatmulMailbox::Answer::by_flag);
      continue;
    }
    ReadNumber(MatmulNumber(next, false), one.number, place);
    serve(one.request);
    TPipe::Order(HardEvent::FIX_S, place);
    WriteNumber(MatmulNumber(next, true), one.number, place);
    answer(next, MatmulMailbox::Answer::by_number);
  }
}

}  // namespace AscendC::vinci_detail
