from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byline.corpora.answers import Answer
from byline.errors import SettingsError
from byline.judgment.calibration import (
    FIT_AGAIN,
    LINEAR_SHARE,
    MAX_FLOAT,
    Calibration,
    MismatchError,
    apply_caps,
    bound_of,
    is_capped,
    llr_bans,
    read_calibration,
    require_matching_scores,
    undecided,
    write_calibration,
)
from byline.judgment.likelihood_ratio import Values
from byline.storage.files import checked_json

MADE = Calibration(
    slope=4.0,
    offset=-2.0,
    cap=2.0,
    threshold=0.1,
    interpretation="rank",
    engines=("rnn",),
    preset="paper",
    problems=200,
    texts=350,
    corpora=("english", "Ελληνικά"),
    cllr=0.7,
    cllr_min=0.65,
    folds_by="unknown",
)


def test_a_score_becomes_bans_by_the_line_and_the_cap() -> None:
    half = 2 / np.log(10)  # offset -2 + slope 4 x score: e^2 at a score of 1
    assert llr_bans(MADE, [0.0, 0.5, 1.0]) == pytest.approx([-half, 0, half])
    assert llr_bans(MADE, [-10.0, 10.0, np.nan]) == pytest.approx([-2.0, 2.0, 0.0])


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=2).map(lambda bans: np.array(sorted(bans))),
    st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.just(MAX_FLOAT)),
)
def test_ratios_near_the_cap_in_order_and_never_pass_it(bans: Values, cap: float) -> None:
    bent = apply_caps(bans, cap, cap)
    assert (np.diff(bent) >= 0).all()
    assert (np.abs(bent) <= cap).all()
    below = np.abs(bans) <= LINEAR_SHARE * cap
    assert (bent[below] == bans[below]).all()


def test_what_is_stronger_stays_so_beyond_the_cap() -> None:
    bent = apply_caps(np.array([0.7, 0.8, 1.0, 1.5, 2.0, -2.0]), 1.0, 0.5)
    assert bent == pytest.approx([0.7, 0.75 + 0.25 * (1 - np.exp(-0.2)), 0.9080, 0.9876, 0.9983, -0.5], abs=1e-4)


def test_every_ratio_may_have_caps_of_its_own() -> None:
    bans = np.array([0.8, 0.8, 9.0, -0.8, -0.8, -9.0])
    same, different = np.array([1.0, 2.0, 0.0, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 2.0, 0.0])
    bent = 0.75 + 0.25 * (1 - np.exp(-0.2))
    assert apply_caps(bans, same, different) == pytest.approx([bent, 0.8, 0, -bent, -0.8, 0])
    assert apply_caps(bans, same, 1.0)[4] == pytest.approx(-bent)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_each_problem_may_have_lower_bounds_than_the_caps(count: int) -> None:
    """The caps are 2 for the same author and 1 for different authors."""
    calibration = replace(MADE, cap_different=1.0)
    same, different = np.linspace(0.5, 4, count), np.linspace(3, 0.25, count)
    for score, sign, cap, bounds in ((1e9, 1, 2.0, same), (-1e9, -1, 1.0, different)):
        bans = llr_bans(calibration, [score] * count, (same, different))
        assert bans == pytest.approx(sign * np.minimum(cap, bounds))
    within = llr_bans(calibration, [0.55] * count, (same, different))
    assert within == pytest.approx([0.2 / np.log(10)] * count)
    unknown = llr_bans(calibration, [np.nan] * count, (np.full(count, np.nan), np.full(count, np.nan)))
    assert unknown.tolist() == [0.0] * count


def test_the_bound_of_an_answer_is_that_of_its_side() -> None:
    calibration = replace(MADE, cap_different=1.0)
    same, different = Answer("a", 0.9, llr=0.3), Answer("a", 0.1, llr=-0.3)
    assert (bound_of(calibration, same), bound_of(calibration, different)) == (2, 1)
    for bounds, wanted in (((0.5, 3.0), (0.5, 1)), ((3.0, 0.25), (2, 0.25))):
        found = tuple(bound_of(calibration, replace(each, bounds=bounds)) for each in (same, different))
        assert found == wanted


