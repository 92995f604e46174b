// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/cube_pipeline.h"

#include <fmt/format.h>

namespace vinci::test {

CubePipeline CubePipeline::random(std::mt19937_64& random) {
  return {.m1 = static_cast<u32>(1 + random() % 3),
          .n1 = static_cast<u32>(1 + random() % 3),
          .tiles = static_cast<u32>(2 + random() % 3)};
}

std::vector<DeviceBuffer> CubePipeline::buffers() const {
  return {{"a", a_bytes()}, {"b", b_bytes()}, {"c", u64{tiles} * c_bytes(), false}};
}

std::string CubePipeline::mad_text(u32 c, u32 a, u32 b, u32 step) const {
  return fmt::format("mad.f162f32 {:#x}, {:#x}, {:#x}, {}, 16, {}, {}", c, a, b, m1 * 16, n1 * 16, step == 0 ? 1 : 0);
}

Lines CubePipeline::program() const {
  Lines p;
  const auto flag = [&](std::string_view what, std::string_view src, std::string_view dst, u32 event, std::string tag) {
    p.add(fmt::format("{} PIPE_{}, PIPE_{}, EVENT_ID{}", what, src, dst, event), std::move(tag));
  };
  p.add("ld_arg X0, 0");
  p.add("ld_arg X1, 1");
  p.add("ld_arg X2, 2");
  p.add(fmt::format("copy_gm_to_cbuf 0x0, X0, 0, 1, {}, 0, 0", a_bytes() / 32), "load a");
  p.add(fmt::format("copy_gm_to_cbuf 0x4000, X1, 0, 1, {}, 0, 0", b_bytes() / 32), "load b");
  flag("set_flag", "MTE2", "MTE1", 0, "l1 set");
  flag("wait_flag", "MTE2", "MTE1", 0, "l1 wait");
  for (u32 t = 0; t < tiles; ++t) {
    for (u32 k = 0; k < 2; ++k) {
      const std::string tk = fmt::format("{} {}", t, k);
      if (t > 0) flag("wait_flag", "M", "MTE1", k, "l0 free " + tk);
      p.add(fmt::format("load_cbuf_to_ca {:#x}, 0x0, {}, {}, 1, 0, 0", l0(k), k * m1, m1), "ca " + tk);
      p.add(fmt::format("load_cbuf_to_cb {:#x}, 0x4000, {}, {}, 1, 0, 0", l0(k), k * n1, n1), "cb " + tk);
      flag("set_flag", "MTE1", "M", k, "l0 set " + tk);
      flag("wait_flag", "MTE1", "M", k, "l0 wait " + tk);
      if (t > 0 && k == 0) flag("wait_flag", "FIX", "M", 0, fmt::format("c free {}", t));
      if (k == 1) p.add("pipe_barrier PIPE_M", fmt::format("barrier {}", t));
      p.add(mad_text(0, l0(k), l0(k), k), "mad " + tk);
      if (t + 1 < tiles) flag("set_flag", "M", "MTE1", k, "l0 used " + tk);
    }
    flag("set_flag", "M", "FIX", 0, fmt::format("c set {}", t));
    flag("wait_flag", "M", "FIX", 0, fmt::format("c wait {}", t));
    p.add(fmt::format("copy_matrix_cc_to_gm X2, 0x0, 0, {}, {}, {}, {}, 0, 0, 0, 0, 1", n1 * 16, m1 * 16, n1 * 16,
                      m1 * 16),
          fmt::format("store {}", t));
    p.add(fmt::format("add X2, X2, {}", c_bytes()));
    if (t + 1 < tiles) flag("set_flag", "FIX", "M", 0, fmt::format("c stored {}", t));
  }
  p.add("end", "end");
  return p;
}

}  // namespace vinci::test
