// The first view: the tasks, the examples, and the active runs.

import { button, capital, duration, el, named, newId, oneLine, plural, visible } from "./elements.js";
import { addJob, isActive, knownJobs, watch } from "./jobs.js";
import { ask, stateOf } from "./server.js";
import { STATES, TASKS } from "./task_texts.js";

function taskCard([task, { title, short }]) {
  return el("li", { class: "card task" }, el("h2", {}, el("a", { href: `#new=${task}` }, title)), el("p", {}, short));
}

function exampleRow(example) {
  const wrong = el("p", { class: "why", role: "alert" });
  const title = newId("example");
  const run = button("Try it", begin, { "aria-describedby": title });
  async function begin() {
    run.disabled = true;
    wrong.textContent = "";
    try {
      const job = await ask(`api/examples/${encodeURIComponent(example.task)}`, { method: "POST" });
      addJob(job);
      location.hash = `job=${job.id}`;
    } catch (error) {
      wrong.textContent = visible(error.message);
      run.disabled = false;
    }
  }
  return el(
    "li",
    { class: "example" },
    el(
      "div",
      {},
      el("h3", { id: title }, visible(example.title)),
      el("p", {}, visible(example.about), el("span", { class: "meta" }, ` About ${duration(example.seconds)}.`)),
      wrong,
    ),
    run,
  );
}

/** Kinds of files with their suffixes: plain text (.txt), Word (.docx). */
function formatsOf(formats) {
  const kinds = new Map();
  for (const [suffix, kind] of Object.entries(formats)) kinds.set(kind, [...(kinds.get(kind) || []), suffix]);
  return [...kinds].map(([kind, suffixes]) => `${oneLine(kind)} (${suffixes.join(", ")})`).join(", ");
}

function atWork() {
  const element = el("section", { class: "now", hidden: true, "aria-label": "At work now" });
  const update = () => {
    const active = (knownJobs() || []).filter(isActive);
    element.hidden = !active.length;
    element.replaceChildren(
      ...active
        .slice(0, 3)
        .map((job) =>
          el(
            "p",
            {},
            el("a", { href: `#job=${job.id}` }, named(job.title)),
            el("span", { class: "meta" }, ` ${STATES[job.state]}`),
          ),
        ),
      active.length > 3 ? el("p", { class: "meta" }, `and ${active.length - 3} more`) : "",
    );
  };
  update();
  return { element, stop: watch(update) };
}

/** The first view. */
export async function startView() {
  const now = atWork();
  const examples = el("ul", { class: "examples" }, el("li", { class: "meta" }, "Asking Byline\u2026"));
  const element = el(
    "div",
    { class: "start" },
    el("h1", { tabindex: "-1" }, "What do you want to know?"),
    el(
      "p",
      { class: "conclusion" },
      "Byline weighs who wrote a text by how it is written. Your texts are read here, on this machine, and nothing of them leaves it.",
    ),
    now.element,
    el("ul", { class: "tasks" }, Object.entries(TASKS).map(taskCard)),
    el(
      "section",
      { "aria-labelledby": "s-examples" },
      el("h2", { id: "s-examples" }, "Try it with built-in texts"),
      el(
        "p",
        { class: "about" },
        "Prose by twelve invented authors on the same three topics. The first run after installing takes up to half a minute more.",
      ),
      examples,
    ),
    el("section", { class: "reading", "aria-labelledby": "s-formats" }, el("h2", { id: "s-formats" }, "What it reads")),
  );
  stateOf()
    .then((state) => {
      examples.replaceChildren(...state.examples.map(exampleRow));
      element
        .querySelector(".reading")
        .append(
          el("p", {}, `${capital(formatsOf(state.formats))}, and folders and zips of them.`),
          state.missing.length
            ? el(
                "p",
                { class: "meta" },
                `For ${state.missing.map((name) => oneLine(name)).join(", ")}: pip install "byline[documents]", then start byline serve again.`,
              )
            : "",
          el(
            "p",
            { class: "meta" },
            `Up to ${Math.floor(state.limits.file_bytes / 1e6)} MB a file, ${Math.floor(state.limits.total_bytes / 1e6)} MB and ${plural(state.limits.files, "file")} together.`,
          ),
        );
    })
    .catch((error) => examples.replaceChildren(el("li", { class: "why" }, visible(error.message))));
  return { element, title: "What do you want to know?", stop: now.stop };
}
