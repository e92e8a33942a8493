// Every rule, a page at a time: sorted by a column, filtered by a word.

const PAGE_ROWS = 50;
const PRINTED_ROWS = 1000;

function compared(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b;
}

class RuleTable {
  constructor(run) {
    this.run = run;
    this.page = 0;
    this.columns = columnsFor(run);
    this.sorted = {column: this.columns.findIndex(({title}) => title === "Status"), down: false};
    this.texts = run.rules.map((rule) =>
      [rule.id, rule.name, run.batches[rule.batch], STATUS_WORDS[rule.status]]
        .join("\n")
        .toLowerCase(),
    );
    this.build(chartOf("rules"));
    this.choose();
    addEventListener("beforeprint", () => this.renderForPaper());
    addEventListener("afterprint", () => this.render(PAGE_ROWS));
  }

  build(chart) {
    this.filter = html("input", {
      type: "search",
      id: "filter",
      autocomplete: "off",
      spellcheck: "false",
      input: () => {
        this.page = 0;
        this.choose();
      },
    });
    this.count = html("p", {class: "hint", role: "status"});
    this.heads = this.columns.map((column, i) =>
      html(
        "th",
        {scope: "col", class: column.text ? null : "number"},
        html(
          "button",
          {type: "button", click: () => this.sortBy(i)},
          column.title,
          html("span", {class: "direction", "aria-hidden": "true"}),
        ),
      ),
    );
    this.body = html("tbody");
    const turn = (label, by) => html("button", {type: "button", click: () => this.turn(by)}, label);
    this.earlier = turn("Previous", -1);
    this.later = turn("Next", 1);
    this.pages = html(
      "div",
      {class: "controls pages", role: "group", "aria-label": "Pages of the table"},
      this.earlier,
      this.later,
    );
    chart.append(
      html(
        "div",
        {class: "controls filter"},
        html("label", {for: "filter"}, "Filter by id, name, batch or status"),
        this.filter,
      ),
      this.count,
      html(
        "div",
        {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of rules"},
        html(
          "table",
          {class: "rules"},
          html(
            "caption",
            {class: "hidden"},
            "Rules of the run; a button in a heading sorts by that column",
          ),
          html("thead", {}, html("tr", {}, this.heads)),
          this.body,
        ),
      ),
      this.pages,
    );
  }

  sortBy(column) {
    this.sorted = {column, down: this.sorted.column === column && !this.sorted.down};
    this.page = 0;
    this.choose();
  }

  turn(by) {
    this.page += by;
    this.render(PAGE_ROWS);
  }

  // Which rules are shown, and in which order. Rules that are equal stay in the order of the plan.
  choose() {
    const wanted = this.filter.value.trim().toLowerCase();
    const {column, down} = this.sorted;
    const {value} = this.columns[column];
    const sign = down ? -1 : 1;
    this.chosen = this.run.rules
      .filter((rule) => this.texts[rule.place].includes(wanted))
      .map((rule) => ({rule, key: value(rule)}))
      // What has no value comes last, whichever way.
      .sort((a, b) => (a.key === null || b.key === null ? 1 : sign) * compared(a.key, b.key))
      .map(({rule}) => rule);
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.querySelector(".direction").textContent = i === column ? (down ? " ▼" : " ▲") : "";
    });
    this.render(PAGE_ROWS);
  }

  render(rows) {
    const pages = Math.max(1, Math.ceil(this.chosen.length / rows));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const first = this.page * rows;
    const shown = this.chosen.slice(first, first + rows);
    this.body.replaceChildren(...shown.flatMap((rule) => this.rowsOf(rule)));
    const range =
      shown.length === 0
        ? "No rule matches."
        : `Rules ${number(first + 1)} to ${number(first + shown.length)} of ${number(this.chosen.length)}`;
    const left = this.run.rules.length - this.chosen.length;
    this.count.textContent =
      left > 0 && shown.length > 0 ? `${range}; ${number(left)} do not match.` : range;
    this.earlier.disabled = this.page === 0;
    this.later.disabled = this.page === pages - 1;
    this.pages.hidden = pages === 1;
  }

  // Nobody can turn pages or open outputs there.
  renderForPaper() {
    this.render(PRINTED_ROWS);
    for (const details of this.body.querySelectorAll("details")) details.open = true;
  }

  rowsOf(rule) {
    const cells = this.columns.map((column, i) =>
      i === 0
        ? html("th", {scope: "row"}, column.cell(rule, this.run))
        : html("td", {class: column.text ? null : "number"}, column.cell(rule, this.run)),
    );
    const note = noteOf(this.run, rule);
    const row = html("tr", {class: rule.failed ? "bad" : null}, cells);
    if (note.length === 0) return [row];
    return [row, html("tr", {class: "note"}, html("td", {colspan: this.columns.length}, note))];
  }

  // Brings one rule into view.
  open(rule) {
    this.filter.value = rule.id;
    this.page = 0;
    this.choose();
    this.filter.focus();
    this.filter.scrollIntoView({block: "center"});
  }
}

function ruleSentences(run) {
  return [
    "Slack is by how much a rule could be slower before the critical path gets longer.",
    historySentence(run.historyRuns),
    run.hasNames ? "" : "Names of rules are left out to keep this file small.",
    leftOutSentence(run.notesLeftOut),
  ];
}

function historySentence(runs) {
  if (runs < 2) return "There are no earlier runs to compare with yet.";
  return (
    `p50, p90, trend and flaky are of the last ${counted(runs, "run")}: the time that half and ` +
    "nine tenths of them did not exceed, durations from old to new, and the share that passed " +
    "only after failing."
  );
}

function leftOutSentence(rules) {
  if (rules === 0) return "";
  return (
    `Messages and outputs of ${counted(rules, "rule")} are left out to keep this file small; ` +
    "the log of the run has them."
  );
}

function showRules(run) {
  if (run.rules.length === 0) {
    say("rules", "The plan has no rules.");
    return null;
  }
  say("rules", ...ruleSentences(run));
  return new RuleTable(run);
}
