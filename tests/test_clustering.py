"""Which texts belong together: links, clusters, the tree; their files and measures; the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from byline.clusterfiles import (
    FILES,
    ClusterMeasures,
    evaluate_clusterings,
    is_clustering,
    read_text_folders,
    write_clustering,
)
from byline.clustering import JOINED, MOST, Clustering, average_precision, bcubed_f, cluster_documents
from byline.documents import Document
from byline.errors import AnswersError, BylineError, CorpusError, SettingsError, TooLittleText
from byline.pools import read_pool
from byline.settings import Settings
from conftest import phrase

MEMBERS = read_pool("authors").only(["vectors", "ngram"]).rows
TEXTS = [Document(f"{author}-{salt}.txt", phrase(author, 700, salt)) for salt in range(3) for author in range(4)]


@pytest.fixture(scope="module")
def clustering() -> Clustering:
    return cluster_documents(TEXTS, MEMBERS)


def groups(found: Clustering) -> set[frozenset[str]]:
    return {frozenset(found.names[text] for text in cluster) for cluster in found.clusters}


class TestMeasures:
    def test_bcubed_f_is_worked_by_hand(self) -> None:
        # precision (2/3 + 2/3 + 1/3 + 1) / 4 = 2/3, recall (1 + 1 + 1/2 + 1/2) / 4 = 3/4
        assert bcubed_f([0, 0, 1, 1], [5, 5, 5, 2]) == pytest.approx(12 / 17)

    def test_bcubed_f_of_all_together_and_of_all_apart(self) -> None:
        assert bcubed_f([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 / 3)  # precision 1/2, recall 1
        assert bcubed_f([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(2 / 3)  # precision 1, recall 1/2
        assert bcubed_f([0, 0, 1, 1], [3, 3, 1, 1]) == 1

    def test_average_precision_is_worked_by_hand(self) -> None:
        # of six pairs ranked, the second and the last are true links: (1/2 + 2/6) / 2
        scores = np.array([[0, 0.1, 0.9, 0.5], [0, 0, 0.3, 0.2], [0, 0, 0, 0.8], [0, 0, 0, 0]])
        assert average_precision([0, 0, 1, 1], scores) == pytest.approx(5 / 12)

    def test_average_precision_without_a_true_link_is_0(self) -> None:
        assert average_precision([0, 1, 2], np.ones((3, 3))) == 0


class TestClusters:
    def test_authors_texts_are_together_and_numbered_in_their_order(self, clustering: Clustering) -> None:
        assert clustering.names == tuple(document.name for document in TEXTS)
        assert clustering.labels == (0, 1, 2, 3) * 3
        assert clustering.clusters == [[author, author + 4, author + 8] for author in range(4)]

    def test_links_are_symmetric_and_above_the_threshold_within_an_author_only(self, clustering: Clustering) -> None:
        links = clustering.links
        assert (links == links.T).all()
        assert (np.diag(links) == 0).all()
        same = np.equal.outer(clustering.labels, clustering.labels)
        assert (links[same & ~np.eye(12, dtype=bool)] > JOINED).all()
        assert (links[~same] < JOINED).all()

    def test_a_score_is_a_half_where_a_link_is_just_enough(self) -> None:
        links = np.array([[0, JOINED, JOINED + np.log(3)], [JOINED, 0, -1000], [JOINED + np.log(3), -1000, 0]])
        found = Clustering(("a", "b", "c"), links, (0, 1, 2), np.zeros((2, 3)))
        assert found.score(0, 1) == 0.5
        assert found.score(0, 2) == pytest.approx(0.75)
        assert found.score(1, 2) == 0

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
        thresholds = [-np.inf, 0, JOINED, 20, 40, np.inf]
        counts = [len(cluster_documents(TEXTS, MEMBERS, threshold=each).clusters) for each in thresholds]
        assert counts == sorted(counts)
        assert counts[0] == 1
        assert counts[2] == 4
        assert counts[-1] == 12

    def test_merges_name_every_text_once_and_go_down(self, clustering: Clustering) -> None:
        joined = clustering.merges[:, :2].ravel().tolist()
        assert sorted(joined) == list(range(2 * 12 - 2))
        assert (np.diff(clustering.merges[:, 2]) <= 1e-9).all()

    def test_a_table_has_a_row_for_each_text(self, clustering: Clustering) -> None:
        frame = clustering.to_pandas()
        assert list(frame.columns) == ["document", "cluster"]
        assert frame["document"].tolist() == list(clustering.names)
        assert frame["cluster"].tolist() == list(clustering.labels)


class Newick:
    """A tree in Newick's notation: its leaves' names, and how far each is from the root."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.leaves: dict[str, float] = {}
        found = self._node()
        assert self.text[self.place :] == ";"
        self.leaves = found

    def _node(self) -> dict[str, float]:
        found: dict[str, float] = {}
        if self._next("("):
            while True:
                part = self._node()
                assert self._next(":")
                length = self._number()
                assert length >= 0
                assert not found.keys() & part.keys()
                found |= {name: depth + length for name, depth in part.items()}
                if self._next(")"):
                    return found
                assert self._next(",")
        assert self._next("'")
        pieces = [self._until_quote()]
        while self._next("'"):  # two quotes are one
            pieces.append(self._until_quote())
        name = "'".join(pieces)
        return {name: 0.0}

    def _next(self, letter: str) -> bool:
        there = self.text[self.place : self.place + 1] == letter
        self.place += there
        return there

    def _until_quote(self) -> str:
        begin, self.place = self.place, self.text.index("'", self.place) + 1
        return self.text[begin : self.place - 1]

    def _number(self) -> float:
        begin = self.place
        while self.text[self.place] in "0123456789.":
            self.place += 1
        return float(self.text[begin : self.place])


