// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

namespace vinci::ascendc {

// From now on a signal that ends the process because of its own fault (SIGSEGV, SIGABRT and the like) first has `save`
// called, in a child process that has a minute; then the process ends by that signal as it would have. Signals that the
// program handles itself stay with it. `save` gets the return addresses of the calls that the
// crash is in, the innermost first, and says what it has done on stderr.
void save_on_crash(void (*save)(const char* signal, const std::vector<void*>& frames));

// Gives the calling thread a stack for the handler, so that an overflow of its own stack is caught as well.
void prepare_thread_for_crash();

}  // namespace vinci::ascendc
