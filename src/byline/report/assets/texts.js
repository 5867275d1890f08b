// Texts with their evidence: words in color, a curve along each text, passages, and what can't be shown by word.

const LEVELS = 5;

/** From 0, too weak to be colored, to 5. */
const levelOf = (bits, scale) => Math.min(LEVELS, Math.round((Math.abs(bits) / (scale || 1)) * LEVELS));
const kindOf = (bits) => (bits > 0 ? "for" : "against");
/** How many decimals tell values of this size apart. */
const decimals = (size) => (size >= 1 ? 1 : size >= 0.1 ? 2 : size >= 0.01 ? 3 : 4);

/**
 * What colors mean. sides: {for, against}, in words that end a sentence.
 */
function colorLegend(scale, sides) {
  const swatch = (kind, level) =>
    el(
      "span",
      { class: `w ${kind} l${level}` },
      fixed((scale * level) / LEVELS, decimals(scale)),
    );
  const row = (kind) =>
    el(
      "li",
      {},
      el(
        "span",
        { class: "swatches" },
        [1, 2, 3, 4, 5].map((level) => swatch(kind, level)),
      ),
      el("span", {}, kind === "for" ? `${sides.for}: blue, underlined` : `${sides.against}: orange, dotted`),
    );
  return el(
    "div",
    { class: "color-legend" },
    el(
      "p",
      {},
      `Bits by which a word speaks for a side; ${fixed(scale, decimals(scale))} and more is full color, words without color say little.`,
    ),
    el("ul", {}, row("for"), row("against")),
  );
}

/** The passages that both sides share, each a button that goes to its place, and what marks them in the texts. */
function sharedPassages(shared, panels, documents) {
  if (!shared.length) return null;
  return el(
    "div",
    { class: "quoted-passages" },
    passageList("Passages that both sides share", shared, panels, documents),
    el(
      "p",
      { class: "meta" },
      "In the texts below they are ",
      el("span", { class: "quoted" }, "marked by a dashed line above"),
      ". A quotation or a copy is no evidence of authorship, whatever its colors say.",
    ),
  );
}

/** What is said of a word when it is pointed at. */
function wordNote(word, [, , bits, agreement, guess], signs, sides, others, shared) {
  const side = bits > 0 ? sides.for : sides.against;
  const lines = [
    el("p", { class: "tip-word" }, el("bdi", {}, shorten(word, 60))),
    el("p", {}, el("b", {}, `${fixed(Math.abs(bits))} bits`), Math.abs(bits) < 0.005 ? "" : ` ${side}`),
    known(agreement) ? el("p", {}, `${percent(agreement)} of the members agree on the side`) : null,
  ];
  if (shared) lines.push(el("p", {}, "Part of a passage that both sides share: no evidence of authorship"));
  if (guess) {
    const [offset, expected] = guess;
    const before = oneLine(signs.slice(Math.max(0, offset - 12), offset).join(""));
    lines.push(
      el(
        "p",
        { class: "tip-guess" },
        `The sign that says most here is \u201c${spelled(signs[offset])}\u201d. By a plain count of letters in ${others} alone, what follows \u201c${before}\u201d would be`,
      ),
      el(
        "ul",
        { class: "guesses" },
        expected.map(([sign, share]) => el("li", {}, el("b", {}, spelled(sign)), ` ${percent(share)}`)),
      ),
      el(
        "p",
        { class: "tip-guess" },
        "The bits come from the members, not from this count: they say whether this author is likelier than others to write it, however likely that is.",
      ),
    );
  }
  return lines.filter(Boolean);
}

const SIGN_NAMES = { " ": "a space", "\n": "a line end", "\t": "a tab", "": "an end" };
const spelled = (sign) =>
  known(sign) ? (Object.hasOwn(SIGN_NAMES, sign) ? SIGN_NAMES[sign] : visible(sign)) : "nothing";

