// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tiling/platform/platform_ascendc.h"

// What the host asks of the platform by names: the chip that the program runs on. Documentation: platform information
// of the operator host API. Host code uses these names of the standard library without std.
using std::map;
using std::string;
using std::vector;

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class OptionalInfos {
 public:
  void SetSocVersion(const std::string&) {}
  void SetCoreType(const std::string&) {}
  void SetAICoreNum(std::uint32_t) {}
  void Init() {}
};
using OptionalInfo = OptionalInfos;

class PlatFormInfos {
 public:
  bool Init() { return true; }
  std::uint32_t GetCoreNum() const { return chip_.GetCoreNum(); }
  std::uint32_t GetCoreNumByType(const std::string& type) const {
    return type == "VectorCore" ? chip_.GetCoreNumAiv() : chip_.GetCoreNumAic();
  }
  void SetCoreNum(std::uint32_t) {}
  void SetCoreNumByCoreType(const std::string&) {}
  // The whole memories, also what platform_ascendc keeps back.
  void GetLocalMemSize(LocalMemType type, std::uint64_t& size) const {
    using ::vinci::ascendc::Memory;
    constexpr Memory kMemories[] = {Memory::l0a,  Memory::l0b, Memory::l0c, Memory::l1,
                                    Memory::none, Memory::ub,  Memory::gm};
    const auto i = static_cast<unsigned>(type);
    size = i < sizeof(kMemories) / sizeof(kMemories[0]) ? ::vinci::ascendc::size_on_chip(kMemories[i]) : 0;
  }
  // False for what is not known; `value` stays then.
  bool GetPlatformRes(const std::string& group, const std::string& name, std::string& value) const {
    const Names* const known = all(group);
    if (known == nullptr || known->count(name) == 0) return false;
    value = known->at(name);
    return true;
  }
  bool GetPlatformResWithLock(const std::string& group, const std::string& name, std::string& value) const {
    return GetPlatformRes(group, name, value);
  }
  bool GetPlatformResWithLock(const std::string& group, std::map<std::string, std::string>& values) const {
    const Names* const known = all(group);
    if (known != nullptr) values = *known;
    return known != nullptr;
  }

 private:
  using Names = std::map<std::string, std::string>;
  const Names* all(const std::string& group) const {
    using ::vinci::ascendc::Memory;
    const auto size = [](Memory memory) { return std::to_string(::vinci::ascendc::size_on_chip(memory)); };
    if (groups_.empty()) {
      const bool split = chip_.GetCurNpuArch() == platform_ascendc::NpuArch::DAV_2201;
      const bool second = chip_.GetCurNpuArch() == platform_ascendc::NpuArch::DAV_2002;
      groups_["version"] = {{"Short_SoC_version", split    ? "Ascend910B"
                                                  : second ? "Ascend310P"
                                                           : "Ascend910"},
                            {"SoC_version", split    ? "Ascend910B1"
                                            : second ? "Ascend310P3"
                                                     : "Ascend910A"},
                            {"NpuArch", std::to_string(static_cast<std::uint32_t>(chip_.GetCurNpuArch()))}};
      groups_["SoCInfo"] = {{"ai_core_cnt", std::to_string(chip_.GetCoreNumAic())},
                            {"cube_core_cnt", std::to_string(chip_.GetCoreNumAic())},
                            {"vector_core_cnt", std::to_string(chip_.GetCoreNumAiv())},
                            {"cube_vector_combine", split ? "split" : "fuse"},
                            {"l2_size", size(Memory::none)},
                            {"memory_size", size(Memory::gm)}};
      groups_["AICoreSpec"] = {{"ub_size", size(Memory::ub)},    {"l1_size", size(Memory::l1)},
                               {"l0_a_size", size(Memory::l0a)}, {"l0_b_size", size(Memory::l0b)},
                               {"l0_c_size", size(Memory::l0c)}, {"bt_size", size(Memory::bt)},
                               {"fb_size", size(Memory::fb)},    {"ubblock_size", "32"}};
      if (split) {
        groups_["AICoreintrinsicDtypeMap"] = {{"Intrinsic_fix_pipe_l0c2out", "float16,float32,int32,bfloat16"},
                                              {"Intrinsic_data_move_l12bt", "float32,int32,bf16"},
                                              {"Intrinsic_data_move_out2l1_nd2nz", "float16,bfloat16,float32,int8"},
                                              {"Intrinsic_mmad", "f162f32,bf162f32,f322f32,s82s32"}};
      }
    }
    const auto found = groups_.find(group);
    return found == groups_.end() ? nullptr : &found->second;
  }

  platform_ascendc::PlatformAscendC chip_;
  mutable std::map<std::string, Names> groups_;
};

// The same as a struct, for older code.
struct PlatformInfo {
  struct {
    std::string short_soc_version;
  } str_info;
  struct {
    std::uint32_t ai_core_cnt = 0, vector_core_cnt = 0;
    std::uint64_t l2_size = 0, memory_size = 0;
  } soc_info;
  struct {
    std::uint64_t ub_size = 0, l1_size = 0, l0_a_size = 0, l0_b_size = 0, l0_c_size = 0;
  } ai_core_spec;
};

class PlatformInfoManager {
 public:
  static PlatformInfoManager& Instance() {
    static PlatformInfoManager one;
    return one;
  }
  static PlatformInfoManager& GeInstance() { return Instance(); }
  std::uint32_t InitializePlatformInfo() { return 0; }
  std::uint32_t GetPlatformInfos(const std::string&, PlatFormInfos&, OptionalInfos&) { return 0; }
  std::uint32_t GetPlatformInfo(const std::string&, PlatformInfo& info, OptionalInfos&) {
    return GetPlatformInfoWithOutSocVersion(info);
  }
  std::uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& info, OptionalInfos&) {
    return GetPlatformInfoWithOutSocVersion(info);
  }
  std::uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos&, OptionalInfos&) { return 0; }
  std::uint32_t GetPlatformInstanceByDevice(std::uint32_t, PlatFormInfos&) { return 0; }

 private:
  static std::uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& info) {
    const PlatFormInfos all;
    all.GetPlatformRes("version", "Short_SoC_version", info.str_info.short_soc_version);
    info.soc_info.ai_core_cnt = all.GetCoreNum();
    info.soc_info.vector_core_cnt = all.GetCoreNumByType("VectorCore");
    all.GetLocalMemSize(LocalMemType::L2, info.soc_info.l2_size);
    all.GetLocalMemSize(LocalMemType::HBM, info.soc_info.memory_size);
    all.GetLocalMemSize(LocalMemType::UB, info.ai_core_spec.ub_size);
    all.GetLocalMemSize(LocalMemType::L1, info.ai_core_spec.l1_size);
    all.GetLocalMemSize(LocalMemType::L0_A, info.ai_core_spec.l0_a_size);
    all.GetLocalMemSize(LocalMemType::L0_B, info.ai_core_spec.l0_b_size);
    all.GetLocalMemSize(LocalMemType::L0_C, info.ai_core_spec.l0_c_size);
    return 0;
  }
};

}  // namespace fe
