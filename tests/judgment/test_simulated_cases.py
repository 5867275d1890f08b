"""Author folders made into problems whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from byline.corpora.problems import Problem, ProblemSet
from byline.errors import CorpusError, TooLittleText
from byline.judgment.calibration_fitting import text_groups
from byline.judgment.simulated_cases import MAX_KNOWN, MIN_AUTHORS, make_cases

DICE = random.Random(1)
LEXICON = ["".join(DICE.choices("etaoinshrdlu", k=DICE.randint(2, 9))) for _ in range(2000)]


def prose(author: str, text: int, length: int = 300) -> str:
    return " ".join(random.Random(f"{author} {text}").choices(LEXICON, k=length))[:length]


def write(folder: Path, counts: Mapping[str, int]) -> Path:
    """So many texts by each author."""
    for author, count in counts.items():
        (folder / author).mkdir(parents=True)
        for text in range(count):
            (folder / author / f"{text}.txt").write_text(prose(author, text), "utf-8")
    return folder


TWELVE = {f"author{n:02d}": 2 + n % 6 for n in range(12)}


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return write(tmp_path / "authors", {**TWELVE, "lonely": 1})


def author_of(document_name: str) -> str:
    return document_name.split("/")[0]


def authors_of(problem: Problem) -> set[str]:
    return {author_of(document.name) for document in problem.known}


def test_each_author_with_two_texts_or_more_is_asked_about_once_either_way(folders: Path) -> None:
    problems, truth = make_cases(folders)
    assert [problem.id for problem in problems.problems] == sorted(truth)
    for same in (True, False):
        chosen = [problem for problem in problems.problems if truth[problem.id] == same]
        unknown, known = [author_of(each.unknown.name) for each in chosen], [authors_of(each) for each in chosen]
        assert sorted(unknown) == sorted(author for authors in known for author in authors) == sorted(TWELVE)
        assert all(({asked} == authors) == same for asked, authors in zip(unknown, known, strict=True))


def test_no_text_is_known_in_one_problem_and_unknown_in_another(folders: Path) -> None:
    problems = make_cases(folders)[0].problems
    known = {document.text for problem in problems for document in problem.known}
    assert known.isdisjoint(problem.unknown.text for problem in problems)


def test_all_other_texts_of_an_author_are_known_up_to_a_few(folders: Path) -> None:
    problems, truth = make_cases(folders)
    for problem in problems.problems:
        if truth[problem.id]:
            assert len(problem.known) == min(TWELVE[author_of(problem.unknown.name)] - 1, MAX_KNOWN)


def test_few_problems_hang_together(folders: Path) -> None:
    """Authors are exchanged two by two, so that a calibration's folds can share no text."""
    problems, _ = make_cases(folders)
    keys = [[*(document.text for document in each.known), each.unknown.text] for each in problems.problems]
    groups = text_groups(keys)
    assert max(groups.count(group) for group in groups) <= 6


def test_the_same_seed_makes_the_same_problems_and_another_seed_others(folders: Path) -> None:
    assert make_cases(folders, seed=3) == make_cases(folders, seed=3)
    assert make_cases(folders, seed=3) != make_cases(folders, seed=4)


def test_the_language_is_what_is_said(folders: Path) -> None:
    def languages(problems: ProblemSet) -> set[str]:
        return {problem.language for problem in problems.problems}

    assert languages(make_cases(folders)[0]) == {"latin"}
    assert languages(make_cases(folders, "en")[0]) == {"english"}


def test_an_author_who_may_be_the_same_person_is_nobody_else(tmp_path: Path) -> None:
    folder = write(tmp_path / "authors", TWELVE)
    (folder / "author01/again.txt").write_text((folder / "author00/0.txt").read_text("utf-8"), "utf-8")
    for seed in range(12):
        problems, truth = make_cases(folder, seed=seed)
        for problem in problems.problems:
            if not truth[problem.id]:
                assert authors_of(problem) | {author_of(problem.unknown.name)} != {"author00", "author01"}


def test_too_few_authors_are_refused_with_the_remedy(tmp_path: Path) -> None:
    enough = dict(list(TWELVE.items())[:MIN_AUTHORS])
    make_cases(write(tmp_path / "enough", enough))
    folder = write(tmp_path / "few", {**enough, "author03": 1})
    with pytest.raises(TooLittleText, match="has 9 authors") as refusal:
        make_cases(folder)
    assert refusal.value.where == str(folder)
    assert refusal.value.remedy


def test_what_cant_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="gone: not found"):
        make_cases(tmp_path / "gone")
    folder = write(tmp_path / "authors", TWELVE)
    (folder / "author03/0.txt").write_text("", "utf-8")
    (folder / "author07/1.txt").write_text("", "utf-8")
    with pytest.raises(CorpusError, match=r"(?s)author03/0\.txt: empty.*author07/1\.txt: empty"):
        make_cases(folder)
