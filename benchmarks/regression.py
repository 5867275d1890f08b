"""Record what two versions of Byline answer, and compare: a refactoring must not change a number.

python benchmarks/regression.py record before.json --program OLD/bin/byline
python benchmarks/regression.py record after.json --program NEW/bin/byline
python benchmarks/regression.py compare before.json after.json

Each job runs a command of the program with a fixed seed on the built-in texts or on corpora in $BYLINE_DATA, and keeps
every number of its JSON output and of the data inside its HTML report, in order. Names of JSON keys may differ between
versions, values may not. Times, versions, hashes of files and paths are left out.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

IGNORED = re.compile(
    r"second|elapsed|time|version|made|sha256|hash|size|path|command|digest|provenance|settings|python|machine"
)
"""Parts of keys whose values may differ between two runs of the same program."""
BLOB = re.compile(r"^H4sI[\w+/=]{20,}$")
"""Packed texts in a report: gzip in Base64."""
SMALL = ["--set", "hidden=12", "--set", "sub_epochs=3"]


def jobs(data: Path, texts: Path, out: Path) -> dict[str, list[str]]:
    """Return the command line of each job; later jobs may read what earlier ones wrote to `out`."""
    english, reviews, fiction = (
        data / "pan15-train-english",
        data / "pan14-train-du_reviews",
        data / "pan18-train-attribution",
    )
    problem = sorted(fiction.glob("problem*"))[2]
    unknown = sorted((problem / "unknown").iterdir())
    candidates = sorted(problem.glob("candidate*"))
    own = texts / "problems" / "problems"
    question = sorted(reviews.glob("*/unknown.txt"))[4].parent
    known = [word for file in sorted(question.glob("known*")) for word in ("--known", str(file))]
    fast = ["--engines", "ngram,vectors", "--members", "2", "--seed", "3"]
    return {
        "built-in, networks": [
            "verify",
            str(own),
            "-o",
            str(out / "a"),
            "--preset",
            "best",
            "--members",
            "3",
            *SMALL,
            "--seed",
            "1",
            "--json",
        ],
        "built-in, report": ["report", str(out / "a"), "-o", str(out / "a.html")],
        "built-in, explanation": ["explain", str(out / "a"), "EN001", "--json"],
        "built-in, members": ["runs", "show", str(out / "a"), "--truth", str(own), "--json"],
        "English 2015": ["verify", str(english), "-o", str(out / "b"), *fast, "--json"],
        "English 2015, report": ["report", str(out / "b"), "-o", str(out / "b.html"), "--truth", str(english)],
        "English 2015, measures": ["evaluate", str(out / "b"), str(english), "--json"],
        "Dutch reviews": ["verify", str(reviews), "-o", str(out / "c"), *fast, "--json"],
        "Dutch reviews, ranks": [
            "verify",
            str(reviews),
            "-o",
            str(out / "d"),
            "--interpret",
            "rank",
            "--engines",
            "ngram",
            "--members",
            "1",
            "--json",
        ],
        "one question": [
            "verify",
            *known,
            "--unknown",
            str(question / "unknown.txt"),
            "--reference",
            str(data / "pan15-train-dutch"),
            "--language",
            "dutch",
            "--json",
        ],
        "reference": ["reference", "check", str(data / "pan15-train-dutch"), str(reviews), "--json"],
        "authors": ["train", str(texts / "authors"), "-o", str(out / "m.byline"), "--json"],
        "attribution": [
            "attribute",
            str(out / "m.byline"),
            *map(str, unknown[:12]),
            "--json",
            "--report",
            str(out / "e.html"),
        ],
        "attribution, built-in": ["attribute", "--known", str(texts / "authors"), *map(str, unknown[:3]), "--json"],
        "rolling": [
            "rolling",
            str(out / "m.byline"),
            str(texts / "long.txt"),
            "--window",
            "1500",
            "--step",
            "500",
            "--json",
            "--report",
            str(out / "f.html"),
        ],
        "generation": ["generate", str(out / "m.byline"), "--author", candidates[0].name, "--length", "80", "--json"],
        "clusters": [
            "cluster",
            str(data / "pan16-train-clustering" / "problem003"),
            "--json",
            "--report",
            str(out / "g.html"),
        ],
        "calibration": [
            "calibrate",
            str(own),
            "-o",
            str(out / "calibration.json"),
            "--engines",
            "ngram",
            "--members",
            "1",
            "--json",
        ],
    }


def prepare(program: str, data: Path, texts: Path) -> None:
    """Write the built-in problems, texts of known authors and a text of several authors."""
    subprocess.run([program, "demo", "--texts", str(texts / "problems")], check=True, capture_output=True)
    problem = sorted((data / "pan18-train-attribution").glob("problem*"))[2]
    (texts / "authors").mkdir()
    for folder in sorted(problem.glob("candidate*")):
        (texts / "authors" / folder.name).symlink_to(folder)
    parts = [file.read_text("utf-8") for file in sorted((problem / "unknown").iterdir())[:4]]
    (texts / "long.txt").write_text("\n\n".join(parts), "utf-8")


def numbers(value: Any, key: str = "") -> Iterator[str]:
    """Yield the numbers and short words of a JSON value in order, without what may differ from run to run."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not IGNORED.search(str(name).lower()):
                yield from numbers(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, key)
    elif isinstance(value, str) and BLOB.match(value):
        yield from numbers(json.loads(gzip.decompress(base64.b64decode(value))), key)
    elif isinstance(value, bool) or value is None:
        yield str(value)
    elif isinstance(value, int | float):
        yield repr(value)


def report_data(page: str) -> Any:
    """Return the JSON that a report holds."""
    found = re.search(r'<script type="application/json" id="[\w-]+">(.*?)</script>', page, re.DOTALL)
    assert found, "the report holds no data"
    return json.loads(found[1])


def record(program: str, target: Path) -> None:
    data, found = Path(os.environ["BYLINE_DATA"]), {}
    with tempfile.TemporaryDirectory() as place:
        texts, out = Path(place) / "texts", Path(place) / "out"
        texts.mkdir()
        out.mkdir()
        prepare(program, data, texts)
        for name, words in jobs(data, texts, out).items():
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            print(f"{name}: exit code {done.returncode}", flush=True)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                sys.exit(1)
            pages = [Path(word) for word in words if word.endswith(".html")]
            values = [json.loads(done.stdout)] if "--json" in words else []
            found[name] = [each for page in pages for each in numbers(report_data(page.read_text("utf-8")))]
            found[name] += [each for value in values for each in numbers(value)]
    target.write_text(json.dumps(found), "utf-8")


def compare(first: Path, second: Path) -> int:
    """Print how many numbers differ in each job, and return 1 if any do."""
    before, after = (json.loads(path.read_text("utf-8")) for path in (first, second))
    faults = 0
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, []), after.get(name, [])
        differing = [place for place, pair in enumerate(zip(one, other, strict=False)) if not same(*pair)]
        faults += bool(differing) or len(one) != len(other)
        said = (
            "equal"
            if one == other
            else f"{len(differing)} differ, first {differing[:3]}, {len(one)} and {len(other)} values"
        )
        print(f"{name}: {len(one)} values, {said}")
    return int(faults > 0)


def same(one: str, other: str) -> bool:
    """Whether two values are equal; NaN equals itself."""
    return one == other or (one, other) == (str(math.nan),) * 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--program", default="byline")
    given = parser.parse_args()
    if given.action == "compare":
        return compare(*given.files)
    record(given.program, given.files[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
