// What rules were expected to take against what they took.

const NAMED_OUTLIERS = 5;
const SMALLEST = 1e-6; // the resolution of the data; a logarithm needs something above zero

// By how much a prediction was off, whichever way.
function offBy(rule) {
  const [a, b] = [Math.max(rule.predicted, SMALLEST), Math.max(rule.duration, SMALLEST)];
  return Math.max(a / b, b / a);
}

// Off by much and costing time: a factor of 50 on a microsecond is nobody's concern.
function weightOf(rule) {
  return Math.abs(rule.predicted - rule.duration);
}

function worstOf(rules) {
  return rules
    .filter((rule) => offBy(rule) > 2)
    .sort((a, b) => weightOf(b) - weightOf(a))
    .slice(0, NAMED_OUTLIERS);
}

function predictionSentences(run, rules, worst) {
  const within = rules.filter((rule) => offBy(rule) <= 2).length;
  const learned = rules.filter((rule) => rule.source === "learned").length;
  return [
    `${number(within)} of ${counted(rules.length, "rule")} took between half and twice what was ` +
      `predicted; ${number(learned)} of the predictions were learned from earlier runs.`,
    `Weighed by duration, predictions were off by ${percent(run.predictionError / 100)}.`,
    outlierSentence(worst[0]),
    learned === 0 ? "Run the plan again with profiles to have costs learned." : "",
  ];
}

function outlierSentence(rule) {
  if (!rule) return "No rule is out of line.";
  const [taken, predicted] = [seconds(rule.duration), seconds(rule.predicted)];
  return `Most out of line: ${rule.id} took ${taken} instead of ${predicted}.`;
}

// Points as one path: a line of no length with round or square ends is a dot or a square.
function pointsPath(rules, x, y) {
  const seen = new Set();
  for (const rule of rules) {
    seen.add(`M${x(rule.predicted).toFixed(0)} ${y(rule.duration).toFixed(0)}h0`);
  }
  return [...seen].join("");
}

function scatterOf(rules, worst, width) {
  const times = rules
    .flatMap((rule) => [rule.predicted, rule.duration])
    .map((time) => Math.max(time, SMALLEST));
  const low = times.reduce((a, b) => Math.min(a, b));
  const high = times.reduce((a, b) => Math.max(a, b));
  const decades = decadesOf(low, high);
  const [first, last] = [decades[0], decades[decades.length - 1]];
  const height = Math.min(420, Math.max(260, width * 0.62));
  const box = {left: 74, right: width - 14, top: 14, bottom: height - 44};
  const place = (time) => (Math.log10(Math.max(time, SMALLEST)) - first) / (last - first);
  const x = (time) => box.left + (box.right - box.left) * place(time);
  const y = (time) => box.bottom - (box.bottom - box.top) * place(time);
  const [begin, end] = [10 ** first, 10 ** last];
  const near = rules.filter((rule) => offBy(rule) <= 2);
  const far = rules.filter((rule) => offBy(rule) > 2);
  return svg(
    "svg",
    {
      class: "scatter",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label":
        "Predicted against actual durations, logarithmic; the text below says what it shows",
    },
    svg(
      "clipPath",
      {id: "scatter-box"},
      svg("rect", {
        x: box.left,
        y: box.top,
        width: box.right - box.left,
        height: box.bottom - box.top,
      }),
    ),
    scatterGrid(decades, box, x, y),
    svg(
      "g",
      {"clip-path": "url(#scatter-box)"},
      svg("path", {
        class: "band",
        d: `M${x(begin)} ${y(begin * 2)}L${x(end)} ${y(end * 2)}V${y(end / 2)}L${x(begin)} ${y(begin / 2)}z`,
      }),
      svg("path", {class: "diagonal", d: `M${x(begin)} ${y(begin)}L${x(end)} ${y(end)}`}),
    ),
    svg("path", {class: "point", d: pointsPath(near, x, y)}),
    svg("path", {class: "point outlier", d: pointsPath(far, x, y)}),
    outlierNames(worst, box, x, y),
  );
}

function scatterGrid(decades, box, x, y) {
  const middle = (box.left + box.right) / 2;
  const room = Math.ceil((decades.length * 52) / (box.right - box.left));
  const lines = decades.map((exponent, i) => {
    const time = 10 ** exponent;
    return [
      svg("line", {class: "grid", x1: x(time), x2: x(time), y1: box.top, y2: box.bottom}),
      svg("line", {class: "grid", x1: box.left, x2: box.right, y1: y(time), y2: y(time)}),
      i % room > 0
        ? null
        : svg(
            "text",
            {
              class: "tick",
              x: x(time),
              y: box.bottom + 16,
              "text-anchor": i === decades.length - 1 ? "end" : "middle",
            },
            decadeLabel(exponent),
          ),
      svg(
        "text",
        {class: "tick", x: box.left - 6, y: y(time) + 4, "text-anchor": "end"},
        decadeLabel(exponent),
      ),
    ];
  });
  return [
    ...lines.flat(),
    svg(
      "text",
      {class: "axis-name", x: middle, y: box.bottom + 36, "text-anchor": "middle"},
      "predicted",
    ),
    svg(
      "text",
      {
        class: "axis-name",
        x: 12,
        y: (box.top + box.bottom) / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 12 ${(box.top + box.bottom) / 2})`,
      },
      "actual",
    ),
  ];
}

function decadeLabel(exponent) {
  const [factor, unit] = exponent < -3 ? [1e6, "µs"] : exponent < 0 ? [1e3, "ms"] : [1, "s"];
  return `${number(Math.round(10 ** exponent * factor))} ${unit}`;
}

// Names beside their points, each moved down until it covers no other.
function outlierNames(worst, box, x, y) {
  const taken = [];
  return worst.map((rule) => {
    const [left, top] = [x(rule.predicted), y(rule.duration)];
    const atRight = left < (box.left + box.right) / 2;
    let line = Math.max(top + 4, box.top + 10);
    while (taken.some((other) => other.atRight === atRight && Math.abs(other.line - line) < 14))
      line += 14;
    taken.push({atRight, line});
    return svg(
      "text",
      {
        class: "outlier-name",
        x: left + (atRight ? 8 : -8),
        y: line,
        "text-anchor": atRight ? "start" : "end",
      },
      shortened(rule.id, 24),
    );
  });
}

function showPredictions(run) {
  const rules = run.rules.filter((rule) => rule.ran);
  if (rules.length === 0) {
    say("predictions", "No rule ran, so there is nothing to compare.");
    return;
  }
  const worst = worstOf(rules);
  say("predictions", ...predictionSentences(run, rules, worst));
  const chart = chartOf("predictions");
  const frame = html("div", {class: "frame"});
  const sample = (cls) =>
    svg(
      "svg",
      {class: "swatch", viewBox: "0 0 22 14", "aria-hidden": "true", focusable: "false"},
      svg("path", {class: cls, d: "M11 7h0"}),
    );
  chart.append(
    legendOf([
      {drawing: sample("point"), label: "within half and twice"},
      {drawing: sample("point outlier"), label: "beyond"},
      {kind: "band", label: "half to twice the prediction"},
    ]),
    frame,
  );
  onWidth(frame, (width) => frame.replaceChildren(scatterOf(rules, worst, width)));
}
