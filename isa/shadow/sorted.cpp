// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/sorted.h"

#include <algorithm>

#include "isa/census/lanes.h"
#include "isa/insns/vsort.h"

namespace vinci::isa {
namespace {

constexpr std::string_view kSort = "vbitsort32";

LaneType type_of(const Issued& inst) {
  return inst.row->types[inst.type].name == "f16" ? LaneType::f16 : LaneType::f32;
}

}  // namespace

bool SortedRecords::sorts(const Row& row) {
  return row.name == kSort || row.name == "vbitsort" || row.name == "vmrgsort4" || row.name == "vmrgsort4v2";
}

SortedRecords::SortedRecords(const Issued& inst, const ExecContext& context)
    : inst_(inst),
      context_(context),
      footprint_(inst.row->footprint(inst.args, context.spr, context.arch)),
      type_(type_of(inst)) {
  if (inst.row->name != kSort && inst.row->name != "vmrgsort4v2") record_ = insn::kProposalElements * lane_bytes(type_);
}

void SortedRecords::add_sources() {
  const View& ub = context_.mem[BufId::UB];
  const auto bytes = [&](u64 at, u64 count) {
    const auto some = ub.bytes(at, count);
    return Bytes(some.begin(), some.end());
  };
  if (inst_.row->name == kSort) {
    const auto& x = args_of<insn::Vbitsort32>(inst_.args);
    const u64 size = lane_bytes(type_);
    for (u64 i = 0; i < u64{x.repeat} * insn::kSortRecords; ++i) {
      Bytes key = bytes(x.src + i * size, size), index = bytes(x.src1 + 4 * i, 4);
      key.resize(4);
      key.insert(key.end(), index.begin(), index.end());
      sources_.push_back({x.src + i * size, std::move(key), size});
    }
    return;
  }
  for (const Access& a : footprint_) {
    if (a.write) continue;
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1]);
        for (u64 r = 0; r + record_ <= a.len; r += record_)
          sources_.push_back({at + r, bytes(at + r, record_), record_});
      }
    }
  }
}

void SortedRecords::take(ShadowPoint* first) {
  for (ShadowPoint* point = first; point != nullptr; point = point->next) {
    auto& taken = taken_.emplace_back();
    const RefSpace& ub = point->space(BufId::UB);
    if (ub.clean()) continue;
    if (sources_.empty()) add_sources();
    for (const Record& r : sources_) {
      if (ub.type(r.address, r.bytes_with_refs) == RefType::none) continue;
      Planes planes;
      for (u32 p = 0; p < kPlanes; ++p) {
        planes[p].resize(record_);
        ub.read(p, r.address, std::span(planes[p]).first(r.bytes_with_refs));
      }
      taken[r.key].push_back(std::move(planes));
    }
  }
}

u64 SortedRecords::inversions(const RefSpace& ub, u64 begin, u64 bytes) const {
  const u64 in_one = inst_.row->name == kSort        ? insn::kSortRecords
                     : inst_.row->name == "vbitsort" ? insn::kProposals
                                                     : bytes / record_;
  const u64 score = record_ == 8 ? 0 : insn::kScoreElement * lane_bytes(type_);
  u64 out = 0;
  double last = 0, last_reference = 0;
  for (u64 i = 0; (i + 1) * record_ <= bytes; ++i) {
    const u64 at = begin + i * record_ + score;
    LaneBuffer one{};
    std::ranges::copy(context_.mem[BufId::UB].bytes(at, lane_bytes(type_)), one.bytes.begin());
    const double value = lane_value(type_, one, 0);
    double reference = value;
    ub.load(type_, at, std::span(&value, 1), std::span(&reference, 1));
    if (i % in_one != 0 && last > value && last_reference < reference) ++out;
    last = value;
    last_reference = reference;
  }
  return out;
}

void SortedRecords::put(ShadowPoint* first) const {
  usize number = 0;
  for (ShadowPoint* point = first; point != nullptr; point = point->next, ++number) {
    const auto& taken = taken_[number];
    RefSpace& ub = point->space(BufId::UB);
    std::map<Bytes, usize> used;
    for (const Access& a : footprint_) {
      if (!a.write) continue;
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 i = 0; i < a.count[0]; ++i) {
          const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1]);
          ub.clear(at, a.len);
          for (u64 r = 0; !taken.empty() && r + record_ <= a.len; r += record_) {
            const auto some = context_.mem[BufId::UB].bytes(at + r, record_);
            const auto found = taken.find(Bytes(some.begin(), some.end()));
            if (found == taken.end()) continue;
            const usize which = std::min(used[found->first]++, found->second.size() - 1);
            for (u32 p = 0; p < kPlanes; ++p)
              ub.write(p, at + r, found->second[which][p]);
            ub.set_type(at + r, record_, ref_type(type_));
          }
          if (!taken.empty()) point->add_decided(inversions(ub, at, a.len));
        }
      }
    }
  }
}

}  // namespace vinci::isa