@pytest.mark.parametrize("sign", [1, -1])
def test_an_answer_whose_ratio_was_compressed_is_capped(sign: int) -> None:
    """Beyond three quarters of its bound."""
    for bounds, beyond, below in ((None, 1.52, 1.48), ((1.0, 1.0), 0.76, 0.74), ((5.0, 5.0), 1.52, 1.48)):
        capped = Answer("a", 0.9, llr=sign * beyond, bounds=bounds)
        assert is_capped(MADE, capped)
        assert not is_capped(MADE, replace(capped, llr=sign * below))
    (bans,) = llr_bans(MADE, [(2 + np.log(10) * 1.6) / 4])
    assert 1.5 < bans < 1.6
    assert is_capped(MADE, Answer("a", 0.9, llr=bans))
    assert not is_capped(MADE, Answer("a", 0.5))


def test_what_is_near_even_odds_is_undecided() -> None:
    bans = np.log10([1, 59 / 41, 61 / 39, 41 / 59, 39 / 61])  # probabilities .5, .59, .61, .41, .39
    assert undecided(MADE, bans).tolist() == [True, True, False, True, False]
    assert undecided(replace(MADE, threshold=0.0), bans).tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("slope", -0.1, "slope must be finite and 0 or more, got -0.1"),
        ("slope", float("nan"), "slope must be finite and 0 or more, got nan"),
        ("slope", 10**400, "slope must be finite"),
        ("slope", "1", "slope must be a number, got '1'"),
        ("offset", float("inf"), "offset must be finite, got inf"),
        ("cap", -1.0, "cap must be from 0 to 100, got -1"),
        ("cap", 400, "cap must be from 0 to 100, got 400"),
        ("cap_different", 10**30, "cap_different must be from 0 to 100"),
        ("cap_different", "1", "cap_different must be a number"),
        ("threshold", 0.6, "threshold must be from 0 to 0.5, got 0.6"),
        ("problems", 0, "problems must be finite and 1 or more, got 0"),
        ("problems", 1.5, "problems must be a whole number, got 1.5"),
        ("texts", True, "texts must be a whole number, got True"),
        ("cllr", None, "cllr must be a number, got None"),
        ("cllr_min", -1.0, "cllr_min must be finite and 0 or more"),
        ("preset", 3, "preset must be text"),
        ("engines", "rnn", "engines must be a tuple of names"),
        ("corpora", (1,), "corpora must be a tuple of names"),
        ("folds_by", "problem", "folds_by must be one of texts, unknown, got 'problem'"),
        ("folds_by", ["texts"], "folds_by must be one of texts, unknown"),
    ],
)
def test_a_bad_value_is_refused_with_the_reason(tmp_path: Path, name: str, value: object, reason: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        replace(MADE, **{name: value})  # type: ignore[arg-type]
    assert reason in str(refusal.value)
    path = tmp_path / "bad.json"
    path.write_bytes(checked_json({"format": 1, "kind": "calibration", **asdict(MADE), name: value}))
    with pytest.raises(SettingsError) as refusal:
        read_calibration(path)
    assert (refusal.value.where, refusal.value.remedy) == (str(path), FIT_AGAIN)
    assert reason in refusal.value.what


@pytest.mark.parametrize(("interpretation", "engines"), [("rank", ("rnn", "ngram")), ("cohort", ("rnn",))])
def test_a_calibration_of_other_scores_is_refused(interpretation: str, engines: tuple[str, ...]) -> None:
    require_matching_scores(
        replace(MADE, interpretation=interpretation, engines=engines), interpretation, engines[::-1]
    )
    with pytest.raises(MismatchError, match="rank scores by rnn") as refusal:
        require_matching_scores(MADE, interpretation, engines)
    assert f"these are {interpretation} scores by {', '.join(engines)}" in refusal.value.what
    assert refusal.value.remedy


def test_all_bad_values_are_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"slope .*; cap .*; preset "):
        replace(MADE, slope=-1.0, cap=-1.0, preset=None)  # type: ignore[arg-type]