/** A text as spans, with `light(begin, end)`, which marks a passage and brings it into view. */
function coloredText(source, { scale, sides, others, language, label }) {
  const signs = Array.from(source.text);
  const words = [];
  const pieces = [];
  const shared = source.shared || [];
  const edges = shared.flatMap(({ begin, end }) => [begin, end]).sort((one, other) => one - other);
  const isShared = (begin, end) => shared.some((passage) => passage.begin < end && passage.end > begin);
  let done = 0;
  const gap = (end) => {
    if (end <= done) return;
    for (const cut of [...edges.filter((edge) => edge > done && edge < end), end]) {
      const mark = { class: isShared(done, cut) ? "quoted" : null };
      pieces.push({ begin: done, end: cut, node: el("span", mark, visible(signs.slice(done, cut).join(""))) });
      done = cut;
    }
  };
  for (const entry of source.words || []) {
    const [begin, end, bits] = entry;
    if (begin < done || end <= begin || end > signs.length) continue;
    gap(begin);
    const level = levelOf(bits, scale);
    const node = el(
      "span",
      { class: `w${level ? ` ${kindOf(bits)} l${level}` : ""}${isShared(begin, end) ? " quoted" : ""}` },
      visible(signs.slice(begin, end).join("")),
    );
    words.push({ begin, end, node, entry, level });
    pieces.push({ begin, end, node });
    done = end;
  }
  gap(signs.length);
  const numberOf = new Map(words.map(({ node }, n) => [node, n]));
  const hint = newId("hint");
  const text = el(
    "div",
    {
      class: "text",
      role: "group",
      "aria-label": label,
      "aria-describedby": words.length ? hint : null,
      lang: language,
      tabindex: words.length ? null : "0",
    },
    pieces.map(({ node }) => node),
  );
  let current = 0;

  function tell(n) {
    const { node, entry, begin, end } = words[n];
    showTip(node, wordNote(signs.slice(begin, end).join(""), entry, signs, sides, others, isShared(begin, end)));
  }

  function go(n, quiet) {
    if (!words.length) return;
    words[current].node.removeAttribute("tabindex");
    current = Math.max(0, Math.min(words.length - 1, n));
    const { node } = words[current];
    node.setAttribute("tabindex", "0");
    node.focus({ preventScroll: true });
    if (quiet) return;
    node.scrollIntoView({ block: "nearest" });
    tell(current);
  }

  /** The word below or above the current one. */
  function line(way) {
    const from = words[current].node.getBoundingClientRect();
    let best = null;
    for (let n = current + way; n >= 0 && n < words.length; n += way) {
      const box = words[n].node.getBoundingClientRect();
      const apart = way * (box.top - from.top);
      if (apart < from.height * 0.6) continue;
      if (best && Math.abs(box.top - best.top) > from.height * 0.6) break;
      const off = Math.abs(box.left - from.left);
      if (!best || off < best.off) best = { n, off, top: box.top };
    }
    return best ? best.n : current;
  }

  const strong = (way) => {
    for (let n = current + way; n >= 0 && n < words.length; n += way) if (words[n].level >= 3) return n;
    return current;
  };
  const moves = {
    ArrowRight: () => current + 1,
    ArrowLeft: () => current - 1,
    ArrowDown: () => line(1),
    ArrowUp: () => line(-1),
    Home: () => 0,
    End: () => words.length - 1,
    n: () => strong(1),
    p: () => strong(-1),
  };
  if (words.length) {
    words[0].node.setAttribute("tabindex", "0");
    text.addEventListener("keydown", (event) => {
      if (!Object.hasOwn(moves, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      go(moves[event.key]());
    });
    const over = (event) => numberOf.get(event.target);
    text.addEventListener("pointerover", (event) => {
      if (known(over(event))) tell(over(event));
    });
    text.addEventListener("pointerout", (event) => {
      if (known(over(event))) hideTipSoon();
    });
    text.addEventListener("click", (event) => {
      if (known(over(event))) go(over(event));
    });
    text.addEventListener("focusin", (event) => {
      if (known(over(event)) && event.target.matches(":focus-visible")) tell(over(event));
    });
    text.addEventListener("focusout", hideTip);
  }

  function show(begin, end) {
    text.querySelectorAll(".lit").forEach((node) => node.classList.remove("lit"));
    const inside = pieces.filter((piece) => piece.end > begin && piece.begin < end);
    if (!inside.length) return;
    const behavior = CALM.matches ? "auto" : "smooth";
    inside[0].node.scrollIntoView({ block: "center", behavior });
    const first = words.findIndex((word) => word.end > begin);
    if (first >= 0) go(first, true);
    return inside;
  }

  const light = (begin, end) => (show(begin, end) || []).forEach(({ node }) => node.classList.add("lit"));
  const note = words.length
    ? el(
        "p",
        { id: hint, class: "hint" },
        "Arrow keys move by word and by line, N and P to the next and the previous strong word.",
      )
    : null;
  return { text, note, light, show, signs, words };
}

/** A curve along a text: above the line it speaks for one side, below for the other. A click goes to the place. */
function curveAlong(curve, length, title, go) {
  const [low, high] = extent(curve.map(([, value]) => value));
  const text = `Bits per character along the text, smoothed: from ${signed(low, 3)} to ${signed(high, 3)}; highest at character ${whole(curve.find(([, value]) => value === high)[0])}, lowest at ${whole(curve.find(([, value]) => value === low)[0])}.`;
  return responsive((width, host) => {
    const [tall, floor] = [66, 51];
    const [top, bottom] = [Math.max(0, high), Math.min(0, low)];
    const x = (place) => 1 + (place / Math.max(1, length)) * (width - 2);
    const y = (value) => 3 + ((top - value) / (top - bottom || 1)) * (floor - 3);
    const middle = y(0);
    const points = curve.map(([place, value]) => [x(place), y(value)]);
    const area = `${pathOf(points)}L${points.at(-1)[0].toFixed(1)} ${middle}L${points[0][0].toFixed(1)} ${middle}Z`;
    const clips = [newId("above"), newId("below")];
    const picture = image(
      width,
      tall,
      title,
      text,
      [
        svg("clipPath", { id: clips[0] }, svg("rect", { x: 0, y: 0, width, height: middle })),
        svg("clipPath", { id: clips[1] }, svg("rect", { x: 0, y: middle, width, height: floor - middle })),
        svg("path", { d: area, class: "area for", "clip-path": `url(#${clips[0]})` }),
        svg("path", { d: area, class: "area against", "clip-path": `url(#${clips[1]})` }),
        svg("line", { x1: 0, x2: width, y1: middle, y2: middle, class: "zero" }),
        svg("path", { d: pathOf(points), class: "line curve" }),
        svg(
          "g",
          { class: "axes" },
          svg("text", { x: 1, y: tall - 3 }, "0"),
          svg(
            "text",
            { x: width / 2, y: tall - 3, "text-anchor": "middle" },
            [low, high].map((value) => signed(value, decimals(high - low))).join(" to ") + " bits per character",
          ),
          svg("text", { x: width - 1, y: tall - 3, "text-anchor": "end" }, whole(length)),
        ),
      ],
      "chart curve-along",
    );
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      go(Math.round(((event.clientX - box.left) / box.width) * length));
    });
    host.replaceChildren(picture);
  }, "host");
}

