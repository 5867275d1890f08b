// The result of a verification: answers in words or in a table, and measures if the truth is known.

import { el, facts, fixed, known, named, percent, signed, visible } from "./elements.js";
import { evidenceLink, IN_WORDS, linkedName, sideBar, table, verdictMark, warningsBox } from "./result_elements.js";

const MEASURES = {
  auc: "AUC: chance that a same-author problem is ranked above another",
  "c@1": "C@1: share right, with credit for leaving open",
  product: "AUC times C@1, as in PAN",
  cllr: "Cllr: cost of the likelihood ratios; 0 is best, 1 says nothing",
};

const range = (problem) => (known(problem.low) ? ` (${signed(problem.low)} to ${signed(problem.high)})` : "");

const texts = (names) => [
  names.slice(0, 6).map((name, n) => [n ? ", " : "", named(name)]),
  names.length > 6 ? ` and ${names.length - 6} more` : "",
];

function inWords(problem, report, single) {
  return el(
    "li",
    { class: "finding" },
    el(
      "div",
      { class: "headline" },
      single ? null : el("h3", {}, named(problem.id)),
      verdictMark(problem),
      single ? null : evidenceLink(report, problem.id),
    ),
    problem.statement ? el("p", { class: "statement" }, visible(problem.statement)) : null,
    single ? null : warningsBox(problem.warnings, "h4"), // a single one's stand above everything
    facts([
      known(problem.llr) && ["Log-likelihood ratio (its range)", `${signed(problem.llr)}${range(problem)}`],
      known(problem.probability) && ["Probability, if both were equal before", percent(problem.probability)],
      known(problem.answer) && ["Answer, from 0 to 1", fixed(problem.answer, 3)],
      problem.unknown && ["In question", named(problem.unknown)],
      problem.known?.length && ["Known", texts(problem.known)],
    ]),
  );
}

function truthCell({ truth, verdict }) {
  if (!known(truth)) return "not known";
  const right = verdict === "undecided" ? null : truth === (verdict === "same");
  const [word, kind] = right === null ? ["left open", ""] : right ? ["right", ""] : ["wrong", "wrong"];
  return [truth ? "same " : "another ", el("span", { class: `state ${kind}` }, word)];
}

function asTable(problems, report) {
  const calibrated = problems.some((problem) => known(problem.llr));
  const judged = problems.some((problem) => known(problem.truth));
  const warned = problems.some((problem) => problem.warnings?.length);
  const reach = Math.max(1, ...problems.map((problem) => Math.abs(problem.llr || 0)));
  const heads = [
    ["Problem"],
    ["Verdict"],
    ["Answer", "number"],
    calibrated && ["Log-LR", "number"],
    ["Evidence", "wide"],
    judged && ["Truth", "wide"],
    warned && ["Warnings", "number wide"],
  ].filter(Boolean);
  const rows = problems.map((problem) =>
    [
      linkedName(report, problem.id),
      verdictMark(problem),
      fixed(problem.answer, 3),
      calibrated && signed(problem.llr),
      sideBar(calibrated ? (problem.llr || 0) / reach : (problem.answer ?? 0.5) * 2 - 1, problem.verdict),
      judged && truthCell(problem),
      warned && (problem.warnings?.length ? String(problem.warnings.length) : "\u2013"),
    ].filter((cell) => cell !== false),
  );
  return table("Answers, from 0, another author, to 1, the same author; each problem opens its evidence", heads, rows);
}

function measured(measures) {
  if (!measures || !Object.keys(measures).length) return null;
  const rows = Object.entries(measures).map(([name, value]) => {
    const [middle, low, high] = Array.isArray(value) ? value : [value];
    const words = Object.hasOwn(MEASURES, name) ? MEASURES[name] : name;
    return [words, fixed(middle, 3), known(low) ? `${fixed(low, 3)} to ${fixed(high, 3)}` : "\u2013"];
  });
  return [
    el("h3", {}, "Against the truth"),
    table("How good the answers are", [["Measure"], ["Value", "number"], ["Range", "number"]], rows),
  ];
}

/** The answers of a question or a corpus. */
export function answers({ problems, measures }, report) {
  const single = problems.length === 1;
  return [
    problems.length > IN_WORDS
      ? asTable(problems, report)
      : el(
          "ul",
          { class: "findings" },
          problems.map((problem) => inWords(problem, report, single)),
        ),
    measured(measures),
  ];
}
