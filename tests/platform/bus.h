// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <span>

#include "isa/base/types.h"
#include "sim/kernel/tlm.h"

namespace vinci::test {

// Routes transactions by address, at no cost in time: any number of initiators, and targets that each see addresses
// from 0.
class Bus : public sc_core::sc_module {
 public:
  using In = tlm_utils::simple_target_socket<Bus>;

  struct Range {
    u64 base = 0, bytes = 0;
  };
  Bus(const sc_core::sc_module_name& name, usize initiators, std::span<const Range> targets) : sc_module(name) {
    for (usize i = 0; i < initiators; ++i) {
      In& in = in_.emplace_back(sc_core::sc_gen_unique_name("in"));
      in.register_b_transport(this, &Bus::b_transport);
      in.register_transport_dbg(this, &Bus::transport_dbg);
      in.register_get_direct_mem_ptr(this, &Bus::get_direct_mem_ptr);
    }
    for (const Range& range : targets) {
      Route& route = routes_.emplace_back(*this, range);
      route.out.register_invalidate_direct_mem_ptr(&route, &Route::invalidate);
    }
  }
  auto& in(usize initiator) { return in_[initiator]; }
  auto& out(usize target) { return routes_[target].out; }

 private:
  struct Route {
    Route(Bus& of, const Range& at) : bus(of), range(at) {}
    void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) {
      for (In& in : bus.in_)
        in->invalidate_direct_mem_ptr(range.base + begin, range.base + end);
    }
    Bus& bus;
    Range range;
    tlm_utils::simple_initiator_socket<Route> out{sc_core::sc_gen_unique_name("out")};
  };

  // The target of a transaction, whose address becomes the target's own; null: no target.
  Route* route(tlm::tlm_generic_payload& t) {
    for (Route& r : routes_) {
      if (t.get_address() < r.range.base || t.get_address() - r.range.base >= r.range.bytes) continue;
      t.set_address(t.get_address() - r.range.base);
      return &r;
    }
    return nullptr;
  }
  void b_transport(tlm::tlm_generic_payload& t, sc_core::sc_time& delay) {
    if (Route* r = route(t)) {
      r->out->b_transport(t, delay);
    } else {
      t.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& t) {
    Route* r = route(t);
    return r == nullptr ? 0 : r->out->transport_dbg(t);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& t, tlm::tlm_dmi& region) {
    Route* r = route(t);
    if (r == nullptr || !r->out->get_direct_mem_ptr(t, region)) return false;
    region.set_start_address(region.get_start_address() + r->range.base);
    region.set_end_address(region.get_end_address() + r->range.base);
    return true;
  }

  std::deque<In> in_;
  std::deque<Route> routes_;
};

}  // namespace vinci::test
