"""Models of authors on disk: written exactly, and whatever else a file holds is refused with a reason."""

from __future__ import annotations

import copy
import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load, save

from byline.author_models.model import AuthorModel, enroll_authors, train_authors
from byline.author_models.model_file import (
    FORMAT,
    HEADER,
    author_model_bytes,
    hold_model,
    looks_like_model,
    read_author_model,
    write_author_model,
)
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.errors import ModelFileError, RunError
from byline.settings.settings import Settings
from byline.storage.files import sha256
from byline.tasks.attribute import attribute
from samples import habits

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

MEMBERS = (
    Settings(engine="ngram"),
    Settings(engine="ngram", mask="topic"),
    Settings(hidden=3, sub_epochs=2),
)
ASKED = [Document("asked", habits(1, 200, salt=9))]


@cache
def model() -> AuthorModel:
    chosen = [(author, salt) for author in range(3) for salt in range(2)]
    documents = [Document(f"{author}/{salt}.txt", habits(author, 150, salt)) for author, salt in chosen]
    return train_authors(make_author_corpus(documents, [f"Ann {author}" for author, _ in chosen], "english"), MEMBERS)


@cache
def whole() -> bytes:
    return author_model_bytes(model())


def parts(content: bytes) -> tuple[Header, Arrays]:
    """The JSON header, without its checksum, and the arrays of a file."""
    (length,) = struct.unpack("<Q", content[:8])
    _, _, header = json.loads(content[8 : 8 + length])["__metadata__"][HEADER].partition(" ")
    return json.loads(header), load(content)


def signed(header: object) -> str:
    """A header, or what stands for one, after the checksum that it ought to have."""
    text = header if isinstance(header, str) else json.dumps(header, sort_keys=True)
    return f"{sha256(text.encode())} {text}"


def resigned(header: Header, arrays: Arrays, hashes: bool = True) -> bytes:
    """A file of these parts, with the checksums that it ought to have."""
    if hashes:
        header = {**header, "arrays": {name: sha256(array.tobytes()) for name, array in arrays.items()}}
    return save(arrays, {HEADER: signed(header)})


def changed(change: Callable[[Header, Arrays], None]) -> bytes:
    """The model's file, changed and signed again."""
    header, arrays = parts(whole())
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    return resigned(header, arrays)


