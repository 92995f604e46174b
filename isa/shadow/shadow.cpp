// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/shadow.h"

#include <algorithm>
#include <cmath>

#include "isa/census/lanes.h"
#include "isa/shadow/kernels.h"
#include "isa/table/table.h"

namespace vinci::isa {
namespace {

// Calls f(address) for each piece of an access.
template <class F>
void each_piece(const Access& a, F f) {
  for (u32 k = 0; k < a.count[2]; ++k) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i)
        f(a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]));
    }
  }
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

ShadowClass classify_row(const Row& row) {
  if (is_one_of(row.name, {"copy_matrix_cc_to_ubuf", "copy_matrix_ubuf_to_cc", "copy_vector_cc_to_ubuf",
                           "copy_vector_ubuf_to_cc"}))
    return ShadowClass::computes;
  const std::string_view plain =
      row.name.starts_with("scatter_") && !row.name.starts_with("scatter_vnchwconv") ? row.name.substr(8) : row.name;
  if (is_one_of(plain,
                {"vector_dup", "vcopy", "vmov", "vector_mov", "vbrcb", "vsel", "vtranspose", "v4dtrans", "vpadding",
                 "vmergech", "vgather", "vgatherb", "vscatter", "vreduce", "vreducev2", "vconcat", "vextract"}))
    return ShadowClass::moves;
  for (const std::string_view start : {"copy_gm_to_", "copy_ubuf_to_", "copy_cbuf_to_", "load_cbuf_to_c",
                                       "load_gm_to_c", "img2col", "create_c", "scatter_vnchwconv"}) {
    if (row.name.starts_with(start) && row.name != "copy_cbuf_to_fbuf" && row.name != "copy_cbuf_to_bt")
      return ShadowClass::moves;
  }
  switch (row.cost) {
    case "vector.unary"_cost:
    case "vector.binary"_cost:
    case "vector.scalar"_cost:
    case "vector.convert"_cost: break;
    default:
      return is_one_of(row.name, {"mad", "copy_matrix_cc_to_gm", "copy_matrix_cc_to_cbuf", "vcadd", "vcgadd", "vcpadd",
                                  "vcmax", "vcmin", "vcgmax", "vcgmin"}) ||
                     row.name.starts_with("vcmp")
                 ? ShadowClass::computes
                 : ShadowClass::other;
  }
  // Dequantisation to 8 bits has loops of its own.
  const bool own = plain.find("s162b8") != std::string_view::npos || plain == "vpadding" || plain == "vrpac" ||
                   plain == "vcbd_s322s16" || plain.starts_with("vaddreluconv") || plain.starts_with("vsubreluconv") ||
                   plain.starts_with("vmulconv") || plain == "vadddeqrelu";
  return own ? ShadowClass::other : ShadowClass::computes;
}

// Bytes of a memory that an instruction reads as they are while it runs on the planes: masks and offsets.
class Overlay {
 public:
  Overlay(const CoreRefs& core, const CoreMem& mem, u64 begin, u64 bytes) : core_(core), begin_(begin) {
    for (u32 p = 0; p < kPlanes; ++p) {
      const auto plane = core.buffers[index(BufId::UB)].views[p].bytes(begin, bytes);
      kept_[p].assign(plane.begin(), plane.end());
      std::ranges::copy(mem[BufId::UB].bytes(begin, bytes), plane.begin());
    }
  }
  ~Overlay() {
    for (u32 p = 0; p < kPlanes; ++p)
      std::ranges::copy(kept_[p], core_.buffers[index(BufId::UB)].views[p].bytes(begin_, kept_[p].size()).begin());
  }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

 private:
  const CoreRefs& core_;
  u64 begin_;
  std::array<std::vector<std::byte>, kPlanes> kept_;
};

// The bytes of UB from the first to the last that an access touches.
std::pair<u64, u64> extent(const Access& a) {
  u64 first = a.address, last = a.address + a.len;
  each_piece(a, [&](u64 at) {
    first = std::min(first, at);
    last = std::max(last, at + a.len);
  });
  return {first, last - first};
}

