"""Everything that reads input from outside, as functions of bytes that must return or refuse.

Each target takes the bytes for a file, an archive or the files of a folder, and reads them as the program does. A
refusal is a BylineError, or a RefusedError for HTTP; anything else is a fault. If a file has a checksum, it is
corrected, so that the code behind the check is reached too.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from safetensors import safe_open
from safetensors.numpy import load, save

import format_writers
from byline.author_models.model import train_authors
from byline.author_models.model_file import HEADER as AUTHORS_HEADER
from byline.author_models.model_file import author_model_bytes, read_author_model
from byline.corpora.answers import read_answers, read_truth
from byline.corpora.author_corpus import make_author_corpus, read_author_corpus
from byline.corpora.documents import Document
from byline.corpora.formats import read_text
from byline.corpora.problems import Problem, ProblemSet, read_problems
from byline.corpora.reference import DESCRIPTION, Reference, ReferenceText, write_reference
from byline.corpora.reference_building import read_reference
from byline.errors import BylineError
from byline.figures.styles import read_styles
from byline.judgment.calibration import read_calibration
from byline.judgment.checks.problem_checks import find_cautions
from byline.judgment.likelihood_ratio import parse_prior
from byline.report.verification import verification_report
from byline.runs.folder import CAUTIONS, FOLDER, PLAN, TEXTS, RunOutput, read_cautions, read_plan, read_problem_file
from byline.runs.member_files import MEMBER, read_evidence, read_record
from byline.runs.request import parse_duration
from byline.settings.settings import Settings, parse_assignments, read_pool, read_settings
from byline.storage.files import checked_json, sha256
from byline.tasks.evaluate import evaluate_attributions, evaluate_clusterings
from byline.tasks.pan_collections import read_collection, read_text_folders
from byline.tasks.verify import verify
from byline.text.encoder import align_text, fit_encoder
from byline.web.file_names import check_path, storable
from byline.web.home import ID_BYTES, Home, Limits
from byline.web.job_options import Options, read_options
from byline.web.jobs import JOB, Job, Jobs
from byline.web.messages import RefusedError
from byline.web.uploads import unpack

REFUSALS = (BylineError, RefusedError)
PARTED = b"\n\0\n"  # between the files of a folder
PROSE = ("It was late, and nobody came.", "She said that she'd wait; he didn't. 12 of 30 \u2014 caf\u00e9s & inns!")


@dataclass(frozen=True)
class Target:
    """A reader: a function of bytes and a folder of its own, and valid bytes to begin with."""

    read: Callable[[bytes, Path], object]
    seeds: Sequence[bytes] = field(default=(), repr=False)

    def attack(self, data: bytes) -> str | None:
        """Let it read bytes; return its message if it refuses them."""
        with scratch() as folder:
            try:
                self.read(data, folder)
            except REFUSALS as refusal:
                return str(refusal)
        return None


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for one case, in memory if possible."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="byline-case-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def as_text(data: bytes) -> str:
    """Decode bytes to any text, including text that no file can hold."""
    return data.decode("utf-8", "surrogateescape")


def as_file(read: Callable[[Path], object], *names: str, seeds: Sequence[bytes] = ()) -> Target:
    """Make a target of a reader of one file, which may have several names."""

    def run(data: bytes, folder: Path) -> None:
        for name in names[:-1]:
            with suppress(*REFUSALS):
                read(write(folder, {name: data}) / name)
        read(write(folder, {names[-1]: data}) / names[-1])

    return Target(run, seeds)


def as_folder(read: Callable[[Path], object], seed: Mapping[str, bytes]) -> Target:
    """Make a target of a reader of a folder with these files, whose bytes are joined by PARTED."""

    def run(data: bytes, folder: Path) -> None:
        parts = data.split(PARTED)
        read(write(folder, dict(zip(seed, parts + [b""] * (len(seed) - len(parts)), strict=False))))

    return Target(run, [PARTED.join(seed.values())])


def sealed(data: bytes) -> bytes:
    """Correct the checksum of JSON; other bytes stay as they are."""
    try:
        values = json.loads(data)
        if isinstance(values, dict):
            values.pop("checksum", None)
            return checked_json(values)
    except (ValueError, RecursionError):
        pass
    return data


@cache
def problems() -> tuple[Problem, ...]:
    """Return problems that can be answered."""

    def text(number: int) -> str:
        return " ".join(PROSE[(number + each) % 2][: 20 + number] for each in range(12))

    return tuple(
        Problem(
            f"EN00{n}", (Document("known01.txt", text(2 * n)),), Document("unknown.txt", text(2 * n + 1)), "english"
        )
        for n in range(1, 7)
    )


@cache
def finished() -> Mapping[str, bytes]:
    """Return the files of a finished run."""
    with scratch() as folder:
        verify(ProblemSet(problems(), "folders"), Settings(engine="ngram", order=3), output=RunOutput(folder / FOLDER))
        return {
            str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
        }


@cache
def authors_model() -> bytes:
    """Return a model of three authors."""
    texts = [Document(problem.id, problem.known[0].text) for problem in problems()[:3]]
    settings = (Settings(engine="ngram", order=3),)
    return author_model_bytes(train_authors(make_author_corpus(texts, ["Ann", "Ben", "Cid"]), settings))


def with_header(model: bytes, name: str, header: str) -> bytes:
    """Return the arrays of a model with another header."""
    return save(load(model), {name: header})


def read_run_with(data: bytes, folder: Path) -> None:
    """Read a run with one file replaced, and its hash corrected; the first byte says which file."""
    names = list(finished())
    chosen = names[(data[0] if data else 0) % len(names)]
    changed = {**finished(), chosen: sealed(data[1:])}
    description = str(Path(chosen).with_name(MEMBER))
    if description in changed and chosen != description:
        changed[description] = hashed(changed[description], {Path(chosen).name: changed[chosen]})
    write(folder, changed)
    verification_report(folder)


def hashed(description: bytes, contents: Mapping[str, bytes]) -> bytes:
    """Correct the checksum of a member's description and its hashes of these files."""
    try:
        values = json.loads(description)
        named = values["files"]
        values["files"] = {name: sha256(contents[name]) if name in contents else named[name] for name in named}
        return sealed(json.dumps(values).encode())
    except (ValueError, TypeError, KeyError, RecursionError):
        return sealed(description)