def raw(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    """A safetensors file, byte by byte."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def refusal(path: Path, content: bytes) -> str:
    """What is wrong with a file, which is named with what to do."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as error:
        read_author_model(path)
    assert error.value.where == str(path)
    assert error.value.remedy
    return error.value.what


class TestRoundTrip:
    def test_a_model_read_is_the_model_written(self, tmp_path: Path) -> None:
        path = tmp_path / "folder" / "m.byline"
        write_author_model(path, model())
        read, written = read_author_model(path), model()
        for name in ("authors", "owners", "titles", "encoders", "members", "calibration", "seed", "language"):
            assert getattr(read, name) == getattr(written, name)
        for one, two in zip(read.texts, written.texts, strict=True):
            assert [text.tobytes() for text in one] == [text.tobytes() for text in two]
            assert {text.dtype for text in one} == {np.dtype(np.int32)}
        assert list(read.networks) == list(written.networks) == [2]
        assert (read.networks[2].settings, read.networks[2].curve) == (MEMBERS[2], written.networks[2].curve)
        for mine, yours in zip(read.networks[2].weights, written.networks[2].weights, strict=True):
            np.testing.assert_array_equal(mine, yours)
        assert list(path.parent.iterdir()) == [path]
        assert attribute(read, ASKED) == attribute(written, ASKED)
        assert {author_model_bytes(model()) for _ in range(20)} == {path.read_bytes()} == {author_model_bytes(read)}

    def test_authors_can_be_enrolled_in_what_was_read(self, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        write_author_model(path, model())
        more = make_author_corpus([Document("x", habits(7, 150))], ["Bob"], "english")
        larger = enroll_authors(read_author_model(path), more)
        assert author_model_bytes(larger) == author_model_bytes(enroll_authors(model(), more))
        write_author_model(path, larger)
        assert read_author_model(path).authors == ("Ann 0", "Ann 1", "Ann 2", "Bob")

    def test_names_may_hold_anything(self, tmp_path: Path) -> None:
        names = ["Ё \u202e\n\x1b[2J", "\ud800", '"}]', ""]
        author_corpus = make_author_corpus(
            [Document(name, habits(n, 150)) for n, name in enumerate(names)], names, "english"
        )
        path = tmp_path / "m.byline"
        write_author_model(path, train_authors(author_corpus, MEMBERS[:1]))
        assert read_author_model(path).authors == read_author_model(path).titles == tuple(sorted(names))

    def test_a_place_that_cant_be_written_to_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x", "utf-8")
        with pytest.raises(RunError, match="can't be written to"):
            write_author_model(tmp_path / "file" / "m.byline", model())


class TestHolding:
    def test_the_new_model_takes_the_place_of_the_one_that_is_held(self, tmp_path: Path) -> None:
        path, link = tmp_path / "m.byline", tmp_path / "link.byline"
        write_author_model(path, model())
        link.symlink_to(path)
        with hold_model(link) as replace_with:
            with pytest.raises(RunError) as error, hold_model(path):
                pass
            assert (error.value.where, bool(error.value.remedy)) == (str(path), True)
            replace_with(replace(model(), seed=5))
        assert read_author_model(path).seed == 5
        assert sorted(child.name for child in tmp_path.iterdir()) == ["link.byline", "m.byline"]
        with hold_model(path):
            pass

    def test_what_was_written_over_meanwhile_is_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        write_author_model(path, model())
        with hold_model(path) as replace_with:
            path.write_bytes(b"another's")
            with pytest.raises(RunError, match="changed meanwhile"):
                replace_with(model())
        assert path.read_bytes() == b"another's"
        assert [child.name for child in tmp_path.iterdir()] == ["m.byline"]


class TestDamage:
    def test_no_bit_may_flip(self, tmp_path: Path) -> None:
        """One of each of many bytes, and all of those that say how long the header is."""
        path, content = tmp_path / "m.byline", whole()
        places = [*range(8 * 8), *range(8 * 8, 8 * len(content), 8 * len(content) // 700 | 1)]
        assert len({place % 8 for place in places}) == 8
        for place in places:
            damaged = bytearray(content)
            damaged[place // 8] ^= 1 << place % 8
            refusal(path, bytes(damaged))

    def test_no_byte_may_be_missing_or_too_many(self, tmp_path: Path) -> None:
        path, content = tmp_path / "m.byline", whole()
        for length in [*range(12), *range(12, len(content), len(content) // 300), len(content) - 1]:
            refusal(path, content[:length])
        for more in (b"\0", b"x" * 1000, content):
            refusal(path, content + more)

    @given(content=st.binary(max_size=200))
    @example(content=b"")
    @example(content=b"\x80\x04\x95\x10\x00\x00\x00")
    @example(content=b"PK\x03\x04")
    @settings(max_examples=200)
    def test_any_other_bytes_are_no_model(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        refusal(tmp_path_factory.mktemp("models") / "m.byline", content)

    def test_what_was_changed_and_not_signed_is_damaged(self, tmp_path: Path) -> None:
        header, arrays = parts(whole())
        checksum, _, text = signed(header).partition(" ")
        for other in (f"{checksum} {text.replace('Ann 0', 'Eve 0')}", f"{checksum} {text} ", f" {text}"):
            assert "checksum" in refusal(tmp_path / "m", save(arrays, {HEADER: other}))
        arrays["owners"] = arrays["owners"][::-1].copy()
        assert "owners" in refusal(tmp_path / "m", resigned(header, arrays, hashes=False))


class TestLooks:
    def test_a_model_looks_like_one_whole_or_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        for content in (whole(), whole()[:-1], whole()[:9]):
            path.write_bytes(content)
            assert looks_like_model(path)

    @pytest.mark.parametrize("content", [b"", b"It is a truth", b'{"a": 1}', whole()[:8], b"PK\x03\x04" * 9])
    def test_other_files_do_not(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(content)
        assert not looks_like_model(path)

    @pytest.mark.parametrize("path", ["gone", "/tmp", "/dev/null", "a\0b", "x" * 300])
    def test_nor_does_what_is_no_file(self, path: str) -> None:
        assert not looks_like_model(Path(path))


class TestNoModel:
    @pytest.mark.parametrize("place", ["gone", "", "x" * 300, "a\0b", "/dev/null"])
    def test_a_path_without_a_file_is_named(self, tmp_path: Path, place: str) -> None:
        path = tmp_path / place
        with pytest.raises(ModelFileError, match="Name the file of a model"):
            read_author_model(path)
        with pytest.raises(ModelFileError), hold_model(path):
            pass

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "not a Byline model"),
            (b"It is a truth universally acknowledged", "not a Byline model"),
            (b"It is a {truth", "can't be read"),
            (raw({}), "not a model of authors"),
            (save({"a": np.zeros(3, np.float32)}, {"byline": "{}"}), "not a model of authors"),
            *(
                (save({"a": np.zeros(3, np.float32)}, {HEADER: signed(header)}), "header")
                for header in (
                    "[[[", "[" * 100_000, "9" * 10_000, "[]", "{}", {"format": True}, {"format": 0}, {"format": "1"},
                    {"format": 1}, {"format": 1, "arrays": []},
                )
            ),
        ],
    )  # fmt: skip
    def test_files_of_other_kinds_are_refused(self, tmp_path: Path, content: bytes, reason: str) -> None:
        assert reason in refusal(tmp_path / "m.byline", content)

    def test_a_newer_format_is_refused_by_its_number_whatever_else_it_has(self, tmp_path: Path) -> None:
        newer = save({}, {HEADER: f"? {json.dumps({'format': FORMAT + 1, 'all': 'different'})}"})
        assert f"(format {FORMAT + 1})" in refusal(tmp_path / "m", newer)


KINDS = ["BOOL", "U8", "I8", "I16", "U16", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4", "F64", "C64", "XX"]
SHAPES = [[], [-1], [0], [0, 2**62], [2**62, 0, 4], [2**63, 0], [2**60], [2**64], [2**32, 2**32], [1] * 70, ["x"], None]


def hostile() -> Iterator[bytes]:
    """Files whose safetensors headers declare what is not there, or what no array can be."""
    sound = {"__metadata__": {HEADER: signed({"format": 1, "arrays": {"owners": sha256(b"")}})}}
    for kind in KINDS:
        yield raw({**sound, "owners": {"dtype": kind, "shape": [16], "data_offsets": [0, 16]}}, b"\2" * 16)
        yield raw({**sound, "owners": {"dtype": kind, "shape": [8], "data_offsets": [0, 16]}}, b"\2" * 16)
        yield raw({**sound, "owners": {"dtype": kind, "shape": [2], "data_offsets": [0, 16]}}, b"\2" * 16)
        yield raw({**sound, "owners": {"dtype": kind, "shape": [16], "data_offsets": [0, 8]}}, b"\2" * 8)
    for shape in SHAPES:
        size = 4 if shape in ([], [1] * 70) else 0
        yield raw({**sound, "owners": {"dtype": "I32", "shape": shape, "data_offsets": [0, size]}}, b"\0" * size)
    for offsets in ([0, 2**62], [2**62, 2**62 + 4], [4, 0], [-4, 0], [0, 2**64], [0], [], None, [1, 5], "0, 4"):
        for shape in ([1], [2**60]):
            yield raw({**sound, "owners": {"dtype": "I32", "shape": shape, "data_offsets": offsets}}, b"abcd")
    for length in (0, 1, 7, 10**6, 10**8, 2**31, 2**60, 2**63, 2**64 - 1):
        yield raw(sound, b"", length)
    yield raw({"__metadata__": {HEADER: 3}})
    yield raw({"__metadata__": []})
    yield raw({"__metadata__": None})
    yield raw(b'{"a":' * 100_000)
    yield raw(b"[" * 100_000)
    yield raw(b"\xff\xfe")
    yield raw(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "a": 1}', b"abcd")


class TestHostileFiles:
    def test_whatever_is_declared_it_is_refused_and_no_memory_is_asked_for(self, tmp_path: Path) -> None:
        """The process that reads them may have 200 MB more than it has."""
        for number, content in enumerate(hostile()):
            (tmp_path / f"{number}.byline").write_bytes(content)
        code = """
import resource, sys
from pathlib import Path
from byline.author_models.model_file import read_author_model
from byline.errors import ModelFileError
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000,) * 2)
refused = 0
for path in Path(sys.argv[1]).iterdir():
    try:
        read_author_model(path)
    except ModelFileError:
        refused += 1
print(refused)
"""
        done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert int(done.stdout) == len(list(hostile()))


def put(*place: str | int, value: object) -> Callable[[Header, Arrays], None]:
    """A change of one value in the header."""

    def change(header: Header, _: Arrays) -> None:
        inner: Any = header
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value

    return change


def drop(*place: str | int) -> Callable[[Header, Arrays], None]:
    def change(header: Header, _: Arrays) -> None:
        inner: Any = header
        for step in place[:-1]:
            inner = inner[step]
        del inner[place[-1]]

    return change


def recast(name: str, make: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Header, Arrays], None]:
    """A change of one array."""

    def change(_: Header, arrays: Arrays) -> None:
        arrays[name] = np.ascontiguousarray(make(arrays[name]))

    return change


def set_first(value: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    def make(array: NDArray[Any]) -> NDArray[Any]:
        array.flat[0] = value
        return array

    return make


def longer(name: str) -> Callable[[Header, Arrays], None]:
    return recast(name, lambda array: np.concatenate([array, array[:1]]))


def network(name: str) -> str:
    return f"network-2-{name}"


NAN = float("nan")
BAD: dict[str, Callable[[Header, Arrays], None]] = {
    "authors twice": put("authors", value=["Ann 0", "Ann 1", "Ann 0"]),
    "one author": put("authors", value=["Ann 0"]),
    "an author without texts": put("authors", value=["a", "b", "c", "d"]),
    "titles too few": put("titles", value=["x"]),
    "seed negative": put("seed", value=-1),
    "trained too many": put("trained", value=4),
    "no members": lambda header, _: header.update(members=[], judge={**header["judge"], "weights": []}),
    "a member of another engine": put("members", 0, value={"engine": "spread"}),
    "a member's hidden": put("members", 2, "hidden", value=4),
    "a member's rate": put("members", 2, "rate", value=NAN),
    "a member without a view": put("members", 0, "text_rules", value="scripts"),
    "a member without a network": put("members", 0, value={"engine": "rnn", "hidden": 3}),
    "a network without a member": put("members", 2, value={"engine": "ngram"}),
    "a view less": drop("views", 1),
    "alphabet shorter": lambda header, _: header["views"][0].update(alphabet=header["views"][0]["alphabet"][:-1]),
    "alphabet out of order": lambda header, _: header["views"][0].update(alphabet=header["views"][0]["alphabet"][::-1]),
    "alphabet of surrogates": lambda header, _: header["views"][1].update(
        alphabet=header["views"][1]["alphabet"] + "\ud800"
    ),
    "alphabet empty": put("views", 0, "alphabet", value=""),
    "alphabet beyond measure": put("views", 1, "alphabet", value="".join(map(chr, range(32, 0xD800))) + "\U00010000"
                                   + "".join(map(chr, range(0x10001, 0x14000)))),
    "mask": put("views", 0, "mask", value=None),
    "weights negative": put("judge", "weights", value=[1.0, -0.1, 1.0]),
    "weights beyond measure": put("judge", "weights", value=[1.0, 1e308, 1e308]),
    "middle nan": put("judge", "middle", value=NAN),
    "held out a fraction": put("judge", "held_out", value=1.5),
    "curve no numbers": put("curves", "2", value=["1.5"]),
    "owners of nobody": recast("owners", set_first(3)),
    "owners of another kind": recast("owners", lambda array: array.astype(np.int64)),
    "all owners the same": recast("owners", lambda array: array * 0),
    "lengths negative": recast("lengths-0", set_first(-5)),
    "lengths too short": recast("lengths-0", lambda array: np.array([11, array[0] + array[1] - 11, *array[2:]])),
    "lengths not those of the texts": recast("lengths-1", lambda array: array + 1),
    "texts of other symbols": recast("text-0", set_first(65535)),
    "texts longer": longer("text-0"),
    "an array too many": lambda _, arrays: arrays.update(extra=np.zeros(3, np.float32)),
    "an array missing": lambda _, arrays: arrays.__delitem__("text-1"),
    "weights of a network nan": recast(network("recurrent"), set_first(NAN)),
    "weights of a network of another kind": recast(network("input"), lambda array: array.astype(np.float64)),
    "biases of a network": recast(network("bias"), lambda array: array[:-1]),
    "heads of a network too few": recast(network("heads"), lambda array: array[:-1]),
}  # fmt: skip


def leaves(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all values in a header, inner and outer ones."""
    if place:
        yield place
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from leaves(child, (*place, step))


STRANGE = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**64, 10**400, 0.5, -0.5, 1e300, NAN, float("inf"), "", "x", "1", "\ud800",
    "ngram", "rnn", "topic", [], [None], [1], ["x"], {}, {"engine": "ngram"}, {"0": [1]},
]  # fmt: skip


class TestHeaders:
    def test_an_older_file_does_not_say_who_was_enrolled(self, tmp_path: Path) -> None:
        (tmp_path / "m.byline").write_bytes(changed(drop("trained")))
        assert read_author_model(tmp_path / "m.byline").trained == len(model().authors)

    def test_a_file_that_is_signed_again_is_read(self, tmp_path: Path) -> None:
        """So that what is refused below is refused for what was changed in it."""
        path = tmp_path / "m.byline"
        path.write_bytes(changed(lambda header, arrays: None))
        assert attribute(read_author_model(path), ASKED) == attribute(model(), ASKED)

    @pytest.mark.parametrize("name", BAD)
    def test_parts_that_do_not_fit_are_refused(self, tmp_path: Path, name: str) -> None:
        message = refusal(tmp_path / "m.byline", changed(BAD[name]))
        assert "damaged" in message
        assert "checksum" not in message  # they are right

    @given(data=st.data())
    @settings(max_examples=400)
    def test_a_header_with_a_strange_value_is_refused_or_answers(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        header, arrays = copy.deepcopy(parts(whole()))
        place = data.draw(st.sampled_from([each for each in leaves(header) if each[0] != "arrays"]))
        value = data.draw(st.sampled_from(STRANGE))
        check_strange(tmp_path_factory.mktemp("models") / "m.byline", header, arrays, place, value)


def check_strange(path: Path, header: Header, arrays: Arrays, place: tuple[str | int, ...], value: object) -> None:
    put(*place, value=value)(header, arrays)
    path.write_bytes(resigned(header, arrays))
    try:
        read = read_author_model(path)
    except ModelFileError as error:
        assert error.where == str(path)  # noqa: PT017 - some values are good
    else:
        (found,) = attribute(read, ASKED)
        assert sum(candidate.probability for candidate in found.ranking) + found.none == pytest.approx(1)
        assert author_model_bytes(read)
