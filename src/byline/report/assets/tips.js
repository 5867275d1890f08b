// One note that stands beside whatever word is pointed at, focused or tapped.

const tip = el("div", { id: "s-tip", role: "tooltip", class: "tip", hidden: true });
document.body.append(tip);
let tipOwner = null;
let tipTimer = 0;

function showTip(owner, content) {
  clearTimeout(tipTimer);
  if (tipOwner !== owner) {
    hideTip();
    tipOwner = owner;
    owner.setAttribute("aria-describedby", tip.id);
    owner.classList.add("told");
    tip.replaceChildren(...[content].flat());
  }
  tip.hidden = false;
  placeTip();
}

function placeTip() {
  if (!tipOwner) return;
  const around = tipOwner.getClientRects()[0] || tipOwner.getBoundingClientRect();
  if (around.bottom < 0 || around.top > window.innerHeight) {
    hideTip();
    return;
  }
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(around.left, document.documentElement.clientWidth - box.width - 8));
  const below = around.bottom + 6;
  const above = around.top - box.height - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${below + box.height > window.innerHeight - 8 && above > 8 ? above : below}px`;
}

function hideTip() {
  clearTimeout(tipTimer);
  if (tipOwner) {
    tipOwner.removeAttribute("aria-describedby");
    tipOwner.classList.remove("told");
  }
  tipOwner = null;
  tip.hidden = true;
}

/** The pointer may move onto the note itself before it goes. */
function hideTipSoon() {
  clearTimeout(tipTimer);
  tipTimer = setTimeout(hideTip, 180);
}

tip.addEventListener("pointerenter", () => clearTimeout(tipTimer));
tip.addEventListener("pointerleave", hideTipSoon);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
window.addEventListener("scroll", placeTip, { capture: true, passive: true });
