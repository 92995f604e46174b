// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/task/yaml_nodes.h"

namespace vinci::task {

// Reads the host program of the stream `s`, whose other parts are known by their names.
void read_host(const Node& node, YamlNodes& yaml, YamlNames& names, TaskStream& s);

}  // namespace vinci::task
