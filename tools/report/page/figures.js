// SPDX-License-Identifier: Apache-2.0
// The key figures below the title.

// `id` names the value for programs that read the page; `share` draws a meter.
function figure(id, name, value, unit, more, share = null) {
  const width = `width: ${100 * Math.min(1, share ?? 0)}%`;
  return element("div", {}, element("dt", {}, name),
    element("dd", {},
      element("div", { class: "value", id: `figure-${id}` }, value, element("span", { class: "unit" }, unit)),
      share === null ? null : element("div", { class: "meter", "aria-hidden": "true" }, element("i", { style: width })),
      element("div", { class: "more", id: `figure-${id}-more` }, more)));
}

function keyFigures({ run, chip, cube, l2, traffic, tasks }) {
  const us = (cycles) => fixed((cycles / chip.clock_hz) * 1e6, 3);
  const [onL2, onHbm] = ["L2", "HBM"].map((name) => traffic.find((t) => t.level === name));
  const inKernels = run.cycles > 0 ? run.kernel_cycles / run.cycles : 0;
  const list = element("dl", { class: "figures" });
  const add = (...values) => list.append(figure(...values));
  add("time", "simulated time", fixed(run.seconds * 1e6, 3), "us",
    `${integer(run.cycles)} cycles of ${gigahertz(chip.clock_hz)} GHz`);
  const cold = run.cold_cycles > 0 ? `; a first launch takes ${us(run.cold_cycles)} us more, its cold start` : "";
  add("kernels", run.cold_cycles > 0 ? "kernels, warm" : "kernels", us(run.kernel_cycles), "us",
    `${percent(inKernels)} % of the time${cold}`, inKernels);
  if (run.gap_share !== undefined) {
    add("gap", "launch gaps", percent(run.gap_share), "%", "of the time no task was at work", run.gap_share);
  }
  if (cube !== undefined) {
    add("cube", "cube", fixed(cube.rate / 1e12, 2), "TFLOPS",
      `${percent(cube.share)} % of the FP16 peak of ${fixed(cube.peak / 1e12, 1)}, in kernels`, cube.share);
  }
  add("l2", "L2", fixed(onL2.rate / 1e9, 1), "GB/s",
    `in kernels; ${percent(l2.hit_share)} % of requests hit`, onL2.share);
  add("hbm", "HBM", fixed(onHbm.rate / 1e9, 1), "GB/s",
    `in kernels; ${percent(onHbm.share)} % of its peak`, onHbm.share);
  add("tasks", "tasks", integer(tasks.total), "", `on ${counted(tasks.streams.length, "stream")}`);
  add("instructions", "instructions", integer(run.instructions), "", "of all cores");
  return list;
}
