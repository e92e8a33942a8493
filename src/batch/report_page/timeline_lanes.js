// Which bar is where in time: a lane for each worker that had anything to do with the run.

// A bar is an attempt of a rule: {rule, start, end, retried}.
function barsOf(run) {
  const bars = [];
  for (const attempt of run.attempts) {
    bars.push({
      rule: run.rules[attempt.rule],
      worker: attempt.worker,
      start: attempt.start,
      end: attempt.start + attempt.duration,
      retried: true,
    });
  }
  for (const rule of run.rules) {
    if (!rule.ran) continue;
    bars.push({
      rule,
      worker: rule.worker,
      start: rule.start,
      end: rule.start + rule.duration,
      retried: false,
    });
  }
  return bars.sort((a, b) => a.start - b.start || a.end - b.end);
}

function lanesOf(run) {
  const lanes = new Map();
  const laneOf = (worker) => {
    if (!lanes.has(worker)) lanes.set(worker, {worker, bars: [], idle: []});
    return lanes.get(worker);
  };
  for (const bar of barsOf(run)) laneOf(bar.worker).bars.push(bar);
  for (const rule of run.rules) {
    if (rule.stolenFrom !== null) laneOf(rule.stolenFrom);
  }
  for (const span of run.idle) {
    lanes.get(span.worker)?.idle.push({...span, end: span.start + span.duration});
  }
  const sorted = [...lanes.values()].sort((a, b) => a.worker - b.worker);
  for (const lane of sorted) lane.idle.sort((a, b) => a.start - b.start);
  return sorted;
}

// The place of the first span that ends after a time. Spans of a lane do not overlap.
function firstAfter(spans, time) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The bar of a lane at a time, or the nearest one within `reach` of it.
function barAt(lane, time, reach) {
  const distance = (bar) => Math.max(bar.start - time, time - bar.end, 0);
  const place = firstAfter(lane.bars, time);
  const near = lane.bars
    .slice(Math.max(0, place - 1), place + 1)
    .filter((bar) => distance(bar) <= reach);
  return near.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}
