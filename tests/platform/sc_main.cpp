// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A platform as it is written elsewhere: it begins in sc_main() and knows of this project the NPU alone.
#include <cstdio>
#include <cstring>

#include "models/npu/npu.h"
#include "sim/config/load.h"

namespace {

using namespace vinci;

// Reads the ID of an NPU, and is the host memory, which is never accessed.
class Board : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Board> cpu{"cpu"};
  tlm_utils::simple_target_socket<Board> memory{"memory"};
  u32 id = 0;

  explicit Board(const sc_core::sc_module_name& name) : sc_module(name) {
    memory.register_b_transport(this, &Board::b_transport);
    sc_core::sc_spawn([this] { read_id(); }, "read_id");
  }

 private:
  void read_id() {
    tlm::tlm_generic_payload t;
    t.set_read();
    t.set_address(static_cast<u64>(models::npu::Register::ID));
    t.set_data_ptr(reinterpret_cast<unsigned char*>(&id));
    t.set_data_length(sizeof id);
    t.set_streaming_width(sizeof id);
    sc_core::sc_time delay;
    cpu->b_transport(t, delay);
  }
  void b_transport(tlm::tlm_generic_payload& t, sc_core::sc_time&) {
    t.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

}  // namespace

int sc_main(int, char**) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  Board board("board");
  models::Npu npu("npu", config::load_chip("tiny"), {});
  sc_core::sc_signal<bool> irq("irq");
  board.cpu.bind(npu.target);
  npu.initiator.bind(board.memory);
  npu.irq.bind(irq);
  sc_core::sc_start();
  std::printf("ID %08x\n", board.id);
  return board.id == models::npu::kId ? 0 : 1;
}