/** One document with its curve; {element, light}. */
function documentPanel(source, options) {
  const { role, name } = source;
  const shown = coloredText(source, { ...options, label: `Text of ${oneLine(name)}` });
  const total = source.bits;
  const element = el(
    "article",
    { class: `document ${role || ""}` },
    el(
      "header",
      {},
      el("h4", {}, role ? el("span", { class: "role" }, role) : null, named(name)),
      el(
        "p",
        { class: "meta" },
        plural(shown.signs.length, "character"),
        known(total)
          ? `, together ${fixed(Math.abs(total), 1)} bits ${total > 0 ? options.sides.for : options.sides.against}`
          : "",
        source.scale ? `; full color from ${fixed(source.scale, decimals(source.scale))} bits on` : "",
      ),
    ),
    source.curve && source.curve.length > 1
      ? curveAlong(source.curve, shown.signs.length, `Evidence along ${oneLine(name)}`, (place) =>
          shown.light(Math.max(0, place - 60), place + 60),
        )
      : null,
    shown.words.length ? null : el("p", { class: "note" }, "These members judged no words of this text."),
    shown.text,
    shown.note,
  );
  return { element, ...shown };
}

/** The strongest passages of one side, each a button that goes to its place. */
function passageList(title, passages, panels, documents) {
  return el(
    "div",
    { class: "card" },
    el("h4", {}, title),
    passages.length
      ? el(
          "ol",
          { class: "passages" },
          passages.map((passage) => {
            const panel = panels[passage.document];
            const excerpt = panel ? shorten(panel.signs.slice(passage.begin, passage.end).join("").trim(), 180) : "";
            return el(
              "li",
              {},
              el(
                "button",
                { type: "button", class: "passage", click: () => panel && panel.light(passage.begin, passage.end) },
                known(passage.bits)
                  ? el("span", { class: `bits ${kindOf(passage.bits)}` }, `${fixed(Math.abs(passage.bits), 1)} bits`)
                  : null,
                el("bdi", { class: "excerpt" }, excerpt),
                el(
                  "span",
                  { class: "meta" },
                  documents[passage.document] ? oneLine(documents[passage.document].name) : "",
                  `, character ${whole(passage.begin + ((panel && panel.offset) || 0))}`,
                  known(passage.agreement) ? `, ${percent(passage.agreement)} of members agree` : "",
                ),
              ),
            );
          }),
        )
      : el("p", {}, "None that stands out."),
  );
}

