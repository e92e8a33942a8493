// What the table says about a rule, column by column.

// Failures first, then what is odd, then the rest.
const STATUS_ORDER = ["failed", "timed_out", "warned", "flaky", "skipped", "waiting", "passed"];

const TABLE_COLUMNS = [
  {title: "Rule", value: (rule) => rule.id, text: true, cell: (rule) => ruleCell(rule)},
  {
    title: "Batch",
    value: (rule) => rule.batch,
    text: true,
    cell: (rule, run) => named(run.batches[rule.batch] || ""),
  },
  {
    title: "Status",
    value: (rule) => STATUS_ORDER.indexOf(rule.status),
    text: true,
    cell: (rule) => statusCell(rule),
  },
  {
    title: "Duration",
    value: (rule) => (rule.ran ? rule.duration : null),
    cell: (rule) => (rule.ran ? seconds(rule.duration) : "–"),
  },
  {title: "Predicted", value: (rule) => rule.predicted, cell: (rule) => seconds(rule.predicted)},
  {
    title: "p50",
    value: (rule) => rule.past?.p50 ?? null,
    cell: (rule) => (rule.past ? seconds(rule.past.p50) : "–"),
  },
  {
    title: "p90",
    value: (rule) => rule.past?.p90 ?? null,
    cell: (rule) => (rule.past ? seconds(rule.past.p90) : "–"),
  },
  {title: "Trend", value: (rule) => rule.past?.trend ?? null, cell: (rule) => trendCell(rule)},
  {
    title: "Flaky",
    value: (rule) => rule.past?.flaky ?? null,
    cell: (rule) => (rule.past ? percent(rule.past.flaky) : "–"),
  },
  {
    title: "Slack",
    value: (rule) => (rule.ran ? rule.slack : null),
    cell: (rule) => slackCell(rule),
  },
];

// Without columns that would be empty.
function columnsFor(run) {
  const empty = [];
  if (run.historyRuns < 2) empty.push("p50", "p90", "Trend", "Flaky");
  if (run.batches.length < 2) empty.push("Batch");
  return TABLE_COLUMNS.filter(({title}) => !empty.includes(title));
}

function ruleCell(rule) {
  return [
    named(rule.id, {class: "rule-id"}),
    rule.name ? [" ", named(rule.name, {class: "rule-name"})] : null,
  ];
}

function statusCell(rule) {
  const symbols = {
    passed: "✓",
    flaky: "↻",
    warned: "!",
    failed: "✗",
    timed_out: "✗",
    skipped: "→",
    waiting: "–",
  };
  return html(
    "span",
    {class: `status ${rule.status}`},
    `${symbols[rule.status]} ${STATUS_WORDS[rule.status]}`,
  );
}

function slackCell(rule) {
  if (!rule.ran) return "–";
  return rule.critical ? html("strong", {}, "critical") : seconds(rule.slack);
}

// Past durations as a line, and by how much the later half is slower in words.
function trendCell(rule) {
  if (!rule.past || rule.past.levels.length < 2) return "–";
  const {levels, trend} = rule.past;
  const points = levels.map(
    (level, i) =>
      `${((i * 58) / (levels.length - 1) + 1).toFixed(1)},${(17 - 15 * level).toFixed(1)}`,
  );
  const words =
    Math.abs(trend - 1) < 0.1
      ? "steady"
      : trend > 1
        ? `${ratio(trend)} slower`
        : `${ratio(1 / trend)} faster`;
  return [
    svg(
      "svg",
      {class: "sparkline", viewBox: "0 0 60 18", "aria-hidden": "true", focusable: "false"},
      svg("polyline", {points: points.join(" ")}),
    ),
    " ",
    words,
  ];
}

// What a rule that failed, or did not run, has to say: a row of its own below it.
function noteOf(run, rule) {
  const parts = [];
  if (rule.skippedFor !== null)
    parts.push(
      html("p", {}, "Skipped because ", named(run.rules[rule.skippedFor].id), " did not pass."),
    );
  const note = rule.note;
  if (!note) return parts;
  const ending = note.signal
    ? `ended by signal ${note.signal}`
    : note.exit
      ? `exit code ${note.exit}`
      : "";
  if (note.message || ending) parts.push(html("p", {}, named(note.message ?? ending)));
  if (note.output) {
    parts.push(
      html(
        "details",
        {},
        html("summary", {}, "Output of ", named(rule.id), note.cut ? ", its end" : ""),
        html("pre", {tabindex: "0"}, note.output),
        note.cut
          ? html(
              "p",
              {class: "hint"},
              "The beginning is left out here; the log of the run has more.",
            )
          : null,
      ),
    );
  } else if (note.cut) {
    parts.push(
      html("p", {class: "hint"}, "Its output is left out here; the log of the run has it."),
    );
  }
  return parts;
}
