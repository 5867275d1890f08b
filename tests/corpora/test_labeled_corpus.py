"""Corpora whose authors are known: every layout, identical texts, and splitting by authors."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.corpora.documents import Document
from byline.corpora.labeled_corpus import LabeledCorpus, leave_out_related, read_labeled_corpora, split_authors
from byline.corpora.reference import ReferenceText
from byline.errors import AnswersError, CorpusError, SettingsError, TooLittleText
from samples import LEXICON, MakeCorpus, prose


def by_author(corpus: LabeledCorpus) -> set[frozenset[str]]:
    """The sets of texts that are by one author, by the last two parts of their names."""
    return {
        frozenset("/".join(text.document.name.split("/")[-2:]) for text in texts) for texts in corpus.by_author.values()
    }


def groups(*names: Iterable[str]) -> set[frozenset[str]]:
    return set(map(frozenset, names))


def write(folder: Path, files: Mapping[str, object]) -> Path:
    """Write texts as they are and other values as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return folder


def people(count: int, texts: int = 2) -> LabeledCorpus:
    made = (
        ReferenceText(Document(f"{author:02d}/{text}.txt", prose(100 * author + text)), f"author {author:02d}")
        for author in range(count)
        for text in range(texts)
    )
    return LabeledCorpus("english", tuple(made), name="people")


class TestFolders:
    @pytest.mark.parametrize("separator", ["/", "_"])
    def test_author_folders_and_author_title_files_name_the_authors(self, tmp_path: Path, separator: str) -> None:
        names = [f"{author}{separator}{title}.txt" for author in ("ann", "bob") for title in ("one", "two")]
        folder = write(tmp_path / "novels", {name: prose(number) for number, name in enumerate(names)})
        (corpus,) = read_labeled_corpora(folder, "en")
        assert (corpus.name, corpus.language, corpus.authors) == ("novels", "english", ("ann", "bob"))
        assert len(corpus.texts) == 4

    def test_one_text_under_two_names_makes_two_authors_who_may_be_the_same(self, tmp_path: Path) -> None:
        files = {"ann/1.txt": prose(1), "ann/2.txt": prose(2), "bob/1.txt": prose(3), "bob/2.txt": prose(1)}
        (corpus,) = read_labeled_corpora(write(tmp_path / "people", files))
        assert corpus.may_be_same("ann", "bob")
        assert len(corpus.texts) == 3


class TestProblems:
    def test_the_truth_says_whose_the_unknown_text_is(self, make_corpus: MakeCorpus) -> None:
        problems = {
            "EN001": {"known01.txt": prose(1), "known02.txt": prose(2), "unknown.txt": prose(3)},
            "EN002": {"known01.txt": prose(4), "unknown.txt": prose(5)},
        }
        (corpus,) = read_labeled_corpora(make_corpus(problems, truth="EN001 Y\nEN002 N\n"))
        assert corpus.language == "english"
        assert by_author(corpus) == groups(
            ("EN001/known01.txt", "EN001/known02.txt", "EN001/unknown.txt"),
            ("EN002/known01.txt",),
            ("EN002/unknown.txt",),
        )
        assert not corpus.unclear_pairs

    def test_identical_texts_make_authors_one(self, make_corpus: MakeCorpus) -> None:
        problems = {
            "EN001": {"known01.txt": prose(1), "unknown.txt": prose(2)},
            "EN002": {"known01.txt": prose(3), "unknown.txt": prose(4)},
            "EN003": {"known01.txt": prose(4).replace(" ", "  "), "unknown.txt": prose(1)},
        }
        (corpus,) = read_labeled_corpora(make_corpus(problems, truth="EN001 Y\nEN002 N\nEN003 Y\n"))
        assert by_author(corpus) == groups(
            ("EN001/known01.txt", "EN001/unknown.txt", "EN002/unknown.txt"), ("EN002/known01.txt",)
        )

    def test_a_truth_that_identical_texts_contradict_is_reported(
        self, make_corpus: MakeCorpus, caplog: pytest.LogCaptureFixture
    ) -> None:
        problems = {
            "EN001": {"known01.txt": prose(1), "unknown.txt": prose(2)},
            "EN002": {"known01.txt": prose(1), "unknown.txt": prose(2)},
        }
        with caplog.at_level(logging.WARNING):
            read_labeled_corpora(make_corpus(problems, truth="EN001 Y\nEN002 N\n"))
        assert "EN002" in caplog.text

    def test_a_problem_without_truth_is_refused(self, make_corpus: MakeCorpus) -> None:
        problems = {f"EN00{n}": {"known01.txt": prose(n), "unknown.txt": prose(n + 10)} for n in (1, 2)}
        with pytest.raises(AnswersError, match="EN002"):
            read_labeled_corpora(make_corpus(problems, truth="EN001 Y\n"))

    def test_problems_of_two_languages_are_two_corpora(self, make_corpus: MakeCorpus) -> None:
        problems = {
            name: {"known01.txt": prose(n), "unknown.txt": prose(n + 5)} for n, name in enumerate(("EN1", "DU1"))
        }
        found = read_labeled_corpora(make_corpus(problems, truth="EN1 Y\nDU1 N\n"))
        assert [(corpus.name, corpus.language) for corpus in found] == [
            ("corpus/dutch", "dutch"), ("corpus/english", "english")
        ]  # fmt: skip


