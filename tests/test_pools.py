from __future__ import annotations

from pathlib import Path

import pytest

from byline.errors import SettingsError
from byline.pools import Pool, pool_of, preset_names, read_pool, to_toml
from byline.settings import Settings

TWO = '[shared]\nradius = 0.02\n[[member]]\nhidden = 7\n[[member]]\nhidden = 9\ndirection = "backward"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pool.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_presets_are_the_default_and_the_papers_four() -> None:
    assert preset_names() == ["default", "paper-dutch", "paper-english", "paper-greek", "paper-spanish"]


def test_the_default_is_ordered_and_has_four_members() -> None:
    pool = read_pool("default")
    assert (pool.draw, pool.members) == ("order", 4)
    assert pool.take(2, seed=1) == pool.take(2, seed=2) == pool.rows[:2]


@pytest.mark.parametrize(
    ("language", "rows", "radius"), [("english", 7, 0.03), ("greek", 8, 0.03), ("spanish", 9, 0.04), ("dutch", 14, 0.0)]
)
def test_the_papers_pools_have_their_rows_and_radius(language: str, rows: int, radius: float) -> None:
    """The row of Dutch with three numbers of sub-epochs is three rows."""
    pool = read_pool(f"paper-{language}")
    assert (len(pool.rows), pool.radius, pool.draw) == (rows, radius, "random")
    assert {row.train_on for row in pool.rows} <= {"known", "unknown"}
    assert {(row.depth, row.hidden) for row in pool.rows if row.hidden == 7} in (set(), {(4, 7), (10, 7)})


def test_rows_of_the_papers_pools_say_what_the_table_says() -> None:
    english, spanish, dutch = (read_pool(f"paper-{language}").rows for language in ("english", "spanish", "dutch"))
    swapped = english[4]
    assert (swapped.rate, swapped.leakage, swapped.leakage_decay, swapped.hidden) == (0.14, 2.0, 0.75, 99)
    assert (swapped.sub_epochs, swapped.noise, swapped.handling, swapped.train_on) == (17, 0.2, "balanced", "unknown")
    assert [row.start for row in english[:3]] == ["zero"] * 3
    assert (spanish[5].start, spanish[5].depth) == ("fan-in", 10)
    assert [row.sub_epochs for row in dutch[-3:]] == [4, 10, 11]
    assert (dutch[6].handling, dutch[6].direction) == ("balanced-concatenated", "backward")
    assert [row.control for row in dutch].count("none") == 1


def test_a_random_pool_is_drawn_by_the_seed_each_row_once_before_any_twice() -> None:
    pool = read_pool("paper-english")
    first, again, other = (pool.take(14, seed) for seed in (3, 3, 4))
    assert first == again != other
    assert sorted(map(repr, first[:7])) == sorted(map(repr, first[7:])) == sorted(map(repr, pool.rows))


def test_a_longer_ensemble_begins_with_the_shorter() -> None:
    for name in preset_names():
        pool = read_pool(name)
        assert pool.take(20, 5)[:6] == pool.take(6, 5)


def test_ones_own_file_works_the_same(tmp_path: Path) -> None:
    pool = read_pool(write(tmp_path, TWO))
    assert [row.hidden for row in pool.rows] == [7, 9]
    assert (pool.members, pool.draw, pool.radius) == (2, "order", 0.02)
    assert [row.hidden for row in pool.take(3, 0)] == [7, 9, 7]


def test_a_pool_written_is_the_pool_read(tmp_path: Path) -> None:
    rows = read_pool("paper-spanish").rows
    assert read_pool(write(tmp_path, to_toml(rows, 'a "strange" \\ name\n'))).rows == rows


def test_a_change_is_of_all_members() -> None:
    assert {row.hidden for row in read_pool("paper-greek").change({"hidden": 5}).rows} == {5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no members"),
        ("hidden = 3", r"hidden: a pool holds .*--settings"),
        ("[[member]]\nhiden = 3", "member 1: no setting is named 'hiden'"),
        ("[shared]\nrate = -1\n[[member]]", r"\[shared\]: rate must be"),
        ("[[member]]\nradius = 0.1\n[[member]]", "radius is of the whole ensemble"),
        ('draw = "never"\n[[member]]', "draw must be one of order, random"),
        ("members = 0\n[[member]]", "members must be a whole number"),
        ("members = true\n[[member]]", "members must be a whole number"),
        ("description = 3\n[[member]]", "description must be a text"),
        ("member = 3", r"\[\[member\]\] for each"),
        ("[[member]\n", "not TOML"),
    ],
)
def test_a_bad_pool_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_pool(write(tmp_path, text))


def test_an_unknown_preset_is_told_from_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="did you mean paper-greek"):
        read_pool("paper-grek")
    with pytest.raises(SettingsError, match=r"gone\.toml: can't be read"):
        read_pool(tmp_path / "gone.toml")


def test_one_setting_is_a_pool_too() -> None:
    pool = pool_of(Settings(hidden=3), members=2)
    assert pool.take(2, 0) == (Settings(hidden=3),) * 2
    with pytest.raises(SettingsError, match="no members"):
        Pool("empty", ())
