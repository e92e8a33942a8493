// A chart of horizontal bars is a table: what, bar, figure. It reads well without eyes and at any
// width; the bars are drawn in percent.

// `parts` are {from, to, kind} in the unit of `scale`; `marks` are {at, kind}.
function barOf(parts, marks, scale) {
  const at = (value) => `${(100 * Math.min(1, Math.max(0, value / (scale || 1)))).toFixed(3)}%`;
  const rects = parts
    .filter((part) => part.to > part.from)
    .map((part) =>
      svg("rect", {
        class: `fill-${part.kind}`,
        x: at(part.from),
        width: at(part.to - part.from),
        y: part.thin ? "42%" : "14%",
        height: part.thin ? "16%" : "72%",
      }),
    );
  const lines = marks.map((mark) =>
    svg("line", {
      class: `mark-${mark.kind}`,
      x1: at(mark.at),
      x2: at(mark.at),
      y1: "0",
      y2: "100%",
    }),
  );
  return svg("svg", {class: "bar", "aria-hidden": "true", focusable: "false"}, rects, lines);
}

// `rows` are {label, short, parts, marks, figure, emphasis}. The roles say again what the elements
// are: on narrow screens the style makes blocks of them, and some browsers then forget.
function barTable(caption, columns, rows, scale) {
  const rowOf = (row) =>
    html(
      "tr",
      {role: "row", class: row.emphasis ? "emphasis" : null},
      html("th", {role: "rowheader", scope: "row", class: row.short ? "short" : null}, row.label),
      html("td", {role: "cell", class: "bar-cell"}, barOf(row.parts, row.marks ?? [], scale)),
      html("td", {role: "cell", class: "figure"}, row.figure),
    );
  const heads = columns.map((name) => html("th", {role: "columnheader", scope: "col"}, name));
  return html(
    "table",
    {role: "table", class: rows.length > 16 ? "bars dense" : "bars"},
    html("caption", {class: "hidden"}, caption),
    html("thead", {role: "rowgroup", class: "hidden"}, html("tr", {role: "row"}, heads)),
    html("tbody", {role: "rowgroup"}, rows.map(rowOf)),
  );
}
