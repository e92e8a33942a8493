// What each worker did with its time.

const WORKERS_SHOWN = 32;

function workersOf(run) {
  const workers = run.idleSums.map((idle, worker) => ({worker, idle, busy: 0, rules: 0}));
  const add = (worker, seconds, rules) => {
    if (!workers[worker]) return;
    workers[worker].busy += seconds;
    workers[worker].rules += rules;
  };
  for (const attempt of run.attempts) add(attempt.worker, attempt.duration, 0);
  for (const rule of run.rules) {
    if (rule.ran) add(rule.worker, rule.duration, 1);
  }
  return workers;
}

function utilisationSentences(run, workers, shown) {
  const all = counted(workers.length, "worker");
  return [
    busySentence(run, workers),
    idleSentence(run, workers),
    shown.length < workers.length ? `The ${shown.length} busiest of ${all} are shown.` : "",
  ];
}

function busySentence(run, workers) {
  const shares = workers.map(({busy}) => Math.min(1, busy / run.time));
  if (workers.length === 1) return `The worker was busy for ${percent(shares[0])} of the run.`;
  const least = shares.reduce((a, b) => Math.min(a, b));
  const most = shares.reduce((a, b) => Math.max(a, b));
  return (
    `Workers were busy for ${percent(run.utilisation / 100)} of the run on average, ` +
    `from ${percent(least)} to ${percent(most)}.`
  );
}

function idleSentence(run, workers) {
  const sumOf = (why) => workers.reduce((sum, worker) => sum + worker.idle[why], 0);
  const sums = REASONS.map((why) => ({why, sum: sumOf(why)}));
  const all = sums.reduce((total, {sum}) => total + sum, 0);
  if (all < 0.01 * run.time * workers.length) return "There was next to no idle time.";
  const worst = sums.reduce((a, b) => (b.sum > a.sum ? b : a));
  const share = percent(worst.sum / all);
  return `Of ${seconds(all)} of idle time, ${share} was ${REASON_WORDS[worst.why]}.`;
}

function busiest(workers) {
  if (workers.length <= WORKERS_SHOWN) return workers;
  return [...workers]
    .sort((a, b) => b.busy - a.busy || a.worker - b.worker)
    .slice(0, WORKERS_SHOWN)
    .sort((a, b) => a.worker - b.worker);
}

function workerRow(run, {worker, idle, busy, rules}) {
  let reached = busy;
  const parts = [{from: 0, to: busy, kind: "busy"}];
  for (const why of REASONS) {
    parts.push({from: reached, to: reached + idle[why], kind: why});
    reached += idle[why];
  }
  return {
    label: `W${worker}`,
    short: true,
    parts,
    figure: `${percent(Math.min(1, busy / run.time))}, ${counted(rules, "rule")}`,
  };
}

function showUtilisation(run) {
  if (!(run.time > 0) || !run.rules.some((rule) => rule.ran)) {
    say("utilisation", "No rule ran, so no worker had anything to do.");
    return;
  }
  const workers = workersOf(run);
  const shown = busiest(workers);
  say("utilisation", ...utilisationSentences(run, workers, shown));
  const present = (why) => shown.some((worker) => worker.idle[why] > 0);
  chartOf("utilisation").append(
    legendOf([{kind: "busy", label: "busy"}, ...reasonEntries(present)]),
    barTable(
      "Busy and idle time by worker",
      ["Worker", "Chart", "Busy"],
      shown.map((worker) => workerRow(run, worker)),
      run.time,
    ),
  );
}
