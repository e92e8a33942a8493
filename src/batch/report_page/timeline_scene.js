// Draws the timeline for a stretch of time. All bars of a kind are one path: the page stays light
// however many rules there are.

const GUTTER = 44; // for the names of the lanes
const AXIS = 24;
const BAND = 46; // height of a curve below the lanes

// The drawing's measures: where lanes are and which time is at which x.
function layoutOf(lanes, view, width) {
  const tallest = Math.floor(520 / Math.max(1, lanes.length));
  const pitch = Math.min(30, Math.max(6, tallest));
  const plot = Math.max(1, width - GUTTER - 10);
  const scale = plot / (view.to - view.from || 1);
  return {
    width,
    plot,
    pitch,
    thick: pitch - Math.max(1, Math.round(pitch / 6)),
    bottom: AXIS + pitch * lanes.length,
    height: AXIS + pitch * lanes.length + 2 * (BAND + 14),
    x: (time) => GUTTER + (time - view.from) * scale,
    timeAt: (x) => view.from + (x - GUTTER) / scale,
    y: (lane) => AXIS + pitch * lane,
    perPixel: 1 / scale,
  };
}

// Rectangles as one path. Those too narrow to be told apart become one.
class RectanglePath {
  constructor() {
    this.path = "";
    this.last = null;
  }
  add(left, right, top, height) {
    const last = this.last;
    if (last && last.top === top && left - last.right < 0.5 && right - left < 1.5 && last.narrow) {
      last.right = Math.max(last.right, right);
      return;
    }
    this.flush();
    this.last = {left, right, top, height, narrow: right - left < 1.5};
  }
  flush() {
    if (!this.last) return;
    const {left, right, top, height} = this.last;
    const width = Math.max(0.7, right - left);
    this.path += `M${left.toFixed(1)} ${top}h${width.toFixed(1)}v${height}h-${width.toFixed(1)}z`;
    this.last = null;
  }
  done() {
    this.flush();
    return this.path;
  }
}

// Rectangle paths by kind, in the order in which kinds were first asked for.
class PathsByKind {
  constructor() {
    this.paths = new Map();
  }
  of(kind) {
    if (!this.paths.has(kind)) this.paths.set(kind, new RectanglePath());
    return this.paths.get(kind);
  }
  elements(prefix) {
    return [...this.paths].map(([kind, path]) =>
      svg("path", {class: `${prefix}${kind}`, d: path.done()}),
    );
  }
}

// Calls back for the spans of all lanes that are in view, with their edges on the drawing.
function eachInView(lanes, key, view, layout, call) {
  lanes.forEach((lane, index) => {
    const spans = lane[key];
    for (let i = firstAfter(spans, view.from); i < spans.length && spans[i].start < view.to; ++i) {
      const left = Math.max(layout.x(spans[i].start), GUTTER);
      const right = Math.min(layout.x(spans[i].end), GUTTER + layout.plot);
      call(spans[i], left, right, layout.y(index));
    }
  });
}

function drawIdle(lanes, view, layout) {
  const paths = new PathsByKind();
  const inset = layout.thick * 0.2;
  eachInView(lanes, "idle", view, layout, (span, left, right, top) =>
    paths.of(span.why).add(left, right, top + inset, layout.thick - 2 * inset),
  );
  return paths.elements("fill-");
}

function drawBars(lanes, view, layout) {
  const paths = new PathsByKind();
  const retried = new RectanglePath();
  const outlines = new RectanglePath();
  let failures = "";
  let stolen = "";
  eachInView(lanes, "bars", view, layout, (bar, left, right, top) => {
    const {rule} = bar;
    const failed = rule.failed && !bar.retried;
    // A hairline between neighbours of the same colour.
    const edge = right - left > 3 ? right - 0.8 : right;
    paths.of(failed ? "failed" : batchKind(rule.batch)).add(left, edge, top, layout.thick);
    if (bar.retried) retried.add(left, edge, top, layout.thick);
    if (rule.critical && !bar.retried)
      outlines.add(left + 1, Math.max(left + 1.5, edge - 1), top + 1, layout.thick - 2);
    if (failed)
      failures += cross((left + edge) / 2, top + layout.thick / 2, Math.min(5, layout.thick / 3));
    if (rule.stolenFrom !== null && !bar.retried && edge - left > 4) {
      const size = Math.min(7, layout.thick / 2, edge - left);
      stolen += `M${left.toFixed(1)} ${top}h${size.toFixed(1)}l${-size.toFixed(1)} ${size.toFixed(1)}z`;
    }
  });
  return [
    ...paths.elements("fill-"),
    svg("path", {class: "fill-retried", d: retried.done()}),
    svg("path", {class: "stolen", d: stolen}),
    svg("path", {class: "critical", d: outlines.done()}),
    svg("path", {class: "failure", d: failures}),
  ];
}

