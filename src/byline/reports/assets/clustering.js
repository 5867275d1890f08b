// Clustering: which of these texts belong together?

/** The clusters, those of several texts first. */
function clustersOf(dossier) {
  const clusters = new Map();
  dossier.labels.forEach((label, text) => clusters.set(label, [...(clusters.get(label) || []), text]));
  return [...clusters]
    .map(([label, texts]) => ({ label, texts }))
    .sort((one, other) => other.texts.length - one.texts.length || one.label - other.label);
}

function clusterCards(dossier, clusters) {
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const alone = clusters.filter(({ texts }) => texts.length === 1);
  const strongest = (texts) => {
    const inside = new Set(texts);
    return dossier.links
      .filter(([one, other]) => inside.has(one) && inside.has(other))
      .sort((one, other) => other[2] - one[2])[0];
  };
  return [
    el(
      "div",
      { class: "grid narrow-grid" },
      several.map(({ label, texts }, n) => {
        const best = strongest(texts);
        return el(
          "div",
          { class: `card cluster author-border a${n % PALETTE}` },
          el("h3", {}, `Cluster ${label + 1}: ${plural(texts.length, "text")}`),
          el(
            "ul",
            { class: "names" },
            texts.map((text) => el("li", {}, named(dossier.names[text]))),
          ),
          best
            ? el(
                "p",
                { class: "meta" },
                "Strongest link: ",
                named(dossier.names[best[0]]),
                " and ",
                named(dossier.names[best[1]]),
                `, ${fixed(best[2])}`,
              )
            : null,
        );
      }),
    ),
    alone.length
      ? el(
          "div",
          { class: "card" },
          el("h3", {}, `${plural(alone.length, "text")} alone`),
          el(
            "ul",
            { class: "names" },
            alone.map(({ texts }) => el("li", {}, named(dossier.names[texts[0]]))),
          ),
        )
      : null,
  ];
}

/** A tree that lies on its side: names to the right, joins to the left the later they happen. */
function treeFigure(dossier, clusters) {
  const { names, labels, tree } = dossier;
  const count = names.length;
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const lookOf = new Map(several.map(({ label }, n) => [label, n % PALETTE]));
  const heights = tree.merges.map(([, , height]) => height);
  const [low, high] = extent(heights);
  const longest = Math.max(...names.map((name) => Array.from(oneLine(name)).length));
  const falling = heights[0] > heights.at(-1);
  return figure({
    title: "Tree",
    kind: "broad",
    text: `Texts that are joined further to the right are more alike (${falling ? "average link: more is more alike" : "height: less is more alike"}). Branches in colour lie inside one cluster.`,
    height: 52 + count * 17,
    draw: (width, tall) => {
      const letters = Math.max(8, Math.min(34, Math.floor((width * 0.42) / 6.6), longest + 5));
      const right = letters * 6.6 + 12;
      const drawn = falling
        ? [low - (high - low) * 0.05, high + (high - low) * 0.12]
        : [low - (high - low) * 0.12, high + (high - low) * 0.05];
      const chart = axes({
        width,
        height: tall,
        x: {
          range: falling ? drawn : [drawn[1], drawn[0]],
          label: falling ? "average link" : "height",
          ticks: ticksOf(...drawn, 5),
        },
        right,
        top: 6,
      });
      const rowOf = new Map(tree.order.map((text, row) => [text, 14 + row * 17]));
      const nodes = [];
      for (let text = 0; text < count; text += 1)
        nodes.push({ x: chart.inner.right, y: rowOf.get(text), label: labels[text] });
      tree.merges.forEach(([left, other, height]) => {
        const [one, two] = [nodes[left], nodes[other]];
        const x = chart.x(height);
        const label = one.label === two.label ? one.label : null;
        const look = lookOf.get(label);
        chart.marks.append(
          svg("path", {
            d: `M${one.x} ${one.y}H${x}V${two.y}H${two.x}`,
            class: `line branch ${known(look) ? `author a${look}` : "plain"}`,
          }),
        );
        nodes.push({ x, y: (one.y + two.y) / 2, label });
      });
      tree.order.forEach((text) => {
        const look = lookOf.get(labels[text]);
        chart.marks.append(
          svg(
            "text",
            {
              x: chart.inner.right + 6,
              y: rowOf.get(text) + 4,
              class: known(look) ? `author-text a${look}` : "plain-text",
            },
            shorten(`${labels[text] + 1}  ${oneLine(names[text])}`, letters),
            svg("title", {}, `${oneLine(names[text])}, cluster ${labels[text] + 1}`),
          ),
        );
      });
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Joins in their order",
        ["Join", "One part", "Other part", falling ? "Average link" : "Height", "Texts"],
        tree.merges.map(([left, other, height, size], n) => [
          String(n + 1),
          ...[left, other].map((part) => (part < count ? oneLine(names[part]) : `join ${part - count + 1}`)),
          fixed(height),
          known(size) ? whole(size) : "\u2013",
        ]),
      ),
  });
}

