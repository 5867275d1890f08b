// Input of authors with their texts: a folder for each, or one by one under a name.

import { button, el, named, newId, oneLine, plural, whole } from "./elements.js";
import { asAuthors, authorOf, dropJunk } from "./files.js";
import { fileList } from "./file_list.js";
import { announce } from "./announcements.js";
import { pickers, takeDrops, zone } from "./drop_zone.js";

const ORPHAN =
  "whose is it? Put it into a folder named after its author, call it Author_Title, or add the author by name and drop it there";

/** An author by name, with a place for their texts. */
function authorCard(draft, author, gone) {
  const heading = newId("author");
  const files = fileList(draft, `Texts by ${oneLine(author)}`, (entry) => entry.path.slice(author.length + 1));
  const take = ({ files: got }) =>
    draft.add(
      "candidates",
      dropJunk(got).files.map((item) => ({ ...item, path: `${author}/${item.path.split("/").pop()}` })),
    );
  const count = el("summary", {});
  const list = el("details", {}, count, files.element);
  const element = el(
    "section",
    { class: "author", "aria-labelledby": heading },
    el(
      "div",
      { class: "actions" },
      el("h3", { id: heading }, named(author)),
      pickers(take, { title: `texts by ${oneLine(author)}`, words: "Add texts", folders: false }),
      button(["Remove", el("span", { class: "unseen" }, " ", named(author))], gone, { class: "plain-button" }),
    ),
    list,
  );
  takeDrops(element, take);
  element.addEventListener("emptied", (event) => {
    event.stopPropagation();
    element.querySelector(".choose").focus();
  });
  return {
    element,
    update(entries) {
      files.update(entries);
      const signs = entries.reduce((total, entry) => total + (entry.told?.characters || 0), 0);
      list.hidden = !entries.length;
      count.textContent = `${plural(entries.length, "text")}, ${whole(signs)} characters`;
    },
  };
}

/** The authors of a draft: element, update(), count() of those that have texts, focus(). */
export function authorsPart(draft) {
  const cards = new Map();
  const added = new Set();
  const loose = fileList(draft, "Files without an author");
  const place = el("div", { class: "authors" });
  const name = el("input", { type: "text", id: newId("author"), autocomplete: "off", maxlength: 100 });
  const wrong = el("p", { class: "why", role: "alert" });

  function add(event) {
    event?.preventDefault();
    const author = name.value.trim().normalize();
    wrong.textContent = "";
    if (!author || /[/\\]/.test(author) || author === "." || author === "..") {
      wrong.textContent = author ? "A name can\u2019t have / or \\ in it." : "Give the author\u2019s name first.";
      name.focus();
      return;
    }
    added.add(author);
    name.value = "";
    update();
    announce(`${author} added: now choose or drop their texts.`);
    cards.get(author).element.querySelector(".choose").focus();
  }

  function remove(author, entries) {
    added.delete(author);
    draft.remove(entries);
    announce(`${oneLine(author)} removed.`);
    update();
    name.focus();
  }

  const drop = zone(draft, {
    role: "candidates",
    title: "The authors and their texts",
    about:
      "A folder with a folder for each author, several authors\u2019 folders, files called Author_Title, or a zip of those. Or add authors one by one below.",
    shape: (files) => asAuthors(files).map((item) => (item.orphan ? { ...item, error: ORPHAN } : item)),
    paste: false,
    hint: "Drop authors\u2019 folders here",
    list: { element: loose.element, update: () => update() },
    extra: el(
      "div",
      { class: "add-author" },
      el("label", { class: "control", for: name.id }, "An author\u2019s name", name),
      button("Add this author", add),
      wrong,
    ),
  });
  name.addEventListener("keydown", (event) => event.key === "Enter" && add(event));
  drop.element.append(place);

  function update() {
    const groups = new Map([...added].map((author) => [author, []]));
    const rest = [];
    for (const entry of draft.of("candidates")) {
      const author = entry.state === "refused" ? "" : authorOf(entry.path);
      if (!author) rest.push(entry);
      else if (groups.has(author)) groups.get(author).push(entry);
      else groups.set(author, [entry]);
    }
    loose.update(rest);
    for (const [author, card] of cards) {
      if (groups.has(author)) continue;
      card.element.remove();
      cards.delete(author);
    }
    for (const [author, entries] of groups) {
      if (!cards.has(author)) {
        const card = authorCard(draft, author, () =>
          remove(
            author,
            draft.of("candidates").filter((entry) => authorOf(entry.path) === author),
          ),
        );
        cards.set(author, card);
        place.append(card.element);
      }
      cards.get(author).update(entries);
    }
  }

  return {
    element: drop.element,
    update,
    focus: () => drop.focus(),
    /** How many authors there are; a table is not looked into, and may hold any number. */
    count() {
      const ready = draft.ready("candidates");
      if (ready.some((entry) => entry.told.kind === "other")) return Infinity;
      return new Set(ready.map((entry) => authorOf(entry.path)).filter(Boolean)).size;
    },
  };
}
