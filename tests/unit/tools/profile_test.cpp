// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/shell.h"
#include "tools/profile/simulator_tree.h"

namespace vinci::profile {
namespace {

using isa::CoreKind;
using isa::PipeId;
using Json = nlohmann::json;
using models::CoreSums;
using models::TaskRecord;

// A cycle is a nanosecond; two cube cores, four vector cores.
config::ChipConfig split_chip() {
  config::ChipConfig chip;
  chip.clock = config::Hertz(1e9);
  chip.ai_cores = 2;
  chip.vector_cores = 4;
  chip.host.launch = config::Seconds(3e-7);
  chip.host.enqueue = config::Seconds(1e-7);
  return chip;
}

config::ChipConfig joint_chip() {
  config::ChipConfig chip = split_chip();
  chip.vector_cores = 0;
  return chip;
}

// Tasks by their position in stream 0; stream 1 belongs to a model.
enum : u32 { kMatMul, kAdd, kMix, kCopy, kSum, kCrop };
task::TaskStream tasks() {
  task::TaskStream s;
  s.kernels.resize(2);
  s.kernels[0].name = "MatMul";
  s.kernels[1].name = "Add,2";
  s.kernels[1].type = task::KernelType::AIV_ONLY;
  s.models = {"step"};
  task::Stream main{.name = "main"};
  main.tasks = {{.name = "mm", .op = task::KernelLaunch{.kernel = 0, .block_dim = 4}},
                {.name = "add", .op = task::KernelLaunch{.kernel = 1, .block_dim = 3}},
                {.name = "mix", .op = task::KernelLaunch{.kernel = 0, .aivs = 2, .aiv_kernel = 1}},
                {.name = "copy", .op = task::MemcpyAsync{}},
                {.name = "sum", .op = task::Hccl{}},
                {.name = "crop", .op = task::CpuKernelLaunch{.kernel = "ExtractImagePatches"}}};
  s.streams = {main, {.name = "side", .tasks = main.tasks, .model = 0}};
  return s;
}

TaskRecord record(u32 task, std::string_view name, std::string_view kind, u64 start, u64 end) {
  return {.name = name, .kind = kind, .stream = "main", .task_id = task, .enqueued = start, .start = start, .end = end};
}

TaskRecord matmul(u64 start, u64 end) {
  TaskRecord r = record(kMatMul, "mm", "KERNEL_AICORE", start, end);
  r.block_dim = 4;
  return r;
}

CoreSums sums(u64 blocks, u64 cycles, std::initializer_list<std::pair<PipeId, u64>> busy) {
  CoreSums out{.blocks = blocks, .cycles = cycles};
  for (const auto& [pipe, n] : busy)
    out.busy[isa::index(pipe)] = n;
  return out;
}

class ProfileFiles : public testing::Test {
 protected:
  std::string text(const std::string& name) const { return test::slurp(folder_ / name); }
  void write(const config::ChipConfig& chip, const task::TaskStream& stream, const std::vector<TaskRecord>& records) {
    Profile profile(folder_.path().string(), kTimestamp, Level::all, chip, stream);
    for (const TaskRecord& r : records)
      profile.task(r);
    profile.commit();
  }
  std::string rows(const std::string& name) const {
    const std::string all = text(name);
    return all.substr(all.find('\n') + 1);
  }

