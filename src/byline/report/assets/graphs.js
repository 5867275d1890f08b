// The charts: what is drawn, in words and as a table as well.

const VERDICTS = {
  same: { text: "same author", kind: "for", shape: "round" },
  another: { text: "another author", kind: "against", shape: "diamond" },
  undecided: { text: "undecided", kind: "open", shape: "round" },
};
const verdictOf = (verdict) => VERDICTS[verdict] || VERDICTS.undecided;
/** What nothing supports only leans to its side. */
const LEANINGS = { same: "leans to the same author", another: "leans to another author" };
const verdictText = ({ verdict, leaning }) =>
  leaning && Object.hasOwn(LEANINGS, verdict) ? LEANINGS[verdict] : verdictOf(verdict).text;

/** A verdict as a mark and a word. */
function verdictMark(problem) {
  const { kind, shape } = verdictOf(problem.verdict);
  const text = verdictText(problem);
  return el(
    "span",
    { class: "verdict" },
    svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, mark(6, 6, shape, kind)),
    text,
  );
}

/** Marks side by side above a line, those that would cover each other on top of each other; [x, level]. */
function pile(places, size) {
  const ends = [];
  return places
    .map((place, n) => [place, n])
    .sort((one, other) => one[0] - other[0])
    .map(([place, n]) => {
      let level = ends.findIndex((end) => place - end >= size);
      if (level < 0) level = ends.push(0) - 1;
      ends[level] = place;
      return [n, level];
    });
}

/** What the marks of a chart are parted by, each part with its look. */
const TRUTHS = [
  ["truly the same author", "for", "round", (p) => p.truth === true],
  ["truly another author", "against", "diamond", (p) => p.truth === false],
  ["truth not known", "open", "round", (p) => !known(p.truth)],
];

