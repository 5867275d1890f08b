// Announcements to screen readers, and dialogs that ask for confirmation.

import { button, el, newId, visible } from "./elements.js";

let clearing = 0;

/** Announce a sentence to screen readers; a repeated one is announced again. */
export function announce(text) {
  const region = document.getElementById("s-status");
  clearTimeout(clearing);
  region.textContent = "";
  clearing = setTimeout(() => {
    region.textContent = visible(text);
    clearing = setTimeout(() => {
      region.textContent = "";
    }, 8000);
  }, 60);
}

/** Ask before something that can't be undone; resolves to whether it is confirmed. Focus returns afterwards. */
export function askConfirmation({ title, text, yes, no = "Keep it" }) {
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
