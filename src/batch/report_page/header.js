// What the run was and how it came out.

const ENDINGS = {
  none:
    "The log ends before the run does: it was killed, or still goes on. " +
    "What follows is what the log tells.",
  failed_fast: "The run ended at the first failure, as asked.",
  interrupted: "The run was interrupted.",
  out_of_time: "The run ran out of time.",
};

function outcomeOf(counts) {
  const parts = [`${number(counts.passed)} passed`];
  const besides = [];
  if (counts.flaky > 0) besides.push(`${number(counts.flaky)} flaky`);
  if (counts.warned > 0) besides.push(`${number(counts.warned)} with a warning`);
  if (besides.length > 0) parts[0] += ` (${besides.join(", ")})`;
  if (counts.failed > 0) parts.push(`${number(counts.failed)} failed`);
  if (counts.skipped > 0) parts.push(`${number(counts.skipped)} skipped`);
  if (counts.waiting > 0) parts.push(`${number(counts.waiting)} not run`);
  return `${counted(counts.rules, "rule")}: ${parts.join(", ")}`;
}

function boundReason(run) {
  const shared = run.work / run.workers;
  const critical = run.critical.length;
  if (run.criticalPath >= shared && critical > 1)
    return `critical path of ${counted(critical, "rule")}`;
  if (run.longestRule >= shared) return "the longest rule";
  return `${seconds(run.work)} of work on ${counted(run.workers, "worker")}`;
}

function policyWords(run) {
  const costs = {adaptive_warm: "learned costs", adaptive_cold: "costs not learned yet"};
  const parts = [];
  if (run.barriers) parts.push(run.fixed ? "batch by batch, fixed" : "batch by batch");
  if (costs[run.mode]) parts.push(costs[run.mode]);
  return parts.join(", ");
}

function factsOf(run) {
  return [
    ["Time", seconds(run.time), ""],
    ["Lower bound", seconds(run.bound), run.bound > 0 ? boundReason(run) : ""],
    ["Gap", ratio(run.gap), `${seconds(run.time - run.bound)} above the bound`],
    ["Utilisation", percent(run.utilisation / 100), `of ${counted(run.workers, "worker")}`],
    ["Policy", run.policy.replaceAll("_", "-"), policyWords(run)],
    ["Began", moment(run.started), `run ${run.run}`],
  ];
}

function noticesOf(run) {
  const notices = [];
  if (ENDINGS[run.ending]) notices.push(ENDINGS[run.ending]);
  if (run.partial) notices.push("Only a part of the plan file was run, as asked.");
  if (run.resumed > 0)
    notices.push(
      `The run was resumed ${counted(run.resumed, "time")}; times go on across the break.`,
    );
  return [...notices, ...run.warnings];
}

function verdictOf(run) {
  const {failed, skipped, waiting} = run.counts;
  if (failed > 0) return "bad";
  return skipped > 0 || waiting > 0 || run.ending === "none" ? "open" : "good";
}

function showHeader(run) {
  document.title = `${run.plan || "Run"} – Weft run report`;
  document.getElementById("plan").replaceChildren(named(run.plan || "Run"));
  const symbols = {good: "✓", open: "◐", bad: "✗"};
  const verdict = verdictOf(run);
  filled(document.getElementById("outcome"), {}, [
    html("span", {class: `verdict ${verdict}`, "aria-hidden": "true"}, symbols[verdict]),
    " ",
    outcomeOf(run.counts),
    run.counts.failed > 0 ? html("a", {href: "#rules"}, "see the failures") : null,
  ]);
  document
    .getElementById("notices")
    .replaceChildren(...noticesOf(run).map((text) => html("p", {class: "notice"}, text)));
  document
    .getElementById("facts")
    .replaceChildren(
      ...factsOf(run).map(([name, value, more]) =>
        html(
          "div",
          {},
          html("dt", {}, name),
          html("dd", {}, value),
          more ? html("dd", {class: "more"}, more) : null,
        ),
      ),
    );
  document.getElementById("made").textContent =
    "Made by weft report from the log of the run. This file needs no network.";
}

// Follows the system until somebody presses the button.
function addThemeButton() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";
  const update = () => {
    document.documentElement.style.colorScheme = chosen ?? "";
    button.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    update();
  });
  system.addEventListener("change", update);
  button.hidden = false;
  update();
}
