// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include <set>

#include "isa/base/error.h"
#include "tests/graph/pass_networks.h"

// What a pass does to the bits of the outputs: nothing, unless the list of passes declares that it changes rounding.
namespace vinci::graph {
namespace {

using ::testing::IsEmpty;

Network compiled_with(const PassNetwork& from, const config::ChipConfig& chip, Switches switches) {
  MapNet net;
  from.build(net);
  return compile(std::move(net.owned), chip, {.switches = std::move(switches)});
}

// Passes by their names, and whether one of that name is declared to change rounding.
std::map<std::string, bool, std::less<>> declared_passes() {
  std::map<std::string, bool, std::less<>> out;
  for (const Pass& pass : all_passes())
    out[std::string(pass.name)] |= pass.changes_values;
  return out;
}

std::vector<std::string> changing_passes(const Network& network) {
  std::vector<std::string> out;
  for (const PassRecord& r : by_name(network.passes)) {
    if (r.effect.changes > 0) out.emplace_back(r.pass->name);
  }
  return out;
}

// Off are the other passes that change rounding and that networks compile without: where a pass makes the pattern of
// another one, only its own effect remains.
Switches only_exact(const PassNetwork& from, const config::ChipConfig& chip) {
  Switches out;
  for (const auto& [name, rounds] : declared_passes()) {
    // Types stay those of --precision_mode.
    if (!rounds || name == "InsertCastPass") continue;
    out.passes[name] = false;
    try {
      compiled_with(from, chip, out);
    } catch (const Error& e) {
      if (e.fault() != Fault::Unsupported) throw;
      out.passes.erase(name);
    }
  }
  return out;
}

class PassEffects : public ::testing::TestWithParam<const char*> {};

TEST_P(PassEffects, ExactPassesLeaveEachBit) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  std::set<std::string> compared;
  for (const PassNetwork& network : pass_networks()) {
    const Switches base = only_exact(network, chip);
    const Network all = compiled_with(network, chip, base);
    const std::vector<Array> inputs = random_inputs(*all.graph, 7);
    const DeviceRun wanted = run_on_device(all, inputs);
    EXPECT_THAT(wanted.findings, IsEmpty()) << network.name;
    for (const std::string& pass : changing_passes(all)) {
      if (declared_passes().at(pass)) continue;
      Switches switches = base;
      switches.passes[pass] = false;
      try {
        const DeviceRun got = run_on_device(compiled_with(network, chip, switches), inputs);
        compared.insert(pass);
        for (usize i = 0; i < wanted.bytes.size(); ++i)
          EXPECT_TRUE(got.bytes[i] == wanted.bytes[i]) << network.name << " without " << pass << ", output " << i;
      } catch (const Error& e) {
        if (e.fault() != Fault::Unsupported) throw;  // the pass is needed
      }
    }
  }
  std::cout << compared.size() << " passes compared\n";
  EXPECT_GE(compared.size(), 15U);
}

// A declaration that nothing needs would hide a change of rounding later.
TEST(PassDeclarations, HoldForNetworksOfEachPass) {
  std::set<std::string> unseen, exact;
  for (const auto& [name, rounds] : declared_passes()) {
    unseen.insert(name);
    if (rounds) exact.insert(name);
  }
  for (const char* const name : {"ascend-910b1", "ascend-310p3"}) {
    const config::ChipConfig chip = config::load_chip(name);
    for (const PassNetwork& network : pass_networks()) {
      const Network all = compiled_with(network, chip, {});
      const std::vector<Array> inputs = random_inputs(*all.graph, 7);
      const DeviceRun wanted = run_on_device(all, inputs);
      for (const std::string& pass : changing_passes(all)) {
        unseen.erase(pass);
        if (!exact.contains(pass)) continue;
        try {
          const DeviceRun got = run_on_device(compiled_with(network, chip, {.passes = {{pass, false}}}), inputs);
          if (got.bytes != wanted.bytes) exact.erase(pass);
        } catch (const Error& e) {
          if (e.fault() != Fault::Unsupported) throw;
          exact.erase(pass);  // it is needed: there is nothing to compare with
        }
      }
    }
  }
  EXPECT_THAT(unseen, IsEmpty()) << "passes that find no pattern in these networks";
  EXPECT_THAT(exact, IsEmpty()) << "declared to change rounding, but each bit is equal without them";
}

INSTANTIATE_TEST_SUITE_P(Chips, PassEffects, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
