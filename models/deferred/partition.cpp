// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/partition.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "isa/insns/cube.h"
#include "isa/insns/load2d.h"
#include "isa/insns/nd2nz.h"
#include "isa/machine/unit_registers.h"

namespace vinci::models {
namespace {

using isa::BufId;
using isa::insn::Mad;

bool runs_on_core(const isa::Issued& inst, const isa::Footprint& footprint) {
  return isa::keeps_registers(inst) || std::ranges::any_of(footprint, &isa::Access::atomic);
}

// Whether it is certain that each byte of what it may write is written. A footprint may have padding that is not.
bool writes_all(const isa::Issued& inst) {
  switch (inst.row->opcode) {
    case Mad::opcode: {
      const Mad::Args& x = isa::args_of<Mad>(inst.args);
      return x.m % 16 == 0 && x.n % 16 == 0;
    }
    case isa::insn::LoadCbufToCa::opcode:
    case isa::insn::LoadCbufToCb::opcode:
    case isa::insn::CopyGmToCbufMultiNd2NzB16::opcode: return true;
    default: return false;
  }
}

// With rows that touch as one.
isa::Access merged(isa::Access a) {
  for (usize i = 0; i < a.count.size() && (a.count[i] == 1 || a.stride[i] == i64{a.len}); ++i)
    a.len *= std::exchange(a.count[i], 1u);
  return a;
}

constexpr u64 kMostRuns = 256;

// The runs of bytes of a merged access, as long as there are few: f(begin, end). Else one from first to last.
template <class F>
void for_each_run(const isa::Access& a, F&& f) {
  if (a.pieces() > kMostRuns) {
    const Rows all = Rows::of(a);
    return f(all.begin, all.end);
  }
  for (u32 k = 0; k < a.count[2]; ++k) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]);
        f(at, at + a.len);
      }
    }
  }
}

}  // namespace

Partition::Partition(const isa::CoreSpec& core) : core_(core) {}

u32 Partition::cut(std::span<const isa::Issued> batch) {
  parents_.resize(batch.size() + 1);
  std::iota(parents_.begin(), parents_.end(), 0u);
  for (usize b = 0; b < writers_.size(); ++b)
    writers_[b].assign(static_cast<BufId>(b) == BufId::GM ? 0 : ceil_div(core_.sizes[b], kGrain), 0);
  global_.clear();
  for (u32 i = 0; i < batch.size(); ++i) {
    const u32 node = i + 1;
    const isa::Issued& inst = batch[i];
    const isa::Footprint footprint = inst.row->footprint(inst.args, inst.spr, core_.arch);
    if (runs_on_core(inst, footprint)) unite(node, 0);
    for (const bool write : {false, true}) {
      for (const isa::Access& a : footprint) {
        if (a.empty() || a.write != write) continue;
        if (a.buffer == BufId::GM) {
          join_global(node, a);
        } else {
          join_local(node, merged(a), writes_all(inst));
        }
      }
    }
  }
  number();
  return count();
}

u32 Partition::root(u32 node) {
  while (parents_[node] != node)
    node = parents_[node] = parents_[parents_[node]];
  return node;
}

void Partition::unite(u32 a, u32 b) {
  const auto [least, other] = std::minmax({root(a), root(b)});
  parents_[other] = least;
}

void Partition::join_global(u32 node, const isa::Access& a) {
  const Rows rows = Rows::of(a);
  for (const Global& g : global_) {
    if ((a.write || g.write) && g.rows.meets(rows)) unite(node, g.node);
  }
  global_.push_back({rows, node, a.write});
}

