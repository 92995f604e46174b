// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <exception>

#include "ascendc/matmul/message.h"

// Matmul: C = A * B + bias for the rows and columns of one core. On a cube core it computes; on an AIV of a MIX kernel
// it has the AIC compute. Documentation: Ascend C API, high-level API, Matmul.
namespace AscendC {

// Functions of the program for copies of base blocks from L0C to global memory, and to L1.
template <auto DataCopyOut = nullptr, auto CopyA1 = nullptr, auto CopyB1 = nullptr>
struct MatmulCallBackFunc {
  static constexpr vinci_detail::MatmulCopyOut kCopyOut = DataCopyOut;
  static constexpr vinci_detail::MatmulCopyIn kCopyA = CopyA1, kCopyB = CopyB1;
};

struct MatrixOffset {
  int32_t offset;
  int32_t row, col;
  int32_t height, width;
};

template <class A, class B, class C, class Bias = C, const auto& CFG = CFG_NORM, class CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename, typename, typename, typename, typename> class Policy =
              Impl::Detail::MatmulPolicy>
class MatmulImpl {
 public:
  using Engine = vinci_detail::MatmulEngine<A, B, C, Bias>;
  using Work = vinci_detail::MatmulWork;
  using Message = vinci_detail::MatmulMessage;
  using TA = typename A::T;
  using TB = typename B::T;
  using TC = typename C::T;
  using TBias = typename Bias::T;
  using Sum = typename Engine::Sum;
  static constexpr MatmulConfig kConfig = vinci_detail::ConfigOf(CFG);
  // The tiling is in the template.
  static constexpr bool kStatic = !std::is_same_v<std::decay_t<decltype(CFG)>, MatmulConfig>;
  static constexpr bool kOwnCopies = CallBack::kCopyA != nullptr || CallBack::kCopyB != nullptr;
  static_assert(__NPU_ARCH__ == 2201, "Matmul is there for the architectures with AICs and AIVs, 220x");

