// How figures are said. Pure functions of numbers and texts.

const FIXED = "\u00a0"; // between a number and its unit: a space at which no line breaks

function rounded(value, digits) {
  return value >= 10 ** digits ? String(Math.round(value)) : value.toPrecision(digits);
}

// "840 µs", "12.3 ms", "3.46 s", "4 min 05 s": three digits, in the unit that people would use.
function seconds(value) {
  if (!(value > 0)) return `0${FIXED}s`;
  if (value < 0.9995e-3) return `${rounded(value * 1e6, 3)}${FIXED}µs`.replace(/\.\d+/, "");
  if (value < 0.9995) return `${rounded(value * 1e3, 3)}${FIXED}ms`;
  if (value < 99.95) return `${rounded(value, 3)}${FIXED}s`;
  const whole = Math.round(value);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const padded = (number) => String(number).padStart(2, "0");
  return hours > 0
    ? `${hours}${FIXED}h ${padded(minutes)}${FIXED}min`
    : `${minutes}${FIXED}min ${padded(rest)}${FIXED}s`;
}

function percent(share) {
  return `${Math.round(100 * share)}${FIXED}%`;
}

function ratio(value) {
  return `${value >= 10 ? Math.round(value) : value.toFixed(2)}${FIXED}×`;
}

function number(value) {
  return value.toLocaleString("en");
}

// "1 rule", "384 rules".
function counted(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

function were(value) {
  return value === 1 ? "was" : "were";
}

// "a", "a and b", "a, b and c".
function listed(parts) {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}

// "2026-11-16 08:55:04 UTC": the same for every reader.
function moment(unixSeconds) {
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function shortened(text, most) {
  const characters = [...text];
  return characters.length <= most
    ? text
    : `${characters.slice(0, Math.max(1, most - 1)).join("")}…`;
}
