// The view of one run: its progress, its end and its result.

import {
  bullets,
  button,
  duration,
  el,
  folded,
  known,
  moment,
  named,
  oneLine,
  plural,
  sentence,
  shorten,
  visible,
} from "./elements.js";
import { holdsFiles, reopenDraft } from "./drafts.js";
import { downloads, notesOf, resultSection, warningsOf } from "./results.js";
import { addJob, findJob, isActive, removeJob, watch } from "./jobs.js";
import { reportOf, warningsBox } from "./result_elements.js";
import { progressPart } from "./progress.js";
import { ask, Gone, Refused } from "./server.js";
import { announce, askConfirmation } from "./announcements.js";
import { STATES, TASKS } from "./task_texts.js";

const results = new Map();

const ENDS = {
  failed: ["It could not be done", "Put right what it says, and ask again."],
  cancelled: ["It was stopped", "Nothing was found out. The texts can be asked about again."],
  interrupted: ["It was interrupted", "Byline was stopped before it was done. Nothing was found out; ask again."],
};

function took(job) {
  if (!job.began || !job.ended) return "";
  return `, took ${duration((Date.parse(job.ended) - Date.parse(job.began)) / 1000)}`;
}

const about = (job) =>
  `${sentence(TASKS[job.task].title)} Asked ${moment(job.made)}${took(job)}.${job.kept ? "" : " Not kept when Byline is stopped."}`;

/** The view of a run. */
export async function jobView(id) {
  const element = el("div", { class: "job" });
  const wrong = el("p", { class: "why", role: "alert" });
  let shown = null;
  let bar = null;
  let heading = null;
  const path = `api/jobs/${encodeURIComponent(id)}`;

  const attempt = (work) => async () => {
    wrong.textContent = "";
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Gone)) throw error;
      wrong.textContent = visible(error.message);
    }
  };
  const open = (job) => {
    addJob(job);
    location.hash = `job=${job.id}`;
  };
  const stopIt = attempt(async () => addJob(await ask(`${path}/cancel`, { method: "POST" })));
  const again = attempt(async () => open(await ask(`${path}/again`, { method: "POST" })));
  const remove = (job) =>
    attempt(async () => {
      const title = shorten(job.title, 60);
      const text = "The result, its report and its downloads are deleted from this machine. This can\u2019t be undone.";
      if (!(await askConfirmation({ title: `Delete \u201c${title}\u201d?`, text, yes: "Delete it" }))) return;
      await ask(path, { method: "DELETE" });
      removeJob(id);
      announce(`${title} deleted.`);
      location.hash = "runs";
    });

  function actions(job) {
    const change = () => {
      reopenDraft(id);
      location.hash = `new=${job.task}`;
    };
    return el(
      "div",
      { class: "actions last" },
      job.files_kept || job.example ? button("Run it again", again) : null,
      holdsFiles(id) ? button("Change and ask again", change) : null,
      el("a", { class: "button", href: `#new=${job.task}` }, "Ask about other texts"),
      button("Delete this run", remove(job), { class: "danger" }),
    );
  }

  const saidOnTheWay = (job, result) => {
    const notes = notesOf(job, result);
    return notes.length ? folded(`${plural(notes.length, "note")} from on the way`, bullets(notes)) : null;
  };

  const meaning = (job, limits) =>
    el(
      "section",
      { class: "part", "aria-labelledby": "s-meaning" },
      el("h2", { id: "s-meaning" }, "What it means, and what it doesn\u2019t"),
      bullets(TASKS[job.task].meaning, "meaning"),
      limits?.length ? [el("h3", {}, "How far this goes"), bullets(limits, "meaning")] : null,
    );

  function ended(job) {
    const [title, advice] = ENDS[job.state];
    return [
      el(
        "div",
        { class: "note warning" },
        el("h2", {}, title),
        job.error ? el("p", {}, visible(job.error)) : null,
        el("p", {}, advice),
      ),
      saidOnTheWay(job),
    ];
  }

  function done(job) {
    const result = results.get(id);
    if (!result) return [el("p", { class: "meta", "aria-busy": "true" }, "Fetching the result\u2026")];
    const single = result.problems?.length === 1 ? result.problems[0] : null;
    return [
      el("p", { class: "conclusion" }, visible(result.conclusion)),
      warningsBox(warningsOf(result)),
      result.report
        ? el(
            "p",
            { class: "open-report" },
            el(
              "a",
              { class: "button primary", href: reportOf(result.report, single?.id), target: "_blank", rel: "noopener" },
              "Open the report",
              el("span", { class: "unseen" }, " (in a new tab)"),
            ),
            el("span", { class: "meta" }, " All the evidence, passage by passage, in a new tab."),
          )
        : null,
      resultSection(result, result.report, job.options.none),
      meaning(job, result.limits),
      downloads(result.downloads),
      saidOnTheWay(job, result),
    ];
  }

  async function fetchResult() {
    try {
      const full = await ask(path);
      results.set(id, {
        ...full.result,
        report: full.result?.report ?? full.report,
        downloads: full.result?.downloads ?? full.downloads,
      });
      if (element.isConnected) update();
    } catch (error) {
      wrong.textContent = visible(error.message);
      if (error instanceof Gone) shown = null; // asked again with the next news
    }
  }

  function render(job) {
    const held =
      !element.isConnected || (element.contains(document.activeElement) && document.activeElement !== heading);
    heading = el("h1", { tabindex: "-1" }, named(job.title));
    bar = isActive(job) ? progressPart(job, stopIt) : null;
    element.replaceChildren(
      ...[
        el("p", { class: "beside" }, el("a", { href: "#runs" }, "Earlier runs"), el("a", { href: "#" }, "All tasks")),
        heading,
        el("p", { class: "meta" }, about(job)),
        bar ? bar.element : null,
        ...(bar ? [] : job.state === "done" ? done(job) : ended(job)),
        wrong,
        bar ? saidOnTheWay(job) : actions(job),
      ].filter(Boolean),
    );
    if (held && element.isConnected) heading.focus({ preventScroll: true });
  }

  function update() {
    const job = findJob(id);
    if (!job) {
      if (shown && shown !== "missing") missing();
      return;
    }
    const now = `${isActive(job) ? "active" : job.state} ${results.has(id)} ${job.files_kept} ${holdsFiles(id)}`;
    document.title = `${isActive(job) && known(job.progress.share) ? `${Math.floor(job.progress.share * 100)}% ` : ""}${oneLine(job.title)}, Byline`;
    if (now === shown) {
      bar?.update(job);
      return;
    }
    const before = shown;
    shown = now;
    render(job);
    if (job.state === "done" && !results.has(id)) fetchResult();
    if (before?.startsWith("active") && !isActive(job) && job.state !== "done")
      announce(`${ENDS[job.state][0]}. ${job.error || ""}`);
    if (before && results.has(id) && job.state === "done" && !before.includes("true"))
      announce(`Done. ${results.get(id).conclusion}`);
  }

  function missing() {
    shown = "missing";
    element.replaceChildren(
      el("h1", { tabindex: "-1" }, "This run is not there any more"),
      el("p", { class: "about" }, "It was deleted, or was not to be kept when Byline was stopped."),
      el("p", {}, el("a", { href: "#runs" }, "Earlier runs"), " ", el("a", { href: "#" }, "All tasks")),
    );
  }

  if (!findJob(id)) {
    try {
      addJob(await ask(path));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      missing();
    }
  }
  update();
  return { element, title: `${STATES.running}`, stop: watch(update), titled: true };
}
