// Clustering: which of these texts belong together?

const LINK_NAME = "Link, in usual deviations";

/** The clusters, those of several texts first. */
function clustersOf(report) {
  const clusters = new Map();
  report.labels.forEach((label, text) => clusters.set(label, [...(clusters.get(label) || []), text]));
  return [...clusters]
    .map(([label, texts]) => ({ label, texts }))
    .sort((one, other) => other.texts.length - one.texts.length || one.label - other.label);
}

/** The name of a text, which opens it where it is there. */
const textLink = (report, n) =>
  report.texts && report.texts.length ? openLink(report.ids[n]) : named(report.names[n]);

/** The pair of two texts whose evidence is there, or nothing. */
const pairOf = (report, one, other) =>
  (report.pairs || []).find((pair) => pair.one === Math.min(one, other) && pair.other === Math.max(one, other));

/** A link that opens a pair, by a short word. */
function pairLink(pair) {
  const link = openLink(pair.id);
  link.setAttribute("aria-label", `show what speaks for ${oneLine(pair.id)}`);
  link.replaceChildren("show");
  return link;
}

/** What is enough, in words. */
const enough = (report) =>
  known(report.cut)
    ? `clusters were joined as long as their average link is ${fixed(report.cut)} or more`
    : `${fixed(report.threshold)} is just enough: as many pairs have that link or more as are together`;

/** Words or n-grams with a number each. */
const sharedList = (entries, show) =>
  el(
    "ul",
    { class: "word-list" },
    entries.map((entry) => el("li", {}, show(entry))),
  );

function clusterCard(report, { label, texts }, n) {
  const about = (report.clusters || []).find((cluster) => cluster.label === label);
  const pairs = about ? about.pairs.map((place) => report.pairs[place]) : [];
  return el(
    "div",
    { class: `card cluster author-border a${n % PALETTE}` },
    el("h3", {}, `Cluster ${label + 1}: ${plural(texts.length, "text")}`),
    el(
      "ul",
      { class: "names" },
      texts.map((text) => el("li", {}, textLink(report, text))),
    ),
    about
      ? el(
          "p",
          { class: "meta" },
          texts.length > 2
            ? `Links inside it: ${fixed(about.mean)} on the average, from ${fixed(about.weakest)} to ${fixed(about.strongest)}`
            : `Their link: ${fixed(about.mean)}`,
        )
      : null,
    about && (about.words.length || about.features.length)
      ? [
          el("h4", {}, "What its texts share"),
          about.words.length
            ? [
                el("p", { class: "meta" }, "Words that speak most for its links, with their bits together and in how many texts:"),
                sharedList(about.words, ([word, bits, count]) => [
                  el("bdi", {}, oneLine(word)),
                  ` ${fixed(bits, 0)} in ${whole(count)}`,
                ]),
              ]
            : null,
          about.features.length
            ? [
                el(
                  "p",
                  { class: "meta" },
                  pairs.length > 1
                    ? `N-grams that speak most for its links, and for how many of ${whole(pairs.length)}:`
                    : "N-grams that speak most for its link:",
                ),
                sharedList(about.features, ([gram, count]) => [
                  el("code", {}, el("bdi", {}, oneLine(gram).replace(/ /g, "\u00b7"))),
                  pairs.length > 1 ? ` ${whole(count)}` : "",
                ]),
              ]
            : null,
        ]
      : null,
    pairs.length
      ? folded(
          `What speaks for ${plural(pairs.length, "link")}`,
          el(
            "ul",
            {},
            pairs.map((pair) => el("li", {}, openLink(pair.id), `, link ${fixed(pair.link)}`)),
          ),
        )
      : null,
  );
}

