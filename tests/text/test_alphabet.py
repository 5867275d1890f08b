from __future__ import annotations

from pathlib import Path

from byline.tasks.prepare import prepare
from byline.text.encoder import make_alphabet


def test_a_character_is_kept_at_one_in_ten_thousand() -> None:
    kept = make_alphabet({"a": 9_999, "b": 1})
    assert kept.symbols == "ab"
    assert make_alphabet({"a": 10_000, "b": 1}).symbols == "a"


def test_the_scripts_rules_keep_all_letters_and_rarer_others() -> None:
    counts = {"a": 99_998, "b": 1, "!": 1, "?": 1}
    assert make_alphabet(counts, "scripts").symbols == "ab"
    assert make_alphabet(counts | {"!": 2}, "scripts").symbols == "!ab"


def test_the_alphabets_of_pan_2015_are_near_the_papers(pan_data: Path) -> None:
    sizes = {
        language: len(prepare(pan_data / f"pan15-train-{language}")[0].alphabet)
        for language in ("english", "dutch", "greek", "spanish")
    }
    assert sizes["english"] == 39  # the paper's
    assert abs(sizes["dutch"] - 47) <= 5
    assert abs(sizes["greek"] - 47) <= 5
    assert abs(sizes["spanish"] - 51) <= 9
