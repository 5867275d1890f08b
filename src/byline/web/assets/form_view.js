// The view in which a question is put together: files, reference, options and the start button.

import { bullets, button, el, folded, plural, visible } from "./elements.js";
import { draftOf, handOver } from "./drafts.js";
import { addJob } from "./jobs.js";
import { optionsPart, remember } from "./options.js";
import { inputWarnings, PARTS } from "./task_inputs.js";
import { ask, Refused, stateOf } from "./server.js";
import { announce } from "./announcements.js";
import { TASKS } from "./task_texts.js";

const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;

/** The view in which a task is put together. */
export async function formView(task) {
  const words = TASKS[task];
  const draft = draftOf(task);
  const state = await stateOf({ fresh: true });
  const parts = PARTS[task](draft, state);
  const reference = parts.find((part) => part.choice);
  const options = optionsPart(task, state);
  const progress = el("progress", { "aria-label": "Files read", hidden: true });
  const lost = el(
    "p",
    { class: "note warning", hidden: true },
    "Files that you had added are gone: they are kept for an hour. Add them again.",
  );
  const doubtful = el("div", { class: "note", hidden: true });
  const missing = el("p", { class: "missing", id: "s-missing" });
  const wrong = el("p", { class: "why", role: "alert" });
  const start = button("Start", submit, { class: "primary", "aria-describedby": "s-missing" });
  const form = el(
    "div",
    { class: "form" },
    lost,
    el(
      "div",
      { class: `zones ${task}` },
      parts.filter((part) => !part.choice).map((part) => part.element),
    ),
    reference ? reference.element : null,
    options.element,
    el(
      "section",
      { class: "go", "aria-label": "Start" },
      doubtful,
      progress,
      el("div", { class: "actions" }, start, missing),
      wrong,
    ),
  );
  const element = el(
    "div",
    { class: "asking" },
    el("p", { class: "beside" }, el("a", { href: "#" }, "All tasks")),
    el("h1", { tabindex: "-1" }, words.title),
    el("p", { class: "about" }, words.needs),
    folded("What the result means, and what it doesn\u2019t", bullets(words.meaning)),
    el("p", { class: "meta" }, "Files that you drop are read by Byline on this machine and go nowhere else."),
    form,
  );
  let busy = false;

  function lacking() {
    return parts.map((part) => [part, part.missing()]).filter(([, what]) => what);
  }

  function update() {
    for (const part of parts) part.update();
    const lacks = lacking();
    const { pending } = draft;
    missing.textContent = pending
      ? `${plural(pending, "file is", "files are")} still being read.`
      : lacks.length
        ? `Still missing: ${listed(lacks.map(([, what]) => what))}.`
        : "Ready.";
    progress.hidden = !pending;
    progress.max = Math.max(1, draft.batch.all);
    progress.value = draft.batch.done;
    lost.hidden = !draft.lost;
    const thoughts = inputWarnings(draft, reference);
    doubtful.hidden = !thoughts.length;
    if (doubtful.dataset.said !== thoughts.join())
      doubtful.replaceChildren(...thoughts.map((thought) => el("p", {}, thought)));
    doubtful.dataset.said = thoughts.join();
  }

  async function send(again) {
    const asked = {
      task,
      draft: draft.id,
      options: { ...options.value(), ...reference?.value() },
    };
    try {
      return await ask("api/jobs", { method: "POST", json: asked });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404 && again)) throw error;
      draft.renew();
      update();
      draft.send();
      if (!draft.entries.length || draft.lost) throw error;
      await settled();
      return send(false);
    }
  }

  const settled = () =>
    new Promise((resolve) => {
      const stop = draft.watch(() => {
        if (draft.pending) return;
        stop();
        resolve();
      });
    });

  async function submit() {
    wrong.textContent = "";
    const [lack] = lacking();
    if (draft.pending) return announce(missing.textContent);
    if (lack) {
      wrong.textContent = missing.textContent;
      lack[0].focus();
      return null;
    }
    if (busy) return null;
    busy = true;
    start.setAttribute("aria-disabled", "true");
    try {
      const job = await send(true);
      handOver(task, job.id);
      addJob(job);
      location.hash = `job=${job.id}`;
    } catch (error) {
      wrong.textContent = visible(error.message);
    } finally {
      busy = false;
      start.removeAttribute("aria-disabled");
    }
    return null;
  }

  let planned = 0;
  const later = () => {
    planned ||= requestAnimationFrame(() => {
      planned = 0;
      update();
    });
  };
  const stop = draft.watch(later);
  draft.finished = ({ all, refused }) =>
    announce(refused ? `${plural(all, "file")} read, ${refused} not taken.` : `${plural(all, "file")} read.`);
  remember(form, task, reference);
  reference?.restore();
  form.addEventListener("input", later);
  form.addEventListener("change", update);
  if (!draft.entries.length) draft.restore();
  update();
  return { element, title: words.title, stop };
}
