// Where the marks of an axis are.

// Round values from `low` to `high`, about `wanted` of them.
function ticksOf(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(1, wanted);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((each) => each >= rough);
  const ticks = [];
  // Counted, not added up: sums of a step drift.
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
    ticks.push(i * step);
  return ticks;
}

// All ticks in one unit, with no more decimals than tell them apart.
function tickLabels(ticks) {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : largest || 1;
  const [factor, unit] = largest < 1e-3 ? [1e6, "µs"] : largest < 1 ? [1e3, "ms"] : [1, "s"];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step * factor) - 1e-9));
  return ticks.map((tick) => `${(tick * factor).toFixed(decimals)} ${unit}`);
}

// Powers of ten from below `low` to above `high`.
function decadesOf(low, high) {
  const decades = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) decades.push(e);
  return decades.length > 1 ? decades : [decades[0], decades[0] + 1];
}
