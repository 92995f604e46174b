// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace vinci::ascendc {

// Throws Fault::Limit where the system refuses a thread.
std::thread start_thread(std::function<void()> body);

// A thread that runs only while its owner waits for it: control is handed over like a baton, so code of several cores
// never runs at once, and a debugger still shows each as a thread of its own.
class Strand {
 public:
  // `name` is what a debugger shows, at most 15 characters.
  Strand(std::string name, std::function<void()> body) : name_(std::move(name)), body_(std::move(body)) {}
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;
  ~Strand();

  // Runs the body until it gives way (false) or ends (true). Rethrows what it throws, a fault also where it leaves a
  // destructor or another function that is noexcept. Throws Fault::Limit where the system refuses the thread.
  bool resume();
  // Called by the body: hands control back to the owner, and returns when it is resumed.
  static void give_way();

 private:
  struct Abandoned {};  // thrown through a body that will not be resumed
  enum class Turn { owner, body };
  void main();
  void hand_to(Turn turn);
  void await(Turn turn);
  static void on_terminate();
  [[noreturn]] void park();
  void leave();  // the thread, which has ended or is parked

  std::string name_;
  std::function<void()> body_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::owner;
  bool ended_ = false, abandoned_ = false;
  bool parked_ = false;  // its thread cannot leave the body, and sleeps there
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace vinci::ascendc
