// Elements, names and numbers. Strings from files, people and the server become text nodes, never markup.

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** An HTML element: el("p", {class: "note", click: listener}, "text", child, [children]). */
export function el(tag, attributes, ...children) {
  return make(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let lastId = 0;
export const newId = (stem) => `s-${stem}-${(lastId += 1)}`;

/** Text with signs that are not seen, or that turn what follows them around, made visible. */
export function visible(text) {
  return String(text)
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(
      /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g,
      (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

export const oneLine = (text) => visible(String(text).replace(/[\t\n]/g, " "));
/** A name of a file, an author or a problem, on one line and by itself whatever its direction. */
export const named = (text) => el("bdi", { class: "name" }, oneLine(text));
export const shorten = (text, longest) => {
  const signs = Array.from(oneLine(text));
  return signs.length > longest ? `${signs.slice(0, longest - 1).join("")}\u2026` : signs.join("");
};

export const known = (value) => value !== null && value !== undefined;
const minus = (text) => text.replace(/^-/, "\u2212");
/** A number with so many decimals; a dash where there is none. */
export const fixed = (value, digits = 2) => (known(value) ? minus(value.toFixed(digits)) : "\u2013");
export const signed = (value, digits = 2) =>
  known(value) && value > 0 ? `+${value.toFixed(digits)}` : fixed(value, digits);
export const whole = (value) => (known(value) ? value.toLocaleString("en") : "\u2013");
export const percent = (value) => {
  if (!known(value)) return "\u2013";
  const hundredths = value * 100;
  if (hundredths > 0 && hundredths < 1) return "under 1%";
  return hundredths > 99 && hundredths < 100 ? "over 99%" : `${Math.round(hundredths)}%`;
};
export const plural = (count, noun, many = `${noun}s`) => `${whole(count)} ${count === 1 ? noun : many}`;
/** A title as a sentence. */
export const sentence = (text) => (/[.?!]$/.test(text) ? text : `${text}.`);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** How large a file is. */
export function size(bytes) {
  if (bytes < 1000) return plural(bytes, "byte");
  if (bytes < 1e6) return `${whole(Math.round(bytes / 1000))} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** A stretch of time, roughly. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** A moment, in this machine's time. */
export function moment(stamp) {
  const date = new Date(stamp);
  if (Number.isNaN(date.getTime())) return oneLine(stamp);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
  return date.toDateString() === new Date().toDateString() ? `today, ${time}` : `${day}, ${time}`;
}

/** A button that does something. */
export const button = (text, click, attributes = {}) => el("button", { type: "button", click, ...attributes }, text);

export const bullets = (sentences, kind) =>
  el(
    "ul",
    { class: kind },
    sentences.map((sentence) => el("li", {}, visible(sentence))),
  );

/** What hides until it is asked for. */
export const folded = (title, ...children) => el("details", {}, el("summary", {}, title), children);

/** A small table of facts. */
export const facts = (pairs) =>
  el(
    "dl",
    { class: "facts" },
    pairs.filter(Boolean).map(([term, ...about]) => el("div", {}, el("dt", {}, term), el("dd", {}, about))),
  );

/** Something that can be kept for this tab; storage may be forbidden, then it is not. */
export const kept = {
  get(key) {
    try {
      return JSON.parse(sessionStorage.getItem(`byline-${key}`));
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) sessionStorage.removeItem(`byline-${key}`);
      else sessionStorage.setItem(`byline-${key}`, JSON.stringify(value));
    } catch {
      // then a reload starts with an empty form
    }
  },
};
