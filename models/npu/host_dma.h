// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isa/base/types.h"
#include "sim/kernel/tlm.h"

namespace vinci::models::npu {

// Moves bytes between the NPU and host memory through an initiator socket: one transfer at a time from the host and one
// to it, each in bursts. The link to the host sets the pace, the platform may slow it down.
class HostDma {
 public:
  using Socket = tlm::tlm_initiator_socket<>;

  // `burst`: bytes of a transaction at most; none crosses a multiple of it. `use_dmi`: ask for direct pointers where a
  // target says that it gives them. To be made during elaboration.
  HostDma(Socket& socket, u32 burst, bool use_dmi);

  struct Outcome {
    sc_core::sc_time start, end;  // of the link's own time; the bytes are there now, be that before the end or after it
    std::string error = {};       // why the platform refused a burst; "": all is well
  };
  struct Transfer {
    bool to_host = false;
    u64 address = 0;  // of the first row in host memory
    u64 width = 0, height = 1, pitch = 0;
    sc_core::sc_time start;   // not before
    sc_core::sc_time length;  // that the link needs
    sc_core::sc_time step;    // `done` is called a whole number of steps after `start`,
    bool at_end = false;      // and not before the link's own time is over
    // The NPU's side: gives the bytes for the host, or takes those that come from it.
    std::function<void(u64 row, u64 at, std::span<std::byte> bytes)> device;
    std::function<void(const Outcome&)> done;
  };
  void add(Transfer transfer);

  bool busy() const;
  // Forgets all transfers; a burst that is under way comes to its end without effect on the NPU.
  void abort();
  // The platform takes back its pointers to [begin, end].
  void invalidate(u64 begin, u64 end);

  u64 bursts() const { return bursts_; }              // transactions so far
  u64 direct_bytes() const { return direct_bytes_; }  // that went through pointers

 private:
  struct Channel {
    std::deque<Transfer> queue;
    sc_core::sc_event more;
    sc_core::sc_time free_at;
    bool active = false;
    u64 generation = 0;  // of the active transfer
  };

  void serve(Channel& channel);
  bool carry_out(const Transfer& t, Channel& channel, Outcome& outcome);
  void wait_until(const sc_core::sc_time& t, const Channel& channel);
  bool aborted(const Channel& channel) const { return channel.generation != generation_; }
  // One burst; returns why it failed, or "".
  std::string move(bool to_host, u64 address, std::span<std::byte> bytes);
  bool move_direct(bool to_host, u64 address, std::span<std::byte> bytes, sc_core::sc_time& delay);

  Socket& socket_;
  u32 burst_;
  bool use_dmi_;
  std::array<Channel, 2> channels_;  // from the host, to it
  std::vector<tlm::tlm_dmi> regions_;
  u64 generation_ = 0;
  sc_core::sc_event aborted_;
  u64 bursts_ = 0, direct_bytes_ = 0;
};

}  // namespace vinci::models::npu