function clusteringPage(dossier) {
  const clusters = clustersOf(dossier);
  const sizes = new Map(clusters.map(({ label, texts }) => [label, texts.length]));
  const nearest = dossier.names.map(() => null);
  for (const [one, other, score] of dossier.links) {
    for (const [text, beside] of [
      [one, other],
      [other, one],
    ]) {
      if (!nearest[text] || score > nearest[text].score) nearest[text] = { beside, score };
    }
  }
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const table = sortedTable({
    caption: "Texts, their clusters and the text each is most strongly linked to",
    noun: "text",
    columns: [
      { title: "Text", value: (n) => dossier.names[n], cell: (n) => named(dossier.names[n]) },
      { title: "Cluster", value: (n) => dossier.labels[n], cell: (n) => String(dossier.labels[n] + 1), kind: "number" },
      {
        title: "Texts in it",
        value: (n) => sizes.get(dossier.labels[n]),
        cell: (n) => whole(sizes.get(dossier.labels[n])),
        kind: "number",
        narrow: false,
        first: "descending",
      },
      {
        title: "Nearest",
        value: (n) => (nearest[n] ? dossier.names[nearest[n].beside] : null),
        cell: (n) => (nearest[n] ? named(dossier.names[nearest[n].beside]) : "\u2013"),
      },
      {
        title: "Link",
        value: (n) => (nearest[n] ? nearest[n].score : null),
        cell: (n) => (nearest[n] ? fixed(nearest[n].score) : "\u2013"),
        kind: "number",
        first: "descending",
      },
    ],
    rows: dossier.names.map((_, n) => n),
    words: (n) => [dossier.names[n]],
    sortedBy: 1,
    kind: "modest",
    choices: [
      {
        label: "Cluster",
        options: [
          ["all", null],
          ...several.map(({ label }) => [String(label + 1), (n) => dossier.labels[n] === label]),
          ["alone", (n) => sizes.get(dossier.labels[n]) === 1],
        ],
      },
    ],
  });
  const links = sortedTable({
    caption: "The strongest links",
    noun: "link",
    columns: [
      { title: "One text", value: ([one]) => dossier.names[one], cell: ([one]) => named(dossier.names[one]) },
      {
        title: "Other text",
        value: ([, other]) => dossier.names[other],
        cell: ([, other]) => named(dossier.names[other]),
      },
      {
        title: "Link",
        value: ([, , score]) => score,
        cell: ([, , score]) => fixed(score, 3),
        kind: "number",
        first: "descending",
      },
      {
        title: "Same cluster",
        value: ([one, other]) => (dossier.labels[one] === dossier.labels[other] ? 1 : 0),
        cell: ([one, other]) => (dossier.labels[one] === dossier.labels[other] ? "yes" : "no"),
        first: "descending",
      },
    ],
    rows: dossier.links.slice(0, 500),
    words: ([one, other]) => [dossier.names[one], dossier.names[other]],
    sortedBy: 2,
    kind: "low modest",
  });
  frame(dossier, [
    section("clusters", "Clusters", clusterCards(dossier, clusters)),
    section("texts", "Texts", table.element),
    section(
      "charts",
      "Charts",
      el(
        "div",
        { class: "grid" },
        dossier.tree && dossier.tree.merges.length ? treeFigure(dossier, clusters) : null,
        dossier.heatmap
          ? heatmap(dossier.heatmap, {
              title: "Heat map of the links",
              text: "How strongly each two texts are linked. Texts of one author should make squares of strong colour where they stand side by side.",
              valueName: "link",
            })
          : null,
      ),
    ),
    section("links", "Strongest links", links.element),
    limitsSection(dossier),
    provenanceSection(dossier),
  ]);
}
