// What is said aloud, and what is asked back.

import { button, el, newId, visible } from "./elements.js";

let clearing = 0;

/** Say a sentence to a screen reader, without haste; the same one twice is said twice. */
export function announce(text) {
  const voice = document.getElementById("s-voice");
  clearTimeout(clearing);
  voice.textContent = "";
  clearing = setTimeout(() => {
    voice.textContent = visible(text);
    clearing = setTimeout(() => {
      voice.textContent = "";
    }, 8000);
  }, 60);
}

/** Ask whether to do something that can't be undone; resolves to whether it is confirmed. Focus goes back after it. */
export function confirmed({ title, text, yes, no = "Keep it" }) {
  return new Promise((resolve) => {
    const heading = newId("title");
    const body = newId("text");
    const dialogue = el(
      "dialog",
      { "aria-labelledby": heading, "aria-describedby": body },
      el("h2", { id: heading }, title),
      el("p", { id: body }, text),
      el(
        "div",
        { class: "actions" },
        button(yes, () => dialogue.close("yes"), { class: "danger" }),
        button(no, () => dialogue.close("no"), { autofocus: true }),
      ),
    );
    const before = document.activeElement;
    dialogue.addEventListener("close", () => {
      dialogue.remove();
      if (before && before.isConnected) before.focus();
      resolve(dialogue.returnValue === "yes");
    });
    document.body.append(dialogue);
    dialogue.showModal();
  });
}
