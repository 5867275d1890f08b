"""Which texts are by one author: links, clusters, the tree; their files; the command."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.errors import OVERWRITE, AnswersError, CorpusError, SettingsError, TooLittleText
from byline.judgment.metrics import bcubed_f
from byline.settings.settings import Settings, read_pool
from byline.tasks.cluster import MAX_TEXTS, Clustering, cluster_documents, cluster_scores, remove_levels
from byline.tasks.pan_collections import read_text_folders, write_clustering
from programs import run
from samples import phrase

MEMBERS = read_pool("authors").only(["vectors", "ngram"]).rows
TEXTS = [Document(f"{author}-{salt}.txt", phrase(author, 700, salt)) for salt in range(3) for author in range(4)]


@pytest.fixture(scope="module")
def clustering() -> Clustering:
    return cluster_documents(TEXTS)


def groups(found: Clustering) -> set[frozenset[str]]:
    return {frozenset(found.names[text] for text in cluster) for cluster in found.clusters}


class TestClusters:
    def test_authors_texts_are_together_and_numbered_in_their_order(self, clustering: Clustering) -> None:
        assert clustering.names == tuple(document.name for document in TEXTS)
        assert clustering.labels == (0, 1, 2, 3) * 3
        assert clustering.clusters == [[author, author + 4, author + 8] for author in range(4)]

    def test_links_are_symmetric_and_enough_within_an_author_only(self, clustering: Clustering) -> None:
        links = clustering.links
        assert (links == links.T).all()
        assert (np.diag(links) == 0).all()
        same = np.equal.outer(clustering.labels, clustering.labels)
        assert (links[same & ~np.eye(12, dtype=bool)] >= clustering.threshold).all()
        assert (links[~same] < clustering.threshold).all()

    def test_members_and_language_need_not_be_named(self, clustering: Clustering) -> None:
        named = cluster_documents(TEXTS, MEMBERS)
        assert (named.links == clustering.links).all()
        assert named.labels == clustering.labels

    def test_a_score_is_a_half_where_a_link_is_just_enough(self) -> None:
        links = np.array([[0, 7, 8], [7, 0, -993], [8, -993, 0]])
        found = Clustering(("a", "b", "c"), links, (0, 1, 2), np.zeros((2, 3)), 7)
        assert found.score(0, 1) == 0.5
        assert found.score(0, 2) == 0.75
        assert found.score(1, 2) == pytest.approx(0.5 / 1001)

    def test_of_any_two_links_the_stronger_has_the_higher_score(self) -> None:
        """Also far above what is enough, where a logistic curve is 1."""
        links = np.zeros((4, 4))
        links[np.triu_indices(4, 1)] = [-1000, -999.9999, 2, 60, 60.0001, 1000]
        found = Clustering(tuple("abcd"), links, (0, 1, 2, 3), np.zeros((3, 3)), 2.5)
        scores = [found.score(one, other) for one, other in zip(*np.triu_indices(4, 1), strict=True)]
        assert all(lower < higher for lower, higher in itertools.pairwise([0, *scores, 1]))

    def test_the_strongest_links_are_those_that_sorting_finds(self) -> None:
        rng = np.random.default_rng(3)
        links = rng.integers(0, 40, (30, 30)).astype(float)  # many are equal
        links = links + links.T
        found = Clustering(tuple(map(str, range(30))), links, tuple(range(30)), np.zeros((29, 3)), 1)
        pairs = list(zip(*(side.tolist() for side in np.triu_indices(30, 1)), strict=True))
        ranked = sorted(pairs, key=lambda pair: -links[pair])
        assert found.strongest() == ranked
        assert found.strongest(10_000) == ranked
        for most in (1, 10, 434, 435):
            assert [links[pair] for pair in found.strongest(most)] == [links[pair] for pair in ranked[:most]]
            assert len(set(found.strongest(most))) == most

    def test_equal_texts_are_together_whatever_the_others_are_like(self) -> None:
        """Also where all others are by different authors, and no link is strong."""
        alone = [Document(str(author), phrase(author, 700)) for author in range(7)]
        for copied in range(7):
            again = Document("again", "\n " + alone[copied].text.replace(" ", "  "))
            found = cluster_documents([*alone, again], MEMBERS)
            assert found.labels[7] == found.labels[copied]
            assert found.links[copied, 7] == found.links.max()

    def test_of_equal_texts_alone_there_is_one_cluster(self) -> None:
        same = [Document(str(number), phrase(1)) for number in range(4)]
        assert cluster_documents(same, MEMBERS).labels == (0, 0, 0, 0)
        assert cluster_documents([*same, Document("b", phrase(2))], MEMBERS).labels == (0, 0, 0, 0, 1)

    def test_names_and_order_of_the_texts_change_nothing(self, clustering: Clustering) -> None:
        order = np.random.default_rng(5).permutation(len(TEXTS))
        turned = [Document(f"n{place}", TEXTS[place].text) for place in order]
        found = cluster_documents(turned, MEMBERS)
        np.testing.assert_allclose(found.links, clustering.links[np.ix_(order, order)], atol=1e-6)
        renamed = {frozenset(TEXTS[int(name[1:])].name for name in group) for group in groups(found)}
        assert renamed == groups(clustering)

    def test_a_higher_threshold_never_gives_fewer_clusters(self, clustering: Clustering) -> None:
        thresholds = [-1000, 0, clustering.threshold, 20, 1000]
        found = [cluster_documents(TEXTS, MEMBERS, threshold=each) for each in thresholds]
        counts = [len(each.clusters) for each in found]
        assert counts == sorted(counts)
        assert counts[0] == 1
        assert counts[2] == 4
        assert counts[-1] == 12
        assert [each.threshold for each in found] == thresholds

    def test_merges_name_every_text_once_and_go_down(self, clustering: Clustering) -> None:
        joined = clustering.merges[:, :2].ravel().tolist()
        assert sorted(joined) == list(range(2 * 12 - 2))
        assert (np.diff(clustering.merges[:, 2]) <= 1e-9).all()

    def test_a_table_has_a_row_for_each_text(self, clustering: Clustering) -> None:
        frame = clustering.to_pandas()
        assert list(frame.columns) == ["document", "cluster"]
        assert frame["document"].tolist() == list(clustering.names)
        assert frame["cluster"].tolist() == list(clustering.labels)


def planted(sizes: Sequence[int], within: float, seed: int = 0) -> tuple[list[int], np.ndarray]:
    """Authors with so many texts, and scores: noise of size 1, and more within an author."""
    truth = [author for author, size in enumerate(sizes) for _ in range(size)]
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(len(truth), len(truth)))
    scores = (noise + noise.T) / np.sqrt(2)
    return truth, scores + within * np.equal.outer(truth, truth)


class TestNumberOfClusters:
    @pytest.mark.parametrize(
        ("sizes", "within"), [([3] * 20, 6), ([10] * 6, 4), ([6] * 10, 30), ([2] * 10 + [8] * 5, 6)]
    )
    def test_it_follows_what_is_in_the_scores(self, sizes: list[int], within: float) -> None:
        """However far an author's texts stand out: no link of a certain size decides."""
        truth, scores = planted(sizes, within)
        found = cluster_scores(list(map(str, range(len(truth)))), scores)
        assert bcubed_f(truth, found.labels) > 0.95

    def test_texts_without_a_companion_stay_alone(self) -> None:
        truth, scores = planted([4] * 8 + [1] * 20, 7)
        found = cluster_scores(list(map(str, range(len(truth)))), scores)
        alone = [cluster[0] for cluster in found.clusters if len(cluster) == 1]
        assert len(set(alone) & set(range(32, 52))) >= 15
        assert bcubed_f(truth, found.labels) > 0.9

    def test_the_scale_of_the_scores_changes_nothing(self) -> None:
        truth, scores = planted([4] * 8, 4)
        names = list(map(str, range(len(truth))))
        found = cluster_scores(names, scores)
        other = cluster_scores(names, 1000 * scores - 7)
        assert other.labels == found.labels
        np.testing.assert_allclose(other.links, found.links, atol=1e-6)

    def test_it_is_worked_by_hand(self) -> None:
        """Nearest links 9, 9, 8, 8, 2: a text alone counts from 8 on.

        a-b stand from 8 (9 is no more than that) to 1, two texts, 14; c-d just so; each alone 0. e alone stands from 8
        to 1.5, 6.5; with c-d, 3 x (1.5 - 1) = 1.5, it is less than both apart.
        """
        links = np.full((5, 5), 1.0)
        for (one, other), link in {(0, 1): 9, (2, 3): 8, (2, 4): 2, (3, 4): 1}.items():
            links[one, other] = links[other, one] = link
        found = cluster_scores("abcde", links)
        assert found.labels == (0, 0, 1, 1, 2)

    def test_texts_that_are_all_as_far_from_each_other_stay_alone(self) -> None:
        found = cluster_scores("abcd", np.ones((4, 4)))
        assert found.labels == (0, 1, 2, 3)
        assert (found.links == 0).all()
        assert found.threshold > 0


