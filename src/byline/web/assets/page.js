// The page: which view the address asks for, navigation, and whether the server still answers.

import { formView } from "./form_view.js";
import { jobsView } from "./jobs_view.js";
import { button, el, sentence, visible } from "./elements.js";
import { jobView } from "./job_view.js";
import { begin, isActive, knownJobs, refresh, watch } from "./jobs.js";
import { Gone, onConnection, Refused, stateOf } from "./server.js";
import { startView } from "./start_view.js";
import { announce } from "./announcements.js";
import { TASKS } from "./task_texts.js";

const main = document.getElementById("s-main");
const banner = document.getElementById("s-banner");
let current = null;
let viewCount = 0;

const BANNERS = {
  gone: "Byline does not answer. If its terminal was closed, start byline serve again and open the address that it prints; until then this page keeps trying by itself.",
  locked: "This address is no longer valid, because byline serve was started again. Open the new address that it printed.",
};

/** The view that an address asks for. */
function viewOf(hash) {
  const [name, value] = hash.slice(1).split("=");
  if (name === "new" && Object.hasOwn(TASKS, value || "")) return () => formView(value);
  if (name === "job" && value) return () => jobView(decode(value));
  if (name === "runs") return jobsView;
  return startView;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function showView({ first = false } = {}) {
  if (location.hash === "#s-main") return;
  viewCount += 1;
  const mine = viewCount;
  let next;
  try {
    next = await viewOf(location.hash)();
  } catch (error) {
    if (!(error instanceof Gone || error instanceof Refused)) throw error;
    next = failure(error);
  }
  if (mine !== viewCount) {
    next.stop?.();
    return;
  }
  current?.stop?.();
  current = next;
  main.replaceChildren(next.element);
  if (!next.titled) document.title = next.title ? `${sentence(next.title)} Byline` : "Byline";
  showNavigation();
  if (first) return;
  window.scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

/** The view that is shown if another one could not be made. */
function failure(error) {
  const stop = onConnection((connection) => connection === "there" && showView());
  return {
    element: el(
      "div",
      {},
      el("h1", { tabindex: "-1" }, "This can\u2019t be shown now"),
      el("p", { class: "about" }, visible(error.message)),
    ),
    title: "",
    stop,
  };
}

function showNavigation() {
  const active = (knownJobs() || []).filter(isActive).length;
  const link = (href, text) =>
    el("li", {}, el("a", { href, "aria-current": (location.hash || "#") === href ? "page" : null }, text));
  const place = document.getElementById("s-nav");
  const said = `${location.hash} ${active}`;
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  const focused = [...place.querySelectorAll("a")].indexOf(document.activeElement);
  const theme = place.querySelector(".theme")?.parentNode || el("li", {}, themeButton());
  place.replaceChildren(
    link("#", "New"),
    link("#runs", active ? `Earlier runs (${active} at work)` : "Earlier runs"),
    theme,
  );
  if (focused >= 0) place.querySelectorAll("a")[focused]?.focus();
}

/** The button that changes between light and dark; the system's own choice holds until it is used. */
function themeButton() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const say = () => {
    node.textContent = dark() ? "Light colors" : "Dark colors";
  };
  const node = button(
    "",
    () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try {
        localStorage.setItem("byline-theme", root.dataset.theme);
      } catch {
        // storage may be forbidden: the choice then holds for this page only
      }
      say();
    },
    { class: "theme" },
  );
  system.addEventListener("change", say);
  say();
  return node;
}

function tell(connection) {
  banner.replaceChildren(...(BANNERS[connection] ? [el("p", { class: "banner" }, BANNERS[connection])] : []));
  if (connection === "there") announce("Byline answers again.");
}

/** A file that misses its place must not open in place of the page. */
function guardDrops() {
  const files = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  window.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  });
  window.addEventListener("drop", (event) => files(event) && event.preventDefault());
}

async function beginJobs() {
  try {
    begin((await stateOf()).jobs);
  } catch (error) {
    if (!(error instanceof Gone || error instanceof Refused)) throw error;
    begin(null);
    refresh();
  }
}

async function open() {
  onConnection(tell);
  guardDrops();
  window.addEventListener("hashchange", () => showView());
  showNavigation();
  watch(showNavigation);
  beginJobs(); // the first view does not wait for it
  await showView({ first: true });
  document.documentElement.dataset.ready = "yes";
}

open();
