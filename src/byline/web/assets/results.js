// Results: answers, authors or clusters, their warnings, and downloads.

import { answers } from "./verification_result.js";
import { el, known, named, oneLine, percent, plural, size, visible } from "./elements.js";
import { evidenceLink, IN_WORDS, linkedName, shareBar, table, warningsBox } from "./result_elements.js";

const NONE = "none of these";
const nobody = () => el("span", { class: "none" }, NONE);
const authorOf = ({ author }) => (known(author) ? named(author) : nobody());

/** What was taken for granted before anything was measured; prior is the probability of "none of these". */
function beforehand(prior) {
  if (!known(prior)) return null;
  return el(
    "p",
    { class: "meta" },
    prior
      ? `Beforehand, \u201c${NONE}\u201d was given ${Number((prior * 100).toPrecision(4))}%.`
      : "One of these authors is taken to have written each text.",
  );
}

function ranking(document, open) {
  const rows = [
    ...document.ranking.map(([author, probability]) => [named(author), probability, "for"]),
    ...(open ? [[nobody(), document.none, "open"]] : []),
  ].sort((one, other) => other[1] - one[1]);
  return el(
    "ol",
    { class: "ranking", "aria-label": `Authors of ${oneLine(document.name)}, most probable first` },
    rows.map(([author, probability, kind]) =>
      el(
        "li",
        {},
        el("span", {}, author),
        shareBar(probability || 0, kind),
        el("span", { class: "number" }, percent(probability)),
      ),
    ),
  );
}

const inWords = (document, report, { open, single }) =>
  el(
    "li",
    { class: "finding" },
    el(
      "div",
      { class: "headline" },
      el("h3", {}, named(document.name)),
      el("span", {}, authorOf(document)),
      evidenceLink(report, document.name),
    ),
    document.statement ? el("p", { class: "statement" }, visible(document.statement)) : null,
    single ? null : warningsBox(document.warnings, "h4"), // a single one's stand above everything
    ranking(document, open),
  );

function authors({ documents }, report, prior) {
  const open = prior !== 0;
  const single = documents.length === 1;
  if (documents.length <= IN_WORDS) {
    return [
      beforehand(prior),
      el(
        "ul",
        { class: "findings" },
        documents.map((document) => inWords(document, report, { open, single })),
      ),
    ];
  }
  const heads = [["Text"], ["Author"], ["Probability", "number"], ["Share", "wide"]];
  return [
    beforehand(prior),
    table(
      "Texts, and who most probably wrote each of them; each text opens its evidence",
      open ? [...heads, ["None of these", "number wide"]] : heads,
      documents.map((document) => [
        linkedName(report, document.name),
        authorOf(document),
        percent(document.probability),
        shareBar(document.probability || 0, known(document.author) ? "for" : "open"),
        ...(open ? [percent(document.none)] : []),
      ]),
    ),
  ];
}

function clusters({ clusters: found }) {
  const several = found.filter((names) => names.length > 1);
  const alone = found.filter((names) => names.length === 1).flat();
  const card = (title, names) =>
    el(
      "section",
      { class: "card" },
      el("h3", {}, title),
      el(
        "ul",
        {},
        names.map((name) => el("li", {}, named(name))),
      ),
    );
  return el(
    "div",
    { class: "clusters" },
    several.map((names, n) => card(`Cluster ${n + 1}: ${plural(names.length, "text")}`, names)),
    alone.length ? card(`By themselves: ${plural(alone.length, "text")}`, alone) : null,
  );
}

/** A warning as it is compared with others: it may begin a sentence in one place, and follow a name in another. */
const sameWords = (warning) => warning.toLowerCase().replace(/\.$/, "");

/** What warns of single answers: [words with the answer's name, words alone]. */
const ownWarnings = (result) =>
  (result.problems || result.documents || []).flatMap(({ id, name, warnings }) =>
    (warnings || []).map((warning) => [`${id ?? name}: ${warning}`, warning]),
  );

/** What warns of all of it; what warns of one answer stands with it, unless there is only that one, or a table. */
export function warningsOf(result) {
  const rows = result.problems || result.documents || [];
  const told = ownWarnings(result);
  if (result.problems?.length > IN_WORDS) return result.warnings; // which counts them
  const own = new Set(told.map(([whole]) => sameWords(whole)));
  const others = (result.warnings || []).filter((warning) => !own.has(sameWords(warning)));
  if (rows.length === 1) return [...others, ...told.map(([, words]) => words)];
  return rows.length > IN_WORDS ? [...others, ...told.map(([whole]) => whole)] : others;
}

/** Notes of a run that are not among its warnings. */
export function notesOf(job, result) {
  const told = result ? [...(result.warnings || []), ...ownWarnings(result).map(([whole]) => whole)] : [];
  const there = new Set(told.map(sameWords));
  return (job.notes || []).filter((note) => !there.has(sameWords(note)));
}

const KINDS = {
  verification: ["Answers", "problem", answers],
  attribution: ["Authors", "text", authors],
  clustering: ["Clusters", "cluster", clusters],
};

/** The answers themselves, under their heading; prior is that of none of these authors. */
export function resultSection(result, report, prior) {
  const [title, noun, show] = KINDS[result.kind];
  const shown = (result.problems || result.documents || result.clusters).length;
  return el(
    "section",
    { class: "part", "aria-labelledby": "s-answers" },
    el("h2", { id: "s-answers" }, title),
    show(result, report, prior),
    result.total > shown
      ? el(
          "p",
          { class: "meta" },
          `The first ${shown} of ${plural(result.total, noun)}. The report and the downloads have all of them.`,
        )
      : null,
  );
}

/** Files that are one thing in several forms, such as heatmap.svg and heatmap.pdf, side by side. */
function together(files) {
  const groups = new Map();
  for (const file of files) {
    const key = `${file.name.replace(/\.[^.]*$/, "")} ${file.about}`;
    groups.set(key, [...(groups.get(key) || []), file]);
  }
  return [...groups.values()];
}

/** The downloads. */
export function downloads(files) {
  if (!files?.length) return null;
  const link = (file, text) => el("a", { href: file.href, download: file.name, title: size(file.bytes) }, text);
  return el(
    "section",
    { class: "part", "aria-labelledby": "s-downloads" },
    el("h2", { id: "s-downloads" }, "Downloads"),
    el(
      "ul",
      { class: "downloads" },
      together(files).map((same) =>
        el(
          "li",
          {},
          same.map((file, n) => [n ? " " : "", link(file, n ? `.${file.name.split(".").pop()}` : named(file.name))]),
          el(
            "span",
            { class: "meta" },
            ` ${visible(same[0].about || "")}${same.length > 1 ? "" : `, ${size(same[0].bytes)}`}`,
          ),
        ),
      ),
    ),
  );
}
