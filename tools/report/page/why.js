// SPDX-License-Identifier: Apache-2.0
// Why kernels take their time: shares of the critical path, advice, lines.

// Kinds of costs that belong together have a colour.
const kWhyColours = {
  "cube": "busy", "vector": "kernel-aivec", "MTE1": "copy", "MTE2": "drain", "MTE3": "fill", "FIXPIPE": "kernel-mix",
  "L2 latency": "wait_flag", "L2 busy": "wait_flag", "HBM latency": "collective", "HBM busy": "barrier",
  "port": "collective", "scalar code": "queue_full", "scalar loads": "queue_full", "flags": "queue_full",
  "instruction issue": "kernel-aicpu", "program start": "rule-strong",
};
const whyColour = (kind) => `var(--${kWhyColours[kind] ?? "control"})`;

// The parts of the warm time: all but the cold start, which a first launch takes besides.
function warmPath(kernel) {
  const warm = Math.max(1, kernel.warm_cycles);
  return kernel.path.filter((part) => part.kind !== "cold start").map((part) => ({
    ...part,
    share: part.cycles / warm,
    without: part.without === null ? null : Math.max(0, part.without - kernel.cold_cycles),
  }));
}

function whyBar(path, us) {
  const bar = element("div", { class: "bar" });
  for (const part of path) {
    const node = element("i", { style: `width: ${100 * part.share}%; background: ${whyColour(part.kind)}` });
    const rows = [["share", `${percent(part.share)} %`], ["time", `${us(part.cycles)} us`], ["what", part.meaning]];
    if (part.without !== null) rows.push(["without it at most", `${us(part.without)} us`]);
    Tooltip.attach(node, part.kind, rows);
    bar.append(node);
  }
  return bar;
}

function whyLegend(path) {
  const shown = path.filter((part) => part.share >= 0.01);
  return element("ul", { class: "legend" }, ...shown.map((part) => element("li", {},
    element("i", { style: `background: ${whyColour(part.kind)}` }), `${part.kind} ${percent(part.share)} %`)));
}

function adviceList(kernel) {
  if (kernel.advice.length === 0) return null;
  return element("div", {}, ...kernel.advice.map((advice) => element("div", { class: "finding advice" },
    element("h3", {}, `${advice.rule}: ${percent(advice.share, 0)} %` +
      (advice.gain === null ? "" : `, about ${percent(advice.gain, 0)} % to gain`)),
    element("p", {}, `${advice.found}.`),
    element("p", {}, `Remedy: ${advice.todo}.`))));
}

function whyTables(kernel, path, us) {
  const number = (title, value, text) => ({ title, value, text, number: true });
  const share = (r) => r.cycles / Math.max(1, kernel.warm_cycles);
  const costs = sortableTable({
    rows: path,
    sorted: "time(us)",
    columns: [
      { title: "critical path", value: (r) => r.kind },
      number("time(us)", (r) => r.cycles, (r) => us(r.cycles)),
      number("share(%)", share, (r) => percent(share(r))),
      number("without it at most(us)", (r) => r.without ?? -1, (r) => (r.without === null ? "" : us(r.without))),
      { title: "what", value: (r) => r.meaning },
    ],
  });
  const lines = sortableTable({
    rows: kernel.lines,
    sorted: "time(us)",
    step: 15,
    columns: [
      { title: "line", value: (r) => r.at },
      { title: "instruction", value: (r) => r.instruction },
      number("time(us)", (r) => r.cycles, (r) => us(r.cycles)),
      number("share(%)", share, (r) => percent(share(r))),
      { title: "mostly", value: (r) => r.kind },
    ],
  });
  return element("details", {}, element("summary", {}, "Costs and lines of the critical path"), costs, lines);
}

function whyKernel(kernel, clock) {
  const us = (cycles) => fixed((cycles / clock) * 1e6, 3);
  const many = kernel.launches > 1 ? `, the slowest of ${counted(kernel.launches, "launch").replace(/hs$/, "hes")}` : "";
  const path = warmPath(kernel);
  return element("div", { class: "why" },
    element("h3", {}, `${kernel.name}: ${us(kernel.warm_cycles)} us${many}`),
    element("p", { class: "note" }, (kernel.cold_cycles > 0 ? `Warm; a first launch takes ${us(kernel.cold_cycles)} us more, its cold start. ` : "") +
      `${counted(kernel.blocks, "block")} on ${counted(kernel.slots, "core")}.`),
    element("p", {}, kernel.limited_by ? `${kernel.limited_by[0].toUpperCase()}${kernel.limited_by.slice(1)}.` : ""),
    whyBar(path, us), whyLegend(path), adviceList(kernel), whyTables(kernel, path, us));
}

function whySection(data) {
  const why = data.explanation;
  if (why === undefined || why.kernels.length === 0) return null;
  const cut = why.total > why.kernels.length
    ? ` Shown are the ${why.kernels.length} of ${integer(why.total)} kernels that take longest.` : "";
  return element("div", {},
    element("p", { class: "note" },
      "The critical path is the chain of events that made a kernel end when it did. Its shares of the warm time add up to 100 %." + cut),
    ...why.kernels.map((kernel) => whyKernel(kernel, why.clock_hz)));
}
