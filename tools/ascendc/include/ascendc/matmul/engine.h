// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy_nz.h"
#include "ascendc/fixpipe.h"
#include "ascendc/image.h"
#include "ascendc/matmul/types.h"
#include "ascendc/mmad.h"
#include "ascendc/pipe.h"
#include "ascendc/special.h"

// What an AIC does for a product: block after block of C, each from tiles of A and B that go through L1 and L0 in
// queues. How the published class schedules that is not public; this is the plain way with two buffers everywhere.
namespace AscendC::vinci_detail {

// A matrix in global memory as it is stored: `rows` x `columns`, the transpose of what is multiplied if `transposed`.
struct StoredMatrix {
  uint64_t address = 0;
  uint32_t version = 0;  // another one for each SetTensor: what is in L1 of the same one is still right
  uint32_t rows = 0, columns = 0;
  bool transposed = false;
};

// A part of C for one core, and how it is cut.
struct Product {
  StoredMatrix a, b;
  uint64_t bias = 0;  // 0: none
  uint32_t m = 0, n = 0, k = 0;
  uint32_t base_m = 0, base_n = 0, base_k = 0, chunk_k = 0;  // chunk_k: of K in L1 at once
  bool n_first = false;
  uint64_t quant_scalar = 0, quant_table = 0;  // of one factor, or where those of the columns are
  bool relu = false;

  uint32_t BlocksM() const { return (m + base_m - 1) / base_m; }
  uint32_t BlocksN() const { return (n + base_n - 1) / base_n; }
  uint32_t Blocks() const { return BlocksM() * BlocksN(); }
  uint32_t FirstM(uint32_t i) const { return (n_first ? i / BlocksN() : i % BlocksM()) * base_m; }
  uint32_t FirstN(uint32_t i) const { return (n_first ? i % BlocksN() : i / BlocksM()) * base_n; }
  uint32_t RowsOf(uint32_t i) const { return m - FirstM(i) < base_m ? m - FirstM(i) : base_m; }
  uint32_t ColumnsOf(uint32_t i) const { return n - FirstN(i) < base_n ? n - FirstN(i) : base_n; }
};

// Where a block goes: its first element, and the elements from row to row (of NZ: rows of the whole matrix).
struct Target {
  uint64_t address = 0;
  uint32_t pitch = 0;
  uint8_t atomic = 0;  // 1 add, 2 max, 3 min
};

constexpr uint32_t RoundUp(uint32_t x, uint32_t unit) { return (x + unit - 1) / unit * unit; }

template <class AType, class BType, class CType, class BiasType>
class MatmulEngine {
 public:
  using A = typename AType::T;
  using B = typename BType::T;
  using C = typename CType::T;
  using Bias = typename BiasType::T;
  using Sum = std::conditional_t<std::is_same_v<A, int8_t> || std::is_same_v<A, int4b_t>, int32_t, float>;
  static_assert(std::is_same_v<A, B>, "Matmul: A and B have one type");
  static_assert(!std::is_same_v<A, int4b_t>, "Matmul: int4b_t is not supported by Vinci");

