// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy_l0c.h"
#include "ascendc/fixpipe.h"
#include "ascendc/matmul/move.h"
#include "ascendc/mmad.h"
#include "ascendc/special.h"

// The part of Matmul that a cube core runs: blocks of results from matrices in global memory or L1.
namespace AscendC::vinci_detail {

// A copy of the program's own of a base block to L1: where to, the whole matrix, the number of the block along m and k
// (k and n), its sizes, and what SetUserDefInfo and SetSelfDefineData have said.
using MatmulCopyIn = void (*)(const LocalTensor<int8_t>&, const __gm__ void*, int, int, int, int, uint64_t, uint64_t);

// All that a block of results depends on. An AIV sends it to its AIC.
struct MatmulWork {
  tiling::TCubeTiling tiling;
  MatmulOperand a, b;
  uint64_t bias = 0, quant_table = 0, quant_scale = 0;  // addresses of global memory; 0: none
  uint32_t m = 0, n = 0, k = 0;                         // what this core computes
  uint32_t row_length_c = 0, rows_c = 0;                // of the whole result
  uint64_t sparse_index = 0;                            // of B: the address of the indices of its weights
  uint32_t index_rows = 0;                              // of all of them, whole fractals
  MatmulCopyIn copy_a = nullptr, copy_b = nullptr;
  uint64_t user_info = 0, user_data = 0;
  uint64_t version = 0;  // of the matrices: pieces in L1 are good for one

  uint32_t BlocksM() const { return Parts(m, static_cast<uint32_t>(tiling.baseM)); }
  uint32_t BlocksN() const { return Parts(n, static_cast<uint32_t>(tiling.baseN)); }
  uint32_t Blocks() const { return BlocksM() * BlocksN(); }
};

// One block of results, by its number in the order of the tiling.
struct MatmulBlock {
  MatmulBlock(const MatmulWork& w, uint32_t index) {
    const auto base_m = static_cast<uint32_t>(w.tiling.baseM), base_n = static_cast<uint32_t>(w.tiling.baseN);
    const bool along_n = w.tiling.iterateOrder == 1;
    mi = along_n ? index / w.BlocksN() : index % w.BlocksM();
    ni = along_n ? index % w.BlocksN() : index / w.BlocksM();
    m0 = mi * base_m;
    n0 = ni * base_n;
    m = w.m - m0 < base_m ? w.m - m0 : base_m;
    n = w.n - n0 < base_n ? w.n - n0 : base_n;
  }
  uint32_t mi, ni, m0, n0, m, n;
};

// Where results go to.
struct MatmulTarget {
  uint64_t address = 0;
  bool in_l1 = false;
  uint8_t atomic = 0;       // 1: add, 2: maximum, 3: minimum
  bool sequential = false;  // the block alone, in rows of baseN
};

// The flags that are up and the buffers in turn, of one cube core: all products on it take part. Between the pipes
// that bring pieces to L1 and take them on, a flag for each buffer in L1; between loads, products and results, one for
// each half of L0A and L0B, and of L0C.
struct MatmulUnit {
  static constexpr uint32_t kSlots = 4;              // of A, and then as many of B less one
  static constexpr uint32_t kBias = 2 * kSlots - 1;  // in L1

  bool loaded[2 * kSlots] = {}, read[2 * kSlots] = {};  // MTE2 to MTE1, and back
  bool taken[2] = {}, bias_taken = false;               // M to MTE1
  bool stored[2] = {};                                  // FIX to M
  bool table_read = false;                              // FIX to MTE2
  uint32_t half = 0, result = 0;                        // next
  TPipe* pipe = nullptr;                                // that the memory in L1 is from
  uint32_t address = 0, bytes = 0;
  const void* owner = nullptr;  // whose pieces are in L1