/** Where every problem lies, with the line between the sides; a part, and a line, for each language. */
function distribution(problems, measure) {
  const rows = problems.filter((problem) => known(measure.of(problem)));
  const truth = rows.some((problem) => known(problem.truth));
  const languages = [...new Set(rows.map((problem) => problem.language))];
  const several = languages.length > 1;
  const parts = languages.map((language) => {
    const own = rows.filter((problem) => problem.language === language);
    const bands = (truth ? TRUTHS : [["", "neutral", "round", () => true]])
      .map(([label, kind, shape, test]) => ({ label, kind, shape, rows: own.filter(test) }))
      .filter((band) => band.rows.length);
    return { language, own, bands, at: measure.at(language) };
  });
  const lined = parts.filter((part) => known(part.at));
  const range = roomy(extent([...rows.map(measure.of), ...lined.map((part) => part.at)]));
  const beyond = (part) => part.own.filter((p) => measure.of(p) > part.at).length;
  const titleTall = several ? 20 : 0;
  const plain = (width) =>
    parts.map((part) => ({
      ...part,
      bands: part.bands.map((band) => {
        const places = band.rows.map((p) => 12 + ((measure.of(p) - range[0]) / (range[1] - range[0])) * (width - 24));
        const piled = pile(places, 10.5);
        return { ...band, piled, levels: 1 + Math.max(...piled.map(([, level]) => level)) };
      }),
    }));
  const tallOf = (band) => (band.label ? 20 : 4) + Math.min(band.levels * 10.5, 150) + 8;
  const height = (width) => 66 + sum(plain(width).map((part) => titleTall + sum(part.bands.map(tallOf))));
  return figure({
    title: "Where the problems lie",
    kind: "broad",
    text:
      `Each mark is a problem, placed by its ${measure.name}.` +
      (several && lined.length
        ? ` Languages are never compared with each other: each has a ${measure.line} of its own, the line: ${lined
            .map(
              (part) =>
                `${oneLine(part.language)} ${fixed(part.at)}, ${beyond(part)} of ${part.own.length} to the right of it`,
            )
            .join("; ")}.`
        : lined
            .map(
              (part) =>
                ` The line at ${fixed(part.at)} is the ${measure.line}: ${beyond(part)} of ${part.own.length} lie to the right of it.`,
            )
            .join("")) +
      (truth ? " Marks are parted by the truth." : ""),
    height,
    draw: (width, tall) => {
      const chart = axes({ width, height: tall, x: { range, label: measure.label }, top: 22, right: 12 });
      let base = 22;
      for (const part of plain(width)) {
        const top = base;
        if (several)
          chart.marks.append(
            svg(
              "text",
              { x: 12, y: base + 13, class: "band part" },
              `${oneLine(part.language)} (${part.own.length})${known(part.at) ? `, line at ${fixed(part.at)}` : ""}`,
            ),
          );
        base += titleTall;
        for (const band of part.bands) {
          const size = tallOf(band);
          base += size;
          if (band.label)
            chart.marks.append(
              svg("text", { x: 12, y: base - size + 13, class: "band" }, `${band.label} (${band.rows.length})`),
            );
          const step = Math.min(10.5, 150 / band.levels);
          for (const [n, level] of band.piled) {
            const problem = band.rows[n];
            const node = mark(
              chart.x(measure.of(problem)),
              base - 8 - level * step,
              band.shape,
              band.kind,
              `${oneLine(problem.id)}: ${measure.name} ${fixed(measure.of(problem))}, ${verdictText(problem)}`,
            );
            node.addEventListener("click", () => {
              location.hash = hashOf(problem.id);
            });
            node.classList.add("link");
            chart.marks.append(node);
          }
        }
        if (several) chart.marks.prepend(svg("line", { x1: 12, x2: width - 12, y1: base, y2: base, class: "grid" }));
        if (!known(part.at)) continue;
        const x = chart.x(part.at);
        const side = x > width / 2;
        chart.marks.prepend(
          svg("line", {
            x1: x,
            x2: x,
            y1: several ? top : chart.inner.top,
            y2: several ? base : chart.inner.bottom,
            class: "decision",
          }),
        );
        if (!several)
          chart.marks.append(
            svg(
              "text",
              { x: x + (side ? -5 : 5), y: 14, "text-anchor": side ? "end" : "start", class: "decision-text" },
              shorten(measure.line, Math.floor(Math.max(x, width - x) / 6.4)),
            ),
          );
      }
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Problems in the order of this chart",
        ["Problem", ...(several ? ["Language"] : []), measure.label, "Verdict", ...(truth ? ["Truth"] : [])],
        [...rows]
          .sort((one, other) => measure.of(other) - measure.of(one))
          .map((p) => [
            named(p.id),
            ...(several ? [oneLine(p.language)] : []),
            fixed(measure.of(p)),
            verdictText(p),
            ...(truth ? [truthOf(p.truth)] : []),
          ]),
      ),
  });
}

const truthOf = (truth) => (known(truth) ? (truth ? "same author" : "another author") : "not known");

/** Axes from 0 to 1 both ways, with the diagonal. */
function diagonal(width, height, across, upward) {
  const chart = axes({
    width,
    height,
    x: { range: [0, 1], label: across, format: percent },
    y: { range: [0, 1], label: upward, format: percent },
    left: 54,
    right: 18,
  });
  const ends = [0, 1].map((share) => [chart.x(share), chart.y(share)]);
  chart.marks.append(svg("path", { d: pathOf(ends), class: "chance" }));
  return chart;
}

function rocChart(roc, auc) {
  const interval = auc
    ? ` The area under it is ${fixed(auc[0], 3)}${known(auc[1]) ? `, interval ${fixed(auc[1], 3)} to ${fixed(auc[2], 3)}` : ""};` +
      " 0.5 would be chance, 1 a perfect order."
    : "";
  return figure({
    title: "ROC curve",
    text: `The share of same-author problems found against the share of others taken for them, for every possible line.${interval}`,
    height: (width) => Math.min(width * 0.9, 330),
    draw: (width, height) => {
      const chart = diagonal(width, height, "others taken for the same author", "same author found");
      chart.marks.append(
        svg("path", { d: pathOf(roc.x.map((x, n) => [chart.x(x), chart.y(roc.y[n])])), class: "line for" }),
      );
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Points of the curve",
        ["Others taken for the same author", "Same author found"],
        roc.x.map((x, n) => [percent(x), percent(roc.y[n])]),
      ),
  });
}

