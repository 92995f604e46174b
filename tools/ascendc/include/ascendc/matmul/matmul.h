// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/matmul/config.h"
#include "ascendc/matmul/engine.h"
#include "ascendc/matmul/server.h"

// Matmul: C = A * B + bias for one core. On an AIC (MatmulImpl, or Matmul where ASCENDC_CUBE_ONLY is defined) it
// computes itself; else an AIV asks the AIC of its block. Documentation: Ascend C API, Matmul.
namespace AscendC {

template <auto CopyOut = nullptr, auto CopyA = nullptr, auto CopyB = nullptr>
struct MatmulCallBackFunc {
  static_assert(CopyOut == nullptr && CopyA == nullptr && CopyB == nullptr,
                "Matmul: callbacks are not supported by Vinci");
};

template <bool direct, class AType, class BType, class CType, class BiasType, const auto& config, class Callbacks>
class MatmulObject {
 public:
  using A = typename AType::T;
  using B = typename BType::T;
  using C = typename CType::T;
  using Bias = typename BiasType::T;
  static_assert(AType::layout == LayoutMode::NONE && BType::layout == LayoutMode::NONE,
                "Matmul: products of batches are not supported by Vinci");

  MatmulObject() = default;
  MatmulObject(const MatmulObject&) = delete;
  MatmulObject& operator=(const MatmulObject&) = delete;

  // The tiling, by a pointer to a local or a global copy.
  void Init(const TCubeTiling* __restrict cubeTiling, TPipe* tpipe = nullptr, Place = Place::here()) {
    if (tpipe != nullptr) pipe_ = tpipe;
    if (cubeTiling == nullptr) return;
    tiling_ = *cubeTiling;
    SetOrgShape(tiling_.M, tiling_.N, tiling_.Ka, tiling_.Kb);
    SetSingleShape(tiling_.singleCoreM, tiling_.singleCoreN, tiling_.singleCoreK);
  }
  void Register(uint32_t object, TPipe* pipe, Place place) {
    object_ = object;
    pipe_ = pipe;
    if constexpr (!direct) client_.Register(place);
  }