  MatmulImpl() = default;
  MatmulImpl(const MatmulImpl&) = delete;
  MatmulImpl& operator=(const MatmulImpl&) = delete;
  ~MatmulImpl() noexcept(false) {
    if (std::uncaught_exceptions() == 0 && role_ == Role::direct) vinci_detail::MatmulUnit::Here().Settle(place_);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Set up.

  void Init(const tiling::TCubeTiling* cubeTiling, TPipe* tpipe = nullptr, VINCI_PLACE) {
    place_ = place;
    tiling::TCubeTiling t = cubeTiling != nullptr ? *cubeTiling : tiling::TCubeTiling{};
    Complete(t, place);
    work_ = Work{};
    work_.tiling = t;
    work_.copy_a = CallBack::kCopyA;
    work_.copy_b = CallBack::kCopyB;
    work_.copy_out = CallBack::kCopyOut;
    work_.m = Unsigned(t.singleCoreM);
    work_.n = Unsigned(t.singleCoreN);
    work_.k = Unsigned(t.singleCoreK);
    SetOrgShape(t.M, t.N, t.Ka, t.Kb);
    Begin();
    if (role_ == Role::none && ::vinci::ascendc::core().kind == ::vinci::ascendc::CoreKind::cube) role_ = Role::direct;
    if (role_ == Role::client) return;
    if (role_ == Role::none && ::vinci::ascendc::core().mix) role_ = Role::idle;
    if (role_ == Role::idle) return;
    if (role_ == Role::none)
      ::vinci::ascendc::wrong(
          "Matmul on a vector core without an AIC: mark the kernel __cube__, __mix__(1, 2), or by "
          "KERNEL_TASK_TYPE_DEFAULT",
          place);
    if (tpipe == nullptr) tpipe = GetTPipePtr();
    if (tpipe == nullptr) ::vinci::ascendc::wrong("Matmul without a TPipe", place);
    for (Engine& e : engines_)
      e.Init(*tpipe, t, kOwnCopies, place);
  }
  // For REGIST_MATMUL_OBJ: what this core is to the object of that number.
  void Join(bool client, GM_ADDR workspace, uint8_t object, vinci_detail::Place place) {
    role_ = client ? Role::client : Role::server;
    if (client) client_.Init(workspace, object, place);
  }
  // The AIC computes what an AIV asks for.
  void Serve(const Message& m, TPipe& pipe, vinci_detail::Place place) {
    Engine& e = engines_[m.aiv];
    if (m.kind == Message::Kind::end) return;
    if (std::memcmp(&served_[m.aiv], &m.work.tiling, sizeof(tiling::TCubeTiling)) != 0) {
      served_[m.aiv] = m.work.tiling;
      e.Init(pipe, m.work.tiling, kOwnCopies, place);
    }
    if (m.kind == Message::Kind::multiply) return e.Multiply(m.work, m.index, m.partial, place);
    if (m.kind == Message::Kind::store) return Store(e, m.work, m.index, m.target, place);
    All(e, m.work, m.target, place);
  }

  void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK); }
  void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    org_m_ = Unsigned(orgM);
    org_n_ = Unsigned(orgN);
    org_ka_ = Unsigned(orgKa);
    org_kb_ = Unsigned(orgKb);
    work_.rows_c = org_m_;
    work_.row_length_c = orgKc > 0 ? Unsigned(orgKc) : org_n_;
    if (C::format == CubeFormat::ND_ALIGN) work_.row_length_c = RoundUp(work_.row_length_c, ONE_BLK_SIZE / sizeof(TC));
  }
  void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
  void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    if (tailM > 0) work_.m = Unsigned(tailM);
    if (tailN > 0) work_.n = Unsigned(tailN);
    if (tailK > 0) work_.k = Unsigned(tailK);
    Begin();
  }

  void SetTensorA(const GlobalTensor<TA>& gm, bool isTransposeA = false) {
    work_.a = {gm.Address(),
               false,
               isTransposeA,
               A::format == CubeFormat::NZ,
               isTransposeA ? org_m_ : org_ka_,
               isTransposeA ? org_ka_ : org_m_};
    Begin();
  }
  void SetTensorB(const GlobalTensor<TB>& gm, bool isTransposeB = false) {
    work_.b = {gm.Address(),
               false,
               !isTransposeB,
               B::format == CubeFormat::NZ,
               (isTransposeB ? org_kb_ : org_n_) / Engine::kRowsOfWeight,
               isTransposeB ? org_n_ : org_kb_};
    Begin();
  }
  // The indices of the weights of B, for a SparseMatmulType.
  void SetSparseIndex(const GlobalTensor<uint8_t>& indexGlobal) {
    static_assert(B::isSparse, "SetSparseIndex: B is no SparseMatmulType");
    work_.sparse_index = indexGlobal.Address();
    work_.index_rows = RoundUp(org_n_, 16);
    Begin();
  }
  // At TSCM all of the matrix as NZ, of the shape that SetOrgShape says; in UB what this core takes.
  void SetTensorA(const LocalTensor<TA>& leftMatrix, bool isTransposeA = false, VINCI_PLACE) {
    work_.a = Local<A>(leftMatrix, isTransposeA, isTransposeA, {org_m_, org_ka_}, {work_.m, work_.k}, 0, place);
    Begin();
  }
  void SetTensorB(const LocalTensor<TB>& rightMatrix, bool isTransposeB = false, VINCI_PLACE) {
    work_.b = Local<B>(rightMatrix, !isTransposeB, isTransposeB, {org_kb_, org_n_}, {work_.k, work_.n}, 1, place);
    Begin();
  }
  void SetBias(const GlobalTensor<TBias>& biasGlobal) { work_.bias = biasGlobal.Address(); }
  void SetBias(const LocalTensor<TBias>& inputBias, VINCI_PLACE) {
    NeedClient("a bias in UB of a cube core", place);
    const uint64_t bytes = work_.n * sizeof(TBias);
    if (bytes > vinci_detail::MatmulArea::kBias)
      ::vinci::ascendc::unsupported("a bias of more than 2 KiB in UB", place);
    FromUb(client_.Area().Bias(), inputBias.template ReinterpretCast<uint8_t>(), bytes, place);
    work_.bias = client_.Area().Bias();
  }
  void ClearBias() { work_.bias = 0; }
  void DisableBias() { ClearBias(); }
  void SetQuantScalar(uint64_t quantScalar) {
    work_.quant_scale = quantScalar;
    work_.quant_table = 0;
  }
  void SetQuantVector(const GlobalTensor<uint64_t>& quantTensor) { work_.quant_table = quantTensor.Address(); }
  // Of a cube core by itself.
  void SetHF32(bool enableHF32 = false, int32_t transMode = 0, VINCI_PLACE) {
    if (role_ == Role::client) ::vinci::ascendc::unsupported("SetHF32 of an AIV", place);
    if (role_ == Role::idle) return;
    SetHF32Mode(enableHF32, place);
    SetHF32TransMode(transMode == 1, place);
  }
  void SetSubBlockIdx(uint8_t subBlockIdx) { sub_block_ = subBlockIdx; }
  uint8_t GetSubBlockIdx() const { return sub_block_; }
  // Nothing is kept there.
  void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
  void SetUserDefInfo(const uint64_t tilingPtr) { work_.user_info = tilingPtr; }
  void SetSelfDefineData(const uint64_t dataPtr) { work_.user_data = dataPtr; }
  // Where Iterate<false> puts blocks of results.
  template <class T>
  void SetWorkspace(GlobalTensor<T>& addr) {
    workspace_ = addr.Address();
  }
  template <class T>
  void SetWorkspace(__gm__ const T* addr, int /*size*/) {
    workspace_ = reinterpret_cast<uintptr_t>(addr);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Blocks one by one: Iterate computes the next one, GetTensorC brings it out.

  template <bool sync = true>
  bool Iterate(bool enPartialSum = false, VINCI_PLACE) {
    place_ = place;
    if (!sync) return IterateAhead(place);
    if (!Next(enPartialSum)) return false;
    Compute(enPartialSum, place);
    return true;
  }
  // Into a tensor of the program, at CO1.
  template <bool sync = true, class T>
  bool Iterate(bool enPartialSum, const LocalTensor<T>& localCmatrix, VINCI_PLACE) {
    static_assert(std::is_same_v<T, Sum>, "Iterate: L0C holds float or int32_t");
    place_ = place;
    if (role_ != Role::direct) ::vinci::ascendc::unsupported("Iterate into CO1 on an AIV", place);
    if (!Next(enPartialSum)) return false;
    engines_[0].Multiply(work_, index_, enPartialSum, localCmatrix, place);
    return true;
  }

  template <bool sync = true>
  void GetTensorC(const GlobalTensor<TC>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, VINCI_PLACE) {
    if (ahead_) {
      index_ = NextAhead();
      Compute(false, place);
    }
    Bring({gm.Address(), false, enAtomic, enSequentialWrite}, place);
    if (sync && role_ == Role::client) client_.Settle(place);
  }
  template <bool sync = true>
  void GetTensorC(const LocalTensor<TC>& co2Local, uint8_t enAtomic = 0, bool enSequentialWrite = false, VINCI_PLACE) {
    if (vinci_detail::MatmulMover<TA>::kC0 != 0 &&
        vinci_detail::MemoryOf(co2Local.GetPosition()) == ::vinci::ascendc::Memory::l1)
      return Bring({co2Local.Address(), true, enAtomic, enSequentialWrite}, place);
    NeedClient("GetTensorC into UB", place);
    if (!sync || ahead_) {
      client_.Settle(place);
      const uint32_t index = NextAhead();
      return ToUb(co2Local, AheadAt(index, place), index, enSequentialWrite, place);
    }
    Bring({client_.Area().Result(), false, 0, true}, place);
    client_.Settle(place);
    ToUb(co2Local, client_.Area().Result(), index_, enSequentialWrite, place);
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<TC>& gm, const LocalTensor<TC>& co2Local, uint8_t enAtomic = 0,
                  bool enSequentialWrite = false, VINCI_PLACE) {
    NeedClient("GetTensorC into UB", place);
    Bring({gm.Address(), false, enAtomic, enSequentialWrite}, place);
    Bring({client_.Area().Result(), false, 0, true}, place);
    client_.Settle(place);
    ToUb(co2Local, client_.Area().Result(), index_, enSequentialWrite, place);
  }
  void AsyncGetTensorC(const LocalTensor<TC>& c, VINCI_PLACE) { GetTensorC<true>(c, 0, true, place); }
  // The next block that Iterate<false> has computed, at its place in the workspace.
  template <bool sync = false>
  GlobalTensor<TC> GetTensorC(uint8_t /*enAtomic*/ = 0, bool /*enSequentialWrite*/ = false, VINCI_PLACE) {
    NeedClient("GetTensorC of a workspace", place);
    client_.Settle(place);
    GlobalTensor<TC> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(AheadAt(NextAhead(), place)));
    return out;
  }
  MatrixOffset GetOffsetC() const {
    const vinci_detail::MatmulBlock b(work_, index_);
    return {static_cast<int32_t>(b.m0 * work_.row_length_c + b.n0), static_cast<int32_t>(b.m0),
            static_cast<int32_t>(b.n0), static_cast<int32_t>(b.m), static_cast<int32_t>(b.n)};
  }

  // -------------------------------------------------------------------------------------------------------------------
  // All blocks.

  template <bool sync = true>
  void IterateAll(const GlobalTensor<TC>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  bool /*waitIterateAll*/ = false, bool fakeMsg = false, VINCI_PLACE) {
    place_ = place;
    if (fakeMsg) return;
    const vinci_detail::MatmulTarget target{gm.Address(), false, enAtomic, enSequentialWrite};
    Begin();
    if (role_ == Role::client) {
      Message m = About(Message::Kind::all);
      m.target = target;
      client_.Send(m, place);
      if (sync) client_.Settle(place);
    } else if (role_ != Role::idle) {
      All(engines_[0], work_, target, place);
    }
  }
  template <bool sync = true>
  void IterateAll(const LocalTensor<TC>& ubCmatrix, uint8_t enAtomic = 0, VINCI_PLACE) {
    Begin();
    while (Iterate<true>(false, place))
      GetTensorC<true>(ubCmatrix, enAtomic, false, place);
  }
  void WaitIterateAll(VINCI_PLACE) {
    if (role_ == Role::client) client_.Settle(place);
  }
  void WaitGetTensorC(VINCI_PLACE) { WaitIterateAll(place); }

  // Products of batches that follow one another, or that, in BSNGD and SBNGD, are side by side in rows of all of them;
  // where one side has fewer, each is taken for as many of the other.
  template <bool sync = true, bool waitIterateBatch = false>
  void IterateBatch(const GlobalTensor<TC>& gm, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                    const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                    const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                    VINCI_PLACE) {
    if (enPartialSum) ::vinci::ascendc::unsupported("IterateBatch with enPartialSum", place);
    const Work first = work_;
    const uint32_t batches = batchA > batchB ? batchA : batchB;
    const tiling::TCubeTiling& t = work_.tiling;
    const Side side_a = SideOf<A>(t.ALayoutInfoB, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD);
    const Side side_b = SideOf<B>(t.BLayoutInfoB, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD);
    const Side side_c = SideOf<C>(t.CLayoutInfoB, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2);
    if (side_a.row != 0) work_.a.row_length = side_a.row;
    if (side_b.row != 0) work_.b.row_length = side_b.row;
    if (side_c.row != 0) work_.row_length_c = side_c.row;
    const auto stride = [](uint32_t given, const Side& side, uint64_t matrix) {
      return given != 0 ? given : side.row != 0 ? side.width : matrix;
    };
    const uint64_t stride_a = stride(matrixStrideA, side_a, uint64_t{org_m_} * org_ka_);
    const uint64_t stride_b = stride(matrixStrideB, side_b, uint64_t{org_kb_} * org_n_);
    const uint64_t stride_c = stride(matrixStrideC, side_c, uint64_t{org_m_} * first.row_length_c);
    for (uint32_t i = 0; i < batches; ++i) {
      work_.a.address = first.a.address + vinci_detail::BytesOf<TA>(i * batchA / batches * stride_a);
      work_.b.address = first.b.address + vinci_detail::BytesOf<TB>(i * batchB / batches * stride_b);
      if (first.bias != 0 && kConfig.isBiasBatch) work_.bias = first.bias + uint64_t{i} * org_n_ * sizeof(TBias);
      IterateAll<false>(gm[i * stride_c], enAtomic, enSequentialWrite, false, false, place);
    }
    if (sync) WaitIterateAll(place);
    work_ = first;
    Begin();
  }
  // The next batches, `batchLoop` times, to the workspace, from which GetBatchTensorC takes them one after the other.
  template <bool sync = true, bool waitIterateBatch = false>
  void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                     const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                     const uint32_t matrixStrideC = 0, VINCI_PLACE) {
    if (workspace_ == 0) ::vinci::ascendc::wrong("IterateNBatch without SetWorkspace before", place);
    const Work first = work_;
    GlobalTensor<TC> all;
    all.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(workspace_));
    for (uint32_t i = 0; i < batchLoop; ++i) {
      work_.a.address = first.a.address + vinci_detail::BytesOf<TA>(BatchOfA(i * batchA, matrixStrideA));
      work_.b.address = first.b.address + vinci_detail::BytesOf<TB>(BatchOfB(i * batchB, matrixStrideB));
      IterateBatch<false>(all[BatchOfC(i * (batchA > batchB ? batchA : batchB))], batchA, batchB, enSequentialWrite,
                          matrixStrideA, matrixStrideB, matrixStrideC, false, 0, place);
    }
    if (sync) WaitIterateAll(place);
    work_ = first;
    next_batch_ = 0;
    Begin();
  }
  template <bool sync = true>
  GlobalTensor<TC> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool /*enSequentialWrite*/ = false, VINCI_PLACE) {
    WaitIterateAll(place);
    GlobalTensor<TC> all;
    all.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(workspace_));
    const uint32_t batch = next_batch_;
    next_batch_ += batchA > batchB ? batchA : batchB;
    return all[BatchOfC(batch)];
  }
  void SetBatchNum(int32_t batchA, int32_t batchB) {
    batch_a_ = Unsigned(batchA);
    batch_b_ = Unsigned(batchB);
  }
  // With a bool; whole numbers are those of the form above.
  template <typename Partial, typename = std::enable_if_t<std::is_same_v<Partial, bool>>>
  void IterateBatch(const GlobalTensor<TC>& gm, Partial enPartialSum, uint8_t enAtomic, bool enSequentialWrite,
                    const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                    const uint32_t matrixStrideC = 0, VINCI_PLACE) {
    IterateBatch<true, false>(gm, batch_a_, batch_b_, enSequentialWrite, matrixStrideA, matrixStrideB, matrixStrideC,
                              enPartialSum, enAtomic, place);
  }
  void WaitIterateBatch(VINCI_PLACE) { WaitIterateAll(place); }

  void End(VINCI_PLACE) {
    if (role_ == Role::client) {
      client_.Send(About(Message::Kind::end), place);
      client_.Settle(place);
    }
    if (role_ == Role::direct) vinci_detail::MatmulUnit::Here().Settle(place);
    Begin();
  }

 private:
  // idle: of an AIV whose AIC has an object of its own.
  enum class Role : uint8_t { none, direct, client, server, idle };
  struct Shape {
    uint32_t rows, columns;
  };

  // Matrices side by side: how wide they are, and the length of a row of all; 0 where they are one behind the other.
  struct Side {
    uint32_t width = 0, row = 0;
  };
  template <class Type>
  static Side SideOf(int32_t b, int32_t n, int32_t g, int32_t d) {
    const auto all = Unsigned(n) * Unsigned(g) * Unsigned(d);
    if constexpr (Type::layout == LayoutMode::BSNGD) return {Unsigned(d), all};
    if constexpr (Type::layout == LayoutMode::SBNGD) return {Unsigned(d), Unsigned(b) * all};
    return {};
  }

  // Where the matrix of that number begins, in elements: behind the one before, or in the same rows next to it and then
  // in the next batch.
  template <class Type>
  static uint64_t BatchAt(uint32_t number, int32_t s, int32_t n, int32_t g, int32_t d, uint64_t matrix) {
    const uint64_t width = Unsigned(d), together = uint64_t{Unsigned(n)} * Unsigned(g);
    if constexpr (Type::layout == LayoutMode::BSNGD)
      return number / together * Unsigned(s) * together * width + number % together * width;
    if constexpr (Type::layout == LayoutMode::SBNGD) return number * width;
    return number * matrix;
  }
  uint64_t BatchOfA(uint32_t number, uint32_t stride) const {
    const tiling::TCubeTiling& t = work_.tiling;
    return BatchAt<A>(number, t.ALayoutInfoS, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD,
                      stride != 0 ? stride : uint64_t{org_m_} * org_ka_);
  }
  uint64_t BatchOfB(uint32_t number, uint32_t stride) const {
    const tiling::TCubeTiling& t = work_.tiling;
    return BatchAt<B>(number, t.BLayoutInfoS, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD,
                      stride != 0 ? stride : uint64_t{org_kb_} * org_n_);
  }
  uint64_t BatchOfC(uint32_t number) const {
    const tiling::TCubeTiling& t = work_.tiling;
    return BatchAt<C>(number, t.CLayoutInfoS1, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2,
                      uint64_t{org_m_} * work_.row_length_c);
  }

  static uint32_t Unsigned(int value) { return static_cast<uint32_t>(value > 0 ? value : 0); }
  static uint32_t RoundUp(uint32_t value, uint32_t to) { return vinci_detail::RoundUp(value, to); }

  // What the template says of the tiling, and what neither says.
  static void Complete(tiling::TCubeTiling& t, vinci_detail::Place place) {
    const auto take = [](int32_t& to, uint32_t from) {
      if (from != 0) to = static_cast<int32_t>(from);
    };
    if constexpr (kStatic) {
      take(t.singleCoreM, kConfig.singleCoreM);
      take(t.singleCoreN, kConfig.singleCoreN);
      take(t.singleCoreK, kConfig.singleCoreK);
      take(t.baseM, kConfig.basicM);
      take(t.baseN, kConfig.basicN);
      take(t.baseK, kConfig.basicK);
      take(t.M, t.M > 0 ? 0 : kConfig.singleCoreM);
      take(t.N, t.N > 0 ? 0 : kConfig.singleCoreN);
      take(t.Ka, t.Ka > 0 ? 0 : kConfig.singleCoreK);
      take(t.Kb, t.Kb > 0 ? 0 : kConfig.singleCoreK);
      if (t.depthA1 == 0) t.depthA1 = t.depthB1 = 2;
    }
    if (kConfig.iterateOrder != IterateOrder::UNDEF)
      t.iterateOrder = kConfig.iterateOrder == IterateOrder::ORDER_N ? 1 : 0;
    if (t.singleCoreM <= 0 || t.singleCoreN <= 0 || t.singleCoreK <= 0 || t.baseM <= 0 || t.baseN <= 0)
      ::vinci::ascendc::wrong("Matmul: the tiling is not set: singleCoreM to baseK are to be positive", place);
  }

  // From the first block on, with matrices that may be others than before.
  void Begin() {
    next_ = 0;
    ahead_ = false;
    ++work_.version;
  }
  bool Next(bool partial) {
    if (partial) {
      index_ = 0;
      next_ = 1;
      return true;
    }
    if (next_ >= work_.Blocks()) {
      next_ = 0;
      return false;
    }
    index_ = next_++;
    return true;
  }
  Message About(typename Message::Kind kind) const {
    Message m;
    m.kind = kind;
    m.index = index_;
    m.work = work_;
    const uint64_t addresses[2] = {work_.a.address, work_.b.address};
    for (uint32_t i = 0; i < 2; ++i) {
      if (addresses[i] == client_.Area().Matrix(i) && Stager()[i] != this)
        ::vinci::ascendc::unsupported("Matmul with matrices in UB of two objects at once", place_);
    }
    return m;
  }
  static void Store(Engine& e, const Work& w, uint32_t index, const vinci_detail::MatmulTarget& target,
                    vinci_detail::Place place) {
    e.template Store<kConfig.enableRelu, kConfig.isEnableChannelSplit>(w, index, target, place);
  }
  static void All(Engine& e, const Work& w, vinci_detail::MatmulTarget target, vinci_detail::Place place) {
    for (uint32_t i = 0; i < w.Blocks(); ++i) {
      if (Keeps(w, i)) {
        e.Multiply(w, i, false, place);
        Store(e, w, i, target, place);
      }
      if (target.sequential) target.address += Unsigned(w.tiling.baseM) * Unsigned(w.tiling.baseN) * sizeof(TC);
    }
  }
  // Blocks outside the triangle of the policy are neither computed nor stored.
  static bool Keeps(const Work& w, uint32_t index) {
    constexpr auto kept = Policy<CFG, void, A, B, C, Bias>::kKept;
    if constexpr (kept == vinci_detail::KeptBlocks::all) return true;
    const vinci_detail::MatmulBlock b(w, index);
    return kept == vinci_detail::KeptBlocks::upper ? b.mi <= b.ni : b.mi >= b.ni;
  }
  void Compute(bool partial, vinci_detail::Place place) {
    if (role_ == Role::idle || !Keeps(work_, index_)) return;
    if (role_ != Role::client) return engines_[0].Multiply(work_, index_, partial, place);
    Message m = About(Message::Kind::multiply);
    m.partial = partial;
    client_.Send(m, place);
  }
  void Bring(const vinci_detail::MatmulTarget& target, vinci_detail::Place place) {
    if (role_ == Role::idle || !Keeps(work_, index_)) return;
    if (role_ != Role::client) return Store(engines_[0], work_, index_, target, place);
    Message m = About(Message::Kind::store);
    m.target = target;
    client_.Send(m, place);
  }
  void NeedClient(const char* what, vinci_detail::Place place) const {
    if (role_ != Role::client) ::vinci::ascendc::unsupported(what, place);
  }

  // All blocks ahead, to the workspace; on a cube core by itself they are computed when they are asked for.
  bool IterateAhead(vinci_detail::Place place) {
    Begin();
    ahead_ = true;
    if (role_ != Role::client || workspace_ == 0) return true;
    Message m = About(Message::Kind::all);
    m.target = {workspace_, false, 0, true};
    client_.Send(m, place);
    return true;
  }
  uint32_t NextAhead() { return next_ < work_.Blocks() ? next_++ : 0; }
  uint64_t AheadAt(uint32_t index, vinci_detail::Place place) const {
    if (workspace_ == 0)
      ::vinci::ascendc::wrong("GetTensorC of what Iterate<false> has computed, without SetWorkspace before", place);
    return workspace_ + uint64_t{index} * Unsigned(work_.tiling.baseM) * Unsigned(work_.tiling.baseN) * sizeof(TC);
  }
  // A matrix in L1, or one in UB, which goes through global memory. Shapes are of the matrix that is not transposed.
  template <class Type>
  vinci_detail::MatmulOperand Local(const LocalTensor<typename Type::T>& tensor, bool k_rows, bool transposed,
                                    Shape whole, Shape single, uint32_t which, vinci_detail::Place place) {
    using T = typename Type::T;
    const bool l1 = vinci_detail::MemoryOf(tensor.GetPosition()) == ::vinci::ascendc::Memory::l1;
    const Shape shape = l1 ? whole : single;
    vinci_detail::MatmulOperand o{tensor.Address(),
                                  l1,
                                  k_rows,
                                  l1 || Type::format == CubeFormat::NZ,
                                  transposed ? shape.rows : shape.columns,
                                  transposed ? shape.columns : shape.rows};
    if (l1) {
      if (role_ == Role::client) ::vinci::ascendc::unsupported("a matrix at TSCM of an AIV", place);
      if (k_rows && sizeof(T) == 4) ::vinci::ascendc::unsupported("a transposed matrix of float at TSCM", place);
      return o;
    }
    NeedClient("a matrix in UB of a cube core", place);
    const uint64_t elements =
        o.nz ? uint64_t{RoundUp(o.rows, 16)} * RoundUp(o.row_length, vinci_detail::MatmulMover<T>::kC0)
             : uint64_t{o.rows} * o.row_length;
    const uint64_t bytes = vinci_detail::BytesOf<T>(elements);
    if (bytes > vinci_detail::MatmulArea::kMatrix)
      ::vinci::ascendc::unsupported("a matrix of more than 102 KiB in UB", place);
    FromUb(client_.Area().Matrix(which), tensor.template ReinterpretCast<uint8_t>(), bytes, place);
    Stager()[which] = this;
    o.address = client_.Area().Matrix(which);
    return o;
  }
  // Whose matrix of UB is in the workspace.
  static const void** Stager() {
    static thread_local const void* stager[2] = {};
    return stager;
  }
  static void FromUb(uint64_t to, const LocalTensor<uint8_t>& from, uint64_t bytes, vinci_detail::Place place) {
    vinci_detail::MatmulClient::SettleAll(place);
    GlobalTensor<uint8_t> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(to));
    TPipe::Order(HardEvent::V_MTE3, place);
    TPipe::Order(HardEvent::MTE2_MTE3, place);
    DataCopyPad(gm, from, DataCopyExtParams(1, static_cast<uint32_t>(bytes), 0, 0, 0), place);
    TPipe::Order(HardEvent::MTE3_V, place);
    TPipe::Order(HardEvent::MTE3_MTE2, place);
  }

  // A block of results from global memory, where its rows have baseN elements, to UB: there alone, or where it belongs
  // in the whole of this core's results.
  void ToUb(const LocalTensor<TC>& ub, uint64_t address, uint32_t index, bool sequential, vinci_detail::Place place) {
    const vinci_detail::MatmulBlock b(work_, index);
    GlobalTensor<TC> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(address));
    TPipe::Order(HardEvent::V_MTE2, place);
    TPipe::Order(HardEvent::MTE3_MTE2, place);
    if constexpr (C::format == CubeFormat::NZ) {
      constexpr uint32_t kWidth = sizeof(TC) == 1 ? 32 : 16;
      const uint32_t rows = RoundUp(b.m, 16), rows_ub = sequential ? rows : RoundUp(work_.m, 16);
      constexpr auto kBlocks = static_cast<uint32_t>(kWidth * sizeof(TC) / ONE_BLK_SIZE);
      DataCopy(
          ub[sequential ? 0 : b.n0 * rows_ub + b.m0 * kWidth], gm,
          DataCopyParams(static_cast<uint16_t>(vinci_detail::Parts(b.n, kWidth)), static_cast<uint16_t>(rows * kBlocks),
                         0, static_cast<uint16_t>((rows_ub - rows) * kBlocks)),
          place);
    } else {
      const auto size = static_cast<uint32_t>(sizeof(TC));
      const uint32_t base_n = Unsigned(work_.tiling.baseN), bytes = b.n * size;
      const uint32_t pitch = RoundUp((sequential ? base_n : work_.n) * size, ONE_BLK_SIZE);
      DataCopyPad(ub[sequential ? 0 : b.m0 * (pitch / size) + b.n0], gm,
                  DataCopyExtParams(static_cast<uint16_t>(b.m), bytes, base_n * size - bytes,
                                    (pitch - RoundUp(bytes, ONE_BLK_SIZE)) / ONE_BLK_SIZE, 0),
                  DataCopyPadExtParams<TC>(), place);
    }
    TPipe::Order(HardEvent::MTE2_V, place);
    TPipe::Order(HardEvent::MTE2_MTE3, place);
  }

  Role role_ = Role::none;
  Work work_;
  uint32_t org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0, batch_a_ = 1, batch_b_ = 1;
  uint32_t index_ = 0, next_ = 0, next_batch_ = 0;
  bool ahead_ = false;  // after Iterate<false>
  uint8_t sub_block_ = 0;
  uint64_t workspace_ = 0;
  vinci_detail::MatmulClient client_;
  tiling::TCubeTiling served_[2];
  Engine engines_[2];  // of a server one for each AIV
  vinci_detail::Place place_{nullptr, 0};
};

