// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/variants.h"

#include "tools/processes/processes.h"

namespace vinci::studies {
namespace {

constexpr char kDone = 'd', kFailed = 'f';

// kFailed, the fault, the message, 0, the location.
std::string to_text(const Error& e) {
  return std::string{kFailed, static_cast<char>(e.fault())} + e.message() + '\0' + e.location();
}

[[noreturn]] void throw_again(const std::string& text) {
  const usize end = text.find('\0', 2);
  throw Error(static_cast<Fault>(text[1]), text.substr(2, end - 2), text.substr(end + 1));
}

}  // namespace

std::vector<std::string> run_variants(usize count, unsigned jobs, const std::function<std::string(usize)>& f,
                                      const std::function<void(usize)>& begun) {
  const auto guarded = [&f](usize i) -> std::string {
    try {
      return kDone + f(i);
    } catch (const Error& e) {
      return to_text(e);
    }
  };
  std::vector<std::string> out = processes::in_processes(count, jobs, guarded, begun);
  for (std::string& text : out) {
    if (text.front() == kFailed) throw_again(text);
    text.erase(0, 1);
  }
  return out;
}

}  // namespace vinci::studies