  void Init(TPipe* pipe, const TCubeTiling& t, Place place) {
    const uint32_t rows = RoundUp(static_cast<uint32_t>(t.baseM), kUnit),
                   columns = RoundUp(static_cast<uint32_t>(t.baseN), kUnit);
    const uint32_t depth = RoundUp(static_cast<uint32_t>(t.baseK), kUnit);
    const uint32_t chunk = depth * Steps(t);
    if (pipe == nullptr) pipe = GetTPipePtr();
    if (pipe == nullptr) ::vinci::ascendc::wrong("Matmul: there is no TPipe", place);
    const uint64_t twice = uint64_t{2} * (rows + columns) * chunk * sizeof(A) + 4 * columns * sizeof(uint64_t);
    const uint8_t buffers = twice <= ::vinci::ascendc::size_of(::vinci::ascendc::Memory::l1) ? 2 : 1;
    pipe->InitBuffer(a1_, buffers, static_cast<uint32_t>(rows * chunk * sizeof(A)), place);
    pipe->InitBuffer(b1_, buffers, static_cast<uint32_t>(columns * chunk * sizeof(A)), place);
    pipe->InitBuffer(a2_, t.dbL0A == 2 ? 2 : 1, static_cast<uint32_t>(rows * depth * sizeof(A)), place);
    pipe->InitBuffer(b2_, t.dbL0B == 2 ? 2 : 1, static_cast<uint32_t>(columns * depth * sizeof(A)), place);
    pipe->InitBuffer(co1_, 1, static_cast<uint32_t>(rows * columns * sizeof(Sum)), place);
    pipe->InitBuffer(c1_, 1, static_cast<uint32_t>(columns * sizeof(uint64_t)), place);
    pipe->InitBuffer(c2_, 1, static_cast<uint32_t>(columns * sizeof(Sum)), place);
  }
  static uint32_t Steps(const TCubeTiling& t) {
    const int32_t steps = t.stepKa < t.stepKb ? t.stepKa : t.stepKb;
    return static_cast<uint32_t>(steps > 0 ? steps : 1);
  }

  // Computes block i; with `add` on top of the one that is in L0C.
  void Compute(const Product& p, uint32_t i, bool add, Place place) {
    if (!add || !open_) {
      c_ = co1_.template AllocTensor<Sum>(place);
      open_ = true;
      add = false;
    }
    bool first = !add;
    for (uint32_t from = 0; from < p.k; from += p.chunk_k) {
      const uint32_t depth = p.k - from < p.chunk_k ? p.k - from : p.chunk_k;
      const LocalTensor<A> a1 = Tile<AType>(a1_, held_a_, p.a, p.FirstM(i), p.RowsOf(i), from, depth, p.k, place);
      const LocalTensor<B> b1 =
          Tile<BType>(b1_, held_b_, Flipped(p.b), p.FirstN(i), p.ColumnsOf(i), from, depth, p.k, place);
      for (uint32_t at = 0; at < depth; at += p.base_k) {
        const uint32_t step = depth - at < p.base_k ? depth - at : p.base_k;
        LocalTensor<A> a2 = LoadLeft(a1, p.a.transposed, p.RowsOf(i), depth, at, step, place);
        LocalTensor<B> b2 = LoadRight(b1, p.b.transposed, p.ColumnsOf(i), depth, at, step, place);
        Multiply(p, i, a2, b2, step, first, place);
        first = false;
      }
      if (depth != p.k) {
        a1_.FreeTensor(a1, place);
        b1_.FreeTensor(b1, place);
      }
    }
  }

  void Store(const Product& p, uint32_t i, const Target& to, Place place) {
    if (!open_) ::vinci::ascendc::wrong("GetTensorC: there is no result; Iterate computes one", place);
    co1_.EnQue(c_, place);
    c_ = co1_.template DeQue<Sum>(place);
    SetAtomic(to.atomic, place);
    constexpr bool nz = CType::format == CubeFormat::NZ;
    const uint32_t rows = p.RowsOf(i), columns = p.ColumnsOf(i);
    FixpipeParamsV220 f;
    f.nSize = static_cast<uint16_t>(nz ? RoundUp(columns, 16) : columns);
    f.mSize = static_cast<uint16_t>(rows);
    f.srcStride = static_cast<uint16_t>(RoundUp(rows, 16));
    f.dstStride = nz ? static_cast<uint32_t>(RoundUp(to.pitch, 16) * (sizeof(C) == 4 ? 2 : 1)) : to.pitch;
    f.reluEn = p.relu;
    f.quantPre = Conversion(p);
    f.deqScalar = p.quant_scalar;
    GlobalTensor<C> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ C*>(to.address));  // NOLINT(performance-no-int-to-ptr)
    if (p.quant_table != 0) {
      LocalTensor<uint64_t> table = c1_.template AllocTensor<uint64_t>(place);
      CopyRow(table, p.quant_table + p.FirstN(i) * sizeof(uint64_t), columns, place);
      c1_.EnQue(table, place);
      table = c1_.template DeQue<uint64_t>(place);
      FixpipeTo(gm, c_, table, f, nz ? CO2Layout::NZ : CO2Layout::ROW_MAJOR, place);
      c1_.FreeTensor(table, place);
    } else {
      FixpipeTo(gm, c_, f, nz ? CO2Layout::NZ : CO2Layout::ROW_MAJOR, place);
    }
    if (to.atomic != 0) DisableDmaAtomic(place);
    co1_.FreeTensor(c_, place);
    open_ = false;
  }

