"""A calibration: the line that turns a score into a log-likelihood ratio, what it is of, and its file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from byline.errors import RunError, SettingsError
from byline.likelihood import Values, probability
from byline.storage import checked_json, read_checked_json, write_files

FoldsBy = Literal["texts", "unknown"]

FORMAT = 2
"""Goes up when an older program could not read the file."""
KIND = "calibration"
"""What the file says it is."""

LEAST = 1e-9
"""Bans: a cap that leaves less than this to bend in is none at all."""
STRAIGHT = 0.75
"""The share of the cap up to which a ratio is what the line gives."""
GREATEST = sys.float_info.max
MOST = 100
"""Bans that a cap can have; nobody has so many problems as to show more."""
# Least and greatest value of each number.
RANGES: dict[str, tuple[float, float]] = {
    "slope": (0, GREATEST),
    "offset": (-GREATEST, GREATEST),
    "cap": (0, MOST),
    "cap_different": (0, MOST),
    "threshold": (0, 0.5),
    "problems": (1, GREATEST),
    "texts": (1, GREATEST),
    "cllr": (0, GREATEST),
    "cllr_min": (0, GREATEST),
}
COUNTS = ("problems", "texts")
NAMES = ("interpretation", "preset")
LISTS = ("engines", "corpora")


class Caps(NamedTuple):
    """How far from 1 a likelihood ratio for the same author is at the most, and one for different authors; in bans."""

    same: float
    different: float


@dataclass(frozen=True)
class Calibration:
    """Natural log-likelihood ratio = offset + slope * score, up to the cap; a bad value is refused, never repaired."""

    slope: float
    """0 or more; 0 where scores say nothing."""
    offset: float
    cap: float
    """In bans: no likelihood ratio for the same author is given that is further from 1, for more is not borne out."""
    threshold: float
    """An answer whose probability at even odds is nearer to 0.5 than this is undecided."""
    interpretation: str
    """What made the scores: this way of reading, and the engines (see `settings.kinds_of`). It holds for no others."""
    engines: tuple[str, ...]
    preset: str
    problems: int
    """How many it was fitted on."""
    texts: int
    """Different ones among theirs."""
    corpora: tuple[str, ...]
    cllr: float
    """Bits a problem, cross-validated: see `byline.metrics.cllr`."""
    cllr_min: float
    """What of it even the best calibration of the same held-out ratios would leave."""
    folds_by: FoldsBy = "texts"
    """What two folds of the cross-validation never share: any text, or (`cllr` flatters then) the unknown text only."""
    cap_different: float | None = None
    """The cap for different authors; None where it is that for the same one, as in files of format 1."""

    def __post_init__(self) -> None:
        """Refuse what is out of range or of the wrong type, all offences at once."""
        given = {name: getattr(self, name) for name in RANGES}
        offences = [
            fault
            for name, value in given.items()
            if (name, value) != ("cap_different", None) and (fault := _fault(name, value))
        ]
        offences += [f"{name} must be text" for name in NAMES if not isinstance(getattr(self, name), str)]
        offences += [f"{name} must be a tuple of names" for name in LISTS if not _are_names(getattr(self, name))]
        if self.folds_by not in get_args(FoldsBy):
            offences.append(f"folds_by must be one of {', '.join(get_args(FoldsBy))}, got {self.folds_by!r}")
        if offences:
            raise SettingsError("; ".join(offences))

    @property
    def caps(self) -> Caps:
        """Both, in bans."""
        return Caps(self.cap, self.cap if self.cap_different is None else self.cap_different)


def llr_bans(calibration: Calibration, scores: Sequence[float] | Values) -> Values:
    """(problems,): decimal logarithms of the likelihood ratios; 0 where there is no score (NaN)."""
    values = np.asarray(scores, np.float64)
    return np.where(
        np.isnan(values), 0, bend(line_bans(values, calibration.slope, calibration.offset), calibration.caps)
    )


def line_bans(scores: Values, slope: float, offset: float) -> Values:
    """(problems,): what the line gives, in bans."""
    with np.errstate(over="ignore"):  # whatever is beyond all numbers is beyond the cap too
        bans: Values = np.clip((offset + slope * scores) / np.log(10), -GREATEST, GREATEST)
    return bans


def bend(bans: Values, caps: Caps) -> Values:
    """(problems,): the same up to `STRAIGHT` of the cap; what is beyond nears the cap in order and never passes it."""
    return _bend(np.maximum(bans, 0), caps.same) - _bend(np.maximum(-bans, 0), caps.different)


def _bend(strengths: Values, cap: float) -> Values:
    """Of one side, 0 or more."""
    straight, room = STRAIGHT * cap, (1 - STRAIGHT) * cap
    if room < LEAST:
        return np.zeros_like(strengths)
    beyond = np.maximum(strengths - straight, 0)
    with np.errstate(over="ignore"):
        bent: Values = np.minimum(strengths, straight) - room * np.expm1(-beyond / room)
    return bent


def is_bent(calibration: Calibration, bans: float) -> bool:
    """Whether the line alone would have gone beyond the cap."""
    same, different = calibration.caps
    high, low = bend(np.array([same, -different], np.float64), calibration.caps).tolist()
    return bans != 0 and not low < bans < high


def undecided(calibration: Calibration, bans: Sequence[float] | Values) -> NDArray[np.bool_]:
    """(problems,): where no answer is given either way; it depends on the finding alone, not on a prior."""
    distances = np.abs(probability(bans) - 0.5)
    flags: NDArray[np.bool_] = (distances < calibration.threshold) | (distances == 0)
    return flags


class UnfitError(SettingsError):
    """A calibration of scores that are made in another way."""


def require_fit(calibration: Calibration, interpretation: str, engines: Sequence[str]) -> None:
    """Refuse a calibration of scores that are made in another way."""
    if (calibration.interpretation, set(calibration.engines)) != (interpretation, set(engines)):
        given = _made_by(calibration.interpretation, calibration.engines)
        raise UnfitError(
            f"the calibration is of {given}, these are {_made_by(interpretation, engines)};"
            " give one that was fitted to such scores"
        )


def builtin_calibration(interpretation: str, engines: Sequence[str]) -> Calibration | None:
    """The calibration inside the package for scores that are made in this way, or None."""
    for file in sorted((files("byline") / "calibrations").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            found = read_calibration(Path(str(file)))
            if (found.interpretation, set(found.engines)) == (interpretation, set(engines)):
                return found
    return None


def calibration_values(calibration: Calibration) -> dict[str, Any]:
    """A calibration in plain values, as JSON has them."""
    return {name: list(value) if name in LISTS else value for name, value in asdict(calibration).items()}


def calibration_from(values: Mapping[str, Any]) -> Calibration:
    """The calibration that plain values are of; others are refused."""
    if odd := sorted({"cap_different", *values} ^ {field.name for field in fields(Calibration)}):
        raise SettingsError(f"its values are not those of a calibration ({', '.join(odd)})")
    plain: dict[str, Any] = {name: tuple(held) if isinstance(held, list) else held for name, held in values.items()}
    return Calibration(**plain)


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file, whole or not at all."""
    write_files(
        path.parent, {path.name: checked_json({"format": FORMAT, "kind": KIND, **calibration_values(calibration)})}
    )


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file; one that is damaged, too new or no calibration at all is refused with a reason."""
    try:
        values = read_checked_json(path)
    except RunError as error:
        raise SettingsError(f"{error}; copy it or fit it again") from None
    except RecursionError:
        raise SettingsError(f"{path}: damaged, it is not what was written; copy it or fit it again") from None
    form = values.pop("format", None)
    if values.pop("kind", None) != KIND or isinstance(form, bool) or not isinstance(form, int) or form < 1:
        raise SettingsError(f"{path}: no calibration; name a file that Byline wrote as one")
    if form > FORMAT:
        raise SettingsError(f"{path}: written by a newer Byline (format {form}); update Byline to read it")
    try:
        return calibration_from(values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}; copy it or fit it again") from None


def _fault(name: str, value: Any) -> str | None:
    """What is wrong with a number, if anything is."""
    whole = name in COUNTS
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"{name} must be a {'whole ' if whole else ''}number, got {value!r}"
    least, greatest = RANGES[name]
    if least <= value <= greatest:
        return None
    if greatest < GREATEST:
        return f"{name} must be from {least} to {greatest}, got {value}"
    return f"{name} must be finite{f' and {least} or more' if least > -GREATEST else ''}, got {value}"


def _made_by(interpretation: str, engines: Sequence[str]) -> str:
    return f"{interpretation} scores by {', '.join(engines) or 'no engine'}"


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