/** The words that weigh most, as a table: the colored texts for those who don't see them. */
function strongestWords(panels, documents, sides) {
  const all = panels.flatMap((panel, n) => panel.words.map((word) => ({ ...word, bits: word.entry[2], document: n })));
  const pick = (way) =>
    all
      .filter(({ bits }) => way * bits > 0)
      .sort((one, other) => way * (other.bits - one.bits))
      .slice(0, 15);
  const rows = (way) =>
    pick(way).map((word) => [
      el("bdi", {}, shorten(panels[word.document].signs.slice(word.begin, word.end).join(""), 40)),
      fixed(Math.abs(word.bits)),
      percent(word.entry[3]),
      named(documents[word.document].name),
      whole(word.begin + (panels[word.document].offset || 0)),
    ]);
  const heads = ["Word", "Bits", "Members that agree", "Text", "At character"];
  return all.length
    ? folded(
        "The strongest words as a table",
        el(
          "div",
          { class: "pair" },
          plainTable(`Words ${sides.for}`, heads, rows(1)),
          plainTable(`Words ${sides.against}`, heads, rows(-1)),
        ),
      )
    : null;
}

/** Features of engines whose values are not sums over the words. */
function featureTables(features, sides) {
  if (!features || !features.length) return null;
  const list = (title, entries, unit) =>
    el(
      "div",
      {},
      el("h5", {}, title),
      entries.length
        ? el(
            "ul",
            { class: "features" },
            entries.map(([feature, weight]) =>
              el(
                "li",
                {},
                el("code", {}, el("bdi", {}, oneLine(feature).replace(/ /g, "\u00b7"))),
                el("span", {}, `${signed(weight, Math.abs(weight) < 0.001 ? 5 : Math.abs(weight) < 0.01 ? 4 : 3)} ${unit}`),
              ),
            ),
          )
        : el("p", {}, "None."),
    );
  return el(
    "section",
    { class: "card" },
    el("h4", {}, "What does not add up word by word"),
    el(
      "p",
      {},
      "These members compare texts as wholes. What they say can't be divided over the words and is in none of the colors above; these are the features that weigh most in their comparison. They are not bits, and they don't add up to a score. A dot stands for a space, 7 for any digit, \u00b9 for a capital that follows, * for a letter of a masked word.",
    ),
    features.map((entry) =>
      el(
        "div",
        { class: "feature-pair" },
        el("p", { class: "member" }, oneLine(entry.member)),
        list(sides.for, entry.for, oneLine(entry.unit)),
        list(sides.against, entry.against, oneLine(entry.unit)),
      ),
    ),
  );
}

const COLORS_NOTE =
  "The colors explain how the score came about. They are a description of these texts, not marks of an author, and no single word or passage decides anything. Bits are not the weight of evidence: other texts gain bits with this author too, and the answer is made of how far this one stands out from them. They can't be compared between problems or runs.";

/**
 * All that a packed holds: texts side by side, passages, words, features. others: whose texts guesses at a document come
 * from, or a function of the document; note: what the colors mean.
 */
function evidence(texts, { sides, language, others, roles = true, note = COLORS_NOTE }) {
  const documents = texts.documents;
  const shared = texts.shared || [];
  const panels = documents.map((each, n) => {
    const source = { ...each, shared: shared.filter(({ document }) => document === n) };
    return documentPanel(roles ? source : { ...source, role: null }, {
      scale: source.scale || texts.scale,
      sides,
      language,
      others:
        (typeof others === "function" ? others(source) : others) ||
        (source.role === "unknown" ? "the known texts" : "the unknown text"),
    });
  });
  const column = (role) =>
    documents
      .map((source, n) => [source, panels[n].element])
      .filter(([source]) => ["unknown", "other"].includes(source.role) === role)
      .map(([, element]) => element);
  const [left, right] = [column(false), column(true)];
  const passages = texts.passages || [];
  const best = (way) =>
    passages.filter(({ bits }) => way * bits > 0).sort((one, other) => way * (other.bits - one.bits));
  /** Documents with a scale of their own stand there to compare with. */
  const inQuestion = (_, n) => !documents[n].scale;
  const colored = documents.some((source) => source.words && source.words.length);
  return el(
    "div",
    { class: "evidence" },
    colored
      ? el(
          "p",
          { class: "meta" },
note,
        )
      : null,
    passages.length
      ? el(
          "div",
          { class: "pair" },
          passageList(`Strongest passages ${sides.for}`, best(1), panels, documents),
          passageList(`Strongest passages ${sides.against}`, best(-1), panels, documents),
        )
      : null,
    sharedPassages(shared, panels, documents),
    colored ? colorLegend(texts.scale, sides) : null,
    el(
      "div",
      { class: left.length && right.length ? "texts two" : "texts" },
      left.length ? el("div", {}, left) : null,
      right.length ? el("div", { class: "stay" }, right) : null,
    ),
    strongestWords(panels.filter(inQuestion), documents.filter(inQuestion), sides),
    featureTables(texts.features, sides),
  );
}
