// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/import/model.h"

namespace vinci::graph {

// A list (a sequence of ONNX) that begins empty, gets one tensor in each turn of a loop, and is joined behind it, as
// exporters write appending to a list: becomes a result that the turns of the loop stack, and ConcatFromSequence gets
// that. Other sequences stay, and throw Fault::Unsupported with the name of the value.
void stack_lists(ModelGraph& graph);

}  // namespace vinci::graph
