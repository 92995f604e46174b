// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/studies/study.h"

// One function for each study, in a file of its own, in tools/studies/; entries.cpp lists them.
namespace vinci::studies {

void constant_folding(Study& study);
void constant_sharing(Study& study);
void conv_bn_relu(Study& study);
void dead_branches(Study& study);
void dynamic_bins(Study& study);
void fused_optimizer(Study& study);
void gradient_exchange(Study& study);
void graph_optimisation(Study& study);
void hierarchical_allreduce(Study& study);
void host_op(Study& study);
void prefetch(Study& study);
void pruning(Study& study);
void siammask(Study& study);
void sink_loop(Study& study);
void subexpressions(Study& study);
void swin_attention(Study& study);
void swin_sink(Study& study);
void transdata(Study& study);
void while_shape(Study& study);

}  // namespace vinci::studies
