"""All that reads what comes from elsewhere, as functions of some bytes: what they may do is answer, or refuse.

Each target takes the bytes for a file, an archive or a folder's files, and reads them as the program does. A refusal is
a BylineError, or for what comes over HTTP a RefusedError; anything else is a find. Where a file has a checksum the
bytes are also sealed with the right one, so that what lies behind it is reached.
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

from safetensors.numpy import load, save

import scribes
from byline.answers import read_answers
from byline.attribution.collections import evaluate_collection, read_collection
from byline.attribution.file import HEADER as AUTHORS_HEADER
from byline.attribution.file import author_model_bytes, read_author_model
from byline.attribution.model import train_authors
from byline.attribution.writings import read_writings, writings_of
from byline.calibration import read_calibration
from byline.cautions import find_cautions
from byline.cautions.file import read_cautions
from byline.clusterfiles import evaluate_clusterings, read_text_folders
from byline.documents import Document
from byline.dossiers.verification import verification_dossier
from byline.ensemble import parse_duration
from byline.errors import BylineError
from byline.execution import Keep
from byline.figures.canvas import is_colour
from byline.figures.metadata import read_looks
from byline.formats import READERS, read_text
from byline.keepsakes import read_kept_problems
from byline.likelihood import parse_prior
from byline.memberfiles import MEMBER
from byline.modelfile import read_model
from byline.places import trace
from byline.pools import read_pool
from byline.problems import Problem, ProblemSet, read_problems
from byline.reference import Reference, ReferenceText, read_reference
from byline.reference.folder import DESCRIPTION, write_reference
from byline.runs import CAUTIONS, FOLDER, PLAN, TEXTS, read_plan, read_record
from byline.settings import Settings, parse_assignments, read_settings
from byline.storage import checked_json, sha256
from byline.testimony import read_evidence
from byline.truth import read_truth
from byline.verification import verify
from byline.views import learn_view
from byline.web.archives import unpack
from byline.web.home import NAME_BYTES, Home
from byline.web.jobs import JOB, Job, Jobs
from byline.web.limits import Limits, RefusedError
from byline.web.names import plain_path, storable
from byline.web.options import Options, read_options

REFUSALS = (BylineError, RefusedError)
PARTED = b"\n\0\n"
"""Between the files of a folder."""
PROSE = ("It was late, and nobody came.", "She said that she'd wait; he didn't. 12 of 30 \u2014 caf\u00e9s & inns!")


@dataclass(frozen=True)
class Target:
    """Something that reads: what it does with bytes in a folder of its own, and some good bytes to begin with."""

    read: Callable[[bytes, Path], object]
    seeds: Sequence[bytes] = field(default=(), repr=False)

    def attack(self, data: bytes) -> str | None:
        """Have it read these bytes; what it says where it refuses them."""
        with scratch() as folder:
            try:
                self.read(data, folder)
            except REFUSALS as refusal:
                return str(refusal)
        return None


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one case, in memory where that can be."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="byline-case-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Put files into a folder, whatever they hold."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def as_text(data: bytes) -> str:
    """Words of any kind, also those that no file can hold."""
    return data.decode("utf-8", "surrogateescape")


def as_file(read: Callable[[Path], object], *names: str, seeds: Sequence[bytes] = ()) -> Target:
    """A reader of one file, which may be called this or that."""

    def run(data: bytes, folder: Path) -> None:
        for name in names[:-1]:
            with suppress(*REFUSALS):
                read(write(folder, {name: data}) / name)
        read(write(folder, {names[-1]: data}) / names[-1])

    return Target(run, seeds)


def as_folder(read: Callable[[Path], object], seed: Mapping[str, bytes]) -> Target:
    """A reader of a folder with these files: the bytes for them, parted."""

    def run(data: bytes, folder: Path) -> None:
        parts = data.split(PARTED)
        read(write(folder, dict(zip(seed, parts + [b""] * (len(seed) - len(parts)), strict=False))))

    return Target(run, [PARTED.join(seed.values())])


def sealed(data: bytes) -> bytes:
    """JSON with the checksum that it should have; what is none stays as it is."""
    try:
        values = json.loads(data)
        if isinstance(values, dict):
            values.pop("checksum", None)
            return checked_json(values)
    except (ValueError, RecursionError):
        pass
    return data


# Good files to begin with


@cache
def problems() -> tuple[Problem, ...]:
    """Some that can be answered, though to no purpose."""

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
    """The files of a finished run."""
    with scratch() as folder:
        verify(ProblemSet(problems(), "folders"), Settings(engine="ngram", order=3), keep=Keep(folder / FOLDER))
        return {
            str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
        }


@cache
def authors_model() -> bytes:
    """A model of three authors."""
    texts = [Document(problem.id, problem.known[0].text) for problem in problems()[:3]]
    settings = (Settings(engine="ngram", order=3),)
    return author_model_bytes(train_authors(writings_of(texts, ["Ann", "Ben", "Cid"]), settings))


def with_header(model: bytes, name: str, header: str) -> bytes:
    """The model's arrays below another header."""
    return save(load(model), {name: header})