function calibrationChart(bins) {
  return figure({
    title: "Calibration",
    text: "Of the problems with about this probability, how many were truly by the same author. On the diagonal, probabilities mean what they say. Upright lines are intervals; larger marks stand for more problems.",
    height: (width) => Math.min(width * 0.9, 330),
    draw: (width, height) => {
      const chart = diagonal(width, height, "probability that was given", "truly the same author");
      const most = Math.max(...bins.map((bin) => bin.count));
      for (const bin of bins) {
        const x = chart.x(bin.predicted);
        if (known(bin.low))
          chart.marks.append(
            svg("line", { x1: x, x2: x, y1: chart.y(bin.low), y2: chart.y(bin.high), class: "whisker" }),
          );
        chart.marks.append(
          svg(
            "circle",
            { cx: x, cy: chart.y(bin.observed), r: 3 + 5 * Math.sqrt(bin.count / most), class: "mark for" },
            svg(
              "title",
              {},
              `given ${percent(bin.predicted)}, observed ${percent(bin.observed)}, ${plural(bin.count, "problem")}`,
            ),
          ),
        );
      }
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Probability given and share observed",
        ["Given", "Observed", "Interval", "Problems"],
        bins.map((bin) => [
          percent(bin.predicted),
          percent(bin.observed),
          known(bin.low) ? `${percent(bin.low)} to ${percent(bin.high)}` : "\u2013",
          whole(bin.count),
        ]),
      ),
  });
}

function tippettChart(tippett) {
  const at = (shares) =>
    shares[
      Math.max(
        0,
        tippett.llr.findIndex((llr) => llr >= 0),
      )
    ];
  return figure({
    title: "Tippett plot",
    text:
      "The share of problems with a log-likelihood ratio greater than the value below. " +
      `Above 0 are ${percent(at(tippett.same))} of the same-author problems and ${percent(at(tippett.another))} of the others; the further the lines lie apart, the better.`,
    height: (width) => Math.min(width * 0.9, 330),
    draw: (width, height) => {
      const chart = axes({
        width,
        height,
        x: { range: extent(tippett.llr), label: "log-likelihood ratio (base 10)" },
        y: { range: [0, 1], label: "problems with more", format: percent },
        left: 54,
        right: 18,
      });
      if (chart.x(0) >= chart.inner.left && chart.x(0) <= chart.inner.right)
        chart.marks.append(upright(chart, 0, "decision"));
      for (const [shares, kind, dash] of [
        [tippett.same, "for", ""],
        [tippett.another, "against", DASHES[1]],
      ]) {
        chart.marks.append(
          svg("path", {
            d: stepsOf(tippett.llr.map((llr, n) => [chart.x(llr), chart.y(shares[n])])),
            class: `line ${kind}`,
            "stroke-dasharray": dash || null,
          }),
        );
      }
      return chart.nodes;
    },
    after: legendOf([
      ["for", "", "same author"],
      ["against", DASHES[1], "another author"],
    ]),
    table: () =>
      plainTable(
        "Shares with a greater log-likelihood ratio",
        ["Log-likelihood ratio", "Same author", "Another author"],
        thinned(
          tippett.llr.map((llr, n) => [fixed(llr), percent(tippett.same[n]), percent(tippett.another[n])]),
          40,
        ),
      ),
  });
}

/** Every so-manieth row, the last one too. */
function thinned(rows, most) {
  const step = Math.ceil(rows.length / most);
  return rows.filter((_, n) => n % step === 0 || n === rows.length - 1);
}

/** What each line is: [kind, dash, text]. */
function legendOf(entries) {
  return el(
    "ul",
    { class: "legend" },
    entries.map(([kind, dash, text]) =>
      el(
        "li",
        {},
        svg(
          "svg",
          { viewBox: "0 0 28 10", width: 28, height: 10, "aria-hidden": "true" },
          svg("line", { x1: 0, x2: 28, y1: 5, y2: 5, class: `line ${kind}`, "stroke-dasharray": dash || null }),
        ),
        oneLine(text),
      ),
    ),
  );
}

