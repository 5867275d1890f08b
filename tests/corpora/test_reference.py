"""References: who wrote which texts, what is left out, and the folder on disk."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from byline.cli import app
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, read_problems
from byline.corpora.reference import (
    FEWEST,
    LeftOut,
    Reference,
    ReferenceText,
    related_texts,
    write_reference,
)
from byline.corpora.reference_building import build_reference, read_reference
from byline.errors import BylineError, CorpusError, RunError, TooLittleText
from byline.judgment.checks.reference_suitability import ENOUGH, check_reference
from byline.storage.files import OLD, checked_json
from byline.text.shared_passages import PASSAGE
from refusals import refusal
from samples import MakeCorpus

DICE = random.Random(1)
LEXICON = ["".join(DICE.choices("etaoinshrdlu", k=DICE.randint(2, 9))) for _ in range(2000)]


def prose(seed: int, length: int = 400) -> str:
    """Words in an order that no two seeds have in common; they know more or fewer of them."""
    words = random.Random(seed).choices(LEXICON[: 400 + 150 * (seed % 10)], k=length // 3)
    return " ".join(words)[:length].rstrip().ljust(length, "e")


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def authors(reference: Reference) -> dict[str, list[str]]:
    return {author: [text.document.name for text in texts] for author, texts in sorted(reference.by_author.items())}


def population(count: int = 60, length: int = 1000, language: str = "english") -> Reference:
    texts = (ReferenceText(Document(f"{n}.txt", prose(n, length)), f"author {n}") for n in range(count))
    return Reference(language, tuple(texts))


def problem(known: str, unknown: str, language: str = "english") -> Problem:
    return Problem("EN001", (Document("known01.txt", known),), Document("unknown.txt", unknown), language)


class TestLayouts:
    def test_the_known_texts_of_a_problem_are_by_one_author_and_the_unknown_by_another_who_may_be_the_same(
        self, make_corpus: MakeCorpus
    ) -> None:
        folder = make_corpus(
            {
                "EN001": {"known01.txt": prose(1), "known02.txt": prose(2), "unknown.txt": prose(3)},
                "EN002": {"known01.txt": prose(4), "unknown.txt": prose(5)},
            },
            truth="EN001 Y\nEN002 N\n",
        )
        reference = build_reference([folder])
        assert reference.language == "english"
        assert authors(reference) == {
            "corpus/EN001 known": ["EN001/known01.txt", "EN001/known02.txt"],
            "corpus/EN001 unknown": ["EN001/unknown.txt"],
            "corpus/EN002 known": ["EN002/known01.txt"],
            "corpus/EN002 unknown": ["EN002/unknown.txt"],
        }
        sides = [[f"corpus/{name} {side}" for side in ("known", "unknown")] for name in ("EN001", "EN002")]
        assert reference.unclear_pairs == set(map(frozenset, sides))

    def test_the_truth_is_never_read(self, make_corpus: MakeCorpus) -> None:
        problems = {"EN001": {"known01.txt": prose(1), "unknown.txt": prose(2)}}
        yes, no = (make_corpus(problems, truth=f"EN001 {said}", name=f"{said}/corpus") for said in "YN")
        assert build_reference([yes]) == build_reference([no])

    def test_known_sets_that_share_a_text_are_of_one_author_and_unclear_pairs_follow(
        self, make_corpus: MakeCorpus
    ) -> None:
        folder = make_corpus(
            {
                "EN001": {"known01.txt": prose(1), "known02.txt": prose(2), "unknown.txt": prose(3)},
                "EN002": {"known01.txt": prose(2), "known02.txt": prose(4), "unknown.txt": prose(5)},
                "EN003": {"known01.txt": prose(6), "unknown.txt": prose(1)},
            }
        )
        reference = build_reference([folder])
        one, three = "corpus/EN001 known", "corpus/EN003 known"
        assert authors(reference)[one] == ["EN001/known01.txt", "EN001/known02.txt", "EN002/known02.txt"]
        assert reference.left_out == LeftOut(repeated=2)
        assert reference.unclear_pairs == {
            frozenset({one, "corpus/EN001 unknown"}),
            frozenset({one, "corpus/EN002 unknown"}),
            frozenset({one, three}),
        }

    def test_a_short_text_that_many_wrote_makes_them_not_one(self, make_corpus: MakeCorpus) -> None:
        folder = make_corpus(
            {
                f"EN00{n}": {"known01.txt": prose(n), "known02.txt": "Thank you!", "unknown.txt": prose(n + 5)}
                for n in range(5)
            }
        )
        reference = build_reference([folder])
        assert len(reference.by_author) == 10
        assert reference.left_out == LeftOut(short=5)

    def test_pairs_have_two_authors_each(self, tmp_path: Path) -> None:
        rows = [{"id": n, "pair": [prose(2 * n), prose(2 * n + 1)]} for n in range(2)]
        write(tmp_path, {"pairs.jsonl": "\n".join(map(json.dumps, rows))})
        for path in (tmp_path, tmp_path / "pairs.jsonl"):
            reference = build_reference([path])
            assert [text.author.partition("/")[2] for text in reference.texts] == [
                "0 first", "0 second", "1 first", "1 second",
            ]  # fmt: skip
            assert len(reference.unclear_pairs) == 2
            assert reference.language == "latin"

    def test_folders_are_authors_and_plain_texts_are_each_by_one_of_their_own(self, tmp_path: Path) -> None:
        write(tmp_path, {"Ann/1.txt": prose(1), "Ann/2.TXT": prose(2), "Bob/1.txt": prose(3), "loose.txt": prose(4)})
        reference = build_reference([tmp_path])
        assert authors(reference) == {
            "Ann": ["Ann/1.txt", "Ann/2.TXT"],
            "Bob": ["Bob/1.txt"],
            f"{tmp_path.name}/loose": ["loose.txt"],
        }
        assert reference.unclear_pairs == frozenset()

    def test_names_before_an_underscore_are_authors_where_two_files_have_them(self, tmp_path: Path) -> None:
        names = ["Ann_One", "Ann_Two", "Bob_Only", "1890_a", "1890_b", "plain"]
        write(tmp_path, {f"{name}.txt": prose(n) for n, name in enumerate(names)})
        for paths in ([tmp_path], sorted(tmp_path.iterdir())):
            found = authors(build_reference(paths))
            assert found.pop("Ann") == ["Ann_One.txt", "Ann_Two.txt"]
            assert {name.partition("/")[2] for name in found} == {"Bob_Only", "1890_a", "1890_b", "plain"}

    def test_texts_that_all_begin_alike_are_one_authors_and_that_is_said(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        write(tmp_path, {f"text_{n}.txt": prose(n) for n in range(3)})
        assert list(build_reference([tmp_path]).by_author) == ["text"]
        assert "all texts there are by one author, text" in caplog.text

    def test_corpora_are_put_together_and_equal_labels_in_them_are_different_people(self, tmp_path: Path) -> None:
        first = write(tmp_path / "a" / "texts", {"1.txt": prose(1), "Ann/1.txt": prose(2)})
        second = write(tmp_path / "b" / "texts", {"1.txt": prose(3), "Ann/1.txt": prose(4)})
        reference = build_reference([first, second])
        assert authors(reference) == {
            "Ann": ["texts/Ann/1.txt", "texts/Ann/1.txt"],
            "texts/1": ["texts/1.txt"],
            "texts/1 (2)": ["texts/1.txt"],
        }

    def test_a_text_under_two_names_may_be_eithers(self, tmp_path: Path) -> None:
        write(tmp_path, {"Ann/1.txt": prose(1), "Ann/2.txt": prose(2), "Bob/1.txt": prose(1), "Bob/2.txt": prose(3)})
        reference = build_reference([tmp_path])
        assert authors(reference) == {"Ann": ["Ann/1.txt", "Ann/2.txt"], "Bob": ["Bob/2.txt"]}
        assert reference.unclear_pairs == {frozenset({"Ann", "Bob"})}

    def test_a_folder_given_twice_or_by_a_link_counts_once(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "texts", {"Ann/1.txt": prose(1), "2.txt": prose(2)})
        (tmp_path / "link").symlink_to(folder)
        once = build_reference([folder])
        assert build_reference([folder, folder, tmp_path / "link", folder / "." / "Ann" / ".."]) == once
        again = build_reference([folder, folder / "Ann"])
        assert [text.author for text in again.texts] == [text.author for text in once.texts]
        assert again.left_out == LeftOut(repeated=1)

    def test_what_lies_about_is_no_text(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        write(tmp_path, {"1.txt": prose(1), "._1.txt": b"\xff", ".git/x.txt": "x", "truth.txt": "x", "notes.md": "x"})
        write(tmp_path, {"__MACOSX/1.txt": b"\xff", "out/answers.txt": "x", "out/run/plan.json": "{}"})
        write_reference(population(3), tmp_path / "ref")
        assert len(build_reference([tmp_path]).texts) == 1
        assert "ref: ignored, Byline wrote it" in caplog.text

    def test_a_folder_one_level_off_is_named(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        folder = make_corpus({"EN001": {"known01.txt": prose(1), "unknown.txt": prose(2)}})
        deep = write(tmp_path / "deep", {"essays/Ann/1.txt": prose(1), "essays/Bob/1.txt": prose(2)})
        remedies = [
            refusal(CorpusError, build_reference, [path]).remedy for path in (folder / "EN001", folder.parent, deep)
        ]
        assert remedies == ["Name the folder above it", f"Name {folder}", f"Name {deep / 'essays'}"]

    def test_a_built_reference_can_be_built_upon(self, tmp_path: Path) -> None:
        old = build_reference([write(tmp_path / "old", {"Ann/1.txt": prose(1), "Bob/1.txt": prose(2)})])
        write_reference(old, tmp_path / "ref")
        more = write(tmp_path / "more", {"Ann/2.txt": prose(3), "Cid/1.txt": prose(4)})
        assert sorted(build_reference([tmp_path / "ref", more]).by_author) == ["Ann", "Bob", "Cid"]


class TestBadInput:
    def test_all_bad_files_of_all_folders_are_named_at_once(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus({"EN001": {"known01.txt": b"\xff\xfa", "unknown.txt": ""}})
        folder = write(tmp_path / "texts", {"Ann/empty.txt": " \n", "b.txt": b"%PDF-1", "good.txt": prose(1)})
        (folder / "broken.txt").symlink_to(folder / "nowhere")
        os.mkfifo(folder / "pipe.txt")
        with pytest.raises(CorpusError) as caught:
            build_reference([corpus, folder, tmp_path / "none"])
        lines = [line.strip() for line in str(caught.value).splitlines()]
        for name in (
            "corpus/EN001/known01.txt",
            "corpus/EN001/unknown.txt",
            "texts/Ann/empty.txt",
            "texts/b.txt",
            "texts/broken.txt",
            "texts/pipe.txt",
            str(tmp_path / "none"),
        ):
            assert any(line.startswith(f"{name}: ") for line in lines)

    def test_links_that_lead_round_in_a_circle_end(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "texts", {"1.txt": prose(1), "2.txt": prose(2)})
        (folder / "round").symlink_to(folder)
        (folder / "itself").symlink_to(folder / "itself")
        for path in (folder, folder / "itself"):
            refusal(CorpusError, build_reference, [path])

    def test_nothing_to_read_is_refused(self, tmp_path: Path) -> None:
        for path in (tmp_path, Path("x" * 5000)):
            assert refusal(CorpusError, build_reference, [path]).where == str(path)
        write(tmp_path, {"1.txt": "Short."})
        assert refusal(TooLittleText, build_reference, [tmp_path]).where == str(tmp_path)
        with pytest.raises(CorpusError, match="no texts"):
            build_reference([])

    def test_long_and_odd_names_are_kept(self, tmp_path: Path) -> None:
        names = ["x" * 240, "line\nbreak", "[bold]name", "ναί", os.fsdecode(b"\xff\xfe")]
        write(tmp_path / "texts", {f"{name}/1.txt": prose(n) for n, name in enumerate(names)})
        reference = build_reference([tmp_path / "texts"])
        assert set(reference.by_author) == set(names)
        write_reference(reference, tmp_path / "ref")
        assert read_reference(tmp_path / "ref") == reference

    def test_mixed_languages_are_refused_and_named(self, tmp_path: Path) -> None:
        greek = "Και τώρα τι θα γένουμε χωρίς βαρβάρους; Οι άνθρωποι αυτοί ήσαν μια κάποια λύσις. " * 5
        write(tmp_path, {"1.txt": prose(1), "2.txt": prose(2), "3.txt": greek, "4.txt": "123 " * 100})
        with pytest.raises(CorpusError) as caught:
            build_reference([tmp_path])
        assert "greek: 3.txt\n  latin: 1.txt, 2.txt" in caught.value.what
        assert "{language}" in str(caught.value.remedy)
        assert build_reference([tmp_path], "english").language == "english"

    def test_plain_texts_are_of_the_language_that_a_corpus_names(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        plain = write(tmp_path / "texts", {"1.txt": prose(1)})
        english = make_corpus({"EN001": {"known01.txt": prose(2), "unknown.txt": prose(3)}}, name="english")
        dutch = make_corpus({"DU001": {"known01.txt": prose(4), "unknown.txt": prose(5)}}, name="dutch")
        assert build_reference([plain, english]).language == "english"
        assert build_reference([plain]).language == "latin"
        with pytest.raises(CorpusError, match=r"dutch: .*\n  english: .*"):
            build_reference([english, dutch])

    @given(st.lists(st.text(min_size=60, max_size=90).map(lambda text: text * 4), min_size=1, max_size=6))
    def test_any_text_survives_the_way_to_disk(
        self, tmp_path_factory: pytest.TempPathFactory, texts: list[str]
    ) -> None:
        folder = tmp_path_factory.mktemp("any")
        rows = [{"id": n, "pair": [text, prose(n)]} for n, text in enumerate(texts)]
        write(folder, {"pairs.jsonl": "\n".join(map(json.dumps, rows))})
        try:
            reference = build_reference([folder], "english")
        except CorpusError:  # nothing but white space
            return
        write_reference(reference, folder / "ref")
        assert read_reference(folder / "ref") == reference


class TestCleaning:
    def test_the_same_text_in_other_white_space_and_quotes_counts_once(self, tmp_path: Path) -> None:
        text = prose(1) + " “yes”"
        write(tmp_path, {"1.txt": text, "2.txt": text.replace(" ", "\n  ").replace("“", '"').replace("”", '"')})
        reference = build_reference([tmp_path])
        assert [text.document.name for text in reference.texts] == ["1.txt"]
        assert reference.left_out == LeftOut(repeated=1)

    def test_a_text_that_borrows_from_another_author_is_left_out(self, tmp_path: Path) -> None:
        passage = prose(99, PASSAGE + 2)
        write(tmp_path, {f"Ann/{n}.txt": prose(n) + passage for n in range(2)})
        write(tmp_path, {"Bob/1.txt": passage + prose(5), "Cid/1.txt": prose(6) + passage[10:-10] + prose(7)})
        reference = build_reference([tmp_path])
        assert list(reference.by_author) == ["Ann", "Cid"]
        assert reference.left_out == LeftOut(borrowed=1)

    def test_a_heading_that_everybody_has_is_shown(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        write(tmp_path, {f"{n}.txt": "All rights reserved. " + prose(99, 150) + prose(n) for n in range(5)})
        assert len(build_reference([tmp_path]).texts) == 1
        assert "4 of 5 texts are left out" in caplog.text
        assert "All rights" in caplog.text or "ll rights reserved" in caplog.text


class TestRelatedTexts:
    def test_texts_that_a_question_holds_or_quotes_are_related_to_it(self) -> None:
        reference = population(6)
        texts = [text.document.text for text in reference.texts]
        documents = [Document("same", texts[0].upper().lower() + "\n"), Document("quotes", prose(50) + texts[1][:150])]
        assert related_texts(reference, documents) == [{0}, {1}]

    def test_so_are_those_of_its_author_and_of_who_may_be_the_same(self) -> None:
        texts = tuple(ReferenceText(Document(f"{n}", prose(n)), author) for n, author in enumerate("AABCD"))
        reference = Reference("english", texts, frozenset({frozenset("AB"), frozenset("BC"), frozenset("CD")}))
        quoting = Document("quoting", texts[0].document.text[:200] + prose(9))
        assert related_texts(reference, [texts[0].document, quoting]) == [{0, 1, 2}, {0}]


def take_away(folder: Path) -> None:
    """As a process does that is killed before it puts another there."""
    folder.rename(folder.with_name(f".{folder.name}.{2**22 + 1}{OLD}"))


class TestOnDisk:
    @pytest.fixture
    def built(self, tmp_path: Path) -> Path:
        write_reference(population(3), tmp_path / "ref")
        return tmp_path / "ref"

    def test_a_reference_is_read_as_it_was_written(self, built: Path) -> None:
        assert read_reference(built) == population(3)
        assert read_reference(built, "EN").language == "english"
        assert read_reference(built, "dutch").language == "dutch"
        described = json.loads((built / "reference.json").read_text("utf-8"))
        assert {"format", "byline", "language", "texts", "unclear", "left_out", "checksum"} == set(described)
        assert described["texts"][0]["file"] == "texts/0001.txt"
        assert described["texts"][0]["characters"] == 1000

    def test_changed_and_missing_texts_are_all_named(self, built: Path) -> None:
        (built / "texts" / "0001.txt").write_text("changed", "utf-8")
        (built / "texts" / "0003.txt").unlink()
        with pytest.raises(CorpusError) as caught:
            read_reference(built)
        for name in ("0001.txt", "0003.txt"):
            assert f"{built / 'texts' / name}: " in str(caught.value)

    @pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"format": 1}', None])
    def test_a_damaged_description_is_refused(self, built: Path, content: bytes | None) -> None:
        path = built / "reference.json"
        path.write_bytes(path.read_bytes().replace(b"author 1", b"author 2") if content is None else content)
        error = refusal(CorpusError, read_reference, built)
        assert (error.where, "{overwrite}" in str(error.remedy)) == (str(path), True)

    @pytest.mark.parametrize(
        "change",
        [
            {"format": 2},
            {"texts": 7},
            {"texts": [{"file": 3}]},
            {"texts": [{"file": "../secret.txt", "name": "", "author": ""}]},
            {"unclear": [["a"]]},
            {"unclear": [[1, 2]]},
            {"unclear": [["a", "nobody at all"]]},
            {"left_out": {"lost": 3}},
            {"left_out": {"short": "x"}},
            {"left_out": []},
            {"language": 7},
        ],
    )
    def test_a_description_that_another_program_wrote_is_refused(self, built: Path, change: dict[str, object]) -> None:
        described = json.loads((built / "reference.json").read_text("utf-8"))
        del described["checksum"]
        (built / "reference.json").write_bytes(checked_json({**described, **change}))
        assert refusal(CorpusError, read_reference, built).where == str(built / "reference.json")

    def test_a_reference_is_replaced_only_when_told(self, built: Path) -> None:
        assert "{overwrite}" in str(refusal(RunError, write_reference, population(2), built).remedy)
        assert read_reference(built) == population(3)
        write_reference(population(2), built, overwrite=True)
        assert read_reference(built) == population(2)
        assert sorted(path.name for path in (built / "texts").iterdir()) == ["0001.txt", "0002.txt"]
        assert [path.name for path in built.parent.iterdir()] == ["ref"]

    def test_one_that_a_killed_process_took_away_is_not_replaced_unasked(self, built: Path, tmp_path: Path) -> None:
        take_away(built)
        refusal(RunError, write_reference, population(2), built)
        assert read_reference(built) == population(3)
        write_reference(population(2), built, overwrite=True)
        assert read_reference(built) == population(2)
        assert [path.name for path in tmp_path.iterdir()] == ["ref"]

    def test_nothing_that_is_not_a_references_own_is_deleted(self, built: Path, tmp_path: Path) -> None:
        (built / "notes.txt").write_text("precious", "utf-8")
        other = write(tmp_path / "other", {"precious.txt": "x"})
        for path in (built, other, other / "precious.txt"):
            assert refusal(RunError, write_reference, population(2), path, overwrite=True).where == str(path)
        assert (built / "notes.txt").read_text("utf-8") == "precious"
        assert (other / "precious.txt").exists()

    def test_an_empty_folder_and_a_link_to_one_are_filled(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "empty")
        write_reference(population(2), tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert read_reference(tmp_path / "empty") == population(2)

    def test_what_cant_be_written_leaves_nothing(self, tmp_path: Path) -> None:
        write(tmp_path, {"file": "x"})
        with pytest.raises(RunError):
            write_reference(population(2), tmp_path / "file" / "ref")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


class TestCheck:
    def test_a_large_reference_of_the_same_kind_is_well_suited(self) -> None:
        check = check_reference(population(ENOUGH + 10), [problem(prose(900, 1000), prose(901, 1200))])
        assert (check.texts, check.authors, check.lengths[0]) == (ENOUGH + 10, ENOUGH + 10, 1000)
        assert check.problems[0].verdict == "well suited"
        assert check.problems[0].near_unknown == check.problems[0].near_known == ENOUGH + 10
        assert (check.grade, check.verdict) == ("good", "Of 1 question, the reference is well suited for 1.")

    def test_fewer_than_enough_is_usable_and_fewer_than_the_fewest_is_not(self) -> None:
        asked = [problem(prose(900, 1000), prose(901, 1000))]
        fair = check_reference(population(FEWEST + 5), asked)
        assert (fair.grade, fair.problems[0].grade) == ("fair", "fair")
        assert "texts by 15 other people; 50 would be enough" in fair.problems[0].verdict
        none = check_reference(population(FEWEST - 1), asked)
        assert (none.grade, none.problems[0].grade) == ("none", "none")
        assert none.verdict.startswith("Too small for any question: texts by 9 people")

    def test_texts_of_the_question_dont_count(self) -> None:
        reference = population(FEWEST)
        asked = problem(reference.texts[0].document.text, prose(900, 1000))
        found = check_reference(reference, [asked, problem(prose(901, 1000), prose(900, 1000))]).problems
        assert [(row.authors, row.related, row.grade) for row in found] == [(9, 1, "none"), (10, 0, "fair")]

    def test_texts_of_other_lengths_are_counted_out(self) -> None:
        (found,) = check_reference(population(60), [problem(prose(900, 1900), prose(901, 300))]).problems
        assert (found.near_known, found.near_unknown, found.grade) == (60, 0, "poor")
        assert "none of 60 people have a text near in length to the unknown text (300 characters" in found.verdict
        assert "the median of the reference is 1,000" in found.verdict

    def test_an_authors_texts_together_can_match_the_known_ones(self) -> None:
        texts = tuple(ReferenceText(Document(f"{n}", prose(n, 1000)), f"author {n // 4}") for n in range(80))
        known = tuple(Document(f"{n}", prose(n, 1000)) for n in range(900, 904))
        asked = Problem("EN001", known, Document("unknown", prose(910, 1000)), "english")
        (found,) = check_reference(Reference("english", texts), [asked]).problems
        assert (found.near_known, found.near_unknown) == (20, 20)

    def test_texts_of_a_kind_that_the_reference_lacks_are_told(self) -> None:
        other = prose(900, 1000).translate(str.maketrans("etaoin", "bcfgjk"))
        (found,) = check_reference(population(60), [problem(other, prose(901, 1000))]).problems
        assert found.grade == "poor"
        assert "the known side is of a kind that the reference hardly has" in found.verdict
        assert found.like_known == 0 < found.like_unknown

    def test_two_sides_that_share_a_subject_of_their_own_are_told(self) -> None:
        subject = "parliamentary commission "
        sides = [" ".join(subject + prose(seed + n, 60) for n in range(12)) for seed in (900, 950)]
        (found,) = check_reference(population(60), [problem(*sides)]).problems
        assert "the two sides are far more alike" in found.verdict

    def test_another_language_is_of_no_use_and_a_script_may_be_the_language(self) -> None:
        asked = problem(prose(900, 1000), prose(901, 1000))
        (found,) = check_reference(population(60, language="dutch"), [asked]).problems
        assert found.verdict == "of no use: the reference is dutch, the question english"
        (found,) = check_reference(population(60, language="latin"), [asked]).problems
        assert found.grade == "good"

    def test_authors_who_may_be_one_person_count_once_as_they_do_when_problems_are_answered(self) -> None:
        """Ten authors, of whom two may be one: verify finds nine who surely are different, and refuses."""
        reference = replace(population(FEWEST), unclear_pairs=frozenset([frozenset(["author 0", "author 1"])]))
        assert {"author 0", "author 1"} <= set(reference.by_author)
        check = check_reference(reference, [problem(prose(900, 1000), prose(901, 1000))])
        assert (check.authors, check.grade) == (FEWEST - 1, "none")
        assert (check.problems[0].authors, check.problems[0].near_known) == (FEWEST - 1, FEWEST - 1)

    def test_known_texts_count_once_and_without_the_unknown_one(self) -> None:
        known, unknown = (Document(name, prose(seed, 1000)) for name, seed in (("known", 900), ("unknown", 901)))
        asked = Problem("EN001", (known, unknown, known), unknown, "english")
        (found,) = check_reference(population(60), [asked]).problems
        assert (found.near_known, found.grade) == (60, "good")

    def test_no_problems_and_an_empty_reference_are_no_reason_to_fail(self) -> None:
        assert check_reference(population(12), []).problems == ()
        empty = check_reference(Reference("english", ()), [problem(prose(1), prose(2))])
        assert (empty.lengths, empty.grade) == ((0, 0, 0), "none")


class TestCommands:
    def run(self, *words: object) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["reference", *map(str, words)])
        if isinstance(result.exception, BylineError):
            return 1, str(result.exception)
        return result.exit_code, result.stdout

    def test_build_says_what_was_read_kept_and_left_out(self, tmp_path: Path) -> None:
        write(tmp_path / "texts", {"Ann/1.txt": prose(1), "Ann/2.txt": prose(2), "Bob/1.txt": prose(1), "c.txt": "c"})
        code, printed = self.run("build", tmp_path / "texts", "-o", tmp_path / "ref", "--language", "en")
        assert code == 0
        assert "English: 4 texts read" in printed
        assert "1 left out: shorter than 200 characters" in printed
        assert "1 left out: repeats an earlier text" in printed
        assert "2 kept, by 1 author, 1 of them with several texts" in printed
        assert "800 characters; shortest text 400, median 400, longest 400" in printed
        assert self.run("build", tmp_path / "texts", "-o", tmp_path / "ref")[0] == 1
        code, printed = self.run("build", tmp_path / "texts", "-o", tmp_path / "ref", "--overwrite", "--json")
        assert json.loads(printed)["left_out"] == {"short": 1, "repeated": 1, "borrowed": 0, "related": 0}

    def test_check_says_what_is_wanting(self, english: Path, tmp_path: Path) -> None:
        assert self.run("build", english, "-o", tmp_path / "ref")[0] == 0
        code, printed = self.run("check", tmp_path / "ref", english)
        assert code == 0
        assert "EN001" in printed
        assert "Of 12 questions, the reference is" in printed
        code, printed = self.run("check", english, english, "--json")
        result = json.loads(printed)
        assert [row["id"] for row in result["problems"]] == [one.id for one in read_problems(english).problems]
        assert {"verdict", "grade", "near_unknown", "like_known", "related"} <= set(result["problems"][0])

    def test_problems_that_cant_be_used_are_refused(self, make_corpus: MakeCorpus, english: Path) -> None:
        code, message = self.run("check", english, make_corpus({"EN001": {"known01.txt": "x"}}))
        assert (code, message.startswith("EN001: ")) == (1, True)
