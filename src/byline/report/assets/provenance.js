// Where the figures come from: the command, the settings, versions and hashes.

/** A command with a button that copies it. */
function copyable(text, what) {
  const code = el("code", {}, visible(text));
  const said = el("span", { role: "status", class: "status" });
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(code);
      said.textContent = document.execCommand("copy") ? "Copied." : "Selected; copy it by the keyboard.";
    }
  }
  return el(
    "div",
    { class: "copyable" },
    el("pre", { tabindex: "0", role: "region", "aria-label": what === "command" ? "Command" : "Template" }, code),
    el("p", { class: "controls" }, el("button", { type: "button", click: copy }, `Copy the ${what}`), said),
  );
}

const shownValue = (value) =>
  value !== null && typeof value === "object" ? visible(JSON.stringify(value)) : visible(String(value));

/** Settings that members share, once; those in which they differ, for each. */
function settingsTables(settings) {
  const members = Object.keys(settings);
  const names = [...new Set(members.flatMap((member) => Object.keys(settings[member] || {})))];
  const valueOf = (member, name) =>
    settings[member] && name in settings[member] ? shownValue(settings[member][name]) : "\u2013";
  const same = names.filter((name) => new Set(members.map((member) => valueOf(member, name))).size === 1);
  const other = names.filter((name) => !same.includes(name));
  return [
    same.length
      ? plainTable(
          members.length > 1 ? "Settings that all members share" : "Settings",
          ["Setting", "Value"],
          same.map((name) => [visible(name), valueOf(members[0], name)]),
          "mono",
        )
      : null,
    other.length
      ? plainTable(
          "Settings in which members differ",
          ["Member", ...other.map(visible)],
          members.map((member) => [visible(member), ...other.map((name) => valueOf(member, name))]),
          "mono",
        )
      : null,
  ];
}

function membersTable(members) {
  const versions = (member) =>
    Object.entries(member.made_by || {})
      .map(([name, version]) => `${name} ${version}`)
      .join(", ");
  const columns = [
    ["Name", (member) => oneLine(member.name)],
    ["Weight", (member) => fixed(member.weight, 3), "weight"],
    ["Seed", (member) => shownValue(member.seed ?? "\u2013"), "seed"],
    ["Seconds", (member) => fixed(member.seconds, 1), "seconds"],
    ["Bits per character", (member) => fixed(member.bits, 3), "bits"],
    ["Adds up word by word", (member) => (known(member.additive) ? (member.additive ? "yes" : "no") : "\u2013")],
    ["Made by", (member) => oneLine(versions(member)) || "\u2013"],
  ].filter(([, , name]) => !name || members.some((member) => known(member[name])));
  return plainTable(
    "Members",
    ["Member", ...columns.map(([title]) => title)],
    members.map((member) => [String(member.member), ...columns.map(([, show]) => show(member))]),
  );
}

/** The beginning of a hash, which tells texts apart; the whole is in the title, and in the page's data. */
const shortHash = (hash) =>
  el("code", { class: "hash", title: visible(hash) }, `${visible(String(hash).slice(0, 16))}\u2026`);

function provenanceSection(report) {
  const about = report.provenance || {};
  const filesOf = Object.entries(about.files || {});
  const textsOf = Object.entries(about.texts || {}).flatMap(([id, texts]) =>
    texts.map(([name, hash]) => [named(id), named(name), shortHash(hash)]),
  );
  return section(
    "provenance",
    "Provenance",
    el(
      "p",
      {},
      "What is needed to make these figures again. The same inputs, settings and seed give the same figures, but for rounding where machine code is made anew.",
    ),
    about.command && about.template
      ? el(
          "p",
          {},
          "The command itself was not kept. This is a template of it: words in capitals stand for names of your own.",
        )
      : null,
    about.command ? copyable(about.command, about.template ? "template" : "command") : null,
    facts([
      ["Byline", visible(report.byline)],
      ["Report made", visible(report.made)],
      ["Source", el("code", {}, visible(report.source))],
      known(about.seed) && ["Seed", shownValue(about.seed)],
      known(about.preset) && ["Preset", shownValue(about.preset)],
      ...(about.facts || []).map(([name, value]) => [oneLine(name), shownValue(value)]),
      known(about.inputs) && ["Hash of the inputs", el("code", { class: "hash" }, shownValue(about.inputs))],
    ]),
    report.members && report.members.length
      ? folded(`Members (${report.members.length})`, membersTable(report.members))
      : null,
    about.settings && Object.keys(about.settings).length
      ? folded("Settings", el("div", { class: "provenance-parts" }, settingsTables(about.settings)))
      : null,
    filesOf.length
      ? folded(
          `Files and their SHA-256 (${filesOf.length})`,
          plainTable(
            "Files and their SHA-256",
            ["File", "SHA-256"],
            filesOf.map(([name, hash]) => [visible(name), el("code", { class: "hash" }, visible(hash))]),
            "mono",
          ),
        )
      : null,
    textsOf.length
      ? folded(
          `Texts and their SHA-256 (${textsOf.length})`,
          el(
            "p",
            { class: "meta" },
            "Of each text as the run keeps it: what was read of its file, in UTF-8 without a byte-order mark, every line end a line feed, and without passages that --mask-shared left out. The first 16 of 64 digits are shown; point at them for all of them.",
          ),
          el(
            "div",
            { class: "provenance-parts" },
            plainTable("Texts and their SHA-256", [report.kind === "verification" ? "Problem" : "Which", "Text", "SHA-256"], textsOf, "mono"),
          ),
        )
      : null,
  );
}
