// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/entries.h"

#include <array>

namespace vinci::studies {

std::span<const Entry> entries() {
  static constexpr std::array kEntries{
      Entry{"S01", swin_attention},
      Entry{"S02", swin_sink},
      Entry{"S05", fused_optimizer},
      Entry{"S06", siammask},
      Entry{"S07", sink_loop},
      Entry{"S08", host_op},
      Entry{"S09", transdata},
      Entry{"S14", graph_optimisation},
      Entry{"S15", constant_folding},
      Entry{"S16", while_shape},
      Entry{"S17", dynamic_bins},
      Entry{"S18", constant_sharing},
      Entry{"S19", subexpressions},
      Entry{"S20", pruning},
      Entry{"S21", dead_branches},
      Entry{"S22", conv_bn_relu},
      Entry{"S23", prefetch},
      Entry{"S24", gradient_exchange},
      Entry{"S25", hierarchical_allreduce},
  };
  return kEntries;
}

}  // namespace vinci::studies
