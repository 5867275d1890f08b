// The parts that every page has, and the way between the overview and what is opened from it.

const hashOf = (id) => `#${encodeURIComponent(String(id).toWellFormed ? String(id).toWellFormed() : String(id))}`;

function currentId() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

function store(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // storage may be forbidden, as in a private window: the choice then holds for this page only
  }
  return null;
}

/** The button that changes between light and dark; the system's own choice holds until it is used. */
function themeButton() {
  const dark = () =>
    (document.documentElement.dataset.theme ||
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = el("button", {
    type: "button",
    class: "theme",
    click: () => {
      document.documentElement.dataset.theme = dark() ? "light" : "dark";
      store("byline-theme", document.documentElement.dataset.theme);
      say();
      redrawAll();
    },
  });
  const say = () => {
    button.textContent = dark() ? "Light colors" : "Dark colors";
  };
  const kept = store("byline-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    say();
    redrawAll();
  });
  say();
  return button;
}

/** How wide a drawing is on paper: all of it, a column of a text, or one of three side by side. */
const paperWidth = (host) => (host.closest(".document") ? 310 : host.closest(".grid > :not(.broad)") ? 205 : 660);

/** Paper is light, and what is folded is printed open. */
function preparePrinting() {
  let before = null;
  window.addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")].filter((one) =>
      one.closest(".problem, #s-provenance"),
    );
    before = { theme: document.documentElement.dataset.theme, closed };
    document.documentElement.dataset.theme = "light";
    closed.forEach((one) => {
      one.open = true;
    });
    redrawAll(paperWidth);
  });
  window.addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme) document.documentElement.dataset.theme = before.theme;
    else delete document.documentElement.dataset.theme;
    before.closed.forEach((one) => {
      one.open = false;
    });
    before = null;
    redrawAll();
  });
}

/** Warnings: a few in the open, many folded. */
function warningsBox(warnings, level = 3) {
  if (!warnings || !warnings.length) return null;
  const list = bullets(warnings);
  return el(
    "div",
    { class: "note warning" },
    el(level === 3 ? "h3" : "h4", {}, warnings.length === 1 ? "A warning" : `${warnings.length} warnings`),
    warnings.length > 6 ? folded("Show them", list) : list,
  );
}

const limitsBox = (limits) =>
  limits && limits.length
    ? el("div", { class: "note limits" }, el("h3", {}, "How far this goes"), bullets(limits))
    : null;

/** The head, the way through the page and its foot; parts are sections. */
function frame(report, parts) {
  const main = document.getElementById("s-main");
  const head = document.querySelector(".masthead");
  head.append(
    el(
      "p",
      { class: "meta" },
      `From ${oneLine(report.source)}, made ${oneLine(report.made)} by Byline ${oneLine(report.byline)}`,
    ),
  );
  const overview = el("div", { class: "overview" }, parts);
  const sections = [...overview.querySelectorAll(":scope > section")];
  head.append(
    el(
      "div",
      { class: "topbar" },
      el(
        "nav",
        { "aria-label": "Parts of the report" },
        el(
          "ul",
          {},
          sections.map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent))),
        ),
      ),
      themeButton(),
    ),
  );
  main.append(overview);
  document.body.append(
    el(
      "footer",
      {},
      el(
        "p",
        {},
        "Evidence of authorship is a matter of degree. Nothing in this report is proof, and it should not be the only ground of a decision about a person.",
      ),
    ),
  );
  preparePrinting();
  return { main, overview };
}

/**
 * Opening by the address: #EN001 shows what open(entry) makes in place of the overview; the back button goes back.
 * entries: a Map by id; order(): how they follow each other; alone: there is one only, which is open unless the address
 * names a part of the overview.
 */
function openable({ main, overview }, { entries, order, noun, allText, idOf, open, alone = false }) {
  const place = el("section", { class: "problem", id: "s-problem", hidden: true });
  main.append(place);
  let opened = null;
  let left = 0;

  function close() {
    const id = opened;
    opened = null;
    hideTip();
    forget(place);
    place.replaceChildren();
    place.hidden = true;
    document.body.classList.remove("reading");
    document.title = title;
    const link = [...overview.querySelectorAll("a.open")].find((one) => one.dataset.id === id);
    window.scrollTo(0, left);
    if (link) link.focus({ preventScroll: true });
  }

  function turn() {
    const id = currentId() || (alone ? [...entries.keys()][0] : "");
    const entry = id ? entries.get(id) : null;
    if (!entry) {
      if (opened !== null) close();
      if (id && document.getElementById(id)) document.getElementById(id).scrollIntoView();
      return;
    }
    if (opened === id) return;
    if (opened === null) left = window.scrollY;
    opened = id;
    hideTip();
    forget(place);
    const rows = order();
    const n = rows.indexOf(entry);
    const beside = (other, text) =>
      other ? el("a", { href: hashOf(idOf(other)) }, text, " ", named(shorten(idOf(other), 24))) : el("span", {});
    const heading = el("h2", { tabindex: "-1", id: "s-problem-title" }, named(id));
    place.replaceChildren(
      el(
        "nav",
        { class: "beside", "aria-label": `Other ${noun}s` },
        el("a", { href: alone ? `#${overview.querySelector("section").id}` : "#", class: "back" }, allText),
        beside(n >= 0 ? rows[n - 1] : null, "Previous:"),
        beside(n >= 0 ? rows[n + 1] : null, "Next:"),
      ),
      heading,
      ...open(entry).filter(Boolean),
    );
    place.setAttribute("aria-labelledby", heading.id);
    place.hidden = false;
    document.body.classList.add("reading");
    document.title = `${oneLine(id)}: ${title}`;
    window.scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }

  const { title } = document;
  window.addEventListener("hashchange", turn);
  turn();
}

/** A link that opens an entry. */
function openLink(id) {
  const link = el("a", { class: "open", href: hashOf(id) }, named(id));
  link.dataset.id = id;
  return link;
}

/** The texts of an entry, unpacked only now; what stands there until then, or if that fails. */
function unpacked(packed, show) {
  const place = el("div", { "aria-busy": "true" }, el("p", { class: "meta" }, "Unpacking the texts."));
  if (!packed) {
    place.removeAttribute("aria-busy");
    place.replaceChildren(el("p", { class: "note" }, "The texts and their evidence were not kept for this report."));
    return place;
  }
  unpack(packed)
    .then(
      (texts) => place.replaceChildren(show(texts)),
      (error) =>
        place.replaceChildren(
          el(
            "p",
            { class: "note", role: "alert" },
            error instanceof SyntaxError || error instanceof TypeError || error instanceof DOMException
              ? "The texts in this file are damaged and can't be shown."
              : error.message,
          ),
        ),
    )
    .finally(() => place.removeAttribute("aria-busy"));
  return place;
}
