// SPDX-License-Identifier: Apache-2.0
// Bars of what pipes did, and the map of cores.

const kDoing = ["busy", "wait_flag", "barrier", "queue_full", "drain", "idle"];

function pipeBars(pipes) {
  const name = "What each pipe did; the table has the values";
  const bars = element("div", { class: "bars", role: "img", "aria-label": name });
  for (const row of pipes) {
    const bar = element("div", { class: "bar" });
    for (const doing of kDoing) {
      if (row[doing] === 0) continue;
      const part = element("i", { style: `width: ${(100 * row[doing]) / row.whole}%; background: var(--${doing})` });
      Tooltip.attach(part, `${row.pipe}: ${doing}`, [
        ["share", `${percent(row[doing] / row.whole)} %`],
        ["cycles, all cores", integer(row[doing])],
      ]);
      bar.append(part);
    }
    bars.append(element("div", {}, row.pipe), bar);
  }
  const legend = element("ul", { class: "legend" }, ...kDoing.map((doing) =>
    element("li", {}, element("i", { style: `background: var(--${doing})` }), doing)));
  return element("div", {}, bars, legend);
}

// A cell for each core and pipe, the darker the busier.
function coreMap(cores, kernelCycles) {
  const left = 52;
  const width = 1100;
  const cell = Math.min(44, (width - left) / Math.max(1, cores.names.length));
  const height = 24;
  const top = 4;
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${top + cores.pipes.length * height + 20}`,
    class: "wide",
    role: "img",
    "aria-label": "Busy share of each pipe of each core while kernels ran",
  });
  cores.pipes.forEach((row, r) => {
    root.append(svg("text", { x: 0, y: top + r * height + 16, class: "quiet" }, row.pipe));
    row.busy.forEach((busy, c) => {
      if (busy === null) return;
      const share = kernelCycles > 0 ? busy / kernelCycles : 0;
      const at = { x: left + c * cell, y: top + r * height, width: Math.max(1, cell - 2), height: height - 2, rx: 2 };
      const node = svg("g", {}, svg("rect", { ...at, fill: "var(--idle)" }),
        svg("rect", { ...at, fill: "var(--busy)", "fill-opacity": Math.min(1, share) }));
      Tooltip.attach(node, `${cores.names[c]}.${row.pipe}`, [
        ["busy", `${percent(share)} %`],
        ["busy cycles", integer(busy)],
        ["blocks", integer(cores.blocks[c])],
      ]);
      root.append(node);
    });
  });
  const y = top + cores.pipes.length * height + 13;
  const every = Math.ceil(90 / cell);
  cores.names.forEach((name, c) => {
    if (c % every === 0) root.append(svg("text", { x: left + c * cell, y, class: "quiet" }, name));
  });
  return root;
}