# What reads


def read_run_with(data: bytes, folder: Path) -> None:
    """A run of which one file is another, with the right hash: the first byte says which."""
    names = list(finished())
    chosen = names[(data[0] if data else 0) % len(names)]
    changed = {**finished(), chosen: sealed(data[1:])}
    description = str(Path(chosen).with_name(MEMBER))
    if description in changed and chosen != description:
        changed[description] = hashed(changed[description], {Path(chosen).name: changed[chosen]})
    write(folder, changed)
    verification_dossier(folder)


def hashed(description: bytes, contents: Mapping[str, bytes]) -> bytes:
    """A member's description, sealed, with the right hashes of those of these files that it names."""
    try:
        values = json.loads(description)
        named = values["files"]
        values["files"] = {name: sha256(contents[name]) if name in contents else named[name] for name in named}
        return sealed(json.dumps(values).encode())
    except (ValueError, TypeError, KeyError, RecursionError):
        return sealed(description)


def in_run(name: str, read: Callable[[Path], object]) -> Target:
    """A reader of a run's folder of which one file is another; once as the bytes are, once sealed."""

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
    """Those of the finished run's member, its description first."""
    home = next(name for name in finished() if name.endswith(MEMBER)).removesuffix(MEMBER)
    found = {name.removeprefix(home): content for name, content in finished().items() if name.startswith(home)}
    return {MEMBER: found.pop(MEMBER), **found}


def read_member_with(data: bytes, folder: Path) -> None:
    """A member whose files are the bytes, parted, with the right hashes; a file that is wanting is as it was."""
    parts = dict(zip(member_files(), data.split(PARTED), strict=False))
    contents = {name: parts.get(name) or content for name, content in member_files().items()}
    write(folder, {**contents, MEMBER: hashed(contents[MEMBER], contents)})
    with suppress(*REFUSALS):
        read_evidence(folder)
    read_record(folder)


def read_header(data: bytes, folder: Path) -> None:
    """A model of authors whose header is the bytes, with the right checksum and the right hashes."""
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
    with scratch() as folder:
        from safetensors import safe_open

        with safe_open(write(folder, {"m": authors_model()}) / "m", framework="numpy") as file:
            return str(file.metadata()[AUTHORS_HEADER]).partition(" ")[2].encode()


@cache
def built_reference() -> Mapping[str, bytes]:
    """The files of a reference that was built, its description first."""
    texts = [ReferenceText(problem.known[0], problem.id) for problem in problems()]
    with scratch() as folder:
        write_reference(Reference("english", tuple(texts)), folder / "built")
        found = {
            str(file.relative_to(folder / "built")): file.read_bytes() for file in sorted((folder / "built").rglob("*"))
            if file.is_file()
        }  # fmt: skip
    return {DESCRIPTION: found.pop(DESCRIPTION), **found}


def read_built_with(data: bytes, folder: Path) -> None:
    """A reference that was built, with another description."""
    read_reference(write(folder, {**built_reference(), DESCRIPTION: sealed(data)}))


JOBS = ("0" * 2 * NAME_BYTES, "1" * 2 * NAME_BYTES)


def read_job(data: bytes, folder: Path) -> None:
    """A job that the page kept: whatever it is, the page lists it beside others, so that it can be deleted."""
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
    """A zip that was dropped on the page: nothing of it may lead elsewhere."""
    path = write(folder, {"a.zip": data}) / "a.zip"
    for file in unpack(path, "a.zip", Limits(), 10_000_000):
        if not file.passed_over:
            name = plain_path(file.name)
            assert ".." not in name.split("/"), name
            assert not name.startswith("/"), name


def read_name(data: bytes, folder: Path) -> None:
    """A name that came with a file: where it is taken, a file can have it, inside the folder."""
    name = "/".join(map(storable, plain_path(as_text(data)).split("/")))
    place = folder / "texts" / name
    assert place.resolve().is_relative_to(folder.resolve()), name
    write(folder, {f"texts/{name}": b"x"})


