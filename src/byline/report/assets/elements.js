// Elements, names and numbers. What comes from the report becomes text nodes and attribute values, never markup.

const REPORT = JSON.parse(document.getElementById("report-data").textContent);
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {  // one by one: a long text has more words than a call has arguments
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** An HTML element: el("p", {class: "note", click: listener}, "text", child, [children]). */
function el(tag, attributes, ...children) {
  return make(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes, ...children) {
  return make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let lastId = 0;
const newId = (stem) => `s-${stem}-${(lastId += 1)}`;

/** Text with signs that are not seen, or that turn what follows them around, made visible. */
function visible(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(
      /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g,
      (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

/** A name of a file, an author or a problem, on one line and by itself whatever its direction. */
const named = (text) => el("bdi", { class: "name" }, oneLine(text));
const oneLine = (text) => visible(String(text).replace(/[\t\n]/g, " "));
const shorten = (text, longest) => {
  const signs = Array.from(oneLine(text));
  return signs.length > longest ? `${signs.slice(0, longest - 1).join("")}\u2026` : signs.join("");
};

const known = (value) => value !== null && value !== undefined;
const minus = (text) => text.replace(/^-/, "\u2212");
/** A number with so many decimals; a dash where there is none. */
const fixed = (value, digits = 2) => (known(value) ? minus(value.toFixed(digits)) : "\u2013");
const signed = (value, digits = 2) => (known(value) && value > 0 ? `+${value.toFixed(digits)}` : fixed(value, digits));
const whole = (value) => (known(value) ? value.toLocaleString("en") : "\u2013");
const percent = (value) => {
  if (!known(value)) return "\u2013";
  const hundredths = value * 100;
  if (hundredths > 0 && hundredths < 1) return "under 1%";
  return hundredths > 99 && hundredths < 100 ? "over 99%" : `${Math.round(hundredths)}%`;
};
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;
/** Least and greatest; a loop, because long arrays can't be spread into arguments. */
function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

const LANGUAGE_CODES = {
  dutch: "nl",
  english: "en",
  french: "fr",
  german: "de",
  greek: "el",
  italian: "it",
  latin: "la",
  polish: "pl",
  portuguese: "pt",
  russian: "ru",
  spanish: "es",
  arabic: "ar",
  hebrew: "he",
};
const languageCode = (language) =>
  typeof language === "string" && Object.hasOwn(LANGUAGE_CODES, language) ? LANGUAGE_CODES[language] : null;

/** A section of the page with its heading. */
function section(id, title, ...children) {
  return el(
    "section",
    { id: `s-${id}`, "aria-labelledby": `s-${id}-title`, class: "part" },
    el("h2", { id: `s-${id}-title` }, title),
    children,
  );
}

function bullets(sentences, kind) {
  return el(
    "ul",
    { class: kind },
    sentences.map((sentence) => el("li", {}, visible(sentence))),
  );
}

/** A small table of facts. */
function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    pairs.filter(Boolean).map(([term, ...about]) => el("div", {}, el("dt", {}, term), el("dd", {}, about))),
  );
}

/** What hides until it is asked for, and is always printed open. */
function folded(title, ...children) {
  return el("details", {}, el("summary", {}, title), children);
}

/** The value that was packed by Python: base64 of gzipped JSON. */
async function unpack(packed) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser can't unpack the texts that are kept in this file. A current Firefox, Chrome, Edge " +
        "or Safari can. Everything but the texts is shown here as well.",
    );
  }
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