  static MatmulUnit& Here() {
    static thread_local MatmulUnit unit;
    return unit;
  }
  static void Wait(bool& up, HardEvent event, uint32_t id, Place place) {
    if (!up) return;
    IssueWaitFlag(event, static_cast<int32_t>(id), place);
    up = false;
  }
  static void Set(bool& up, HardEvent event, uint32_t id, Place place) {
    Wait(up, event, id, place);
    IssueSetFlag(event, static_cast<int32_t>(id), place);
    up = true;
  }
  // Takes down all flags.
  void Settle(Place place) {
    for (uint32_t i = 0; i < 2 * kSlots; ++i) {
      Wait(loaded[i], HardEvent::MTE2_MTE1, i, place);
      Wait(read[i], HardEvent::MTE1_MTE2, i, place);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      Wait(taken[i], HardEvent::M_MTE1, i, place);
      Wait(stored[i], HardEvent::FIX_M, i, place);
    }
    Wait(bias_taken, HardEvent::M_MTE1, 2, place);
    Wait(table_read, HardEvent::FIX_MTE2, 0, place);
  }
  // Memory in L1, the same for all products of a TPipe that it is enough for.
  uint32_t Reserve(TPipe& from, uint32_t size, Place place) {
    if (pipe != &from || bytes < size) {
      TBuf<TPosition::A1> buffer;
      from.InitBuffer(buffer, size, place);
      pipe = &from;
      address = buffer.Get<uint8_t>().Address();
      bytes = size;
      owner = nullptr;
    }
    return address;
  }
};

template <class A, class B, class C, class Bias>
class MatmulEngine {
 public:
  using TA = typename A::T;
  using TB = typename B::T;
  using TC = typename C::T;
  using TBias = typename Bias::T;
  // What L0C holds.
  using Sum = std::conditional_t<std::is_same_v<TA, int8_t> || std::is_same_v<TA, int4b_t>, int32_t, float>;
  static constexpr uint32_t kSquare = MatmulMover<TA>::kSquare;
  static constexpr bool kSparse = B::isSparse;
  static constexpr uint32_t kRowsOfWeight = kSparse ? 2 : 1;  // rows of B for each that is there
  static_assert(!kSparse || (std::is_same_v<TA, int8_t> && B::isTrans && B::format == CubeFormat::ND &&
                             B::pos == TPosition::GM),
                "Matmul: sparse weights of int8_t, ND, transposed, in global memory");
  static_assert(std::is_same_v<TA, TB>, "Matmul: A and B of different types are not supported by Vinci");