def in_run(name: str, read: Callable[[Path], object]) -> Target:
    """Make a target of a reader of a run folder with one file replaced, with and without a correct checksum."""

    def run(data: bytes, folder: Path) -> None:
        for content in {data, sealed(data)}:
            try:
                read(write(folder, {**finished(), name: content}) / FOLDER)
            except REFUSALS:
                if content == sealed(data):
                    raise

    return Target(run, [finished()[name]])


@cache
def member_files() -> Mapping[str, bytes]:
    """Return the files of the finished run's member, its description first."""
    home = next(name for name in finished() if name.endswith(MEMBER)).removesuffix(MEMBER)
    found = {name.removeprefix(home): content for name, content in finished().items() if name.startswith(home)}
    return {MEMBER: found.pop(MEMBER), **found}


def read_member_with(data: bytes, folder: Path) -> None:
    """Read a member whose files are replaced, with correct hashes; a missing file is the original."""
    parts = dict(zip(member_files(), data.split(PARTED), strict=False))
    contents = {name: parts.get(name) or content for name, content in member_files().items()}
    write(folder, {**contents, MEMBER: hashed(contents[MEMBER], contents)})
    with suppress(*REFUSALS):
        read_evidence(folder)
    read_record(folder)


def read_header(data: bytes, folder: Path) -> None:
    """Read a model of authors with another header, with correct checksum and hashes."""
    text = data.decode("utf-8", "replace")
    try:
        values = json.loads(text)
        values["arrays"] = {name: sha256(array.tobytes()) for name, array in load(authors_model()).items()}
        text = json.dumps(values)
    except (ValueError, TypeError, RecursionError):
        pass
    header = f"{sha256(text.encode())} {text}"
    read_author_model(write(folder, {"m": with_header(authors_model(), AUTHORS_HEADER, header)}) / "m")


def header_of_authors() -> bytes:
    """A good one."""
    with scratch() as folder, safe_open(write(folder, {"m": authors_model()}) / "m", framework="numpy") as file:
        return str(file.metadata()[AUTHORS_HEADER]).partition(" ")[2].encode()


@cache
def built_reference() -> Mapping[str, bytes]:
    """Return the files of a built reference, its description first."""
    texts = [ReferenceText(problem.known[0], problem.id) for problem in problems()]
    with scratch() as folder:
        write_reference(Reference("english", tuple(texts)), folder / "built")
        found = {
            str(file.relative_to(folder / "built")): file.read_bytes() for file in sorted((folder / "built").rglob("*"))
            if file.is_file()
        }  # fmt: skip
    return {DESCRIPTION: found.pop(DESCRIPTION), **found}


def read_built_with(data: bytes, folder: Path) -> None:
    """Read a built reference with another description."""
    read_reference(write(folder, {**built_reference(), DESCRIPTION: sealed(data)}))


JOBS = ("0" * 2 * ID_BYTES, "1" * 2 * ID_BYTES)


