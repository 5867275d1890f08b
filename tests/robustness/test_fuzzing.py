"""Every reader of input returns or refuses with a message, whatever bytes it is given. See targets.py.

Each has some hundred cases, always the same; `make soak` tries a million others, guided by the code that they reach.
"""

from __future__ import annotations

import random
import time

import pytest

import format_writers
from targets import PARTED, member_files, targets

CASES = 200
SECONDS = 10
MARKS = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\r", b"\x1a", b"{", b"[" * 200, b'"',
    b"null", b"true", b"1e999", b"-1", b"NaN", b"99999999999999999999", b"../", b"/etc/passwd", b"%s%n", b"<!DOCTYPE a",
    b"&lol;", b"\\u0000", b'"\\ud800"', PARTED, b"PK\x05\x06", b"PK\x01\x02", b"=", b",", b"\n\n", b"a" * 99,
]  # fmt: skip
"""What trips readers up."""


def spoil(data: bytes, chance: random.Random) -> bytes:
    """Some bytes with a few changes: cut, doubled, overwritten, or with what trips readers up put in."""
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        place = chance.randrange(len(data) + 1)
        other = chance.randrange(len(data) + 1)
        begin, end = sorted((place, other))
        match chance.randrange(6):
            case 0:
                data = data[:place]
            case 1:
                data = data[:begin] + data[end:]
            case 2:
                data = data[:end] + data[begin:]
            case 3:
                data = data[:place] + chance.choice(MARKS) + data[place:]
            case 4:
                data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
            case _:
                data = data[:place] + chance.choice(MARKS) + data[place + chance.randrange(9) :]
    return data[:20_000]


@pytest.mark.parametrize("name", list(targets()))
def test_whatever_it_is_given_it_answers_or_says_why_not(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Documents are refused in one line, and the libraries that parse them log nothing."""
    target = targets()[name]
    chance = random.Random(name)
    document = name.startswith(("document", "part of"))
    for number in range(CASES // 10 if name == "run" else CASES):  # a whole run takes longer than all others
        data = spoil(chance.choice(target.seeds), chance) if number else b""
        begin = time.perf_counter()
        refusal = target.attack(data)  # anything but a refusal is raised, and fails
        assert time.perf_counter() - begin < SECONDS, data
        assert refusal is None or refusal.strip(), data
        assert not document or "\n" not in (refusal or ""), data
    assert not document or not caplog.records


@pytest.mark.parametrize("name", list(targets()))
def test_good_files_are_read(name: str) -> None:
    """Or the attacks would try nothing but refusals. Files of several names are refused under the last one."""
    target = targets()[name]
    assert target.seeds
    answered = [target.attack(seed) is None for seed in target.seeds]
    assert any(answered) or name in ("truth", "answers", "table of writings")


NAMELESS = format_writers.pack({"a/b.txt": "x", "c.txt": "y"}).replace(b"c.txt", b"\0.txt")
MEMBER_FILES = PARTED.join(member_files().values())
FINDS = [
    ("archive", NAMELESS),  # a file whose name is cut off by a NUL, so that it has none
    ("member of a run", MEMBER_FILES.replace(b"'fortran_order': ", b"'fortran_ord\xb6")),  # NumPy parses it as Python
    ("member of a run", MEMBER_FILES.replace(b'"evidence.json":', b'"/proc/self/pagemap":')),  # has no end
]
"""Cases that once were neither answered nor refused."""


@pytest.mark.parametrize(("name", "data"), FINDS)
def test_what_was_found_once_stays_mended(name: str, data: bytes) -> None:
    begin = time.perf_counter()
    assert data not in targets()[name].seeds
    targets()[name].attack(data)
    assert time.perf_counter() - begin < SECONDS