def read_json_options(data: bytes, _: Path) -> None:
    """What the page asks for."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return
    read_options(values)


def read_words(data: bytes, _: Path) -> None:
    """What is given on a command line."""
    words = as_text(data)
    for parse in (parse_duration, parse_prior, lambda each: Settings().change(parse_assignments(each.split("\n")))):
        with suppress(*REFUSALS):
            parse(words)


def look_at_text(data: bytes, _: Path) -> None:
    """A text of any characters as all looks at it that does not learn: normalised, placed, compared, warned of."""
    text = as_text(data)
    for language in ("english", "greek", "dutch"):
        for mask in ("none", "topic"):
            view = learn_view([text, PROSE[1]], language, Settings().text_rules, mask)
            trail = trace(view, text)
            assert trail.symbols.tolist() == view.encode(text).tolist()
    half = len(text) // 2
    find_cautions([Problem("q", (Document("a", text[:half]),), Document("b", text[half:]), "english")])


def document(suffix: str, seed: bytes) -> Target:
    """A reader of documents."""
    return Target(lambda data, _: read_text(data, suffix, f"file{suffix}"), [seed])


def part_of(suffix: str, pack: Callable[[str], bytes], seed: str) -> Target:
    """A reader of packed documents: the bytes are a part inside a good package."""
    return Target(lambda data, _: read_text(pack(data.decode("utf-8", "replace")), suffix, "file"), [seed.encode()])


def word_of(body: str) -> bytes:
    """A Word file with this document inside."""
    return scribes.pack({"[Content_Types].xml": "<Types/>", "word/document.xml": body})


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD = f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>{PROSE[0]}</w:t></w:r></w:p></w:body></w:document>'
WRITERS: Mapping[str, Callable[[Sequence[str]], bytes]] = {
    ".txt": scribes.txt, ".md": scribes.markdown, ".html": scribes.page, ".docx": scribes.docx, ".odt": scribes.odt,
    ".pdf": scribes.pdf, ".epub": scribes.epub, ".rtf": scribes.rtf, ".xml": scribes.tei,
}  # fmt: skip


CLUSTERS = b'[[{"document": "a"}, {"document": "b"}], [{"document": "c"}]]'


@cache
def targets() -> Mapping[str, Target]:
    """All of them by name."""
    assert {*READERS} <= {*WRITERS, ".htm", ".tei"}, "a format without a target"
    texts = {"EN001/known01.txt": PROSE[0].encode() * 9, "EN001/unknown.txt": PROSE[1].encode() * 9}
    lines = "".join(json.dumps({"id": n, "pair": [PROSE[0], PROSE[1]]}) + "\n" for n in range(2)).encode()
    pool = b'description = "p"\nmembers = 2\n[shared]\nengine = "ngram"\n[[member]]\norder = 3\n[[member]]\norder = 4\n'
    calibration = files("byline") / "calibrations" / "best.json"
    infos = {"folder": "problem001", "language": "en"}
    candidates = {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate1"}]}
    return {
        **{f"document {ending}": document(ending, writer(PROSE)) for ending, writer in WRITERS.items()},
        "part of .docx": part_of(".docx", word_of, WORD),
        "part of .odt": part_of(".odt", scribes.odt_of, f"<text:p>{PROSE[0]}<text:s/></text:p>"),
        "part of .epub": part_of(".epub", lambda body: scribes.epub_of({"one.xhtml": body}), f"<p>{PROSE[0]}</p>"),
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
            read_writings, "t.csv", "t.tsv", "t.jsonl", seeds=[b"author,text\nAnn,It was late.\nBen,No.\n"]
        ),
        "table of looks": as_file(
            lambda path: read_looks(path, ("EN001", "EN002"), is_colour),
            "l.csv",
            seeds=[b"name,label,colour,group\nEN001,One,red,a\nEN002,Two,#00f,b\n"],
        ),
        "model": as_file(read_model, "m", seeds=[model_seed()]),
        "model of authors": as_file(read_author_model, "m", seeds=[authors_model()]),
        "header of a model of authors": Target(read_header, [header_of_authors()]),
        "plan": in_run(f"{FOLDER}/{PLAN}", read_plan),
        "texts of a run": in_run(f"{FOLDER}/{TEXTS}", lambda run: read_kept_problems(run, read_plan(run))),
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
            lambda folder: evaluate_collection(folder / "answers-problem00001.json", folder / "ground-truth.json"),
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
        "archive": Target(read_archive, [scribes.pack({"a/b.txt": "x", "c.txt": "y"})]),
        "name of an upload": Target(read_name, [b"folder/a text.txt", b"..\\x", b"C:con.txt"]),
        "options of the page": Target(read_json_options, [b'{"title": "t", "budget": 300, "none": 0.1, "keep": true}']),
        "words": Target(read_words, [b"1h30m", b"hidden=20\nrate=0.5", b"1:3"]),
        "text": Target(
            look_at_text, [" ".join(PROSE).encode(), "\u0391\u03c2\u0301 \ufb01 \u0130\u200f\u05d0".encode()]
        ),
    }


def read_sealed(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader of a file with a checksum, which is set right."""

    def run(path: Path) -> object:
        path.write_bytes(sealed(path.read_bytes()))
        return read(path)

    return run


def model_seed() -> bytes:
    """A network's file."""
    import numpy as np

    from byline.alphabet import Alphabet
    from byline.modelfile import model_bytes
    from byline.network import start_weights
    from byline.training import Model

    alphabet = Alphabet(" ab")
    weights = start_weights(2, len(alphabet), 3, "gaussian", np.random.default_rng(0))
    return model_bytes(Model(weights, Settings(hidden=3), (3.0,)), alphabet)
