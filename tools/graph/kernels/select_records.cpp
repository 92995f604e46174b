// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/row_selection.h"
#include "tools/graph/kernels/vector_writer.h"

// Selection by records of c220: copies fill rows of any length, positions are u32 and become i64 as vectors.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

class RecordWriter final : public SelectionWriter {
 public:
  RecordWriter(const Node& node, const Selection& selection, u64 rows)
      : SelectionWriter(node, selection, isa::Arch::c220, rows) {}

 private:
  void prepare() override {
    count_lanes(Type::s32, lanes_);
    const u64 infinity = s_.bytes() == 2 ? 0x7c00 : 0x7f80'0000, sign = s_.bytes() == 2 ? 0x8000 : 0x8000'0000;
    p_.mov(t_, s_.largest ? infinity | sign : infinity);
    p_.set_mov_pad_val(t_);
  }

  void load(const isa::Value& count, u64 elements) override {
    const u64 bytes = elements * s_.bytes(), whole = align_up<u64>(bytes, 32);
    const u64 missing = (whole - bytes) / s_.bytes(), gap = (s_.tile() * s_.bytes() - whole) / 32;
    if (s_.bytes() == 2) {
      p_.copy_gm_to_ubuf_align_b16(scores_, source_, 0, count, bytes, 0, missing, 0, gap);
    } else {
      p_.copy_gm_to_ubuf_align_b32(scores_, source_, 0, count, bytes, 0, missing, 0, gap);
    }
    p_.hand_over(PipeId::MTE2, PipeId::V, 0);
  }

  void number_tile(Reg base, Reg /*tile*/) override {
    p_.vadds(Type::s32, positions_, lanes_, base, sorted_rows() / kLanes32, 1, 1, 8, 8);
    barrier();
  }

  void sort_repeats(u64 repeats) override { p_.vbitsort32(s_.lane(), records_, keys_, positions_, repeats); }

  void merge(const isa::Value& to, const std::array<isa::Value, 4>& lists, u64 repeats, u64 length,
             u64 valid) override {
    const u64 more = valid == 15 ? length : 0;
    p_.vmrgsort4v2(s_.lane(), to, lists[0], lists[1], lists[2], lists[3], repeats, length, length, more, more, 0,
                   valid);
  }

  void store(Reg batch) override {
    const u64 records = result_records();
    if (s_.scores && s_.bytes() == 2)
      p_.vreducev2(Type::f16, scores_taken_, best_, 0, records * 4 / kLanes16, 1, 3, 8, 0);
    if (s_.scores && s_.bytes() == 4)
      p_.vreducev2(Type::f32, scores_taken_, best_, 0, records * 2 / kLanes32, 1, 1, 8, 0);
    p_.vreducev2(Type::u32, numbers_taken_, best_, 0, records * 2 / kLanes32, 1, 2, 8, 0);
    barrier();
    if (s_.scores && !s_.largest) negate(scores_taken_, scores_taken_, records);
    p_.vconv_s322s64(positions_taken_, numbers_taken_, records / 32, 1, 1, 8, 4);
    p_.hand_over(PipeId::V, PipeId::MTE3, 0);
    if (s_.scores) copy_out(batch, out_scores_, scores_taken_, s_.bytes());
    if (s_.positions) copy_out(batch, out_positions_, positions_taken_, 8);
    p_.hand_over(PipeId::MTE3, PipeId::V, 0);
    p_.hand_over(PipeId::V, PipeId::MTE2, 0);
  }

  void copy_out(Reg batch, Reg to, u64 from, u64 bytes) {
    const u64 length = s_.best * bytes;
    p_.mul(t_, batch, rows_ * length);
    p_.add(t_, t_, to);
    const u64 gap = rows_ > 1 ? (s_.tile() * bytes - align_up<u64>(length, 32)) / 32 : 0;
    p_.copy_ubuf_to_gm_align_b8(t_, from, 0, count_, length, 0, 0, gap, 0);
  }

  const u64 lanes_ = take(sorted_rows() * 4);
  const u64 positions_ = s_.long_rows() ? take(sorted_rows() * 4) : lanes_;
  const u64 scores_taken_ = take(result_records() * s_.bytes());
  const u64 numbers_taken_ = take(result_records() * 4);
  const u64 positions_taken_ = take(result_records() * 8);
};

}  // namespace

std::unique_ptr<SelectionWriter> record_writer(const Node& node, const Selection& selection, u64 rows) {
  return std::make_unique<RecordWriter>(node, selection, rows);
}

}  // namespace vinci::graph
