"""Settings: what values they take, and how they are read from assignments and TOML."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest

from byline.errors import SettingsError
from byline.settings.settings import ENGINES, KINDS, Engine, Settings, parse_assignments, read_settings, reads


@pytest.mark.parametrize(
    ("assignment", "remedy"),
    [
        ("hidden=-3", "a whole number from 0 to 10000"),
        ("hidden=many", "a whole number from 0 to 10000"),
        ("hidden=9.5", "a whole number from 0 to 10000"),
        ("rate=nan", "a number, 0 or more"),
        ("rate=inf", "a number, 0 or more"),
        ("start=warm", "one of gaussian, zero, fan-in"),
        ("swap_short=maybe", "true or false"),
        ("radius=0.6", "a number from 0 to 0.5"),
        ("engine=gru", f"one of {', '.join(get_args(Engine))}"),
        ("order=1", "a whole number from 2 to 12"),
        ("order=13", "a whole number from 2 to 12"),
        ("word_order=4", "a whole number from 1 to 3"),
        ("grammar_order=0", "a whole number from 1 to 12"),
        ("mask=names", "one of none, topic"),
    ],
)
def test_a_bad_value_is_refused_by_saying_what_it_must_be(assignment: str, remedy: str) -> None:
    name, _, value = assignment.partition("=")
    with pytest.raises(SettingsError) as refusal:
        Settings().change(parse_assignments([assignment]))
    assert (refusal.value.where, refusal.value.remedy) == (name, f"Choose {remedy}")
    assert value in refusal.value.what


def test_a_very_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(SettingsError) as refusal:
        Settings().change(parse_assignments(["hidden=" + "9" * 400]))
    assert len(str(refusal.value)) < 120


def test_all_bad_values_are_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"(?s)hidden: .*rate: "):
        Settings(hidden=-1, rate=-1)


def test_an_unknown_name_is_refused_with_the_nearest_known() -> None:
    with pytest.raises(SettingsError) as refusal:
        parse_assignments(["hiden=3"])
    assert (refusal.value.where, refusal.value.remedy) == ("hiden", "Did you mean hidden?")
    with pytest.raises(SettingsError) as refusal:
        parse_assignments(["hidden"])
    assert refusal.value.where == "hidden"
    assert "name=value" in str(refusal.value.remedy)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(hidden=7, handling="balanced", radius=0.03, swap_short=False),
        Settings(engine="vectors", order=3, mask="topic"),
        Settings(engine="ngram", order=9, direction="backward", skip=0),
        Settings(engine="words", word_order=3, mask="topic"),
        Settings(engine="characters", order=4, mask="topic"),
        Settings(engine="punctuation", order=3),
        Settings(engine="grammar", grammar_order=10, mask="topic"),
    ],
)
def test_toml_out_and_in_gives_the_same_settings(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(settings.to_toml(), encoding="utf-8")
    assert read_settings(path) == settings


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (None, ""), ("hidden = = 3", ""), ("hidden = true", ": hidden"), ("[[member]]", ""),
        (f"hidden = 0x{'f' * 5000}", ""), (f"hidden = 0b{'1' * 20000}", ""), (f"hidden = [[1, 0x{'f' * 5000}]]", ""),
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_file_is_named(tmp_path: Path, text: str | None, place: str) -> None:
    path = tmp_path / "settings.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="^" + re.escape(f"{path}{place}: ")) as refusal:
        read_settings(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_alone_changes_no_other_setting(engine: str) -> None:
    settings = Settings().change(parse_assignments([f"engine={engine}"]))
    assert asdict(settings) == asdict(Settings()) | {"engine": engine}


@pytest.mark.parametrize(
    ("engine", "assignment"),
    [
        ("rnn", "order=4"), ("ngram", "hidden=99"), ("ngram", "handling=balanced"), ("vectors", "sub_epochs=9"),
        ("vectors", "direction=backward"), ("vectors", "skip=3"), ("linear", "direction=backward"),
        ("words", "order=3"), ("words", "grammar_order=3"), ("grammar", "word_order=3"), ("vectors", "word_order=2"),
        ("characters", "word_order=2"), ("punctuation", "word_order=2"),
    ],
)  # fmt: skip
def test_a_setting_that_the_engine_does_not_read_is_refused(engine: str, assignment: str) -> None:
    name = assignment.partition("=")[0]
    assert not reads(engine, name)
    changes = parse_assignments([assignment])
    for base, change in ((Settings(), {"engine": engine, **changes}), (Settings().change({"engine": engine}), changes)):
        with pytest.raises(SettingsError, match=f"no setting of the engine {engine}") as refusal:
            base.change(change)
        assert refusal.value.where == name
        assert refusal.value.remedy


def test_all_settings_that_the_engine_does_not_read_are_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"(?s)hidden: .*direction: "):
        Settings(engine="vectors", hidden=3, direction="backward")


def test_a_setting_that_the_engine_does_not_read_may_have_its_usual_value() -> None:
    assert Settings(engine="vectors", hidden=Settings().hidden) == Settings(engine="vectors")


def test_the_engines_read_their_own_settings_and_all_common_ones() -> None:
    settings = Settings(
        engine="ngram", order=7, direction="backward", skip=2, mask="topic", train_on="known", compared=50, radius=0.1
    )
    assert settings.changes().keys() == {
        "engine", "order", "direction", "skip", "mask", "train_on", "compared", "radius",
    }  # fmt: skip
    for engine in ("vectors", "linear", "characters", "punctuation"):
        changes = {"engine": engine, "order": 4, "mask": "topic", "control": "each", "text_rules": "scripts"}
        assert Settings().change(changes).changes() == changes


def test_every_setting_is_read_by_some_engine() -> None:
    assert {name for kind in ENGINES.values() for name in kind.reads} <= KINDS.keys()
    for name in KINDS:
        assert any(reads(engine, name) for engine in ENGINES)
    for name in ("engine", "mask", "train_on", "swap_short", "control", "text_rules", "compared", "ranking", "radius"):
        assert all(reads(engine, name) for engine in ENGINES)


def test_only_the_network_says_something_else_with_another_seed() -> None:
    assert {engine: Settings().change({"engine": engine}).repeatable for engine in ENGINES} == {
        "rnn": True, "ngram": False, "vectors": False, "linear": False,
        "words": False, "characters": False, "punctuation": False, "grammar": False,
    }  # fmt: skip
