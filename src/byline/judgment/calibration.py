"""Calibrations: the line that turns scores into log-likelihood ratios, its caps, and its file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from byline.corpora.answers import Answer
from byline.errors import RunError, SettingsError
from byline.judgment.likelihood_ratio import Values, probability
from byline.storage.files import checked_json, read_checked_json, write_files

FoldsBy = Literal["texts", "unknown"]

FORMAT = 5
"""Increased when older versions cannot read the file."""
SINGLE_QUESTIONS = WHOLE_CORPORA = 5
"""The first formats whose scores are those of single_questions.py, and those of whole_corpora.py."""
KIND = "calibration"
FIT_AGAIN = "Copy it again from its source, or fit it again"

LINEAR_SHARE = 0.75
"""The share of a cap up to which ratios are not compressed."""
MIN_ROOM = 1e-9
"""Bans: a cap that leaves less than this for compression allows no ratio but 1."""
MAX_FLOAT = sys.float_info.max
MAX_CAP = 100
"""Bans: more than any number of problems can support."""
RANGES: dict[str, tuple[float, float]] = {
    "slope": (0, MAX_FLOAT),
    "offset": (-MAX_FLOAT, MAX_FLOAT),
    "cap": (0, MAX_CAP),
    "cap_different": (0, MAX_CAP),
    "threshold": (0, 0.5),
    "problems": (1, MAX_FLOAT),
    "texts": (1, MAX_FLOAT),
    "cllr": (0, MAX_FLOAT),
    "cllr_min": (0, MAX_FLOAT),
}
COUNTS = ("problems", "texts")
NAMES = ("interpretation", "preset")
LISTS = ("engines", "corpora")


class Caps(NamedTuple):
    """The greatest likelihood ratios for the same author and for different authors, in bans."""

    same: float
    different: float


@dataclass(frozen=True)
class Calibration:
    """A line, natural log-likelihood ratio = offset + slope * score, with caps; raise SettingsError if invalid."""

    slope: float
    """0 or more; 0 if scores carry no information."""
    offset: float
    cap: float
    """In bans, the greatest likelihood ratio for the same author that the fit supports."""
    threshold: float
    """Answers whose probability at even odds is nearer to 0.5 than this are undecided."""
    interpretation: str
    """The scores' interpretation. It and the engines (see `settings.kinds_of`) must be those of the fit."""
    engines: tuple[str, ...]
    preset: str
    problems: int
    """The number of problems of the fit."""
    texts: int
    """The number of different texts of the fit."""
    corpora: tuple[str, ...]
    cllr: float
    """Bits per problem, cross-validated."""
    cllr_min: float
    """The part of `cllr` that remains after the best recalibration of the same held-out ratios."""
    folds_by: FoldsBy = "texts"
    """What folds of the cross-validation never share: any text, or the unknown text only (`cllr` is too low then)."""
    cap_different: float | None = None
    """The cap for different authors; None if it equals `cap`, as in files of format 1."""

    def __post_init__(self) -> None:
        offences = [fault for name in RANGES if (fault := _fault(name, getattr(self, name)))]
        offences += [f"{name} must be text" for name in NAMES if not isinstance(getattr(self, name), str)]
        offences += [f"{name} must be a tuple of names" for name in LISTS if not _are_names(getattr(self, name))]
        if self.folds_by not in get_args(FoldsBy):
            offences.append(f"folds_by must be one of {', '.join(get_args(FoldsBy))}, got {self.folds_by!r}")
        if offences:
            raise SettingsError("; ".join(offences))

    @property
    def caps(self) -> Caps:
        """Return both caps."""
        return Caps(self.cap, self.cap if self.cap_different is None else self.cap_different)


def llr_bans(
    calibration: Calibration, scores: Sequence[float] | Values, bounds: tuple[Values, Values] | None = None
) -> Values:
    """Return (problems,): log-likelihood ratios in bans; 0 where there is no score (NaN).

    Parameters
    ----------
    bounds
        For the same author and for different authors, (problems,) each: further caps of each ratio, in bans.
    """
    values = np.asarray(scores, np.float64)
    caps: tuple[float | Values, ...] = calibration.caps
    if bounds is not None:
        caps = tuple(np.minimum(cap, bound) for cap, bound in zip(calibration.caps, bounds, strict=True))
    bans = apply_caps(line_bans(values, calibration.slope, calibration.offset), *caps)
    return np.where(np.isnan(values), 0, bans)


def line_bans(scores: Values, slope: float, offset: float) -> Values:
    """Return (problems,): log-likelihood ratios in bans without caps."""
    with np.errstate(over="ignore"):  # an infinite ratio is capped later
        bans: Values = np.clip((offset + slope * scores) / np.log(10), -MAX_FLOAT, MAX_FLOAT)
    return bans


def apply_caps(bans: Values, same: float | Values, different: float | Values) -> Values:
    """Compress ratios beyond `LINEAR_SHARE` of a cap: they keep their order and never pass the cap.

    Parameters
    ----------
    same, different
        Caps for the same author and for different authors, in bans: one for all ratios, or one for each.
    """
    return _apply_cap(np.maximum(bans, 0), np.asarray(same)) - _apply_cap(np.maximum(-bans, 0), np.asarray(different))


