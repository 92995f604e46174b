// SPDX-License-Identifier: Apache-2.0
// The roofline: what a kernel reached, against what the units and the memory of the chip allow at its intensity.

const kUnitColours = { cube: "kernel-aicore", vector: "kernel-aivec" };
const kUnitNames = { cube: "cube, FP16", vector: "vector, FP16 lanes" };

const intensityOf = (point) => point.operations / point.bytes;
const rateOf = (point) => point.operations / point.seconds;

// What limits a point: the lower of its unit's peak and of its level's bandwidth at its intensity.
function boundOf(roofline, point) {
  const compute = roofline.units[point.unit];
  const memory = roofline.levels[point.level] * intensityOf(point);
  return memory < compute ? { rate: memory, by: point.level } : { rate: compute, by: point.unit };
}

function pointRows(roofline, point) {
  const bound = boundOf(roofline, point);
  return [
    ["unit", point.unit],
    ["launches", integer(point.count)],
    ["intensity", `${intensityOf(point).toPrecision(3)} op/B of ${point.level}`],
    ["reached", scaled(rateOf(point), "op/s")],
    ["bound", `${scaled(bound.rate, "op/s")} by ${bound.by}`],
    ["share of bound", `${percent(rateOf(point) / bound.rate)} %`],
  ];
}

// Both axes are logarithmic; a scale maps values to pixels.
function logScale(low, high, from, to) {
  const scale = (value) => from + (Math.log10(value / low) / Math.log10(high / low)) * (to - from);
  scale.decades = [];
  for (let d = Math.ceil(Math.log10(low) - 1e-9); d <= Math.log10(high) + 1e-9; ++d) scale.decades.push(10 ** d);
  return scale;
}

function rooflineChart(roofline) {
  const width = 1100;
  const height = 440;
  const plot = { left: 76, right: width - 16, top: 14, bottom: height - 44 };
  const { units, levels, points } = roofline;
  const peak = Math.max(...Object.values(units));
  const ridges = Object.values(levels).flatMap((b) => Object.values(units).map((u) => u / b));
  const intensities = [...ridges, ...points.map(intensityOf)];
  const [low, high] = [Math.min(...intensities) / 4, Math.max(...intensities) * 6];
  const floor = Math.min(Math.min(...Object.values(levels)) * low * 2, ...points.map((p) => rateOf(p) / 2));
  const x = logScale(low, high, plot.left, plot.right);
  const y = logScale(floor, peak * 2.5, plot.bottom, plot.top);
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "wide",
    role: "group",
    "aria-label": "Roofline; the table below has the values",
  });

  for (const d of x.decades) {
    root.append(svg("line", { class: "grid", x1: x(d), x2: x(d), y1: plot.top, y2: plot.bottom }),
      svg("text", { class: "quiet", x: x(d), y: plot.bottom + 17, "text-anchor": "middle" },
        String(Number(d.toPrecision(3)))));
  }
  for (const d of y.decades) {
    root.append(svg("line", { class: "grid", x1: plot.left, x2: plot.right, y1: y(d), y2: y(d) }),
      svg("text", { class: "quiet", x: plot.left - 8, y: y(d) + 4, "text-anchor": "end" },
        scaled(d, "op/s").replace(/\.0+ /, " ")));
  }
  const area = { x: plot.left, y: plot.top, width: plot.right - plot.left, height: plot.bottom - plot.top };
  root.append(svg("rect", { class: "frame", ...area }),
    svg("text", { class: "quiet", x: (plot.left + plot.right) / 2, y: height - 8, "text-anchor": "middle" },
      "operations per byte"));

  const fastest = Math.max(...Object.values(levels));
  for (const [unit, rate] of Object.entries(units)) {
    root.append(svg("line", { class: "ceiling", x1: x(rate / fastest), x2: plot.right, y1: y(rate), y2: y(rate) }),
      svg("text", { class: "label", x: plot.right - 8, y: y(rate) - 7, "text-anchor": "end" },
        `${kUnitNames[unit]}: ${scaled(rate, "op/s")}`));
  }
  for (const [level, bandwidth] of Object.entries(levels)) {
    const start = Math.max(low, floor / bandwidth);
    const [x1, y1, x2, y2] = [x(start), y(start * bandwidth), x(peak / bandwidth), y(peak)];
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const [lx, ly] = [x1 + (x2 - x1) * 0.16, y1 + (y2 - y1) * 0.16];
    root.append(svg("line", { class: "bandwidth", x1, y1, x2, y2 }),
      svg("text", { class: "label", x: lx, y: ly - 6, transform: `rotate(${angle} ${lx} ${ly})` },
        `${level}: ${scaled(bandwidth, "B/s")}`));
  }
  drawPoints(roofline, root, x, y, plot);
  return root;
}

// Points, with a name next to those for which there is room, the ones that took longest first.
function drawPoints(roofline, root, x, y, plot) {
  const taken = [];
  for (const point of [...roofline.points].sort((a, b) => b.seconds - a.seconds)) {
    const [cx, cy] = [x(intensityOf(point)), y(rateOf(point))];
    const paint = `var(--${kUnitColours[point.unit]})`;
    const hollow = point.level === "HBM";
    const node = svg("circle", {
      cx, cy, r: 5.5,
      class: hollow ? "point hollow" : "point",
      style: hollow ? `stroke: ${paint}` : `fill: ${paint}`,
      tabindex: "0",
      "aria-label": `${point.name}: ${pointRows(roofline, point).map((r) => r.join(" ")).join(", ")}`,
    });
    Tooltip.attach(node, point.name, pointRows(roofline, point));
    root.append(node);
    const name = `${point.name}${hollow ? " (HBM)" : ""}`;
    const text = name.length > 28 ? `${name.slice(0, 27)}\u2026` : name;
    const box = { left: cx + 9, right: cx + 12 + text.length * 6.5, top: cy - 9, bottom: cy + 9 };
    const free = box.right < plot.right &&
      taken.every((b) => box.left > b.right || box.right < b.left || box.top > b.bottom || box.bottom < b.top);
    if (!free || taken.length >= 24) continue;
    taken.push(box);
    root.append(svg("text", { class: "label", x: box.left, y: cy + 4 }, text));
  }
}

function rooflineTable(roofline) {
  const number = (title, value, text) => ({ title, value, text, number: true });
  const bound = (p) => boundOf(roofline, p);
  const reached = (p) => rateOf(p) / bound(p).rate;
  return sortableTable({
    rows: roofline.points,
    columns: [
      { title: "kernel", value: (p) => p.name },
      { title: "unit", value: (p) => p.unit },
      { title: "bytes of", value: (p) => p.level },
      number("launches", (p) => p.count, (p) => integer(p.count)),
      number("operations", (p) => p.operations, (p) => integer(p.operations)),
      number("bytes", (p) => p.bytes, (p) => integer(p.bytes)),
      number("op/B", intensityOf, (p) => fixed(intensityOf(p), 2)),
      number("reached", rateOf, (p) => scaled(rateOf(p), "op/s")),
      number("bound", (p) => bound(p).rate, (p) => `${scaled(bound(p).rate, "op/s")} (${bound(p).by})`),
      number("of bound(%)", reached, (p) => percent(reached(p))),
    ],
  });
}
