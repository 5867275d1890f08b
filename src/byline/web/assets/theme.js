// Runs before anything is drawn: applies the colors chosen last, here or in a report.
try {
  const kept = localStorage.getItem("byline-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch {
  // storage may be forbidden: the system's colors hold
}