def _apply_cap(bans: Values, cap: Values) -> Values:
    linear, room = LINEAR_SHARE * cap, (1 - LINEAR_SHARE) * cap
    beyond = np.maximum(bans - linear, 0)
    with np.errstate(over="ignore"):
        capped: Values = np.minimum(bans, linear) - room * np.expm1(-beyond / np.maximum(room, MIN_ROOM))
    return np.where(room < MIN_ROOM, 0, capped)


def bound_of(calibration: Calibration, answer: Answer) -> float:
    """Return the greatest ratio, in bans, that an answer on the same side could have."""
    same, different = np.minimum(calibration.caps, answer.bounds) if answer.bounds else calibration.caps
    return float(same if (answer.llr or 0) > 0 else different)


def is_capped(calibration: Calibration, answer: Answer) -> bool:
    """Return whether the ratio of an answer is so near its bound that it was compressed."""
    return abs(answer.llr or 0) > LINEAR_SHARE * bound_of(calibration, answer)


def undecided(calibration: Calibration, bans: Sequence[float] | Values) -> NDArray[np.bool_]:
    """Return (problems,): which answers are undecided. It depends on the likelihood ratio only, not on a prior."""
    distances = np.abs(probability(bans) - 0.5)
    flags: NDArray[np.bool_] = (distances < calibration.threshold) | (distances == 0)
    return flags


class MismatchError(SettingsError):
    """A calibration of other scores than those in question."""


def matches_scores(calibration: Calibration, interpretation: str, engines: Sequence[str]) -> bool:
    """Return whether the calibration was fitted to such scores."""
    return (calibration.interpretation, set(calibration.engines)) == (interpretation, set(engines))


def require_matching_scores(calibration: Calibration, interpretation: str, engines: Sequence[str]) -> None:
    """Raise MismatchError unless the calibration was fitted to such scores."""
    if not matches_scores(calibration, interpretation, engines):
        given = _describe_scores(calibration.interpretation, calibration.engines)
        raise MismatchError(
            f"the calibration is of {given}, these are {_describe_scores(interpretation, engines)}",
            remedy="Give one that was fitted to such scores",
        )


def builtin_calibration(interpretation: str, engines: Sequence[str]) -> Calibration | None:
    """Return the package's own calibration for such scores, or None."""
    for file in sorted((files("byline.judgment") / "calibrations").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            found = read_calibration(Path(str(file)))
            if matches_scores(found, interpretation, engines):
                return found
    return None


def calibration_values(calibration: Calibration) -> dict[str, Any]:
    """Return a calibration as JSON values."""
    return {name: list(value) if name in LISTS else value for name, value in asdict(calibration).items()}


def calibration_from(values: Mapping[str, Any]) -> Calibration:
    """Return the calibration of JSON values; raise SettingsError if they are not one."""
    if odd := sorted({"cap_different", *values} ^ {field.name for field in fields(Calibration)}):
        raise SettingsError(f"its values are not those of a calibration ({', '.join(odd)})")
    plain: dict[str, Any] = {name: tuple(held) if isinstance(held, list) else held for name, held in values.items()}
    return Calibration(**plain)


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the calibration to a file, completely or not at all."""
    content = checked_json({"format": FORMAT, "kind": KIND, **calibration_values(calibration)})
    write_files(path.parent, {path.name: content})


def read_calibration(path: Path) -> Calibration:
    """Read a calibration; raise SettingsError if the file is damaged, too new or not a calibration."""
    try:
        values = read_checked_json(path)
    except RunError as error:
        raise SettingsError(error.what, where=error.where, remedy=FIT_AGAIN) from None
    except RecursionError:
        raise SettingsError("damaged", where=path, remedy=FIT_AGAIN) from None
    form = values.pop("format", None)
    if values.pop("kind", None) != KIND or isinstance(form, bool) or not isinstance(form, int) or form < 1:
        raise SettingsError("is not a calibration", where=path, remedy="Name a file that Byline wrote as one")
    if form > FORMAT:
        raise SettingsError(f"was written by a newer Byline (format {form})", where=path, remedy="Update Byline")
    for first, interpretation, others in (
        (SINGLE_QUESTIONS, "cohort", "texts with a reference"),
        (WHOLE_CORPORA, "relative", "the problems of a corpus"),
    ):
        if form < first and values.get("interpretation") == interpretation:
            what = f"was fitted to scores of an earlier Byline, which compared {others} in another way"
            raise SettingsError(what, where=path, remedy="Fit it again")
    try:
        return calibration_from(values)
    except SettingsError as error:
        raise SettingsError(error.what, where=path, remedy=FIT_AGAIN) from None


def _fault(name: str, value: Any) -> str | None:
    """Return what is wrong with a number, if anything is."""
    if (name, value) == ("cap_different", None):
        return None
    whole = name in COUNTS
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"{name} must be a {'whole ' if whole else ''}number, got {value!r}"
    least, greatest = RANGES[name]
    if least <= value <= greatest:
        return None
    if greatest < MAX_FLOAT:
        return f"{name} must be from {least} to {greatest}, got {value}"
    return f"{name} must be finite{f' and {least} or more' if least > -MAX_FLOAT else ''}, got {value}"


def _describe_scores(interpretation: str, engines: Sequence[str]) -> str:
    return f"{interpretation} scores by {', '.join(engines) or 'no engine'}"


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