def test_a_calibration_read_is_the_calibration_written(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "my calibration.json"
    write_calibration(path, MADE)
    assert read_calibration(path) == MADE
    assert [child.name for child in path.parent.iterdir()] == [path.name]


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)  # it waits for the disk
@given(NUMBERS, st.floats(0, 1e300), st.floats(0, 0.5), st.lists(st.text()))
def test_every_calibration_survives_its_file(
    tmp_path_factory: pytest.TempPathFactory, offset: float, slope: float, threshold: float, names: list[str]
) -> None:
    made = replace(MADE, offset=offset, slope=slope, threshold=threshold, corpora=tuple(names))
    path = tmp_path_factory.getbasetemp() / "any.json"
    write_calibration(path, made)
    assert read_calibration(path) == made


def values(**changes: object) -> dict[str, object]:
    return {"format": 1, "kind": "calibration", **asdict(MADE), **changes}


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in values().items() if key != name}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "can't be read"),
        (b"\xff\xfe\x00", "can't be read"),
        (b"[" * 100_000, "can't be read"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "damaged"),
        (b"[1]", "damaged"),
        (b"null", "damaged"),
        (json.dumps(values()).encode(), "damaged"),
        (checked_json(values()).replace(b'"slope": 4.0', b'"slope": 9.0'), "damaged"),
        (checked_json(values())[:-20], "can't be read"),
        (checked_json({"format": 1, "members": []}), "not a calibration"),
        (checked_json(without("format")), "not a calibration"),
        (checked_json(values(format="1")), "not a calibration"),
        (checked_json(values(format=True)), "not a calibration"),
        (checked_json(values(format=0)), "not a calibration"),
        (checked_json(values(format=6, beauty=1)), r"newer Byline \(format 6\)"),
        (checked_json(without("cap")), r"not those of a calibration \(cap\)"),
        (checked_json(values(beauty=1)), r"not those of a calibration \(beauty\)"),
        (checked_json(values(slope={"a": 1})), "slope must be a number"),
        (checked_json(values(corpora={"a": 1})), "corpora must be a tuple of names"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_with_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=reason) as refusal:
        read_calibration(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert refusal.value.remedy


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(SettingsError, match="missing"):
            read_calibration(path)


WHOLE = checked_json(values())


@settings(deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.binary(max_size=4))
def test_a_damaged_file_never_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, place: int, change: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(WHOLE[:place] + change + WHOLE[place + len(change) :])
    with contextlib.suppress(SettingsError):
        assert read_calibration(path) == MADE  # spaces between values may change


def test_a_file_of_the_first_format_has_one_cap_for_both_sides(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_bytes(checked_json(without("cap_different")))
    assert read_calibration(tmp_path / "old.json") == MADE
    assert MADE.caps == (2.0, 2.0)
    assert replace(MADE, cap_different=1.0).caps == (2.0, 1.0)


@pytest.mark.parametrize("cap", [0, 5e-324, 1e-12])
def test_a_cap_that_leaves_no_room_gives_ratios_of_one(cap: float) -> None:
    none = replace(MADE, cap=cap, cap_different=cap)
    assert llr_bans(none, [-5.0, 0.0, 5.0]).tolist() == [0.0, 0.0, 0.0]
    assert not is_capped(none, Answer("a", 0.5, llr=0.0))


@pytest.mark.parametrize("changes", [{"slope": 1.7e308}, {"offset": 1e308}, {"offset": -1e308}, {"cap": 100}])
def test_numbers_beyond_all_bounds_give_ratios_within_theirs(changes: dict[str, float]) -> None:
    bans = llr_bans(replace(MADE, **changes), [-1e300, -1.0, 0.0, 1.0, 1e300])
    assert (np.abs(bans) <= 100).all()