  test::TempFolder folder_{fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

std::string times(usize n, std::string_view s) {
  std::string out;
  for (usize i = 0; i < n; ++i)
    out += s;
  return out;
}

TEST_F(ProfileFiles, OpSummaryOfSplitCores) {
  TaskRecord mm = matmul(1000, 3000);
  mm.cores[static_cast<usize>(CoreKind::cube)] =
      sums(4, 3200, {{PipeId::M, 1600}, {PipeId::S, 320}, {PipeId::MTE2, 2400}, {PipeId::FIX, 160}});
  TaskRecord add = record(kAdd, "add", "KERNEL_AIVEC", 3500, 4000);
  add.block_dim = 3;
  add.cores[static_cast<usize>(CoreKind::vector)] = sums(3, 900, {{PipeId::V, 450}, {PipeId::MTE3, 900}});
  TaskRecord mix = record(kMix, "mix", "KERNEL_MIX_AIC", 3900, 4900);
  mix.block_dim = 1;
  mix.mix = true;
  mix.cores[static_cast<usize>(CoreKind::cube)] = sums(1, 1000, {{PipeId::MTE1, 500}});
  mix.cores[static_cast<usize>(CoreKind::vector)] = sums(2, 2000, {{PipeId::MTE2, 500}});
  write(split_chip(), tasks(), {mm, add, mix, record(kCopy, "copy", "MEMCPY_ASYNC", 5000, 6000)});

  const std::string none = ",N/A";
  EXPECT_EQ(
      text("op_summary_19700101000000.csv"),
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
      "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
      "Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),"
      "aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),"
      "aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,"
      "aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,"
      "aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)\n"
      // 3200 cycles of 4 blocks on 2 cores: two after each other, 1.6 us
      "0,4294967295,0,0,mm,MatMul,N/A,AI_CORE,1.000\t,2.000,0.000,4,0" +
          times(8, none) + ",1.600,3200,0.800,0.500,0.160,0.100,0.000,0.000,1.200,0.750,0.080,0.050" + times(12, none) +
          ",80.000\n" + "0,4294967295,1,0,add,\"Add,2\",N/A,AI_VECTOR_CORE,3.500\t,0.500,0.500,3,0" +
          times(8 + 13, none) + ",0.300,900,0.150,0.500,0.000,0.000,0.000,0.000,0.300,1.000" + times(2, none) + "\n" +
          "0,4294967295,2,0,mix,MatMul,N/A,MIX_AIC,3.900\t,1.000,0.000,1,2" + times(8, none) +
          ",1.000,1000,0.000,0.000,0.000,0.000,0.500,0.500,0.000,0.000,0.000,0.000,N/A" +
          ",1.000,2000,0.000,0.000,0.000,0.000,0.250,0.250,0.000,0.000,N/A,50.000\n");
}

TEST_F(ProfileFiles, OpSummaryOfJointCores) {
  TaskRecord mm = matmul(0, 1000);
  mm.cores[static_cast<usize>(CoreKind::joint)] =
      sums(2, 1000, {{PipeId::M, 500}, {PipeId::V, 100}, {PipeId::MTE2, 750}, {PipeId::MTE3, 50}});
  TaskRecord crop = record(kCrop, "crop", "KERNEL_AICPU", 1500, 2000);
  crop.block_dim = 1;
  write(joint_chip(), tasks(), {mm, crop});
  EXPECT_EQ(
      text("op_summary_19700101000000.csv"),
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
      "Task Wait Time(us),Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
      "Output Data Types,Output Formats,aicore_time(us),total_cycles,vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,"
      "mte2_ratio,mte3_ratio,icache_miss_rate,memory_bound,cube_utilization(%)\n"
      "0,4294967295,0,0,mm,MatMul,N/A,AI_CORE,0.000\t,1.000,0.000,4" +
          times(7, ",N/A") + ",0.500,1000,0.100,0.500,0.000,0.000,0.750,0.050,N/A,1.500,50.000\n" +
          "0,4294967295,5,0,crop,ExtractImagePatches,N/A,AI_CPU,1.500\t,0.500,0.500,1" + times(7 + 11, ",N/A") + "\n");
}

TEST_F(ProfileFiles, RowsComeInTheOrderOfTheirStart) {
  // As they end.
  TaskRecord other = matmul(10, 700);
  other.device = 1;
  write(split_chip(), tasks(), {matmul(200, 300), matmul(400, 500), other, matmul(0, 800)});
  EXPECT_EQ(rows("task_time_19700101000000.csv"),
            "0,mm,KERNEL_AICORE,0,0,0.800,0.000,0.800\n"
            "1,mm,KERNEL_AICORE,0,0,0.690,0.010,0.700\n"
            "0,mm,KERNEL_AICORE,0,0,0.100,0.200,0.300\n"
            "0,mm,KERNEL_AICORE,0,0,0.100,0.400,0.500\n");
}

TEST(StartOrder, HoldsNoMoreThanItsRoom) {
  struct Seen final : models::TaskSink {
    void task(const TaskRecord& r) override { starts.push_back(r.start); }
    std::vector<u64> starts;
  } seen;
  StartOrder order(seen, 2);
  for (const u64 start : {3, 1, 2, 4})
    order.task(matmul(start, 9));
  EXPECT_EQ(seen.starts, (std::vector<u64>{1, 2}));
  order.task(matmul(0, 9));  // later than its room allows
  order.flush();
  EXPECT_EQ(seen.starts, (std::vector<u64>{1, 2, 0, 3, 4}));
}

TEST_F(ProfileFiles, TaskTimeListsEveryTask) {
  TaskRecord copy = record(kCopy, "h2d, \"x\"", "MEMCPY_ASYNC", 1234, 5678);
  copy.task_id = 0x10003;  // the hardware has 16 bits
  task::TaskStream stream = tasks();
  stream.streams[0].tasks.resize(copy.task_id + 1, stream.streams[0].tasks[kCopy]);
  write(split_chip(), stream, {copy});
  EXPECT_EQ(text("task_time_19700101000000.csv"),
            "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
            "0,\"h2d, \"\"x\"\"\",MEMCPY_ASYNC,0,3,4.444,1.234,5.678\n");
}

TEST_F(ProfileFiles, OpStatisticAddsUpByTypeAndDevice) {
  TaskRecord far = matmul(0, 70);
  far.device = 1;
  write(split_chip(), tasks(),
        {matmul(0, 100), far, record(kAdd, "add", "KERNEL_AIVEC", 100, 700), matmul(700, 801),
         record(kCopy, "copy", "MEMCPY_ASYNC", 801, 900), record(kSum, "sum", "COMMUNICATION", 900, 1099)});
  EXPECT_EQ(text("op_statistic_19700101000000.csv"),
            "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
            "0,\"Add,2\",AI_VECTOR_CORE,1,0.600,0.600,0.600,0.600,60.000\n"
            "0,MatMul,AI_CORE,2,0.201,0.100,0.100,0.101,20.100\n"
            "0,hcom_allReduce_,COMMUNICATION,1,0.199,0.199,0.199,0.199,19.900\n"
            "1,MatMul,AI_CORE,1,0.070,0.070,0.070,0.070,100.000\n");
}

TEST_F(ProfileFiles, StepTraceHasARowForEachIterationOfAModel) {
  std::vector<TaskRecord> records;
  for (u64 i = 0; i < 2; ++i) {
    const u64 t = 10000 * i;
    records.push_back(record(kCopy, "copy", "MEMCPY_ASYNC", t + 1000, t + 2000));
    records.push_back(record(kMatMul, "mm", "KERNEL_AICORE", t + 2500, t + 4000));
    records.push_back(record(kAdd, "add", "KERNEL_AIVEC", t + 4000, t + 6000));
    records.push_back(record(kSum, "sum", "COMMUNICATION", t + 6100, t + 7000));
    for (usize k = records.size() - 4; k < records.size(); ++k)
      records[k].iteration = i;
  }
  TaskRecord side = record(kCopy, "copy", "MEMCPY_ASYNC", 500, 600);  // a model without kernels
  side.stream_id = 1;
  records.insert(records.begin(), side);
  write(split_chip(), tasks(), records);
  EXPECT_EQ(text("step_trace_19700101000000.csv"),
            "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
            "Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us)\n"
            "0,1,N/A,N/A,0.600,0.100,N/A,N/A,N/A,0,N/A,N/A\n"
            "0,1,2.500,6.000,7.000,4.500,3.500,1.000,N/A,4294967295,6.100,0.900\n"
            "0,2,12.500,16.000,17.000,10.000,3.500,1.000,5.500,4294967295,16.100,0.900\n");
}

TEST_F(ProfileFiles, StepTraceHoldsABoundedNumberOfIterations) {
  std::vector<TaskRecord> records;
  for (u64 i = 0; i < 3000; ++i) {
    records.push_back(matmul(10 * i, 10 * i + 5));
    records.back().iteration = i;
  }
  records.push_back(matmul(30000, 30010));  // of the first iteration, which is long gone: counts to the first open one
  write(split_chip(), tasks(), records);
  const std::string all = rows("step_trace_19700101000000.csv");
  EXPECT_EQ(std::ranges::count(all, '\n'), 3000);
  EXPECT_NE(all.find("\n0,1976,19.750,19.755,"), std::string::npos);
  EXPECT_NE(all.find("\n0,1977,19.760,30.010,"), std::string::npos) << all.substr(all.find("\n0,1977,"), 80);
}

TEST_F(ProfileFiles, MsprofJsonHasProcessesTasksAndArrows) {
  TaskRecord copy = record(kCopy, "copy", "MEMCPY_ASYNC", 2000, 3000);
  copy.enqueued = 1500;
  copy.bytes = 4000;
  copy.direction = "host to device";
  TaskRecord sum = record(kSum, "sum", "COMMUNICATION", 3000, 4000);
  TaskRecord bound = matmul(5000, 6000);
  bound.stream_id = 1;
  write(split_chip(), tasks(), {copy, sum, bound});
  const Json all = Json::parse(text("msprof_19700101000000.json"));
  ASSERT_TRUE(all.is_array());
  // (1 << 10) | (sort index << 5) | device
  constexpr u64 kCann = 1279, kHardware = 1472, kFreq = 1504, kCommunication = 1536;
  std::map<u64, std::string> processes;
  for (const Json& e : all) {
    if (e.at("name") == "process_name") processes[e.at("pid")] = e.at("args").at("name");
  }
  EXPECT_EQ(processes, (std::map<u64, std::string>{{kCann, "CANN"},
                                                   {kHardware, "Ascend Hardware"},
                                                   {kFreq, "AI Core Freq"},
                                                   {kCommunication, "Communication"}}));
  const auto find = [&](const char* phase, u64 pid) {
    std::vector<Json> out;
    for (const Json& e : all) {
      if (e.at("ph") == phase && e.at("pid") == pid) out.push_back(e);
    }
    return out;
  };
  const auto tasks = find("X", kHardware);
  ASSERT_EQ(tasks.size(), 3u);
  const Json expected = Json::parse(R"json({"name": "copy", "ph": "X", "pid": 1472, "tid": 0, "ts": 2.0, "dur": 1.0,
      "args": {"Model Id": 4294967295, "Task Type": "MEMCPY_ASYNC", "Physic Stream Id": 0, "Task Id": 3, "Batch Id": 0,
               "Subtask Id": 4294967295, "connection_id": 1, "size(B)": 4000, "bandwidth(GB/s)": 4.0,
               "operation": "host to device"}})json");
  EXPECT_EQ(tasks[0], expected);
  EXPECT_EQ(tasks[2].at("args").at("Model Id"), 0);
  EXPECT_EQ(find("X", kCommunication).size(), 1u);
  // The model's task is not handed over by a host call.
  const auto calls = find("X", kCann);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].at("ts"), 1.4);
  EXPECT_EQ(calls[0].at("dur"), 0.1);
  const auto from = find("s", kCann), to = find("f", kHardware);
  ASSERT_EQ(from.size(), 2u);
  ASSERT_EQ(to.size(), 2u);
  EXPECT_EQ(from[0].at("id"), std::to_string(u64{1} << 32));
  EXPECT_EQ(from[0].at("id"), to[0].at("id"));
  EXPECT_EQ(from[0].at("cat"), "HostToDevice");
  EXPECT_EQ(to[0].at("bp"), "e");
  EXPECT_EQ(to[0].at("ts"), 2.0);
  EXPECT_EQ(find("C", kFreq).size(), 2u);
  EXPECT_EQ(find("C", kFreq)[1].at("args").at("MHz"), 1000);
}

TEST_F(ProfileFiles, NothingAppearsWithoutCommit) {
  {
    const config::ChipConfig chip = split_chip();
    const task::TaskStream stream = tasks();
    Profile profile(folder_.path().string(), kTimestamp, Level::all, chip, stream);
    profile.task(matmul(0, 10));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ProfileFiles, LevelCsvWritesNoJson) {
  const config::ChipConfig chip = split_chip();
  const task::TaskStream stream = tasks();
  Profile profile(folder_.path().string(), "20240102030405", Level::csv, chip, stream);
  profile.commit();
  std::vector<std::string> names;
  for (const auto& e : std::filesystem::directory_iterator(folder_.path())) {
    names.push_back(e.path().filename().string());
    EXPECT_TRUE(is_profile_name(names.back())) << names.back();
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("op_summary_20240102030405.csv", "op_statistic_20240102030405.csv",
                                                   "task_time_20240102030405.csv", "step_trace_20240102030405.csv"));
}

TEST(ProfileNames, OnlyOurOwn) {
  for (const char* name : {"msprof_20240102030405.json", "OPPROF_20240102030405_VINCI"})
    EXPECT_TRUE(is_profile_name(name)) << name;
  for (const char* name : {"msprof_2024010203040.json", "msprof_2024010203040x.json", "OPPROF_20240102030405_ABCDEF",
                           "op_summary_.csv", "op_summary_20240102030405.csv.bak", ""})
    EXPECT_FALSE(is_profile_name(name)) << name;
}

TEST_F(ProfileFiles, SimulatorTreeOfSplitCores) {
  SimulatorTree tree(folder_.path().string(), 2e9, 2);
  const trace::TrackId cube = tree.track("core1.AIC", "M");
  const trace::TrackId vector = tree.track("core3.AIV", "V");
  const trace::TrackId idle = tree.track("core0.AIC", "M");
  const trace::TrackId stream = tree.track("device", "stream main");
  for (const u64 t : {100, 200}) {
    tree.span({.track = cube,
               .name = "mad",
               .begin = t,
               .end = t + 30,
               .detail = t == 100 ? "first" : "again",
               .source = "k.s",
               .line = 7,
               .pc = 3});
  }
  tree.span({.track = cube, .name = "mad", .begin = 300, .end = 302, .source = "k.s", .line = 7, .pc = 4});
  tree.span(
      {.track = vector, .name = "vadd", .begin = 3, .end = 5, .detail = "a, b", .source = "k.s", .line = 9, .pc = 8});
  tree.span({.track = stream, .name = "task", .begin = 0, .end = 500});
  tree.flow(cube, 1, vector, 2, "x");
  tree.commit();
  (void)idle;

  EXPECT_FALSE(std::filesystem::exists(folder_ / "core0.cubecore0"));
  EXPECT_EQ(text("core1.cubecore0/core1.cubecore0_instr_exe.csv"),
            "instr,addr,pipe,call_count,cycles,running_time(us),detail\n"
            "mad,0x60,CUBE,2,60,0.030,first\n"
            "mad,0x80,CUBE,1,2,0.001,\n");
  EXPECT_EQ(text("core1.cubecore0/core1.cubecore0_code_exe.csv"),
            "code,call_count,cycles,running_time(us)\n"
            "k.s:7,3,62,0.031\n");
  EXPECT_EQ(text("core1.veccore1/core1.veccore1_instr_exe.csv"),
            "instr,addr,pipe,call_count,cycles,running_time(us),detail\n"
            "vadd,0x100,VECTOR,1,2,0.001,\"a, b\"\n");
  const Json mine = Json::parse(text("core1.veccore1/trace.json"));
  EXPECT_EQ(mine, Json::parse(R"({"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 1, "traceEvents": [
      {"name": "vadd", "ph": "X", "pid": "core1.veccore1", "tid": "VECTOR", "ts": 0.001, "dur": 0.001,
       "cname": "rail_response", "args": {"code": "k.s:9", "detail": "a, b", "pc_addr": "0x100"}}]})"));
  EXPECT_EQ(Json::parse(text("trace.json")).at("traceEvents").size(), 4u);
}

TEST_F(ProfileFiles, SimulatorTreeShowsTheKernelsAndCoresThatItIsAskedFor) {
  SimulatorTree tree(folder_.path().string(), 1e9, 2, {.kernels = {"Add", "Mul"}, .cores = {1, 12}});
  const auto show = [&](const std::string& core, std::string_view task) {
    tree.span({.track = tree.track(core, "V"),
               .name = "vadd",
               .begin = 3,
               .end = 5,
               .source = "k.s",
               .line = 9,
               .task = task});
  };
  show("core3.AIV", "AddCustom");  // core1.veccore1
  show("core24.AIV", "Mul");       // core12.veccore0
  show("core22.AIV", "Mul");       // core11.veccore0
  show("core2.AIV", "Subtract");   // core1.veccore0
  show("npu1.core2.AIV", "Mul");   // npu1.core1.veccore0
  tree.commit();
  std::vector<std::string> shown;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    shown.push_back(entry.path().filename().string());
  EXPECT_THAT(shown,
              testing::UnorderedElementsAre("core1.veccore1", "core12.veccore0", "npu1.core1.veccore0", "trace.json"));
  EXPECT_EQ(Json::parse(text("trace.json")).at("traceEvents").size(), 3u);
}

TEST_F(ProfileFiles, SimulatorTreeOfJointCoresAndSeveralDevices) {
  SimulatorTree tree(folder_.path().string(), 1e9, 0);
  const trace::TrackId v = tree.track("npu1.core12.AI_CORE", "V");
  tree.span({.track = v, .name = "vadd", .begin = 3, .end = 5, .source = "k.s", .line = 9});
  tree.commit();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "npu1.core12/npu1.core12_instr_exe.csv"));
}

}  // namespace
}  // namespace vinci::profile
