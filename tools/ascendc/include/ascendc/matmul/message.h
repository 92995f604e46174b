// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>

#include "ascendc/cross_core.h"
#include "ascendc/matmul/engine.h"

// How an AIV has its AIC compute. A message is words in the system workspace and a flag of the pair, and so is the
// answer: on hardware both sides poll such words. What the words say is also handed over natively.
namespace AscendC::vinci_detail {

struct MatmulMessage {
  enum class Kind : uint8_t { multiply, store, all, end };
  Kind kind = Kind::multiply;
  uint8_t object = 0, aiv = 0;
  uint32_t index = 0;    // the block of results
  bool partial = false;  // to be added to what L0C has
  MatmulWork work;
  MatmulTarget target;
};

// Of a block: what AIVs have sent and the AIC has not taken yet.
struct MatmulMailbox {
  std::deque<MatmulMessage> messages;
  bool held = false;  // L0C has a result that this AIV will ask for
  uint8_t holder = 0;

  static MatmulMailbox& Here() {
    std::shared_ptr<void>& state = ::vinci::ascendc::core().block->mailbox;
    if (state == nullptr) state = std::make_shared<MatmulMailbox>();
    return *static_cast<MatmulMailbox*>(state.get());
  }
  // Whether no AIV is left that could send.
  static bool Deserted() {
    const auto& core = ::vinci::ascendc::core();
    for (uint32_t aiv = 0; aiv < core.block_aivs; ++aiv)
      if (!core.block->ended[1 + aiv]) return false;
    return true;
  }
  // The first that may be served now.
  bool Take(MatmulMessage& to) {
    for (auto it = messages.begin(); it != messages.end(); ++it) {
      if (held && it->aiv != holder && !::vinci::ascendc::core().block->ended[1 + holder]) continue;
      to = *it;
      messages.erase(it);
      held = to.kind == MatmulMessage::Kind::multiply;
      holder = to.aiv;
      return true;
    }
    return false;
  }
};

// The system workspace: an area for each AIV, with its messages, and room for a block of results and for matrices that
// come from UB.
struct MatmulArea {
  static constexpr uint32_t kAivs = 48, kObjects = 4, kUnderWay = 4, kWords = 8;
  static constexpr uint64_t kMessages = 4096, kBias = 2048, kResult = 132 * 1024, kMatrix = 102 * 1024;
  static constexpr uint64_t kBytes = kMessages + kResult + 2 * kMatrix;
  static_assert(kObjects * kUnderWay * kWords * 8 <= kMessages - kBias);
  static_assert(kAivs * kBytes <= 16 * 1024 * 1024);

  uint64_t base = 0;

  static MatmulArea Of(GM_ADDR workspace, uint32_t aiv, Place place) {
    const uint32_t index = ::vinci::ascendc::core().block_idx * static_cast<uint32_t>(AivsOfBlock()) + aiv;
    if (index >= kAivs) ::vinci::ascendc::wrong("Matmul: the system workspace is for 48 vector cores", place);
    if (workspace == nullptr) workspace = (GM_ADDR)::vinci::ascendc::system_workspace(RESERVED_WORKSPACE);
    return {reinterpret_cast<uintptr_t>(workspace) + index * kBytes};
  }
  uint64_t Message(uint32_t object, uint32_t number) const {
    return base + (object * kUnderWay + number % kUnderWay) * kWords * 8;
  }
  uint64_t Result() const { return base + kMessages; }
  uint64_t Bias() const { return base + kMessages - kBias; }
  uint64_t Matrix(uint32_t which) const { return base + kMessages + kResult + which * kMatrix; }

