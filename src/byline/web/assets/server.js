// Requests to the server, and whether it still answers. Addresses are relative to the page.

const PATIENCE = 20_000;

/** What the server refused, in its words. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Nobody answered. */
export class Gone extends Error {
  constructor() {
    super("Byline does not answer.");
  }
}

/** The server is there, but a file did not reach it. */
export class BrokenOff extends Error {
  constructor() {
    super("could not be sent: was it moved or changed meanwhile? Add it again");
  }
}

let connection = "there";
const listeners = new Set();

/** "there", "gone" (nobody answers) or "locked" (the address is no longer valid). */
export const connectionState = () => connection;
/** Call a function when that changes; returns a function that stops it. */
export function onConnection(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setConnection(next) {
  if (connection === next) return;
  connection = next;
  listeners.forEach((listener) => listener(next));
}

/** Ask the server; its JSON, or null where it says nothing. Throws Refused, Gone, BrokenOff, or what signal says. */
export async function ask(path, { method = "GET", json, body, signal } = {}) {
  const options = { method, signal: signal || (body ? undefined : AbortSignal.timeout(PATIENCE)) };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers = { "content-type": "application/json" };
  } else if (body) {
    options.body = body;
    options.headers = { "content-type": "application/octet-stream" };
  }
  let answer;
  let text;
  try {
    answer = await fetch(path, options);
    text = await answer.text();
  } catch (error) {
    if (signal && signal.aborted) throw error;
    if (body && (await answers())) throw new BrokenOff();
    setConnection("gone");
    throw new Gone();
  }
  setConnection(answer.status === 403 ? "locked" : "there");
  let found = null;
  try {
    found = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) throw new Refused("Byline's answer can't be read.", answer.status);
  }
  if (!answer.ok) {
    const words = found && typeof found.error === "string" ? found.error : `Byline refused it (${answer.status}).`;
    throw new Refused(words, answer.status);
  }
  return found;
}

/** Whether anybody answers: a file may also fail to come because it was moved, or was refused half-way. */
async function answers() {
  try {
    await fetch("api/jobs", { signal: AbortSignal.timeout(PATIENCE) });
    return true;
  } catch {
    return false;
  }
}

let state = null;
let asked = null;

/** What the server can do and has; asked again if it may have changed. */
export async function stateOf({ fresh = false } = {}) {
  if (state && !fresh) return state;
  asked ||= ask("api/state").finally(() => {
    asked = null;
  });
  state = await asked;
  return state;
}