u64 field(const Row& row, const ArgsStorage& args, std::string_view name) {
  for (const FieldInfo& f : row.fields) {
    if (f.name == name) return f.get(args);
  }
  return 0;
}
void put_field(const Row& row, ArgsStorage& args, std::string_view name, u64 value) {
  for (const FieldInfo& f : row.fields) {
    if (f.name == name) f.set(args, value);
  }
}

// Which operand says what is moved where.
bool steers(const Row& row, const Issued& inst, const Access& a) {
  if (a.write || a.buffer != BufId::UB) return false;
  if (row.name == "vsel") {
    // Mode 1 has the mask where the second source would be.
    return a.operand == "src1" && field(row, inst.args, "mode") == 1;
  }
  if (is_one_of(row.name, {"vgather", "vgatherb"})) return a.operand == "src";
  if (row.name == "vscatter") return a.operand == "dst";
  return is_one_of(row.name, {"vreduce", "vreducev2"}) && a.operand == "src1";
}

}  // namespace

void ErrorSums::add(const ErrorSums& o) {
  max_ulp = std::max(max_ulp, o.max_ulp);
  max_relative = std::max(max_relative, o.max_relative);
  squares_ulp += o.squares_ulp;
  squares_relative += o.squares_relative;
}

CoreRefs& Shadow::core(const CoreMem& mem) {
  std::unique_ptr<CoreRefs>& refs = cores_[&mem];
  if (refs == nullptr) refs = std::make_unique<CoreRefs>(mem, gm_);
  return *refs;
}

ShadowClass shadow_class(const Row& row) {
  static const std::vector<ShadowClass> classes = [] {
    std::vector<ShadowClass> out;
    for (const Row& r : table())
      out.push_back(classify_row(r));
    return out;
  }();
  return classes[static_cast<usize>(&row - table().data())];
}

ShadowSite& ShadowPoint::site() {
  if (site_ == nullptr) {
    site_ = &shadow_.tasks[task_][id_];
    ++site_->executions;
  }
  return *site_;
}

void ShadowPoint::round(LaneType type, std::span<double> reference) const {
  const WhatIf& w = *shadow_.what_if();
  if (chosen_ && w.format == ShadowFormat::f64) return;
  const LaneType to = !chosen_ || w.format == ShadowFormat::own ? type
                      : w.format == ShadowFormat::f16           ? LaneType::f16
                      : w.format == ShadowFormat::bf16          ? LaneType::bf16
                                                                : LaneType::f32;
  shadow_kernels::round_to(shadow_kernels::range_of(to), chosen_ ? w.scale : 0, reference.data(), reference.size());
}

void ShadowPoint::add_tally(const shadow_kernels::Tally& tally, u64 results) {
  ShadowSite& s = site();
  s.results += results;
  s.wrong += tally.wrong;
  s.total.add(tally.errors[0]);
  s.made.add(tally.errors[1]);
  s.come_in.add(tally.errors[2]);
}

void ShadowPoint::count(LaneType type, std::span<const double> value, std::span<const double> exact,
                        std::span<double> reference, u64 element) {
  if (rounds()) round(type, reference);
  ShadowSite& s = site();
  shadow_kernels::Tally t;
  shadow_kernels::tally(shadow_kernels::range_of(type), value.data(), exact.data(), reference.data(), value.size(), t);
  add_tally(t, value.size());
  if (t.worst_ulp <= s.worst.ulp) return;
  double most = -1;
  usize at = 0;
  const shadow_kernels::FloatRange range = shadow_kernels::range_of(type);
  for (usize i = 0; i < value.size(); ++i) {
    const double error = std::fabs(value[i] - reference[i]);
    if (!std::isfinite(error)) continue;
    const double r = std::fabs(reference[i]);
    const int exponent = std::clamp(r == 0 ? range.least : std::ilogb(r), range.least, range.most);
    const double ulp = std::ldexp(error, range.fraction - exponent);
    if (ulp > most) {
      most = ulp;
      at = i;
    }
  }
  s.worst = {.ulp = t.worst_ulp,
             .value = value[at],
             .exact = exact[at],
             .reference = reference[at],
             .element = element + at,
             .moment = moment_,
             .core = std::string(name_)};
}