class TestLevels:
    def test_what_is_near_to_everything_is_nearer_to_nobody(self) -> None:
        _, scores = planted([100], 0)
        level = np.arange(100) / 30
        plain, moved = remove_levels(scores), remove_levels(scores + np.add.outer(level, level))
        assert np.corrcoef(plain.ravel(), moved.ravel())[0, 1] > 0.98
        assert np.corrcoef(plain.ravel(), (scores + np.add.outer(level, level)).ravel())[0, 1] < 0.7

    def test_how_far_a_text_usually_is_from_others_counts_half(self) -> None:
        """The other half is the other text's; with nine times the size three times is left."""
        _, scores = planted([100], 0)
        scores[7] *= 9
        scores[:, 7] *= 9
        sizes = np.abs(remove_levels(scores)).mean(axis=1)
        assert 2 * np.median(sizes) < sizes[7] < 4 * np.median(sizes)

    def test_both_directions_count_the_same_and_the_diagonal_nothing(self) -> None:
        _, scores = planted([12], 0)
        slanted = scores + np.triu(np.ones((12, 12)), 1) + np.diag(np.full(12, 100.0)) - np.tril(np.ones((12, 12)), -1)
        np.testing.assert_allclose(remove_levels(slanted), remove_levels(scores), atol=1e-9)


