// What other ways to run the same rules would have taken.

function policyName({name}) {
  return name.replaceAll("_", "-");
}

// The simulated time, and below it the measured one with its interval.
function policyFigure(line) {
  if (line.mean === undefined) return seconds(line.simulated);
  const interval = line.low === undefined ? "" : ` (${seconds(line.low)} to ${seconds(line.high)})`;
  return [
    line.simulated === undefined ? null : html("span", {}, seconds(line.simulated)),
    html("span", {class: "measured"}, `measured ${seconds(line.mean)}${interval}`),
  ];
}

function policyRow(run, line) {
  const parts = [];
  if (line.simulated !== undefined) parts.push({from: 0, to: line.simulated, kind: "simulated"});
  if (line.mean !== undefined) {
    const sliver = 0.004 * run.time;
    if (line.low !== undefined) {
      const to = Math.max(line.high, line.low + sliver);
      parts.push({from: line.low, to, kind: "interval", thin: true});
    }
    parts.push({from: line.mean - sliver, to: line.mean + sliver, kind: "mean"});
  }
  const name = named(policyName(line));
  return {label: line.actual ? [name, " (as this run)"] : name, parts, figure: policyFigure(line)};
}

function policySentences(run, lines) {
  const simulated = lines.filter((line) => line.simulated > 0);
  if (simulated.length === 0) return ["No rule ran, so there is nothing to compare."];
  const unfinished = run.counts.waiting + run.counts.skipped > 0;
  return [
    "Simulated: the dispatcher, given the durations of this run and what it expected then, " +
      "under each policy and without overhead.",
    rangeSentence(simulated),
    `The bound, the dashed line, is ${seconds(run.bound)}; this run took ${seconds(run.time)}.`,
    measuredSentence(lines.filter((line) => line.mean !== undefined)),
    unfinished ? "Rules that did not run count as taking no time." : "",
  ];
}

function rangeSentence(lines) {
  const best = lines.reduce((a, b) => (b.simulated < a.simulated ? b : a));
  const worst = lines.reduce((a, b) => (b.simulated > a.simulated ? b : a));
  const shortest = seconds(best.simulated);
  if (worst.simulated < 1.02 * best.simulated) {
    return `All lie within 2 % of each other, at ${shortest}: the order matters little here.`;
  }
  return (
    `${policyName(best)} is the shortest with ${shortest}; ${policyName(worst)} takes ` +
    `${seconds(worst.simulated)}, ${ratio(worst.simulated / best.simulated)} as long.`
  );
}

function measuredSentence(lines) {
  if (lines.length === 0) return "";
  const runs = Math.max(...lines.map((line) => line.runs));
  return (
    `Measured: the mean of ${counted(runs, "real run")} each, and the interval in which it ` +
    "lies with 95 % confidence."
  );
}

function showPolicies(run) {
  say("policies", ...policySentences(run, run.variants));
  if (!(run.bound > 0)) return;
  const longest = Math.max(
    run.time,
    run.bound,
    ...run.variants.flatMap((line) => [line.simulated ?? 0, line.high ?? 0, line.mean ?? 0]),
  );
  const rows = [
    {
      label: "this run",
      parts: [{from: 0, to: run.time, kind: "actual"}],
      figure: seconds(run.time),
      emphasis: true,
    },
    ...run.variants.map((line) => policyRow(run, line)),
  ];
  const marks = [
    {at: run.bound, kind: "bound"},
    {at: run.time, kind: "actual"},
  ];
  const bound = svg(
    "svg",
    {class: "swatch", "aria-hidden": "true", focusable: "false"},
    svg("line", {class: "mark-bound", x1: "50%", x2: "50%", y1: "0", y2: "100%"}),
  );
  const entries = [
    {kind: "actual", label: "this run"},
    {kind: "simulated", label: "simulated"},
  ];
  if (run.variants.some((line) => line.mean !== undefined)) {
    entries.push({kind: "mean", label: "measured mean and interval"});
  }
  chartOf("policies").append(
    legendOf([...entries, {drawing: bound, label: "lower bound"}]),
    barTable(
      "Time by policy",
      ["Policy", "Chart", "Time"],
      rows.map((row) => ({...row, marks})),
      longest,
    ),
  );
}