  // Lays out L1 for a tiling: pieces of A and B of several steps of k each, a bias, a table of quantisation.
  // `own_copies`: the program copies base blocks, each to a piece of its own.
  void Init(TPipe& pipe, const tiling::TCubeTiling& t, bool own_copies, Place place) {
    const auto base_m = static_cast<uint32_t>(t.baseM), base_n = static_cast<uint32_t>(t.baseN);
    const auto base_k = static_cast<uint32_t>(t.baseK);
    if (t.baseM <= 0 || t.baseN <= 0 || t.baseK <= 0 || base_k % (kSquare * kRowsOfWeight) != 0)
      ::vinci::ascendc::wrong("Matmul: baseM, baseN and baseK of the tiling are to be positive, baseK whole fractals",
                              place);
    x_a_ = RoundUp(base_m, kSquare);
    x_b_ = RoundUp(base_n, kSquare);
    const uint32_t bias = RoundUp(x_b_ * 4, 64), table = RoundUp(base_n * 8, 128);
    const auto l1 = static_cast<uint32_t>(::vinci::ascendc::size_of(::vinci::ascendc::Memory::l1));
    const uint32_t free = l1 - bias - table;
    step_a_ = t.stepKa > 0 && !own_copies ? static_cast<uint32_t>(t.stepKa) : 1;
    step_b_ = t.stepKb > 0 && !own_copies ? static_cast<uint32_t>(t.stepKb) : 1;
    slots_a_ = Slots(t.depthA1, step_a_, MatmulUnit::kSlots);
    slots_b_ = Slots(t.depthB1, step_b_, MatmulUnit::kSlots - 1);
    const auto bytes = [&] {
      return uint64_t{slots_a_} * PieceBytes(x_a_, step_a_ * base_k) +
             uint64_t{slots_b_} * WeightBytes(x_b_, step_b_ * base_k);
    };
    while (bytes() > free) {
      uint32_t& most = slots_a_ > 1 ? slots_a_ : slots_b_ > 1 ? slots_b_ : step_a_ > 1 ? step_a_ : step_b_;
      if (most == 1) ::vinci::ascendc::wrong("Matmul: one base block of A and one of B do not fit into L1", place);
      --most;
    }
    const uint32_t at = MatmulUnit::Here().Reserve(pipe, static_cast<uint32_t>(bytes()) + bias + table, place);
    for (uint32_t i = 0; i < slots_a_; ++i)
      a_[i] = {{at + i * PieceBytes(x_a_, step_a_ * base_k), x_a_, step_a_ * base_k}};
    const uint32_t at_b = at + slots_a_ * PieceBytes(x_a_, step_a_ * base_k);
    for (uint32_t i = 0; i < slots_b_; ++i)
      b_[i] = {{at_b + i * WeightBytes(x_b_, step_b_ * base_k), x_b_, step_b_ * base_k / kRowsOfWeight}};
    table_ = at_b + slots_b_ * WeightBytes(x_b_, step_b_ * base_k);
    bias_ = table_ + table;
    const auto whole = [](::vinci::ascendc::Memory m) { return static_cast<uint32_t>(::vinci::ascendc::size_of(m)); };
    half_a_ = Half(whole(::vinci::ascendc::Memory::l0a), PieceBytes(x_a_, base_k));
    half_b_ = Half(whole(::vinci::ascendc::Memory::l0b), PieceBytes(x_b_, base_k / kRowsOfWeight));
    half_c_ = Half(whole(::vinci::ascendc::Memory::l0c), x_a_ * x_b_ * 4);
    if (half_a_ == 0xffffffff || half_b_ == 0xffffffff || half_c_ == 0xffffffff)
      ::vinci::ascendc::wrong("Matmul: a base block of the tiling does not fit into L0A, L0B or L0C", place);
  }

  // The product of block `index`; `partial`: to be added to the one before, in place.
  void Multiply(const MatmulWork& w, uint32_t index, bool partial, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    if (!partial) u.result = half_c_ != 0 ? u.result ^ 1 : 0;
    MatmulUnit::Wait(u.stored[u.result], HardEvent::FIX_M, u.result, place);
    Multiply(w, index, partial, LocalTensor<Sum>(TPosition::CO1, u.result * half_c_, x_a_ * x_b_), place);
  }
  void Multiply(const MatmulWork& w, uint32_t index, bool partial, const LocalTensor<Sum>& result, Place place) {
    Claim(w, place);
    const MatmulBlock block(w, index);
    const auto base_k = static_cast<uint32_t>(w.tiling.baseK);
    const uint32_t deep_a = w.a.in_l1 ? RoundUp(w.k, base_k) : step_a_ * base_k;
    const uint32_t deep_b = w.b.in_l1 ? RoundUp(w.k, base_k) : step_b_ * base_k;
    MatmulPiece a, b;
    uint32_t slot_a = 0, slot_b = 0;
    const Pieces of_a{a_, slots_a_, 0, w.a, w, block.mi, block.m0, block.m, deep_a, w.k, uses_};
    constexpr uint32_t r = kRowsOfWeight;
    const Pieces of_b{b_,       slots_b_, MatmulUnit::kSlots, w.b,           w,    block.ni,
                      block.n0, block.n,  deep_b / r,         Parts(w.k, r), uses_};
    for (uint32_t k = 0; k < w.k; k += base_k) {
      const uint32_t use_k = w.k - k < base_k ? w.k - k : base_k;
      const bool next_a = k % deep_a == 0, next_b = k % deep_b == 0;
      if (next_a) slot_a = of_a.Fetch(k, place);
      if (next_b) slot_b = of_b.Fetch(k / r, place);
      if (next_a) {
        of_a.Ahead(k, place);
        a = PieceOf(a_, slot_a, w.a, block.m0);
      }
      if (next_b) {
        of_b.Ahead(k / r, place);
        b = PieceOf(b_, slot_b, w.b, block.n0);
      }
      if (next_a) of_a.Arrived(slot_a, place);
      if (next_b) of_b.Arrived(slot_b, place);
      const bool last = k + base_k >= w.k;
      Step(w, block, a, b, k % deep_a, k % deep_b / r, use_k, k == 0 && !partial, result, place);
      MatmulUnit& u = MatmulUnit::Here();
      if (!w.a.in_l1 && (last || (k + base_k) % deep_a == 0))
        MatmulUnit::Set(u.read[slot_a], HardEvent::MTE1_MTE2, slot_a, place);
      if (!w.b.in_l1 && (last || (k + base_k) % deep_b == 0))
        MatmulUnit::Set(u.read[MatmulUnit::kSlots + slot_b], HardEvent::MTE1_MTE2, MatmulUnit::kSlots + slot_b, place);
    }
  }