class TestFewTexts:
    """What few texts say of themselves is not trusted."""

    @pytest.mark.parametrize("count", [3, 4, 5, 9])
    def test_links_stay_within_what_so_few_texts_can_tell(self, count: int) -> None:
        for seed in range(5):
            texts = [Document(str(author), phrase(author, 700, seed)) for author in range(count)]
            found = cluster_documents(texts, MEMBERS)
            assert found.links.max() <= np.sqrt(count * (count - 1) / 2) + 0.5
            assert found.few

    def test_of_four_texts_two_may_be_linked_without_the_others_being(self) -> None:
        """With all levels taken off, of four texts two pairs would always have the same link."""
        texts = [Document(str(place), phrase(author, 700, place)) for place, author in enumerate((0, 0, 1, 2))]
        found = cluster_documents(texts, MEMBERS)
        assert found.strongest(1) == [(0, 1)]
        assert found.links[0, 1] > found.links[2, 3] + 0.5
        assert found.labels == (0, 0, 1, 2)


def leaves(tree: str) -> list[str]:
    """The names in a tree in Newick notation, in which two quotes stand for one."""
    assert tree.endswith(";")
    return sorted(name.replace("''", "'") for name in re.findall(r"'((?:[^']|'')*)'", tree))


class TestTree:
    def test_it_names_all_texts_and_quotes_do_not_end_names(self, clustering: Clustering) -> None:
        assert leaves(clustering.newick()) == sorted(clustering.names)
        names = ("it's", "(a,b):1;", "''", "é — 文")
        texts = [Document(name, phrase(number)) for number, name in enumerate(names)]
        assert leaves(cluster_documents(texts, MEMBERS).newick()) == sorted(names)

    def test_it_is_worked_by_hand(self) -> None:
        links = np.array([[0.0, 6, 1], [6, 0, 2], [1, 2, 0]])
        found = Clustering(("a", "b", "c"), links, (0, 0, 1), np.array([[0, 1, 6], [2, 3, 1.5]]), 6)
        assert found.newick() == "('c':4.5000,('a':0.0000,'b':0.0000):4.5000);"


