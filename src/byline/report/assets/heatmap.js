// The matrix as a heat map: a canvas, because it may have a quarter of a million cells.

/** A color of the style sheet as [red, green, blue]. */
function colorOf(name) {
  const probe = el("i", { class: `probe ${name}`, "aria-hidden": "true" });
  document.body.append(probe);
  const numbers = getComputedStyle(probe)
    .color.match(/[\d.]+/g)
    .map(Number);
  probe.remove();
  return numbers.slice(0, 3);
}

/** Values at a share of the way through all of them, so that a few far ones don't take all the colors. */
function between(values, low, high) {
  const sorted = Float64Array.from(values.flat().filter(known)).sort();
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)];
  return sorted.length ? [at(low), at(high)] : [0, 1];
}

const css = ([red, green, blue]) => `rgb(${Math.round(red)},${Math.round(green)},${Math.round(blue)})`;

function heatmap(
  map,
  { title = "Heat map of the matrix", text, valueName = "value", framed = "asked about", missing = "not compared" },
) {
  const [low, high] = between(map.values, 0.01, 0.99);
  const [least, greatest] = extent(map.values.flat());
  const gaps = map.values.some((row) => row.some((value) => !known(value)));
  const asked = new Set(map.asked.map(([row, column]) => row * map.columns.length + column));
  const readout = el("output", { class: "readout" }, "Point at a cell, or move through the cells by the arrow keys.");
  const canvas = el("canvas", {
    role: "img",
    "aria-label": `${title}: ${map.rows.length} rows, ${map.columns.length} columns`,
  });
  const shade = responsive((width) => drawShade(width));
  const strip = el("canvas", { "aria-hidden": "true", class: "ramp" });
  let geometry = null;
  let at = map.asked.length ? [...map.asked[0]] : [0, 0];

  function ramp() {
    const stops = ["heat-0", "heat-1", "heat-2", "heat-3"].map(colorOf);
    return (share) => {
      const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
      const n = Math.min(stops.length - 2, Math.floor(place));
      return stops[n].map((channel, k) => channel + (stops[n + 1][k] - channel) * (place - n));
    };
  }

  function drawShade(width) {
    const long = Math.min(14, Math.max(...map.rows.map((name) => Array.from(oneLine(name)).length)));
    const labeled = (width - long * 6.2 - 26) / map.columns.length;
    const names = labeled >= 8;
    const left = names ? Math.ceil(long * 6.2) + 26 : 22;
    const size = Math.max(1, Math.min(26, Math.floor((width - left - 2) / map.columns.length)));
    const top =
      names && size >= 9
        ? Math.ceil(Math.min(14, Math.max(...map.columns.map((name) => Array.from(oneLine(name)).length))) * 6.2) + 26
        : 22;
    const ratio = window.devicePixelRatio || 1;
    const [wide, tall] = [left + size * map.columns.length + 2, top + size * map.rows.length + 2];
    geometry = { left, top, size };
    canvas.width = wide * ratio;
    canvas.height = tall * ratio;
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${tall}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const color = ramp();
    const shades = Array.from({ length: 128 }, (_, n) => css(color(n / 127)));
    const shadeOf = (value) =>
      shades[Math.max(0, Math.min(127, Math.round(((value - low) / (high - low || 1)) * 127)))];
    const [ink, soft, frame, none] = ["ink", "soft", "frame", "none"].map((name) => css(colorOf(name)));
    map.values.forEach((row, r) =>
      row.forEach((value, c) => {
        pen.fillStyle = known(value) ? shadeOf(value) : none;
        pen.fillRect(left + c * size, top + r * size, size > 6 ? size - 1 : size, size > 6 ? size - 1 : size);
        if (!known(value) && size > 6) {
          pen.strokeStyle = soft;
          pen.lineWidth = 0.5;
          pen.beginPath();
          pen.moveTo(left + c * size + 2, top + (r + 1) * size - 3);
          pen.lineTo(left + (c + 1) * size - 3, top + r * size + 2);
          pen.stroke();
        }
      }),
    );
    pen.strokeStyle = frame;
    pen.lineWidth = size > 8 ? 2 : 1;
    for (const [r, c] of map.asked)
      pen.strokeRect(left + c * size - 0.5, top + r * size - 0.5, Math.max(2, size), Math.max(2, size));
    pen.fillStyle = soft;
    pen.font = "11px sans-serif";
    pen.fillText(oneLine(map.column_title), left, 11);
    pen.save();
    pen.translate(11, top + 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "right";
    pen.fillText(oneLine(map.row_title), 0, 0);
    pen.restore();
    pen.fillStyle = ink;
    if (names && size >= 9) {
      pen.textAlign = "right";
      map.rows.forEach((name, r) => pen.fillText(shorten(name, 14), left - 5, top + r * size + size / 2 + 3.5));
      pen.textAlign = "left";
      map.columns.forEach((name, c) => {
        pen.save();
        pen.translate(left + c * size + size / 2 + 3.5, top - 5);
        pen.rotate(-Math.PI / 2);
        pen.fillText(shorten(name, 14), 0, 0);
        pen.restore();
      });
    }
    strip.width = 120;
    strip.height = 8;
    const other = strip.getContext("2d");
    for (let x = 0; x < 120; x += 1) {
      other.fillStyle = css(color(x / 119));
      other.fillRect(x, 0, 1, 8);
    }
    place(false);
  }

  function place(say = true) {
    const [row, column] = at;
    const value = map.values[row][column];
    cursor.hidden = !say && document.activeElement !== group;
    cursor.style.left = `${geometry.left + column * geometry.size - 1}px`;
    cursor.style.top = `${geometry.top + row * geometry.size - 1}px`;
    cursor.style.width = cursor.style.height = `${geometry.size + 1}px`;
    if (!say) return;
    readout.replaceChildren(
      `${oneLine(map.row_title)} `,
      named(map.rows[row]),
      `, ${oneLine(map.column_title)} `,
      named(map.columns[column]),
      `: ${known(value) ? `${valueName} ${fixed(value)}` : missing}${asked.has(row * map.columns.length + column) ? ` (${framed})` : ""}`,
    );
  }

  const steps = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -1e6],
    End: [0, 1e6],
    PageUp: [-10, 0],
    PageDown: [10, 0],
  };
  const clamp = (value, most) => Math.max(0, Math.min(most - 1, value));
  const cursor = el("span", { class: "cursor", hidden: true, "aria-hidden": "true" });
  const group = el(
    "div",
    {
      class: "heat scroll",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label": `${title}. Move through the cells by the arrow keys.`,
      keydown: (event) => {
        if (!steps[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        at = [
          clamp(at[0] + steps[event.key][0], map.rows.length),
          clamp(at[1] + steps[event.key][1], map.columns.length),
        ];
        place();
        cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
      },
      focus: () => geometry && place(),
      blur: () => {
        cursor.hidden = true;
      },
      pointermove: (event) => {
        if (!geometry) return;
        const box = canvas.getBoundingClientRect();
        const row = Math.floor((event.clientY - box.top - geometry.top) / geometry.size);
        const column = Math.floor((event.clientX - box.left - geometry.left) / geometry.size);
        if (row < 0 || column < 0 || row >= map.rows.length || column >= map.columns.length) return;
        at = [row, column];
        place();
      },
      pointerleave: () => {
        cursor.hidden = document.activeElement !== group;
      },
    },
    el("div", { class: "heat-inner" }, canvas, cursor),
  );
  const small = map.rows.length <= 30 && map.columns.length <= 30;
  return el(
    "figure",
    { class: map.columns.length > 14 ? "card broad" : "card" },
    el("figcaption", {}, el("h3", {}, title), el("p", {}, text)),
    shade,
    group,
    el(
      "p",
      { class: "heat-legend" },
      el("span", {}, `${least < low ? "\u2264 " : ""}${fixed(low)}`),
      strip,
      el("span", {}, `${greatest > high ? "\u2265 " : ""}${fixed(high)}`),
      map.asked.length ? el("span", { class: "framed" }, `framed: ${framed}`) : null,
      gaps ? el("span", { class: "struck" }, missing) : null,
    ),
    readout,
    folded(
      "The same as a table",
      small
        ? plainTable(
            `${valueName}: ${oneLine(map.row_title)} by row, ${oneLine(map.column_title)} by column`,
            ["", ...map.columns.map(named)],
            map.rows.map((name, row) => [named(name), ...map.values[row].map((value) => fixed(value))]),
          )
        : plainTable(
            `Cells: ${framed}`,
            [oneLine(map.row_title), oneLine(map.column_title), valueName],
            map.asked.map(([row, column]) => [
              named(map.rows[row]),
              named(map.columns[column]),
              fixed(map.values[row][column]),
            ]),
          ),
    ),
  );
}
