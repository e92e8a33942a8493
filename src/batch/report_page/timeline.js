// The timeline as something to work with: zoom, move, look at a rule.

class Timeline {
  constructor(run, openRule) {
    this.run = run;
    this.openRule = openRule;
    this.lanes = lanesOf(run);
    this.whole = {from: 0, to: run.time};
    this.view = this.whole;
    this.selected = null; // {lane, index}: which bar of which lane
    this.width = 0;
    this.build(chartOf("timeline"));
    say("timeline", ...timelineSentences(run, this.lanes));
  }

  build(chart) {
    this.drawing = svg("svg", {
      class: "timeline",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label":
        `Timeline of ${counted(this.lanes.length, "worker")}. Arrow keys go from rule to rule, ` +
        "plus and minus zoom, 0 shows all, shift and arrow keys move, " +
        "enter opens the rule in the table.",
      keydown: (event) => this.onKey(event),
      // A click selects by itself.
      focus: () => this.drawing.matches(":focus-visible") && this.selectAgain(),
      blur: () => this.hide(),
    });
    this.tip = html("div", {class: "tip", hidden: true});
    this.spoken = html("div", {class: "hidden", role: "status"});
    this.arrowNote = html(
      "p",
      {class: "hint", hidden: true},
      "Too many steals in view for arrows; zoom in to see them.",
    );
    this.frame = html("div", {class: "frame"}, this.drawing, this.tip);
    chart.append(
      timelineLegend(this.run, this.lanes),
      this.buttons(),
      this.frame,
      this.arrowNote,
      html(
        "p",
        {class: "hint controls"},
        "Drag to zoom into a stretch; the wheel zooms once the chart has the focus, or with Ctrl. " +
          "Keys: arrows go from rule to rule, + and − zoom, 0 shows all, Shift with arrows moves, " +
          "Enter opens the rule in the table.",
      ),
      this.spoken,
    );
    this.listenToPointer();
    onWidth(this.frame, (width) => {
      this.width = width;
      this.draw();
    });
  }

  buttons() {
    const button = (label, symbol, action) =>
      html("button", {type: "button", "aria-label": label, title: label, click: action}, symbol);
    return html(
      "div",
      {class: "controls", role: "group", "aria-label": "Zoom of the timeline"},
      button("Zoom in", "+", () => this.zoom(0.5)),
      button("Zoom out", "−", () => this.zoom(2)),
      button("Earlier", "←", () => this.move(-0.25)),
      button("Later", "→", () => this.move(0.25)),
      button("Show all", "All", () => this.show(this.whole)),
    );
  }

  draw() {
    if (this.width === 0) return;
    const layout = layoutOf(this.lanes, this.view, this.width);
    this.layout = layout;
    const steals = drawSteals(this.lanes, this.view, layout);
    this.arrowNote.hidden = steals.drawn;
    this.drawing.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
    this.drawing.setAttribute("data-from", this.view.from);
    this.drawing.setAttribute("data-to", this.view.to);
    this.drawing.replaceChildren(
      ...drawGrid(this.lanes, this.view, layout).filter(Boolean),
      ...drawIdle(this.lanes, this.view, layout),
      ...drawBars(this.lanes, this.view, layout),
      ...drawIds(this.lanes, this.view, layout),
      ...steals.elements,
      ...drawCurves(this.run, this.view, layout),
    );
    this.mark();
  }

  // Shows a stretch of time, no shorter than can be told apart and no longer than the run.
  show({from, to}) {
    const shortest = Math.min(this.run.time, Math.max(this.run.time / 1e5, 2e-5));
    const span = Math.min(this.run.time, Math.max(shortest, to - from));
    const start = Math.min(Math.max(0, from), this.run.time - span);
    this.view = {from: start, to: start + span};
    this.draw();
  }

  // By a factor, around a time: that of the selected rule unless given.
  zoom(factor, around = this.focusTime()) {
    const {from, to} = this.view;
    this.show({from: around - (around - from) * factor, to: around + (to - around) * factor});
  }

  move(share) {
    const by = (this.view.to - this.view.from) * share;
    this.show({from: this.view.from + by, to: this.view.to + by});
  }

  focusTime() {
    const bar = this.bar();
    const {from, to} = this.view;
    const middle = bar ? (bar.start + bar.end) / 2 : (from + to) / 2;
    return middle >= from && middle <= to ? middle : (from + to) / 2;
  }

  firstLane() {
    return this.lanes.findIndex((lane) => lane.bars.length > 0);
  }