class TestRefusals:
    def test_too_few_and_too_many_texts(self) -> None:
        with pytest.raises(TooLittleText, match="2 texts"):
            cluster_documents(TEXTS[:2], MEMBERS)
        many = [Document(str(number), "x" * 20) for number in range(MAX_TEXTS + 1)]
        with pytest.raises(CorpusError, match="3,001 texts") as error:
            cluster_documents(many, MEMBERS)
        assert not isinstance(error.value, TooLittleText)

    def test_short_texts_are_all_named(self) -> None:
        with pytest.raises(TooLittleText) as error:
            cluster_documents([*TEXTS, Document("tiny.txt", "Oh."), Document("small.txt", "Ah, no.")], MEMBERS)
        assert all(name in str(error.value) for name in ("tiny.txt", "small.txt"))

    def test_repeated_names(self) -> None:
        with pytest.raises(CorpusError, match="the same name"):
            cluster_documents([*TEXTS, TEXTS[0]], MEMBERS)

    def test_an_engine_that_cant_link(self) -> None:
        with pytest.raises(SettingsError) as error:
            cluster_documents(TEXTS, [Settings()])
        assert error.value.where == "engine rnn"
        assert "ngram, vectors" in str(error.value.remedy)

    @pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
    def test_a_threshold_that_is_no_number(self, threshold: float) -> None:
        with pytest.raises(SettingsError) as error:
            cluster_documents(TEXTS, MEMBERS, threshold=threshold)
        assert error.value.where == "threshold"


