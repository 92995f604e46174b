// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/unfinished_folder.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <vector>

#include "isa/base/types.h"

namespace vinci::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// What the handler reads; it changes only while the handler is not installed.
std::vector<std::string> g_made;  // folders that were not there, the innermost one first
volatile pid_t g_process = 0;
volatile std::sig_atomic_t g_writing = 0, g_signal = 0;

// Folders with files in them stay.
void remove_empty() {
  for (const std::string& folder : g_made)
    ::rmdir(folder.c_str());
}

void on_signal(int signal) {
  if (g_writing != 0) {
    g_signal = signal;
    return;
  }
  if (::getpid() == g_process) remove_empty();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A signal that the caller ignores, as nohup does, stays ignored.
void handle(void (*handler)(int), void (*instead_of)(int)) {
  for (const int signal : kSignals) {
    struct sigaction now = {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == instead_of) std::signal(signal, handler);
  }
}

}  // namespace

UnfinishedFolder::UnfinishedFolder(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::path at = std::filesystem::absolute(folder, error).lexically_normal(); !at.empty();) {
    if (at.filename().empty()) at = at.parent_path();
    if (std::filesystem::exists(std::filesystem::symlink_status(at, error)) || !at.has_relative_path()) break;
    g_made.push_back(at.string());
    at = at.parent_path();
  }
  g_process = ::getpid();
  handle(on_signal, SIG_DFL);
}

UnfinishedFolder::~UnfinishedFolder() {
  finished();
  handle(SIG_DFL, on_signal);
  remove_empty();
  g_made.clear();
}

void UnfinishedFolder::writing() { g_writing = 1; }

void UnfinishedFolder::finished() {
  g_writing = 0;
  if (g_signal != 0) on_signal(g_signal);
}

}  // namespace vinci::cli
