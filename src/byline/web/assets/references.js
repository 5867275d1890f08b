// The choice of texts by other people: kept ones, built-in ones, or files that are dropped now.

import { bullets, el, folded, newId, oneLine, plural, visible, whole } from "./elements.js";
import { asPeople, authorOf } from "./files.js";
import { REFERENCE, REFERENCE_MORE } from "./task_texts.js";
import { zone } from "./drop_zone.js";

const FEWEST = 10;
const ENOUGH = 50;

/** How many people's texts these are: a folder each, or a file each. */
const peopleOf = (entries) => new Set(entries.map((entry) => authorOf(entry.path) || entry.path)).size;

const about = (reference) => (reference.error ? visible(reference.error) : describe(reference));

const describe = (reference) =>
  [
    `${plural(reference.texts, "text")} by ${plural(reference.authors, "person", "people")}`,
    reference.language ? oneLine(reference.language) : "",
    `${whole(reference.characters)} characters`,
    reference.builtin ? "small, of one kind: only to try things" : "",
  ]
    .filter(Boolean)
    .join(", ");

/** The choice: element, update(), value() as options of the job, missing(), focus(). Values are kept by options. */
export function referenceChoice(draft, references, { optional }) {
  const name = newId("reference");
  const radio = (value, title, text, disabled = false) => {
    const words = newId("words");
    return el(
      "div",
      { class: "choice" },
      el("label", {}, el("input", { type: "radio", name, value, disabled, "aria-describedby": words }), " ", title),
      el("p", { class: "meta", id: words }, text),
    );
  };
  const kept = references.filter((reference) => !reference.builtin);
  const builtin = references.filter((reference) => reference.builtin);
  const given = zone(draft, {
    role: "reference",
    title: "Texts by other people",
    level: "h3",
    shape: asPeople,
    paste: false,
    hint: "Drop files, folders (one for each person) or a zip here",
    extra: el("p", { class: "meta count" }),
  });
  const saving = el("input", { type: "checkbox", name: "save" });
  const saved = el("input", { type: "text", name: "save_as", autocomplete: "off", maxlength: 60 });
  const savedName = el("label", { class: "control", hidden: true }, "Under the name", saved);
  const upload = el(
    "div",
    { class: "upload", hidden: true },
    given.element,
    el("label", { class: "tick" }, saving, " Keep these texts as a reference population, for next time"),
    savedName,
  );
  const element = el(
    "fieldset",
    { class: "part", "data-part": "reference" },
    el("legend", {}, el("h2", {}, optional ? "Compared with" : "Texts by other people to compare with")),
    el(
      "p",
      { class: "about" },
      optional ? "With a reference population each problem is answered by itself." : REFERENCE,
    ),
    folded("More about reference populations", optional ? el("p", {}, REFERENCE) : null, bullets(REFERENCE_MORE)),
    optional ? radio("none", "Each other", "The problems of the corpus are compared among themselves.") : null,
    kept.map((one) => radio(`name:${one.name}`, el("bdi", {}, oneLine(one.name)), about(one), Boolean(one.error))),
    radio("upload", "Texts that I give now", "Files by other people, of the kind of the texts in question."),
    upload,
    builtin.map((one) => radio(`name:${one.name}`, oneLine(one.name), about(one))),
  );
  const value = () => element.querySelector(`input[name="${name}"]:checked`)?.value || null;
  const chooseFirst = () => {
    if (value()) return;
    const first = optional ? "none" : kept.length ? null : "upload"; // a wrong one misleads: no kept one by itself
    if (first) element.querySelector(`input[value="${first}"]`).checked = true;
  };
  const show = () => {
    upload.hidden = value() !== "upload";
    savedName.hidden = !saving.checked;
  };
  element.addEventListener("change", show);
  const count = upload.querySelector(".count");

  return {
    element,
    update() {
      given.update();
      const people = peopleOf(draft.ready("reference"));
      count.textContent = people
        ? `By ${plural(people, "person", "people")}${people < FEWEST ? `: ${FEWEST} are the least that anything can be said with` : people < ENOUGH ? `; ${ENOUGH} are enough` : ""}.`
        : "";
    },
    restore: () => {
      chooseFirst();
      show();
    },
    choice: (next) => {
      if (next === undefined) return value();
      const node = [...element.querySelectorAll(`input[name="${name}"]`)].find((one) => one.value === next);
      if (node && !node.disabled) node.checked = true;
      return next;
    },
    language: () => references.find((one) => `name:${one.name}` === value())?.language || null,
    value() {
      const now = value();
      if (!now || now === "none") return {};
      if (now === "upload") return { uploaded: true, save_as: saving.checked ? saved.value.trim() || null : null };
      return { reference: now.slice("name:".length) };
    },
    missing() {
      if (!value()) return "a choice of what to compare with";
      if (value() === "upload" && !draft.ready("reference").length) return "texts by other people to compare with";
      if (value() === "upload" && saving.checked && !saved.value.trim()) return "a name for the reference population";
      return "";
    },
    focus() {
      if (value() === "upload" && draft.ready("reference").length && saving.checked) saved.focus();
      else if (value() === "upload") given.focus();
      else element.querySelector("input:enabled").focus();
    },
  };
}
