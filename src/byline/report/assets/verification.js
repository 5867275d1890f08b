// Verification: are the known and the unknown texts of each problem by one author?

const SAME_SIDES = { for: "for the same author", against: "for another author" };
const INTERPRETATIONS = {
  relative: "relative: problems are compared with each other",
  rank: "rank: problems are compared with each other by their ranks, as in the paper",
  cohort: "cohort: every problem is answered by itself, against a reference population",
};
const MEASURES = {
  auc: "AUC: chance that a same-author problem is ranked above another",
  "c@1": "C@1: share right, with credit for leaving open",
  product: "AUC times C@1, as in PAN",
  cllr: "Cllr: cost of the likelihood ratios; 0 is best, 1 says nothing",
};

const right = (problem) =>
  known(problem.truth) && problem.verdict !== "undecided" ? problem.truth === (problem.verdict === "same") : null;

function truthCell(problem) {
  if (!known(problem.truth)) return "not known";
  const outcome = right(problem);
  return el(
    "span",
    { class: "truth" },
    problem.truth ? "same" : "another",
    " ",
    el(
      "span",
      { class: outcome === null ? "left-open" : outcome ? "right" : "wrong" },
      outcome === null ? "left open" : outcome ? "right" : "wrong",
    ),
  );
}

function problemsTable(report, reach) {
  const { problems } = report;
  const some = (name) => problems.some((problem) => known(problem[name]));
  const calibrated = some("llr");
  const columns = [
    { title: "Problem", value: (p) => p.id, cell: (p) => openLink(p.id) },
    new Set(problems.map((p) => p.language)).size > 1 && {
      title: "Language",
      value: (p) => p.language,
      cell: (p) => oneLine(p.language),
      narrow: false,
    },
    {
      title: "Verdict",
      value: (p) => ["another", "undecided", "same"].indexOf(p.verdict),
      cell: (p) => verdictMark(p),
    },
    {
      title: "Answer",
      value: (p) => p.answer,
      cell: (p) => fixed(p.answer, 3),
      kind: "number",
      narrow: false,
      first: "descending",
    },
    calibrated && {
      title: "Log-LR",
      value: (p) => p.llr,
      cell: (p) => signed(p.llr),
      kind: "number",
      narrow: false,
      first: "descending",
    },
    {
      title: "Evidence",
      value: (p) => (calibrated ? p.llr : p.answer),
      first: "descending",
      kind: "evidence-cell",
      cell: (p) => [
        smallBar(p, reach),
        el(
          "span",
          { class: "unseen" },
          known(p.low) ? `interval ${signed(p.low)} to ${signed(p.high)}` : "no interval",
        ),
      ],
    },
    some("truth") && {
      title: "Truth",
      value: (p) => (known(p.truth) ? `${p.truth} ${right(p)}` : null),
      cell: truthCell,
    },
    {
      title: "Known",
      value: (p) => p.known_characters,
      cell: (p) => whole(p.known_characters),
      kind: "number",
      narrow: false,
      first: "descending",
    },
    {
      title: "Unknown",
      value: (p) => p.unknown_characters,
      cell: (p) => whole(p.unknown_characters),
      kind: "number",
      narrow: false,
      first: "descending",
    },
    problems.some((p) => p.warnings.length) && {
      title: "Warnings",
      value: (p) => p.warnings.length,
      cell: (p) => (p.warnings.length ? String(p.warnings.length) : "\u2013"),
      kind: "number",
      narrow: false,
      first: "descending",
    },
  ].filter(Boolean);
  return sortedTable({
    caption: `Problems: answers from 0, another author, to 1, the same author${calibrated ? "; log-likelihood ratios are decimal" : ""}; lengths in characters`,
    noun: "problem",
    columns,
    rows: problems,
    words: (p) => [p.id, p.unknown, ...p.known, p.language],
    choices: [
      {
        label: "Verdict",
        options: [
          ["all", null],
          ...[VERDICTS.same.text, VERDICTS.another.text, ...Object.values(LEANINGS), VERDICTS.undecided.text]
            .filter((text) => !Object.values(LEANINGS).includes(text) || problems.some((p) => verdictText(p) === text))
            .map((text) => [text, (p) => verdictText(p) === text]),
        ],
      },
      ...(some("truth")
        ? [
            {
              label: "Against the truth",
              options: [
                ["all", null],
                ["right", (p) => right(p) === true],
                ["wrong", (p) => right(p) === false],
                ["left open", (p) => known(p.truth) && right(p) === null],
              ],
            },
          ]
        : []),
    ],
  });
}

