// The view of earlier runs and of kept reference populations.

import { button, el, moment, named, newId, oneLine, plural, sentence, shorten, visible, whole } from "./elements.js";
import { isActive, knownJobs, removeJob, watch } from "./jobs.js";
import { ask, Gone, Refused, stateOf } from "./server.js";
import { announce, askConfirmation } from "./announcements.js";
import { STATES, TASKS } from "./task_texts.js";

const UNDONE = "This can\u2019t be undone.";

/** The view of all runs. */
export async function jobsView() {
  const wrong = el("p", { class: "why", role: "alert" });
  const list = el("ul", { class: "runs" });
  const empty = el(
    "div",
    { class: "note", hidden: true },
    el("p", {}, "There are none yet. What you ask is listed here, until you delete it."),
    el("p", {}, el("a", { href: "#" }, "Ask something, or try an example")),
  );
  const all = button("Delete all", deleteAll, { class: "danger", hidden: true });
  const heading = el("h1", { tabindex: "-1" }, "Earlier runs");
  const populations = el("section", { class: "part", "aria-labelledby": "s-populations", hidden: true });
  const where = el("p", { class: "about" });
  const element = el(
    "div",
    { class: "earlier" },
    el("p", { class: "beside" }, el("a", { href: "#" }, "All tasks")),
    heading,
    where,
    empty,
    list,
    wrong,
    el("div", { class: "actions" }, all),
    populations,
  );
  const rows = new Map();

  const attempt = async (work) => {
    wrong.textContent = "";
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Gone)) throw error;
      wrong.textContent = visible(error.message);
    }
  };

  const removeRun = async (id) => {
    try {
      await ask(`api/jobs/${encodeURIComponent(id)}`, { method: "DELETE" });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
    removeJob(id);
  };

  function deleteOne(job) {
    return attempt(async () => {
      const title = `Delete \u201c${shorten(job.title, 60)}\u201d?`;
      const text = `${isActive(job) ? "It is stopped first. " : ""}All that is kept of it is deleted from this machine. ${UNDONE}`;
      if (!(await askConfirmation({ title, text, yes: "Delete it" }))) return;
      const place = [...rows.keys()].indexOf(job.id);
      await removeRun(job.id);
      announce(`${oneLine(job.title)} deleted.`);
      const next = [...rows.values()][Math.min(place, rows.size - 1)];
      if (next) next.querySelector("button").focus();
      else heading.focus();
    });
  }

  function deleteAll() {
    return attempt(async () => {
      const jobs = knownJobs() || [];
      const active = jobs.filter(isActive).length;
      const title = `Delete ${plural(jobs.length, "run")}?`;
      const text = `${active ? `${active} of them ${active === 1 ? "is" : "are"} not done yet and will be stopped. ` : ""}All results, reports and downloads are deleted from this machine. Kept reference populations stay. ${UNDONE}`;
      if (!(await askConfirmation({ title, text, yes: "Delete all", no: "Keep them" }))) return;
      for (const job of jobs) await removeRun(job.id);
      announce("All runs deleted.");
      heading.focus();
    });
  }

  function row(job) {
    return el(
      "li",
      { class: "run", "data-state": job.state },
      el(
        "div",
        {},
        el("a", { href: `#job=${job.id}` }, named(job.title)),
        el(
          "p",
          { class: "meta" },
          `${sentence(TASKS[job.task]?.title || oneLine(job.task))} ${moment(job.made)}${job.kept ? "" : ", not kept when Byline is stopped"}`,
        ),
      ),
      el("span", { class: `state ${job.state}` }, STATES[job.state] || oneLine(job.state)),
      button(["Delete", el("span", { class: "unseen" }, " ", named(job.title))], () => deleteOne(job), {
        class: "plain-button",
      }),
    );
  }

  function update() {
    const jobs = knownJobs() || [];
    empty.hidden = jobs.length > 0 || !knownJobs();
    all.hidden = jobs.length < 2;
    const there = new Set(jobs.map((job) => job.id));
    for (const [id, item] of rows) {
      if (there.has(id)) continue;
      item.remove();
      rows.delete(id);
    }
    jobs.forEach((job, n) => {
      const before = rows.get(job.id);
      let item = before;
      if (before?.dataset.state !== job.state) {
        item = row(job);
        if (before) {
          const focused = before.contains(document.activeElement) ? document.activeElement.tagName : null;
          before.replaceWith(item);
          if (focused) item.querySelector(focused)?.focus();
        }
        rows.set(job.id, item);
      }
      if (list.children[n] !== item) list.insertBefore(item, list.children[n] || null);
    });
  }

  async function showPopulations() {
    const state = await stateOf({ fresh: true });
    where.textContent = `They lie on this machine, in ${oneLine(state.home)}. Anyone who can read that folder can read the texts in their reports.`;
    const own = state.references.filter((reference) => !reference.builtin);
    const title = newId("populations");
    populations.hidden = !own.length;
    populations.setAttribute("aria-labelledby", title);
    populations.replaceChildren(
      el("h2", { id: title, tabindex: "-1" }, "Kept reference populations"),
      el(
        "ul",
        { class: "runs" },
        own.map((reference) =>
          el(
            "li",
            { class: "run" },
            el(
              "div",
              {},
              named(reference.name),
              el(
                "p",
                { class: "meta" },
                reference.error
                  ? visible(reference.error)
                  : `${plural(reference.texts, "text")} by ${plural(reference.authors, "person", "people")}, ${whole(reference.characters)} characters${reference.language ? `, ${oneLine(reference.language)}` : ""}`,
              ),
            ),
            button(
              ["Delete", el("span", { class: "unseen" }, " ", named(reference.name))],
              () => deletePopulation(reference),
              { class: "plain-button" },
            ),
          ),
        ),
      ),
    );
  }

  function deletePopulation(reference) {
    return attempt(async () => {
      const text = `Its texts are deleted from this machine; results that were made with it stay. ${UNDONE}`;
      if (!(await askConfirmation({ title: `Delete \u201c${shorten(reference.name, 60)}\u201d?`, text, yes: "Delete it" })))
        return;
      await ask(`api/references/${encodeURIComponent(reference.name)}`, { method: "DELETE" });
      await showPopulations();
      announce(`${oneLine(reference.name)} deleted.`);
      (populations.hidden ? heading : populations.querySelector("h2")).focus();
    });
  }

  update();
  showPopulations().catch((error) => {
    where.textContent = visible(error.message);
  });
  return { element, title: "Earlier runs", stop: watch(update) };
}
