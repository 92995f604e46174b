// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/support/program_gen.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "isa/table/table.h"
#include "isa/text/text.h"

namespace vinci::test {
namespace {

using isa::Arch;
using isa::BufId;
using isa::CoreKind;
using isa::PipeId;

constexpr u64 kGrain = 32;  // bytes; what two instructions share is looked at in such blocks
constexpr usize kPipes = isa::kPipeCount;

// Stand-ins for the addresses that a program gets as arguments, far from each other and from everything local.
constexpr u64 kIn = u64{1} << 32;
constexpr u64 kOut = u64{2} << 32;
constexpr u64 kOutRandom = 48 * 1024;  // of kOutBytes; the rest is for what is left at the end

// For img2col: 8 columns, 6 rows, and one of padding on each side.
constexpr u64 kFeatureMap = 0x0101'0101'0006'0008;

// Bytes of a buffer that programs use: small, so that instructions meet.
u64 used_bytes(BufId b) {
  switch (b) {
    case BufId::GM: return kOutBytes;
    case BufId::L1:
    case BufId::L0C:
    case BufId::UB: return 16 * 1024;
    case BufId::L0A:
    case BufId::L0B: return 8 * 1024;
    case BufId::BT:
    case BufId::FB: return 1024;
    case BufId::IDX: return used_bytes(BufId::L0B) / 4;
  }
  return 0;
}

// Blocks of memory that one execution of an instruction touches.
struct Range {
  BufId buffer = BufId::GM;
  bool write = false;
  u64 begin = 0, end = 0;  // multiples of kGrain
};
using Ranges = std::vector<Range>;

Ranges ranges_of(const isa::Footprint& footprint) {
  Ranges out;
  for (const isa::Access& a : footprint) {
    if (a.empty()) continue;
    for (u32 k = 0; k < a.count[2]; ++k) {
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 i = 0; i < a.count[0]; ++i) {
          const u64 at = a.address + static_cast<u64>(a.stride[0] * i + a.stride[1] * j + a.stride[2] * k);
          out.push_back({a.buffer, a.write, at / kGrain * kGrain, align_up<u64>(at + a.len, kGrain)});
        }
      }
    }
  }
  return out;
}

