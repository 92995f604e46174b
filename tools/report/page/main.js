// SPDX-License-Identifier: Apache-2.0
// Puts the report together.

const kSections = [
  ["why", "Why kernels take their time", whySection],
  ["time-range", "How far off the time may be", rangeSection],
  ["timeline", "Timeline", timelineSection],
  ["findings", "Findings of the check", findingsSection],
  ["tasks", "Tasks", taskTables],
  ["utilisation", "Pipes", pipeSection],
  ["bounds", "Roofline", rooflineSection],
  ["memory", "Memory traffic", trafficSection],
  ["numerics", "Numeric events", numericsSection],
];

function header(data) {
  const { chip } = data;
  const split = chip.vector_cores > 0;
  const cores = split ? `${chip.ai_cores} cube and ${chip.vector_cores} vector cores` : `${chip.ai_cores} cores`;
  return element("header", {},
    element("h1", {}, data.name ? `${data.name} on ${chip.name}` : chip.name),
    element("p", { class: "subtitle" },
      `${chip.product}: ${chip.arch}, ${cores}, ${gigahertz(chip.clock_hz)} GHz`));
}

function banner(data) {
  if (!(data.findings?.total > 0)) return null;
  const n = data.findings.total;
  return element("p", { class: "banner" },
    `The check found ${counted(n, "fault")} in the program. `,
    element("a", { href: "#findings" }, "Findings"));
}

function footer(data) {
  const { assumed, groups } = data.chip;
  return element("footer", { class: "note" },
    element("p", {},
      `${assumed.length} of ${groups} parameter groups of this chip are assumed, the others have a source` +
      (assumed.length > 0 ? `. Assumed: ${assumed.join(", ")}.` : ".")),
    element("p", {}, "Every number is from explain.json, range.json, stats.json, numerics.json and findings.json of the same folder."));
}

function build(data) {
  const sections = kSections.map(([id, title, make]) => ({ id, title, content: make(data) }))
    .filter((section) => section.content !== null);
  const links = sections.map(({ id, title }) => element("a", { href: `#${id}` }, title));
  document.getElementById("report").replaceChildren(...[
    header(data),
    links.length > 1 ? element("nav", { "aria-label": "Sections" }, ...links) : null,
    banner(data),
    data.run ? keyFigures(data) : null,
    ...sections.map(({ id, title, content }) => element("section", { id }, element("h2", {}, title), content)),
    footer(data),
  ].filter((node) => node !== null));
}

// Printed on white, whatever the screen shows.
addEventListener("beforeprint", () => document.documentElement.classList.add("print"));
addEventListener("afterprint", () => document.documentElement.classList.remove("print"));

build(JSON.parse(document.getElementById("data").textContent));