 private:
  static uint32_t AivsOfBlock() {
    return ::vinci::ascendc::core().kind == ::vinci::ascendc::CoreKind::vector ? ::vinci::ascendc::core().subblock_num
                                                                               : ::vinci::ascendc::core().block_aivs;
  }
};

// Flags of a pair: two of each object, one for each AIV.
inline void SetPairFlag(pipe_t pipe, uint32_t object, uint32_t aiv, Place place) {
  const uint64_t flag = object * 2 + aiv;
  ffts_cross_core_sync(pipe, 1 | 2 << 4 | flag << 8 | uint64_t{aiv + 1} << 12, place);
}
inline void WaitPairFlag(uint32_t object, uint32_t aiv, Place place) {
  wait_flag_dev(static_cast<int64_t>(object * 2 + aiv), place);
}

// An AIV's end for one object.
class MatmulClient {
 public:
  MatmulClient() = default;
  MatmulClient(const MatmulClient&) = delete;
  MatmulClient& operator=(const MatmulClient&) = delete;
  ~MatmulClient() {
    if (OfCore()[object_] == this) OfCore()[object_] = nullptr;
  }
  void Init(GM_ADDR workspace, uint8_t object, Place place) {
    aiv_ = static_cast<uint8_t>(::vinci::ascendc::core().subblock_idx);
    object_ = object;
    area_ = MatmulArea::Of(workspace, aiv_, place);
    OfCore()[object] = this;
  }
  const MatmulArea& Area() const { return area_; }
  void Send(MatmulMessage message, Place place) {
    while (UnderWay() >= MatmulArea::kUnderWay)
      AnswerAny(place);
    message.object = object_;
    message.aiv = aiv_;
    const uint64_t words[MatmulArea::kWords] = {
        static_cast<uint64_t>(message.kind) | uint64_t{message.index} << 8 | uint64_t{message.partial} << 40,
        message.work.a.address,
        message.work.b.address,
        message.work.bias,
        message.target.address,
        message.work.m | uint64_t{message.work.n} << 32,
        message.work.k | uint64_t{message.target.atomic} << 32,
        message.work.quant_scale};
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    // The flag between the words and the message is free again when the messages before have been answered.
    if (UnderWay() > 0) TPipe::Order(HardEvent::MTE3_S, place);
    const uint64_t at = area_.Message(object_, sent_++);
    for (uint32_t i = 0; i < MatmulArea::kWords; ++i)
      ::vinci::ascendc::store(::vinci::ascendc::Memory::gm, at + i * 8, 8, words[i], place);
    TPipe::Order(HardEvent::S_MTE3, place);
    MatmulMailbox::Here().messages.push_back(message);
    SetPairFlag(PIPE_MTE3, object_, aiv_, place);
  }
  // Until all that was sent is done.
  void Settle(Place place) {
    while (answered_ < sent_)
      Answer(place);
  }
  // The same for all objects.
  static void SettleAll(Place place) {
    for (uint32_t i = 0; i < MatmulArea::kObjects; ++i)
      if (OfCore()[i] != nullptr) OfCore()[i]->Settle(place);
  }

 private:
  // Of this core, by object.
  static MatmulClient** OfCore() {
    static thread_local MatmulClient* clients[MatmulArea::kObjects] = {};
    return clients;
  }
  static uint32_t UnderWay() {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < MatmulArea::kObjects; ++i)
      if (OfCore()[i] != nullptr) sum += OfCore()[i]->sent_ - OfCore()[i]->answered_;
    return sum;
  }
  static void AnswerAny(Place place) {
    for (uint32_t i = 0; i < MatmulArea::kObjects; ++i)
      if (OfCore()[i] != nullptr && OfCore()[i]->answered_ < OfCore()[i]->sent_) return OfCore()[i]->Answer(place);
  }
  void Answer(Place place) {
    WaitPairFlag(object_, aiv_, place);
    ++answered_;
  }

  MatmulArea area_;
  uint8_t object_ = 0, aiv_ = 0;
  uint32_t sent_ = 0, answered_ = 0;
};

// The AIC's end: takes messages until the AIVs of the block have ended. `serve` computes one.
template <class Serve>
void ServeMatmul(GM_ADDR workspace, Serve&& serve, Place place) {
  MatmulMailbox& box = MatmulMailbox::Here();
  uint32_t taken[MatmulArea::kObjects][2] = {}, served[2] = {};
  for (MatmulMessage m;;) {
    if (!box.Take(m)) {
      if (box.Deserted()) break;
      ::vinci::ascendc::give_way(false, place);
      continue;
    }
    WaitPairFlag(m.object, m.aiv, place);
    const uint64_t at = MatmulArea::Of(workspace, m.aiv, place).Message(m.object, taken[m.object][m.aiv]++);
    for (uint32_t i = 0; i < MatmulArea::kWords; ++i)
      ::vinci::ascendc::load(::vinci::ascendc::Memory::gm, at + i * 8, 8, place);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    // The answer says that the words have been read, too. Not more messages are under way than there are flags for it.
    const uint32_t read = m.aiv * MatmulArea::kUnderWay + served[m.aiv]++ % MatmulArea::kUnderWay;
    IssueSetFlag(HardEvent::S_FIX, static_cast<int32_t>(read), place);
    IssueWaitFlag(HardEvent::S_FIX, static_cast<int32_t>(read), place);
    serve(m);
    SetPairFlag(PIPE_FIX, m.object, m.aiv, place);
  }
  MatmulUnit::Here().Settle(place);
}

}  // namespace AscendC::vinci_detail
