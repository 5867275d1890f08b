// The list of added files: what was read in each, or why it could not be read.

import { button, el, known, named, oneLine, plural, shorten, visible, whole } from "./elements.js";
import { announce } from "./announcements.js";

const SHORT = 1000; // as cautions have it
/** A script, in which many languages are written, not a language. */
export const LATIN = "latin";
const STATES = { waiting: "waits to be sent", sending: "is being read" };

/** The server's words, without the name, which is shown next to them. */
const reason = ({ path, error }) => (error.startsWith(`${path}: `) ? error.slice(path.length + 2) : error);

function describe(entry) {
  if (entry.state !== "ready") return STATES[entry.state];
  const { characters, language, kind } = entry.told;
  if (!known(characters)) return kind === "other" ? "goes with the texts" : "added";
  return `${plural(characters, "character")}${language && language !== LATIN ? `, ${oneLine(language)}` : ""}`;
}

function notesOf(entry) {
  const notes = [...(entry.told?.notes || [])];
  const { characters } = entry.told || {};
  if (known(characters) && characters < SHORT)
    notes.unshift("very short: little can be said of a few hundred characters");
  return notes;
}

function row(entry, name, remove) {
  const removing = (word) =>
    button([word, el("span", { class: "unseen" }, " ", named(entry.path))], remove, { class: "plain-button remove" });
  if (entry.skipped) {
    return el(
      "li",
      { class: "file refused" },
      el(
        "p",
        {},
        named(entry.path),
        el("span", { class: "meta" }, ` ${plural(entry.skipped.length, "file")} in it left out`),
      ),
      el(
        "ul",
        { class: "notes" },
        entry.skipped.slice(0, 20).map((line) => el("li", {}, visible(line))),
      ),
      removing("Dismiss"),
    );
  }
  if (entry.state === "refused") {
    return el(
      "li",
      { class: "file refused" },
      el("p", {}, named(entry.path)),
      el("p", { class: "why" }, visible(reason(entry))),
      el(
        "span",
        { class: "file-actions" },
        entry.again ? button("Try again", () => entry.tryAgain(), { class: "plain-button" }) : null,
        removing("Dismiss"),
      ),
    );
  }
  const notes = notesOf(entry);
  return el(
    "li",
    { class: `file ${entry.state}` },
    el("p", {}, named(name), " ", el("span", { class: "meta" }, describe(entry))),
    notes.length
      ? el(
          "ul",
          { class: "notes" },
          notes.map((line) => el("li", {}, visible(line))),
        )
      : null,
    entry.told?.excerpt ? el("p", { class: "excerpt", dir: "auto" }, shorten(entry.told.excerpt, 120)) : null,
    removing("Remove"),
  );
}

/** A list of a draft's files: element, and update(entries) to show others. title says whose it is, to those who listen. */
export function fileList(draft, title, nameOf = (entry) => entry.path) {
  const refused = el("ul", { class: "files", "aria-label": `${title}: not taken` });
  const taken = el("ul", { class: "files taken", "aria-label": title });
  const sum = el("p", { class: "meta" });
  const all = button("Remove all", () => removeAll(), { class: "plain-button" });
  const foot = el("div", { class: "sum", hidden: true }, sum, all);
  const element = el("div", { class: "file-list" }, refused, taken, foot);
  const rows = new Map();
  let shown = [];

  function removeAll() {
    draft.remove(shown);
    update([]);
    announce("All files removed.");
    element.dispatchEvent(new CustomEvent("emptied", { bubbles: true }));
  }

  function removeOne(entry) {
    const place = shown.indexOf(entry);
    draft.remove([entry]);
    announce(`${oneLine(entry.path)} removed.`);
    update(shown.filter((other) => other !== entry));
    const next = shown[place] || shown[place - 1];
    if (next) rows.get(next.key).item.querySelector(".remove").focus();
    else element.dispatchEvent(new CustomEvent("emptied", { bubbles: true }));
  }

  function update(entries) {
    shown = entries;
    const there = new Set(entries.map((entry) => entry.key));
    for (const [key, { item }] of rows) {
      if (there.has(key)) continue;
      item.remove();
      rows.delete(key);
    }
    for (const entry of entries) {
      const before = rows.get(entry.key);
      if (before?.state === entry.state && before.path === entry.path) continue;
      entry.tryAgain = () => draft.retry(entry);
      const item = row(entry, nameOf(entry), () => removeOne(entry));
      const place = entry.state === "refused" ? refused : taken;
      const focused = before?.item.contains(document.activeElement);
      if (before?.item.parentNode === place) before.item.replaceWith(item);
      else {
        before?.item.remove();
        place.append(item);
      }
      rows.set(entry.key, { item, state: entry.state, path: entry.path });
      if (focused) item.querySelector(".remove").focus();
    }
    const texts = entries.filter((entry) => known(entry.told?.characters));
    const signs = texts.reduce((total, entry) => total + entry.told.characters, 0);
    refused.hidden = !refused.children.length;
    taken.hidden = !taken.children.length;
    foot.hidden = entries.length < 2;
    sum.textContent = texts.length ? `${plural(texts.length, "text")}, ${whole(signs)} characters together` : "";
  }

  return { element, update };
}
