// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The descriptions of task operations, and docs/task-stream.md, whose tables of tasks follow from them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "sim/task/ops.h"
#include "tests/unit/sim/task_round_trip.h"

namespace vinci::task {
namespace {

TEST(TaskDescription, NamesAndKindsAreUnique) {
  std::set<std::string_view> keys, kinds;
  for (const OpInfo& info : kOpInfos) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_TRUE(kinds.insert(info.kind).second) << info.kind;
    EXPECT_FALSE(info.doc.empty()) << info.key;
  }
}

// The reference says of each key what it means.
TEST(TaskDescription, EachKeyIsInTheReference) {
  for_each_op([]<class Op>(std::type_identity<Op>) {
    if (Op::info.key == "hccl") return;  // its keys have a section of their own
    for (const std::string_view key : keys_of<Op>()) {
      if (key.empty()) continue;
      EXPECT_THAT(std::string(Op::info.doc), testing::HasSubstr(key)) << Op::info.key;
    }
  });
}

TEST(TaskDescription, KeysThatAreListedLastFollowTheOthers) {
  EXPECT_THAT(keys_of<KernelLaunch>(), testing::ElementsAre("kernel", "block_dim", "args", "type", "aiv_kernel"));
  EXPECT_THAT(keys_of<Hccl>(),
              testing::ElementsAre("op", "comm", "send", "recv", "count", "dtype", "reduce", "root", "algorithm"));
}

TEST(TaskDescription, FieldsThatDoNotBelongToAnOperationDoNotApply) {
  std::map<std::string_view, bool> applies;
  const auto look = [&](Hccl::Op op) {
    for_each_field<Hccl>([&](const auto& field) { applies[field.key] = field.applies(Hccl{.op = op}); });
  };
  look(Hccl::Op::broadcast);
  EXPECT_FALSE(applies["send"]);
  EXPECT_FALSE(applies["reduce"]);
  EXPECT_TRUE(applies["root"]);
  EXPECT_TRUE(applies["recv"]);
  look(Hccl::Op::reduce_scatter);
  EXPECT_TRUE(applies["send"]);
  EXPECT_TRUE(applies["reduce"]);
  EXPECT_FALSE(applies["root"]);
}

TEST(TaskDescription, AnOperationOfTwoFieldsNeedsNoMoreThanItsDescription) {
  TaskStream s = test::parse_text(R"(vinci: 1
name: t
arch: c100
buffers:
  d: {place: device, bytes: 64}
streams:
  s: [{value_write: {dst: {buffer: d, offset: 8}, value: 0xfedcba9876543210}}]
)");
  const ValueWrite expected{.dst = {.buffer = 0, .offset = 8}, .value = 0xfedcba9876543210};
  EXPECT_EQ(std::get<ValueWrite>(s.streams[0].tasks[0].op), expected);
  EXPECT_EQ(s.streams[0].tasks[0].name, "value_write");
  test::expect_round_trip(s);
}

// The row of each operation is its description. VINCI_UPDATE_EXPECTED=1 in the environment rewrites the rows, and adds
// one that is missing behind that of the operation before it in the list.
TEST(TaskDescription, TheTablesOfTheManualFollow) {
  std::ifstream in(VINCI_TASK_MANUAL);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const bool update = std::getenv("VINCI_UPDATE_EXPECTED") != nullptr;
  usize behind = 0;  // the end of the row before
  for (const OpInfo& info : kOpInfos) {
    const std::string begin = "\n| `" + std::string(info.key) + "` | ";
    usize at = text.find(begin);
    if (at == std::string::npos && update && behind != 0) text.insert(at = behind, begin + " |");
    ASSERT_NE(at, std::string::npos) << "no row for " << info.key << "; VINCI_UPDATE_EXPECTED=1 writes it";
    const usize from = at + begin.size(), to = text.find(" |\n", from);
    EXPECT_EQ(text.substr(from, to - from), info.doc);
    text.replace(from, to - from, info.doc);
    behind = from + info.doc.size() + 2;
  }
  if (update) std::ofstream(VINCI_TASK_MANUAL, std::ios::binary) << text;
}

}  // namespace
}  // namespace vinci::task
