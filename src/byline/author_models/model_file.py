"""A model of authors on disk: a safetensors file with a JSON header. Reading it runs no code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from byline.author_models.model import ENGINES, AuthorModel
from byline.corpora.documents import classify_path
from byline.engines.rnn.network import Weights
from byline.engines.rnn.training import Model
from byline.errors import CorpusError, ModelFileError, RunError, SettingsError
from byline.judgment.candidates import CandidateCalibration
from byline.settings.settings import Settings
from byline.storage.files import hidden_name, resolve_file, sha256, write_error, write_files
from byline.text.encoder import SHORTEST, Alphabet, TextEncoder
from byline.text.normalize import Mask, TextRules

FORMAT = 1
"""Goes up when an older program could not read the file."""
HEADER = "byline-authors"
"""The key of the JSON header, after its checksum and a space, in the metadata of the safetensors file."""
MAX_HEADER = 100_000_000
MAX_SYMBOLS = 65_536
MAX_NUMBER = 1e6
"""Greater than any number of a calibration or a training curve."""
NAME_A_MODEL = "Name the file of a model of authors"
REPLACE = "Copy or train it again"


def write_author_model(path: Path | str, model: AuthorModel) -> None:
    """Write the file, whole or not at all."""
    path = Path(path)
    write_files(path.parent, {path.name: author_model_bytes(model)})


@contextmanager
def hold_model(path: Path) -> Iterator[Callable[[AuthorModel], None]]:
    """Lock a model's file while it is changed; yield the function that puts the new model in its place.

    Raises RunError if another process holds the lock, or, from that function, if the file was changed meanwhile.
    """
    _require_file(path)
    real = resolve_file(path)
    place = real.parent / f"{hidden_name(real.name)}lock"
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        remedy = "Wait for it, then run this again"
        raise RunError("another process is adding authors to it", where=path, remedy=remedy) from None
    except OSError as error:
        raise write_error(path, error) from None
    try:
        before = sha256(real.read_bytes())

        def replace(model: AuthorModel) -> None:
            if not real.is_file() or sha256(real.read_bytes()) != before:
                raise RunError("was changed meanwhile, and is left as it is now", where=path, remedy="Run this again")
            write_author_model(path, model)

        yield replace
    finally:
        with suppress(OSError):
            place.unlink()  # a process that waits for the lock sees that it is gone, and makes another
        lock.release()


def author_model_bytes(model: AuthorModel) -> bytes:
    """Return the content of the file; the same model gives the same bytes."""
    arrays: dict[str, NDArray[Any]] = {"owners": np.array(model.owners, np.int32)}
    for number, texts in enumerate(model.texts):
        arrays[f"text-{number}"] = np.concatenate([text.astype(np.uint16) for text in texts])
        arrays[f"lengths-{number}"] = np.array([len(text) for text in texts], np.int64)
    for number, network in model.networks.items():
        for name, array in network.weights._asdict().items():
            arrays[f"network-{number}-{name}"] = np.ascontiguousarray(array)
    header = {
        "format": FORMAT,
        "authors": list(model.authors),
        "titles": list(model.titles),
        "seed": model.seed,
        **({"trained": model.trained} if model.networks else {}),
        "views": [
            {
                "language": encoder.language,
                "rules": encoder.rules,
                "mask": encoder.mask,
                "alphabet": encoder.alphabet.symbols,
                "frequent": sorted(encoder.frequent),
            }
            for encoder in model.encoders
        ],
        "members": [asdict(member) for member in model.members],
        "judge": asdict(model.calibration),
        "curves": {str(number): list(network.curve) for number, network in model.networks.items()},
        "arrays": {name: sha256(array.tobytes()) for name, array in sorted(arrays.items())},
    }
    text = json.dumps(header, sort_keys=True)
    return save(arrays, {HEADER: f"{sha256(text.encode())} {text}"})  # of two entries either may come first


def looks_like_model(path: Path) -> bool:
    """Whether a path is a file that begins like a model; it may be damaged all the same."""
    try:
        return path.is_file() and _begins_like_model(path)
    except (OSError, ValueError):
        return False


def _begins_like_model(path: Path) -> bool:
    """Whether a file begins as safetensors files do: with eight bytes for the length of a JSON object, and that."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def read_author_model(path: Path | str) -> AuthorModel:
    """Read a model. Raise ModelFileError if the file is damaged, truncated, hostile or too new."""
    path = Path(path)
    _require_file(path)
    try:
        if not _begins_like_model(path):
            raise ModelFileError("not a Byline model", where=path, remedy=NAME_A_MODEL)
        with safe_open(path, framework="numpy") as file:
            header = _read_header(file.metadata() or {}, path)
            names = set(file.keys())
            if not isinstance(header.get("arrays"), dict) or names != set(header["arrays"]):
                raise ModelFileError("damaged: its arrays are not those of its header", where=path, remedy=REPLACE)
            arrays = {name: file.get_tensor(name) for name in sorted(names)}
    except (SafetensorError, OSError, TypeError, AttributeError, ValueError) as error:  # numpy lacks some types
        raise ModelFileError(f"can't be read as a model ({error})", where=path, remedy=REPLACE) from None
    for name, array in arrays.items():
        if sha256(array.tobytes()) != header["arrays"][name]:
            raise ModelFileError(f"damaged: {name} does not match its checksum", where=path, remedy=REPLACE)
    try:
        return _make_model(header, arrays)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, SettingsError) as error:
        raise ModelFileError(f"damaged ({error})", where=path, remedy=REPLACE) from None