def read_job(data: bytes, folder: Path) -> None:
    """Read a stored job of the web page: even a bad one is listed, so that it can be deleted."""
    other = sealed(json.dumps({**json.loads(a_job()), "id": JOBS[1]}).encode())
    write(folder, {f"jobs/{JOBS[0]}/{JOB}": sealed(data), f"jobs/{JOBS[1]}/{JOB}": other})
    jobs = Jobs(Home(folder))
    jobs.load()
    assert {job.to_json()["id"] for job in jobs.all()} >= {JOBS[1]}
    json.dumps([job.to_json() for job in jobs.all()])


def a_job() -> bytes:
    """A good one."""
    values = asdict(Job(JOBS[0], "question", "t", Options(), "done"))
    values.pop("progress")
    return checked_json({**values, "made": "2026-01-02T03:04:05Z"})


def read_archive(data: bytes, folder: Path) -> None:
    """Unpack an uploaded zip: no name in it may lead outside."""
    path = write(folder, {"a.zip": data}) / "a.zip"
    for file in unpack(path, "a.zip", Limits(), 10_000_000):
        if not file.skipped:
            name = check_path(file.name)
            assert ".." not in name.split("/"), name
            assert not name.startswith("/"), name


def read_name(data: bytes, folder: Path) -> None:
    """Use the name of an uploaded file: if it is accepted, a file inside the folder can have it."""
    name = "/".join(map(storable, check_path(as_text(data)).split("/")))
    place = folder / "texts" / name
    assert place.resolve().is_relative_to(folder.resolve()), name
    write(folder, {f"texts/{name}": b"x"})


