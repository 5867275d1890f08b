"""A Model on disk: safetensors with a JSON header; reading it is reading data, never running code."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from byline.alphabet import Alphabet
from byline.errors import ModelFileError, SettingsError
from byline.network import Weights
from byline.settings import Settings
from byline.training import Model

FORMAT = 1
"""Goes up when an older program could not read the file."""
HEADER = "byline"
"""Under which the JSON header stands among a safetensors file's metadata."""
LONGEST_HEADER = 10_000_000


class StoredModel(NamedTuple):
    """A model and the alphabet that its symbols are numbers of."""

    model: Model
    alphabet: Alphabet


def model_bytes(model: Model, alphabet: Alphabet) -> bytes:
    """The whole content of a model file; the same model gives the same bytes."""
    header = {
        "format": FORMAT,
        "alphabet": alphabet.symbols,
        "settings": asdict(model.settings),
        "curve": list(model.curve),
    }
    tensors = {name: np.ascontiguousarray(array) for name, array in model.weights._asdict().items()}
    return save(tensors, {HEADER: json.dumps(header, sort_keys=True)})


def read_model(path: Path) -> StoredModel:
    """The model in a file; one that is damaged, too new or no model at all is refused with a reason."""
    try:
        with safe_open(path, framework="numpy") as file:
            header = _header((file.metadata() or {}).get(HEADER), path)
            if unknown := set(file.keys()) ^ set(Weights._fields):
                raise ModelFileError(f"{path}: its tensors are not those of a model ({', '.join(sorted(unknown))})")
            weights = Weights(**{name: file.get_tensor(name) for name in Weights._fields})
    except (SafetensorError, OSError) as error:
        raise ModelFileError(f"{path}: no readable model file ({error}); copy or train it again") from None
    return _checked(weights, header, path)


def _header(text: str | None, path: Path) -> dict[str, Any]:
    if text is None:
        raise ModelFileError(f"{path}: a safetensors file, but none of Byline's; name a model that Byline wrote")
    try:
        header = json.loads(text) if len(text) <= LONGEST_HEADER else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ModelFileError(f"{path}: its header is damaged; copy or train it again")
    if header["format"] > FORMAT:
        raise ModelFileError(f"{path}: written by a newer Byline (format {header['format']}); update Byline to read it")
    return header


def _checked(weights: Weights, header: dict[str, Any], path: Path) -> StoredModel:
    """The parts put together, if they fit each other."""
    symbols, values, curve = header.get("alphabet"), header.get("settings"), header.get("curve")
    if not isinstance(symbols, str) or not isinstance(values, dict) or not isinstance(curve, list):
        raise ModelFileError(f"{path}: its header is damaged; copy or train it again")
    try:
        settings = Settings().change(values)
    except SettingsError as error:
        raise ModelFileError(f"{path}: its settings are damaged ({error}); copy or train it again") from None
    hidden, count, heads = settings.hidden, len(symbols), len(weights.heads) if weights.heads.ndim else 0
    shapes = ((count, hidden), (hidden, hidden), (hidden,), (heads, hidden, count), (heads, count))
    fits = all(
        array.dtype == np.float32 and array.shape == shape and np.isfinite(array).all()
        for array, shape in zip(weights, shapes, strict=True)
    )
    if not fits or len(set(symbols)) != count or not all(isinstance(bits, int | float) for bits in curve):
        raise ModelFileError(f"{path}: its parts don't fit each other; copy or train it again")
    return StoredModel(
        Model(weights, settings, tuple(float(bits) for bits in curve)), Alphabet(symbols, settings.text_rules)
    )