function clusterCards(report, clusters) {
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const alone = clusters.filter(({ texts }) => texts.length === 1);
  return [
    el(
      "p",
      { class: "meta" },
      `A link says how far two texts are from the middle of all pairs, in how far pairs usually are from it (usual deviations); ${enough(report)}. Texts on one topic are alike too: see which words hold a cluster together. In n-grams a dot stands for a space, 7 for any digit, \u00b9 for a capital that follows, * for a letter of a masked word.`,
    ),
    el(
      "div",
      { class: "grid narrow-grid" },
      several.map((cluster, n) => clusterCard(report, cluster, n)),
    ),
    alone.length
      ? el(
          "div",
          { class: "card" },
          el("h3", {}, `${plural(alone.length, "text")} alone`),
          el(
            "ul",
            { class: "names" },
            alone.map(({ texts }) => el("li", {}, textLink(report, texts[0]))),
          ),
        )
      : null,
  ];
}

/** A tree that lies on its side: names to the right, joins to the left the later they happen. */
function treeFigure(report, clusters) {
  const { names, labels, tree } = report;
  const count = names.length;
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const lookOf = new Map(several.map(({ label }, n) => [label, n % PALETTE]));
  const heights = tree.merges.map(([, , height]) => height);
  const [low, high] = extent([...heights, ...(known(report.cut) ? [report.cut] : [])]);
  const longest = Math.max(...names.map((name) => Array.from(oneLine(name)).length));
  return figure({
    title: "Tree",
    kind: "broad",
    text: `Where two parts are joined, the average link between the texts of one and of the other is read off below: the further to the right, the more alike. Branches in color lie inside one cluster. ${known(report.cut) ? `Joining ended at ${fixed(report.cut)}, the line.` : "No single link made the clusters, so there is no line: those parts were taken that stand longest before they go up in a larger one."}`,
    height: 52 + count * 17,
    draw: (width, tall) => {
      const letters = Math.max(8, Math.min(34, Math.floor((width * 0.42) / 6.6), longest + 5));
      const right = letters * 6.6 + 12;
      const drawn = [low - (high - low || 1) * 0.05, high + (high - low || 1) * 0.12];
      const chart = axes({
        width,
        height: tall,
        x: { range: drawn, label: "average link between two parts, in usual deviations", ticks: ticksOf(...drawn, 5) },
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
      if (known(report.cut)) chart.marks.append(upright(chart, report.cut, "decision"));
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
        ["Join", "One part", "Other part", "Average link between them", "Texts", ...(known(report.cut) ? ["Made"] : [])],
        tree.merges.map(([left, other, height, size], n) => [
          String(n + 1),
          ...[left, other].map((part) => (part < count ? oneLine(names[part]) : `join ${part - count + 1}`)),
          fixed(height),
          known(size) ? whole(size) : "\u2013",
          ...(known(report.cut) ? [height >= report.cut ? "yes" : "no"] : []),
        ]),
      ),
  });
}

/** Two texts side by side, with what speaks for their belonging together. */
function pairView(report, pair) {
  const [one, other] = [report.names[pair.one], report.names[pair.other]];
  const sides = { for: "for belonging together", against: "against it" };
  return [
    el(
      "div",
      { class: "headline" },
      el(
        "p",
        { class: "statement" },
        pair.stronger
          ? `Of ${plural(pair.links, "pair")} ${whole(pair.stronger)} ${pair.stronger === 1 ? "has" : "have"} a stronger link. `
          : `Of ${plural(pair.links, "pair")} none has a stronger link. `,
        pair.together ? "The two are in one cluster." : "The two are not in one cluster.",
      ),
    ),
    facts([
      [LINK_NAME, signed(pair.link)],
      [known(report.cut) ? "Average link that was asked for" : "Link that is just enough", signed(report.threshold)],
      ["Score in the ranking, from 0 to 1", `${fixed(pair.score, 3)}; 0.5 is just enough`],
      ["Clusters", pair.together ? `both in ${report.labels[pair.one] + 1}` : `${report.labels[pair.one] + 1} and ${report.labels[pair.other] + 1}`],
      ["Texts", textLink(report, pair.one), " and ", textLink(report, pair.other)],
    ]),
    warningsBox(pair.warnings),
    pair.shares.length
      ? el(
          "div",
          { class: "modest" },
          plainTable(
            "What each member says of this pair, on the scale of links; the link is their mean",
            ["Member", LINK_NAME],
            pair.shares.map((share, n) => [oneLine(report.members[n].name), signed(share)]),
            "ranked",
          ),
        )
      : null,
    el("h3", {}, "The texts"),
    unpacked(pair.packed, (texts) =>
      evidence(texts, {
        sides,
        language: languageCode(report.language),
        roles: false,
        others: (source) => (source.role === "one" ? oneLine(other) : oneLine(one)),
        note: "Each text is judged by a language model of the other one. Blue is what costs it fewer bits than models of all other texts on the average, beyond what is usual for it; orange is what costs it more. Words on a shared topic are blue too, whoever wrote them: no single word or passage decides anything, and bits are not the weight of evidence.",
      }),
    ),
    limitsBox(report.limits),
  ];
}

/** One text, and the texts it is most strongly linked to. */
function textView(report, n) {
  const about = report.texts[n];
  const linked = report.links.filter(([one, other]) => one === n || other === n).slice(0, 10);
  return [
    facts([
      ["Cluster", String(report.labels[n] + 1)],
      ["Length", plural(about.characters, "character")],
    ]),
    linked.length
      ? plainTable(
          "Its strongest links",
          ["Text", LINK_NAME, "Same cluster", "What speaks for it"],
          linked.map(([one, other, link]) => {
            const beside = one === n ? other : one;
            const pair = pairOf(report, one, other);
            return [
              textLink(report, beside),
              signed(link),
              report.labels[one] === report.labels[other] ? "yes" : "no",
              pair ? pairLink(pair) : "\u2013",
            ];
          }),
          "ranked",
        )
      : el("p", {}, `None of its links is among the ${whole(report.links.length)} strongest.`),
    el("h3", {}, "The text"),
    about.shown < about.characters
      ? el("p", { class: "meta" }, `Its first ${plural(about.shown, "character")} of ${whole(about.characters)}.`)
      : null,
    unpacked(about.packed, ({ text }) =>
      el(
        "div",
        {
          class: "text long",
          role: "region",
          tabindex: "0",
          lang: languageCode(report.language),
          "aria-label": `Text of ${oneLine(report.names[n])}`,
        },
        visible(text),
      ),
    ),
  ];
}

function clusteringPage(report) {
  const clusters = clustersOf(report);
  const sizes = new Map(clusters.map(({ label, texts }) => [label, texts.length]));
  const nearest = report.names.map(() => null);
  for (const [one, other, link] of report.links) {
    for (const [text, beside] of [
      [one, other],
      [other, one],
    ]) {
      if (!nearest[text] || link > nearest[text].link) nearest[text] = { beside, link };
    }
  }
  const several = clusters.filter(({ texts }) => texts.length > 1);
  const table = sortedTable({
    caption: `Texts, their clusters and the text each is most strongly linked to; links in usual deviations, ${enough(report)}`,
    noun: "text",
    columns: [
      { title: "Text", value: (n) => report.names[n], cell: (n) => textLink(report, n) },
      { title: "Cluster", value: (n) => report.labels[n], cell: (n) => String(report.labels[n] + 1), kind: "number" },
      {
        title: "Texts in it",
        value: (n) => sizes.get(report.labels[n]),
        cell: (n) => whole(sizes.get(report.labels[n])),
        kind: "number",
        narrow: false,
        first: "descending",
      },
      {
        title: "Nearest",
        value: (n) => (nearest[n] ? report.names[nearest[n].beside] : null),
        cell: (n) => (nearest[n] ? named(report.names[nearest[n].beside]) : "\u2013"),
      },
      {
        title: "Link to it",
        value: (n) => (nearest[n] ? nearest[n].link : null),
        cell: (n) => (nearest[n] ? signed(nearest[n].link) : "\u2013"),
        kind: "number",
        first: "descending",
      },
      ...(report.texts && report.texts.length
        ? [
            {
              title: "Characters",
              value: (n) => report.texts[n].characters,
              cell: (n) => whole(report.texts[n].characters),
              kind: "number",
              narrow: false,
              first: "descending",
            },
          ]
        : []),
    ],
    rows: report.names.map((_, n) => n),
    words: (n) => [report.names[n]],
    sortedBy: 1,
    kind: "modest",
    choices: [
      {
        label: "Cluster",
        options: [
          ["all", null],
          ...several.map(({ label }) => [String(label + 1), (n) => report.labels[n] === label]),
          ["alone", (n) => sizes.get(report.labels[n]) === 1],
        ],
      },
    ],
  });
  const links = sortedTable({
    caption: `The strongest links, in usual deviations from the middle of all pairs; ${enough(report)}. The score is the same as a number from 0 to 1, 0.5 where it is just enough`,
    noun: "link",
    columns: [
      { title: "One text", value: ([one]) => report.names[one], cell: ([one]) => named(report.names[one]) },
      {
        title: "Other text",
        value: ([, other]) => report.names[other],
        cell: ([, other]) => named(report.names[other]),
      },
      {
        title: "Link",
        value: ([, , link]) => link,
        cell: ([, , link]) => signed(link),
        kind: "number",
        first: "descending",
      },
      {
        title: "Score",
        value: ([, , , score]) => score,
        cell: ([, , , score]) => fixed(score, 3),
        kind: "number",
        narrow: false,
        first: "descending",
      },
      {
        title: "Enough",
        value: ([, , link]) => (link >= report.threshold ? 1 : 0),
        cell: ([, , link]) => (link >= report.threshold ? "yes" : "no"),
        narrow: false,
        first: "descending",
      },
      {
        title: "Same cluster",
        value: ([one, other]) => (report.labels[one] === report.labels[other] ? 1 : 0),
        cell: ([one, other]) => (report.labels[one] === report.labels[other] ? "yes" : "no"),
        first: "descending",
      },
      ...((report.pairs || []).length
        ? [
            {
              title: "What speaks for it",
              value: ([one, other]) => (pairOf(report, one, other) ? 1 : 0),
              cell: ([one, other]) => {
                const pair = pairOf(report, one, other);
                return pair ? pairLink(pair) : "\u2013";
              },
              first: "descending",
            },
          ]
        : []),
    ],
    rows: report.links,
    words: ([one, other]) => [report.names[one], report.names[other]],
    sortedBy: 2,
    kind: "low modest",
  });
  const page = frame(report, [
    section("clusters", "Clusters", clusterCards(report, clusters)),
    section("texts", "Texts", table.element),
    section(
      "charts",
      "Charts",
      el(
        "div",
        { class: "grid" },
        report.tree && report.tree.merges.length ? treeFigure(report, clusters) : null,
        report.heatmap
          ? heatmap(report.heatmap, {
              title: "Heat map of the links",
              text: `How strongly each two texts are linked, in usual deviations from the middle of all pairs; ${enough(report)}. Texts of one author should make squares of strong color where they stand side by side.`,
              valueName: "link",
            })
          : null,
      ),
    ),
    section("links", "Strongest links", links.element),
    limitsSection(report),
    provenanceSection(report),
  ]);
  const texts = (report.texts || []).map((_, text) => ({ id: report.ids[text], text }));
  const pairs = report.pairs || [];
  openable(page, {
    entries: new Map([...texts, ...pairs].map((entry) => [entry.id, entry])),
    order: () => pairs,
    noun: "link",
    allText: "All clusters",
    idOf: (entry) => entry.id,
    open: (entry) => (known(entry.text) ? textView(report, entry.text) : pairView(report, entry)),
  });
}
