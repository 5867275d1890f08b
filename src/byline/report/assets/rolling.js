// Rolling: who seems to write each passage along a text?

function rollingPage(report) {
  const { passages, stretches, authors } = report;
  const most = new Map(authors.map((author) => [author, 0]));
  for (const { ranking } of passages)
    for (const [author, share] of ranking) most.set(author, Math.max(most.get(author) || 0, share));
  const drawn = [
    ...new Set([
      ...stretches.map(({ author }) => author),
      ...[...most].sort((one, other) => other[1] - one[1]).map(([author]) => author),
    ]),
  ]
    .filter((author) => authors.includes(author))
    .slice(0, PALETTE);
  const lookOf = (author) => drawn.indexOf(author);
  const lookClass = (stem, author) => `${stem} a${lookOf(author) >= 0 ? lookOf(author) : "-rest"}`;
  const letterOf = (author) => (lookOf(author) >= 0 ? String.fromCharCode(65 + lookOf(author)) : "?");
  const authorMark = (author) =>
    el(
      "span",
      { class: "author-mark" },
      el("span", { class: `chip ${lookClass("author-fill", author)}` }, letterOf(author)),
      named(author),
    );
  const panels = [];

  const chart = figure({
    title: "Probability of each author",
    kind: "broad",
    text: `How probable each author is, passage by passage (at its middle). ${report.changes.length ? `The hand seems to change near ${report.changes.length === 1 ? "character" : "characters"} ${report.changes.map(whole).join(", ")}.` : "The hand does not seem to change."} The strip below shows the stretches, by letter.`,
    height: 310,
    draw: (width, height) => {
      const axis = axes({
        width,
        height,
        x: { range: [0, report.length], label: "character" },
        y: { range: [0, 1], label: "probability", format: percent },
        left: 54,
        right: 14,
        bottom: 64,
        top: 12,
      });
      report.changes.forEach((place) => axis.marks.append(upright(axis, place, "decision")));
      for (const author of [...drawn].reverse()) {
        const points = passages
          .map(({ begin, end, ranking }) => [(begin + end) / 2, (ranking.find(([name]) => name === author) || [])[1]])
          .filter(([, share]) => known(share));
        if (!points.length) continue;
        const places = points.map(([place, share]) => [axis.x(place), axis.y(share)]);
        axis.marks.append(
          svg("path", {
            d: pathOf(places),
            class: `line ${lookClass("author", author)}`,
            "stroke-dasharray": DASHES[lookOf(author)] || null,
          }),
        );
        if (places.length === 1)
          axis.marks.append(
            svg("circle", { cx: places[0][0], cy: places[0][1], r: 4, class: lookClass("author-dot", author) }),
          );
      }
      stretches.forEach(({ begin, end, author, probability }, n) => {
        const x = axis.x(begin);
        const wide = Math.max(1, axis.x(end) - x - 1);
        axis.marks.append(
          svg(
            "g",
            { class: "link", click: () => goTo(n) },
            svg(
              "rect",
              { x, width: wide, y: height - 40, height: 15, class: lookClass("author-fill", author) },
              svg(
                "title",
                {},
                `${oneLine(author)}, characters ${whole(begin)} to ${whole(end)}, ${percent(probability)}`,
              ),
            ),
            wide > 14
              ? svg(
                  "text",
                  { x: x + wide / 2, y: height - 28.5, "text-anchor": "middle", class: "strip-letter" },
                  letterOf(author),
                )
              : "",
          ),
        );
      });
      return axis.nodes;
    },
    after: legendOf(drawn.map((author, n) => [`author a${n}`, DASHES[n], `${letterOf(author)}: ${author}`])),
    table: () =>
      plainTable(
        "Passages",
        ["From", "To", "First", "Probability", "Second", "Probability"],
        passages.map(({ begin, end, ranking }) => [
          whole(begin),
          whole(end),
          ...[0, 1].flatMap((n) =>
            ranking[n] ? [oneLine(ranking[n][0]), percent(ranking[n][1])] : ["\u2013", "\u2013"],
          ),
        ]),
      ),
  });

  function goTo(n) {
    if (!panels[n]) return;
    const node = panels[n].block;
    document.querySelectorAll(".stretch.lit").forEach((one) => one.classList.remove("lit"));
    node.classList.add("lit");
    node.scrollIntoView({ block: "start", behavior: CALM.matches ? "auto" : "smooth" });
    node.focus({ preventScroll: true });
  }

  const table = sortedTable({
    caption: "Stretches of the text by one author, as the whole text suggests",
    noun: "stretch",
    columns: [
      {
        title: "From",
        value: ({ begin }) => begin,
        cell: (stretch) =>
          known(report.packed)
            ? el(
                "button",
                { type: "button", class: "plain-button", click: () => goTo(stretches.indexOf(stretch)) },
                whole(stretch.begin),
              )
            : whole(stretch.begin),
        kind: "number",
      },
      { title: "To", value: ({ end }) => end, cell: ({ end }) => whole(end), kind: "number" },
      { title: "Author", value: ({ author }) => author, cell: ({ author }) => authorMark(author) },
      {
        title: "Probability",
        value: ({ probability }) => probability,
        cell: ({ probability }) => percent(probability),
        kind: "number",
        first: "descending",
      },
      ...(stretches.some(({ bits }) => known(bits))
        ? [
            {
              title: "Bits for the author",
              value: ({ bits }) => bits,
              cell: ({ bits }) => signed(bits, 1),
              kind: "number",
              narrow: false,
              first: "descending",
            },
          ]
        : []),
    ],
    rows: stretches,
    words: ({ author }) => [author],
    kind: "modest",
  });

  const parts = [
    section("along", "Along the text", el("div", { class: "grid" }, chart)),
    section("stretches", "Stretches", table.element),
  ];
  const sides = { for: "for the author of the stretch", against: "for other authors" };

  /** A stretch: who, how sure, and its words. */
  function stretchPanel(source, n, scale, hint) {
    const { begin, end, author, probability, bits } = stretches[n];
    const shown = coloredText(source, {
      scale,
      sides: { for: `for ${oneLine(author)}`, against: "for other authors" },
      others: `the texts of ${oneLine(author)}`,
      language: languageCode(report.language),
      label: `${oneLine(author)}, characters ${whole(begin)} to ${whole(end)}`,
    });
    if (hint && shown.note) shown.text.setAttribute("aria-describedby", hint.id);
    const block = el(
      "section",
      { class: `stretch ${lookClass("author-edge", author)}`, tabindex: "-1", "aria-label": shown.text.getAttribute("aria-label") },
      el(
        "h4",
        { class: "stretch-label" },
        authorMark(author),
        el(
          "span",
          { class: "meta" },
          `${percent(probability)}, characters ${whole(begin)} to ${whole(end)}${known(bits) ? `, together ${fixed(Math.abs(bits), 1)} bits ${bits > 0 ? `for ${oneLine(author)}` : "for other authors"}` : ""}`,
        ),
      ),
      source.curve && source.curve.length > 1 && shown.signs.length > 600
        ? curveAlong(source.curve, shown.signs.length, `Evidence along characters ${whole(begin)} to ${whole(end)}`, (place) =>
            shown.light(Math.max(0, place - 60), place + 60),
          )
        : null,
      shown.text,
    );
    return { ...shown, block, offset: begin };
  }

  function rolledText(texts) {
    texts.documents.forEach((source, n) => panels.push(stretchPanel(source, n, texts.scale, n ? panels[0].note : null)));
    const authorsOf = texts.documents.map((_, n) => ({ name: `stretch of ${oneLine(stretches[n].author)}` }));
    const strongest = report.strongest || [];
    const best = (way) => strongest.filter(({ bits }) => way * bits > 0);
    const colored = texts.documents.some((source) => source.words && source.words.length);
    return el(
      "div",
      { class: "evidence rolled" },
      el(
        "p",
        { class: "meta" },
        colored
          ? `Blue is what costs the language models of the stretch\u2019s author fewer bits than those of all authors on the average, beyond what is usual for that author; orange is what costs them more. No single word or passage decides anything, and bits are not the weight of evidence. Changes are placed no more finely than the step between passages.${report.thinned ? " So long a text has only those words colored that say much." : ""}`
          : "No member of this model adds up word by word: the text is shown without colors. Changes are placed no more finely than the step between passages.",
      ),
      strongest.length ? el("h3", {}, "Strongest passages") : null,
      strongest.length
        ? el(
            "div",
            { class: "pair" },
            passageList("For the author of their stretch", best(1), panels, authorsOf),
            passageList("For other authors", best(-1), panels, authorsOf),
          )
        : null,
      colored ? colorLegend(texts.scale, sides) : null,
      el("h3", {}, "Stretch by stretch"),
      el(
        "div",
        { class: "long-text", role: "region", "aria-label": `Text of ${oneLine(report.document)}`, tabindex: "0" },
        panels.map(({ block }) => block),
      ),
      panels.length ? panels[0].note : null,
      strongestWords(panels, authorsOf, sides),
      featureTables(texts.features, sides),
    );
  }

  if (known(report.packed)) parts.push(section("text", "The text", unpacked(report.packed, rolledText)));
  frame(report, [...parts, limitsSection(report), provenanceSection(report)]);
}
