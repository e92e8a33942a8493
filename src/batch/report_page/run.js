// Reads what src/batch/html_report_data.cpp has written.

const STATUSES = ["waiting", "passed", "flaky", "warned", "failed", "timed_out", "skipped"];
const STATUS_WORDS = {
  waiting: "not run",
  passed: "passed",
  flaky: "flaky",
  warned: "warning",
  failed: "failed",
  timed_out: "timed out",
  skipped: "skipped",
};
const SOURCES = ["learned", "hinted", "from similar rules", "guessed"];
const REASONS = ["dependency", "tail", "admission", "overhead"];
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS = new Map([...BASE64].map((character, digit) => [character, digit]));

// Numbers packed as base64 VLQ, as in source maps but without signs. Sums and products instead of
// bit operations, which end at 31 bits.
function unpacked(text) {
  const numbers = [];
  let value = 0;
  let factor = 1;
  for (const character of text) {
    const digit = DIGITS.get(character);
    value += (digit % 32) * factor;
    factor *= 32;
    if (digit < 32) {
      numbers.push(value);
      value = 0;
      factor = 1;
    }
  }
  return numbers;
}

const asSeconds = (micros) => micros / 1e6;
const asRatio = (thousandths) => thousandths / 1000;
const asIs = (value) => value;
// A place in a list, or null: stored plus one.
const asPlace = (stored) => (stored > 0 ? stored - 1 : null);

// Objects from columns: `kinds` says for each column how its numbers are meant. A column that is
// shorter than `count` has one number, which is that of all rows.
function rowsOf(columns, kinds, count) {
  const names = Object.keys(kinds);
  const numbers = names.map((name) => unpacked(columns[name]));
  const rows = [];
  for (let row = 0; row < (count ?? numbers[0].length); ++row) {
    const made = {};
    names.forEach((name, column) => {
      made[name] = kinds[name](numbers[column][row] ?? numbers[column][0]);
    });
    rows.push(made);
  }
  return rows;
}

function rulesOf(data) {
  const rows = rowsOf(
    data.rules,
    {
      batch: asIs,
      status: (status) => STATUSES[status],
      start: asSeconds,
      duration: asSeconds,
      predicted: asSeconds,
      source: (source) => SOURCES[source],
      wait: asSeconds,
      worker: asIs,
      attempts: asIs,
      stolenFrom: asPlace,
      weight: asIs,
      slack: asSeconds,
      waitedFor: asPlace,
      skippedFor: asPlace,
      memory: (kibibytes) => kibibytes * 1024,
    },
    data.rules.id.length,
  );
  rows.forEach((rule, place) => {
    rule.place = place;
    rule.id = data.rules.id[place];
    rule.name = data.rules.name?.[place] ?? "";
    rule.ran = !["waiting", "skipped"].includes(rule.status);
    rule.failed = ["failed", "timed_out"].includes(rule.status);
    rule.critical = false;
    rule.note = data.notes[place] ?? null;
  });
  return rows;
}

// Adds what past runs tell to the rules, if there were any.
function addHistory(rules, history) {
  if (!history) return;
  const rows = rowsOf(
    history,
    {
      runs: asIs,
      p50: asSeconds,
      p90: asSeconds,
      trend: asRatio,
      flaky: asRatio,
    },
    rules.length,
  );
  const length = history.sparklineRuns;
  rows.forEach((past, place) => {
    const line = history.sparklines.slice(place * length, (place + 1) * length).trimEnd();
    past.levels = [...line].map((character) => DIGITS.get(character) / 63);
    if (past.runs > 0) rules[place].past = past;
  });
}

// Everything that the charts are made of. Times are seconds.
function readRun(data) {
  const rules = rulesOf(data);
  addHistory(rules, data.history);
  const critical = unpacked(data.critical).map((place) => rules[place]);
  for (const rule of critical) rule.critical = true;
  const sums = unpacked(data.idle.sums).map(asSeconds);
  const spans = {worker: asIs, start: asSeconds, duration: asSeconds};
  return {
    ...data,
    rules,
    critical, // the rules of the critical path, first to last
    hasNames: data.rules.name !== null,
    historyRuns: data.history?.all ?? 0,
    attempts: rowsOf(data.attempts, {rule: asIs, ...spans}),
    idle: rowsOf(data.idle, {why: (why) => REASONS[why], ...spans}),
    // For each worker, its idle time by reason.
    idleSums: Array.from({length: data.workers}, (_, worker) =>
      Object.fromEntries(REASONS.map((why, i) => [why, sums[4 * worker + i]])),
    ),
    levels: rowsOf(data.levels, {at: asSeconds, ready: asIs, running: asIs}),
  };
}