  // The latest block to where it belongs.
  template <bool relu = false, bool split = false>
  void Store(const MatmulWork& w, uint32_t index, const MatmulTarget& target, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const MatmulBlock block(w, index);
    const LocalTensor<Sum> result(TPosition::CO1, u.result * half_c_, x_a_ * x_b_);
    IssueSetFlag(HardEvent::M_FIX, static_cast<int32_t>(u.result), place);
    IssueWaitFlag(HardEvent::M_FIX, static_cast<int32_t>(u.result), place);
    FixpipeParamsV220 p;
    // Rows of whole blocks of 32 bytes, with zeros at their ends, or of the elements alone.
    constexpr uint32_t kRow = C::format == CubeFormat::ND_ALIGN ? ONE_BLK_SIZE / sizeof(TC) : 1;
    p.nSize = static_cast<uint16_t>(RoundUp(block.n, kRow));
    p.mSize = static_cast<uint16_t>(block.m);
    p.srcStride = static_cast<uint16_t>(RoundUp(block.m, 16));
    p.reluEn = relu;
    p.isChannelSplit = split;
    p.quantPre = Quantisation(w);
    p.deqScalar = w.quant_scale;
    constexpr bool nz = C::format == CubeFormat::NZ;
    const auto base_n = static_cast<uint32_t>(w.tiling.baseN);
    uint64_t offset;
    if constexpr (nz) {
      // The columns of a block are 16 elements, or 32 bytes of smaller ones.
      constexpr uint32_t kWidth = sizeof(TC) == 1 ? 32 : split ? 8 : 16;
      const uint32_t rows = RoundUp(target.sequential ? block.m : w.rows_c, 16);
      if constexpr (kWidth != 16 || sizeof(TC) == 1)
        p.nSize = static_cast<uint16_t>(RoundUp(block.n, kWidth));
      else
        p.nSize = static_cast<uint16_t>(RoundUp(block.n, 16));
      p.dstStride = rows * kWidth * static_cast<uint32_t>(sizeof(TC)) / ONE_BLK_SIZE;
      offset = target.sequential ? 0 : uint64_t{block.n0} * rows + block.m0 * kWidth;
    } else {
      p.dstStride = target.sequential ? base_n : w.row_length_c;
      offset = target.sequential ? 0 : uint64_t{block.m0} * w.row_length_c + block.n0;
    }
    if (target.atomic != 0) IssueBarrier(PIPE_FIX, place);  // after what it is added to
    if (target.atomic == 1) SetAtomicAdd<TC>(place);
    if (target.atomic == 2) SetAtomicMax<TC>(place);
    if (target.atomic == 3) SetAtomicMin<TC>(place);
    constexpr CO2Layout layout = nz ? CO2Layout::NZ : CO2Layout::ROW_MAJOR;
    const LocalTensor<uint64_t> table = Table(w, block, place);
    if (target.in_l1) {
      const LocalTensor<TC> l1(TPosition::A1, static_cast<uint32_t>(target.address + offset * sizeof(TC)), 0);
      FixpipeTo(l1, result, table, p, layout, place);
    } else {
      GlobalTensor<TC> gm;
      gm.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(target.address));
      FixpipeTo(gm[offset], result, table, p, layout, place);
    }
    if (w.quant_table != 0) MatmulUnit::Set(u.table_read, HardEvent::FIX_MTE2, 0, place);
    if (target.atomic != 0) SetAtomicNone(place);
    MatmulUnit::Set(u.stored[u.result], HardEvent::FIX_M, u.result, place);
  }