/** For each problem what the members say, one above another; problems in the order of their scores. */
function agreementChart(problems, scoreName, alone) {
  const rows = problems
    .map((problem) => ({ problem, scores: problem.members.map((m) => m.score).filter(known) }))
    .filter(({ scores }) => scores.length > 1);
  if (!rows.length) return null;
  const center = ({ problem, scores }) => (known(problem.score) ? problem.score : mean(scores));
  rows.sort((one, other) => center(one) - center(other));
  const spread = rows.map(({ scores }) => {
    const [low, high] = extent(scores);
    return high - low;
  });
  const range = roomy(extent(rows.flatMap((row) => [...row.scores, center(row)])));
  return figure({
    title: "Agreement of the members",
    kind: "broad",
    text: `Problems from left to right by their score. ${alone ? "A dot is the score if there were no other member" : "Dots are the members"}, the dash is what they say together. Half of the problems have members within ${fixed([...spread].sort((a, b) => a - b)[Math.floor(spread.length / 2)])} of each other.`,
    height: 280,
    draw: (width, height) => {
      const chart = axes({
        width,
        height,
        x: { range: [-0.7, rows.length - 0.3], label: "problems", ticks: [] },
        y: { range, label: scoreName },
        bottom: 74,
      });
      const room = (chart.inner.right - chart.inner.left) / rows.length;
      const every = Math.max(1, Math.ceil(13 / room));
      const half = Math.min(6, Math.max(1.5, room * 0.38));
      let dots = "";
      rows.forEach((row, n) => {
        const x = chart.x(n);
        const [low, high] = extent(row.scores);
        const said = center(row);
        dots += row.scores.map((score) => `M${x.toFixed(1)} ${chart.y(score).toFixed(1)}h0`).join("");
        chart.marks.append(
          svg("line", { x1: x, x2: x, y1: chart.y(low), y2: chart.y(high), class: "whisker" }),
          svg("line", {
            x1: x - half,
            x2: x + half,
            y1: chart.y(said),
            y2: chart.y(said),
            class: `together ${verdictOf(row.problem.verdict).kind}`,
          }),
          svg(
            "rect",
            {
              x: x - room / 2,
              width: room,
              y: chart.inner.top,
              height: chart.inner.bottom - chart.inner.top,
              class: "catch",
              click: () => {
                location.hash = hashOf(row.problem.id);
              },
            },
            svg(
              "title",
              {},
              `${oneLine(row.problem.id)}: together ${fixed(said)}, members from ${fixed(low)} to ${fixed(high)}`,
            ),
          ),
        );
        if (n % every === 0) {
          chart.marks.append(
            svg(
              "text",
              { transform: `translate(${x + 3.5} ${chart.inner.bottom + 6}) rotate(-90)`, "text-anchor": "end" },
              shorten(row.problem.id, 8),
            ),
          );
        }
      });
      chart.marks.insertBefore(
        svg("path", { d: dots, class: "dots", "stroke-width": room > 8 ? 5 : 3 }),
        chart.marks.querySelector(".catch"),
      );
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Members' scores",
        ["Problem", "Together", "Least", "Greatest", "Members"],
        rows.map((row) => [
          named(row.problem.id),
          fixed(center(row)),
          ...extent(row.scores).map((score) => fixed(score)),
          whole(row.scores.length),
        ]),
      ),
  });
}

