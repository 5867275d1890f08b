// Attribution: which of these authors wrote each document, or none of them?

const authorOf = (document) =>
  known(document.author) ? named(document.author) : el("span", { class: "none" }, "none of them");

/** The author who comes next: the second one, or the first where it is none of them. */
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

function documentsTable(dossier) {
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
    ],
    rows: dossier.documents,
    words: (d) => [d.name, d.author || "none of them"],
    choices: [
      {
        label: "Author",
        options: [
          ["all", null],
          ...dossier.authors.map((author) => [oneLine(author), (d) => d.author === author]),
          ["none of them", (d) => !known(d.author)],
        ],
      },
    ],
  });
}

function attributionView(dossier, document) {
  const first = document.ranking.length ? oneLine(document.ranking[0][0]) : "the first author";
  const bits = document.ranking.some(([, , value]) => known(value));
  const ranked = document.ranking.map(([author, probability, value]) => [
    named(author),
    shareBar(probability, "for"),
    percent(probability),
    ...(bits ? [fixed(value, 3)] : []),
  ]);
  return [
    el("div", { class: "headline" }, el("p", { class: "statement" }, visible(document.statement))),
    facts([
      ["Author", authorOf(document)],
      ["Probability", percent(document.probability)],
      [
        "None of them",
        `${percent(document.none)}${known(dossier.prior_none) ? `, if it was ${percent(dossier.prior_none)} beforehand` : ""}`,
      ],
    ]),
    warningsBox(document.warnings),
    el("h3", {}, "The authors, most probable first"),
    plainTable(
      "Authors by probability",
      ["Author", "Share", "Probability", ...(bits ? ["Bits per character"] : [])],
      [
        ...ranked,
        [
          el("span", { class: "none" }, "none of them"),
          shareBar(document.none || 0, "open"),
          percent(document.none),
          ...(bits ? ["\u2013"] : []),
        ],
      ],
    ),
    el("h3", {}, "The text"),
    unpacked(document.blob, (texts) =>
      evidence(texts, {
        sides: { for: `for ${first}`, against: "for other authors" },
        others: `the texts of ${first}`,
        roles: false,
      }),
    ),
    limitsBox(dossier.limits),
  ];
}

function authorsChart(dossier) {
  const counts = dossier.authors.map((author) => [
    author,
    dossier.documents.filter((document) => document.author === author).length,
  ]);
  const none = dossier.documents.filter((document) => !known(document.author)).length;
  return el(
    "div",
    { class: "card" },
    el("h3", {}, "Documents by author"),
    plainTable(
      "Documents given to each author",
      ["Author", "Share", "Documents"],
      [
        ...counts
          .sort((one, other) => other[1] - one[1])
          .map(([author, count]) => [named(author), shareBar(count / dossier.documents.length, "for"), whole(count)]),
        [el("span", { class: "none" }, "none of them"), shareBar(none / dossier.documents.length, "open"), whole(none)],
      ],
    ),
  );
}

function attributionPage(dossier) {
  const table = documentsTable(dossier);
  const map = {
    rows: dossier.documents.map((document) => document.name),
    columns: dossier.authors,
    row_title: "document",
    column_title: "author",
    values: dossier.documents.map((document) => {
      const shares = new Map(document.ranking.map(([author, probability]) => [author, probability]));
      return dossier.authors.map((author) => shares.get(author) ?? null);
    }),
    asked: dossier.documents
      .map((document, n) => [n, dossier.authors.indexOf(document.author)])
      .filter(([, column]) => column >= 0),
  };
  const page = frame(dossier, [
    section("documents", "Documents", table.element),
    section(
      "charts",
      "Charts",
      el(
        "div",
        { class: "grid" },
        authorsChart(dossier),
        heatmap(map, {
          title: "Probabilities of all authors",
          text: "Rows are documents, columns authors. The framed cell is the author that is named; two strong cells in a row are a choice that is hard to make.",
          valueName: "probability",
          framed: "named",
          missing: "not ranked",
        }),
      ),
    ),
    limitsSection(dossier),
    provenanceSection(dossier),
  ]);
  openable(page, {
    entries: new Map(dossier.documents.map((document) => [document.name, document])),
    order: table.order,
    noun: "document",
    allText: "All documents",
    idOf: (document) => document.name,
    open: (document) => attributionView(dossier, document),
  });
}
