"""Pools and presets: how they are read, changed and drawn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from byline.errors import SettingsError
from byline.settings.settings import MOST_MEMBERS, Pool, Settings, pool_of, preset_names, read_pool, to_toml

TWO = '[shared]\nradius = 0.02\n[[member]]\nhidden = 7\n[[member]]\nhidden = 9\ndirection = "backward"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pool.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_presets_are_the_default_and_the_papers_four() -> None:
    papers = ["paper-dutch", "paper-english", "paper-greek", "paper-spanish"]
    assert preset_names() == ["best", "authors", "cohort", *papers, "rnn"]


TABLE = """
English .2 5 .9 99 18 0 cat Z
English .2 5 .9 7 27 0 cat Z depth4
English .2 5 .9 7 21 0 cat Z depth10
English .2 5 .7 119 38 .2 bal rev
English .14 2 .75 99 17 .2 bal U
English .14 2 .75 99 6 .2 bal U rev
English .2 3 .7 119 23 .3 seq
Greek .2 5 .67 99 27 .3 bal
Greek .14 2 .7 119 22 .1 seq
Greek .2 4 .7 119 15 .2 cat NC
Greek .2 5 .7 99 31 .2 bal rev
Greek .2 1 .8 119 32 .3 cat rev
Greek .14 3 .7 119 22 .1 seq
Greek .2 3 .7 119 18 .3 cat rev NC
Greek .2 5 .67 99 27 .3 bal Z
Spanish .14 2 .7 139 24 .1 seq Z
Spanish .14 4 .707 79 19 0 seq rev
Spanish .2 3 .7 139 19 .3 cat
Spanish .14 2 .7 119 24 .1 seq
Spanish .2 5 .7 119 32 .2 bal rev
Spanish .2 5 .9 79 26 0 seq F depth10
Spanish .2 2 .8 139 13 .5 cat
Spanish .2 1 .8 119 34 .3 cat rev
Spanish .14 2 .7 139 12 .1 seq
Dutch .14 2 .7 99 11 .1 cat
Dutch .14 2 .7 119 16 .1 cat
Dutch .14 10 .707 139 28 .3 cat Z
Dutch .14 2 .75 99 13 .2 cat U rev
Dutch .14 0 .707 119 12 .3 cat
Dutch .2 2 .7 119 7 .3 cat NC
Dutch .2 5 .67 99 6 .2 cat bal rev
Dutch .2 1 .8 139 16 .3 cat
Dutch .14 10 .707 139 22 .3 cat
Dutch .2 1 .8 119 11 .5 cat Z
Dutch .2 3 .7 139 5 .3 cat rev
Dutch .14 3 .7 139 4 .3 cat
Dutch .14 3 .7 139 10 .3 cat
Dutch .14 3 .7 139 11 .3 cat
"""
"""Rate, leakage, decay, hidden, sub-epochs, noise and handling of the configurations that the paper's author used.

