// SPDX-License-Identifier: Apache-2.0
// The sections on numeric events and on what the checker has found.

// 163840 stays as it is, 6.6757202148e-06 is cut to nine digits; infinities and NaN come as text.
const value = (v) => (typeof v === "number" ? String(Number(v.toPrecision(9))) : v);

function firstText({ first }) {
  if (first === undefined) return "";
  const o = first.occurrence;
  const operands = Object.entries(o.operands).map(([name, v]) => `${name} = ${value(v)}`).join(", ");
  return `task '${first.task}', ${first.instruction} (${first.place}), block ${o.block}, ${o.core}, ` +
    `element ${o.element}: ${operands} -> ${value(o.result)}`;
}

function numericsSection(data) {
  const { numerics } = data;
  if (numerics === undefined) return null;
  const number = (title, value, text = (r) => integer(value(r))) => ({ title, value, text, number: true });
  const names = numerics.events.map((e) => e.event);
  const events = sortableTable({
    rows: numerics.events,
    columns: [
      { title: "event", value: (e) => e.event },
      number("results", (e) => e.count),
      number("share(%)", (e) => e.share, (e) => percent(e.share, 4)),
      { title: "first", value: firstText },
    ],
  });
  const sites = sortableTable({
    caption: "Instruction sites with events",
    rows: numerics.sites,
    step: 25,
    columns: [
      { title: "task", value: (s) => s.task },
      { title: "instruction", value: (s) => s.instruction },
      { title: "place", value: (s) => s.place },
      number("results", (s) => s.results),
      ...names.map((name) => number(name, (s) => s[name])),
    ],
  });
  return element("div", {},
    element("p", { class: "note" },
      `Numeric events of ${counted(numerics.results, "result")} at ` +
      `${counted(numerics.sites_total, "instruction site")}, ` +
      `overflow mode ${numerics.overflow_mode}.`),
    element("div", { id: "events" }, events),
    numerics.sites.length > 0 ? element("div", { id: "sites" }, element("h3", {}, "Where"), sites) : null);
}

function siteText(site) {
  if (site.instruction === undefined) return `${site.place ? `${site.place}  ` : ""}task '${site.task}'`;
  return `${site.place}  ${site.text} \u2013 instruction ${site.instruction} on ${site.pipe}, ` +
    `block ${site.block} of task '${site.task}' on ${site.core}`;
}

function findingCard(finding, number) {
  const list = element("dl");
  const row = (name, text) => list.append(element("dt", {}, name), element("dd", {}, text));
  row("at", siteText(finding.at));
  if (finding.conflict) row("with", siteText(finding.conflict));
  if (finding.buffer) {
    const of = finding.allocation ? ` of '${finding.allocation}'` : "";
    row("bytes", `${finding.buffer} [0x${finding.begin.toString(16)}, 0x${finding.end.toString(16)})${of}`);
  }
  if (finding.suggestion) row("remedy", finding.suggestion);
  const times = finding.count > 1 ? ` (${integer(finding.count)} times)` : "";
  return element("div", { class: "finding" }, element("h3", {}, `${number}. ${finding.id}${times}`),
    element("div", {}, finding.message), list);
}

function findingsSection(data) {
  const { findings } = data;
  if (findings === undefined) return null;
  const incomplete = findings.complete ? null : element("p", { class: "banner" },
    `The run ended early (${findings.ended_by.fault}: ${findings.ended_by.message}); ` +
      "what comes after was not checked.");
  if (findings.total === 0) return element("div", {}, incomplete, element("p", {}, "No findings."));
  const shown = findings.findings.length < findings.total ? `, the first ${findings.findings.length} are shown` : "";
  return element("div", {}, incomplete,
    element("p", { class: "note" },
      `${counted(findings.total, "finding")}, ${counted(findings.occurrences, "occurrence")}${shown}.`),
    ...findings.findings.map((f, i) => findingCard(f, i + 1)));
}
