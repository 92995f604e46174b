// SPDX-License-Identifier: Apache-2.0
// How far off the time may be by what the chip assumes: a bar for each assumed cost, from its smallest to its largest value.

function rangeBar(low, high, least, most) {
  const at = (cycles) => (100 * (cycles - least)) / Math.max(1, most - least);
  return element("div", { class: "bar span" },
    element("i", { style: `margin-left: ${at(low)}%; width: ${Math.max(0.5, at(high) - at(low))}%; background: var(--busy)` }));
}

function rangeSection(data) {
  const { range } = data;
  if (range === undefined) return null;
  const time = range.as_is.kernel_cycles > 0 ? "kernel_cycles" : "cycles";
  const us = (cycles) => fixed((cycles / range.clock_hz) * 1e6, 3);
  const rows = range.contributions.map((c) => ({
    ...c,
    least: Math.min(c.low[time], c.high[time], range.as_is[time]),
    most: Math.max(c.low[time], c.high[time], range.as_is[time]),
  }));
  const least = Math.min(range.low[time], ...rows.map((r) => r.least));
  const most = Math.max(range.high[time], ...rows.map((r) => r.most));
  const number = (title, value, text) => ({ title, value, text, number: true });
  const table = sortableTable({
    rows,
    sorted: "of all(%)",
    columns: [
      { title: "assumed", value: (r) => r.key },
      { title: "times", value: (r) => r.factors[0], text: (r) => `${r.factors[0]} to ${r.factors[1]}` },
      number("low(us)", (r) => r.least, (r) => us(r.least)),
      number("high(us)", (r) => r.most, (r) => us(r.most)),
      number("of all(%)", (r) => (r.most - r.least) / Math.max(1, range.as_is[time]),
        (r) => percent((r.most - r.least) / Math.max(1, range.as_is[time]))),
      { title: `${us(least)} to ${us(most)} us`, value: (r) => r.least, node: (r) => rangeBar(r.least, r.most, least, most) },
      { title: "because", value: (r) => r.reason },
    ],
  });
  const others = range.without_effect.length > 0
    ? ` ${counted(range.without_effect.length, "assumed cost")} without an effect here are left out.` : "";
  return element("div", {},
    element("p", { id: "range-time" }, `${time === "kernel_cycles" ? "Kernels, warm" : "The run"}: ${us(range.as_is[time])} us, ` +
      `${us(range.low[time])} to ${us(range.high[time])} us with all costs that the chip assumes at their smallest or largest.`),
    element("p", { class: "note" }, "Each row: one assumed cost at both ends of its range, all others as they are." + others),
    rows.length > 0 ? element("div", { id: "range-costs" }, table) : null);
}
