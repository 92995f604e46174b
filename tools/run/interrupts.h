// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

namespace vinci::run {

// From here on the first SIGINT, SIGTERM or SIGHUP only makes interrupted() true, so that the command ends in order: no
// half-written file, exit code 7. The second one ends the process at once. A forked process ends at the first one.
void catch_interrupts();
bool interrupted();

}  // namespace vinci::run