function learningChart(curves) {
  const languages = [...new Set(curves.map((curve) => curve.language))];
  const lookOf = (curve, n) => (languages.length > 1 ? languages.indexOf(curve.language) : n) % PALETTE;
  const range = roomy(extent(curves.flatMap((curve) => curve.bits)));
  const longest = Math.max(...curves.map((curve) => curve.bits.length));
  const few =
    languages.length > 1
      ? languages.map((language, n) => [language, n])
      : curves.length <= 8
        ? curves.map((curve, n) => [curve.name, n])
        : [];
  return figure({
    title: "Learning",
    text: `Bits a character needs, by sub-epoch, in ${plural(curves.length, "training")}: fewer is better. A line that still falls at its end could have learned longer.`,
    height: 260,
    draw: (width, height) => {
      const chart = axes({
        width,
        height,
        x: {
          range: [1, Math.max(2, longest)],
          label: "sub-epoch",
          ticks: ticksOf(1, Math.max(2, longest), 6).filter(Number.isInteger),
        },
        y: { range, label: "bits per character" },
      });
      curves.forEach((curve, n) =>
        chart.marks.append(
          svg(
            "path",
            {
              d: pathOf(
                curve.bits
                  .map((bits, epoch) => [bits, epoch])
                  .filter(([bits]) => known(bits))
                  .map(([bits, epoch]) => [chart.x(epoch + 1), chart.y(bits)]),
              ),
              class: `line author a${lookOf(curve, n)} ${curves.length > 8 ? "thin" : ""}`,
              "stroke-dasharray": DASHES[lookOf(curve, n)] || null,
            },
            svg("title", {}, oneLine(`${curve.language}, ${curve.name}`)),
          ),
        ),
      );
      return chart.nodes;
    },
    after: few.length ? legendOf(few.map(([text, n]) => [`author a${n % PALETTE}`, DASHES[n % PALETTE], text])) : null,
    table: () =>
      plainTable(
        "Bits per character",
        ["Training", "Language", "First sub-epoch", "Last sub-epoch", "Sub-epochs"],
        curves.map((curve) => [
          oneLine(curve.name),
          oneLine(curve.language),
          fixed(curve.bits[0], 3),
          fixed(curve.bits.at(-1), 3),
          whole(curve.bits.length),
        ]),
      ),
  });
}

/** The bars of a histogram: histogram is {quartiles, bars}, floor where they stand, tall how high the highest is. */
function bars(chart, histogram, floor, tall) {
  const [low, , , , high] = histogram.quartiles;
  const step = (high - low) / histogram.bars.length;
  const most = Math.max(1, ...histogram.bars);
  return histogram.bars.map(
    (count, n) =>
      count &&
      svg("rect", {
        x: chart.x(low + n * step) + 0.5,
        width: Math.max(1.5, chart.x(low + step) - chart.x(low) - 1),
        y: floor - (count / most) * tall,
        height: (count / most) * tall,
        class: "bar",
      }),
  );
}

/** How texts that are not asked about compare, with this problem marked. */
function cohortChart(cohort) {
  const [low, first, middle, third, high] = cohort.quartiles;
  const range = roomy(extent([low, high, cohort.own]));
  const most = Math.max(1, ...cohort.bars);
  const scoreName = cohort.used ? "score" : "relative score";
  return figure({
    level: 4,
    title: "Beside the others",
    text:
      `How alike the texts of this problem are (${fixed(cohort.own)}, the line), and ${plural(cohort.count, "comparison")} of them with authors and texts that are not asked about. ` +
      `${whole(cohort.below)} of ${whole(cohort.count)} are less alike than this problem.` +
      (cohort.used ? "" : " The answer is made of ranks, not of these scores; they show what is ranked."),
    height: 190,
    draw: (width, height) => {
      const chart = axes({
        width,
        height,
        x: { range, label: scoreName },
        y: { range: [0, most], label: "comparisons", ticks: ticksOf(0, most, 3).filter(Number.isInteger) },
        top: 20,
      });
      const x = chart.x(cohort.own);
      chart.marks.append(
        ...bars(chart, cohort, chart.inner.bottom, chart.inner.bottom - chart.inner.top).filter(Boolean),
        upright(chart, cohort.own, "own"),
        svg(
          "text",
          { x: x + (x > width / 2 ? -5 : 5), y: 13, "text-anchor": x > width / 2 ? "end" : "start", class: "own-text" },
          "this problem",
        ),
      );
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "This problem and the others",
        ["", scoreName],
        [
          ["this problem", fixed(cohort.own)],
          ["the others: greatest", fixed(high)],
          ["three quarters are below", fixed(third)],
          ["half are below", fixed(middle)],
          ["a quarter is below", fixed(first)],
          ["least", fixed(low)],
        ],
      ),
  });
}

