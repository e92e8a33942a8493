// From the lower bound to the time of the run, step by step.

const PART_WORDS = {
  dependency: {
    label: "+ dependencies",
    name: "dependencies",
    cause: "workers waited for rules that others had to come after",
    advice: "Make the critical path shorter, or let fewer rules wait for it.",
  },
  tail: {
    label: "+ tail",
    name: "the tail",
    cause: "nothing was left to begin while the last rules ran",
    advice: "Begin the longest rules earlier, or split them.",
  },
  admission: {
    label: "+ admission",
    name: "admission",
    cause:
      "memory, weight, load or the number of workers of a batch kept ready rules from starting",
    advice: "Give the run more memory, or declare what rules really need.",
  },
  overhead: {
    label: "+ overhead",
    name: "overhead",
    cause: "a rule was ready and its start took time, or an attempt was repeated",
    advice: "Rules of a millisecond or less cost more to start than to run; join some of them.",
  },
};

function gapSentences(run, parts) {
  if (!(run.bound > 0)) return ["No rule ran, so there is no bound to compare with."];
  const above = run.time - run.bound;
  const bound =
    `No schedule of these rules on ${counted(run.workers, "worker")} is shorter than ` +
    `${seconds(run.bound)}: ${boundReason(run)}.`;
  if (above < 0.01 * run.bound) {
    const close = `The run took ${seconds(run.time)}, less than 1 % above it: `;
    return [bound, `${close}nothing is to be gained from another order.`];
  }
  const worst = parts.reduce((a, b) => (b.length > a.length ? b : a));
  const {name, cause, advice} = PART_WORDS[worst.why];
  const share = worst.length / above;
  return [
    bound,
    `${share > 0.5 ? "Most" : "The largest part"} of the ${seconds(above)} above it, ` +
      `${seconds(worst.length)} (${percent(share)}), is ${name}: ${cause}.`,
    worst.why === "tail" ? lastSentence(run) : "",
    advice,
  ];
}

function lastSentence(run) {
  const end = (rule) => rule.start + rule.duration;
  const last = run.rules.filter((rule) => rule.ran).reduce((a, b) => (end(b) > end(a) ? b : a));
  return `The last to end was ${last.id}, which took ${seconds(last.duration)}.`;
}

function showWaterfall(run) {
  const parts = REASONS.map((why, i) => ({why, length: Math.max(0, run.gapParts[i])}));
  say("gap", ...gapSentences(run, parts));
  if (!(run.bound > 0)) return;
  let reached = run.bound;
  const steps = parts.map(({why, length}) => {
    const from = reached;
    reached += length;
    return {
      label: PART_WORDS[why].label,
      figure: seconds(length),
      parts: [{from, to: Math.max(reached, from + (length > 0 ? 0.003 * run.time : 0)), kind: why}],
    };
  });
  const rows = [
    {
      label: "lower bound",
      figure: seconds(run.bound),
      parts: [{from: 0, to: run.bound, kind: "bound"}],
    },
    ...steps,
    {
      label: "= this run",
      figure: seconds(run.time),
      parts: [{from: 0, to: run.time, kind: "actual"}],
      emphasis: true,
    },
  ];
  const marks = [{at: run.bound, kind: "bound"}];
  chartOf("gap").append(
    barTable(
      "From the lower bound to the time of the run",
      ["Part", "Chart", "Time"],
      rows.map((row) => ({...row, marks, short: true})),
      run.time,
    ),
  );
}