 private:
  struct Slot {
    MatmulPiece piece;
    uint32_t block = 0, k = 0;
    bool filled = false;
    uint64_t used = 0;
  };

  static uint32_t Slots(int32_t depth, uint32_t step, uint32_t most) {
    const uint32_t slots = depth > 0 ? static_cast<uint32_t>(depth) / step : 1;
    return slots == 0 ? 1 : slots < most ? slots : most;
  }
  static uint32_t PieceBytes(uint32_t x, uint32_t k) { return static_cast<uint32_t>(BytesOf<TA>(uint64_t{x} * k)); }
  // Of B from `k` rows: what is there of them, and the indices.
  static uint32_t WeightBytes(uint32_t x, uint32_t k) {
    const uint32_t bytes = PieceBytes(x, k / kRowsOfWeight);
    return kSparse ? bytes + bytes / 4 : bytes;
  }
  // Where the indices of a piece are in L1.
  static LocalTensor<uint8_t> IndicesOf(const MatmulPiece& piece) {
    return {TPosition::B1, piece.address + piece.x * piece.k, piece.x * piece.k / 4};
  }
  // The address of the second half where a tile fits into one; 0 where it needs the whole, -1 where it does not fit.
  static uint32_t Half(uint32_t memory, uint32_t tile) {
    return tile <= memory / 2 ? memory / 2 : tile <= memory ? 0 : 0xffffffff;
  }

  void Claim(const MatmulWork& w, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    if (u.owner == this && version_ == w.version) return;
    if (u.owner != this) u.Settle(place);
    u.owner = this;
    version_ = w.version;
    for (uint32_t i = 0; i < MatmulUnit::kSlots; ++i)
      a_[i].filled = b_[i].filled = false;
  }

  // The pieces of an operand that a block of results takes, each `deep` elements of k.
  struct Pieces {
    Slot* slots;
    uint32_t count, first_flag;
    const MatmulOperand& operand;
    const MatmulWork& work;
    uint32_t block, x0, x, deep, whole_k;
    uint64_t& uses;

    // The copy of the program, as NZ of the block alone.
    void CopyOwn(MatmulCopyIn copy, MatmulPiece& piece, uint32_t k, uint32_t use_k, Place place) const {
      if (kSquare > 16 || MatmulMover<TA>::kGroups || operand.nz)
        ::vinci::ascendc::unsupported("MatmulCallBackFunc of matrices other than ND of 16 bits", place);
      piece.x = RoundUp(x, 16);
      piece.k = RoundUp(use_k, 16);
      const LocalTensor<int8_t> l1(TPosition::A1, piece.address, piece.x * piece.k * 2);
      const auto* gm = reinterpret_cast<const __gm__ void*>(operand.address);
      const auto number = [](uint32_t value) { return static_cast<int>(value); };
      const bool left = &operand == &work.a;
      copy(l1, gm, number(left ? block : k / deep), number(left ? k / deep : block), number(left ? x : use_k),
           number(left ? use_k : x), work.user_info, work.user_data);
    }

