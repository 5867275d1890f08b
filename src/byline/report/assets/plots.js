// The parts of a chart: scales, axes, and a figure that is drawn anew when there is more or less room for it.

const PALETTE = 7;
const DASHES = ["", "6 2", "2 2", "6 2 2 2", "4 2", "6 2 1.5 2 1.5 2", "1 2.5"];

/** Round numbers from low to high, about so many. */
function ticksOf(low, high, about = 5) {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) * power;
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1)
    ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

/** Numbers with as many decimals as tell them apart. */
function formatTicks(ticks) {
  const digits = Math.max(...ticks.map((tick) => (String(tick).split(".")[1] || "").length));
  return ticks.map((tick) => (Math.abs(tick) >= 1000 ? whole(tick) : minus(tick.toFixed(Math.min(digits, 4)))));
}

/** Both ends moved outwards a little, so that no mark lies on the frame. */
function roomy([low, high], share = 0.06) {
  const room = high > low ? (high - low) * share : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/**
 * Axes: x and y are {range: [low, high], label, ticks, format}; y may be missing. Marks go into `marks`.
 * `x()` and `y()` turn values into places.
 */
function axes({ width, height, x, y, left = 46, right = 12, top = 10, bottom = 38 }) {
  const inner = { left: y ? left : 12, right: width - right, top, bottom: height - bottom };
  const place =
    ([low, high], from, to) =>
    (value) =>
      from + ((value - low) / (high - low || 1)) * (to - from);
  const toX = place(x.range, inner.left, inner.right);
  const toY = y ? place(y.range, inner.bottom, inner.top) : null;
  const marks = svg("g", {});
  const lines = svg("g", { class: "axes" });
  const xTicks = x.ticks || ticksOf(...x.range, Math.max(2, Math.floor((inner.right - inner.left) / 70)));
  const xTexts = x.format ? xTicks.map(x.format) : formatTicks(xTicks);
  xTicks.forEach((tick, n) =>
    lines.append(
      svg("line", { x1: toX(tick), x2: toX(tick), y1: inner.bottom, y2: inner.bottom + 4, class: "tick" }),
      svg("text", { x: toX(tick), y: inner.bottom + 15, "text-anchor": "middle" }, xTexts[n]),
    ),
  );
  lines.append(
    svg("line", { x1: inner.left, x2: inner.right, y1: inner.bottom, y2: inner.bottom, class: "axis" }),
    svg("text", { x: (inner.left + inner.right) / 2, y: height - 5, "text-anchor": "middle", class: "label" }, x.label),
  );
  if (y) {
    const yTicks = y.ticks || ticksOf(...y.range, Math.max(2, Math.floor((inner.bottom - inner.top) / 36)));
    const yTexts = y.format ? yTicks.map(y.format) : formatTicks(yTicks);
    yTicks.forEach((tick, n) =>
      lines.append(
        svg("line", { x1: inner.left, x2: inner.right, y1: toY(tick), y2: toY(tick), class: "grid" }),
        svg("text", { x: inner.left - 6, y: toY(tick) + 3.5, "text-anchor": "end" }, yTexts[n]),
      ),
    );
    const middle = (inner.top + inner.bottom) / 2;
    lines.append(
      svg(
        "text",
        { transform: `translate(11 ${middle}) rotate(-90)`, "text-anchor": "middle", class: "label" },
        y.label,
      ),
    );
  }
  return { x: toX, y: toY, inner, marks, nodes: [lines, marks], width, height };
}

const pathOf = (points) => points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
const stepsOf = (points) =>
  points.map(([x, y], n) => (n ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`)).join("");
const upright = (chart, value, kind) =>
  svg("line", { x1: chart.x(value), x2: chart.x(value), y1: chart.inner.top, y2: chart.inner.bottom, class: kind });

/** A mark by shape as well as by color: round for the same author, a diamond for another, a ring where it's open. */
function mark(x, y, shape, kind, title) {
  const node =
    shape === "diamond"
      ? svg("path", { d: `M${x} ${y - 5}l5 5l-5 5l-5-5z`, class: `mark ${kind}` })
      : svg("circle", { cx: x, cy: y, r: shape === "dot" ? 2.4 : 4, class: `mark ${kind}` });
  if (title) node.append(svg("title", {}, title));
  return node;
}

const drawings = new Map();
const rooms = new ResizeObserver((entries) => entries.forEach((entry) => redraw(entry.target)));

function redraw(host, always, widthOf) {
  const width = widthOf ? widthOf(host) : Math.floor(host.clientWidth);
  const drawing = drawings.get(host);
  if (!drawing || !width || (!always && Math.abs(drawing.width - width) < 2)) return;
  drawing.width = width;
  drawing.draw(width);
}

/** Draw everything anew, as when colors change; as wide as there is room, or as widthOf(host) says. */
const redrawAll = (widthOf) => drawings.forEach((_, host) => redraw(host, true, widthOf));

/** An element in which draw(width) puts something, now and whenever its width changes. */
function responsive(draw, kind) {
  const host = el("div", { class: kind || "host" });
  drawings.set(host, { draw: (width) => draw(width, host), width: 0 });
  rooms.observe(host);
  return host;
}

/** Forget the drawings inside an element that goes. */
function forget(element) {
  for (const host of [...drawings.keys()]) {
    if (element.contains(host)) {
      rooms.unobserve(host);
      drawings.delete(host);
    }
  }
}

/** An image for eyes and for screen readers: what it is, and what it shows. */
function image(width, height, title, description, nodes, kind) {
  const ids = [newId("title"), newId("text")];
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-labelledby": ids.join(" "),
      class: kind || "chart",
    },
    svg("title", { id: ids[0] }, title),
    svg("desc", { id: ids[1] }, description),
    nodes,
  );
}

/** A chart with its title, a sentence that says what it shows, and the same in a table. level: of its heading. */
function figure({ title, text, height, draw, table, kind, level = 3, after }) {
  const host = responsive((width, inside) => {
    const tall = typeof height === "function" ? height(width) : height;
    inside.replaceChildren(image(width, tall, title, text, draw(width, tall)));
  });
  return el(
    "figure",
    { class: `card ${kind || ""}` },
    el("figcaption", {}, el(`h${level}`, {}, title), el("p", {}, text)),
    host,
    after,
    table ? folded("The same as a table", table()) : null,
  );
}