def read(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


class TestFiles:
    def test_clusters_are_lists_of_documents(self, clustering: Clustering, tmp_path: Path) -> None:
        write_clustering(tmp_path / "out", clustering)
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
            "clustering.json",
            "network.gexf",
            "ranking.json",
            "tree.nwk",
        ]
        assert read(tmp_path / "out" / "clustering.json") == [
            [{"document": f"{author}-{salt}.txt"} for salt in range(3)] for author in range(4)
        ]

    def test_the_ranking_has_every_pair_from_the_strongest_on(self, clustering: Clustering, tmp_path: Path) -> None:
        write_clustering(tmp_path, clustering)
        rows = read(tmp_path / "ranking.json")
        assert isinstance(rows, list)
        assert all(row.keys() == {"document1", "document2", "score"} for row in rows)
        assert len({frozenset((row["document1"], row["document2"])) for row in rows}) == 12 * 11 / 2
        scores = [row["score"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert [score >= 0.5 for score in scores] == [True] * 12 + [False] * 54  # as many as pairs by one author
        assert len(set(scores)) == 66

    @pytest.mark.parametrize("threshold", [-1.0, 4.0])
    def test_ranking_and_network_turn_on_the_threshold_asked_for(self, threshold: float, tmp_path: Path) -> None:
        found = cluster_documents(TEXTS, MEMBERS, threshold=threshold)
        write_clustering(tmp_path, found)
        enough = int((found.links[np.triu_indices(12, 1)] >= threshold).sum())
        rows = read(tmp_path / "ranking.json")
        assert isinstance(rows, list)
        assert sum(row["score"] >= 0.5 for row in rows) == enough
        edges = list(ElementTree.parse(tmp_path / "network.gexf").getroot().iter("{http://gexf.net/1.3}edge"))
        assert len(edges) == enough
        assert all(float(edge.get("weight", "")) >= threshold - 1e-4 for edge in edges)

    def test_the_network_is_xml_with_a_node_for_each_text(self, clustering: Clustering, tmp_path: Path) -> None:
        write_clustering(tmp_path, clustering)
        space = {"g": "http://gexf.net/1.3"}
        root = ElementTree.parse(tmp_path / "network.gexf").getroot()
        nodes = root.findall("g:graph/g:nodes/g:node", space)
        assert [node.get("label") for node in nodes] == list(clustering.names)
        clusters = [value.get("value") for node in nodes for value in node.findall("g:attvalues/g:attvalue", space)]
        assert clusters == [str(label + 1) for label in clustering.labels]
        edges = root.findall("g:graph/g:edges/g:edge", space)
        ends = {(int(edge.get("source", "")), int(edge.get("target", ""))) for edge in edges}
        assert len(edges) == 12
        assert all(clustering.labels[source] == clustering.labels[target] for source, target in ends)

    def test_odd_names_survive(self, tmp_path: Path) -> None:
        names = ('<a & "b"> it\'s.txt', "new\nline.txt", "\x01.txt", "é 文 .txt", "\udcff.txt")
        found = cluster_documents([Document(name, phrase(n)) for n, name in enumerate(names)], MEMBERS)
        write_clustering(tmp_path, found)
        clusters = read(tmp_path / "clustering.json")
        assert isinstance(clusters, list)
        assert {item["document"] for cluster in clusters for item in cluster} == set(names)
        nodes = ElementTree.parse(tmp_path / "network.gexf").getroot().iter("{http://gexf.net/1.3}node")
        labels = [node.get("label") for node in nodes]
        assert labels == [names[0], "new?line.txt", "?.txt", names[3], "?.txt"]
        tree = (tmp_path / "tree.nwk").read_text("utf-8").removesuffix("\n")
        assert leaves(tree) == sorted([*names[:4], "?.txt"])

    def test_what_is_there_is_not_written_over_unasked(self, clustering: Clustering, tmp_path: Path) -> None:
        (tmp_path / "tree.nwk").write_text("mine", "utf-8")
        with pytest.raises(AnswersError) as error:
            write_clustering(tmp_path, clustering)
        assert (error.value.where, error.value.remedy) == (str(tmp_path / "tree.nwk"), OVERWRITE)
        assert [path.name for path in tmp_path.iterdir()] == ["tree.nwk"]
        write_clustering(tmp_path, clustering, overwrite=True)
        assert (tmp_path / "tree.nwk").read_text("utf-8") == clustering.newick() + "\n"


def write_texts(folder: Path, texts: Sequence[Document]) -> Path:
    for document in texts:
        path = folder / document.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8")
    return folder


class TestReading:
    def test_a_folder_of_texts_is_one_problem(self, tmp_path: Path) -> None:
        write_texts(tmp_path, [Document("b.txt", "two"), Document("a/x.TXT", "one"), Document("notes.log", "no")])
        (found,) = read_text_folders(tmp_path)
        assert (found.name, found.language) == ("", None)
        assert found.documents == (Document("a/x.TXT", "one"), Document("b.txt", "two"))

    def test_info_json_names_the_problems(self, tmp_path: Path) -> None:
        write_texts(tmp_path / "problem002", [Document("document0001.txt", "één")])
        write_texts(tmp_path / "problem001", [Document("document0001.txt", "one")])
        write_texts(tmp_path / "elsewhere", [Document("x.txt", "not named")])
        rows = [{"folder": "problem001", "language": "en", "genre": "reviews"}, {"folder": "problem002"}]
        (tmp_path / "info.json").write_text(json.dumps(rows), "utf-8")
        found = read_text_folders(tmp_path)
        assert [(each.name, each.language) for each in found] == [("problem001", "en"), ("problem002", None)]
        assert [each.documents[0].text for each in found] == ["one", "één"]

    @pytest.mark.parametrize("way", ["../x", "..", ".", "/tmp", "", "a/b", 7, None, "x/"])
    def test_a_way_out_of_the_folder_is_refused(self, tmp_path: Path, way: object) -> None:
        write_texts(tmp_path / "x", [Document("secret.txt", "not yours")])
        corpus = tmp_path / "corpus"
        corpus.mkdir()
        (corpus / "info.json").write_text(json.dumps([{"folder": way}]), "utf-8")
        with pytest.raises(CorpusError, match="plain name"):
            read_text_folders(corpus)

    @pytest.mark.parametrize("content", ["{", "[" * 100_000, "[]", "{}"])
    def test_a_damaged_info_json_is_named(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "info.json").write_text(content, "utf-8")
        with pytest.raises(CorpusError) as error:
            read_text_folders(tmp_path)
        assert str(error.value).startswith(f"{tmp_path / 'info.json'}: ")

    def test_files_that_cant_be_read_are_named_at_once(self, tmp_path: Path) -> None:
        write_texts(tmp_path, [Document("a.txt", "one"), Document("b.txt", " ")])
        (tmp_path / "c.txt").write_bytes(b"\xff\xfa\x00")
        with pytest.raises(CorpusError) as error:
            read_text_folders(tmp_path)
        assert all(name in str(error.value) for name in ("b.txt", "c.txt"))

    @pytest.mark.parametrize("name", ["a.txt", "empty", "gone"])
    def test_what_is_no_folder_of_texts_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "a.txt").write_text("one", "utf-8")
        (tmp_path / "empty").mkdir()
        with pytest.raises(CorpusError) as error:
            read_text_folders(tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path / name}: ")


class TestCommand:
    def test_clusters_are_printed_written_and_not_written_over(self, tmp_path: Path) -> None:
        folder, out = write_texts(tmp_path / "texts", TEXTS), tmp_path / "out"
        done = run("cluster", folder, "-o", out, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "12 texts, 4 clusters"
        assert "0-0.txt, 0-1.txt, 0-2.txt" in done.stdout
        assert f"Clusters, ranking, tree and network are in {out}" in done.stdout
        assert done.stdout.splitlines()[-1] == f"Next: open {out / 'network.gexf'} in Gephi"
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        again = run("cluster", folder, "-o", out, "--threshold", "1000")
        assert again.returncode == 1
        assert "clustering.json: exists already" in again.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        replaced = run("cluster", folder, "-o", out, "--threshold", "1000", "--overwrite", "--engines", "vectors")
        assert replaced.returncode == 0, replaced.stderr
        clusters = read(out / "clustering.json")
        assert isinstance(clusters, list)
        assert len(clusters) == 12

    def test_lines_are_folded_and_few_texts_are_announced(self, tmp_path: Path) -> None:
        texts = [Document(f"a letter to somebody, number {d.name}", d.text) for d in TEXTS]
        done = run("cluster", write_texts(tmp_path / "texts", texts), "--quiet", "--threshold", "-1000")
        assert (done.returncode, done.stderr) == (0, "")
        assert max(len(line) for line in done.stdout.splitlines()) <= 100
        assert done.stdout.splitlines()[0] == "12 texts, 1 cluster"
        assert "The number of clusters is uncertain with so few texts" in done.stdout
        assert "strongest links, in standard deviations; the threshold is -1000.00:" in done.stdout

    def test_engines_choose_the_members(self, tmp_path: Path) -> None:
        folder = write_texts(tmp_path / "texts", TEXTS)
        done = run("cluster", folder, "--engines", "vectors", "--json")
        assert done.returncode == 0, done.stderr
        strongest = cluster_documents(TEXTS, read_pool("authors").only(["vectors"]).rows).links.max()
        assert json.loads(done.stdout)["links"][0]["link"] == pytest.approx(strongest)
        refused = run("cluster", folder, "--engines", "linear")
        assert refused.returncode == 1
        assert "engine linear: can't link texts" in refused.stderr

    def test_json_has_clusters_all_links_and_the_tree(self, tmp_path: Path, clustering: Clustering) -> None:
        done = run("cluster", write_texts(tmp_path / "texts", TEXTS), "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert {frozenset(cluster) for cluster in found["clusters"]} == groups(clustering)
        assert len(found["links"]) == 66
        assert found["few"]
        assert found["threshold"] == pytest.approx(clustering.threshold)
        assert [link["link"] for link in found["links"]] == sorted((e["link"] for e in found["links"]), reverse=True)
        assert leaves(found["tree"]) == sorted(clustering.names)

    def test_a_pan_corpus_is_answered_and_measured(self, tmp_path: Path) -> None:
        corpus, out, truth = tmp_path / "corpus", tmp_path / "out", tmp_path / "corpus" / "truth"
        for problem in ("problem001", "problem002"):
            write_texts(corpus / problem, TEXTS)
            (truth / problem).mkdir(parents=True)
            right = [[{"document": f"{author}-{salt}.txt"} for salt in range(3)] for author in range(4)]
            (truth / problem / "clustering.json").write_text(json.dumps(right), "utf-8")
        rows = [{"folder": "problem001", "language": "en"}, {"folder": "problem002", "language": "en"}]
        (corpus / "info.json").write_text(json.dumps(rows), "utf-8")
        done = run("cluster", corpus, "-o", out, "--json")
        assert done.returncode == 0, done.stderr
        assert [each["problem"] for each in json.loads(done.stdout)] == ["problem001", "problem002"]
        measured = run("evaluate", out, truth, "--json")
        assert measured.returncode == 0, measured.stderr
        found = json.loads(measured.stdout)
        assert found["means"] == {"bcubed_f": 1.0, "map": 1.0}
        assert [each["average_precision"] for each in found["problems"]] == [1.0, 1.0]
        text = run("evaluate", out, truth).stdout
        shown = text.splitlines()
        assert shown[0].split()[-2:] == ["average", "precision"]
        assert shown[3].split() == ["mean", "(MAP)", "1.000", "1.000"]
        assert shown[4].startswith("MAP is the mean of average precision")
        assert [row["problem"] for row in found["problems"]] == ["problem001", "problem002"]
        assert "BCubed F" in text
        assert run("evaluate", out, corpus, "--json").stdout == measured.stdout
        again = run("cluster", corpus, "-o", out, "--overwrite", "--engines", "vectors")
        assert again.stdout.splitlines()[-1] == f"Next: byline evaluate {out} {corpus}"