bool conflict(const Ranges& a, const Ranges& b) {
  for (const Range& x : a) {
    for (const Range& y : b) {
      if (x.buffer == y.buffer && (x.write || y.write) && x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

// Whether a repeat writes a block that it or a later one reads, other than in place; no program may do that.
bool tangled(const isa::Footprint& footprint) {
  const auto blocks = [](const isa::Access& a, u64 repeat) {
    std::set<u64> out;
    for (u64 b = 0; b < a.repeats.blocks; ++b)
      out.insert(a.address + repeat * a.repeats.stride + b * a.repeats.block_stride);
    return out;
  };
  for (const isa::Access& dst : footprint) {
    for (const isa::Access& src : footprint) {
      if (!dst.write || src.write) continue;
      for (u64 w = 0; w < dst.repeats.count; ++w) {
        const std::set<u64> written = blocks(dst, w);
        for (u64 r = w; r < src.repeats.count; ++r) {
          const std::set<u64> read = blocks(src, r);
          if (r == w && read == written) continue;
          for (const u64 at : written)
            if (read.count(at) != 0) return true;
        }
      }
    }
  }
  return false;
}

// What is known to be finished before the next instruction of a pipe starts: for every pair of pipes, how many of the
// one the other has been ordered after.
class Order {
 public:
  u64 issued(PipeId p) const { return issued_[index(p)]; }
  void issue(PipeId p) {
    ++issued_[index(p)];
    if (p == PipeId::S) known_[0][0] = issued_[0];  // the scalar unit does one thing after the other
  }
  // Instructions of `p` that the next one of `q` comes after. What the scalar unit has seen, everything later has, but
  // not its own loads and stores: a flag or PIPE_ALL makes others come after those.
  u64 known(PipeId q, PipeId p) const {
    const bool scalar = p == PipeId::S && q != PipeId::S;
    return std::max(known_[index(q)][index(p)], scalar ? published_ : known_[0][index(p)]);
  }
  void learn_own(PipeId q) { known_[index(q)][index(q)] = issued(q); }
  void learn_from(PipeId q, PipeId p) {
    for (usize r = 0; r < kPipes; ++r)
      known_[index(q)][r] = std::max(known_[index(q)][r], known(p, static_cast<PipeId>(r)));
    known_[index(q)][index(p)] = issued(p);
  }
  void learn_all() {
    known_[0] = issued_;
    published_ = issued_[0];
  }

 private:
  std::array<u64, kPipes> issued_{};
  std::array<std::array<u64, kPipes>, kPipes> known_{};
  u64 published_ = 0;  // scalar instructions before the latest PIPE_ALL
};

// The address that an operand names: where it is in the first round of a loop, and how far it moves in each.
struct Address {
  u64 base = 0;  // 0, kIn or kOut
  u64 offset = 0;
  u64 step = 0;
};

// An instruction before it is written down: a value for each operand, or an address.
struct Choice {
  const isa::Row* row = nullptr;
  u8 type = 0;
  std::map<std::string_view, u64> values;
  std::map<std::string_view, Address> addresses;
};

class Generator {
 public:
  Generator(const isa::CoreSpec& core, std::mt19937_64& random) : core_(core), random_(random) {
    const auto has = [&](BufId b) { return core.sizes[index(b)] != 0; };
    for (const isa::Row& row : isa::table()) {
      if (!contains(row.archs, core.arch) || row.footprint == nullptr) continue;
      isa::ArgsStorage args;
      const PipeId pipe = row.pipe != nullptr ? row.pipe(args, core.arch) : PipeId::S;
      if ((pipes_of(core.kind) & bit(pipe)) == 0) continue;
      if (computes_addresses(row)) continue;
      const bool local = row.name.find("ubuf") == std::string_view::npos || has(BufId::UB);
      const bool cube = row.name.find("cbuf") == std::string_view::npos || has(BufId::L1);
      if (!local || !cube) continue;
      auto& list = row.pipe == nullptr ? scalar_ : pipe == PipeId::V ? vector_ : other_;
      list.push_back(&row);
    }
    event_waits_.resize(kPipes * kPipes * core.flags_per_pair);
  }

  RandomProgram run(usize length) {
    line("ld_arg X0, 0");
    line("ld_arg X1, 1");
    line("get_block_idx X2");
    line(fmt::format("mul X2, X2, {}", kOutBytes));
    line("add X1, X1, X2");
    fill();
    set_va_registers();
    for (usize i = 0; i < length; ++i) {
      if (chance(12)) {
        loop();
      } else {
        random_step();
      }
    }
    drain();
    line("end");
    out_.program = isa::assemble(out_.text, "random.s", core_.arch);
    return std::move(out_);
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  u64 between(u64 low, u64 high) { return low + below(high - low + 1); }
  bool chance(u64 one_in) { return below(one_in) == 0; }

  void line(std::string_view text) { out_.text += fmt::format("  {}\n", text); }

  // -------------------------------------------------------------------------------------------------------------------
  // Order

  void barrier_all() {
    line("pipe_barrier PIPE_ALL");
    ++out_.barriers;
    order_.issue(PipeId::S);
    order_.learn_all();
    records_.clear();
  }

  std::optional<u64>& event_wait(PipeId src, PipeId dst, u64 event) {
    return event_waits_[(index(src) * kPipes + index(dst)) * core_.flags_per_pair + event];
  }

  // Makes `dst` wait for everything that `src` was given; false when every flag of the pair may still be up.
  bool flag(PipeId src, PipeId dst) {
    const u64 first = below(core_.flags_per_pair);
    for (u64 i = 0; i < core_.flags_per_pair; ++i) {
      const u64 event = (first + i) % core_.flags_per_pair;
      auto& last_wait = event_wait(src, dst, event);
      if (last_wait && order_.known(src, dst) <= *last_wait) continue;
      line(fmt::format("set_flag PIPE_{}, PIPE_{}, EVENT_ID{}", name(src), name(dst), event));
      order_.issue(src);
      order_.learn_from(dst, src);
      line(fmt::format("wait_flag PIPE_{}, PIPE_{}, EVENT_ID{}", name(src), name(dst), event));
      last_wait = order_.issued(dst);
      order_.issue(dst);
      ++out_.flags;
      return true;
    }
    return false;
  }

  // Before an instruction of `pipe` that touches `rounds` (one entry for each round of the loop).
  void synchronise(PipeId pipe, const std::vector<Ranges>& rounds) {
    for (auto it = records_.rbegin(); it != records_.rend(); ++it) {  // the latest orders the earlier ones too
      if (order_.known(pipe, it->pipe) > it->position) continue;
      bool meets = false;
      for (usize r = 0; r < rounds.size() && !meets; ++r)
        meets = conflict(rounds[r], it->rounds[r]);
      if (!meets) continue;
      if (it->pipe == pipe) {
        line(fmt::format("pipe_barrier PIPE_{}", name(pipe)));
        order_.issue(pipe);
        order_.learn_own(pipe);
        ++out_.barriers;
      } else if (!flag(it->pipe, pipe)) {
        barrier_all();
        return;
      }
    }
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Instructions

  isa::ArgsStorage args_of(const Choice& c, u64 round) const {
    isa::ArgsStorage args;
    if (c.row->set_type != nullptr) c.row->set_type(args, c.type);
    for (const isa::FieldInfo& f : c.row->fields) {
      if (const auto a = c.addresses.find(f.name); a != c.addresses.end()) {
        f.set(args, a->second.base + a->second.offset + a->second.step * round);
      } else if (const auto v = c.values.find(f.name); v != c.values.end()) {
        f.set(args, v->second);
      }
    }
    return args;
  }

  // Writes an instruction down, with the synchronisation that it needs.
  void emit(const Choice& c) {
    std::vector<Ranges> rounds;
    PipeId pipe = PipeId::S;
    for (u64 r = 0; r < rounds_; ++r) {
      const isa::ArgsStorage args = args_of(c, r);
      if (c.row->pipe != nullptr) pipe = c.row->pipe(args, core_.arch);
      const isa::Footprint footprint = c.row->footprint(args, spr_, core_.arch);
      rounds.push_back(ranges_of(footprint));
      for (const isa::Access& a : footprint) {
        if (a.buffer == BufId::GM) (a.write ? out_.gm_write_bytes : out_.gm_read_bytes) += a.bytes();
      }
    }
    synchronise(pipe, rounds);

    std::string operands;
    u64 scratch = 20;
    for (const isa::FieldInfo& f : c.row->fields) {
      std::string operand;
      if (f.kind == isa::OperandKind::reg_dst) {
        operand = "X25";  // never read: only a run with data knows it
      } else if (const auto a = c.addresses.find(f.name); a != c.addresses.end()) {
        operand = address_text(a->second, scratch);
      } else {
        operand = fmt::format("{}", c.values.count(f.name) != 0 ? c.values.at(f.name) : f.fallback);
      }
      operands += (operands.empty() ? "" : ", ") + operand;
    }
    const std::string type = c.row->types.empty() ? "" : fmt::format(".{}", c.row->types[c.type].name);
    line(fmt::format("{}{} {}", c.row->name, type, operands));
    records_.push_back({pipe, order_.issued(pipe), std::move(rounds)});
    order_.issue(pipe);
  }

  std::string address_text(const Address& a, u64& scratch) {
    if (a.base == 0 && a.step == 0) return fmt::format("{:#x}", a.offset);
    const u64 reg = scratch++;
    if (a.step != 0) {
      line(fmt::format("mul X{}, X10, {}", reg, a.step));
      line(fmt::format("add X{0}, X{0}, {1:#x}", reg, a.offset));
    } else {
      line(fmt::format("mov X{}, {:#x}", reg, a.offset));
    }
    if (a.base != 0) line(fmt::format("add X{0}, X{0}, X{1}", reg, a.base == kIn ? 0 : 1));
    return fmt::format("X{}", reg);
  }

  u64 crmode_of(const isa::Row& row, std::string_view type) {
    if (row.cost == "move.ub_to_l0c"_cost) return type == "f32" ? 4 * below(2) : 0;
    if (type == "f32") return std::array<u64, 4>{0, 5, 1, 2}[below(4)];
    if (type == "f16") return std::array<u64, 4>{0, 5, 4, 6}[below(4)];
    return std::array<u64, 10>{0, 5, 3, 7, 8, 9, 10, 11, 12, 13}[below(10)];
  }

  // Whether addresses or positions come from data, which is random here.
  static bool computes_addresses(const isa::Row& row) {
    constexpr std::array<std::string_view, 5> kRows{"vgather", "vgatherb", "vscatter", "vbi", "mad_sp"};
    return std::ranges::find(kRows, row.name) != kRows.end();
  }

  // A value for an operand that is no address.
  u64 value_of(const isa::Row& row, u8 type, std::string_view field) {
    const bool vector = isa::is_vector(row.cost);
    const bool narrow = !row.types.empty() &&
                        (row.types[type].name.find("16") != std::string_view::npos || row.types[type].name == "fmix");
    const bool joint_l0c = row.cost == "move.l0c_to_ub"_cost || row.cost == "move.ub_to_l0c"_cost;
    const bool fixpipe = row.cost == "move.l0c_to_gm"_cost || row.cost == "move.l0c_to_l1"_cost;
    if (row.name.starts_with("scatter_")) {
      if (field.starts_with("dst") || field.starts_with("src")) return field.size() <= 4 ? 2 * below(4) : below(4);
      if (field == "storeHighHalf") return below(2);
      if (field == "mode") return 0;
    } else if (row.cost >= "vector.transpose"_cost && row.cost <= "vector.sort"_cost) {
      if (const auto v = layout_value(row, field)) return *v;
    }
    if (field == "repeat") return vector ? below(5) : between(1, 8);
    if (field == "dstBlkStride") return between(1, 2);
    if (field.ends_with("BlkStride")) return below(3);
    if (field == "dstRepStride" && row.cost == "vector.reduce"_cost) return between(1, 9);
    if (field.ends_with("RepStride")) return below(10);
    if (field == "mode" || field == "order") return core_.arch == Arch::c220 ? below(field == "mode" ? 2 : 4) : 0;
    if (field == "h") return row.name.find("vdeq") != std::string_view::npos ? below(2) : 0;
    if (field == "distance") return below(narrow ? 17 : 33);
    if (field == "scalar") return random_() & (narrow ? 0xffff : 0xffff'ffff);
    if (field == "value") return row.pipe != nullptr ? random_() & 0xffff : random_() >> below(64);
    if (field == "nBurst") return between(1, 3);
    if (field == "lenBurst" && row.name.find("_align_") != std::string_view::npos) return 4 * between(1, 60);
    if (field == "lenBurst") return joint_l0c ? between(1, 3) : between(1, chance(3) ? 64 : 8);
    if (field == "srcGap" || field == "dstGap") {
      if (row.cost == "move.l1_to_l0a"_cost || row.cost == "move.l1_to_l0b"_cost) {
        return contains(isa::archs(Arch::m100, Arch::c100), core_.arch) ? 0 : below(2);
      }
      return row.name.find("_align_") != std::string_view::npos ? 4 * below(4) : below(4);
    }
    if (field == "leftPad" || field == "rightPad") return chance(2) ? 0 : below(9);
    if (field == "blkNum") return between(1, 3);
    if (field == "convControl" || field == "repeatMode") return below(2);
    if (field == "dstFracStride" || field == "indexID" || field == "c1Index") return below(3);
    if (field == "leftTopW" || field == "leftTopH") return below(4);
    if (field == "strideW" || field == "strideH" || field == "dilationW" || field == "dilationH") return between(1, 2);
    if (field == "filterW" || field == "filterH" || field == "Wk" || field == "Hk") return between(1, 3);
    if (field == "jumpStride") return chance(2) ? 1 : between(1, 3);
    if (field == "repeatTime") return between(1, 6);
    if (field == "sizeChannel") return 64;
    if (field == "stepK") return 32 * between(1, 3);
    if (field == "stepM") return between(1, 40);
    if (field == "posK") return 32 * below(2);
    if (field == "posM") return below(20);
    if (field == "ndNum") return between(1, 2);
    if (field == "nValue") return between(1, 16);
    if (field == "dValue") return between(1, 40);
    if (field == "srcNdMatrixStride") return between(0, 900);
    if (field == "srcDValue") return between(40, 60);
    if (field == "dstNzC0Stride") return between(16, 20);
    if (field == "dstNzNStride") return 1;
    if (field == "dstNzMatrixStride") return 32 * between(0, 64);
    if (field == "baseIdx" || field == "srcStride") {
      return fixpipe ? between(16, 40) : below(3);
    }
    if (field == "dstStride") return fixpipe ? between(30, 200) : below(3);
    if (field == "QuantPRE") return std::array<u64, 11>{0, 1, 8, 9, 10, 11, 12, 13, 16, 23, 24}[below(11)];
    if (field == "NZ2ND_EN") return row.cost == "move.l0c_to_gm"_cost ? below(2) : 0;
    if (field == "transpose" || field == "init" || field == "ReLUPRE") {
      return below(2);
    }
    if (field == "m" || field == "k" || field == "n" || field == "NSize" || field == "MSize") return between(1, 48);
    if (field == "kDirectionAlign" || field == "cmatrixSource") return core_.kind == CoreKind::cube ? below(2) : 0;
    if (field == "crmode") return crmode_of(row, row.types[type].name);
    if (field == "sid") return joint_l0c ? below(3) : 0;
    return 0;
  }

  // Operands of transposes, compactions, sorts and detection that have rules of their own.
  std::optional<u64> layout_value(const isa::Row& row, std::string_view field) {
    if (field == "validBit") return 15;
    if (field.starts_with("len")) return 8;
    if (row.name.starts_with("vmrgsort4") && field == "repeat") return below(2);
    if (field == "patternMode" || field == "mode") return row.name == "v4dtrans" ? below(2) : below(4);
    if (field == "imageSize") return 16 * below(4);
    if (field == "nChannel") return below(5);
    if (field == "dstBlkStride") return 1;
    if (field == "dstRepStride") return 8;
    if (field == "filterW" || field == "filterH") return 2;
    if (field.starts_with("stride") || field.starts_with("dilation")) return 1;
    if (field == "repeatMode" || field == "ifExhaustedSuspension") return below(2);
    return std::nullopt;
  }

  static bool is_address(const isa::Row& row, std::string_view field) {
    if (row.name.starts_with("scatter_")) return false;  // numbers of VA registers
    return field == "src2" || field == "src3" || field == "dst" || field == "src" || field == "src0" ||
           field == "src1" || field == "a" || field == "b" || field == "c" || field == "bias" || field == "address";
  }

  // Random operands; nothing when they do not fit the memories.
  std::optional<Choice> choose(const isa::Row& row) {
    Choice c{.row = &row, .type = 0, .values = {}, .addresses = {}};
    if (!row.types.empty()) {
      do {
        c.type = static_cast<u8>(below(row.types.size()));
      } while (!contains(row.types[c.type].archs, core_.arch));
    }
    for (const isa::FieldInfo& f : row.fields) {
      if (!is_address(row, f.name) && f.kind != isa::OperandKind::reg_dst) {
        c.values[f.name] = value_of(row, c.type, f.name) & (f.width >= 64 ? ~u64{0} : (u64{1} << f.width) - 1);
      }
    }
    isa::Footprint at_zero;
    try {
      at_zero = row.footprint(args_of(c, 0), spr_, core_.arch);
    } catch (const Error&) {
      return std::nullopt;  // operands that do not go together
    }
    for (const isa::Access& a : at_zero) {
      if (a.buffer != BufId::GM && core_.sizes[index(a.buffer)] == 0) return std::nullopt;
    }
    for (const isa::FieldInfo& f : row.fields) {
      if (!is_address(row, f.name)) continue;
      Address address;
      u64 end = 0, align = 1, space = 0;
      for (const isa::Access& a : at_zero) {
        if (a.operand != f.name || a.empty()) continue;
        for (const Range& r : ranges_of({a}))
          end = std::max(end, r.end);
        align = std::max<u64>(align, a.align);
        space = used_bytes(a.buffer);
        if (a.buffer == BufId::GM) {
          address.base = a.write || chance(4) ? kOut : kIn;
          if (address.base == kOut) space = kOutRandom;
        }
      }
      if (end != 0) {
        if (rounds_ > 1 && chance(2)) address.step = align_up<u64>(32 * below(32), align);
        const u64 needed = end + address.step * (rounds_ - 1);
        if (needed > space) return std::nullopt;
        address.offset = below((space - needed) / align + 1) * align;
        if (align == 1 && !chance(8)) address.offset = address.offset / kGrain * kGrain;
      }
      c.addresses[f.name] = address;
    }
    for (u64 r = 0; r < rounds_; ++r) {
      if (tangled(row.footprint(args_of(c, r), spr_, core_.arch))) return std::nullopt;
    }
    return c;
  }

  void random_work(const std::vector<const isa::Row*>& rows) {
    if (rows.empty()) return;
    for (int tries = 0; tries < 20; ++tries) {
      if (const auto c = choose(*rows[below(rows.size())])) {
        emit(*c);
        return;
      }
    }
  }

  void set_mask(u64 mask1, u64 mask0) {
    spr_.vector_mask = {mask0, mask1};
    line(fmt::format("set_vector_mask {:#x}, {:#x}", mask1, mask0));
  }

  // Writes to global memory become atomic, or plain again.
  void set_atomic(bool on) {
    line(on ? "set_atomic_add" : "set_atomic_none");
    if (on) line("set_atomic_f32");
    spr_.ctrl = on ? static_cast<u64>(isa::AtomicType::f32) << 6 : 0;
  }

  void random_step() {
    const u64 kind = below(20);
    if (kind < 8) {
      random_work(vector_.empty() ? other_ : vector_);
    } else if (kind < 16) {
      random_work(other_);
    } else if (kind < 17) {
      random_work(scalar_);
    } else if (kind < 18 && !vector_.empty()) {
      if (chance(2)) {
        set_mask(~u64{0}, ~u64{0});
      } else {
        set_mask(random_() >> below(64), random_() << below(64));
      }
    } else if (chance(6)) {
      barrier_all();
    } else if (chance(3)) {
      set_atomic(chance(2));
    } else {
      line(fmt::format("add X11, X11, {}", below(100)));
    }
  }

  // A loop whose rounds are separated by barriers; inside, addresses may move from round to round.
  void loop() {
    barrier_all();
    rounds_ = between(1, 4);
    const std::string label = fmt::format("loop{}", out_.loops++);
    line("mov X10, 0");
    out_.text += label + ":\n";
    if (!vector_.empty()) set_mask(~u64{0}, ~u64{0});
    set_atomic(false);
    for (u64 n = between(1, 6); n > 0; --n)
      random_step();
    barrier_all();
    line("add X10, X10, 1");
    line(fmt::format("blt X10, {}, {}", rounds_, label));
    rounds_ = 1;
  }

  void fixed(std::string_view mnemonic, std::map<std::string_view, u64> values,
             std::map<std::string_view, Address> addresses) {
    emit({.row = isa::row_of(mnemonic), .type = 0, .values = std::move(values), .addresses = std::move(addresses)});
  }

  // Every block of the local buffers that is used gets a value, so that nothing depends on what ran before.
  void fill() {
    const auto in = [](u64 offset) { return Address{.base = kIn, .offset = offset}; };
    if (core_.sizes[index(BufId::UB)] != 0) {
      fixed("copy_gm_to_ubuf", {{"nBurst", 1}, {"lenBurst", used_bytes(BufId::UB) / 32}},
            {{"dst", {}}, {"src", in(0)}});
    }
    if (core_.sizes[index(BufId::L1)] == 0) return;
    spr_.parameters.write()[isa::SprId::fmatrix] = kFeatureMap;
    line(fmt::format("set_fmatrix {:#x}", kFeatureMap));
    fixed("copy_gm_to_cbuf", {{"nBurst", 1}, {"lenBurst", used_bytes(BufId::L1) / 32}},
          {{"dst", {}}, {"src", in(16 * 1024)}});
    for (const std::string_view load : {"load_cbuf_to_ca", "load_cbuf_to_cb"})
      fixed(load, {{"repeat", 16}, {"srcStride", 1}}, {{"dst", {}}, {"src", {}}});
    if (core_.sizes[index(BufId::BT)] != 0) {
      fixed("copy_cbuf_to_bt", {{"nBurst", 1}, {"lenBurst", used_bytes(BufId::BT) / 64}}, {{"dst", {}}, {"src", {}}});
      fixed("copy_cbuf_to_fbuf", {{"nBurst", 1}, {"lenBurst", used_bytes(BufId::FB) / 128}},
            {{"dst", {}}, {"src", {}}});
    }
    fixed("mad", {{"m", 64}, {"k", 64}, {"n", 64}, {"init", 1}}, {{"c", {}}, {"a", {}}, {"b", {}}});
  }

  // Addresses for the scatter_* instructions, low enough for a few repeats.
  void set_va_registers() {
    if (vector_.empty()) return;
    for (usize va = 0; va < isa::kVaRegisters; ++va) {
      std::string operands;
      for (u16& block : spr_.parameters.write().va[va]) {
        block = static_cast<u16>(below(used_bytes(BufId::UB) / 32 / 2));
        operands += fmt::format(", {:#x}", block * 32);
      }
      line(fmt::format("set_va_reg_sb {}{}", va, operands));
    }
  }

  // What is left in UB, or on a cube core in L0C, becomes visible in global memory.
  void drain() {
    set_atomic(false);
    const Address out{.base = kOut, .offset = kOutRandom};
    if (core_.sizes[index(BufId::UB)] != 0) {
      fixed("copy_ubuf_to_gm", {{"nBurst", 1}, {"lenBurst", used_bytes(BufId::UB) / 32}}, {{"dst", out}, {"src", {}}});
    } else {
      fixed("copy_matrix_cc_to_gm", {{"NSize", 64}, {"MSize", 64}, {"dstStride", 128}, {"srcStride", 64}},
            {{"dst", out}, {"src", {}}});
    }
  }

  struct Record {
    PipeId pipe;
    u64 position;                // on its pipe
    std::vector<Ranges> rounds;  // of the loop; one outside of loops
  };

  isa::CoreSpec core_;
  std::mt19937_64& random_;
  std::vector<const isa::Row*> vector_, other_, scalar_;
  RandomProgram out_;
  Order order_;
  std::vector<Record> records_;  // since the last pipe_barrier PIPE_ALL
  std::vector<std::optional<u64>> event_waits_;
  isa::Spr spr_;
  u64 rounds_ = 1;
};

}  // namespace

RandomProgram random_program(const isa::CoreSpec& core, usize length, std::mt19937_64& random) {
  return Generator(core, random).run(length);
}

}  // namespace vinci::test
