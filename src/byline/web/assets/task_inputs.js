// The inputs of each task, and warnings about them before the question is asked.

import { authorsPart } from "./authors.js";
import { capital, oneLine } from "./elements.js";
import { asCorpus } from "./files.js";
import { LATIN } from "./file_list.js";
import { referenceChoice } from "./references.js";
import { zone } from "./drop_zone.js";

const GREEK = "greek"; // the one language here that is told by its letters

/** A part with its rule: it is missing as long as too few files are ready. */
const required = (part, draft, role, words, least = 1) => ({
  ...part,
  missing: () => (draft.ready(role).length < least ? words : ""),
});

/** The parts of each task: element, update(), missing() in words, focus(). */
export const PARTS = {
  question: (draft, state) => [
    required(
      zone(draft, {
        role: "known",
        title: "Texts that the person certainly wrote",
        about: "One at least; several are better.",
      }),
      draft,
      "known",
      "a text that the person certainly wrote",
    ),
    required(
      zone(draft, {
        role: "unknown",
        title: "Texts in question",
        about: "One or more; each is answered by itself.",
      }),
      draft,
      "unknown",
      "a text in question",
    ),
    referenceChoice(draft, state.references, { optional: false }),
  ],
  corpus: (draft, state) => [
    required(
      zone(draft, {
        role: "corpus",
        title: "The corpus",
        about: "A folder of problems\u2019 folders, a zip of it, or a .jsonl file of pairs.",
        shape: asCorpus,
        paste: false,
        hint: "Drop a folder or a zip here",
      }),
      draft,
      "corpus",
      "a folder or a zip of problems",
    ),
    referenceChoice(draft, state.references, { optional: true }),
  ],
  attribution: (draft) => {
    const authors = authorsPart(draft);
    return [
      {
        ...authors,
        missing: () => {
          const count = authors.count();
          return count < 2 ? (count ? "another author with texts" : "two authors or more, with texts") : "";
        },
      },
      required(
        zone(draft, { role: "unknown", title: "Texts in question", about: "One or more; each is answered by itself." }),
        draft,
        "unknown",
        "a text in question",
      ),
    ];
  },
  clustering: (draft) => [
    required(
      zone(draft, { role: "texts", title: "The texts", about: "Three at least; best twenty or more." }),
      draft,
      "texts",
      "three texts or more",
      3,
    ),
  ],
};

/** Sentences that warn about the inputs before the question is asked. */
export function inputWarnings(draft, reference) {
  const found = [];
  const roles = draft.entries.filter((entry) => entry.state === "ready" && entry.role !== "reference");
  const all = (what) => [...new Set(roles.map((entry) => entry.told?.[what]).filter(Boolean))];
  const [scripts, languages] = [all("script"), all("language")];
  const differ = scripts.length > 1 ? scripts : languages;
  if (differ.length > 1)
    found.push(
      `The texts seem to differ in language or script (${differ.map(oneLine).join(", ")}); authors are compared within one language.`,
    );
  const other = reference?.language?.();
  const fits =
    scripts.every((script) => script === other || (script === LATIN && other !== GREEK)) &&
    (!languages.length || other === LATIN || languages.includes(other));
  if (other && differ.length < 2 && !fits) {
    found.push(`What you compare with is ${capital(oneLine(other))}; the texts don\u2019t seem to be.`);
  }
  const known = new Set(draft.ready("known").map((entry) => entry.told?.excerpt));
  if (draft.ready("unknown").some((entry) => entry.told?.excerpt && known.has(entry.told.excerpt))) {
    found.push("A text in question begins like one of the known texts: is it the same one?");
  }
  return found;
}
