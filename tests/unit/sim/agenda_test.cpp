// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/agenda.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "sim/kernel/context.h"
#include "sim/kernel/module.h"
#include "sim/kernel/run.h"

namespace vinci::test {
namespace {

struct Unit : sim::Module {
  explicit Unit(sim::Env& env) : Module(env) {}
  void act() override { body(); }
  using Module::go_on_to;
  using Module::now;
  std::function<void()> body = [] {};
};

struct AgendaTest : testing::Test {
  void run() {
    sim::run(env, {}, [] { return true; }, {});
  }
  sim::Context context;
  sim::Env env{.clock = sim::Clock(1e9)};
};

TEST_F(AgendaTest, WhoIsDueAtTheSameTimeActsInTheOrderOfAsking) {
  std::vector<int> order;
  Unit a(env), b(env), c(env);
  a.body = [&] { order.push_back(1); };
  b.body = [&] {
    order.push_back(2);
    a.wake();  // behind c, which has asked before
  };
  c.body = [&] { order.push_back(3); };
  b.wake_at(5000);  // behind the present window of the calendar
  c.wake_at(5000);
  run();
  EXPECT_EQ(order, (std::vector{2, 3, 1}));
  EXPECT_EQ(env.agenda.now(), 5000u);
  EXPECT_TRUE(env.agenda.idle());
}

TEST_F(AgendaTest, AnEarlierWishReplacesALaterOne) {
  std::vector<u64> times;
  Unit a(env);
  a.body = [&] { times.push_back(a.now()); };
  a.wake_at(3000);
  a.wake_at(10);
  a.wake_at(20);
  EXPECT_FALSE(env.agenda.idle());
  run();
  EXPECT_EQ(times, std::vector<u64>{10});
  EXPECT_TRUE(env.agenda.idle());
}

TEST_F(AgendaTest, AUnitThatGoesIsForgotten) {
  auto a = std::make_unique<Unit>(env);
  int acted = 0;
  a->body = [&] { ++acted; };
  a->wake_at(7);
  a.reset();
  EXPECT_TRUE(env.agenda.idle());
  run();
  EXPECT_EQ(acted, 0);
}

TEST_F(AgendaTest, AUnitGoesOnOnlyWhereNobodyElseActsBefore) {
  std::vector<u64> went;
  u64 b_at = 0;
  Unit a(env), b(env);
  b.body = [&] { b_at = b.now(); };
  a.body = [&] {
    u64 next = 0;
    do {
      went.push_back(a.now());
      next = a.now() + 100;
    } while (next <= 1000 && a.go_on_to(next));
    if (next <= 1000) {
      EXPECT_EQ(b_at, 0u);
    }
  };
  a.wake_at(100);
  b.wake_at(500);
  run();
  EXPECT_EQ(went, (std::vector<u64>{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}));
  EXPECT_EQ(b_at, 500u);
}

// Against a map of times: units that ask at random, near and far, once more in the same cycle, earlier than before.
TEST_F(AgendaTest, IsAMapOfTimes) {
  constexpr int kUnits = 40, kActs = 20'000;
  std::mt19937_64 random(1);
  std::multimap<u64, int> expected;  // equal keys keep their order
  std::vector<std::multimap<u64, int>::iterator> wish(kUnits, expected.end());
  std::vector<std::unique_ptr<Unit>> units;
  int acts = 0, wrong = 0;
  const auto ask = [&](int who, u64 now) {
    static constexpr std::array<u64, 4> kSpans{1, 30, 2000, 100'000};
    const u64 at = now + random() % kSpans[random() % kSpans.size()];
    units[static_cast<usize>(who)]->wake_at(at);
    auto& w = wish[static_cast<usize>(who)];
    if (w != expected.end() && w->first <= at) return;
    if (w != expected.end()) expected.erase(w);
    w = expected.emplace(at, who);
  };
  for (int i = 0; i < kUnits; ++i) {
    units.push_back(std::make_unique<Unit>(env));
    Unit& unit = *units.back();
    unit.body = [&, i] {
      const auto first = expected.begin();
      wrong += first == expected.end() || first->first != unit.now() || first->second != i ? 1 : 0;
      if (wrong > 0) return;
      expected.erase(first);
      wish[static_cast<usize>(i)] = expected.end();
      if (++acts >= kActs) return;
      for (u64 n = 0; n < 1 + random() % 2; ++n)
        ask(n == 0 ? i : static_cast<int>(random() % kUnits), unit.now());
    };
  }
  for (int i = 0; i < kUnits; ++i)
    ask(i, 0);
  run();
  EXPECT_EQ(wrong, 0) << "after " << acts;
  EXPECT_GE(acts, kActs);
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace vinci::test
