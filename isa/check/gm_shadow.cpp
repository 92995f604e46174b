// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/gm_shadow.h"

namespace vinci::isa::check {

GmShadow::Page& GmShadow::page(u64 number) {
  if (number != cached_number_) {
    auto& slot = pages_[number];
    if (!slot) slot = std::make_unique<Page>();
    cached_number_ = number;
    cached_ = slot.get();
  }
  return *cached_;
}

// Calls f(page, its first address, begin, end) with offsets into the page.
template <class F>
void GmShadow::each_page(u64 begin, u64 end, F&& f) {
  while (begin < end) {
    const u64 base = begin / kPageBytes * kPageBytes;
    const u64 stop = std::min(end, base + kPageBytes);
    f(page(begin / kPageBytes), base, begin - base, stop - base);
    begin = stop;
  }
}

void GmShadow::meet_cells(const Page& p, u64 base, u64 from, u64 to, bool reads_too, const Met& met) const {
  const auto meet = [&](const Cells& cells, bool write) {
    each_run(cells.data(), from, to, [&](u32 record, usize b, usize e) {
      if (record != 0) met(record, base + b * kGranule, base + e * kGranule, write);
    });
  };
  meet(p.written, true);
  if (!reads_too) return;
  for (const auto& cells : p.read) {
    if (cells != nullptr) meet(*cells, false);
  }
}

void GmShadow::meet_parts(u64 granule, u32 bits, bool reads_too, const Met& met) const {
  const auto it = parts_.find(granule);
  if (it == parts_.end()) return;
  for (const Part& part : it->second) {
    const u32 common = part.bits & bits;
    if (common == 0 || (!part.write && !reads_too)) continue;
    const u64 at = granule * kGranule;
    met(part.record, at + static_cast<u64>(std::countr_zero(common)),
        at + 32 - static_cast<u64>(std::countl_zero(common)), part.write);
  }
}

// Later parts take the place of earlier ones of the same block and pipe, and writes that of all writes.
void GmShadow::enter_part(Page& p, u64 granule, u32 bits, const Record& r, u32 number, bool write) {
  p.split[granule % kPageGranules] = 1;
  std::vector<Part>& parts = parts_[granule];
  for (Part& old : parts) {
    const Record& o = records_[old.record];
    if (old.write == write && (write || (o.actor == r.actor && o.pipe == r.pipe))) old.bits &= ~bits;
  }
  std::erase_if(parts, [](const Part& old) { return old.bits == 0; });
  if (parts.size() == kMaxParts) parts.erase(parts.begin());
  parts.push_back({number, bits, write});
}

void GmShadow::enter_read(Page& p, u64 from, u64 to, const Record& r, u32 number) const {
  const Slot slot = r.pipe == PipeId::S ? scalar_latest : latest;
  auto& newest = p.read[slot];
  auto& second = p.read[slot + 1];
  if (newest == nullptr) newest = std::make_unique<Cells>();
  each_run(newest->data(), from, to, [&](u32 record, usize b, usize e) {
    if (record == 0 || records_[record].actor == r.actor) return;
    if (second == nullptr) second = std::make_unique<Cells>();
    std::fill(second->begin() + b, second->begin() + e, record);
  });
  std::fill(newest->begin() + static_cast<std::ptrdiff_t>(from), newest->begin() + static_cast<std::ptrdiff_t>(to),
            number);
}

void GmShadow::read(const Record& r, u32 number, u64 begin, u64 end, const Met& met) {
  each_page(begin, end, [&](Page& p, u64 base, u64 from, u64 to) {
    const u64 first = ceil_div(from, kGranule), last = to / kGranule;
    const auto part = [&](u64 granule, u32 bits) {
      const u64 cell = granule - base / kGranule;
      meet_cells(p, base, cell, cell + 1, false, met);
      meet_parts(granule, bits, false, met);
      enter_part(p, granule, bits, r, number, false);
    };
    if (first < last) {
      meet_cells(p, base, first, last, false, met);
      if (std::find(p.split.begin() + first, p.split.begin() + last, 1) != p.split.begin() + last) {
        for (u64 g = first; g < last; ++g) {
          if (p.split[g] != 0) meet_parts(base / kGranule + g, ~u32{0}, false, met);
        }
      }
      enter_read(p, first, last, r, number);
    }
    each_edge(base + from, base + to, part);
  });
}

void GmShadow::write(const Record& r, u32 number, u64 begin, u64 end, const Met& met) {
  each_page(begin, end, [&](Page& p, u64 base, u64 from, u64 to) {
    const u64 first = ceil_div(from, kGranule), last = to / kGranule;
    if (first < last) {
      meet_cells(p, base, first, last, true, met);
      for (u64 g = first; g < last; ++g) {
        if (p.split[g] == 0) continue;
        meet_parts(base / kGranule + g, ~u32{0}, true, met);
        parts_.erase(base / kGranule + g);
        p.split[g] = 0;
      }
      std::fill(p.written.begin() + first, p.written.begin() + last, number);
    }
    each_edge(base + from, base + to, [&](u64 granule, u32 bits) {
      const u64 cell = granule - base / kGranule;
      meet_cells(p, base, cell, cell + 1, true, met);
      meet_parts(granule, bits, true, met);
      enter_part(p, granule, bits, r, number, true);
    });
    define(p.defined.data(), from, to);
  });
}

void GmShadow::latest_writes(u64 begin, u64 end, const Met& met) {
  each_page(begin, end, [&](const Page& p, u64 base, u64 from, u64 to) {
    const u64 first = from / kGranule, last = ceil_div(to, kGranule);
    meet_cells(p, base, first, last, false, met);
    for (u64 g = first; g < last; ++g) {
      if (p.split[g] != 0) meet_parts(base / kGranule + g, ~u32{0}, false, met);
    }
  });
}

void GmShadow::undefined(u64 begin, u64 end, const std::function<void(u64, u64)>& f) {
  each_page(begin, end, [&](const Page& p, u64 base, u64 from, u64 to) {
    each_undefined(p.defined.data(), from, to, kGranule, [&](u64 b, u64 e) { f(base + b, base + e); });
  });
}

}  // namespace vinci::isa::check