def read_json_options(data: bytes, _: Path) -> None:
    """Read the options of a request of the web page."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return
    read_options(values)


def read_words(data: bytes, _: Path) -> None:
    """Parse values of the command line."""
    words = as_text(data)
    for parse in (parse_duration, parse_prior, lambda each: Settings().change(parse_assignments(each.split("\n")))):
        with suppress(*REFUSALS):
            parse(words)


def check_text(data: bytes, _: Path) -> None:
    """Normalize, align and check a text of any characters."""
    text = as_text(data)
    for language in ("english", "greek", "dutch"):
        for mask in ("none", "topic"):
            encoder = fit_encoder([text, PROSE[1]], language, Settings().text_rules, mask)
            trail = align_text(encoder, text)
            assert trail.symbols.tolist() == encoder.encode(text).tolist()
    half = len(text) // 2
    find_cautions([Problem("q", (Document("a", text[:half]),), Document("b", text[half:]), "english")])


def document(suffix: str, seed: bytes) -> Target:
    """Make a target of the reader of a format."""
    return Target(lambda data, _: read_text(data, suffix, f"file{suffix}"), [seed])


def part_of(suffix: str, pack: Callable[[str], bytes], seed: str) -> Target:
    """Make a target of a reader of packed documents, where the bytes are one part of a valid package."""
    return Target(lambda data, _: read_text(pack(data.decode("utf-8", "replace")), suffix, "file"), [seed.encode()])


def word_of(body: str) -> bytes:
    """Return a Word file with this document inside."""
    return format_writers.pack({"[Content_Types].xml": "<Types/>", "word/document.xml": body})


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD = f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>{PROSE[0]}</w:t></w:r></w:p></w:body></w:document>'
WRITERS = {ending: write for ending, write in format_writers.WRITERS.items() if ending not in (".htm", ".tei")}


CLUSTERS = b'[[{"document": "a"}, {"document": "b"}], [{"document": "c"}]]'


@cache
def targets() -> Mapping[str, Target]:
    """Return all targets by name."""
    texts = {"EN001/known01.txt": PROSE[0].encode() * 9, "EN001/unknown.txt": PROSE[1].encode() * 9}
    lines = "".join(json.dumps({"id": n, "pair": [PROSE[0], PROSE[1]]}) + "\n" for n in range(2)).encode()
    pool = b'description = "p"\nmembers = 2\n[shared]\nengine = "ngram"\n[[member]]\norder = 3\n[[member]]\norder = 4\n'
    calibration = files("byline") / "judgment" / "calibrations" / "best.json"
    infos = {"folder": "problem001", "language": "en"}
    candidates = {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate1"}]}
    return {
        **{f"document {ending}": document(ending, writer(PROSE)) for ending, writer in WRITERS.items()},
        "part of .docx": part_of(".docx", word_of, WORD),
        "part of .odt": part_of(".odt", format_writers.odt_of, f"<text:p>{PROSE[0]}<text:s/></text:p>"),
        "part of .epub": part_of(
            ".epub", lambda body: format_writers.epub_of({"one.xhtml": body}), f"<p>{PROSE[0]}</p>"
        ),
        "problems": as_folder(
            read_problems, {"contents.json": b'{"language": "English", "problems": ["EN001"]}', **texts}
        ),
        "pairs": as_file(read_problems, "pairs.jsonl", seeds=[lines]),
        "truth": as_file(
            read_truth, "truth.txt", "truth.json", "truth.jsonl", seeds=[b"EN001 Y\nEN002 N\n", b'{"EN001": "Y"}']
        ),
        "answers": as_file(
            read_answers, "answers.txt", "answers.jsonl", seeds=[b"EN001 0.5\n", b'{"id": "a", "value": 0.25}\n']
        ),
        "settings": as_file(read_settings, "s.toml", seeds=[b"hidden = 20\nrate = 0.1\nengine = 'rnn'\n"]),
        "pool": as_file(read_pool, "p.toml", seeds=[pool]),
        "table of writings": as_file(
            read_author_corpus, "t.csv", "t.tsv", "t.jsonl", seeds=[b"author,text\nAnn,It was late.\nBen,No.\n"]
        ),
        "table of looks": as_file(
            lambda path: read_styles(path, ("EN001", "EN002")),
            "l.csv",
            seeds=[b"name,label,color,group\nEN001,One,red,a\nEN002,Two,#00f,b\n"],
        ),
        "model of authors": as_file(read_author_model, "m", seeds=[authors_model()]),
        "header of a model of authors": Target(read_header, [header_of_authors()]),
        "plan": in_run(f"{FOLDER}/{PLAN}", read_plan),
        "texts of a run": in_run(f"{FOLDER}/{TEXTS}", lambda run: read_problem_file(run, read_plan(run))),
        "cautions of a run": in_run(f"{FOLDER}/{CAUTIONS}", lambda run: read_cautions(run, read_plan(run))),
        "member of a run": Target(read_member_with, [PARTED.join(member_files().values())]),
        "run": Target(read_run_with, [bytes([n]) + content for n, content in enumerate(finished().values())]),
        "calibration": as_file(read_sealed(read_calibration), "c.json", seeds=[calibration.read_bytes()]),
        "reference": as_folder(
            read_reference, {"Ann_one.txt": texts["EN001/known01.txt"], "Ben/two.txt": b"No. " * 99}
        ),
        "collection": as_folder(
            read_collection,
            {
                "collection-info.json": b'[{"problem-name": "problem00001", "language": "en", "encoding": "UTF-8"}]',
                "problem00001/problem-info.json": json.dumps(candidates).encode(),
                "problem00001/candidate1/known00001.txt": PROSE[0].encode(),
                "problem00001/unknown/unknown00001.txt": PROSE[1].encode(),
            },
        ),
        "texts to cluster": as_folder(
            read_text_folders,
            {"info.json": json.dumps([infos]).encode(), "problem001/document0001.txt": b"It was late."},
        ),
        "reference that was built": Target(read_built_with, [built_reference()[DESCRIPTION]]),
        "truth of attribution": as_folder(
            lambda folder: evaluate_attributions(folder / "answers-problem00001.json", folder / "ground-truth.json"),
            {
                "answers-problem00001.json": b'[{"unknown-text": "u1.txt", "predicted-author": "candidate1"}]',
                "ground-truth.json": b'{"ground_truth": [{"unknown-text": "u1.txt", "true-author": "candidate1"}]}',
            },
        ),
        "truth of clusters": as_folder(
            lambda folder: evaluate_clusterings(folder / "given", folder / "truth"),
            {
                "given/clustering.json": CLUSTERS,
                "given/ranking.json": b'[{"document1": "a", "document2": "b", "score": 0.5}]',
                "truth/clustering.json": CLUSTERS,
            },
        ),
        "job of the page": Target(read_job, [a_job()]),
        "archive": Target(read_archive, [format_writers.pack({"a/b.txt": "x", "c.txt": "y"})]),
        "name of an upload": Target(read_name, [b"folder/a text.txt", b"..\\x", b"C:con.txt"]),
        "options of the page": Target(read_json_options, [b'{"title": "t", "budget": 300, "none": 0.1, "keep": true}']),
        "words": Target(read_words, [b"1h30m", b"hidden=20\nrate=0.5", b"1:3"]),
        "text": Target(check_text, [" ".join(PROSE).encode(), "\u0391\u03c2\u0301 \ufb01 \u0130\u200f\u05d0".encode()]),
    }


def read_sealed(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return a reader that corrects the checksum first."""

    def run(path: Path) -> object:
        path.write_bytes(sealed(path.read_bytes()))
        return read(path)

    return run