void shadow_move(const Issued& inst, const ExecContext& c, Shadow& shadow) {
  const Row& row = *inst.row;
  CoreRefs& core = shadow.core(c.mem);
  const Footprint footprint = row.footprint(inst.args, c.spr, c.arch);
  const auto space = [&](BufId b) -> RefSpace& {
    return b == BufId::GM ? static_cast<RefSpace&>(shadow.global()) : core.buffers[index(b)];
  };
  RefType read = RefType::none;
  bool written = false;  // there is something where it writes
  u64 repeats = 0;
  for (const Access& a : footprint) {
    const RefSpace& s = space(a.buffer);
    if (a.write) {
      repeats += a.repeats.count;
    }
    if (s.clean() || (!a.write && steers(row, inst, a))) continue;
    if (a.write) written = true;
    each_piece(a, [&](u64 at) {
      const RefType type = s.type(at, a.len);
      if (a.write) return;
      read = joined(read, type);
    });
  }
  if (is_one_of(row.name, {"vgather", "vgatherb", "vscatter"})) {  // from anywhere
    const LocalRefs& ub = core.buffers[index(BufId::UB)];
    read = joined(read, ub.type(0, c.mem[BufId::UB].size()));
  }
  if (read == RefType::none && !written) return;
  Issued moved = inst;
  put_field(row, moved.args, "scalar", 0);
  put_field(row, moved.args, "value", 0);
  Spr spr = c.spr;
  if (spr[SprId::padding] != 0) spr.parameters.write()[SprId::padding] = 0;
  if (spr[SprId::mov_pad_val] != 0) spr.parameters.write()[SprId::mov_pad_val] = 0;
  if (spr[SprId::l0_set_value] != 0) spr.parameters.write()[SprId::l0_set_value] = 0;
  ResultRegisters results = c.results;
  std::vector<std::unique_ptr<Overlay>> overlays;
  for (const Access& a : footprint) {
    if (!steers(row, inst, a)) continue;
    const auto [begin, bytes] = extent(a);
    overlays.push_back(std::make_unique<Overlay>(core, c.mem, begin, bytes));
  }
  if (row.name == "vsel" || row.name == "scatter_vsel") {
    const u64 option = field(row, inst.args, "mode"), lanes = row.types[inst.type].name.ends_with("32") ? 64 : 128;
    if (option == 1) results.cmpmask = {};
    if (option == 2)
      overlays.push_back(
          std::make_unique<Overlay>(core, c.mem, static_cast<u32>(c.results.cmpmask[0]), repeats * lanes / 8));
  }
  for (u32 p = 0; p < kPlanes; ++p) {
    u64 status = 0;
    ResultRegisters unused = results;
    ExecContext on_plane{.mem = *core.planes[p],
                         .spr = spr,
                         .arch = c.arch,
                         .overflow = c.overflow,
                         .status = status,
                         .results = unused,
                         .numerics = c.numerics};
    row.execute(moved.args, on_plane);
  }
  overlays.clear();
  if (read == RefType::none) return;  // the blocks that had references may have some still
  if (row.name == "vscatter") core.buffers[index(BufId::UB)].set_type(0, c.mem[BufId::UB].size(), RefType::mixed);
  for (const Access& a : footprint) {
    if (a.write) each_piece(a, [&](u64 at) { space(a.buffer).set_type(at, a.len, read); });
  }
}

void shadow_write(const Footprint& footprint, const CoreMem& mem, ShadowPoint& point) {
  Shadow& shadow = point.shadow();
  CoreRefs& core = shadow.core(mem);
  const auto space = [&](BufId b) -> RefSpace& {
    return b == BufId::GM ? static_cast<RefSpace&>(shadow.global()) : core.buffers[index(b)];
  };
  bool reads = false;
  for (const Access& a : footprint) {
    if (a.write && !a.atomic) continue;
    const RefSpace& s = space(a.buffer);
    if (s.clean()) continue;
    each_piece(a, [&](u64 at) { reads |= s.type(at, a.len) != RefType::none; });
  }
  for (const Access& a : footprint) {
    if (!a.write) continue;
    RefSpace& s = space(a.buffer);
    if (!reads && s.clean()) continue;
    each_piece(a, [&](u64 at) { reads ? s.end(at, a.len) : s.clear(at, a.len); });
    if (reads) point.add_ended(a.bytes() / 4);
  }
}