/** Beside a reference: each member's normalized score, and those of pairs of different authors of the reference. */
function referenceChart(reference) {
  const rows = reference.members;
  const compared = rows.filter((row) => row.count);
  const range = roomy(extent(rows.flatMap((row) => [row.own, ...row.quartiles])));
  const [tall, gap] = [34, 18];
  return figure({
    level: 4,
    title: "Beside the reference",
    kind: "broad",
    text: [
      "Lines: how alike the texts of this problem are by each member, in standard deviations above what the nearest texts by other people lead to expect. Bars: the same for texts of the reference by two different authors, cut to the same lengths.",
      compared.length < rows.length &&
        "Where there are no bars, all of the reference is related to these texts and nothing could be compared.",
    ]
      .filter(Boolean)
      .join(" "),
    height: 44 + rows.length * (tall + gap),
    draw: (width, height) => {
      const narrow = width < 480;
      const left = narrow ? 8 : Math.min(180, width * 0.3);
      const chart = axes({
        width,
        height,
        x: { range, label: "normalized score" },
        y: { range: [0, 1], label: "", ticks: [] },
        left,
        right: narrow ? 12 : 118,
        top: 4,
      });
      const letters = Math.floor((narrow ? width - 110 : left - 8) / 6.3);
      rows.forEach((row, n) => {
        const floor = 4 + gap + tall + n * (tall + gap);
        const x = chart.x(row.own);
        const said = row.count ? `${whole(row.below)} of ${whole(row.count)} lower` : "nothing compared";
        const name = shorten(`${row.member}  ${row.name}`, letters);
        chart.marks.append(
          svg("line", { x1: chart.inner.left, x2: chart.inner.right, y1: floor, y2: floor, class: "grid" }),
          ...(row.count ? bars(chart, row, floor, tall) : []).filter(Boolean),
          svg("line", { x1: x, x2: x, y1: floor - tall - 3, y2: floor + 3, class: "own" }),
          narrow
            ? svg("text", { x: chart.inner.left, y: floor - tall - 6, class: "band" }, name)
            : svg("text", { x: left - 8, y: floor - 6, "text-anchor": "end", class: "band" }, name),
          narrow
            ? svg("text", { x: chart.inner.right, y: floor - tall - 6, "text-anchor": "end" }, said)
            : svg("text", { x: chart.inner.right + 8, y: floor - 6 }, `${fixed(row.own)}; ${said}`),
        );
      });
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Normalized scores of this problem, and of different authors of the reference",
        ["Member", "Name", "This problem", "Reference: least", "Half below", "Greatest", "Lower than this problem"],
        rows.map((row) => [
          String(row.member),
          oneLine(row.name),
          fixed(row.own),
          fixed(row.quartiles[0]),
          fixed(row.quartiles[2]),
          fixed(row.quartiles[4]),
          row.count ? `${whole(row.below)} of ${whole(row.count)}` : "\u2013",
        ]),
      ),
  });
}

/** What each member says of one problem. */
function membersChart(members, together, scoreName) {
  const rows = members.filter((member) => known(member.score));
  const range = roomy(extent([...rows.map((member) => member.score), ...(known(together) ? [together] : [])]));
  return figure({
    level: 4,
    title: "What each member says",
    text: known(together)
      ? `The line is what they say together, ${fixed(together)}. Members that lie far from it speak for caution.`
      : "Members that lie far from the others speak for caution.",
    height: 62 + rows.length * 20,
    draw: (width, height) => {
      const chart = axes({
        width,
        height,
        x: { range, label: scoreName },
        y: { range: [0, 1], label: "", ticks: [] },
        left: Math.min(170, width * 0.42),
        top: 8,
      });
      const letters = Math.floor((chart.inner.left - 8) / 6.3);
      rows.forEach((member, n) => {
        const y = 20 + n * 20;
        chart.marks.append(
          svg("line", { x1: chart.inner.left, x2: chart.inner.right, y1: y, y2: y, class: "grid" }),
          svg(
            "text",
            { x: chart.inner.left - 8, y: y + 4, "text-anchor": "end" },
            shorten(`${member.member}  ${member.name}`, letters),
          ),
          mark(chart.x(member.score), y, "round", "neutral", `${oneLine(member.name)}: ${fixed(member.score)}`),
        );
      });
      if (known(together)) chart.marks.append(upright(chart, together, "own"));
      return chart.nodes;
    },
    table: () =>
      plainTable(
        "Members",
        ["Member", "Name", "Score"],
        members.map((member) => [String(member.member), oneLine(member.name), fixed(member.score)]),
      ),
  });
}

