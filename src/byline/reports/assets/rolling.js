// Rolling: who seems to write each passage along a text?

function rollingPage(dossier) {
  const { passages, stretches, authors } = dossier;
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
  const spans = [];

  const chart = figure({
    title: "Probability of each author",
    kind: "broad",
    text: `How probable each author is, passage by passage (at its middle). ${dossier.changes.length ? `The hand seems to change near ${dossier.changes.length === 1 ? "character" : "characters"} ${dossier.changes.map(whole).join(", ")}.` : "The hand does not seem to change."} The strip below shows the stretches, by letter.`,
    height: 310,
    draw: (width, height) => {
      const axis = axes({
        width,
        height,
        x: { range: [0, dossier.length], label: "character" },
        y: { range: [0, 1], label: "probability", format: percent },
        left: 54,
        right: 14,
        bottom: 64,
        top: 12,
      });
      dossier.changes.forEach((place) => axis.marks.append(upright(axis, place, "decision")));
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
    const node = spans[n];
    if (!node) return;
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
          known(dossier.text)
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
    ],
    rows: stretches,
    words: ({ author }) => [author],
    kind: "modest",
  });

  const parts = [
    section("along", "Along the text", el("div", { class: "grid" }, chart)),
    section("stretches", "Stretches", table.element),
  ];
  if (known(dossier.text)) {
    const signs = Array.from(dossier.text);
    let done = 0;
    const nodes = [];
    stretches.forEach(({ begin, end, author, probability }) => {
      if (begin > done) nodes.push(visible(signs.slice(done, begin).join("")));
      const from = Math.max(begin, done);
      const span = el(
        "span",
        { class: `stretch ${lookClass("author-under", author)}`, tabindex: "-1" },
        el(
          "span",
          { class: "stretch-label" },
          authorMark(author),
          ` ${percent(probability)}, from character ${whole(begin)} `,
        ),
        visible(signs.slice(from, end).join("")),
      );
      spans.push(span);
      nodes.push(span);
      done = Math.max(done, end);
    });
    nodes.push(visible(signs.slice(done).join("")));
    parts.push(
      section(
        "text",
        "The text",
        el(
          "p",
          {},
          "Underlined by the author of the stretch; each stretch begins with a letter and a name. Changes are placed no more finely than the step between passages.",
        ),
        el(
          "div",
          { class: "text long", role: "group", "aria-label": `Text of ${oneLine(dossier.document)}`, tabindex: "0" },
          nodes,
        ),
      ),
    );
  }
  frame(dossier, [...parts, limitsSection(dossier), provenanceSection(dossier)]);
}
