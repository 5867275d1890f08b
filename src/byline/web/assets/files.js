// Dropped or chosen files: their folders, and which are of no use.

const JUNK = new Set(["thumbs.db", "desktop.ini", "__macosx", "icon\r"]);
const MEDIA = { image: "a picture", video: "a film", audio: "a recording", font: "a font" };

/** Whether it is a file that systems leave about, not one that a person wrote. */
const isJunk = (path) =>
  path.split("/").some((part) => part.startsWith(".") || part.startsWith("~$") || JUNK.has(part.toLowerCase()));

/** What was dropped: {files: [{path, file}], failed: [names of what couldn't be opened]}. Call it while the drop lasts. */
export function dropped(transfer, most) {
  const found = [];
  const failed = [];
  const begun = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry?.() || item.getAsFile()); // before anything waits: then they are gone
  const full = () => found.length > most;

  async function walk(entry, folder) {
    if (!entry || full()) return;
    const path = `${folder}${entry.name}`;
    try {
      if (entry instanceof File) found.push({ path, file: entry });
      else if (entry.isFile) found.push({ path, file: await new Promise((yes, no) => entry.file(yes, no)) });
      else if (!isJunk(path)) {
        const reader = entry.createReader();
        for (;;) {
          const some = await new Promise((yes, no) => reader.readEntries(yes, no)); // a hundred at a time
          if (!some.length) break;
          for (const child of some) await walk(child, `${path}/`);
        }
      }
    } catch {
      failed.push(path);
    }
  }

  return (async () => {
    for (const entry of begun) await walk(entry, "");
    return { files: found, failed };
  })();
}

/** A name without signs that can't be seen, or that turn what follows them around: the server takes none. */
export const plainName = (path) =>
  path
    .normalize()
    .replace(
      /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
      "",
    );

/** What was chosen with an input, of files or of a folder. */
export const chosen = (input) => ({
  files: [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })),
  failed: [],
});

const order = new Intl.Collator("en", { numeric: true });

/** Files without those of no use, in order: {files, junk: how many of those}. */
export function dropJunk(files) {
  const useful = files.filter(({ path }) => !isJunk(path)).sort((one, other) => order.compare(one.path, other.path));
  return { files: useful, junk: files.length - useful.length };
}

/** Why a file need not be sent at all, or nothing. */
export function refusalOf({ path, file }, { limits, missing }) {
  const name = path.split("/").pop();
  const suffix = name.includes(".") ? name.slice(name.lastIndexOf(".")).toLowerCase() : "";
  const media = MEDIA[(file.type || "").split("/")[0]];
  if (!file.size) return "empty; there is nothing to read in it";
  if (media) return `${media}, no text`;
  if ((missing || []).includes(suffix)) {
    return `${suffix} files need a part of Byline that is not installed here: pip install "byline[documents]", then start byline serve again; or save it as plain text`;
  }
  if (file.size > limits.file_bytes) {
    return `too large: ${(file.size / 1e6).toFixed(1)} MB, and ${Math.floor(limits.file_bytes / 1e6)} MB are the most`;
  }
  return "";
}

const parts = (path) => path.split("/");

/** The folder that holds everything, if there is one. */
function wrapper(files) {
  const [first] = parts(files[0]?.path || "");
  return files.length && files.every(({ path }) => parts(path).length > 1 && parts(path)[0] === first) ? first : null;
}

/** The files without the folder that holds all of them, which they remember. */
const unwrapped = (files) =>
  files.map((item) => ({ ...item, path: parts(item.path).slice(1).join("/"), folder: parts(item.path)[0] }));
const deep = (files) => files.some(({ path }) => parts(path).length > 2);

/** Texts in no order: the folder that holds all of them is not part of their names. */
export const asTexts = (files) => (wrapper(files) ? unwrapped(files) : files);

/** A corpus: what its folder holds; the folder of a single problem stays. */
export const asCorpus = (files) => (wrapper(files) && deep(files) ? asCorpus(unwrapped(files)) : files);

/** Texts by other people: folders are people, but a folder of files only is no person. */
export const asPeople = asTexts;

/** Author_Title.txt or "Author - Title.txt" -> the author. */
function authorInName(name) {
  const [, author] = name.match(/^(.+?)(?:_-_|_| - )(?=.)/) || [];
  return author ? author.trim() : "";
}

/** Files that hold texts by several authors. */
const WHOLE = /\.(zip|csv|tsv|jsonl)$/i;

/** Authors' texts: Author/text. What belongs to nobody has author "". */
export function asAuthors(files) {
  const inner = wrapper(files) && deep(files) ? unwrapped(files) : files;
  return inner.map((item) => {
    const [first, ...rest] = parts(item.path);
    if (rest.length || WHOLE.test(first)) return item;
    const author = authorInName(first);
    return { ...item, path: author ? `${author}/${first}` : first, orphan: !author };
  });
}

/** The author of a path, or "". */
export const authorOf = (path) => (parts(path).length > 1 ? parts(path)[0] : "");
