from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest

from byline.errors import SettingsError
from byline.settings import KINDS, READ_BY, Engine, Settings, parse_assignments, read_settings, reads

# Every row of the pools that the paper's ensembles were drawn from.
POOLS = """
.2 5 .9 99 18 0 concatenated start=zero
.2 5 .9 7 27 0 concatenated start=zero depth=4
.2 5 .9 7 21 0 concatenated start=zero depth=10
.2 5 .7 119 38 .2 balanced direction=backward
.14 2 .75 99 17 .2 balanced train_on=unknown
.14 2 .75 99 6 .2 balanced train_on=unknown direction=backward
.2 3 .7 119 23 .3 sequential
.2 5 .67 99 27 .3 balanced
.2 4 .7 119 15 .2 concatenated control=none
.14 4 .707 79 19 0 sequential direction=backward
.14 2 .7 139 24 .1 sequential start=zero
.2 5 .9 79 26 0 sequential start=fan-in depth=10
.2 2 .8 139 13 .5 concatenated
.14 10 .707 139 28 .3 concatenated start=zero
.14 0 .707 119 12 .3 concatenated
.2 5 .67 99 6 .2 balanced-concatenated direction=backward
.14 3 .7 139 4 .3 concatenated
""".strip().splitlines()


@pytest.mark.parametrize("row", POOLS)
def test_every_row_of_the_papers_pools_is_accepted(row: str) -> None:
    rate, leakage, decay, hidden, sub_epochs, noise, handling, *others = row.split()
    values = parse_assignments(
        [
            f"rate={rate}",
            f"leakage={leakage}",
            f"leakage_decay={decay}",
            f"hidden={hidden}",
            f"sub_epochs={sub_epochs}",
            f"noise={noise}",
            f"handling={handling}",
            *others,
        ]
    )
    settings = Settings().change(values)
    assert asdict(settings) | values == asdict(settings)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("hidden=-3", "hidden must be a whole number from 0 to 10000, got -3"),
        ("hidden=many", "hidden must be a whole number from 0 to 10000, got many"),
        ("hidden=9.5", "hidden must be a whole number from 0 to 10000, got 9.5"),
        ("rate=nan", "rate must be a number, 0 or more, got nan"),
        ("rate=inf", "rate must be a number, 0 or more, got inf"),
        ("start=warm", "start must be one of gaussian, zero, fan-in, got warm"),
        ("swap_short=maybe", "swap_short must be true or false, got maybe"),
        ("hidden=" + "9" * 400, "hidden must be a whole number from 0 to 10000, got " + "9" * 40),
        ("radius=0.6", "radius must be a number from 0 to 0.5, got 0.6"),
        ("engine=gru", f"engine must be one of {', '.join(get_args(Engine))}, got gru"),
        ("order=1", "order must be a whole number from 2 to 12, got 1"),
        ("order=13", "order must be a whole number from 2 to 12, got 13"),
        ("mask=names", "mask must be one of none, topic, got names"),
    ],
)
def test_a_bad_value_is_refused_by_saying_what_it_must_be(assignment: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{message}$"):
        Settings().change(parse_assignments([assignment]))


def test_all_bad_values_are_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"hidden must.*; rate must"):
        Settings(hidden=-1, rate=-1)


def test_an_unknown_name_is_refused_with_the_nearest_known() -> None:
    with pytest.raises(SettingsError, match="did you mean hidden"):
        parse_assignments(["hiden=3"])
    with pytest.raises(SettingsError, match="write name=value"):
        parse_assignments(["hidden"])


def test_toml_out_and_in_gives_the_same_settings(tmp_path: Path) -> None:
    settings = Settings(hidden=7, handling="balanced", radius=0.03, swap_short=False)
    path = tmp_path / "settings.toml"
    path.write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(path) == settings


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    with pytest.raises(SettingsError, match=r"settings\.toml: can't be read"):
        read_settings(path)
    path.write_text("hidden = = 3", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"settings\.toml: not TOML"):
        read_settings(path)
    path.write_text("hidden = true", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"settings\.toml: hidden must be a whole number"):
        read_settings(path)