function measuresCard(measures, measured) {
  if (!measures) return null;
  const rows = Object.entries(measures)
    .filter(([, value]) => known(value))
    .map(([name, value]) => {
      const [middle, low, high] = Array.isArray(value) ? value : [value];
      return [
        Object.hasOwn(MEASURES, name) ? MEASURES[name] : oneLine(name),
        fixed(middle, 3),
        known(low) ? `${fixed(low, 3)} to ${fixed(high, 3)}` : "\u2013",
      ];
    });
  return el(
    "div",
    { class: "card" },
    el("h3", {}, "Against the truth"),
    measured
      ? el(
          "p",
          { class: "meta" },
          `Of ${plural(measured.problems, "problem")}.` +
            (measured.left_out
              ? ` ${plural(measured.left_out, "problem")} without a score ${measured.left_out === 1 ? "is" : "are"} left out; byline evaluate counts such as undecided.`
              : "") +
            " Intervals are where 95 of 100 resamples of the texts lie.",
        )
      : null,
    plainTable("Measures", ["Measure", "Value", "Interval"], rows),
  );
}

/** What problems are placed by: their scores, or what all of them can be compared by. */
function measureOf(report) {
  const some = (name) => report.problems.some((problem) => known(problem[name]));
  const lines = report.decisions || [];
  const ratios = some("llr") && (!some("score") || report.interpretation === "cohort");
  if (some("score") && !ratios) {
    return {
      of: (p) => p.score,
      name: "score",
      label: "score: how much more alike than expected",
      line: lines.length ? oneLine(lines[0].label) : "",
      at: (language) => (lines.find((line) => line.language === language) || {}).center,
    };
  }
  if (ratios)
    return {
      of: (p) => p.llr,
      name: "log-likelihood ratio",
      label: "log-likelihood ratio (base 10)",
      line: "ratio that speaks for neither side",
      at: () => 0,
    };
  return {
    of: (p) => p.answer,
    name: "answer",
    label: "answer",
    line: "answer that speaks for neither side",
    at: () => 0.5,
  };
}

function chartsSection(report) {
  const maps = (report.heatmaps || []).filter((map) => map.rows.length);
  const learning = (report.learning || []).filter((curve) => curve.bits && curve.bits.length > 1);
  const matrices = maps.map((map) =>
    heatmap(map, {
      title: `Heat map of the matrix${maps.length > 1 ? `: ${oneLine(map.language)}` : ""}`,
      text: `Rows: ${oneLine(map.row_title)}; columns: ${oneLine(map.column_title)}. Framed cells are the pairs that are asked about; a pair by one author should stand out from its row and its column.`,
      valueName: "relative score",
    }),
  );
  const broad = (matrix) => matrix.classList.contains("broad");
  const charts = [
    distribution(report.problems, measureOf(report)),
    measuresCard(report.measures, report.measured),
    report.roc && rocChart(report.roc, report.measures && report.measures.auc),
    report.calibration && report.calibration.length && calibrationChart(report.calibration),
    report.tippett && report.tippett.llr.length && tippettChart(report.tippett),
    learning.length && learningChart(learning),
    ...matrices.filter((matrix) => !broad(matrix)),
    agreementChart(report.problems, "score", report.interpretation === "cohort"),
    ...matrices.filter(broad),
  ].filter(Boolean);
  return section("charts", "Charts", el("div", { class: "grid" }, charts));
}

function limitsSection(report, more = []) {
  return section(
    "limits",
    "Limits and warnings",
    el("div", { class: "pair" }, limitsBox(report.limits), warningsBox(report.warnings)),
    more,
  );
}