def attribution(folder: Path) -> Path:
    """Two English problems that share candidate ann's texts, under different labels, and a French one."""
    info = {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "c1"}, {"author-name": "c2"}]}

    def problem(name: str, texts: Mapping[str, str], truth: Mapping[str, str]) -> dict[str, object]:
        rows = [{"unknown-text": text, "true-author": author} for text, author in truth.items()]
        files = {"problem-info.json": info, "ground-truth.json": {"ground_truth": rows}, **texts}
        return {f"{name}/{file}": content for file, content in files.items()}

    languages = {"p1": "en", "p2": "en", "p3": "fr"}
    return write(
        folder,
        {
            "collection-info.json": [{"problem-name": name, "language": each} for name, each in languages.items()],
            **problem(
                "p1",
                {"c1/k1.txt": prose(1), "c2/k1.txt": prose(2), "unknown/u1.txt": prose(3), "unknown/u2.txt": prose(4)},
                {"u1.txt": "c2", "u2.txt": "<UNK>"},
            ),
            **problem(
                "p2",
                {"c1/k1.txt": prose(5), "c2/k1.txt": prose(1), "unknown/u1.txt": prose(6)},
                {"u1.txt": "c2"},
            ),
            **problem(
                "p3", {"c1/k1.txt": prose(7), "c2/k1.txt": prose(8), "unknown/u1.txt": prose(9)}, {"u1.txt": "c1"}
            ),
        },
    )


class TestCollections:
    def test_candidates_of_different_problems_are_joined_by_their_texts_and_not_by_their_labels(
        self, tmp_path: Path
    ) -> None:
        english, french = read_labeled_corpora(attribution(tmp_path / "pan18"))
        assert (english.name, french.name, french.language) == ("pan18/english", "pan18/fr", "fr")
        kept = {frozenset(text.document.text for text in texts) for texts in english.by_author.values()}
        assert kept == groups((prose(1), prose(6)), (prose(2), prose(3)), (prose(5),))
        assert by_author(french) == groups(("c1/k1.txt", "unknown/u1.txt"), ("c2/k1.txt",))

    def test_a_text_by_none_of_the_candidates_is_ignored(self, tmp_path: Path) -> None:
        english, _ = read_labeled_corpora(attribution(tmp_path / "pan18"))
        assert prose(4) not in {text.document.text for text in english.texts}

    def test_clusters_are_authors_and_those_never_compared_may_be_the_same(self, tmp_path: Path) -> None:
        names = "abcde"
        rows = [{"folder": folder, "language": "nl", "genre": "reviews"} for folder in ("p1", "p2")]
        clusters = {"p1": [["a", "b"], ["c"]], "p2": [["b"], ["d", "e"]]}
        files: dict[str, object] = {"info.json": rows}
        for folder, found in clusters.items():
            files[f"truth/{folder}/clustering.json"] = [
                [{"document": f"{name}.txt"} for name in cluster] for cluster in found
            ]
            files |= {f"{folder}/{name}.txt": prose(names.index(name)) for cluster in found for name in cluster}
        (corpus,) = read_labeled_corpora(write(tmp_path / "pan16", files))
        assert (corpus.name, corpus.language) == ("pan16/dutch reviews", "dutch")
        author_of = {text.document.text: text.author for text in corpus.texts}
        a, b, c, d, e = (author_of[prose(number)] for number in range(5))
        assert a == b != c
        assert d == e != a
        assert corpus.unclear_pairs == {frozenset((c, d))}  # a was compared with both

    @pytest.mark.parametrize("content", ["[]", "{}", '[{"problem-name": "../p1"}]', "[1]", "no JSON"])
    def test_a_list_of_problems_that_is_wrong_is_refused(self, tmp_path: Path, content: str) -> None:
        (attribution(tmp_path / "pan18") / "collection-info.json").write_text(content, "utf-8")
        with pytest.raises(CorpusError, match=r"collection-info\.json"):
            read_labeled_corpora(tmp_path / "pan18")

    def test_a_clustering_that_names_no_text_of_its_problem_is_refused(self, tmp_path: Path) -> None:
        files = {
            "info.json": [{"folder": "p1", "language": "nl"}],
            "p1/a.txt": prose(1),
            "truth/p1/clustering.json": [[{"document": "a.txt"}], [{"document": "gone.txt"}]],
        }
        with pytest.raises(CorpusError, match=r"gone\.txt"):
            read_labeled_corpora(write(tmp_path / "pan16", files))


