// Attribution: which of these authors wrote each document, or none of these?

const authorOf = (document) =>
  known(document.author) ? named(document.author) : el("span", { class: "none" }, "none of these");

/** The author who comes next: the second one, or the first where it is none of these. */
const nextOf = (document) => document.ranking[known(document.author) ? 1 : 0];

function shareBar(share, kind) {
  const width = 120;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} 12`, width, height: 12, "aria-hidden": "true", class: "small-bar" },
    svg("line", { x1: 0, x2: width, y1: 6, y2: 6, class: "grid" }),
    svg("rect", { x: 0, y: 2, height: 8, width: Math.max(0.5, share * width), class: `fill ${kind}` }),
  );
}

function documentsTable(report) {
  return sortedTable({
    caption: "Documents, who most probably wrote each of them, and who comes next",
    noun: "document",
    columns: [
      { title: "Document", value: (d) => d.name, cell: (d) => openLink(d.name) },
      { title: "Author", value: (d) => d.author, cell: authorOf },
      {
        title: "Probability",
        value: (d) => d.probability,
        cell: (d) => percent(d.probability),
        kind: "number",
        first: "descending",
      },
      {
        title: "Share",
        value: (d) => d.probability,
        cell: (d) => shareBar(d.probability || 0, known(d.author) ? "for" : "open"),
        kind: "evidence-cell",
        narrow: false,
        first: "descending",
      },
      {
        title: "None of them",
        value: (d) => d.none,
        cell: (d) => percent(d.none),
        kind: "number",
        first: "descending",
      },
      {
        title: "Next",
        value: (d) => (nextOf(d) ? nextOf(d)[1] : null),
        cell: (d) => (nextOf(d) ? [named(nextOf(d)[0]), ` ${percent(nextOf(d)[1])}`] : "\u2013"),
        narrow: false,
        first: "descending",
      },
      ...(report.documents.some((d) => (d.warnings || []).length)
        ? [
            {
              title: "Warnings",
              value: (d) => (d.warnings || []).length,
              cell: (d) => ((d.warnings || []).length ? String(d.warnings.length) : "\u2013"),
              kind: "number",
              narrow: false,
              first: "descending",
            },
          ]
        : []),
    ],
    rows: report.documents,
    words: (d) => [d.name, d.author || "none of these"],
    choices: [
      {
        label: "Author",
        options: [
          ["all", null],
          ...report.authors.map((author) => [oneLine(author), (d) => d.author === author]),
          ["none of these", (d) => !known(d.author)],
        ],
      },
    ],
  });
}

/** What each member adds to the sum of each of the first authors. */
function partsTable(report, document) {
  const members = report.members || [];
  if (!document.parts || !document.parts.length || !members.length) return null;
  return folded(
    "What each member adds to the sums",
    plainTable(
      "What each member adds, the first authors",
      ["Author", ...members.map(({ name }) => oneLine(name)), "Sum"],
      document.parts.map(([author, parts]) => [
        named(author),
        ...parts.map((part) => signed(part)),
        signed(sum(parts)),
      ]),
    ),
  );
}

function rankingTable(document) {
  const columns = [
    ["Bits per character", 2, (value) => fixed(value, 3)],
    ["Gained beyond what is usual, bits per character", 3, (value) => signed(value, 3)],
    ["Sum of all members", 4, (value) => signed(value)],
  ].filter(([, place]) => document.ranking.some((row) => known(row[place])));
  columns.reverse();
  return plainTable(
    "Authors by probability",
    ["Author", "Share", "Probability", ...columns.map(([title]) => title)],
    [
      ...document.ranking.map((row) => [
        named(row[0]),
        shareBar(row[1], "for"),
        percent(row[1]),
        ...columns.map(([, place, show]) => show(row[place])),
      ]),
      [
        el("span", { class: "none" }, "none of these"),
        shareBar(document.none || 0, "open"),
        percent(document.none),
        ...columns.map(() => "\u2013"),
      ],
    ],
    "ranked shares",
  );
}

/** The text with its colors, against all authors or against the next one only; texts are unpacked when chosen. */
function comparedText(report, document) {
  const first = document.ranking.length ? oneLine(document.ranking[0][0]) : "the first author";
  const language = languageCode(report.language);
  const warning =
    "They show where the numbers come from in these texts. They are no marks of an author, no single word or passage decides anything, and bits are not the weight of evidence.";
  const ways = {
    all: () =>
      unpacked(document.packed, (texts) =>
        evidence(texts, {
          sides: { for: `for ${first}`, against: "for other authors" },
          others: (source) => (source.role === "unknown" ? `the texts of ${first}` : "the text in question"),
          language,
          roles: texts.documents.some(({ role }) => role === "unknown"),
          note: `In the text in question, blue is what costs ${first}\u2019s language models fewer bits than those of all authors on the average, beyond what is usual for ${first}; orange is what costs them more. In ${first}\u2019s own texts, blue is what a model of the text in question alone expects better than the other authors do. ${warning}`,
        }),
      ),
  };
  const { next } = document;
  if (next) {
    const second = oneLine(next.author);
    ways.next = () =>
      unpacked(next.packed, (texts) =>
        evidence(texts, {
          sides: { for: `for ${first} rather than ${second}`, against: `for ${second} rather than ${first}` },
          language,
          roles: false,
          note: `Blue is what costs ${first}\u2019s language models fewer bits than ${second}\u2019s, each beyond what is usual for the author; orange is what costs them more. No other author plays a part. ${warning}`,
        }),
      );
  }
  const place = el("div", { class: "compared" });
  const show = (way) => {
    hideTip();
    forget(place);
    place.replaceChildren(ways[way]());
  };
  show("all");
  const group = newId("against");
  const choice = (way, ...text) => {
    const id = newId("choice");
    return el(
      "span",
      {},
      el("input", { type: "radio", name: group, id, checked: way === "all", change: () => show(way) }),
      el("label", { for: id }, text),
    );
  };
  return [
    next
      ? el(
          "fieldset",
          { class: "choices" },
          el("legend", {}, "Compare ", named(first), " with"),
          choice("all", "all authors on the average, beside passages of ", named(first)),
          choice("next", named(next.author), ", who comes next"),
        )
      : null,
    place,
  ];
}

function knownWords(report, document) {
  if (!known(document.known_texts)) return null;
  const first = named(document.ranking[0][0]);
  return el(
    "p",
    { class: "meta" },
    "Beside it stand ",
    document.known_whole
      ? ["all texts of ", first, " that the model has"]
      : [
          `${whole(document.known_shown)} of ${plural(document.known_characters, "character")} by `,
          first,
          ": the passages whose n-grams are most like it, the most like first",
        ],
    `. ${known(report.known_as) ? visible(report.known_as) : ""}`,
  );
}

function attributionView(report, document) {
  const best = document.ranking.length ? document.ranking[0][4] : null;
  const line = report.none_line;
  return [
    el("div", { class: "headline" }, el("p", { class: "statement" }, visible(document.statement))),
    facts([
      ["Author", authorOf(document)],
      ["Probability", percent(document.probability)],
      [
        "None of them",
        `${percent(document.none)}${known(report.prior_none) ? `, if it was ${percent(report.prior_none)} beforehand` : ""}`,
      ],
      known(best) &&
        line && [
          "Highest sum",
          `${signed(best)}; at ${signed(line.middle)} none of these would be as probable as one of them, at even odds beforehand`,
        ],
      known(document.characters) && ["Text", plural(document.characters, "character")],
      known(document.known_texts) && [
        "In the model by ",
        named(document.ranking[0][0]),
        `: ${plural(document.known_texts, "text")}, ${plural(document.known_characters, "character")}`,
      ],
    ]),
    warningsBox(document.warnings),
    el("h3", {}, "The authors, most probable first"),
    rankingTable(document),
    document.others ? el("p", { class: "meta" }, `And ${plural(document.others, "further author")}, less probable.`) : null,
    (document.reasons || []).map((reason) => el("p", { class: "reason" }, visible(reason))),
    partsTable(report, document),
    el("h3", {}, document.known_texts ? "The text beside the author\u2019s own" : "The text"),
    knownWords(report, document),
    ...comparedText(report, document),
    limitsBox(report.limits),
  ].flat();
}

function authorsChart(report) {
  const counts = report.authors
    .map((author) => [author, report.documents.filter((document) => document.author === author).length])
    .sort((one, other) => other[1] - one[1]);
  const some = counts.filter(([, count], n) => count || n < 8);
  const none = report.documents.filter((document) => !known(document.author)).length;
  return el(
    "div",
    { class: "card" },
    el("h3", {}, "Documents by author"),
    plainTable(
      "Documents given to each author",
      ["Author", "Share", "Documents"],
      [
        ...some.map(([author, count]) => [
          named(author),
          shareBar(count / report.documents.length, "for"),
          whole(count),
        ]),
        [el("span", { class: "none" }, "none of these"), shareBar(none / report.documents.length, "open"), whole(none)],
      ],
    ),
    some.length < counts.length
      ? el("p", { class: "meta" }, `None is given to the ${plural(counts.length - some.length, "further author")}.`)
      : null,
  );
}

function attributionPage(report) {
  const table = documentsTable(report);
  const map = {
    rows: report.documents.map((document) => document.name),
    columns: report.authors,
    row_title: "document",
    column_title: "author",
    values: report.documents.map((document) => {
      const shares = new Map(document.ranking.map(([author, probability]) => [author, probability]));
      return report.authors.map((author) => shares.get(author) ?? null);
    }),
    asked: report.documents
      .map((document, n) => [n, report.authors.indexOf(document.author)])
      .filter(([, column]) => column >= 0),
  };
  const page = frame(report, [
    section("documents", "Documents", table.element),
    section(
      "charts",
      "Charts",
      el(
        "div",
        { class: "grid" },
        authorsChart(report),
        heatmap(map, {
          title: "Probabilities of all authors",
          text: "Rows are documents, columns authors. The framed cell is the author that is named; two strong cells in a row are a choice that is hard to make.",
          valueName: "probability",
          framed: "named",
          missing: "not ranked",
        }),
      ),
    ),
    limitsSection(report),
    provenanceSection(report),
  ]);
  openable(page, {
    entries: new Map(report.documents.map((document) => [document.name, document])),
    order: table.order,
    noun: "document",
    allText: "All documents",
    idOf: (document) => document.name,
    open: (document) => attributionView(report, document),
  });
}
