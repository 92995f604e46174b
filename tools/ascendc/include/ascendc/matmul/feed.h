// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/matmul/move.h"
#include "ascendc/special.h"

// How the cube core of a Matmul gets its operands: pieces of matrices in L1, in turn. Nothing here depends on the types
// of results and biases, so it is compiled once for a type of operands.
namespace AscendC {

// What a program's own copy of a base block of results gets to know: for a FixpipeParams of the older form, cBurstNum
// block columns of burstLen blocks of 32 bytes in L0C. dstStride: the elements between rows if row-major, the blocks of
// 32 bytes between block columns in NZ. oriNSize: columns of the result. cbufWorkspaceAddr: of the table of factors in
// L1. Documentation: Ascend C API, MatmulCallBackFunc.
struct DataCopyOutParams {
  DataCopyOutParams() = default;
  DataCopyOutParams(uint16_t count, uint16_t length, uint16_t src_stride, uint32_t dst_stride, uint16_t n,
                    bool unit_flag, int m_block, int n_block)
      : cBurstNum(count),
        burstLen(length),
        srcStride(src_stride),
        dstStride(dst_stride),
        oriNSize(n),
        enUnitFlag(unit_flag),
        curM(m_block),
        curN(n_block) {}
  uint8_t quantMode = 0;
  uint16_t cBurstNum = 0, burstLen = 0, srcStride = 0;
  uint32_t dstStride = 0;
  uint16_t oriNSize = 0;
  bool enUnitFlag = false;
  uint64_t quantScalar = 0;
  int curM = 0, curN = 0;  // the number of the block along m and n
  uint64_t cbufWorkspaceAddr = 0;
};

}  // namespace AscendC

namespace AscendC::vinci_detail {

// A copy of a base block of results from L0C, by the program: where to, the block, its DataCopyOutParams, and what
// SetUserDefInfo and SetSelfDefineData have said.
using MatmulCopyOut = void (*)(const __gm__ void*, const LocalTensor<int8_t>&, const void*, uint64_t, uint64_t);

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
  MatmulCopyOut copy_out = nullptr;
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

// Pieces of A and B of type T in L1. `sparse`: of each two rows of B one is there, with indices.
template <class T, bool sparse>
class MatmulFeed {
 public:
  static constexpr uint32_t kSquare = MatmulMover<T>::kSquare;
  static constexpr bool kSparse = sparse;
  static constexpr uint32_t kRowsOfWeight = kSparse ? 2 : 1;  // rows of B for each that is there

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

 protected:
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
  static uint32_t PieceBytes(uint32_t x, uint32_t k) { return static_cast<uint32_t>(BytesOf<T>(uint64_t{x} * k)); }
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
      if (kSquare > 16 || MatmulMover<T>::kGroups || operand.nz)
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
        MatmulMover<T>::ToL1(slots[slot].piece, operand, x0, x, k, use_k, place);
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
    const uint32_t rows = RoundUp(o.rows, 16), columns = RoundUp(o.row_length, MatmulMover<T>::kC0);
    const uint64_t before = o.k_rows ? uint64_t{x0} * rows : uint64_t{x0} * MatmulMover<T>::kC0;
    return {static_cast<uint32_t>(o.address + BytesOf<T>(before)), o.k_rows ? columns : rows,
            o.k_rows ? rows : columns};
  }

  // To L0B: `weights` of each of n columns from k on, with their indices.
  static void WeightsToL0B(const LocalTensor<T>& to, const MatmulPiece& from, uint32_t n, uint32_t k, uint32_t weights,
                           Place place) {
    constexpr uint32_t kWeights = 32, kFractal = 512;
    const LocalTensor<T> l1(TPosition::B1, from.address, from.x * from.k);
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
