// The options of a question, kept in this tab until it is asked.

import { capital, el, kept, newId, oneLine } from "./elements.js";

const BUDGETS = [
  ["quick", "Quick: no networks"],
  ["60", "About a minute"],
  ["300", "About 5 minutes"],
  ["1800", "About half an hour"],
  ["3600", "About an hour"],
];
const NONE = [
  ["0", "Impossible: it is one of these"],
  ["0.1", "Improbable: 10%"],
  ["0.5", "As probable as not: 50%"],
  ["0.9", "Probable: 90%"],
];

/** The choices, with the usual one among them. */
function chances(usual) {
  const given = NONE.some(([value]) => Number(value) === usual);
  const all = given ? NONE : [...NONE, [String(usual), `${Number((usual * 100).toPrecision(4))}%`]];
  return all.sort(([one], [other]) => one - other);
}

function chooser(name, label, choices, usual, about) {
  const words = newId("words");
  return el(
    "div",
    { class: "option", "data-option": name },
    el(
      "label",
      { class: "control" },
      label,
      el(
        "select",
        { name, "aria-describedby": about ? words : null },
        choices.map(([value, text]) => el("option", { value, selected: value === usual }, text)),
      ),
    ),
    about ? el("p", { class: "meta", id: words }, about) : null,
  );
}

function tick(name, label, usual, about) {
  const words = newId("words");
  return el(
    "div",
    { class: "option" },
    el(
      "label",
      { class: "tick" },
      el("input", { type: "checkbox", name, checked: usual, "aria-describedby": words }),
      " ",
      label,
    ),
    el("p", { class: "meta", id: words }, about),
  );
}

/** The options of a task: element, value() as the server wants them. */
export function optionsPart(task, state) {
  const languages = state.languages.map((language) => [language, capital(oneLine(language))]);
  const element = el(
    "fieldset",
    { class: "part options" },
    el("legend", {}, el("h2", {}, "How")),
    el(
      "div",
      { class: "option" },
      el(
        "label",
        { class: "control" },
        "A title, to find it again",
        el("input", { type: "text", name: "title", maxlength: 120, autocomplete: "off" }),
      ),
    ),
    chooser("language", "Language of the texts", [["", "Let Byline tell"], ...languages], ""),
    task === "corpus"
      ? chooser(
          "budget",
          "Time it may take",
          BUDGETS,
          "300",
          "More time trains more networks. With a reference population none are trained, and this choice has no effect.",
        )
      : null,
    task === "attribution"
      ? chooser(
          "none",
          "That none of these authors wrote it is, beforehand,",
          chances(state.usual.none),
          String(state.usual.none),
          "What you think before anything is measured. Nothing in the texts can tell it.",
        )
      : null,
    task === "attribution" || task === "clustering"
      ? null
      : tick(
          "mask_shared",
          "Leave out passages that both sides share",
          false,
          "Quotations, forms and copied passages make texts alike, even if they have different authors.",
        ),
    tick(
      "keep",
      "Keep the result when Byline is stopped",
      true,
      `It lies on this machine, in ${oneLine(state.home)}, until you delete it. The report holds the texts it is about.`,
    ),
    tick(
      "keep_files",
      "Keep the files too",
      false,
      "Then the same can be run again later. Otherwise the files are deleted here as soon as it is done. Your own are never touched.",
    ),
  );
  const field = (name) => element.querySelector(`[name="${name}"]`);

  return {
    element,
    value() {
      const budget = field("budget")?.value;
      return {
        title: field("title").value.trim(),
        language: field("language").value || null,
        ...(budget ? { budget: budget === "quick" ? budget : Number(budget) } : {}),
        ...(field("none") ? { none: Number(field("none").value) } : {}),
        ...(field("mask_shared") ? { mask_shared: field("mask_shared").checked } : {}),
        keep: field("keep").checked,
        keep_files: field("keep_files").checked,
      };
    },
  };
}

/** Keep what is filled into a form in this tab, and fill it in again. */
export function remember(form, task, reference) {
  const fields = () => [...form.querySelectorAll("[name]:not([type=radio])")];
  const before = kept.get(`form-${task}`);
  if (before) {
    for (const field of fields()) {
      if (!Object.hasOwn(before, field.name)) continue;
      if (field.type === "checkbox") field.checked = before[field.name] === true;
      else field.value = String(before[field.name]);
    }
    if (before.reference) reference?.choice(before.reference);
  }
  form.addEventListener("input", () => {
    const values = fields().map((field) => [field.name, field.type === "checkbox" ? field.checked : field.value]);
    kept.set(`form-${task}`, { ...Object.fromEntries(values), reference: reference?.choice() });
  });
}