class TestTree:
    def test_it_names_all_texts_and_all_are_as_far_from_the_root(self, clustering: Clustering) -> None:
        leaves = Newick(clustering.newick()).leaves
        assert leaves.keys() == set(clustering.names)
        assert max(leaves.values()) - min(leaves.values()) < 0.01

    def test_quotes_and_brackets_in_names_do_not_end_them(self) -> None:
        names = ("it's", "(a,b):1;", "''", "é — 文")
        texts = [Document(name, phrase(number)) for number, name in enumerate(names)]
        text = cluster_documents(texts, MEMBERS).newick()
        assert Newick(text).leaves.keys() == set(names)
        assert "'it''s'" in text

    def test_it_is_worked_by_hand(self) -> None:
        links = np.array([[0.0, 6, 1], [6, 0, 2], [1, 2, 0]])
        found = Clustering(("a", "b", "c"), links, (0, 0, 1), np.array([[0, 1, 6], [2, 3, 1.5]]))
        assert found.newick() == "('c':4.5000,('a':0.0000,'b':0.0000):4.5000);"


class TestRefusals:
    def test_too_few_and_too_many_texts(self) -> None:
        with pytest.raises(TooLittleText, match="2 texts; from 3 to 3,000 can be compared"):
            cluster_documents(TEXTS[:2], MEMBERS)
        many = [Document(str(number), "x" * 20) for number in range(MOST + 1)]
        with pytest.raises(TooLittleText, match="3001 texts"):
            cluster_documents(many, MEMBERS)

    def test_short_texts_are_all_named_with_what_to_do(self) -> None:
        with pytest.raises(TooLittleText) as refusal:
            cluster_documents([*TEXTS, Document("tiny.txt", "Oh."), Document("small.txt", "Ah, no.")], MEMBERS)
        lines = str(refusal.value).splitlines()
        assert [line.split(":")[0].strip() for line in lines] == ["tiny.txt", "small.txt"]
        assert all("12 are needed; remove it or put more text in it" in line for line in lines)

    def test_repeated_names(self) -> None:
        with pytest.raises(CorpusError, match="two texts have the same name"):
            cluster_documents([*TEXTS, TEXTS[0]], MEMBERS)

    def test_an_engine_that_cant_link(self) -> None:
        with pytest.raises(SettingsError, match="the engine rnn can't link texts; there are ngram, vectors"):
            cluster_documents(TEXTS, [Settings()])

    def test_a_threshold_that_is_no_number(self) -> None:
        with pytest.raises(SettingsError, match="must be a number, got nan"):
            cluster_documents(TEXTS, MEMBERS, threshold=float("nan"))


