// The files of a question that has not been asked yet. The server stores them; this tab keeps their state.

import { kept } from "./elements.js";
import { plainName, refusalOf } from "./files.js";
import { ask, BrokenOff, Gone, onConnection, Refused, stateOf } from "./server.js";

const AT_ONCE = 2;
const TRANSIENT = [408, 429, 500, 502, 503, 507];

let lastKey = 0;

/**
 * Its entries: {key, role, path, file, state: "waiting" | "sending" | "ready" | "refused", told, error, again}.
 * told is what the server says of the file; again: whether another attempt may go better.
 */
class Draft {
  constructor(task) {
    this.task = task;
    this.entries = [];
    this.id = null;
    this.batch = { done: 0, all: 0, refused: 0 };
    this.listeners = new Set();
    this.beginning = null;
    this.lost = false; // files that the server gave up, and this tab does not hold
    onConnection((connection) => connection === "there" && this.send());
  }

  /** Call a function at each change; returns a function that stops it. */
  watch(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed() {
    this.listeners.forEach((listener) => listener(this));
  }

  of(role) {
    return this.entries.filter((entry) => entry.role === role);
  }

  ready(role) {
    return this.of(role).filter((entry) => entry.state === "ready");
  }

  get pending() {
    return this.entries.filter((entry) => entry.state === "waiting" || entry.state === "sending").length;
  }

  /** Take in files that this tab sent before it was loaded again. */
  async restore() {
    const id = kept.get(`draft-${this.task}`);
    if (!id || this.id) return;
    try {
      const found = await ask(`api/drafts/${encodeURIComponent(id)}`);
      this.id = found.id;
      for (const told of found.files)
        this.entries.push(this.entry(told.role, told.name, null, { state: "ready", told }));
    } catch (error) {
      if (!(error instanceof Refused)) return; // when the server is back, another reload may find them
      kept.set(`draft-${this.task}`, null);
      this.lost = true;
    }
    this.changed();
  }

  entry(role, path, file, more) {
    lastKey += 1;
    return { key: lastKey, role, path, file, state: "waiting", told: null, error: "", again: false, ...more };
  }

  /** Add files ({path, file, error}) to a role and send them; how many were there already. */
  async add(role, files) {
    const state = await stateOf();
    let twice = 0;
    const room = Math.max(0, state.limits.files - this.entries.filter((entry) => entry.state !== "refused").length);
    const over = files.length - room;
    if (over > 0) {
      const error = `left out: ${state.limits.files} files together are the most`;
      this.entries.push(this.entry(role, `${over} of these files`, null, { state: "refused", error }));
    }
    for (const item of files.slice(0, room)) {
      const same = this.of(role).filter((entry) => entry.asked === item.path || entry.path === item.path);
      if (same.some((entry) => entry.file && alike(entry.file, item.file) && entry.state !== "refused")) {
        twice += 1;
        continue;
      }
      const error = item.error || refusalOf(item, state);
      this.entries.push(
        this.entry(role, error ? item.path : this.freeName(role, plainName(item.path)), item.file, {
          asked: item.path,
          folder: item.folder,
          state: error ? "refused" : "waiting",
          error,
        }),
      );
      this.batch.all += 1;
      if (error) {
        this.batch.done += 1;
        this.batch.refused += 1;
      }
    }
    this.changed();
    this.send();
    return twice;
  }

  /** A name that no other file of the role has: another essay.txt becomes "essay (2).txt". */
  freeName(role, path) {
    const taken = new Set(
      this.of(role)
        .filter((entry) => entry.state !== "refused")
        .map((entry) => entry.path),
    );
    const [, stem, suffix] = path.match(/^(.*?)(\.[^./]*)?$/s);
    let free = path;
    for (let n = 2; taken.has(free); n += 1) free = `${stem} (${n})${suffix || ""}`;
    return free;
  }

  async begin() {
    this.beginning ||= ask("api/drafts", { method: "POST" })
      .then((made) => {
        this.id = made.id;
        kept.set(`draft-${this.task}`, made.id);
      })
      .finally(() => {
        this.beginning = null;
      });
    return this.beginning;
  }

  /** Send what waits, two at a time. */
  send() {
    while (this.entries.filter((entry) => entry.state === "sending").length < AT_ONCE) {
      const next = this.entries.find((entry) => entry.state === "waiting");
      if (!next) break;
      next.state = "sending";
      this.sendOne(next);
    }
  }

  async sendOne(entry, attempt = 1) {
    entry.abort = new AbortController();
    const { signal } = entry.abort;
    let id = null;
    try {
      if (!this.id) await this.begin();
      id = this.id;
      const query = new URLSearchParams({ role: entry.role, name: entry.path });
      if (entry.folder) query.set("folder", entry.folder);
      const path = `api/drafts/${encodeURIComponent(id)}/files?${query}`;
      const told = await ask(path, { method: "PUT", body: entry.file, signal });
      if (!this.entries.includes(entry)) return; // taken away while it was read
      if (told.kind === "archive") this.unfold(entry, told);
      else Object.assign(entry, { state: "ready", told, path: told.name });
      this.batch.done += 1;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Gone) {
        entry.state = "waiting"; // it is sent when the server is back
        return this.changed();
      }
      if (error instanceof Refused && error.status === 404 && attempt === 1) {
        if (this.id === id) this.renew(entry); // given up after an hour; the first file that notices renews it for all
        return this.sendOne(entry, 2);
      }
      if (!(error instanceof Refused || error instanceof BrokenOff)) throw error;
      const again = error instanceof BrokenOff || TRANSIENT.includes(error.status);
      Object.assign(entry, { state: "refused", error: error.message, again });
      this.batch.done += 1;
      this.batch.refused += 1;
    }
    this.finishBatch();
    this.changed();
    this.send();
  }