void Partition::join_local(u32 node, const isa::Access& a, bool whole) {
  std::vector<u32>& writers = writers_[isa::index(a.buffer)];
  const auto read = [&](u64 begin, u64 end) {
    u32 last = node;
    for (u64 g = begin / kGrain; g * kGrain < end; ++g) {
      if (writers[g] != last) unite(node, last = writers[g]);
    }
  };
  // What is between runs that are not looked at one by one stays as it was.
  if (!a.write || !whole || a.pieces() > kMostRuns) {
    for_each_run(a, read);
  } else {
    for_each_run(a, [&](u64 begin, u64 end) {
      if (begin % kGrain != 0) read(begin, begin + 1);
      if (end % kGrain != 0) read(end - 1, end);
    });
  }
  if (!a.write) return;
  for_each_run(a, [&](u64 begin, u64 end) {
    for (u64 g = begin / kGrain; g * kGrain < end; ++g)
      writers[g] = node;
  });
}

void Partition::number() {
  slices_.clear();
  order_.resize(parents_.size() - 1);
  constexpr u32 kNone = ~0u;
  std::vector<u32> slice_of(parents_.size(), kNone);  // by root
  const auto slice = [&](u32 node) {
    u32& n = slice_of[root(node)];
    if (n == kNone) {
      n = count();
      slices_.push_back({.on_core = root(node) == root(0)});
    }
    return n;
  };
  for (u32 node = 1; node < parents_.size(); ++node)
    ++slices_[slice(node)].end;
  std::vector<std::vector<Left>> left(slices_.size());
  for (usize b = 0; b < writers_.size(); ++b) {
    for (u32 g = 0; g < writers_[b].size(); ++g) {
      if (writers_[b][g] == 0 || slices_[slice(writers_[b][g])].on_core) continue;
      left[slice(writers_[b][g])].push_back({static_cast<BufId>(b), g});
    }
  }
  left_.clear();
  u32 first = 0;
  for (u32 i = 0; i < count(); ++i) {
    Slice& s = slices_[i];
    s.first = first;
    first += std::exchange(s.end, first);
    s.first_left = static_cast<u32>(left_.size());
    left_.insert(left_.end(), left[i].begin(), left[i].end());
    s.end_left = static_cast<u32>(left_.size());
  }
  for (u32 node = 1; node < parents_.size(); ++node)
    order_[slices_[slice(node)].end++] = node - 1;
  kept_.resize(left_.size() * kGrain);
}

std::span<const u32> Partition::operator[](u32 slice) const {
  const Slice& s = slices_[slice];
  return std::span(order_).subspan(s.first, s.end - s.first);
}

isa::CoreMem& Partition::memory(u32 slice, isa::CoreMem& core) const {
  struct Own {
    const isa::GlobalMemory* gm;
    isa::BufSizes sizes;
    isa::CoreMem mem;
  };
  thread_local std::unique_ptr<Own> own;
  if (slices_[slice].on_core) return core;
  if (own == nullptr || own->gm != &core.gm() || own->sizes != core_.sizes) {
    own.reset();
    own.reset(new Own{&core.gm(), core_.sizes, {core_.sizes, core.gm()}});
  }
  return own->mem;
}

std::span<std::byte> Partition::grain(const isa::CoreMem& mem, const Left& l) const {
  const u64 at = l.grain * kGrain;
  return mem[l.buffer].held(at, std::min(kGrain, mem[l.buffer].size() - at));
}

void Partition::keep(u32 slice, const isa::CoreMem& from) {
  for (u32 i = slices_[slice].first_left; i < slices_[slice].end_left; ++i) {
    Left& l = left_[i];
    const u8* turned = from[l.buffer].turned(l.grain * kGrain);
    l.turned = turned != nullptr && *turned != 0;
    std::ranges::copy(grain(from, l), kept_.begin() + static_cast<std::ptrdiff_t>(i * kGrain));
  }
}

void Partition::put_back(const isa::CoreMem& core) {
  for (usize i = 0; i < left_.size(); ++i) {
    const Left& l = left_[i];
    const auto into = grain(core, l);
    if (l.buffer == BufId::L0B) core[l.buffer].fractal(l.grain * kGrain, l.turned);
    std::memcpy(into.data(), kept_.data() + i * kGrain, into.size());
  }
  clear();
}

void Partition::clear() {
  left_.clear();
  slices_.clear();
}

}  // namespace vinci::models