  void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK); }
  void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
    org_m_ = static_cast<uint32_t>(orgM);
    org_n_ = static_cast<uint32_t>(orgN);
    org_ka_ = static_cast<uint32_t>(orgKa);
    org_kb_ = static_cast<uint32_t>(orgKb);
    org_kc_ = static_cast<uint32_t>(orgKc != 0 ? orgKc : orgN);
  }
  void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
  void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
    if (tailM != -1) m_ = static_cast<uint32_t>(tailM);
    if (tailN != -1) n_ = static_cast<uint32_t>(tailN);
    if (tailK != -1) k_ = static_cast<uint32_t>(tailK);
    next_ = 0;
  }

  void SetTensorA(const GlobalTensor<A>& gm, bool isTransposeA = false) {
    SetA(gm.Address(), isTransposeA, org_m_, org_ka_);
  }
  void SetTensorB(const GlobalTensor<B>& gm, bool isTransposeB = false) {
    SetB(gm.Address(), isTransposeB, org_kb_, org_n_);
  }
  // Of UB: all that one core needs, row after row.
  void SetTensorA(const LocalTensor<A>& leftMatrix, bool isTransposeA = false, Place place = Place::here()) {
    SetA(FromUb<AType>(leftMatrix, 0, isTransposeA ? k_ : m_, isTransposeA ? m_ : k_, place), isTransposeA, m_, k_);
  }
  void SetTensorB(const LocalTensor<B>& rightMatrix, bool isTransposeB = false, Place place = Place::here()) {
    SetB(FromUb<BType>(rightMatrix, kArea, isTransposeB ? n_ : k_, isTransposeB ? k_ : n_, place), isTransposeB, k_,
         n_);
  }
  void SetBias(const GlobalTensor<Bias>& biasGlobal) { bias_ = biasGlobal.Address(); }
  void SetBias(const LocalTensor<Bias>& inputBias, Place place = Place::here()) {
    bias_ = FromUb<MatmulType<TPosition::VECOUT, CubeFormat::ND, Bias>>(inputBias, kArea * 4, 1, n_, place);
  }
  void DisableBias() { bias_ = 0; }
  void ClearBias() { bias_ = 0; }
  void SetQuantScalar(const uint64_t quantScalar) {
    quant_scalar_ = quantScalar;
    quant_table_ = 0;
  }
  void SetQuantVector(const GlobalTensor<uint64_t>& quantTensor) { quant_table_ = quantTensor.Address(); }
  void SetHF32(bool enableHF32 = false, int32_t transMode = 0, Place place = Place::here()) {
    static_assert(direct, "SetHF32: of products that an AIC computes itself");
    SetHF32Mode(enableHF32, place);
    SetHF32TransMode(transMode != 0, place);
  }
  // What only arranges memory or work that is arranged here by itself.
  void SetSubBlockIdx(uint8_t) {}
  uint8_t GetSubBlockIdx() const { return static_cast<uint8_t>(AscendC::GetSubBlockIdx()); }
  void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
  template <typename T>
  void SetWorkspace(GlobalTensor<T>&) {}
  template <typename T>
  void SetWorkspace(__gm__ const T*, int) {}
  void SetUserDefInfo(const uint64_t) {}
  void SetSelfDefineData(const uint64_t) {}
  MatrixOffset GetOffsetC() const { return {}; }

  // The next block, false after the last one. With enPartialSum it is added to the one before.
  template <bool sync = true>
  bool Iterate(bool enPartialSum = false, Place place = Place::here()) {
    const vinci_detail::Product p = Now(place);
    if (enPartialSum && pending_) {
      Compute(false, place);
    } else if (next_ >= p.Blocks()) {
      next_ = 0;
      pending_ = false;
      return false;
    }
    request_ = {object_, p,    {}, tiling_, enPartialSum && pending_ ? block_ : next_, false, enPartialSum && pending_,
                false,   false};
    if (!(enPartialSum && pending_)) block_ = next_++;
    pending_ = true;
    return true;
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<C>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  Place place = Place::here()) {
    request_.target = {gm.Address(), CType::format == CubeFormat::NZ ? org_m_ : org_kc_, enAtomic};
    request_.sequential = enSequentialWrite;
    Compute(true, place);
    if (sync) Finish(place);
  }
  template <bool sync = true>
  void GetTensorC(const LocalTensor<C>& co2Local, uint8_t enAtomic = 0, bool = false, Place place = Place::here()) {
    static_assert(!direct, "GetTensorC: an AIC has no UB");
    if (enAtomic != 0) ::vinci::ascendc::unsupported("GetTensorC into UB with an atomic operation", place);
    const vinci_detail::Product& p = request_.product;
    const uint32_t rows = p.RowsOf(request_.block), columns = p.ColumnsOf(request_.block);
    request_.target = {Results(), CType::format == CubeFormat::NZ ? rows : UbPitch(columns), 0};
    request_.sequential = true;
    Compute(true, place);
    Finish(place);
    ToUb(co2Local, rows, columns, place);
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<C>& gm, const LocalTensor<C>& co2Local, uint8_t enAtomic = 0,
                  bool enSequentialWrite = false, Place place = Place::here()) {
    const vinci_detail::MatmulRequest again = request_;
    GetTensorC<true>(gm, enAtomic, enSequentialWrite, place);
    request_ = again;
    GetTensorC<true>(co2Local, 0, true, place);
  }
  void AsyncGetTensorC(const LocalTensor<C>& c, Place place = Place::here()) { GetTensorC<true>(c, 0, true, place); }
  void WaitGetTensorC(Place place = Place::here()) { Finish(place); }

  template <bool sync = true>
  void IterateAll(const GlobalTensor<C>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, bool = false,
                  bool = false, Place place = Place::here()) {
    const vinci_detail::Target to{gm.Address(), CType::format == CubeFormat::NZ ? org_m_ : org_kc_, enAtomic};
    Send({object_, Now(place), to, tiling_, 0, true, false, true, enSequentialWrite}, place);
    if (sync) Finish(place);
  }
  template <bool sync = true>
  void IterateAll(const LocalTensor<C>& ubCmatrix, uint8_t enAtomic = 0, Place place = Place::here()) {
    static_assert(!direct, "IterateAll: an AIC has no UB");
    if (enAtomic != 0) ::vinci::ascendc::unsupported("IterateAll into UB with an atomic operation", place);
    const vinci_detail::Target to{Results(), CType::format == CubeFormat::NZ ? m_ : UbPitch(n_), 0};
    Send({object_, Now(place), to, tiling_, 0, true, false, true, false}, place);
    Finish(place);
    ToUb(ubCmatrix, m_, n_, place);
  }
  void WaitIterateAll(Place place = Place::here()) { Finish(place); }
  void End(Place place = Place::here()) { Finish(place); }

  // What an AIC does for a request.
  void Serve(const vinci_detail::MatmulRequest& r, Place place) {
    if (!initialised_) {
      engine_.Init(pipe_, r.tiling, place);
      largest_ = r.tiling;
      initialised_ = true;
    }
    if (r.tiling.baseM > largest_.baseM || r.tiling.baseN > largest_.baseN ||
        r.tiling.baseK * static_cast<int32_t>(Engine::Steps(r.tiling)) >
            largest_.baseK * static_cast<int32_t>(Engine::Steps(largest_)))
      ::vinci::ascendc::unsupported("a tiling of Matmul that needs larger buffers than the first one", place);
    for (uint32_t i = r.all ? 0 : r.block; i < (r.all ? r.product.Blocks() : r.block + 1); ++i) {
      engine_.Compute(r.product, i, r.add, place);
      if (r.store) engine_.Store(r.product, i, TargetOf(r, i), place);
    }
  }

 private:
  using Engine = vinci_detail::MatmulEngine<AType, BType, CType, BiasType>;
  // In the part of the workspace for tensors of UB: A, B, C (twice as large) and the bias.
  static constexpr uint64_t kArea = vinci_detail::kMatmulTensors / 5;
  static constexpr uint32_t kNz = sizeof(C) == 1 ? 32 : 16;  // columns of a block column

  // Of all matrices of the program: those of two AIVs that one AIC serves, too.
  static uint32_t NextVersion() {
    static uint32_t version = 0;
    return ++version;
  }
  void SetA(uint64_t address, bool transposed, uint32_t rows, uint32_t columns) {
    a_ = {address, NextVersion(), transposed ? columns : rows, transposed ? rows : columns, transposed};
    next_ = 0;
  }
  void SetB(uint64_t address, bool transposed, uint32_t rows, uint32_t columns) {
    b_ = {address, NextVersion(), transposed ? columns : rows, transposed ? rows : columns, transposed};
    next_ = 0;
  }
  vinci_detail::Product Now(Place place) const {
    if (tiling_.baseM <= 0 || tiling_.baseN <= 0 || tiling_.baseK <= 0)
      ::vinci::ascendc::wrong("Matmul: there is no tiling; REGIST_MATMUL_OBJ or Init set it", place);
    vinci_detail::Product p;
    p.a = a_;
    p.b = b_;
    p.bias = bias_;
    p.m = m_;
    p.n = n_;
    p.k = k_;
    p.base_m = static_cast<uint32_t>(tiling_.baseM);
    p.base_n = static_cast<uint32_t>(tiling_.baseN);
    p.base_k = static_cast<uint32_t>(tiling_.baseK);
    p.chunk_k = p.base_k * Engine::Steps(tiling_);
    p.n_first = config.iterateOrder == IterateOrder::UNDEF ? tiling_.iterateOrder == 1
                                                           : config.iterateOrder == IterateOrder::ORDER_N;
    p.quant_scalar = quant_scalar_;
    p.quant_table = quant_table_;
    p.relu = config.enableRelu;
    return p;
  }
  static vinci_detail::Target TargetOf(const vinci_detail::MatmulRequest& r, uint32_t i) {
    vinci_detail::Target to = r.target;
    const vinci_detail::Product& p = r.product;
    uint64_t skipped = 0;
    if (r.sequential) {
      skipped = r.all ? uint64_t{i} * p.base_m * p.base_n : 0;
      if (r.all) to.pitch = CType::format == CubeFormat::NZ ? p.base_m : p.base_n;
      if (!r.all && to.atomic == 0 && to.pitch > p.base_n && CType::format != CubeFormat::NZ) to.pitch = p.base_n;
    } else if (CType::format == CubeFormat::NZ) {
      skipped = uint64_t{p.FirstN(i) / kNz} * vinci_detail::RoundUp(to.pitch, 16) * kNz + uint64_t{p.FirstM(i)} * kNz;
    } else {
      skipped = uint64_t{p.FirstM(i)} * to.pitch + p.FirstN(i);
    }
    to.address += skipped * sizeof(C);
    return to;
  }

  // The pending block: computed, and stored.
  void Compute(bool store, Place place) {
    if (!pending_) ::vinci::ascendc::wrong("GetTensorC: there is no result; Iterate computes one", place);
    request_.store = store;
    Send(request_, place);
    if (store) pending_ = false;
  }
  void Send(const vinci_detail::MatmulRequest& r, Place place) {
    if constexpr (direct) {
      Serve(r, place);
    } else {
      client_.Post(r, place);
    }
  }
  void Finish(Place place) {
    if constexpr (!direct) client_.Wait(place);
    static_cast<void>(place);
  }

  // UB has no way to the cube but through global memory.
  static uint64_t Results() { return vinci_detail::MatmulTensors() + kArea * 2; }
  static uint32_t UbPitch(uint32_t columns) { return vinci_detail::RoundUp(columns, 32 / sizeof(C)); }
  void ToUb(const LocalTensor<C>& ub, uint32_t rows, uint32_t columns, Place place) {
    GlobalTensor<C> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ C*>(Results()));  // NOLINT(performance-no-int-to-ptr)
    const uint32_t count = CType::format == CubeFormat::NZ
                               ? vinci_detail::RoundUp(columns, kNz) * vinci_detail::RoundUp(rows, 16)
                               : rows * UbPitch(columns);
    if (count * sizeof(C) > 2 * kArea) ::vinci::ascendc::unsupported("a result in UB with more than 128 KiB", place);
    TPipe::Order(HardEvent::V_MTE2, place);
    DataCopy(ub, gm, count, place);
    TPipe::Order(HardEvent::MTE2_V, place);
  }
  template <class Type, typename T>
  static uint64_t FromUb(const LocalTensor<T>& ub, uint64_t area, uint32_t rows, uint32_t columns, Place place) {
    static_assert(!direct, "Matmul: an AIC has no UB");
    GlobalTensor<T> gm;
    const uint64_t address = vinci_detail::MatmulTensors() + area;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address));  // NOLINT(performance-no-int-to-ptr)
    const uint32_t c0 = 32 / sizeof(T);
    const uint32_t count = Type::format == CubeFormat::NZ
                               ? vinci_detail::RoundUp(rows, 16) * vinci_detail::RoundUp(columns, c0)
                               : rows * columns;
    if (count * sizeof(T) > kArea) ::vinci::ascendc::unsupported("a matrix of UB with more than 64 KiB", place);
    TPipe::Order(HardEvent::V_MTE3, place);
    DataCopyPad(gm, ub, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0}, place);
    return address;
  }

  TPipe* pipe_ = nullptr;
  TCubeTiling tiling_, largest_;
  uint32_t object_ = 0;
  uint32_t org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0, org_kc_ = 0, m_ = 0, n_ = 0, k_ = 0;
  vinci_detail::StoredMatrix a_, b_;
  uint64_t bias_ = 0, quant_scalar_ = 0, quant_table_ = 0;
  uint32_t next_ = 0, block_ = 0;
  bool pending_ = false, initialised_ = false;
  vinci_detail::MatmulRequest request_;
  vinci_detail::MatmulClient client_;
  Engine engine_;
};

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>>
using MatmulImpl = MatmulObject<true, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB>;
#ifdef ASCENDC_CUBE_ONLY
inline constexpr bool kCubeOnly = true;
#else
inline constexpr bool kCubeOnly = false;
#endif
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<>>
using Matmul = MatmulObject<kCubeOnly, A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB>;

