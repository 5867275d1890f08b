// The runs, as the server has them. They are fetched every second while one is active, otherwise every ten seconds.

import { ask, connectionState, Gone, onConnection, Refused } from "./server.js";

const BUSY = 1_000;
const QUIET = 10_000;
const RETRY = 2_000;

const ACTIVE = ["queued", "running", "cancelling"];
export const isActive = (job) => ACTIVE.includes(job.state);

let jobs = null;
let timer = 0;
let asking = null;
let changes = 0; // by this page: an answer that was on its way meanwhile is out of date
const watchers = new Set();

/** The runs, newest first; null before they are known. */
export const knownJobs = () => jobs;
export const findJob = (id) => (jobs || []).find((job) => job.id === id);

/** Call a function whenever the runs change; returns a function that stops it. */
export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function take(next) {
  jobs = next;
  watchers.forEach((watcher) => watcher(jobs));
}

function plan() {
  clearTimeout(timer);
  const pause =
    connectionState() === "gone" ? RETRY : connectionState() === "there" && (jobs || []).some(isActive) ? BUSY : QUIET;
  timer = setTimeout(refresh, pause);
}

/** Ask for the runs now. */
export function refresh() {
  asking ||= (async () => {
    try {
      const before = changes;
      const found = (await ask("api/jobs")).jobs;
      if (before === changes) take(found);
    } catch (error) {
      if (!(error instanceof Gone || error instanceof Refused)) throw error;
    } finally {
      asking = null;
      plan();
    }
  })();
  return asking;
}

/** Begin with what the state said. */
export function begin(first) {
  if (!changes) take(first); // a run that was begun meanwhile is not in it
  plan();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh();
  });
  onConnection((connection) => {
    if (connection !== "locked") plan();
  });
}

/** Add or update a run that was started, stopped or changed just now. */
export function addJob(job) {
  changes += 1;
  take(
    [job, ...(jobs || []).filter((other) => other.id !== job.id)].sort((one, other) =>
      one.made < other.made ? 1 : -1,
    ),
  );
  plan();
}

/** Remove a deleted run. */
export function removeJob(id) {
  changes += 1;
  take((jobs || []).filter((job) => job.id !== id));
}
