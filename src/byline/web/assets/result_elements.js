// Parts of a result: verdicts, bars, tables, warnings, and links into the report.

import { bullets, el, folded, known, named, svg } from "./elements.js";

/** So many answers are told in words; more of them make a table. */
export const IN_WORDS = 5;

const VERDICTS = {
  same: { text: "same author", kind: "for", round: true },
  another: { text: "another author", kind: "against", round: false },
  undecided: { text: "undecided", kind: "open", round: true },
};
const LEANINGS = { same: "leans to the same author", another: "leans to another author" };

/** A verdict as a mark and a word; one that nothing supports only leans to a side. */
export function verdictMark({ verdict, leaning }) {
  const { text, kind, round } = VERDICTS[verdict] || VERDICTS.undecided;
  const shape = round
    ? svg("circle", { cx: 6, cy: 6, r: 4, class: `mark ${kind}` })
    : svg("path", { d: "M6 1l5 5l-5 5l-5-5z", class: `mark ${kind}` });
  return el(
    "span",
    { class: "verdict" },
    svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, shape),
    (leaning && LEANINGS[verdict]) || text,
  );
}

/** Evidence to either side of nothing; value from -1 to 1. */
export function sideBar(value, verdict) {
  const width = 120;
  const at = Math.max(-1, Math.min(1, value)) * (width / 2 - 2) + width / 2;
  const kind = verdict === "undecided" ? "open" : at > width / 2 ? "for" : "against";
  return svg(
    "svg",
    { viewBox: `0 0 ${width} 12`, width, height: 12, "aria-hidden": "true", class: "bar" },
    svg("line", { x1: 2, x2: width - 2, y1: 6, y2: 6, class: "line" }),
    svg("rect", {
      x: Math.min(at, width / 2),
      width: Math.max(0.5, Math.abs(at - width / 2)),
      y: 2.5,
      height: 7,
      class: `fill ${kind}`,
    }),
    svg("line", { x1: width / 2, x2: width / 2, y1: 0, y2: 12, class: "zero" }),
  );
}

/** A share of all, from 0 to 1. */
export function shareBar(share, kind) {
  return svg(
    "svg",
    { viewBox: "0 0 100 8", width: 100, height: 8, "aria-hidden": "true", class: "bar share" },
    svg("line", { x1: 0, x2: 100, y1: 4, y2: 4, class: "line" }),
    svg("rect", { x: 0, y: 0, height: 8, width: Math.max(0.5, share * 100), class: `fill ${kind}` }),
  );
}

/** Warnings: a few in the open, many folded. */
export function warningsBox(warnings, level = "h2") {
  if (!warnings?.length) return null;
  const list = bullets(warnings);
  return el(
    "div",
    { class: "note warning" },
    el(level, {}, warnings.length === 1 ? "A warning" : `${warnings.length} warnings`),
    warnings.length > 6 ? folded("Show them", list) : list,
  );
}

/** Where the report opens the evidence of one problem or text; without an id, all of it. */
export const reportOf = (report, id) =>
  known(id) ? `${report}#${encodeURIComponent(id.toWellFormed ? id.toWellFormed() : id)}` : report;

const newTab = { target: "_blank", rel: "noopener" };

/** A way to the evidence, beside what it is about. */
export const evidenceLink = (report, id) =>
  report
    ? el(
        "a",
        { href: reportOf(report, id), ...newTab },
        "evidence",
        el("span", { class: "unseen" }, " for ", named(id), " (in a new tab)"),
      )
    : null;

/** A name that leads to the evidence. */
export const linkedName = (report, id) =>
  report ? el("a", { href: reportOf(report, id), ...newTab }, named(id)) : named(id);

/** A table that scrolls by itself; heads: [text, class], rows: cells, the first of which names the row. */
export function table(caption, heads, rows) {
  const cell = (content, n) => el(n ? "td" : "th", { scope: n ? null : "row", class: heads[n][1] }, content);
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((cells) => el("tr", {}, cells.map(cell))),
      ),
    ),
  );
}
