// What the timeline says in words.

function timelineSentences(run, lanes) {
  const ran = run.rules.filter((rule) => rule.ran);
  return [
    `${counted(run.workers, "worker")} ran ${counted(ran.length, "rule")} in ${seconds(run.time)} ` +
      `and ${were(run.workers)} busy for ${percent(run.utilisation / 100)} of it.`,
    criticalSentence(run),
    failureSentence(ran.filter((rule) => rule.failed)),
    repeatSentence(run.attempts.length),
    stolenSentence(ran.filter((rule) => rule.stolenFrom !== null).length),
    idleWorkersSentence(run.workers - lanes.filter((lane) => lane.bars.length > 0).length),
  ];
}

function criticalSentence({critical, criticalPath}) {
  if (critical.length === 0) return "";
  const [first, last] = [critical[0].id, critical[critical.length - 1].id];
  if (critical.length === 1) {
    return `No chain of rules is longer than ${first} alone: ${seconds(criticalPath)}.`;
  }
  return (
    `The critical path, outlined, has ${counted(critical.length, "rule")} ` +
    `and takes ${seconds(criticalPath)}: from ${first} to ${last}.`
  );
}

function failureSentence(failed) {
  if (failed.length === 0) return "";
  const ids = failed.map((rule) => rule.id);
  const some = ids.length > 3 ? `${ids.slice(0, 3).join(", ")} and others` : listed(ids);
  return `${counted(ids.length, "rule")} failed: ${some}.`;
}

function repeatSentence(attempts) {
  if (attempts === 0) return "";
  return `${counted(attempts, "attempt")} failed and ${were(attempts)} repeated.`;
}

function stolenSentence(steals) {
  if (steals === 0) return "";
  return `${counted(steals, "rule")} ran on another worker than the one that got it first.`;
}

function idleWorkersSentence(workers) {
  if (workers === 0) return "";
  return `${counted(workers, "worker")} ran nothing; only those that were stolen from have a lane.`;
}

// Name and value of what is worth knowing about an attempt.
function detailsOf(run, bar) {
  const {rule} = bar;
  const details = [
    ["Status", bar.retried ? "failed, then repeated" : STATUS_WORDS[rule.status]],
    ["Batch", run.batches[rule.batch] || "none"],
    ["Worker", rule.weight > 1 ? `${bar.worker}, counts for ${rule.weight}` : `${bar.worker}`],
    ["Start", seconds(bar.start)],
    ["Duration", seconds(bar.end - bar.start)],
    ["Predicted", `${seconds(rule.predicted)}, ${rule.source}`],
    ["Slack", rule.critical ? "none: on the critical path" : seconds(rule.slack)],
  ];
  if (rule.attempts > 1) details.push(["Attempts", `${rule.attempts}`]);
  if (rule.waitedFor !== null) {
    const before = run.rules[rule.waitedFor];
    details.push(["Waited for", `${before.id}, until ${seconds(before.start + before.duration)}`]);
  }
  if (rule.wait > 0.0005 && !bar.retried)
    details.push(["Ready for", `${seconds(rule.wait)} before it began`]);
  if (rule.stolenFrom !== null && !bar.retried)
    details.push(["Stolen from", `worker ${rule.stolenFrom}`]);
  if (rule.memory > 0)
    details.push(["Memory", `${Math.max(1, Math.round(rule.memory / 2 ** 20))} MiB`]);
  if (rule.note?.message) details.push(["Message", shortened(rule.note.message, 160)]);
  return details;
}

function spokenDetails(run, bar) {
  const details = detailsOf(run, bar).map(([name, value]) => `${name}: ${value}`);
  return `${bar.rule.id}. ${details.join(". ")}.`;
}

function timelineLegend(run, lanes) {
  const used = new Set(run.rules.filter((rule) => rule.ran).map((rule) => rule.batch));
  const shown = [...used].sort((a, b) => a - b).slice(0, 16);
  const mark = (attributes, cls) =>
    svg(
      "svg",
      {class: "swatch", viewBox: "0 0 22 14", "aria-hidden": "true", focusable: "false"},
      svg("rect", {class: attributes.fill ?? "fill-batch-0", width: 22, height: 14}),
      svg("path", {class: cls, d: attributes.d}),
    );
  const entries =
    used.size > 1
      ? shown.map((batch) => ({
          kind: batchKind(batch),
          label: named(run.batches[batch] || "no batch"),
        }))
      : [{kind: batchKind([...used][0] ?? 0), label: "rule"}];
  if (used.size > shown.length)
    entries.push({
      kind: "none",
      label: `and ${used.size - shown.length} batches more; colours repeat`,
    });
  const bars = lanes.flatMap((lane) => lane.bars);
  const has = (what) => bars.some(what);
  if (has((bar) => bar.rule.critical))
    entries.push({drawing: mark({d: "M1 1h20v12h-20z"}, "critical"), label: "critical path"});
  if (has((bar) => bar.rule.failed))
    entries.push({
      drawing: mark({fill: "fill-failed", d: cross(11, 7, 4)}, "failure"),
      label: "failed",
    });
  if (has((bar) => bar.retried))
    entries.push({
      drawing: mark({d: "M0 0h22v14h-22z"}, "fill-retried"),
      label: "failed, then repeated",
    });
  if (has((bar) => bar.rule.stolenFrom !== null))
    entries.push({
      drawing: mark({d: "M0 0h9l-9 9z"}, "stolen"),
      label: "stolen; arrow from victim to thief",
    });
  const idle = new Set(lanes.flatMap((lane) => lane.idle.map((span) => span.why)));
  return legendOf([
    ...entries,
    ...reasonEntries((why) => idle.has(why)).map((entry) => ({
      ...entry,
      label: `idle, ${entry.label}`,
    })),
  ]);
}
