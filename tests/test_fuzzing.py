"""Everything that reads is given what it can't expect: it answers, or refuses in a message. See targets.py.

Here some hundred cases each, fewer of whole runs, the same on every run; `make soak` tries a million others, guided by
what they reach.
"""

from __future__ import annotations

import random
import time

import pytest

import scribes
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
def test_whatever_it_is_given_it_answers_or_says_why_not(name: str) -> None:
    target = targets()[name]
    chance = random.Random(name)
    for number in range(CASES // 10 if name == "run" else CASES):  # a whole run takes longer than all others
        data = spoil(chance.choice(target.seeds), chance) if number else b""
        begin = time.perf_counter()
        refusal = target.attack(data)  # anything but a refusal is raised, and fails
        assert time.perf_counter() - begin < SECONDS, data
        assert refusal is None or refusal.strip(), data


@pytest.mark.parametrize("name", list(targets()))
def test_good_files_are_read(name: str) -> None:
    """Or the attacks would try nothing but refusals. Files of several names are refused under the last one."""
    target = targets()[name]
    assert target.seeds
    answered = [target.attack(seed) is None for seed in target.seeds]
    assert any(answered) or name in ("truth", "answers", "table of writings")


NAMELESS = scribes.pack({"a/b.txt": "x", "c.txt": "y"}).replace(b"c.txt", b"\0.txt")
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