def read(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


class TestFiles:
    def test_clusters_are_lists_of_documents(self, clustering: Clustering, tmp_path: Path) -> None:
        write_clustering(tmp_path / "out", clustering)
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
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
        assert [score > 0.5 for score in scores] == [True] * 12 + [False] * 54  # as many as pairs by one author

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
        tree = Newick((tmp_path / "tree.nwk").read_text("utf-8").removesuffix("\n"))
        assert tree.leaves.keys() == {*names[:4], "?.txt"}

    def test_what_is_there_is_not_written_over_unasked(self, clustering: Clustering, tmp_path: Path) -> None:
        (tmp_path / "tree.nwk").write_text("mine", "utf-8")
        with pytest.raises(AnswersError, match=r"tree\.nwk: exists already; choose another folder, or give --overwr"):
            write_clustering(tmp_path, clustering)
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
        write_texts(tmp_path, [Document("b.txt", "two"), Document("a/x.TXT", "one"), Document("notes.md", "no")])
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
        with pytest.raises(CorpusError, match="each problem needs the plain name of its folder; repair it"):
            read_text_folders(corpus)

    @pytest.mark.parametrize(
        ("content", "said"),
        [("{", "not JSON"), ("[" * 100_000, "not JSON"), ("[]", "names no folders"), ("{}", "names no folders")],
    )
    def test_a_damaged_info_json_is_named(self, tmp_path: Path, content: str, said: str) -> None:
        (tmp_path / "info.json").write_text(content, "utf-8")
        with pytest.raises(BylineError, match=said) as refusal:
            read_text_folders(tmp_path)
        assert str(refusal.value).startswith(f"{tmp_path / 'info.json'}: ")

    def test_files_that_cant_be_read_are_named_at_once(self, tmp_path: Path) -> None:
        write_texts(tmp_path, [Document("a.txt", "one"), Document("b.txt", " ")])
        (tmp_path / "c.txt").write_bytes(b"\xff\xfa\x00")
        with pytest.raises(CorpusError) as refusal:
            read_text_folders(tmp_path)
        assert "b.txt: empty" in str(refusal.value)
        assert "c.txt: not UTF-8" in str(refusal.value)

    def test_what_is_no_folder_of_texts_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("one", "utf-8")
        (tmp_path / "empty").mkdir()
        with pytest.raises(CorpusError, match="a file; name a folder of texts"):
            read_text_folders(tmp_path / "a.txt")
        with pytest.raises(CorpusError, match=r"no \.txt files there"):
            read_text_folders(tmp_path / "empty")
        with pytest.raises(CorpusError, match="not found"):
            read_text_folders(tmp_path / "gone")


def clusters_json(*clusters: str) -> str:
    return json.dumps([[{"document": name} for name in cluster] for cluster in clusters])


RANKING = json.dumps(
    [
        {"document1": "a", "document2": "c", "score": 0.9},
        {"document1": "d", "document2": "c", "score": 0.8},
        {"document1": "a", "document2": "d", "score": 0.5},
        {"document1": "b", "document2": "c", "score": 0.3},
        {"document1": "d", "document2": "b", "score": 0.2},
        {"document1": "a", "document2": "b", "score": 0.1},
    ]
)


@pytest.fixture
def answered(tmp_path: Path) -> tuple[Path, Path]:
    """Answers and truth of one problem, as in the measures worked by hand."""
    answers, truth = tmp_path / "answers", tmp_path / "truth"
    for folder, clusters in ((answers, ("abc", "d")), (truth, ("ab", "dc"))):
        (folder / "problem001").mkdir(parents=True)
        (folder / "problem001" / "clustering.json").write_text(clusters_json(*clusters), "utf-8")
    (answers / "problem001" / "ranking.json").write_text(RANKING, "utf-8")
    return answers, truth


class TestEvaluation:
    def test_measures_of_each_problem(self, answered: tuple[Path, Path]) -> None:
        assert is_clustering(answered[1])
        expected = ClusterMeasures("problem001", 4, pytest.approx(12 / 17), pytest.approx(5 / 12))  # type: ignore[arg-type]
        assert evaluate_clusterings(*answered) == (expected,)
        answers, truth = (path / "problem001" for path in answered)
        assert is_clustering(truth)
        assert evaluate_clusterings(answers, truth) == (expected,)

    def test_links_that_are_not_ranked_count_as_0(self, answered: tuple[Path, Path]) -> None:
        ranking = answered[0] / "problem001" / "ranking.json"
        ranking.write_text(json.dumps([{"document1": "b", "document2": "a", "score": 0.2}]), "utf-8")
        # a-b is first; c-d shares the other places with all else, and is the last of them
        assert evaluate_clusterings(*answered)[0].average_precision == pytest.approx((1 + 2 / 6) / 2)

    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("clustering.json", "[[", "not JSON"),
            ("clustering.json", "{}", "no clusters there"),
            ("clustering.json", '[[{"document": 3}]]', "a document without a name"),
            ("clustering.json", clusters_json("abc", "cd"), "in two clusters"),
            ("clustering.json", clusters_json("abc"), "d is not in both"),
            ("clustering.json", clusters_json("abcd", "e"), "e is not in both"),
            ("ranking.json", "no", "not JSON"),
            ("ranking.json", "[7]", "each link needs document1, document2 and score"),
            ("ranking.json", '[{"document1": "a", "document2": "x", "score": 1}]', "each link needs"),
            ("ranking.json", '[{"document1": [], "document2": {}, "score": 1}]', "each link needs"),
            ("ranking.json", '[{"document1": "a", "document2": "b", "score": "1"}]', "each link needs"),
            ("ranking.json", '[{"document1": "a", "document2": "b", "score": true}]', "each link needs"),
            ("ranking.json", '[{"document1": "a", "document2": "b", "score": NaN}]', "each link needs"),
            ("ranking.json", f'[{{"document1": "a", "document2": "b", "score": 1{"0" * 400}}}]', "each link needs"),
        ],
    )
    def test_damaged_answers_are_named(self, answered: tuple[Path, Path], file: str, content: str, said: str) -> None:
        path = answered[0] / "problem001" / file
        path.write_text(content, "utf-8")
        with pytest.raises(AnswersError, match=said) as refusal:
            evaluate_clusterings(*answered)
        assert str(refusal.value).startswith(f"{path}: ")

    def test_missing_files_are_named(self, answered: tuple[Path, Path], tmp_path: Path) -> None:
        answers, truth = answered
        with pytest.raises(AnswersError, match=r"no clustering\.json there; name the folder of the truth"):
            evaluate_clusterings(answers, tmp_path / "elsewhere")
        (answers / "problem001" / "ranking.json").unlink()
        with pytest.raises(BylineError, match=r"problem001/ranking\.json: can't be read"):
            evaluate_clusterings(answers, truth)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byline", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


