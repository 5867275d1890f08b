// A zone to drop files on. It also has buttons to choose files and takes pasted text.

import { button, el, newId, plural } from "./elements.js";
import { asTexts, chosen, dropped, dropJunk } from "./files.js";
import { fileList } from "./file_list.js";
import { announce } from "./announcements.js";

/** Files that are looked at in a drop; the server's own limit comes after it. */
const MOST = 20_000;

/** Make an element take what is dropped on it: take({files, failed}). */
export function takeDrops(element, take) {
  let depth = 0;
  const over = (now) => element.classList.toggle("over", now);
  const files = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  element.addEventListener("dragenter", (event) => {
    if (!files(event)) return;
    depth += 1;
    over(true);
  });
  element.addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (!depth) over(false);
  });
  element.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    event.stopPropagation();
    event.dataTransfer.dropEffect = "copy";
  });
  element.addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    event.stopPropagation();
    depth = 0;
    over(false);
    take(await dropped(event.dataTransfer, MOST));
  });
}

/** Buttons that choose files, or a folder, and their inputs. */
export function pickers(take, { title, words = "Choose files", folders = true, describedBy }) {
  const input = (attributes) => {
    const node = el("input", { type: "file", hidden: true, ...attributes, "aria-label": title });
    node.addEventListener("change", () => {
      take(chosen(node));
      node.value = "";
    });
    return node;
  };
  const files = input({ multiple: true, class: "pick-files" });
  const folder = folders ? input({ webkitdirectory: true, class: "pick-folder" }) : null;
  const whose = () => el("span", { class: "unseen" }, `: ${title}`);
  return [
    button([words, whose()], () => files.click(), {
      class: "choose",
      "aria-describedby": describedBy,
    }),
    folder ? button(["Choose a folder", whose()], () => folder.click()) : null,
    files,
    folder,
  ];
}

/** A box to paste a text into, which then is a file like others. */
function pasteBox(take, title) {
  const text = el("textarea", { rows: 6, spellcheck: "false", id: newId("paste") });
  const name = el("input", { type: "text", id: newId("name"), autocomplete: "off", placeholder: "pasted text" });
  const add = () => {
    if (!text.value.trim()) {
      announce("There is no text to add yet.");
      text.focus();
      return;
    }
    const stem =
      name.value
        .replace(/[/\\]/g, "-")
        .replace(/^[\s.]+/, "")
        .trim() || "pasted text";
    const path = /\.[a-z]{2,5}$/i.test(stem) ? stem.replace(/\.[^.]*$/, ".txt") : `${stem}.txt`;
    take({ files: [{ path, file: new File([text.value], path, { type: "text/plain" }) }], failed: [] });
    text.value = "";
    name.value = "";
    text.focus();
  };
  return el(
    "details",
    { class: "paste" },
    el("summary", {}, "Or paste a text", el("span", { class: "unseen" }, `: ${title}`)),
    el("label", { class: "control", for: text.id }, "Text", text),
    el(
      "div",
      { class: "actions" },
      el("label", { class: "control", for: name.id }, "Its name, if it has one", name),
      button("Add this text", add),
    ),
  );
}

/** What is worth saying of files that were left out on the way. */
function leftOut({ failed }, junk, twice) {
  return [
    junk ? `${plural(junk, "hidden file")} left out (such as .DS_Store or Thumbs.db).` : "",
    twice ? `${plural(twice, "file was", "files were")} there already.` : "",
    failed.length ? `${plural(failed.length, "file or folder", "files or folders")} could not be opened.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * A zone for the files of a role. shape: what the folders of what is dropped mean.
 * extra: what stands between the buttons and the list; list: the list itself, if it is not the usual one.
 */
export function zone(draft, { role, title, about, level = "h2", shape = asTexts, paste = true, hint, list, extra }) {
  const heading = newId("zone");
  const words = newId("about");
  const said = el("p", { class: "meta said" });
  const files = list || fileList(draft, title);
  const element = el("section", { class: "zone", "aria-labelledby": heading, "data-role": role });

  async function take(got) {
    const { files: useful, junk } = dropJunk(got.files);
    const twice = await draft.add(role, shape(useful));
    said.textContent = got.files.length || got.failed.length ? leftOut(got, junk, twice) : "That folder is empty.";
    if (said.textContent) announce(said.textContent);
  }

  element.append(
    el(level, { id: heading }, title),
    about ? el("p", { class: "about", id: words }, about) : "",
    el(
      "div",
      { class: "drop" },
      el("p", { class: "drop-text" }, hint || "Drop files or a folder here"),
      el("div", { class: "actions" }, pickers(take, { title, describedBy: about ? words : null })),
    ),
    paste ? pasteBox(take, title) : "",
    extra || "",
    said,
    files.element,
  );
  takeDrops(element, take);
  element.addEventListener("emptied", () => element.querySelector(".choose").focus());
  const update = () => files.update(draft.of(role));
  return { element, update, focus: () => element.querySelector(".choose").focus() };
}