template <class A, class B, class C, class Bias = C, const auto& CFG = CFG_NORM, class CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename, typename, typename, typename, typename> class Policy =
              Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A, B, C, Bias, CFG, CallBack, Policy>;

namespace vinci_detail {

#ifdef ASCENDC_CUBE_ONLY
constexpr bool kCubeOnly = true;
#else
constexpr bool kCubeOnly = false;
#endif

// Objects and their tilings, which may be missing.
template <class F>
void EachMatmul(F&&, uint8_t) {}
template <class F, class Object>
void EachMatmul(F&& f, uint8_t number, Object& object) {
  f(object, static_cast<const tiling::TCubeTiling*>(nullptr), number);
}
template <class F, class Object, class Next, class... Rest>
void EachMatmul(F&& f, uint8_t number, Object& object, Next&& next, Rest&&... rest) {
  // With __restrict it is a pointer, too, which std::is_pointer does not see.
  using Value = std::remove_reference_t<Next>;
  if constexpr (std::is_convertible_v<Value, const void*> || std::is_convertible_v<Value, const __gm__ void*>) {
    f(object, (const tiling::TCubeTiling*)next, number);
    EachMatmul(f, static_cast<uint8_t>(number + 1), rest...);
  } else if constexpr (std::is_base_of_v<tiling::TCubeTiling, std::decay_t<Next>>) {
    f(object, static_cast<const tiling::TCubeTiling*>(&next), number);
    EachMatmul(f, static_cast<uint8_t>(number + 1), rest...);
  } else {
    f(object, static_cast<const tiling::TCubeTiling*>(nullptr), number);
    EachMatmul(f, static_cast<uint8_t>(number + 1), next, rest...);
  }
}

// True on a core that has served and is to leave the kernel.
template <class... Args>
__attribute__((annotate("vinci.matmul"))) bool RegisterMatmul(TPipe* pipe, GM_ADDR workspace, Place place,
                                                              Args&&... args) {
  const auto& core = ::vinci::ascendc::core();
  const bool vector = core.kind == ::vinci::ascendc::CoreKind::vector;
  const bool messages = core.mix && !kCubeOnly;
  if (!messages && vector && core.mix) return false;  // the AIC computes by itself
  EachMatmul(
      [&](auto& object, const tiling::TCubeTiling* t, uint8_t number) {
        if (number >= MatmulArea::kObjects) ::vinci::ascendc::wrong("Matmul: at most 4 objects", place);
        if (messages) object.Join(vector, workspace, number, place);
        if (t != nullptr || object.kStatic) {
          if (!messages || vector) object.Init(t, pipe, place);
        }
      },
      0, args...);
  if (!messages || vector) return false;
  ServeMatmul(
      workspace,
      [&](const MatmulMessage& m) {
        EachMatmul(
            [&](auto& object, const tiling::TCubeTiling*, uint8_t number) {
              if (number == m.object) object.Serve(m, *pipe, place);
            },
            0, args...);
      },
      place);
  return true;
}
}  // namespace vinci_detail

}  // namespace AscendC

using AscendC::MatmulCallBackFunc;  // NOLINT(google-global-names-in-headers)

// Objects, each with its tiling. In a MIX kernel the AIC computes for its AIVs from here to their end, and then leaves
// the function.
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                                      \
  if (::AscendC::vinci_detail::RegisterMatmul(tpipe, workspace, ::AscendC::vinci_detail::Place::here(), __VA_ARGS__)) \
  return
