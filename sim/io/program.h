// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

// Other programs of this machine.
namespace vinci::io {

enum class Stdout { inherited, to_stderr };

// Runs words[0], which is looked for in PATH, with the other words as arguments, and waits for it. Returns its exit
// code; as shells do, 127 where it could not be started. 128 where a signal ended it. Throws Fault::Limit where the
// system has no room for another process.
int run_program(std::vector<std::string> words, Stdout out = Stdout::inherited);

// What a program prints on standard output, at most `most` bytes of it; its standard error is dropped. Empty where the
// program could not be started.
std::string output_of(std::vector<std::string> words, std::size_t most = 1 << 20);

// Called by a child process after fork(): the kernel ends it (SIGKILL) when the thread of the parent that forked it
// ends, also where the parent is killed. It stays so through exec.
void end_with_parent(pid_t parent);

}  // namespace vinci::io
