// Elements are made by these functions alone. Text goes in as text nodes, so that nothing a rule is
// called or has printed can become markup.

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

// An attribute whose value is a function is a listener: html("button", {click: zoomIn}, "Zoom in").
function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A name or an id: in its own direction, whatever its characters do to the text around it.
function named(text, attributes = {}) {
  return html("bdi", attributes, text);
}

function chartOf(section) {
  return document.querySelector(`#${section} .chart`);
}

// The sentence under a chart.
function say(section, ...sentences) {
  const text = sentences.filter(Boolean).join(" ");
  document.querySelector(`#${section} figcaption`).textContent = text;
}

// Calls back with the width of an element, now and whenever it changes.
function onWidth(element, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    draw(width);
  }).observe(element);
}