const NARROWEST = 2;
/** The scale on which log-likelihood ratios are drawn: the same on both sides, at least a hundredfold. */
const reachOf = (problems) =>
  Math.min(
    6,
    Math.max(
      NARROWEST,
      ...problems
        .flatMap((p) => [p.llr, p.low, p.high])
        .filter(known)
        .map(Math.abs),
    ),
  );

/** The evidence of one problem as a small bar from the middle, with its interval. */
function smallBar(problem, reach) {
  const llr = known(problem.llr);
  const width = 132;
  const within = (value) => Math.max(-1, Math.min(1, value)) * (width / 2 - 4) + width / 2;
  const at = llr ? within(problem.llr / reach) : within(problem.answer * 2 - 1);
  const kind = at > width / 2 ? "for" : "against";
  return svg(
    "svg",
    { viewBox: `0 0 ${width} 14`, width, height: 14, "aria-hidden": "true", class: "small-bar" },
    svg("line", { x1: 4, x2: width - 4, y1: 7, y2: 7, class: "grid" }),
    svg("rect", {
      x: Math.min(at, width / 2),
      width: Math.max(0.5, Math.abs(at - width / 2)),
      y: 3.5,
      height: 7,
      class: `fill ${problem.verdict === "undecided" ? "open" : kind}`,
    }),
    llr && known(problem.low)
      ? svg("path", {
          d: `M${within(problem.low / reach)} 3v8m0-4H${within(problem.high / reach)}m0-4v8`,
          class: "whisker",
        })
      : null,
    svg("line", { x1: width / 2, x2: width / 2, y1: 0, y2: 14, class: "zero" }),
  );
}

/** The evidence of one problem on a scale of how many times more it is to be expected on one side. */
function evidenceScale(problem, reach) {
  const times = (value) => (value === 0 ? "neither" : `${whole(10 ** Math.abs(value))}\u00d7`);
  const text =
    `Log-likelihood ratio ${signed(problem.llr)}` +
    (known(problem.low) ? `, interval ${signed(problem.low)} to ${signed(problem.high)}` : "") +
    ". To the left the findings are more likely if it was another author, to the right if it was the same.";
  return responsive((width, host) => {
    const ticks = [];
    for (let n = -Math.floor(reach); n <= Math.floor(reach); n += 1) ticks.push(n);
    const chart = axes({
      width,
      height: 84,
      x: {
        range: [-reach * 1.04, reach * 1.04],
        label: "how many times more it is to be expected",
        ticks,
        format: times,
      },
      top: 8,
      right: 14,
    });
    const middle = 28;
    const cut = (value) => chart.x(Math.max(-reach, Math.min(reach, value)));
    const kind = problem.verdict === "undecided" ? "open" : problem.llr > 0 ? "for" : "against";
    chart.marks.append(
      svg("text", { x: chart.inner.left, y: 16, class: "band" }, "another author"),
      svg("text", { x: chart.inner.right, y: 16, "text-anchor": "end", class: "band" }, "same author"),
      upright(chart, 0, "decision"),
    );
    if (known(problem.low))
      chart.marks.append(
        svg("rect", {
          x: cut(problem.low),
          width: Math.max(1, cut(problem.high) - cut(problem.low)),
          y: middle - 5,
          height: 10,
          rx: 5,
          class: `band-fill ${kind}`,
        }),
      );
    chart.marks.append(mark(cut(problem.llr), middle, kind === "against" ? "diamond" : "round", kind));
    host.replaceChildren(image(width, 84, "Strength of the evidence", text, chart.nodes));
  }, "host scale");
}
