// What colours and patterns mean.

const REASON_WORDS = {
  dependency: "waiting for other rules",
  tail: "tail: nothing left to begin",
  admission: "no room: memory, weight or a limit",
  overhead: "overhead: a rule was ready",
};

function swatch(kind) {
  return svg(
    "svg",
    {class: "swatch", "aria-hidden": "true", focusable: "false"},
    svg("rect", {class: `fill-${kind}`, width: "100%", height: "100%"}),
  );
}

// `entries` are {kind, label} or {drawing, label}.
function legendOf(entries) {
  return html(
    "ul",
    {class: "legend"},
    entries.map((entry) => html("li", {}, entry.drawing ?? swatch(entry.kind), " ", entry.label)),
  );
}

function reasonEntries(present) {
  return REASONS.filter((why) => present(why)).map((why) => ({
    kind: why,
    label: REASON_WORDS[why],
  }));
}

// Colours repeat after this many batches; names tell them apart.
const BATCH_COLOURS = 10;

function batchKind(batch) {
  return `batch-${batch % BATCH_COLOURS}`;
}