class TestCommand:
    def test_clusters_are_printed_written_and_not_written_over(self, tmp_path: Path) -> None:
        folder, out = write_texts(tmp_path / "texts", TEXTS), tmp_path / "out"
        done = run("cluster", folder, "-o", out, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "12 texts, 4 clusters"
        assert "0-0.txt, 0-1.txt, 0-2.txt" in done.stdout
        assert f"Clusters, ranking, tree and network are in {out}" in done.stdout
        before = {name: (out / name).read_bytes() for name in FILES}
        again = run("cluster", folder, "-o", out, "--threshold", "1000")
        assert again.returncode == 1
        assert "clustering.json: exists already" in again.stderr
        assert {name: (out / name).read_bytes() for name in FILES} == before
        assert run("cluster", folder, "-o", out, "--threshold", "1000", "--overwrite").returncode == 0
        clusters = read(out / "clustering.json")
        assert isinstance(clusters, list)
        assert len(clusters) == 12

    def test_json_has_clusters_all_links_and_the_tree(self, tmp_path: Path, clustering: Clustering) -> None:
        done = run("cluster", write_texts(tmp_path / "texts", TEXTS), "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert {frozenset(cluster) for cluster in found["clusters"]} == groups(clustering)
        assert len(found["links"]) == 66
        assert [link["link"] for link in found["links"]] == sorted((e["link"] for e in found["links"]), reverse=True)
        assert Newick(found["tree"]).leaves.keys() == set(clustering.names)

    def test_a_pan_corpus_is_answered_and_measured(self, tmp_path: Path) -> None:
        corpus, out, truth = tmp_path / "corpus", tmp_path / "out", tmp_path / "truth"
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
        assert found["means"] == {"bcubed_f": 1.0, "average_precision": 1.0}
        assert [row["problem"] for row in found["problems"]] == ["problem001", "problem002"]
        shown = run("evaluate", out, truth)
        assert "BCubed F" in shown.stdout
        assert "mean" in shown.stdout

    def test_a_threshold_that_is_no_number_ends_with_1(self, tmp_path: Path) -> None:
        done = run("cluster", write_texts(tmp_path / "texts", TEXTS), "--threshold", "nan")
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("byline: the link at which clusters are joined must be a number")