function problemView(report, problem, reach) {
  const calibrated = known(problem.llr);
  const members = problem.members.some((member) => known(member.score));
  const own = `${problem.id}: `;
  /** Of one problem alone, those of the run are its own. */
  const warnings =
    report.problems.length === 1
      ? report.warnings.map((warning) => (warning.startsWith(own) ? warning.slice(own.length) : warning))
      : problem.warnings;
  const files = (names) => names.map((name, n) => [n ? ", " : "", named(name)]);
  return [
    el(
      "div",
      { class: "headline" },
      verdictMark(problem),
      el("p", { class: "statement" }, visible(problem.statement)),
    ),
    warningsBox(warnings),
    calibrated
      ? evidenceScale(problem, reach)
      : el("p", { class: "note" }, "This answer is not calibrated: it orders problems, and is not a probability."),
    facts([
      ["Answer", fixed(problem.answer, 3)],
      calibrated && [
        "Log-likelihood ratio",
        signed(problem.llr),
        known(problem.low) ? ` (${signed(problem.low)} to ${signed(problem.high)})` : "",
      ],
      known(problem.probability) && [
        "Probability of the same author",
        `${percent(problem.probability)}${known(report.prior) ? `, if it was ${percent(report.prior)} beforehand` : ""}`,
      ],
      known(problem.score) && ["Score", fixed(problem.score, 3)],
      known(problem.validation) && ["Validation", problem.validation],
      known(problem.truth) && ["Truth", truthCell(problem)],
      ["Language", oneLine(problem.language)],
      ["Known", files(problem.known), `, ${plural(problem.known_characters, "character")}`],
      ["Unknown", named(problem.unknown), `, ${plural(problem.unknown_characters, "character")}`],
    ]),
    el("h3", {}, "The texts"),
    unpacked(problem.packed, (texts) => evidence(texts, { sides: SAME_SIDES, language: languageCode(problem.language) })),
    problem.cohort || problem.reference || members ? el("h3", {}, "How it compares") : null,
    el(
      "div",
      { class: "grid" },
      problem.cohort ? cohortChart(problem.cohort) : null,
      problem.reference
        ? referenceChart(problem.reference)
        : members
          ? membersChart(problem.members, problem.score, "score")
          : null,
    ),
    limitsBox(report.limits),
  ];
}

function verificationPage(report) {
  const reach = reachOf(report.problems);
  const table = problemsTable(report, reach);
  const languages = report.languages || [];
  const some = (name) => languages.some((one) => known(one[name]));
  const page = frame(report, [
    section("problems", "Problems", table.element),
    chartsSection(report),
    limitsSection(report, [
      facts([
        [
          "Interpretation",
          Object.hasOwn(INTERPRETATIONS, report.interpretation)
            ? INTERPRETATIONS[report.interpretation]
            : oneLine(report.interpretation),
        ],
        [
          "Answers",
          report.calibrated
            ? `calibrated: probabilities at a prior of ${percent(report.prior)}`
            : "an order, not probabilities",
        ],
      ]),
      languages.length
        ? plainTable(
            "Languages",
            [
              "Language",
              "Problems",
              ...(some("center") ? ["Score that speaks for neither side"] : []),
              ...(some("strength") ? ["Strength: how far asked pairs stand out"] : []),
            ],
            languages.map((one) => [
              oneLine(one.language),
              whole(one.problems),
              ...(some("center") ? [fixed(one.center)] : []),
              ...(some("strength") ? [fixed(one.strength)] : []),
            ]),
          )
        : null,
    ]),
    provenanceSection(report),
  ]);
  openable(page, {
    entries: new Map(report.problems.map((problem) => [problem.id, problem])),
    order: table.order,
    noun: "problem",
    allText: report.problems.length === 1 ? "Overview" : "All problems",
    alone: report.problems.length === 1,
    idOf: (problem) => problem.id,
    open: (problem) => problemView(report, problem, reach),
  });
}