@pytest.mark.parametrize("engine", ["rnn", "ngram", "vectors", "spread"])
def test_an_engine_alone_changes_no_other_setting(engine: str) -> None:
    settings = Settings().change(parse_assignments([f"engine={engine}"]))
    assert settings.unread() == []
    assert asdict(settings) == asdict(Settings()) | {"engine": engine}


@pytest.mark.parametrize(
    ("engine", "assignment"),
    [
        ("rnn", "order=4"),
        ("ngram", "hidden=99"),
        ("ngram", "rate=0.2"),
        ("ngram", "handling=balanced"),
        ("vectors", "sub_epochs=9"),
        ("vectors", "direction=backward"),
        ("vectors", "skip=3"),
        ("spread", "hidden=99"),
        ("spread", "direction=backward"),
    ],
)
def test_a_setting_that_the_engine_does_not_read_is_refused(engine: str, assignment: str) -> None:
    name = assignment.partition("=")[0]
    assert not reads(engine, name)
    with pytest.raises(SettingsError, match=f"^{name} is no setting of the engine {engine}$"):
        Settings().change({"engine": engine}).change(parse_assignments([assignment]))


def test_all_settings_that_the_engine_does_not_read_are_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"^hidden is no .* vectors; direction is no .* vectors$"):
        Settings(engine="vectors", hidden=3, direction="backward")
    with pytest.raises(SettingsError, match=r"^hidden is no setting of the engine ngram$"):
        Settings(hidden=99).change({"engine": "ngram"})


def test_a_setting_that_the_engine_does_not_read_may_have_its_usual_value() -> None:
    assert Settings(engine="vectors", hidden=Settings().hidden) == Settings(engine="vectors")


def test_the_engines_read_their_own_settings_and_all_common_ones() -> None:
    settings = Settings(
        engine="ngram", order=7, direction="backward", skip=2, mask="topic", train_on="known", compared=50, radius=0.1
    )
    assert settings.changes().keys() == {
        "engine", "order", "direction", "skip", "mask", "train_on", "compared", "radius",
    }  # fmt: skip
    for engine in ("vectors", "spread"):
        changes = {"engine": engine, "order": 4, "mask": "topic", "control": "each", "text_rules": "scripts"}
        assert Settings().change(changes).changes() == changes


def test_every_setting_is_read_by_some_engine() -> None:
    assert {name for names in READ_BY.values() for name in names} <= KINDS.keys()
    for name in KINDS:
        assert any(reads(engine, name) for engine in READ_BY)
    for name in ("engine", "mask", "train_on", "swap_short", "control", "text_rules", "compared", "ranking", "radius"):
        assert all(reads(engine, name) for engine in READ_BY)


def test_an_engine_is_named_with_its_mask() -> None:
    assert Settings(engine="ngram").engine_name == "ngram"
    assert Settings(engine="ngram", mask="topic").engine_name == "ngram (topic masked)"


def test_only_the_network_says_something_else_with_another_seed() -> None:
    assert {engine: Settings().change({"engine": engine}).repeatable for engine in READ_BY} == {
        "rnn": True, "ngram": False, "vectors": False, "spread": False, "linear": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        Settings(engine="vectors", order=3, mask="topic"),
        Settings(engine="ngram", order=9, direction="backward", skip=0),
        Settings(engine="spread", order=3, mask="topic"),
    ],
)
def test_another_engine_goes_through_toml_too(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(path) == settings


@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "0b" + "1" * 20000, "[[1, 0x" + "f" * 5000 + "]]"])
def test_whole_numbers_without_end_are_refused(number: str, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(f"hidden = {number}\n", "utf-8")
    with pytest.raises(SettingsError, match="more than 64 bits"):
        read_settings(tmp_path / "long.toml")
