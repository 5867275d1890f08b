// Tables: plain ones, and those that are sorted by any column and filtered.

/** A table of cells, without ado. */
function plainTable(caption, heads, rows, kind) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      { class: kind },
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell, place) =>
              el(
                place ? "td" : "th",
                { scope: place ? null : "row", class: typeof cell === "string" ? null : "rich" },
                cell,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Numbers before words, what is missing last, whichever way the order goes. */
function compare(one, other, way) {
  if (!known(one) || !known(other)) return known(one) ? -1 : known(other) ? 1 : 0;
  if (typeof one === "number" && typeof other === "number") return way * (one - other);
  return way * String(one).localeCompare(String(other), "en", { numeric: true });
}

/**
 * A table that is sorted by the buttons in its head, with a box that filters by words and lists that filter by choice.
 *
 * columns: {title, value(row), cell(row), kind, first: "descending" if that is the first order, narrow: false to leave
 * it out on narrow screens}; choices: {label, options: [[text, test(row)]]}; words(row): what the box looks through.
 * Rows are hidden and moved, never made anew, so what has the focus keeps it.
 */
function sortedTable({ caption, noun, columns, rows, words, choices = [], sortedBy = 0, kind = "" }) {
  const lines = rows.map((row) => ({
    row,
    text: words(row).join("\n").toLowerCase(),
    line: el(
      "tr",
      {},
      columns.map((column, place) =>
        el(
          place ? "td" : "th",
          {
            scope: place ? null : "row",
            class: [column.kind, column.narrow === false ? "wide" : null].filter(Boolean).join(" ") || null,
          },
          column.cell(row),
        ),
      ),
    ),
  }));
  const state = { column: sortedBy, way: columns[sortedBy].first === "descending" ? -1 : 1 };
  const body = el("tbody", {});
  const status = el("p", { role: "status", class: "status" });
  const heads = columns.map((column, place) =>
    el(
      "th",
      {
        scope: "col",
        class: [column.kind, column.narrow === false ? "wide" : null].filter(Boolean).join(" ") || null,
      },
      el("button", { type: "button", class: "sort", click: () => sort(place) }, el("span", {}, column.title)),
    ),
  );
  const box = el("input", {
    type: "search",
    id: newId("filter"),
    autocomplete: "off",
    spellcheck: "false",
    input: filter,
  });
  const lists = choices.map((choice) =>
    el(
      "select",
      { id: newId("choice"), change: filter },
      choice.options.map(([text], place) => el("option", { value: String(place) }, text)),
    ),
  );

  function sort(place) {
    const first = columns[place].first === "descending" ? -1 : 1;
    state.way = state.column === place ? -state.way : first;
    state.column = place;
    arrange();
    say();
  }

  function arrange() {
    const { value } = columns[state.column];
    lines.forEach((line) => {
      line.key = value(line.row);
    });
    lines.sort((one, other) => compare(one.key, other.key, state.way));
    body.append(...lines.map(({ line }) => line));
    heads.forEach((head, place) => {
      if (place === state.column) head.setAttribute("aria-sort", state.way > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  function filter() {
    const wanted = box.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const tests = lists.map((list, place) => choices[place].options[Number(list.value)][1]).filter(Boolean);
    for (const { row, text, line } of lines) {
      line.hidden = !(wanted.every((word) => text.includes(word)) && tests.every((test) => test(row)));
    }
    say();
  }

  function say() {
    const shown = lines.filter(({ line }) => !line.hidden).length;
    const count = shown === lines.length ? plural(shown, noun) : `${whole(shown)} of ${plural(lines.length, noun)}`;
    status.textContent =
      `${count} shown, sorted by ${columns[state.column].title.toLowerCase()}, ` +
      `${state.way > 0 ? "ascending" : "descending"}.`;
  }

  arrange();
  say();
  const label = (control, text) => el("div", { class: "control" }, el("label", { for: control.id }, text), control);
  const form = el(
    "form",
    {
      class: "controls",
      role: "search",
      "aria-label": `Filter: ${caption}`,
      submit: (event) => event.preventDefault(),
    },
    label(box, "Find"),
    lists.map((list, place) => label(list, choices[place].label)),
    status,
  );
  const element = el(
    "div",
    {},
    lines.length > 1 ? form : null,
    el(
      "div",
      { class: `scroll ${kind}`, tabindex: "0", role: "region", "aria-label": caption },
      el("table", { class: "sorted" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body),
    ),
  );
  return { element, order: () => lines.filter(({ line }) => !line.hidden).map(({ row }) => row) };
}
