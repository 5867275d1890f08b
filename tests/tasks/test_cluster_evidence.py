"""What speaks for two texts belonging together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.settings.settings import Settings
from byline.tasks.cluster import choose_links, cluster_documents, cluster_scores, explain_links
from samples import phrase

MEMBERS = (
    Settings(engine="ngram", order=4),
    Settings(engine="vectors"),
    Settings(engine="ngram", mask="topic", order=3),
)


@pytest.fixture(scope="module")
def letters() -> list[Document]:
    return [Document(f"{author}-{salt}", phrase(author, 500, salt)) for author in range(4) for salt in range(3)]


class TestChoosing:
    SCORES = np.array(
        [
            [0, 9, 1, 2, 0, 0],
            [9, 0, 8, 0, 0, 0],
            [1, 8, 0, 0, 0, 3],
            [2, 0, 0, 0, 7, 0],
            [0, 0, 0, 7, 0, 0],
            [0, 0, 3, 0, 0, 0],
        ],
        np.float64,
    )

    def test_clusters_are_held_by_the_strongest_links_that_connect_them_and_some_others_are_looked_at(self) -> None:
        found = cluster_scores("abcdef", self.SCORES, threshold=0.9)
        assert found.clusters == [[0, 1, 2], [3, 4], [5]]
        assert choose_links(found, 10) == [(0, 1), (1, 2), (3, 4), (2, 5), (0, 3)]  # not (0, 2), which holds nothing

    def test_each_clusters_strongest_comes_before_others(self) -> None:
        found = cluster_scores("abcdef", self.SCORES, threshold=0.9)
        assert choose_links(found, 2) == [(0, 1), (3, 4)]
        assert choose_links(found, 5) == [(0, 1), (1, 2), (3, 4), (2, 5)]

    def test_texts_that_are_all_apart_have_few(self) -> None:
        found = cluster_scores("abcdef", self.SCORES, threshold=99)
        assert choose_links(found, 5) == [(0, 1)]

    def test_large_clusters_leave_room_for_links_between_texts_that_are_apart(self) -> None:
        chance, labels = np.random.default_rng(0), np.arange(60) // 30
        links = np.where(labels[:, None] == labels, 9.0, 2.0) + np.tri(60) * chance.random((60, 60))
        links = np.tril(links, -1) + np.tril(links, -1).T
        found = replace(cluster_scores([f"{n}" for n in range(60)], links), links=links, labels=tuple(labels.tolist()))
        assert sorted(map(len, found.clusters)) == [30, 30]
        chosen = choose_links(found, 60)
        apart = [pair for pair in chosen if labels[pair[0]] != labels[pair[1]]]
        strengths = sorted((found.links[one, other] for one in range(30) for other in range(30, 60)), reverse=True)
        assert (len(chosen), len(apart)) == (60, 12)
        assert [found.links[pair] for pair in apart] == strengths[:12]


class TestWeighing:
    def test_texts_by_one_author_speak_for_each_other_in_every_members_eyes(self, letters: list[Document]) -> None:
        same, other = explain_links(letters, [(0, 1), (0, 5)], MEMBERS, "english")
        for mine, theirs in zip(same.gains, other.gains, strict=True):
            assert mine is not None
            assert theirs is not None
            assert len(mine) == 2
            assert (mine.sum(axis=1) > 50).all()
            assert (theirs.sum(axis=1) < 0).all()
        assert same.gains[1] is not None
        assert same.gains[1].shape[1] == len(letters[1].text)
        (named,) = same.features
        assert (named.member, named.unit) == ("vectors", "cosine distance")
        assert named.features[0].weight > 0
        assert named.features[0].name in letters[0].text.lower()

    def test_texts_that_are_the_same_have_nothing_to_say_to_each_other(self, letters: list[Document]) -> None:
        twice = [*letters, Document("copy", letters[0].text)]
        (found,) = explain_links(twice, [(0, 12)], MEMBERS, "english")
        assert (found.gains, found.features) == ((None, None), ())


def test_what_members_say_of_a_pair_has_the_link_as_its_mean(letters: list[Document]) -> None:
    found = cluster_documents(letters, MEMBERS, "english")
    assert (found.members, found.language, found.cut) == (MEMBERS, "english", None)
    off = ~np.eye(len(letters), dtype=bool)
    np.testing.assert_allclose(np.mean(found.shares, axis=0)[off], found.links[off], atol=1e-9)
    assert cluster_documents(letters, MEMBERS, "english", threshold=1.5).cut == 1.5
