// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

#include "tools/studies/study.h"

// One function for each study, in a file of its own. A new study adds its line here.
#define VINCI_STUDIES(STUDY)         \
  STUDY(S01, swin_attention)         \
  STUDY(S02, swin_sink)              \
  STUDY(S03, device_index)           \
  STUDY(S04, batched_assignment)     \
  STUDY(S05, fused_optimizer)        \
  STUDY(S06, siammask)               \
  STUDY(S07, sink_loop)              \
  STUDY(S08, host_op)                \
  STUDY(S09, transdata)              \
  STUDY(S10, log1p_underflow)        \
  STUDY(S11, loss_scale)             \
  STUDY(S12, maxpool_scale)          \
  STUDY(S13, static_topk)            \
  STUDY(S14, graph_optimisation)     \
  STUDY(S15, constant_folding)       \
  STUDY(S16, while_shape)            \
  STUDY(S17, dynamic_bins)           \
  STUDY(S18, constant_sharing)       \
  STUDY(S19, subexpressions)         \
  STUDY(S20, pruning)                \
  STUDY(S21, dead_branches)          \
  STUDY(S22, conv_bn_relu)           \
  STUDY(S23, prefetch)               \
  STUDY(S24, gradient_exchange)      \
  STUDY(S25, hierarchical_allreduce) \
  STUDY(S26, compressed_exchange)    \
  STUDY(S28, hf32)                   \
  STUDY(S30, dropout)                \
  STUDY(S31, imbalance)              \
  STUDY(S32, accumulation)

namespace vinci::studies {

#define VINCI_DECLARE_STUDY(id, function) void function(Study& study);
VINCI_STUDIES(VINCI_DECLARE_STUDY)
#undef VINCI_DECLARE_STUDY

std::span<const Entry> entries() {
#define VINCI_STUDY_ENTRY(id, function) Entry{#id, function},
  static constexpr std::array kEntries{VINCI_STUDIES(VINCI_STUDY_ENTRY)};
#undef VINCI_STUDY_ENTRY
  return kEntries;
}

}  // namespace vinci::studies
