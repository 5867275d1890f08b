"""A model of authors on disk: one safetensors file with a JSON header; reading it is reading data, not running code."""

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

from byline.alphabet import Alphabet
from byline.attribution.model import ENGINES, AuthorModel
from byline.attribution.verdict import Judge
from byline.documents import look_at
from byline.errors import CorpusError, ModelFileError, RunError, SettingsError
from byline.network import Weights
from byline.settings import Mask, Settings, TextRules
from byline.storage import cant_write, hidden_name, real_file, sha256, write_files
from byline.training import Model
from byline.views import SHORTEST, View

FORMAT = 1
"""Goes up when an older program could not read the file."""
HEADER = "byline-authors"
"""Under which the JSON header, after its checksum and a space, stands in a safetensors file's metadata."""
LONGEST_HEADER = 100_000_000
MOST_SYMBOLS = 65_536
REMEDY = "name a file that byline train wrote"
GREATEST = 1e6
"""No number of a judge is as great."""


def write_author_model(path: Path | str, model: AuthorModel) -> None:
    """Write the file, whole or not at all."""
    path = Path(path)
    write_files(path.parent, {path.name: author_model_bytes(model)})


@contextmanager
def hold_model(path: Path) -> Iterator[Callable[[AuthorModel], None]]:
    """Hold a model's file while it is read and changed; gives the function that puts the new model in its place.

    Refused where another process holds it, and at the end where somebody has written over it meanwhile.
    """
    _require_file(path)
    real = real_file(path)
    place = real.parent / f"{hidden_name(real.name)}lock"
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(f"{path}: another process is adding authors to it; wait for it, then run this again") from None
    except OSError as error:
        raise cant_write(path, error) from None
    try:
        before = sha256(real.read_bytes())

        def replace(model: AuthorModel) -> None:
            if not real.is_file() or sha256(real.read_bytes()) != before:
                raise RunError(f"{path}: changed meanwhile, and left as it is now; run this again")
            write_author_model(path, model)

        yield replace
    finally:
        with suppress(OSError):
            place.unlink()  # who waits for it sees that it is gone, and makes another
        lock.release()


def author_model_bytes(model: AuthorModel) -> bytes:
    """The whole content of a file; the same model gives the same bytes."""
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
                "language": view.language,
                "rules": view.rules,
                "mask": view.mask,
                "alphabet": view.alphabet.symbols,
                "frequent": sorted(view.frequent),
            }
            for view in model.views
        ],
        "members": [asdict(member) for member in model.members],
        "judge": asdict(model.judge),
        "curves": {str(number): list(network.curve) for number, network in model.networks.items()},
        "arrays": {name: sha256(array.tobytes()) for name, array in sorted(arrays.items())},
    }
    text = json.dumps(header, sort_keys=True)
    return save(arrays, {HEADER: f"{sha256(text.encode())} {text}"})  # of two entries either may come first


def looks_like_model(path: Path) -> bool:
    """Whether a path is a file that begins as models do; it may be damaged all the same."""
    try:
        return path.is_file() and _begins_as_model(path)
    except (OSError, ValueError):
        return False