  bar() {
    return this.selected && this.lanes[this.selected.lane].bars[this.selected.index];
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {lane, index} = this.selected ?? {lane: this.firstLane(), index: 0};
    const actions = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.show(this.whole),
      ArrowLeft: () => (event.shiftKey ? this.move(-0.25) : this.select(lane, index - 1)),
      ArrowRight: () => (event.shiftKey ? this.move(0.25) : this.select(lane, index + 1)),
      ArrowUp: () => this.selectLane(-1),
      ArrowDown: () => this.selectLane(1),
      Home: () => this.select(lane, 0),
      End: () => this.select(lane, Infinity),
      Enter: () => this.bar() && this.openRule(this.bar().rule),
      Escape: () => this.hide(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // The bar of the next lane that has any, at about the same time.
  selectLane(step) {
    const time = this.focusTime();
    let lane = (this.selected?.lane ?? 0) + step;
    while (this.lanes[lane] && this.lanes[lane].bars.length === 0) lane += step;
    if (!this.lanes[lane]) return;
    this.select(lane, firstAfter(this.lanes[lane].bars, time));
  }

  selectAgain() {
    const {lane, index} = this.selected ?? {lane: this.firstLane(), index: 0};
    this.select(lane, index);
  }

  select(lane, index) {
    const bars = this.lanes[lane]?.bars ?? [];
    if (bars.length === 0) return;
    this.selected = {lane, index: Math.min(Math.max(0, index), bars.length - 1)};
    const bar = this.bar();
    if (bar.start < this.view.from || bar.end > this.view.to) {
      const span = this.view.to - this.view.from;
      const middle = (bar.start + bar.end) / 2;
      this.show({from: middle - span / 2, to: middle + span / 2});
    } else {
      this.mark();
    }
    this.showTip(bar, this.selected.lane);
    this.spoken.textContent = spokenDetails(this.run, bar);
  }

  // A frame around the selected bar.
  mark() {
    this.drawing.querySelector(".selected")?.remove();
    const bar = this.bar();
    if (!bar || !this.layout || bar.end < this.view.from || bar.start > this.view.to) return;
    const left = Math.max(GUTTER, this.layout.x(bar.start)) - 2;
    const right = Math.min(GUTTER + this.layout.plot, this.layout.x(bar.end)) + 2;
    this.drawing.append(
      svg("rect", {
        class: "selected",
        x: left,
        width: Math.max(4, right - left),
        y: this.layout.y(this.selected.lane) - 2,
        height: this.layout.thick + 4,
      }),
    );
  }

  showTip(bar, lane) {
    this.tip.replaceChildren(
      html(
        "p",
        {class: "tip-title"},
        named(bar.rule.id),
        bar.rule.name ? [" ", named(bar.rule.name)] : null,
      ),
      html(
        "dl",
        {},
        detailsOf(this.run, bar).map(([name, value]) =>
          html("div", {}, html("dt", {}, name), html("dd", {}, value)),
        ),
      ),
    );
    this.tip.hidden = false;
    const scale = this.frame.clientWidth / this.layout.width;
    const left = this.layout.x(Math.max(bar.start, this.view.from)) * scale;
    const room = this.frame.clientWidth - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(0, Math.min(left, room))}px`;
    this.tip.style.top = `${(this.layout.y(lane) + this.layout.thick + 8) * scale}px`;
  }

  hide() {
    this.tip.hidden = true;
  }

  // What a pointer is over: {bar, lane, time}, or null outside of the lanes.
  under(event) {
    const box = this.drawing.getBoundingClientRect();
    const scale = this.layout.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const time = Math.min(Math.max(this.layout.timeAt(x), this.view.from), this.view.to);
    const lane = Math.floor(((event.clientY - box.top) * scale - AXIS) / this.layout.pitch);
    const bar = this.lanes[lane] ? barAt(this.lanes[lane], time, 3 * this.layout.perPixel) : null;
    return {bar, lane, time, x};
  }

  listenToPointer() {
    let drag = null; // where it began
    const stretch = svg("rect", {class: "stretch", y: AXIS});
    this.drawing.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = this.under(event);
      this.drawing.setPointerCapture(event.pointerId);
    });
    this.drawing.addEventListener("pointermove", (event) => {
      const at = this.under(event);
      if (drag && Math.abs(at.x - drag.x) > 4) {
        this.hide();
        stretch.setAttribute("x", Math.min(at.x, drag.x));
        stretch.setAttribute("width", Math.abs(at.x - drag.x));
        stretch.setAttribute("height", this.layout.bottom - AXIS);
        this.drawing.append(stretch);
      } else if (at.bar) {
        this.showTip(at.bar, at.lane);
      } else {
        this.hide();
      }
    });
    this.drawing.addEventListener("pointerup", (event) => {
      const at = this.under(event);
      const began = drag;
      drag = null;
      stretch.remove();
      if (!began) return;
      if (Math.abs(at.x - began.x) > 4) {
        this.show({from: Math.min(at.time, began.time), to: Math.max(at.time, began.time)});
      } else if (at.bar) {
        this.select(at.lane, this.lanes[at.lane].bars.indexOf(at.bar));
      }
    });
    this.drawing.addEventListener("pointercancel", () => {
      drag = null;
      stretch.remove();
    });
    this.drawing.addEventListener("pointerleave", () => !drag && this.hide());
    this.drawing.addEventListener("wheel", (event) => this.onWheel(event), {passive: false});
  }

  // A page must scroll on past a chart that is only in the way.
  onWheel(event) {
    const meant = event.ctrlKey || event.metaKey || document.activeElement === this.drawing;
    if (!meant || event.deltaY === 0) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.under(event).time);
  }
}

function showTimeline(run, openRule) {
  if (run.rules.some((rule) => rule.ran) && run.time > 0) {
    return new Timeline(run, openRule);
  }
  say("timeline", "No rule ran, so there is no timeline.");
  return null;
}