Z is a zero start, F one by fan-in, U learns the unknown texts, rev reads backward, NC has no control corpus.
"""
HANDLING = {"cat": "concatenated", "seq": "sequential", "bal": "balanced"}


@pytest.mark.parametrize(
    ("language", "rows", "radius"), [("English", 7, 0.03), ("Greek", 8, 0.03), ("Spanish", 9, 0.04), ("Dutch", 14, 0.0)]
)
def test_the_papers_pools_are_the_table_row_by_row(language: str, rows: int, radius: float) -> None:
    """The row of Dutch with three numbers of sub-epochs is three rows."""
    wanted = []
    for line in TABLE.split("\n"):
        name, *words = line.split() or [""]
        if name != language:
            continue
        numbers, flags = words[:6], set(words[6:])
        kinds = [HANDLING[flag] for flag in words[6:] if flag in HANDLING]
        depths = [int(flag.removeprefix("depth")) for flag in flags if flag.startswith("depth")]
        wanted.append(
            Settings(
                rate=float(numbers[0]),
                leakage=float(numbers[1]),
                leakage_decay=float(numbers[2]),
                hidden=int(numbers[3]),
                sub_epochs=int(numbers[4]),
                noise=float(numbers[5]),
                handling="balanced-concatenated" if len(kinds) == 2 else kinds[0],
                start="zero" if "Z" in flags else "fan-in" if "F" in flags else "gaussian",
                direction="backward" if "rev" in flags else "forward",
                train_on="unknown" if "U" in flags else "known",
                control="none" if "NC" in flags else "one",
                depth=depths[0] if depths else 70,
                radius=radius,
            )
        )
    pool = read_pool(f"paper-{language.lower()}")
    assert (list(pool.rows), len(pool.rows), pool.draw) == (wanted, rows, "random")


def test_a_random_pool_is_drawn_by_the_seed_each_row_once_before_any_twice() -> None:
    pool = read_pool("paper-english")
    first, again, other = (pool.take(14, seed) for seed in (3, 3, 4))
    assert first == again != other
    assert sorted(map(repr, first[:7])) == sorted(map(repr, first[7:])) == sorted(map(repr, pool.rows))


def test_a_longer_ensemble_begins_with_the_shorter() -> None:
    for name in preset_names():
        pool = read_pool(name)
        most = min(20, pool.max_members)
        assert pool.take(most, 5)[: most // 3] == pool.take(most // 3, 5)


def test_ones_own_file_works_the_same(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path, TWO))
    assert [row.hidden for row in pool.rows] == [7, 9]
    assert (pool.members, pool.draw, pool.radius) == (2, "order", 0.02)
    assert [row.hidden for row in pool.take(3, 0)] == [7, 9, 7]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ""),
        ("hidden = 3", ": hidden"),
        ("[[member]]\nhiden = 3", ": member 1: hiden"),
        ("[shared]\nrate = -1\n[[member]]", ": [shared]: rate"),
        ("[[member]]\nradius = 0.1\n[[member]]", ": radius"),
        ('draw = "never"\n[[member]]', ": draw"),
        ('interpret = "never"\n[[member]]', ": interpret"),
        ("interpret = 3\n[[member]]", ": interpret"),
        ('[[member]]\n[[member]]\nengine = "gru"', ": member 2: engine"),
        ("[[member]]\nengine = [1]", ": member 1: engine"),
        ("[shared]\nengine = {}\n[[member]]", ": [shared]: engine"),
        ('[[member]]\nengine = "vectors"\nhidden = 9', ": member 1: hidden"),
        ('[shared]\nhidden = 9\n[[member]]\nengine = "ngram"', ": [shared]: hidden"),
        ("members = 0\n[[member]]", ": members"),
        ("members = true\n[[member]]", ": members"),
        ("description = 3\n[[member]]", ": description"),
        ("member = 3", ""),
        ("[[member]\n", ""),
    ],
)
def test_a_bad_pool_is_refused_with_its_place_and_a_remedy(tmp_path: Path, text: str, place: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingsError) as refusal:
        read_pool(path)
    assert refusal.value.where == f"{path}{place}"
    assert refusal.value.remedy


def test_an_unknown_preset_is_told_from_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refusal:
        read_pool("paper-grek")
    assert (refusal.value.where, refusal.value.remedy) == ("paper-grek", "Did you mean paper-greek?")
    with pytest.raises(SettingsError, match=r"gone\.toml: not found"):
        read_pool(tmp_path / "gone.toml")


def test_one_setting_is_a_pool_too() -> None:
    pool = pool_of(Settings(hidden=3), members=2)
    assert pool.take(2, 0) == (Settings(hidden=3),) * 2
    with pytest.raises(SettingsError, match="no members"):
        Pool("empty", ())


RNN, NGRAM, VECTORS = Settings(), Settings(engine="ngram"), Settings(engine="vectors")
MIXED = Pool("mixed", (VECTORS, NGRAM, RNN, Settings(hidden=99)), members=3, interpret="relative")
COUNTING = MIXED.only(["ngram", "vectors"])


def test_the_cohort_preset_has_frequencies_of_characters_words_and_punctuation() -> None:
    pool = read_pool("cohort")
    assert (pool.interpret, pool.members) == ("cohort", len(pool.rows))
    characters, words = Settings(engine="characters"), Settings(engine="words")
    assert pool.rows == (
        characters, characters.change({"mask": "topic"}),
        words, words.change({"word_order": 3, "mask": "topic"}),
        Settings(engine="punctuation"),
    )  # fmt: skip


@pytest.mark.parametrize("preset", ["best", "paper-spanish"])
def test_a_pool_written_is_the_pool_read(tmp_path: Path, preset: str) -> None:
    rows = read_pool(preset).rows
    for interpret in ("rank", "relative", "cohort"):
        pool = read_pool(write(tmp_path, to_toml(rows, 'a "strange" \\ name\n', interpret)))  # type: ignore[arg-type]
        assert (pool.rows, pool.interpret, pool.members) == (rows, interpret, len(rows))


class TestChange:
    def test_it_is_of_those_members_whose_engine_reads_it(self) -> None:
        changed = MIXED.change({"order": 4, "hidden": 7, "direction": "backward"})
        assert changed.rows == (
            Settings(engine="vectors", order=4),
            Settings(engine="ngram", order=4, direction="backward"),
            *[Settings(hidden=7, direction="backward")] * 2,
        )
        assert (changed.members, changed.interpret, changed.name) == (3, "relative", "mixed")

    def test_what_all_engines_read_is_changed_in_all(self) -> None:
        assert {row.mask for row in MIXED.change({"mask": "topic"}).rows} == {"topic"}
        assert MIXED.change({"radius": 0.1}).radius == 0.1

    def test_one_that_no_engine_reads_is_refused(self) -> None:
        for pool, name, engines in ((read_pool("rnn"), "order", "rnn"), (COUNTING, "hidden", "vectors or ngram")):
            with pytest.raises(SettingsError, match=f"no setting of the engine {engines}") as refusal:
                pool.change({name: 4})
            assert refusal.value.where == name

    def test_an_unknown_name_or_a_bad_value_is_refused(self) -> None:
        for name, value in (("hiden", 4), ("order", 99), ("engine", [1])):
            with pytest.raises(SettingsError) as refusal:
                MIXED.change({name: value})
            assert refusal.value.where == name

    def test_members_without_chance_that_it_makes_the_same_are_one(self) -> None:
        pool = Pool("pool", (VECTORS, VECTORS.change({"mask": "topic"}), RNN, RNN.change({"mask": "topic"})), members=4)
        changed = pool.change({"mask": "none"})
        assert changed.rows == (VECTORS, RNN, RNN)
        assert changed.members == 3


class TestOnly:
    def test_it_leaves_the_members_of_some_engines_in_their_order(self) -> None:
        assert MIXED.only(["rnn", "vectors"]).rows == (VECTORS, RNN, Settings(hidden=99))
        assert MIXED.only(["ngram"]).rows == (NGRAM,)
        assert MIXED.only(["rnn", "ngram", "vectors"]) == MIXED

    def test_so_many_members_fewer_are_taken_and_one_at_least(self) -> None:
        assert MIXED.only(["rnn", "ngram"]).members == 2
        assert MIXED.only(["ngram"]).members == 1

    def test_an_engine_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(SettingsError, match=r"^rnn: has no members of the engine ngram, vectors\."):
            read_pool("rnn").only(["ngram", "rnn", "vectors"])
        with pytest.raises(SettingsError, match="no members"):
            MIXED.only([])


class TestTake:
    def test_engines_without_chance_are_taken_once(self) -> None:
        assert MIXED.take(8, 0) == (*MIXED.rows, *[RNN, Settings(hidden=99)] * 2)

    def test_they_are_taken_once_in_a_random_order_too(self) -> None:
        taken = replace(MIXED, draw="random").take(20, 3)
        assert [taken.count(row) for row in (VECTORS, NGRAM)] == [1, 1]
        assert set(taken[:4]) == set(MIXED.rows)

    def test_more_than_can_differ_are_refused(self) -> None:
        assert (COUNTING.max_members, MIXED.max_members) == (2, MOST_MEMBERS)
        assert COUNTING.take(2, 0) == (VECTORS, NGRAM)
        for pool, remedy in ((COUNTING, "2 members at most"), (pool_of(VECTORS), "1 member at most")):
            with pytest.raises(SettingsError) as refusal:
                pool.take(pool.max_members + 1, 0)
            assert (refusal.value.where, refusal.value.remedy) == (pool.name, f"Choose {remedy}")
