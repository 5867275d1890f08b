from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from byline.alphabet import Alphabet
from byline.errors import ModelFileError
from byline.modelfile import HEADER, model_bytes, read_model
from byline.network import start_weights
from byline.settings import Settings
from byline.training import Model

ALPHABET = Alphabet(" ab¹")


def make_model(hidden: int = 5) -> Model:
    weights = start_weights(3, len(ALPHABET), hidden, "gaussian", np.random.default_rng(0))
    return Model(weights, Settings(hidden=hidden, rate=0.07), (3.5, 3.25))


@pytest.mark.parametrize("hidden", [0, 5])
def test_a_model_read_is_the_model_written(tmp_path: Path, hidden: int) -> None:
    model = make_model(hidden)
    path = tmp_path / "model.safetensors"
    path.write_bytes(model_bytes(model, ALPHABET))
    read, alphabet = read_model(path)
    assert alphabet == ALPHABET
    assert (read.settings, read.curve) == (model.settings, model.curve)
    for one, two in zip(read.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, two)
    assert model_bytes(read, alphabet) == path.read_bytes()


def with_header(**changes: object) -> bytes:
    model = make_model()
    header = {"format": 1, "alphabet": ALPHABET.symbols, "settings": {"hidden": 5}, "curve": [], **changes}
    return save({name: np.ascontiguousarray(array) for name, array in model.weights._asdict().items()}, {
        HEADER: json.dumps(header)
    })  # fmt: skip


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no readable model file"),
        (b"\x80\x04\x95 not a pickle either", "no readable model file"),
        (model_bytes(make_model(), ALPHABET)[:-7], "no readable model file"),
        (save({"a": np.zeros(3, np.float32)}), "none of Byline's"),
        (save({"a": np.zeros(3, np.float32)}, {HEADER: '{"format": 1}'}), "tensors are not those of a model"),
        (save({"a": np.zeros(3, np.float32)}, {HEADER: "[[["}), "header is damaged"),
        (with_header(format=99), "newer Byline"),
        (with_header(alphabet="abc"), "don't fit"),
        (with_header(alphabet="aabc"), "don't fit"),
        (with_header(alphabet=3), "header is damaged"),
        (with_header(settings={"hidden": -1}), "settings are damaged"),
        (with_header(settings={"nonsense": 1}), "settings are damaged"),
        (with_header(curve=["x"]), "don't fit"),
    ],
)
def test_a_file_that_is_no_model_is_refused_with_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=reason):
        read_model(path)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    model = make_model()
    model.weights.bias[0] = np.nan
    path = tmp_path / "model.safetensors"
    path.write_bytes(model_bytes(model, ALPHABET))
    with pytest.raises(ModelFileError, match="don't fit"):
        read_model(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"gone\.safetensors"):
        read_model(tmp_path / "gone.safetensors")


WHOLE = model_bytes(make_model(), ALPHABET)


@given(place=st.integers(0, len(WHOLE) - 1), byte=st.integers(0, 255), cut=st.integers(0, len(WHOLE)))
def test_any_damage_gives_a_model_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: int
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.safetensors"
    for content in (WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :], WHOLE[:cut]):
        path.write_bytes(content)
        with contextlib.suppress(ModelFileError):
            read_model(path)