function cross(x, y, size) {
  const [left, top, step] = [(x - size).toFixed(1), (y - size).toFixed(1), (2 * size).toFixed(1)];
  return `M${left} ${top}l${step} ${step}m0 -${step}l-${step} ${step}`;
}

// Ids where there is room for them.
function drawIds(lanes, view, layout) {
  if (layout.thick < 13) return [];
  const texts = [];
  eachInView(lanes, "bars", view, layout, (bar, left, right, top) => {
    const room = Math.floor((right - left - 8) / 6.7);
    if (room < 4 || bar.retried || bar.rule.failed) return;
    texts.push(
      svg(
        "text",
        {class: "id", x: left + 5, y: top + layout.thick / 2 + 4},
        shortened(bar.rule.id, room),
      ),
    );
  });
  return texts;
}

// More arrows than this would be a thicket.
const ARROWS_MAX = 100;

// From the victim's lane to the thief's, at the time of the steal.
function drawSteals(lanes, view, layout) {
  const laneOf = new Map(lanes.map((lane, index) => [lane.worker, index]));
  const stolen = lanes
    .flatMap((lane) => lane.bars)
    .filter(
      (bar) =>
        !bar.retried &&
        bar.rule.stolenFrom !== null &&
        bar.start >= view.from &&
        bar.start <= view.to,
    );
  if (stolen.length > ARROWS_MAX) return {drawn: false, elements: []};
  const path = stolen
    .map((bar) => {
      const x = layout.x(bar.start);
      const [from, to] = [laneOf.get(bar.rule.stolenFrom), laneOf.get(bar.worker)];
      const down = to > from;
      const tip = layout.y(to) + (down ? 0 : layout.thick);
      const tail = layout.y(from) + (down ? layout.thick : 0);
      const back = down ? -5 : 5;
      return `M${x.toFixed(1)} ${tail.toFixed(1)}V${tip.toFixed(1)}m-3 ${back}l3 ${-back}l3 ${back}`;
    })
    .join("");
  return {drawn: true, elements: [svg("path", {class: "steal", d: path})]};
}

function drawGrid(lanes, view, layout) {
  const ticks = ticksOf(view.from, view.to, layout.plot / 90).filter(
    (tick) => tick >= view.from - 1e-12,
  );
  const labels = tickLabels(ticks);
  const bottom = layout.height - 12;
  const marks = ticks.map((tick, i) => {
    const x = layout.x(tick);
    const anchor = x > layout.width - 40 ? "end" : i === 0 && x < GUTTER + 20 ? "start" : "middle";
    return [
      svg("line", {class: "grid", x1: x, x2: x, y1: AXIS - 6, y2: bottom}),
      svg("text", {class: "tick", x, y: AXIS - 10, "text-anchor": anchor}, labels[i]),
    ];
  });
  // Names of lanes, as many as fit.
  const every = Math.ceil(13 / layout.pitch);
  const names = lanes.map((lane, index) =>
    index % every > 0
      ? null
      : svg(
          "text",
          {
            class: "tick",
            x: GUTTER - 6,
            y: layout.y(index) + layout.thick / 2 + 4,
            "text-anchor": "end",
          },
          `W${lane.worker}`,
        ),
  );
  return [...marks.flat(), ...names];
}

// A curve of steps between `top` and `top` + BAND.
function drawCurve(run, key, kind, top, most, view, layout) {
  const y = (value) => (top + BAND - (BAND * value) / Math.max(1, most)).toFixed(1);
  const edge = (time) =>
    Math.min(Math.max(layout.x(time), GUTTER), GUTTER + layout.plot).toFixed(1);
  const begin = Math.max(
    0,
    run.levels.findLastIndex((level) => level.at <= view.from),
  );
  let path = `M${GUTTER} ${y(0)}`;
  for (let i = begin; i < run.levels.length && run.levels[i].at <= view.to; ++i) {
    path += `H${edge(run.levels[i].at)}V${y(run.levels[i][key])}`;
  }
  path += `H${edge(Math.min(view.to, run.time))}V${y(0)}z`;
  return [
    svg("path", {class: `curve ${kind}`, d: path}),
    svg("text", {class: "tick", x: GUTTER - 6, y: top + 9, "text-anchor": "end"}, number(most)),
    svg("text", {class: "tick", x: GUTTER - 6, y: top + BAND, "text-anchor": "end"}, "0"),
    svg("text", {class: "curve-name", x: GUTTER + 4, y: top + 10}, key),
  ];
}

function drawCurves(run, view, layout) {
  const most = (key) => run.levels.reduce((high, level) => Math.max(high, level[key]), 1);
  const first = layout.bottom + 10;
  // Against all workers, unless most of them would be empty space.
  const busy = most("running");
  const ceiling = 4 * busy < run.workers ? busy : Math.max(run.workers, busy);
  return [
    ...drawCurve(run, "running", "running", first, ceiling, view, layout),
    ...drawCurve(run, "ready", "ready", first + BAND + 12, most("ready"), view, layout),
  ];
}
