// SPDX-License-Identifier: Apache-2.0
// A table that sorts by the column whose header is pressed. All rows are sorted, the first of them shown.

// columns: {title, value: row => number | string, text: row => string (default: the value), number: boolean,
// node: row => an element in place of a text}
// `sorted`: the column by which the rows come already ordered, downwards; none: in an order of their own.
function sortableTable({ caption, columns, rows, sorted = null, step = 100 }) {
  let order = rows;
  let shown = step;
  const body = element("tbody");
  const more = element("div", { class: "more-rows" });
  const headers = columns.map((column) => {
    const button = element("button", { type: "button" }, column.title);
    const header = element("th", { scope: "col", class: column.number ? "number" : "text" }, button);
    button.addEventListener("click", () => sortBy(column, header));
    if (column.title === sorted) header.setAttribute("aria-sort", "descending");
    return header;
  });

  // Numbers start with the largest, texts with A.
  function sortBy(column, header) {
    const before = header.getAttribute("aria-sort");
    const descending = before === null ? Boolean(column.number) : before === "ascending";
    for (const h of headers) h.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const compare = column.number
      ? (a, b) => column.value(a) - column.value(b)
      : (a, b) => (column.value(a) < column.value(b) ? -1 : column.value(a) > column.value(b) ? 1 : 0);
    order = [...rows].sort(descending ? (a, b) => compare(b, a) : compare);
    draw();
  }

  function draw() {
    body.replaceChildren(...order.slice(0, shown).map((row) => element("tr", {}, ...columns.map((column) => {
      const content = column.node ? column.node(row) : String(column.text ? column.text(row) : column.value(row));
      return element("td", { class: column.number ? "number" : "text" }, content);
    }))));
    more.replaceChildren();
    if (shown >= rows.length) return;
    const next = integer(Math.min(step * 5, rows.length - shown));
    const button = element("button", { type: "button" }, `Show ${next} more`);
    button.addEventListener("click", () => {
      shown += step * 5;
      draw();
    });
    more.append(`The first ${integer(shown)} of ${integer(rows.length)} rows in this order. `, button);
  }

  draw();
  const table = element("table", {}, caption ? element("caption", {}, caption) : null,
    element("thead", {}, element("tr", {}, ...headers)), body);
  return element("div", {}, element("div", { class: "scroll" }, table), more);
}
