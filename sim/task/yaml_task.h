// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/task/yaml_nodes.h"

namespace vinci::task {

// Reads a task of the stream `s`, whose other parts are known by their names.
void read_task(const Node& node, YamlNodes& yaml, YamlNames& names, TaskStream& s, Task& out);

}  // namespace vinci::task