class TestCorpus:
    def test_texts_that_share_a_passage_are_one_work(self) -> None:
        passage = prose(99, 150)
        texts = (prose(1) + passage, prose(2), passage + prose(3))
        made = (ReferenceText(Document(f"{number}.txt", text), "ann") for number, text in enumerate(texts))
        corpus = LabeledCorpus("english", tuple(made))
        assert corpus.works == {"ann": ((0, 2), (1,))}

    def test_the_order_of_the_texts_does_not_matter(self) -> None:
        corpus = people(5)
        shuffled = list(corpus.texts)
        random.Random(3).shuffle(shuffled)
        assert replace(corpus, texts=tuple(shuffled)) == corpus

    def test_topics_are_near_where_content_words_are_the_same(self) -> None:
        frequent, sea, wood = sorted(set(LEXICON))[:300], "whale harbor anchor", "beech clearing squirrel"
        texts = [" ".join([*frequent, *topic.split()]) for topic in (sea, sea, wood)]
        made = (ReferenceText(Document(str(n), f"{text} {n * '!'}"), f"author {n}") for n, text in enumerate(texts))
        vectors = LabeledCorpus("english", tuple(made)).topics.toarray()
        assert vectors[0] @ vectors[1] > 0.9
        assert vectors[0] @ vectors[2] == pytest.approx(0)

    def test_texts_without_content_words_have_no_topic(self) -> None:
        made = tuple(ReferenceText(Document(str(n), "one two three"), str(n)) for n in range(3))
        assert LabeledCorpus("english", made).topics.nnz == 0


class TestSplitting:
    @given(
        seed=st.integers(0, 1000),
        shares=st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=1, max_size=4),
        pairs=st.sets(
            st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] < pair[1]), max_size=5
        ),
    )
    def test_no_author_text_or_possible_identity_crosses_parts(
        self, seed: int, shares: list[float], pairs: set[tuple[int, int]]
    ) -> None:
        unclear = frozenset(frozenset(f"author {number:02d}" for number in pair) for pair in pairs)
        corpus = replace(people(12), unclear_pairs=unclear)
        parts = split_authors(corpus, np.random.default_rng(seed), shares)
        assert len(parts) == len(shares)
        found = [author for part in parts for author in part.authors]
        assert sorted(found) == list(corpus.authors)
        assert sum(len(part.texts) for part in parts) == len(corpus.texts)
        assert frozenset().union(*(part.unclear_pairs for part in parts)) == unclear

    def test_parts_have_their_shares(self) -> None:
        parts = split_authors(people(20, 1), np.random.default_rng(1), (3, 1))
        assert [len(part.authors) for part in parts] == [15, 5]

    def test_another_state_of_the_generator_splits_otherwise(self) -> None:
        first, again, other = (split_authors(people(20, 1), np.random.default_rng(seed), (1, 1)) for seed in (1, 1, 2))
        assert first == again != other

    @pytest.mark.parametrize("shares", [(), (1, 0), (1, -1), (1, float("nan"))])
    def test_shares_must_be_positive(self, shares: tuple[float, ...]) -> None:
        with pytest.raises(SettingsError, match="shares"):
            split_authors(people(4, 1), np.random.default_rng(1), shares)

    def test_too_few_people_are_refused(self) -> None:
        corpus = replace(people(2, 1), unclear_pairs=frozenset([frozenset(("author 00", "author 01"))]))
        with pytest.raises(TooLittleText) as refused:
            split_authors(corpus, np.random.default_rng(1), (1, 1))
        assert refused.value.remedy


def test_authors_with_a_name_or_a_passage_in_common_with_other_corpora_can_be_left_out() -> None:
    corpus = people(5)
    quotation = ReferenceText(Document("quotation", f"{prose(900)} {corpus.texts[2].document.text[50:250]}"), "quoter")
    namesake = ReferenceText(Document("other", prose(901)), "author 04")
    others = [LabeledCorpus("english", (text,)) for text in (quotation, namesake)]
    assert leave_out_related(corpus, *others).authors == ("author 00", "author 02", "author 03")
    assert leave_out_related(corpus) == corpus
