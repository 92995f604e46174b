// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/row_selection.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"

// Selection by region proposals of joint cores. A proposal has the score, the place in its tile (x1) and the number of
// the tile (y1), all f16. Copies move whole blocks of 32 B, so that the scalar unit stores the results.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kX1 = 0, kY1 = 1, kScore = 4;  // fields

class ProposalWriter final : public SelectionWriter {
 public:
  ProposalWriter(const Node& node, const Selection& selection, isa::Arch arch, u64 rows)
      : SelectionWriter(node, selection, arch, rows) {}

 private:
  void prepare() override {
    count_lanes(Type::f16, lanes_);
    // Sorting reads all fields, also those that nothing else writes.
    in_repeats(p_, false, sorted_rows() * s_.unit.record_bytes / 2, [&](u64 first, u64 repeats) {
      p_.vector_dup(Type::f16, records_ + first * 2, isa::f16(0), repeats, 1, 1, 8, 8);
    });
  }

  // Row by row, as rows need not begin at a block of memory; what a copy brings behind a row is overwritten.
  void load(const isa::Value& count, u64 elements) override {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg from = p_.reg("from"), to = p_.reg("to");
    p_.mov(from, source_);
    p_.mov(to, scores_);
    p_.loop(count, [&](Reg) {
      p_.copy_gm_to_ubuf(to, from, 0, 1, ceil_div(elements * 2, u64{32}), 0, 0);
      p_.add(from, from, s_.width * 2);
      p_.add(to, to, s_.tile() * 2);
    });
    p_.hand_over(PipeId::MTE2, PipeId::V, 0);
    if (elements % kC0 == 0) return;
    p_.set_vector_mask(0, 0xffff & (u64{0xffff} << elements % kC0));
    p_.vector_dup(Type::f16, scores_ + elements / kC0 * 32, s_.number(s_.last()), rows_, 1, 1, s_.tile() / kC0,
                  s_.tile() / kC0);
    set_mask(p_, kLanes16);
    barrier();
  }

  void number_tile(Reg /*base*/, Reg tile) override {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg number = p_.reg("number");
    p_.conv_s322f32(number, tile);
    p_.conv_f322f16(number, number);
    p_.vector_dup(Type::f16, tiles_, number, s_.unit.tile / kLanes16, 1, 1, 8, 8);
    barrier();
  }

  void sort_repeats(u64 repeats) override {
    // Merging has left other proposals here: all fields that results come from are written.
    const auto concat = [&](u64 from, u64 field) {
      p_.vconcat(Type::f16, scratch_, from, repeats, field);
      barrier();
    };
    concat(keys_, kScore);
    concat(lanes_, kX1);
    if (s_.long_rows()) concat(tiles_, kY1);
    p_.vbitsort(Type::f16, records_, scratch_, repeats);
  }

  void merge(const isa::Value& to, const std::array<isa::Value, 4>& lists, u64 repeats, u64 length,
             u64 valid) override {
    const u64 more = valid == 15 ? length : 0;
    p_.vmrgsort4(Type::f16, to, lists[0], lists[1], lists[2], lists[3], repeats, length, length, more, more, 0, valid);
  }

  void store(Reg batch) override {
    const u64 records = result_records(), repeats = records / s_.unit.sorted;
    p_.vextract(Type::f16, scores_taken_, best_, repeats, kScore);
    p_.vextract(Type::f16, halves_, best_, repeats, kX1);
    if (s_.long_rows()) p_.vextract(Type::f16, halves_ + records * 2, best_, repeats, kY1);
    barrier();
    if (s_.scores && !s_.largest) negate(scores_taken_, scores_taken_, records);
    in_repeats(p_, true, records * (s_.long_rows() ? 2 : 1), [&](u64 first, u64 count) {
      p_.vconv_f162s32r(numbers_ + first * 4, halves_ + first * 2, count, 1, 1, 8, 4);
    });
    p_.hand_over(PipeId::V, PipeId::S, 0);
    store_elements(batch);
    p_.hand_over(PipeId::S, PipeId::V, 0);
    p_.hand_over(PipeId::V, PipeId::MTE2, 0);
  }

  void store_elements(Reg batch) {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg row = p_.reg("row"), element = p_.reg("element"), number = p_.reg("number"), to = p_.reg("to"),
              from = p_.reg("from"), value = p_.reg("value");
    p_.mul(to, batch, rows_ * s_.best);
    p_.loop(row, 0, count_, 1, [&] {
      p_.mul(from, row, rows_ > 1 ? s_.tile() : 0);
      p_.loop(element, 0, s_.best, 1, [&] {
        if (s_.scores) {
          p_.mul(t_, from, 2);
          p_.ld_ubuf(Type::b16, value, t_, scores_taken_);
          p_.mul(t_, to, 2);
          p_.add(t_, t_, out_scores_);
          p_.st_dev(Type::b16, value, t_);
        }
        if (s_.positions) {
          p_.mul(t_, from, 4);
          p_.ld_ubuf(Type::b32, number, t_, numbers_);
          if (s_.long_rows()) {
            p_.ld_ubuf(Type::b32, value, t_, numbers_ + result_records() * 4);
            p_.mul(value, value, s_.unit.tile);
            p_.add(number, number, value);
          }
          p_.mul(t_, to, 8);
          p_.add(t_, t_, out_positions_);
          p_.st_dev(Type::b64, number, t_);
        }
        p_.add(from, from, 1);
        p_.add(to, to, 1);
      });
    });
  }

  const u64 lanes_ = take(sorted_rows() * 2);
  const u64 tiles_ = s_.long_rows() ? take(sorted_rows() * 2) : 0;
  const u64 scores_taken_ = take(result_records() * 2);
  const u64 halves_ = take(result_records() * (s_.long_rows() ? 4 : 2));
  const u64 numbers_ = take(result_records() * (s_.long_rows() ? 8 : 4));
};

}  // namespace

std::unique_ptr<SelectionWriter> proposal_writer(const Node& node, const Selection& selection, isa::Arch arch,
                                                 u64 rows) {
  return std::make_unique<ProposalWriter>(node, selection, arch, rows);
}

}  // namespace vinci::graph