def _begins_as_model(path: Path) -> bool:
    """Safetensors files begin with eight bytes that say how long the JSON object after them is."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def read_author_model(path: Path | str) -> AuthorModel:
    """The model in a file; one that is damaged, truncated, hostile or too new is refused with a reason."""
    path = Path(path)
    _require_file(path)
    try:
        if not _begins_as_model(path):
            raise ModelFileError(f"{path}: not a Byline model; {REMEDY}")
        with safe_open(path, framework="numpy") as file:
            header = _header(file.metadata() or {}, path)
            names = set(file.keys())
            if not isinstance(header.get("arrays"), dict) or names != set(header["arrays"]):
                raise ModelFileError(f"{path}: damaged, its arrays are not those of its header; copy or train it again")
            arrays = {name: file.get_tensor(name) for name in sorted(names)}
    except (SafetensorError, OSError, TypeError, AttributeError, ValueError) as error:  # numpy has not all its kinds
        raise ModelFileError(f"{path}: no readable model file ({error}); copy or train it again") from None
    for name, array in arrays.items():
        if sha256(array.tobytes()) != header["arrays"][name]:
            raise ModelFileError(f"{path}: damaged, {name} is not what was written; copy or train it again")
    try:
        return _model(header, arrays)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, SettingsError) as error:
        raise ModelFileError(f"{path}: damaged ({error}); copy or train it again") from None


def _require_file(path: Path) -> None:
    try:
        kind = look_at(path, REMEDY)
    except CorpusError as error:
        raise ModelFileError(str(error)) from None
    if kind == "folder":
        raise ModelFileError(f"{path}: a folder; {REMEDY}")


def _header(metadata: Mapping[str, str], path: Path) -> dict[str, Any]:
    if HEADER not in metadata:
        raise ModelFileError(f"{path}: a safetensors file, but no model of authors; {REMEDY}")
    checksum, _, text = metadata[HEADER].partition(" ")
    try:
        header = json.loads(text) if len(text) <= LONGEST_HEADER else None
    except (ValueError, RecursionError):
        header = None
    number = header.get("format") if isinstance(header, dict) else None
    if not isinstance(header, dict) or not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{path}: its header is damaged; copy or train it again")
    if number > FORMAT:
        raise ModelFileError(f"{path}: written by a newer Byline (format {number}); update Byline to read it")
    if checksum != sha256(text.encode()):
        raise ModelFileError(f"{path}: damaged, its header is not what was written; copy or train it again")
    return header


def _model(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> AuthorModel:
    """The parts put together, if they fit each other."""
    authors, titles = _texts(header["authors"], "authors"), _texts(header["titles"], "titles")
    if len(set(authors)) != len(authors) or len(authors) < 2:
        raise ValueError("its authors are named twice, or too few")
    owners = _whole(arrays["owners"], np.int32, len(titles), 0, len(authors) - 1)
    if set(owners.tolist()) != set(range(len(authors))):
        raise ValueError("an author has no text")
    members = tuple(Settings().change(values) for values in header["members"])
    if any(member.engine not in ENGINES for member in members):
        raise ValueError("a member's engine can't attribute")
    views = tuple(_view(values) for values in header["views"])
    texts = tuple(_cut(arrays, number, view, len(titles)) for number, view in enumerate(views))
    judge = _judge(header["judge"], len(members))
    networks = {
        number: _network(arrays, number, member, header["curves"], len(authors))
        for number, member in enumerate(members)
        if member.engine == "rnn"
    }
    seed = header["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0 or not members:
        raise ValueError("its seed or members are none")
    wanted = {"owners", *(f"{kind}-{n}" for kind in ("text", "lengths") for n in range(len(views)))}
    wanted |= {f"network-{n}-{name}" for n in networks for name in Weights._fields}
    if set(arrays) != wanted:
        raise ValueError("it has arrays that belong to nothing")
    trained = header.get("trained", len(authors))  # older files don't say
    if not isinstance(trained, int) or isinstance(trained, bool) or not 2 <= trained <= len(authors):
        raise ValueError("more or fewer authors were trained than it has")
    model = AuthorModel(authors, tuple(owners.tolist()), titles, views, texts, members, judge, seed, networks, trained)
    for number, member in enumerate(members):
        try:
            place = model.view_of(member)
        except StopIteration:
            raise ValueError("a member has no view") from None
        if number in networks and networks[number].weights.head_bias.shape[1] != len(views[place].alphabet):
            raise ValueError("a network has another alphabet")
    return model


def _view(values: Mapping[str, Any]) -> View:
    symbols, words = values["alphabet"], _texts(values["frequent"], "words")
    if not isinstance(symbols, str) or sorted(set(symbols)) != list(symbols) or not 0 < len(symbols) <= MOST_SYMBOLS:
        raise ValueError("its alphabet is none")
    symbols.encode()  # lone surrogates are no symbols
    if values["rules"] not in get_args(TextRules) or values["mask"] not in get_args(Mask):
        raise ValueError("its rules are none")
    if not isinstance(values["language"], str):
        raise ValueError("its language is none")
    alphabet = Alphabet(symbols, values["rules"])
    return View(values["language"], values["rules"], values["mask"], alphabet, frozenset(words))


def _cut(arrays: Mapping[str, NDArray[Any]], number: int, view: View, count: int) -> tuple[NDArray[np.int32], ...]:
    lengths = _whole(arrays[f"lengths-{number}"], np.int64, count, SHORTEST, 2**40)
    joined = arrays[f"text-{number}"]
    if joined.dtype != np.uint16 or joined.ndim != 1 or lengths.sum() != len(joined):
        raise ValueError("its texts don't have their lengths")
    if joined.max() >= len(view.alphabet):
        raise ValueError("its texts have other symbols than its alphabet")
    return tuple(np.split(joined.astype(np.int32), lengths.cumsum()[:-1]))


def _judge(values: Mapping[str, Any], members: int) -> Judge:
    weights, middle, slope, held_out = (values[name] for name in ("weights", "middle", "slope", "held_out"))
    if not isinstance(weights, list) or len(weights) != members or not _plain([*weights, middle, slope, held_out]):
        raise ValueError("its weights are none")
    if min(*weights, slope, held_out) < 0 or not isinstance(held_out, int):
        raise ValueError("its weights are none")
    return Judge(tuple(map(float, weights)), float(middle), float(slope), held_out)


def _plain(numbers: Any) -> bool:
    """Whether it is a list of numbers, none of them beyond measure."""
    return isinstance(numbers, list) and all(
        isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < GREATEST  # and no NaN
        for number in numbers
    )


def _network(
    arrays: Mapping[str, NDArray[Any]], number: int, member: Settings, curves: Mapping[str, Any], authors: int
) -> Model:
    weights = Weights(**{name: arrays[f"network-{number}-{name}"] for name in Weights._fields})
    curve, hidden = curves[str(number)], member.hidden
    if not _plain(curve):
        raise ValueError("a network's curve is none")
    if weights.head_bias.ndim != 2 or len(weights.head_bias) < authors:
        raise ValueError("a network has too few heads")
    heads, count = weights.head_bias.shape
    shapes = ((count, hidden), (hidden, hidden), (hidden,), (heads, hidden, count), (heads, count))
    fits = all(
        array.dtype == np.float32 and array.shape == shape and np.isfinite(array).all()
        for array, shape in zip(weights, shapes, strict=True)
    )
    if not fits:
        raise ValueError("a network's parts don't fit each other")
    return Model(weights, member, tuple(float(bits) for bits in curve))


def _texts(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"its {what} are none")
    return tuple(values)


def _whole(array: NDArray[Any], kind: Any, count: int, least: int, most: int) -> NDArray[Any]:
    if array.dtype != kind or array.shape != (count,) or not count or array.min() < least or array.max() > most:
        raise ValueError("its numbers don't fit each other")
    return array