  /** What an archive held, in its place. */
  unfold(entry, told) {
    const inner = told.files.map((one) =>
      this.entry(entry.role, one.name, entry.file, { state: "ready", told: one, archive: entry.path }),
    );
    if (told.skipped?.length)
      inner.push(this.entry(entry.role, entry.path, null, { state: "refused", skipped: told.skipped }));
    this.entries.splice(this.entries.indexOf(entry), 1, ...inner);
  }

  finishBatch() {
    if (this.pending) return;
    const { batch } = this;
    this.batch = { done: 0, all: 0, refused: 0 };
    this.finished?.(batch);
  }

  /** Another place for the files: those that this tab still holds are sent again, the others are gone. */
  renew(except) {
    this.id = null;
    kept.set(`draft-${this.task}`, null);
    const archives = new Set();
    this.entries = this.entries.filter((entry) => {
      if (entry === except || entry.state === "refused" || entry.state === "waiting") return true;
      if (!entry.file) this.lost = true;
      if (!entry.file || (entry.archive && archives.has(entry.file))) return false;
      if (entry.archive) {
        archives.add(entry.file);
        Object.assign(entry, { path: entry.archive, archive: null });
      }
      if (entry.state === "ready") Object.assign(entry, { state: "waiting", told: null });
      return true;
    });
  }

  /** Another attempt with a refused file. */
  retry(entry) {
    Object.assign(entry, { state: "waiting", error: "", again: false });
    this.batch.all += 1;
    this.changed();
    this.send();
  }

  /** Take files away, here and at the server. */
  async remove(entries) {
    const going = new Set(entries);
    this.entries = this.entries.filter((entry) => !going.has(entry));
    for (const entry of going) entry.abort?.abort();
    this.changed();
    this.send();
    for (const { told } of going) {
      if (!this.id || !told?.number) continue;
      try {
        await ask(`api/drafts/${encodeURIComponent(this.id)}/files/${told.number}`, { method: "DELETE" });
      } catch (error) {
        if (!(error instanceof Gone || error instanceof Refused)) throw error;
      }
    }
  }
}

const alike = (one, other) =>
  one.size === other.size && one.lastModified === other.lastModified && one.name === other.name;

const drafts = new Map();
const asked = new Map();

/** The draft of a task, in this tab. */
export function draftOf(task) {
  if (!drafts.has(task)) drafts.set(task, new Draft(task));
  return drafts.get(task);
}

/** Remember that a draft became a run; the next draft of the task begins empty. */
export function handOver(task, job) {
  asked.set(job, drafts.get(task));
  drafts.delete(task);
  kept.set(`draft-${task}`, null);
}

/** Whether this tab still holds the files of a run. */
export const holdsFiles = (job) => Boolean(asked.get(job)?.entries.some((entry) => entry.file));

/** Turn the files of a run into a draft again, to change them and ask again. */
export function reopenDraft(job) {
  const draft = asked.get(job);
  draft.renew();
  drafts.set(draft.task, draft);
  draft.send();
  return draft;
}