    // The indices of the weights of a piece: 8 bytes for 32 weights of a column, 16 columns one behind the other.
    void CopyIndices(const MatmulPiece& piece, uint32_t k, uint32_t use_k, Place place) const {
      constexpr uint32_t kWeights = 32, kBytes = 8;
      if (x0 % 4 != 0) ::vinci::ascendc::wrong("Matmul: a block of sparse weights begins between four columns", place);
      GlobalTensor<uint8_t> gm;
      gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(work.sparse_index));
      const uint32_t columns = RoundUp(x, 16);
      const auto blocks = [](uint32_t of) { return static_cast<uint16_t>(of * kBytes / ONE_BLK_SIZE); };
      DataCopy(IndicesOf(piece), gm[(uint64_t{k / kWeights} * work.index_rows + x0) * kBytes],
               DataCopyParams(static_cast<uint16_t>(Parts(use_k, kWeights)), blocks(columns),
                              blocks(work.index_rows - columns), blocks(piece.x - columns)),
               place);
    }

    // The slot that has the piece from k on, filled if need be.
    uint32_t Fetch(uint32_t k, Place place) const {
      if (operand.in_l1) return 0;
      MatmulUnit& u = MatmulUnit::Here();
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      uint32_t slot = 0;
      for (uint32_t i = 0; i < count; ++i) {
        if (slots[i].filled && slots[i].block == block && slots[i].k == k) {
          slots[i].used = ++uses;
          // It will be read again: the flag of the earlier reads is taken down, and MTE1 is to know.
          if (u.read[first_flag + i]) {
            MatmulUnit::Wait(u.read[first_flag + i], HardEvent::MTE1_MTE2, first_flag + i, place);
            MatmulUnit::Set(u.loaded[first_flag + i], HardEvent::MTE2_MTE1, first_flag + i, place);
          }
          return i;
        }
        if (slots[i].used < slots[slot].used) slot = i;
      }
      MatmulUnit::Wait(u.loaded[first_flag + slot], HardEvent::MTE2_MTE1, first_flag + slot, place);
      MatmulUnit::Wait(u.read[first_flag + slot], HardEvent::MTE1_MTE2, first_flag + slot, place);
      const uint32_t use_k = whole_k - k < deep ? whole_k - k : deep;
      if (const MatmulCopyIn copy = &operand == &work.a ? work.copy_a : work.copy_b; copy != nullptr) {
        CopyOwn(copy, slots[slot].piece, k, use_k, place);
      } else {
        MatmulMover<TA>::ToL1(slots[slot].piece, operand, x0, x, k, use_k, place);
      }
      if (kSparse && &operand == &work.b) CopyIndices(slots[slot].piece, k, use_k, place);
      MatmulUnit::Set(u.loaded[first_flag + slot], HardEvent::MTE2_MTE1, first_flag + slot, place);
      slots[slot].filled = true;
      slots[slot].block = block;
      slots[slot].k = k;
      slots[slot].used = ++uses;
      return slot;
    }
    // The piece after that is on its way while this one is read.
    void Ahead(uint32_t k, Place place) const {
      if (count > 1 && k + deep < whole_k) Fetch(k + deep, place);
    }
    void Arrived(uint32_t slot, Place place) const {
      if (!operand.in_l1)
        MatmulUnit::Wait(MatmulUnit::Here().loaded[first_flag + slot], HardEvent::MTE2_MTE1, first_flag + slot, place);
    }
  };
  static MatmulPiece PieceOf(const Slot* slots, uint32_t slot, const MatmulOperand& o, uint32_t x0) {
    if (!o.in_l1) return slots[slot].piece;
    const uint32_t rows = RoundUp(o.rows, 16), columns = RoundUp(o.row_length, MatmulMover<TA>::kC0);
    const uint64_t before = o.k_rows ? uint64_t{x0} * rows : uint64_t{x0} * MatmulMover<TA>::kC0;
    return {static_cast<uint32_t>(o.address + BytesOf<TA>(before)), o.k_rows ? columns : rows,
            o.k_rows ? rows : columns};
  }

  // One step of k.
  void Step(const MatmulWork& w, const MatmulBlock& block, const MatmulPiece& a, const MatmulPiece& b, uint32_t k_a,
            uint32_t k_b, uint32_t use_k, bool first, const LocalTensor<Sum>& result, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const uint32_t half = half_a_ != 0 && half_b_ != 0 ? u.half ^= 1 : 0;
    const LocalTensor<TA> a2(TPosition::A2, half * half_a_, 0);
    const LocalTensor<TB> b2(TPosition::B2, half * half_b_, 0);
    // Columns that fill the squares of a transposing load are computed, but do not come out.
    const uint32_t n = w.b.k_rows ? RoundUp(block.n, kSquare) : block.n;
    const bool bias = first && w.bias != 0;
    if (bias) BringBias(w, block, n, place);
    MatmulUnit::Wait(u.taken[half], HardEvent::M_MTE1, half, place);
    MatmulMover<TA>::ToL0A(a2, a, w.a.k_rows, block.m, k_a, use_k, place);
    if constexpr (kSparse) {
      WeightsToL0B(b2, b, n, k_b, Parts(use_k, kRowsOfWeight), place);
    } else {
      MatmulMover<TB>::ToL0B(b2, b, w.b.k_rows, n, k_b, use_k, place);
    }
    IssueSetFlag(HardEvent::MTE1_M, static_cast<int32_t>(half), place);
    IssueWaitFlag(HardEvent::MTE1_M, static_cast<int32_t>(half), place);
    MmadParams p;
    // Of one row, Mmad would read A as a plain vector and not as fractals. Source: documentation of Mmad.
    p.m = static_cast<uint16_t>(block.m == 1 ? 2 : block.m);
    p.n = static_cast<uint16_t>(n);
    p.k = static_cast<uint16_t>(use_k);
    p.kDirectionAlign = MatmulMover<TA>::kGroups;
    p.cmatrixInitVal = first;
    // Small products overtake each other in L0C. Source: documentation of Mmad.
    if (!first && Parts(block.m, 16) * Parts(n, 16) < 10) IssueBarrier(PIPE_M, place);
    if constexpr (kSparse) {
      p.cmatrixInitVal = first && !bias;
      p.cmatrixSource = bias;
      MmadWithSparse(result, a2, b2, p, place);
      if (bias) MatmulUnit::Set(u.bias_taken, HardEvent::M_MTE1, 2, place);
    } else if (bias) {
      Mmad(result, a2, b2, LocalTensor<Sum>(TPosition::C2, 0, 0), p, place);
      MatmulUnit::Set(u.bias_taken, HardEvent::M_MTE1, 2, place);
    } else {
      Mmad(result, a2, b2, p, place);
    }
    MatmulUnit::Set(u.taken[half], HardEvent::M_MTE1, half, place);
  }

  // `weights` of each of n columns from k on, with their indices.
  static void WeightsToL0B(const LocalTensor<TB>& to, const MatmulPiece& from, uint32_t n, uint32_t k, uint32_t weights,
                           Place place) {
    constexpr uint32_t kWeights = 32, kFractal = 512;
    const LocalTensor<TB> l1(TPosition::B1, from.address, from.x * from.k);
    const uint32_t across = Parts(n, 16);
    for (uint32_t j = 0; j < Parts(weights, kWeights); ++j) {
      LoadData2DParams p;
      p.startIndex = static_cast<uint16_t>((k / kWeights + j) * (from.x / 16));
      p.repeatTimes = static_cast<uint8_t>(across);
      LoadDataWithSparse(to[j * across * kFractal], l1, IndicesOf(from), p, place);
    }
  }

  // The copy into L1 that takes any number of elements: a matrix of one row, whose NZ is the row.
  static Nd2NzParams OneRow(uint32_t elements) {
    const auto n = static_cast<uint16_t>(elements);
    return {1, 1, n, 0, n, 1, 1, 0};
  }

  // `n` columns, zeros behind those of the block.
  void BringBias(const MatmulWork& w, const MatmulBlock& block, uint32_t n, Place place) {
    // Types of a product name one for a bias that many products do not have.
    constexpr bool kConverted = std::is_same_v<Sum, float> && std::is_same_v<TBias, half>;
    if constexpr (std::is_same_v<Sum, TBias> || kConverted) {
      CopyBias(w, block, n, place);
    } else {
      ::vinci::ascendc::unsupported("Matmul: a bias that is neither half nor of the type of the sums", place);
    }
  }
  void CopyBias(const MatmulWork& w, const MatmulBlock& block, uint32_t n, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const LocalTensor<TBias> l1(TPosition::C1, bias_, 0);
    GlobalTensor<TBias> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ TBias*>(w.bias));
    MatmulUnit::Wait(u.read[MatmulUnit::kBias], HardEvent::MTE1_MTE2, MatmulUnit::kBias, place);
    DataCopy(l1, gm[block.n0], OneRow(block.n), place);
    const auto own = static_cast<uint32_t>(Parts(block.n * sizeof(TBias), ONE_BLK_SIZE));
    const auto all = static_cast<uint32_t>(Parts(n * sizeof(TBias), ONE_BLK_SIZE));
    if (all > own) {
      Fill(LocalTensor<uint16_t>(TPosition::C1, bias_ + own * ONE_BLK_SIZE, 0),
           InitConstValueParams<uint16_t>(1, static_cast<uint16_t>(all - own), 0, 0), place);
    }
    MatmulUnit::Set(u.loaded[MatmulUnit::kBias], HardEvent::MTE2_MTE1, MatmulUnit::kBias, place);
    MatmulUnit::Wait(u.loaded[MatmulUnit::kBias], HardEvent::MTE2_MTE1, MatmulUnit::kBias, place);
    MatmulUnit::Wait(u.bias_taken, HardEvent::M_MTE1, 2, place);
    CopyToBiasTable(LocalTensor<Sum>(TPosition::C2, 0, 0), l1,
                    DataCopyParams(1, static_cast<uint16_t>(Parts(n * sizeof(TBias), 64)), 0, 0), place);
    MatmulUnit::Set(u.read[MatmulUnit::kBias], HardEvent::MTE1_MTE2, MatmulUnit::kBias, place);
  }

  static QuantMode_t Quantisation(const MatmulWork& w) {
    if constexpr (std::is_same_v<Sum, float>) {
      if constexpr (std::is_same_v<TC, half>) return QuantMode_t::F322F16;
      if constexpr (std::is_same_v<TC, bfloat16_t>) return QuantMode_t::F322BF16;
      if constexpr (sizeof(TC) == 1) return w.quant_table != 0 ? QuantMode_t::VQF322B8_PRE : QuantMode_t::QF322B8_PRE;
    } else {
      if constexpr (std::is_same_v<TC, half>) return w.quant_table != 0 ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16;
      if constexpr (sizeof(TC) == 1) return w.quant_table != 0 ? QuantMode_t::VREQ8 : QuantMode_t::REQ8;
    }
    return QuantMode_t::NoQuant;
  }
  // The parameters of quantisation of the block's columns, in L1.
  LocalTensor<uint64_t> Table(const MatmulWork& w, const MatmulBlock& block, Place place) {
    const LocalTensor<uint64_t> l1(TPosition::C1, table_, block.n);
    if (w.quant_table == 0) return l1;
    MatmulUnit& u = MatmulUnit::Here();
    GlobalTensor<uint64_t> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t*>(w.quant_table));
    MatmulUnit::Wait(u.table_read, HardEvent::FIX_MTE2, 0, place);
    DataCopy(l1.template ReinterpretCast<uint32_t>(), gm[block.n0].template ReinterpretCast<uint32_t>(),
             OneRow(block.n * 2), place);
    IssueSetFlag(HardEvent::MTE2_FIX, 0, place);
    IssueWaitFlag(HardEvent::MTE2_FIX, 0, place);
    return l1;
  }

  Slot a_[MatmulUnit::kSlots], b_[MatmulUnit::kSlots];
  uint32_t slots_a_ = 1, slots_b_ = 1, step_a_ = 1, step_b_ = 1, x_a_ = 0, x_b_ = 0;
  uint32_t bias_ = 0, table_ = 0, half_a_ = 0, half_b_ = 0, half_c_ = 0;
  uint64_t uses_ = 0, version_ = 0;
};

}  // namespace AscendC::vinci_detail
