// Who stole from whom.

const MATRIX_MAX = 24; // workers on a side

function stealCounts(run) {
  const counts = new Map(); // thief -> victim -> rules
  for (const rule of run.rules) {
    if (!rule.ran || rule.stolenFrom === null) continue;
    const row = counts.get(rule.worker) ?? new Map();
    row.set(rule.stolenFrom, (row.get(rule.stolenFrom) ?? 0) + 1);
    counts.set(rule.worker, row);
  }
  return counts;
}

// Workers by number; the ones with the most steals if there are too many.
function sidesOf(counts) {
  const thieves = new Map();
  const victims = new Map();
  for (const [thief, row] of counts) {
    for (const [victim, n] of row) {
      thieves.set(thief, (thieves.get(thief) ?? 0) + n);
      victims.set(victim, (victims.get(victim) ?? 0) + n);
    }
  }
  const top = (sums) =>
    [...sums]
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, MATRIX_MAX)
      .map(([worker]) => worker)
      .sort((a, b) => a - b);
  const most = (sums) => [...sums].reduce((a, b) => (b[1] > a[1] ? b : a));
  return {
    thieves: top(thieves),
    victims: top(victims),
    all: thieves.size + victims.size,
    topThief: most(thieves),
    topVictim: most(victims),
  };
}

function stealSentences(run, sides) {
  const ran = run.rules.filter((rule) => rule.ran);
  const stolen = ran.filter((rule) => rule.stolenFrom !== null);
  const time = stolen.reduce((sum, rule) => sum + rule.duration, 0);
  const [[thief, most], [victim, lost]] = [sides.topThief, sides.topVictim];
  const hidden = sides.all > sides.thieves.length + sides.victims.length;
  return [
    `${number(stolen.length)} of ${counted(ran.length, "rule")} ` +
      `(${percent(stolen.length / ran.length)}) ran on another worker than the one that got it ` +
      `first, ${seconds(time)} of work.`,
    `Worker ${thief} stole most, ${counted(most, "rule")}; ` +
      `worker ${victim} lost most, ${number(lost)}.`,
    hidden ? `Only the ${MATRIX_MAX} workers with the most steals are shown.` : "",
  ];
}

function noStealsSentence({policy}) {
  if (policy === "stealing") {
    return "Nothing was stolen: no worker ran out of the rules dealt to it before the end.";
  }
  return (
    `Nothing was stolen. Under the policy ${policy.replaceAll("_", "-")} all workers take rules ` +
    "from one queue, so there is nothing to steal; --policy stealing deals rules to workers first."
  );
}

function stealMatrix(counts, {thieves, victims}) {
  const most = Math.max(...[...counts.values()].flatMap((row) => [...row.values()]));
  const cell = (thief, victim) => {
    const n = counts.get(thief)?.get(victim) ?? 0;
    if (n === 0) return html("td", {class: "none"}, thief === victim ? "" : "·");
    return html(
      "td",
      {style: `--share: ${Math.round(12 + (43 * n) / most)}%`, class: "some"},
      number(n),
    );
  };
  return html(
    "div",
    {class: "scroll", tabindex: "0", role: "region", "aria-label": "Steal matrix"},
    html(
      "table",
      {class: "matrix"},
      html("caption", {}, "Rules stolen: thief by row, victim by column"),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("td", {}),
          victims.map((victim) => html("th", {scope: "col"}, `W${victim}`)),
        ),
      ),
      html(
        "tbody",
        {},
        thieves.map((thief) =>
          html(
            "tr",
            {},
            html("th", {scope: "row"}, `W${thief}`),
            victims.map((victim) => cell(thief, victim)),
          ),
        ),
      ),
    ),
  );
}

function showSteals(run) {
  const counts = stealCounts(run);
  if (counts.size === 0) {
    say("steals", noStealsSentence(run));
    return;
  }
  const sides = sidesOf(counts);
  say("steals", ...stealSentences(run, sides));
  chartOf("steals").append(stealMatrix(counts, sides));
}