def _require_file(path: Path) -> None:
    try:
        kind = classify_path(path, NAME_A_MODEL)
    except CorpusError as error:
        raise ModelFileError(error.what, where=error.where, remedy=error.remedy) from None
    if kind == "folder":
        raise ModelFileError("is a folder", where=path, remedy=NAME_A_MODEL)


def _read_header(metadata: Mapping[str, str], path: Path) -> dict[str, Any]:
    if HEADER not in metadata:
        raise ModelFileError("a safetensors file, but not a model of authors", where=path, remedy=NAME_A_MODEL)
    checksum, _, text = metadata[HEADER].partition(" ")
    try:
        header = json.loads(text) if len(text) <= MAX_HEADER else None
    except (ValueError, RecursionError):
        header = None
    number: Any = header.get("format") if isinstance(header, dict) else None
    if not isinstance(header, dict) or not _is_whole(number, 1):
        raise ModelFileError("its header is damaged", where=path, remedy=REPLACE)
    if number > FORMAT:
        what = f"written by a newer version of Byline (format {number})"
        raise ModelFileError(what, where=path, remedy="Update Byline to read it")
    if checksum != sha256(text.encode()):
        raise ModelFileError("damaged: its header does not match its checksum", where=path, remedy=REPLACE)
    return header


def _make_model(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> AuthorModel:
    """Put the parts together. Raise ValueError if they don't fit each other."""
    authors, titles = _strings(header["authors"], "authors"), _strings(header["titles"], "titles")
    _require(len(set(authors)) == len(authors) >= 2, "authors are repeated or too few")
    owners = _integers(arrays["owners"], np.int32, len(titles), 0, len(authors) - 1)
    _require(set(owners.tolist()) == set(range(len(authors))), "an author has no text")
    members = tuple(Settings().change(values) for values in header["members"])
    _require(bool(members) and all(member.engine in ENGINES for member in members), "a member can't attribute")
    encoders = tuple(_encoder(values) for values in header["views"])
    texts = tuple(_texts(arrays, number, encoder, len(titles)) for number, encoder in enumerate(encoders))
    calibration = _calibration(header["judge"], len(members))
    networks = {
        number: _network(arrays, number, member, header["curves"], len(authors))
        for number, member in enumerate(members)
        if member.engine == "rnn"
    }
    _require(_is_whole(seed := header["seed"], 0), "bad seed")
    wanted = {"owners", *(f"{kind}-{n}" for kind in ("text", "lengths") for n in range(len(encoders)))}
    wanted |= {f"network-{n}-{name}" for n in networks for name in Weights._fields}
    _require(set(arrays) == wanted, "it has arrays that belong to nothing")
    trained = header.get("trained", len(authors))  # older files lack it
    _require(_is_whole(trained, 2) and trained <= len(authors), "bad number of trained authors")
    model = AuthorModel(
        authors, tuple(owners.tolist()), titles, encoders, texts, members, calibration, seed, networks, trained
    )
    for number, member in enumerate(members):
        _require((member.text_rules, member.mask) in ((each.rules, each.mask) for each in encoders), "no encoder")
        if number in networks:
            symbols = networks[number].weights.head_bias.shape[1]
            _require(symbols == len(encoders[model.encoder_of(member)].alphabet), "a network has another alphabet")
    return model


def _require(fits: bool, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)


def _is_whole(number: Any, least: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= least


def _encoder(values: Mapping[str, Any]) -> TextEncoder:
    symbols, words = values["alphabet"], _strings(values["frequent"], "words")
    _require(isinstance(symbols, str) and sorted(set(symbols)) == list(symbols), "bad alphabet")
    _require(0 < len(symbols) <= MAX_SYMBOLS, "bad alphabet")
    symbols.encode()  # raises ValueError if there are lone surrogates
    _require(values["rules"] in get_args(TextRules) and values["mask"] in get_args(Mask), "bad text rules or mask")
    _require(isinstance(values["language"], str), "bad language")
    alphabet = Alphabet(symbols, values["rules"])
    return TextEncoder(values["language"], values["rules"], values["mask"], alphabet, frozenset(words))


def _texts(
    arrays: Mapping[str, NDArray[Any]], number: int, encoder: TextEncoder, count: int
) -> tuple[NDArray[np.int32], ...]:
    lengths = _integers(arrays[f"lengths-{number}"], np.int64, count, SHORTEST, 2**40)
    joined = arrays[f"text-{number}"]
    _require(joined.dtype == np.uint16 and joined.ndim == 1 and lengths.sum() == len(joined), "bad lengths of texts")
    _require(joined.max() < len(encoder.alphabet), "texts have symbols outside the alphabet")
    return tuple(np.split(joined.astype(np.int32), lengths.cumsum()[:-1]))


def _calibration(values: Mapping[str, Any], members: int) -> CandidateCalibration:
    weights, middle, slope, held_out = (values[name] for name in ("weights", "middle", "slope", "held_out"))
    _require(isinstance(weights, list) and len(weights) == members, "bad weights")
    _require(_are_numbers([*weights, middle, slope, held_out]) and isinstance(held_out, int), "bad weights")
    _require(min(*weights, slope, held_out) >= 0, "bad weights")
    return CandidateCalibration(tuple(map(float, weights)), float(middle), float(slope), held_out)


def _are_numbers(values: Any) -> bool:
    """Whether it is a list of finite numbers of a usual size."""
    return isinstance(values, list) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER  # False for NaN
        for value in values
    )


def _network(
    arrays: Mapping[str, NDArray[Any]], number: int, member: Settings, curves: Mapping[str, Any], authors: int
) -> Model:
    weights = Weights(**{name: arrays[f"network-{number}-{name}"] for name in Weights._fields})
    curve, hidden = curves[str(number)], member.hidden
    _require(_are_numbers(curve), "bad training curve")
    _require(weights.head_bias.ndim == 2 and len(weights.head_bias) >= authors, "a network has too few heads")
    heads, count = weights.head_bias.shape
    shapes = ((count, hidden), (hidden, hidden), (hidden,), (heads, hidden, count), (heads, count))
    for array, shape in zip(weights, shapes, strict=True):
        fits = array.dtype == np.float32 and array.shape == shape and bool(np.isfinite(array).all())
        _require(fits, "the weights of a network don't fit each other")
    return Model(weights, member, tuple(float(bits) for bits in curve))


def _strings(values: Any, what: str) -> tuple[str, ...]:
    _require(isinstance(values, list) and all(isinstance(value, str) for value in values), f"bad {what}")
    return tuple(values)


def _integers(array: NDArray[Any], kind: Any, count: int, least: int, most: int) -> NDArray[Any]:
    fits = array.dtype == kind and array.shape == (count,) and count > 0
    _require(fits and array.min() >= least and array.max() <= most, "numbers of texts don't fit each other")
    return array