 private:
  static constexpr uint32_t kC0 = 32 / sizeof(A);
  static constexpr uint32_t kUnit = sizeof(A) == 1 ? 32 : 16;  // of what may be transposed

  static QuantMode_t Conversion(const Product& p) {
    const bool table = p.quant_table != 0;
    if constexpr (std::is_same_v<C, Sum>) {
      return NoQuant;
    } else if constexpr (std::is_same_v<Sum, float>) {
      return std::is_same_v<C, half>         ? F322F16
             : std::is_same_v<C, bfloat16_t> ? F322BF16
             : table                         ? VQF322B8_PRE
                                             : QF322B8_PRE;
    } else {
      return std::is_same_v<C, half> ? (table ? VDEQF16 : DEQF16) : table ? VREQ8 : REQ8;
    }
  }
  static void SetAtomic(uint8_t what, Place place) {
    if (what == 1) SetAtomicAdd<C>(place);
    if (what == 2) SetAtomicMax<C>(place);
    if (what == 3) SetAtomicMin<C>(place);
  }
  static StoredMatrix Flipped(StoredMatrix b) {
    b.transposed = !b.transposed;
    return b;
  }

  // n elements in a row, filled up with zero to whole blocks.
  template <typename T>
  static void CopyRow(const LocalTensor<T>& dst, uint64_t address, uint32_t n, Place place) {
    if constexpr (sizeof(T) == 8) {
      CopyRow(dst.template ReinterpretCast<uint32_t>(), address, 2 * n, place);
    } else {
      GlobalTensor<T> gm;
      gm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address));  // NOLINT(performance-no-int-to-ptr)
      const auto count = static_cast<uint16_t>(n);
      DataCopy(dst, gm, Nd2NzParams(1, 1, count, 0, count, 1, 1, 0), place);
    }
  }

  // A tile that has all of K stays in L1 for the next block.
  struct HeldTile {
    bool valid = false;
    uint32_t version = 0, first = 0, count = 0, depth = 0;
    LocalTensor<A> tensor;
  };
  template <class Type, class Queue>
  LocalTensor<A> Tile(Queue& queue, HeldTile& held, const StoredMatrix& x, uint32_t first, uint32_t count,
                      uint32_t from, uint32_t depth, uint32_t k, Place place) {
    if (depth == k && held.valid && held.version == x.version && held.first == first && held.count == count &&
        held.depth == depth)
      return held.tensor;
    if (held.valid) queue.FreeTensor(held.tensor, place);
    held.valid = false;
    const LocalTensor<A> tile = LoadTile<Type>(queue, x, first, count, from, depth, place);
    if (depth == k) held = {true, x.version, first, count, depth, tile};
    return tile;
  }

  // Rows [first, first + count) of a left matrix, K [from, from + depth), as NZ of how it is stored.
  template <class Type, class Queue>
  LocalTensor<A> LoadTile(Queue& queue, const StoredMatrix& x, uint32_t first, uint32_t count, uint32_t from,
                          uint32_t depth, Place place) {
    const uint32_t row = x.transposed ? from : first, column = x.transposed ? first : from;
    const uint32_t rows = x.transposed ? depth : count, columns = x.transposed ? count : depth;
    const auto up = static_cast<uint16_t>(RoundUp(rows, kUnit));
    GlobalTensor<A> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ A*>(x.address));  // NOLINT(performance-no-int-to-ptr)
    LocalTensor<A> l1 = queue.template AllocTensor<A>(place);
    if constexpr (Type::format == CubeFormat::NZ) {
      const uint32_t all = RoundUp(x.rows, 16), taken = RoundUp(rows, 16);
      DataCopy(l1, gm[uint64_t{column} * all + row * kC0],
               DataCopyParams(static_cast<uint16_t>((columns + kC0 - 1) / kC0), static_cast<uint16_t>(taken),
                              static_cast<uint16_t>(all - taken), static_cast<uint16_t>(up - taken)),
               place);
    } else {
      DataCopy(l1, gm[uint64_t{row} * x.columns + column],
               Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0,
                           static_cast<uint16_t>(x.columns), up, 1, 0),
               place);
    }
    // What fills up the last fractals is loaded with them, and multiplied with nothing.
    const uint32_t blocks = (columns + kC0 - 1) / kC0,
                   filled = Type::format == CubeFormat::NZ ? RoundUp(rows, 16) : rows;
    if (filled < up) {
      Fill(l1[filled * kC0].template ReinterpretCast<uint16_t>(),
           InitConstValueParams<uint16_t>(static_cast<uint16_t>(blocks), static_cast<uint16_t>(up - filled),
                                          static_cast<uint16_t>(filled), 0),
           place);
    }
    queue.EnQue(l1, place);
    return queue.template DeQue<A>(place);
  }

  // To L0A as zZ.
  LocalTensor<A> LoadLeft(const LocalTensor<A>& l1, bool transposed, uint32_t rows, uint32_t depth, uint32_t at,
                          uint32_t step, Place place) {
    LocalTensor<A> l0 = a2_.template AllocTensor<A>(place);
    const uint32_t steps = (step + kC0 - 1) / kC0, pitch = RoundUp(transposed ? depth : rows, kUnit);
    const uint32_t blocks = (rows + 15) / 16;
    const auto repeats = static_cast<uint8_t>(steps);
    if (!transposed) {
      for (uint32_t i = 0; i < blocks; ++i)
        LoadData(l0[i * steps * 16 * kC0], l1[at * pitch + i * 16 * kC0],
                 LoadData2DParams(0, repeats, static_cast<uint16_t>(pitch / 16), 0, 0, false, 0), place);
    } else if constexpr (sizeof(A) == 2) {
      for (uint32_t i = 0; i < blocks; ++i)
        LoadData(l0[i * steps * 256], l1[i * pitch * 16 + at * 16], LoadData2DParams(0, repeats, 1, 0, 0, true, 0),
                 place);
    } else if constexpr (sizeof(A) == 1) {
      for (uint32_t i = 0; i < (rows + 31) / 32; ++i)
        LoadDataWithTranspose(l0[i * 2 * steps * 512], l1[i * pitch * 32 + at * 32],
                              LoadData2dTransposeParams(0, repeats, 1, 0, static_cast<uint16_t>(steps - 1)), place);
    } else {
      LoadData(l0, l1, Image(pitch, rows, at, step), place);
    }
    a2_.EnQue(l0, place);
    return a2_.template DeQue<A>(place);
  }
  // To L0B as nZ.
  LocalTensor<B> LoadRight(const LocalTensor<B>& l1, bool transposed, uint32_t columns, uint32_t depth, uint32_t at,
                           uint32_t step, Place place) {
    LocalTensor<B> l0 = b2_.template AllocTensor<B>(place);
    const uint32_t steps = (step + kC0 - 1) / kC0, pitch = RoundUp(transposed ? columns : depth, kUnit);
    const uint32_t blocks = RoundUp(columns, transposed ? 16 : kUnit) / 16;
    const auto repeats = static_cast<uint8_t>(blocks);
    if (transposed) {
      for (uint32_t i = 0; i < steps; ++i)
        LoadData(l0[i * blocks * 16 * kC0], l1[(at + i * kC0) * pitch], LoadData2DParams(0, repeats, 1, 0, 0, false, 0),
                 place);
    } else if constexpr (sizeof(B) == 2) {
      for (uint32_t i = 0; i < steps; ++i)
        LoadData(l0[i * blocks * 256], l1[at * 16 + i * 256],
                 LoadData2DParams(0, repeats, static_cast<uint16_t>(pitch / 16), 0, 0, true, 0), place);
    } else if constexpr (sizeof(B) == 1) {
      for (uint32_t i = 0; i < steps; ++i)
        LoadDataWithTranspose(
            l0[i * blocks * 512], l1[at * 32 + i * 1024],
            LoadData2dTransposeParams(0, static_cast<uint8_t>(blocks / 2), static_cast<uint16_t>(pitch / 32), 1, 0),
            place);
    } else {
      LoadData(l0, l1, Image(pitch, columns, at, step), place);
    }
    b2_.EnQue(l0, place);
    return b2_.template DeQue<B>(place);
  }
  // A matrix as an image of one row of points, transposed on its way.
  static LoadData3DParamsV2<A> Image(uint32_t points, uint32_t channels, uint32_t first, uint32_t count) {
    LoadData3DParamsV2<A> p;
    p.l1H = 1;
    p.l1W = static_cast<uint16_t>(points);
    p.channelSize = p.kExtension = static_cast<uint16_t>(RoundUp(channels, kC0));
    p.mExtension = static_cast<uint16_t>(RoundUp(count, 16));
    p.mStartPt = static_cast<uint16_t>(first);
    p.enTranspose = true;
    return p;
  }

  void Multiply(const Product& p, uint32_t i, const LocalTensor<A>& a2, const LocalTensor<B>& b2, uint32_t step,
                bool first, Place place) {
    const uint32_t columns = p.ColumnsOf(i);
    MmadParams mad;
    mad.m = static_cast<uint16_t>(p.RowsOf(i));
    mad.n = static_cast<uint16_t>(p.b.transposed ? columns : RoundUp(columns, kUnit));
    mad.k = static_cast<uint16_t>(step);
    mad.cmatrixInitVal = first;
    mad.kDirectionAlign = sizeof(A) == 4 && p.a.transposed;
    // One row would be read as plain elements, not as a fractal.
    if (mad.m == 1) mad.m = 16;
    if (first && p.bias != 0) {
      LocalTensor<Bias> c1 = c1_.template AllocTensor<Bias>(place);
      CopyRow(c1, p.bias + p.FirstN(i) * sizeof(Bias), columns, place);
      constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(Bias);
      const uint32_t copied = RoundUp(columns, kBlock), read = RoundUp(mad.n, 64 / sizeof(Bias));
      if (copied < read) {
        Fill(c1[copied].template ReinterpretCast<uint16_t>(),
             InitConstValueParams<uint16_t>(1, static_cast<uint16_t>((read - copied) / kBlock), 0, 0), place);
      }
      c1_.EnQue(c1, place);
      c1 = c1_.template DeQue<Bias>(place);
      LocalTensor<Sum> c2 = c2_.template AllocTensor<Sum>(place);
      const auto units = static_cast<uint32_t>(read * sizeof(Bias) / 64);
      DataCopy(c2, c1, DataCopyParams(1, static_cast<uint16_t>(units), 0, 0), place);
      c1_.FreeTensor(c1, place);
      c2_.EnQue(c2, place);
      c2 = c2_.template DeQue<Sum>(place);
      Mmad(c_, a2, b2, c2, mad, place);
      c2_.FreeTensor(c2, place);
    } else {
      Mmad(c_, a2, b2, mad, place);
    }
    if (((mad.m + 15) / 16) * ((mad.n + 15) / 16) < 10) IssueBarrier(PIPE_M, place);
    a2_.FreeTensor(a2, place);
    b2_.FreeTensor(b2, place);
  }

  TQue<TPosition::A1, 2> a1_;
  TQue<TPosition::B1, 2> b1_;
  TQue<TPosition::A2, 2> a2_;
  TQue<TPosition::B2, 2> b2_;
  TQue<TPosition::CO1, 1> co1_;
  TQue<TPosition::C1, 1> c1_;
  TQue<TPosition::C2, 1> c2_;
  HeldTile held_a_, held_b_;
  LocalTensor<Sum> c_;
  bool open_ = false;
};

}  // namespace AscendC::vinci_detail
