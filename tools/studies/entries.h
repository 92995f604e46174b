// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/studies/study.h"

// One function for each study, in a file of its own, in tools/studies/; entries.cpp lists them.
namespace vinci::studies {

void conv_bn_relu(Study& study);
void fused_optimizer(Study& study);
void graph_optimisation(Study& study);
void gradient_exchange(Study& study);
void hierarchical_allreduce(Study& study);
void host_op(Study& study);
void prefetch(Study& study);
void siammask(Study& study);
void sink_loop(Study& study);
void swin_attention(Study& study);
void swin_sink(Study& study);
void transdata(Study& study);

}  // namespace vinci::studies