void ShadowCombined::add(const Access& a) {
  each_piece(a, [&](u64 at) { pieces.push_back({at, a.len}); });
}

ShadowCombined::Values ShadowCombined::values(ShadowPoint* first, std::span<const Piece> at) const {
  Values out;
  if (!type) return out;
  const u64 size = lane_bytes(*type);
  for (const Piece& p : at) {
    std::vector<std::byte> bytes(p.bytes);
    mem->read(p.address, bytes);
    for (u64 i = 0; i + size <= p.bytes; i += size) {
      LaneBuffer one{};
      std::copy_n(&bytes[i], size, one.bytes.begin());
      out.simulated.push_back(lane_value(*type, one, 0));
    }
  }
  for (ShadowPoint* point = first; point != nullptr; point = point->next) {
    std::vector<double>& references = out.references.emplace_back(out.simulated.size());
    u64 done = 0;
    for (const Piece& p : at) {
      const u64 count = p.bytes / size;
      point->add_restarted(point->space(BufId::GM).load(*type, p.address, std::span(out.simulated).subspan(done, count),
                                                        std::span(references).subspan(done, count)));
      done += count;
    }
  }
  return out;
}

void ShadowCombined::take_before(ShadowPoint* first) {
  for (const Piece& p : pieces) {
    kept_.resize(kept_.size() + p.bytes);
    mem->read(p.address, std::span(kept_).last(p.bytes));
  }
  before_ = values(first, pieces);
}

void ShadowCombined::take_source(ShadowPoint* first) {
  source_ = values(first, pieces);
  u64 done = 0;
  for (const Piece& p : pieces) {
    mem->write(p.address, std::span<const std::byte>(kept_).subspan(done, p.bytes));
    done += p.bytes;
  }
}

void ShadowCombined::take_source_at(ShadowPoint* first, u64 address) {
  std::vector<Piece> at;
  u64 bytes = 0;
  for (const Piece& p : pieces) {
    at.push_back({address + bytes, p.bytes});
    bytes += p.bytes;
  }
  source_ = values(first, at);
}

void ShadowCombined::count(ShadowPoint* first) {
  if (!type) {
    for (ShadowPoint* point = first; point != nullptr; point = point->next) {
      for (const Piece& p : pieces)
        point->space(BufId::GM).clear(p.address, p.bytes);
    }
    return;
  }
  const std::vector<double> now = values(nullptr, pieces).simulated;
  usize shadow = 0;
  for (ShadowPoint* point = first; point != nullptr; point = point->next, ++shadow) {
    const std::vector<double>&x = before_.simulated, &y = source_.simulated;
    const std::vector<double>&rx = before_.references[shadow], &ry = source_.references[shadow];
    std::vector<double> exact(now.size()), reference(now.size());
    u64 decided = 0;
    for (usize i = 0; i < now.size(); ++i) {
      if (op == Op::add) {
        exact[i] = x[i] + y[i];
        reference[i] = rx[i] + ry[i];
        continue;
      }
      const double sign = op == Op::max ? 1 : -1;
      const double a = sign * x[i], b = sign * y[i], ra = sign * rx[i], rb = sign * ry[i];
      decided += (a > b && ra < rb) || (a < b && ra > rb) ? 1 : 0;
      exact[i] = sign * std::max(a, b);
      reference[i] = sign * (a > b ? ra : a < b ? rb : std::max(ra, rb));
    }
    point->add_decided(decided);
    for (usize i = 0; i < now.size(); i += kShadowLanes) {
      const usize count = std::min<usize>(kShadowLanes, now.size() - i);
      point->count(*type, std::span(now).subspan(i, count), std::span(exact).subspan(i, count),
                   std::span(reference).subspan(i, count), i);
    }
    u64 done = 0;
    for (const Piece& p : pieces) {
      const u64 count = p.bytes / lane_bytes(*type);
      point->space(BufId::GM).store(*type, p.address, std::span(reference).subspan(done, count));
      done += count;
    }
  }
}

}  // namespace vinci::isa
