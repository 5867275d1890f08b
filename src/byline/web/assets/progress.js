// The progress of a run.

import { button, capital, duration, el, known, visible } from "./elements.js";
import { announce } from "./announcements.js";

/** The bar, and what stands beside it; update(job) moves it. */
export function progressPart(job, stopIt) {
  const bar = el("progress", { "aria-labelledby": "s-stage", max: 1 });
  const stage = el("p", { class: "stage", id: "s-stage" });
  const left = el("p", { class: "meta" });
  const stop = button("Stop it", stopIt);
  let quarter = 0;
  function update(now) {
    const { share, stage: words, left: seconds } = now.progress;
    stop.hidden = now.state === "cancelling";
    if (now.state === "queued") {
      stage.textContent = now.place > 1 ? `Waiting: ${now.place - 1} before it` : "Waiting: it is the next";
      left.textContent = "";
      bar.removeAttribute("value");
      return;
    }
    stage.textContent = now.state === "cancelling" ? "Being stopped" : capital(visible(words || "at work"));
    if (known(share)) bar.value = share;
    else bar.removeAttribute("value");
    left.textContent = [
      known(share) ? `${Math.floor(share * 100)}%` : "",
      known(seconds) && now.state === "running" ? `about ${duration(seconds)} left` : "",
    ]
      .filter(Boolean)
      .join(", ");
    const reached = known(share) ? Math.floor(share * 4) : 0;
    if (reached > quarter && reached < 4) announce(`${reached * 25}% done.`);
    quarter = Math.max(quarter, reached);
  }
  update(job);
  const element = el(
    "section",
    { class: "progress", "aria-label": "Progress" },
    stage,
    bar,
    left,
    el("div", { class: "actions" }, stop),
    el("p", { class: "meta" }, "You can leave or close this page; it goes on, and is found under Earlier runs."),
  );
  return { element, update };
}