namespace vinci_detail {

// Objects, each with a pointer to its tiling behind it or without.
inline void InitMatmul(uint32_t, TPipe*, Place) {}
template <class Object, class... Rest>
void InitMatmul(uint32_t index, TPipe* pipe, Place place, Object& object, Rest&&... rest);
template <class Object>
void InitTiling(uint32_t, TPipe*, Place, Object&) {}
template <class Object, class Next, class... Rest>
void InitTiling(uint32_t index, TPipe* pipe, Place place, Object& object, Next&& next, Rest&&... rest) {
  if constexpr (std::is_convertible_v<Next, const TCubeTiling*>) {
    object.Init(next, pipe, place);
    InitMatmul(index + 1, pipe, place, rest...);
  } else {
    InitMatmul(index + 1, pipe, place, next, rest...);
  }
}
template <class Object, class... Rest>
void InitMatmul(uint32_t index, TPipe* pipe, Place place, Object& object, Rest&&... rest) {
  object.Register(index, pipe, place);
  InitTiling(index, pipe, place, object, rest...);
}

inline void ServeObject(const MatmulRequest&, uint32_t, TPipe*, Place) {}
template <class First, class... Rest>
void ServeObject(const MatmulRequest& r, uint32_t index, TPipe* pipe, Place place, First& first, Rest&&... rest) {
  if constexpr (std::is_convertible_v<First&, const TCubeTiling*>) {
    ServeObject(r, index, pipe, place, rest...);
  } else {
    if (r.object == index) {
      first.Init(nullptr, pipe, place);
      first.Serve(r, place);
    } else {
      ServeObject(r, index + 1, pipe, place, rest...);
    }
  }
}

// True where the kernel goes on behind it: not on an AIC that has served the AIVs of its block.
template <class... Objects>
bool RegisterMatmul(bool direct, TPipe* pipe, Place place, Objects&&... objects) {
  if (!direct && IsAic()) {
    ServeMatmul([&](const MatmulRequest& r) { ServeObject(r, 0, pipe, place, objects...); }, place);
    return false;
  }
  if (direct && !IsAic()) return true;
  InitMatmul(0, pipe, place, objects...);
  return true;
}

}  // namespace vinci_detail
}  // namespace AscendC

namespace matmul {
using namespace AscendC;  // NOLINT(google-build-using-namespace): the older name of the namespace
}  // namespace matmul

#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                                    \
  if (static_cast<void>(workspace);                                                                                 \
      !::AscendC::vinci_detail::RegisterMatmul(::AscendC::kCubeOnly, tpipe, ::AscendC::Place::here(), __VA_ARGS__)) \
  return
