"""Figures: their data by definition, every kind drawn, names as plain text, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from typer.testing import CliRunner

from byline.author_models.model import AuthorModel, train_authors
from byline.author_models.model_file import write_author_model
from byline.cli import app
from byline.corpora.answers import match_truth, read_truth
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.corpora.problems import ProblemSet, builtin_problems, read_problems
from byline.corpora.reference_building import build_reference
from byline.engines.matrix import Matrix, Side, Table
from byline.errors import OVERWRITE, AnswersError, BylineError, CorpusError, RunError, SettingsError
from byline.figures.canvas import FigureFormat, render
from byline.figures.curves import learning_curves, probability_lines, ratios_of, truth_of
from byline.figures.distances import (
    Tree,
    classical_scaling,
    cosine_distances,
    draw_tree,
    grow_tree,
    lay_out,
    principal_components,
)
from byline.figures.plot import KINDS, plot, prepare_figure
from byline.figures.score_tables import arrange, held_out_table, relative_table, score_table, text_profiles
from byline.figures.styles import MARKERS, PALETTE, Style, legend_entries, plain_name, read_styles, style_names
from byline.judgment.metrics import cllr, measure
from byline.judgment.resampling import interval, measure_draws, weigh_problems
from byline.judgment.score_normalization import NORMS, relative_scores
from byline.report.verification import verification_report
from byline.runs.folder import RunOutput
from byline.runs.member_files import Record, read_record
from byline.runs.request import JudgmentRequest
from byline.runs.run import Run
from byline.settings.settings import Settings, read_pool
from byline.tasks.attribute import Attribution, Candidate
from byline.tasks.evaluate import evaluate_answers
from byline.tasks.rolling import AuthorStretch, Rolling, RollingWindow
from byline.tasks.verify import verify
from paths import ROOT
from samples import FAST, MakeCorpus, phrase, small_problems

AUTHORS = ("Ann", "Ben", "Cid")
BOOK = phrase(0, 3000, 9) + " " + phrase(1, 2410, 9)
OF_RUN = ("heatmap", "pca", "mds", "dendrogram")
JUDGED = ("roc", "tippett", "calibration")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exception is None, done.exception
    return done.stdout


def refused(*words: object) -> BylineError:
    """The error that is raised instead of drawing: one line."""
    done = CliRunner().invoke(app, ["plot", *map(str, words)])
    assert isinstance(done.exception, BylineError), (done.exception, done.stdout)
    assert "\n" not in str(done.exception)
    return done.exception


def texts_in(path: Path) -> list[str]:
    """What is written in an SVG."""
    return [element.text or "" for element in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def built_in(english: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibrated run of the built-in problems."""
    out = tmp_path_factory.mktemp("runs") / "built-in"
    verify(english, read_pool("best").only(["ngram", "vectors"]), output=RunOutput(out))
    return out


@pytest.fixture(scope="module")
def opened(built_in: Path) -> Run:
    return Run.open(built_in)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two small networks, whose answers are not calibrated."""
    folder = tmp_path_factory.mktemp("networks")
    for name, files in small_problems(6).items():
        (folder / "corpus" / name).mkdir(parents=True)
        for file, text in files.items():
            (folder / "corpus" / name / file).write_text(text, "utf-8")
    (folder / "corpus" / "truth.txt").write_text("".join(f"EN00{n} {'NY'[n % 2]}\n" for n in range(1, 7)), "utf-8")
    run("verify", folder / "corpus", "-o", folder / "out", "--preset", "rnn", "--members", 2, *FAST)
    return folder


@pytest.fixture(scope="module")
def model() -> AuthorModel:
    documents = [Document(f"{AUTHORS[n // 3]}/{n % 3}.txt", phrase(n // 3, 1200, n % 3)) for n in range(9)]
    return train_authors(make_author_corpus(documents, [AUTHORS[n // 3] for n in range(9)]), read_pool("authors").rows)


@pytest.fixture(scope="module")
def model_file(model: AuthorModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "three.byline"
    write_author_model(path, model)
    return path


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("books") / "book.txt"
    path.write_text(BOOK, "utf-8")
    return path


def test_the_mean_of_ways_goes_as_far_as_all_do() -> None:
    curves = learning_curves([("english", [[3.0, 2.0], [1.0, 1.0, 9.0]]), ("english", [[]]), ("greek", [[4.0]])])
    assert {language: [curve.tolist() for curve in own] for language, own in curves.items()} == {
        "english": [[2.0, 1.5]], "greek": [[4.0]]
    }  # fmt: skip


class TestPlacement:
    def test_two_components_keep_distances_of_points_on_a_plane(self) -> None:
        rng = np.random.default_rng(0)
        flat = rng.normal(size=(12, 2)) @ rng.normal(size=(2, 9)) + 3
        placed = principal_components(flat)
        assert pdist(placed.points) == pytest.approx(pdist(flat))
        assert sum(placed.shares) == pytest.approx(1)
        assert placed.shares[0] >= placed.shares[1]

    def test_scaling_gives_back_the_distances_of_points_on_a_plane(self) -> None:
        points = np.random.default_rng(0).normal(size=(10, 2))
        distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
        assert pdist(classical_scaling(distances).points) == pytest.approx(pdist(points))

    def test_axes_are_turned_alike_whatever_the_signs(self) -> None:
        profiles = np.random.default_rng(0).normal(size=(9, 4))
        assert np.abs(principal_components(profiles).points).argmax(axis=0).tolist() == (
            principal_components(profiles).points.argmax(axis=0).tolist()
        )

    def test_cosine_distances_and_rows_of_zeros(self) -> None:
        table = cosine_distances(np.array([[1.0, 0], [0, 2], [3, 3], [0, 0]]))
        assert table[0].tolist() == pytest.approx([0, 1, 1 - 2**-0.5, 1])
        assert np.diagonal(table).tolist() == [0] * 4


def clades(tree: Tree) -> list[frozenset[int]]:
    """The rows that each merge joins."""
    found = [frozenset({row}) for row in range(len(tree.order))]
    for one, other in tree.merges[:, :2].astype(int).tolist():
        found.append(found[one] | found[other])
    return found[len(tree.order) :]


class TestTrees:
    def test_a_planted_clade_has_full_support_and_noise_has_not(self) -> None:
        rng = np.random.default_rng(5)
        profiles = rng.normal(size=(9, 60))
        profiles[:3] += 6 * rng.normal(size=60)
        tree = grow_tree(profiles, 100, seed=1)
        support = dict(zip(clades(tree), tree.support, strict=True))
        assert support[frozenset({0, 1, 2})] == 100
        rest = [value for clade, value in support.items() if value is not None and not clade & {0, 1, 2}]
        assert min(rest) < 70
        assert tree.support[-1] is None
        assert clades(tree)[-1] == set(range(9))

    def test_support_is_the_share_of_replicates_and_the_same_for_a_seed(self) -> None:
        profiles = np.random.default_rng(2).normal(size=(6, 20))
        first, again, other = (grow_tree(profiles, 40, seed) for seed in (1, 1, 2))
        assert first.support == again.support != other.support
        assert all(value is None or (value * 40 / 100) == round(value * 40 / 100) for value in first.support)
        assert grow_tree(profiles, 0).support == (None,) * 5

    def test_leaves_of_a_clade_stand_together(self) -> None:
        tree = grow_tree(np.random.default_rng(2).normal(size=(15, 20)), 0)
        place = {row: number for number, row in enumerate(tree.order)}
        for clade in clades(tree):
            places = sorted(place[row] for row in clade)
            assert places == list(range(places[0], places[0] + len(clade)))

    def test_forks_are_as_high_as_their_distance(self) -> None:
        tree = grow_tree(np.random.default_rng(2).normal(size=(7, 20)), 10)
        forks = lay_out(tree)
        assert [fork.height for fork in forks] == tree.merges[:, 2].tolist()
        assert forks[-1].size == 7
        assert all(fork.places[0] < fork.places[1] and max(fork.heights) <= fork.height for fork in forks)


class TestTables:
    def test_asked_pairs_have_the_scores_that_answers_are_made_of(self, opened: Run) -> None:
        for record in opened.records:
            for side in record.sides:
                for number in range(len(NORMS)):
                    table = relative_table(side, [float(number == norm) for norm in range(number + 1)])
                    found = [table[question.document, question.head] for question in side.questions]
                    assert found == pytest.approx(relative_scores(side)[number].tolist())
                    assert np.isnan(table).tolist() == side.matrix.excluded.tolist()

    def test_the_framed_scores_average_to_those_of_the_answers(self, opened: Run) -> None:
        table = score_table(opened)
        framed = {table.rows[row]: table.values[row, column] for row, column in table.asked}
        assert framed == pytest.approx({answer.id: answer.score for answer in opened.answers})

    def test_a_sampled_matrix_is_read_like_the_full_one_it_stands_for(self, opened: Run) -> None:
        side = opened.records[0].sides[0]
        matrix = side.matrix
        turned = np.tile(np.arange(matrix.values.shape[1], dtype=np.int32)[::-1], (len(matrix.values), 1))
        same = Side(Matrix(matrix.values[:, ::-1], matrix.excluded[:, ::-1], turned), side.questions, side.incomparable)
        assert not same.matrix.full
        assert relative_table(same) == pytest.approx(relative_table(side), nan_ok=True)

    def test_rows_are_unknown_texts_and_columns_known_ones(self, opened: Run) -> None:
        table = score_table(opened)
        assert (table.row_title, table.column_title) == ("unknown text of problem", "known texts of problem")
        assert sorted(table.rows) == sorted(table.columns) == sorted(answer.id for answer in opened.answers)

    def test_problems_that_share_a_text_share_a_row(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        problems = small_problems(6)
        problems["EN004"]["unknown.txt"] = problems["EN002"]["unknown.txt"]
        corpus = make_corpus(problems)
        verify(corpus, read_pool("best").only(["vectors"]), output=RunOutput(tmp_path / "out"))
        table = score_table(Run.open(tmp_path / "out"))
        assert (len(table.rows), len(table.columns)) == (5, 6)
        place = table.rows.index("EN002")
        assert table.shared[place] == 2
        assert {table.columns[column] for row, column in table.asked if row == place} == {"EN002", "EN004"}
        assert table.places["EN002"][0] == table.places["EN004"][0] == place
        scores = {answer.id: answer.score for answer in Run.open(tmp_path / "out").answers}
        assert {name: table.values[at] for name, at in table.places.items()} == pytest.approx(scores)
        turned = arrange(table)
        assert {name: turned.values[at] for name, at in turned.places.items()} == pytest.approx(scores)

    def test_texts_that_only_some_members_take_for_one_stay_apart(self, english: Path, tmp_path: Path) -> None:
        """A member that masks words sees two texts as one where they differ in a word that it masks."""
        first, second, *others = read_problems(english).problems[:6]
        texts = [f"{word} {first.unknown.text}" for word in ("xylograph", "quetzalia")]
        problems = [
            replace(each, unknown=replace(each.unknown, text=text))
            for each, text in zip((first, second), texts, strict=True)
        ]
        verify(
            ProblemSet((*problems, *others), "folders"),
            read_pool("best").only(["vectors"]),
            output=RunOutput(tmp_path / "out"),
        )
        run = Run.open(tmp_path / "out")
        assert [record.member.settings.mask for record in run.records] == ["topic", "none"]
        shared = [len({question.document for question in record.sides[0].questions}) for record in run.records]
        assert shared == [5, 6]
        table = score_table(run)
        assert len(table.rows) == 6
        scores = {answer.id: answer.score for answer in run.answers}
        assert {name: table.values[at] for name, at in table.places.items()} == pytest.approx(scores)

    def test_arranging_moves_rows_and_columns_with_their_names(self, opened: Run) -> None:
        before = score_table(opened)
        after = arrange(before)
        assert sorted(after.rows) == sorted(before.rows)
        for row, name in enumerate(after.rows):
            for column, head in enumerate(after.columns):
                old = before.values[before.rows.index(name), before.columns.index(head)]
                assert after.values[row, column] == pytest.approx(old, nan_ok=True)
        assert after.asked == tuple((place, place) for place in range(12))

    def test_a_models_texts_stand_out_under_their_own_author(self, model: AuthorModel) -> None:
        table = arrange(held_out_table(model))
        assert sorted(table.columns) == sorted(AUTHORS)
        for row, column in table.asked:
            assert table.rows[row].startswith(table.columns[column])
            assert table.values[row].argmax() == column

    def test_profiles_of_one_author_are_nearer(self, model: AuthorModel) -> None:
        distances = cosine_distances(text_profiles(model))
        same = np.equal.outer(model.owners, model.owners)
        assert distances[same].max() < distances[~same].min()


def test_lines_of_a_rolled_text_add_up_to_one() -> None:
    names = [f"a{number}" for number in range(9)]
    rng = np.random.default_rng(0)
    passages = []
    for begin in range(5):
        chances = rng.dirichlet(np.full(9, 2.0))
        ranking = tuple(Candidate(name, float(chance), None) for name, chance in zip(names, chances, strict=True))
        passages.append(RollingWindow(begin, begin + 2, Attribution("t", "a0", 0.5, 0.0, ranking)))
    lines = probability_lines(Rolling("t", tuple(passages), (AuthorStretch(0, 7, "a8", 0.1),)), most=3)
    assert lines.authors[0] == "a8"
    assert (len(lines.authors), lines.further) == (3, 6)
    assert lines.chances.sum(axis=0) + lines.others == pytest.approx(np.ones(5))
    assert lines.middles.tolist() == [1, 2, 3, 4, 5]


class TestNames:
    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("a\nb\tc", "a b c"),
            ("$x^2$ <script>", "$x^2$ <script>"),
            ("\ud800lone", "\ufffdlone"),
            ("\u202eevil\x00", "\ufffdevil\ufffd"),
            ("  ", "(no name)"),
            ("שלום", "שלום"),
        ],
    )
    def test_a_name_is_one_plain_line(self, name: str, shown: str) -> None:
        assert plain_name(name) == shown

    def test_a_long_name_keeps_beginning_and_end(self) -> None:
        shown = plain_name("begin" + "x" * 5000 + "end")
        assert len(shown) == 32
        assert re.fullmatch("beginx+…x+end", shown)


class TestLooks:
    def test_labels_colors_and_groups_are_obeyed_and_the_rest_keeps_its_own(self) -> None:
        styles = {"a": Style("Alpha", "", "one"), "b": Style("", "#123456", "two"), "c": Style("", "", "one")}
        shown = style_names(["a", "b", "c", "d"], styles)
        assert [each.label for each in shown] == ["Alpha", "b", "c", "d"]
        assert [each.color for each in shown] == [PALETTE[0], "#123456", PALETTE[0], "#7f7f7f"]
        assert [each.marker for each in shown[:3]] == [MARKERS[0], MARKERS[1], MARKERS[0]]
        assert [each.group for each in legend_entries(shown)] == ["one", "two"]

    def test_groups_get_their_looks_in_the_order_of_the_table_whatever_the_order_of_names(self) -> None:
        styles = {"a": Style(group="letters"), "b": Style("", "#D55E00", "essays"), "c": Style(group="essays")}
        wanted = {"a": (PALETTE[0], "o"), "b": ("#D55E00", "s"), "c": (PALETTE[1], "s"), "d": ("#7f7f7f", ".")}
        for names in permutations("abcd"):
            shown = style_names(names, styles)
            assert {name: (each.color, each.marker) for name, each in zip(names, shown, strict=True)} == wanted
            legend = [(each.group, each.color, each.marker) for each in legend_entries(shown)]
            assert legend == [("letters", PALETTE[0], "o"), ("essays", PALETTE[1], "s")]
        assert [each.marker for each in style_names("c", styles)] == ["s"]

    def test_authors_follow_the_groups_in_their_own_order(self) -> None:
        styles = {"Cid": Style(group="late"), "Ben": Style("", "navy")}
        for owners in (AUTHORS, AUTHORS[::-1]):
            shown = legend_entries(style_names(owners, styles, owners, order=AUTHORS))
            wanted = [("late", PALETTE[0], "o"), ("Ann", PALETTE[1], "s"), ("Ben", "navy", "^")]
            assert [(each.group, each.color, each.marker) for each in shown] == wanted

    def test_an_owners_look_holds_for_what_has_none(self) -> None:
        shown = style_names(
            ["a/1.txt", "a/2.txt", "b/1.txt"], {"a": Style("Ann"), "a/2.txt": Style("Two", "navy")}, "aab"
        )
        assert [(each.label, each.group) for each in shown] == [("a/1", "Ann"), ("Two", "Ann"), ("b/1", "b")]
        assert [each.color for each in shown] == [PALETTE[0], "navy", PALETTE[1]]

    def read(self, tmp_path: Path, content: str) -> dict[str, Style]:
        path = tmp_path / "styles.csv"
        path.write_text(content, "utf-8")
        return dict(read_styles(path, {"EN001", "EN002"}))

    def test_a_table_is_read(self, tmp_path: Path) -> None:
        content = '\ufeffName,label,Color,group\nEN001,"One, two",#0072b2,\n\n EN002 ,,,G\n'
        assert self.read(tmp_path, content) == {
            "EN001": Style("One, two", "#0072b2", ""),
            "EN002": Style("", "", "G"),
        }

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("name\nEN001\nEN0O2\n", r"line 3: .* 'EN002'\?"),
            ("name\nEN001\nEN001\n", "line 3: 'EN001'"),
            ("name,color\nEN001,blurple\n", "line 2: 'blurple'"),
            ("name,color\nEN001,none\n", "line 2: 'none'"),
            ("name,size\nEN001,3\n", "line 1: .* size"),
            ("label\nEN001\n", "line 1: .* label"),
            ("name,label\nEN001,a,b\n", "line 2: more than 2 cells"),
            ('name,label\nEN001,"a\n', "line 2"),
            ("", "empty"),
            ("name\n" + "x\n" * 100, "and 95 more lines"),
        ],
    )
    def test_what_cant_be_used_is_named_with_file_and_line(self, content: str, said: str, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match=said) as raised:
            self.read(tmp_path, content)
        assert raised.value.where == str(tmp_path / "styles.csv")


def crowded() -> Table:
    """Rows whose tree has forks close by each other, some of them well supported, some at the leaves."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(27, 500))
    rows[1] = rows[0] + 0.01 * rng.normal(size=500)  # no room between fork and name
    rows[5:20] += 0.45 * rng.normal(size=500)
    rows[8:14] += 0.3 * rng.normal(size=500)
    return rows


def watch_figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn from now on."""
    from matplotlib.figure import Figure

    drawn: list[Any] = []
    saved = Figure.savefig

    def save(figure: Figure, *words: Any, **options: Any) -> None:
        drawn.append(figure)
        saved(figure, *words, **options)

    monkeypatch.setattr(Figure, "savefig", save)
    return drawn


class TestDrawing:
    @pytest.mark.parametrize("kind", OF_RUN)
    def test_texts_of_a_run_are_named_in_the_figure(self, kind: str, built_in: Path, tmp_path: Path) -> None:
        path = tmp_path / f"{kind}.svg"
        assert run("plot", built_in, kind, "-o", path, "--title", "A title") == f"Figure is in {path}\n"
        written = texts_in(path)
        assert {f"EN{number:03d}" for number in range(1, 13)} <= set(written)
        assert "A title" in written

    @pytest.mark.parametrize("kind", ["roc", "tippett"])
    def test_one_kind_of_truth_is_refused(self, kind: str, built_in: Path, tmp_path: Path) -> None:
        (tmp_path / "truth.txt").write_text("".join(f"EN{n:03d} Y\n" for n in range(1, 13)), "utf-8")
        assert "both yes and no" in str(refused(built_in, kind, "--truth", tmp_path, "-o", tmp_path / "fig.svg"))

    @pytest.mark.parametrize("kind", JUDGED)
    def test_curves_of_a_run_say_what_they_come_to(
        self, kind: str, built_in: Path, opened: Run, english: Path, tmp_path: Path
    ) -> None:
        path = tmp_path / f"{kind}.svg"
        run("plot", built_in, kind, "--truth", english, "-o", path)
        written = " ".join(texts_in(path))
        given = {answer.id: answer.rounded for answer in opened.answers}
        measures = measure(*match_truth(given, read_truth(english), "here"))
        assert "12 problems" in written
        if kind == "roc":
            assert f"AUC {measures.auc:.3f}" in written
            assert f"C@1 {measures.c_at_1:.3f}" in written
        elif kind == "tippett":
            truth = truth_of(opened.answers, read_truth(english), "here")
            ratios = np.array(ratios_of(opened.answers, "here")) * np.log(10)
            assert f"Cllr {cllr(truth, ratios):.3f}" in written

    def test_one_run_has_one_interval(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        """Whether it is evaluated, reported or drawn, with texts that problems share."""
        problems = small_problems(8)
        for name in ("EN003", "EN004", "EN005"):
            problems[name]["unknown.txt"] = problems["EN002"]["unknown.txt"]
        corpus = make_corpus(problems)
        truth = "".join(f"{name} {'NY'[place % 3 > 0]}\n" for place, name in enumerate(sorted(problems)))
        (corpus / "truth.txt").write_text(truth, "utf-8")
        found = set()
        for name, evidence in (("kept", True), ("bare", False)):
            out = tmp_path / name
            run("verify", corpus, "-o", out, "--engines", "vectors", *(() if evidence else ("--no-evidence",)))
            plot(out, "roc", tmp_path / f"{name}.svg", truth=corpus)
            found |= {text for text in texts_in(tmp_path / f"{name}.svg") if text.startswith("AUC")}
        within = evaluate_answers(tmp_path / "kept", corpus).intervals["auc"]
        area, low, high = verification_report(tmp_path / "kept", corpus)["measures"]["auc"]
        assert found == {f"AUC {area:.3f} ({low:.3f}\N{EN DASH}{high:.3f})"}
        assert (low, high) == pytest.approx((within.low, within.high), abs=1e-4)
        opened = Run.open(tmp_path / "kept")
        values = [each.rounded for each in opened.answers]
        known = truth_of(opened.answers, read_truth(corpus), "")
        alone = interval(measure_draws(known, values, weigh_problems(len(values), np.random.default_rng(0)))["auc"])
        assert (alone.low, alone.high) != pytest.approx((low, high), abs=1e-3)

    @pytest.mark.parametrize("kind", [*OF_RUN, "rolling"])
    def test_a_model_is_drawn(self, kind: str, model_file: Path, book: Path, tmp_path: Path) -> None:
        path = tmp_path / f"{kind}.svg"
        words = ("--text", book, "--window", 600, "--step", 200) if kind == "rolling" else ()
        run("plot", model_file, kind, *words, "-o", path)
        written = texts_in(path)
        wanted = AUTHORS[:2] if kind == "rolling" else AUTHORS if kind != "dendrogram" else ("Ann/0", "Cid/2")
        assert set(wanted) <= set(written)
        assert kind != "rolling" or "change of hand" in written

    def test_networks_that_learn_are_drawn(self, networks: Path, tmp_path: Path) -> None:
        run("plot", networks / "out", "learning", "-o", tmp_path / "fig.svg")
        assert {"mean of 2 networks", "sub-epoch"} <= set(texts_in(tmp_path / "fig.svg"))

    @pytest.mark.parametrize("form", ["svg", "pdf", "png"])
    @pytest.mark.parametrize("kind", ["pca", "heatmap"])
    def test_the_same_figure_has_the_same_bytes(self, kind: str, form: str, built_in: Path, tmp_path: Path) -> None:
        for name in ("one", "two"):
            plot(built_in, kind, tmp_path / f"{name}.{form}", format=FigureFormat(dpi=60))
        one, two = ((tmp_path / f"{name}.{form}").read_bytes() for name in ("one", "two"))
        assert one == two
        assert b"Date" not in one or form == "png"
        assert one[:4] == {"svg": b"<?xm", "pdf": b"%PDF", "png": b"\x89PNG"}[form]

    def test_a_heat_map_says_that_values_go_on_beyond_its_colors(
        self, built_in: Path, model_file: Path, tmp_path: Path
    ) -> None:
        plot(built_in, "heatmap", tmp_path / "run.svg")
        (said,) = [text for text in texts_in(tmp_path / "run.svg") if text.startswith("relative score")]
        most = float(np.nanmax(score_table(Run.open(built_in)).values))
        shown = re.fullmatch(r"relative score \(higher: more alike\); \u2265 (\d+\.\d) alike in color", said)
        assert shown is not None, said
        assert float(shown[1]) < most
        plot(model_file, "heatmap", tmp_path / "model.svg")
        assert "relative score (higher: more alike)" in texts_in(tmp_path / "model.svg")

    def test_the_size_is_the_one_asked_for(self, built_in: Path, tmp_path: Path) -> None:
        plot(built_in, "pca", tmp_path / "fig.svg", format=FigureFormat(8.5, 7))
        root = ET.parse(tmp_path / "fig.svg").getroot()
        assert [float(root.attrib[side].removesuffix("pt")) for side in ("width", "height")] == pytest.approx(
            [8.5 / 2.54 * 72, 7 / 2.54 * 72], abs=1e-3
        )
        plot(built_in, "pca", tmp_path / "fig.png", format=FigureFormat(5.08, 2.54 * 2, dpi=100))
        content = (tmp_path / "fig.png").read_bytes()
        assert [int.from_bytes(content[place : place + 4]) for place in (16, 20)] == [200, 200]

    def test_metadata_is_obeyed(self, built_in: Path, tmp_path: Path) -> None:
        table = tmp_path / "styles.csv"
        table.write_text("name,label,color,group\nEN001,First,#ab12cd,Odd\nEN002,,,Even\n", "utf-8")
        for kind in OF_RUN:
            path = tmp_path / f"{kind}.svg"
            plot(built_in, kind, path, metadata=table)
            written = texts_in(path)
            assert {"First", "EN002", "EN003", "Odd", "Even"} <= set(written)
            assert "EN001" not in written
            assert "#ab12cd" in path.read_text("utf-8")

    def test_a_group_looks_the_same_in_every_figure(
        self, built_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = tmp_path / "styles.csv"
        table.write_text("name,color,group\nEN001,,letters\nEN002,#ab12cd,essays\nEN003,,essays\n", "utf-8")
        drawn = watch_figures(monkeypatch)
        for kind in OF_RUN:
            for form in ("svg", "pdf", "png") if kind in ("heatmap", "pca") else ("svg",):
                drawn.clear()
                plot(built_in, kind, tmp_path / f"{kind}.{form}", format=FigureFormat(dpi=60), metadata=table)
                (figure,) = drawn
                marks = {
                    (line.get_marker(), line.get_color()) for axes in figure.axes for line in axes.lines
                    if line.get_marker() != "None" and line.get_markersize() > 0.5
                }  # fmt: skip
                wanted = {("o", PALETTE[0]), ("s", "#ab12cd"), ("s", PALETTE[1]), (".", "#7f7f7f")}
                assert {mark for mark in marks if mark[1] != "black"} == wanted, kind
                (legend,) = figure.legends
                said = {
                    text.get_text(): (handle.get_marker(), handle.get_color())
                    for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
                    if hasattr(handle, "get_marker")
                }
                assert {name: said[name] for name in ("letters", "essays")} == {
                    "letters": ("o", PALETTE[0]), "essays": ("s", PALETTE[1])
                }, kind  # fmt: skip
                assert [name for name in said if name in ("letters", "essays")] == ["letters", "essays"]

    def test_metadata_of_authors_is_obeyed(self, model_file: Path, book: Path, tmp_path: Path) -> None:
        table = tmp_path / "styles.csv"
        table.write_text("name,label\nAnn,Anna Karlsson\n", "utf-8")
        plot(model_file, "rolling", tmp_path / "a.svg", metadata=table, text=book, window=600, step=200)
        plot(model_file, "pca", tmp_path / "b.svg", metadata=table)
        for name in ("a.svg", "b.svg"):
            assert "Anna Karlsson" in texts_in(tmp_path / name)

    @pytest.mark.parametrize("size", [(8.5, 10), (16, 13), (16, 40)])
    def test_numbers_of_support_cover_neither_each_other_nor_names(
        self, size: tuple[float, float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = grow_tree(crowded(), 30)
        page = FigureFormat(*size)
        shown = style_names([f"text {number}" for number in range(27)], {"text 3": Style(group="a")})
        drawn = watch_figures(monkeypatch)
        render(lambda fig: draw_tree(fig, tree, shown, page), page, "png")
        (figure,), (axes,) = drawn, drawn[0].axes
        numbers = [text.get_window_extent() for text in axes.texts]
        others = [label.get_window_extent() for label in (*axes.get_yticklabels(), axes.title)]
        assert len(numbers) > 5
        for place, box in enumerate(numbers):
            assert not any(box.overlaps(other) for other in (*numbers[:place], *others))
        dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_color() == "black"]
        weak = sum(value is not None and value < 70 for value in tree.support)
        left_out = len(tree.support) - 1 - len(numbers)
        assert left_out - weak <= len(dots) <= left_out
        said = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("support of 95 % or more" in said) == (left_out > 0)

    def test_many_labels_are_thinned_out(self, tmp_path: Path) -> None:
        shown = style_names([f"name-{number}" for number in range(400)], {})
        tree = grow_tree(np.random.default_rng(0).normal(size=(400, 30)), 2)
        page = FigureFormat(16, 15)
        (tmp_path / "fig.svg").write_bytes(render(lambda fig: draw_tree(fig, tree, shown, page), page, "svg"))
        assert 20 < sum(name.startswith("name-") for name in texts_in(tmp_path / "fig.svg")) < 60

    def test_threads_draw_side_by_side_and_leave_matplotlib_as_it_was(self, built_in: Path, tmp_path: Path) -> None:
        import matplotlib

        before = dict(matplotlib.rcParams)
        threads = [
            threading.Thread(target=plot, args=(built_in, "pca", tmp_path / f"{number}.svg")) for number in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({(tmp_path / f"{number}.svg").read_bytes() for number in range(3)}) == 1
        assert dict(matplotlib.rcParams) == before

    def test_neither_a_display_nor_pyplot_is_needed(self, built_in: Path, tmp_path: Path) -> None:
        code = (
            "import sys, byline.figures.plot as p\n"
            f"p.plot({str(built_in)!r}, 'pca', {str(tmp_path / 'fig.svg')!r})\n"
            "assert 'matplotlib.pyplot' not in sys.modules"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={}, check=False)
        assert done.returncode == 0, done.stderr


HOSTILE = (
    "$x^2$ _{bad}", "<script>alert(1)</script>", "a\nb", "x" * 5000, "שלום עולם", "\ud800lone", "_hidden", "汉字",
    "\u202eevil", "&amp;\"'", "\\frac{1}{2}",
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = [
        Document(f"{name}/{salt}.txt", phrase(number % 7, 500, salt + 2 * number))
        for number, name in enumerate(HOSTILE)
        for salt in range(2)
    ]
    names = [name for name in HOSTILE for _ in range(2)]
    rows = read_pool("authors").only(["vectors"]).rows
    path = tmp_path_factory.mktemp("hostile") / "model.byline"
    write_author_model(path, train_authors(make_author_corpus(documents, names), rows))
    return path


class TestHostileNames:
    @pytest.mark.parametrize("kind", OF_RUN)
    def test_they_are_plain_short_text(self, kind: str, hostile: Path, tmp_path: Path) -> None:
        path = tmp_path / "fig.svg"
        plot(hostile, kind, path, format=FigureFormat(title="$x$\n<b>", height=30))
        written = texts_in(path)
        assert "$x$ <b>" in written
        joined = "\n".join(written)
        for part in (
            "$x^2$ _{bad}",
            "<script>alert(1",
            "a b",
            "שלום עולם",
            "\ufffdlone",
            "_hidden",
            "汉字",
            "\ufffdevil",
        ):
            assert part in joined
        assert max(map(len, written)) <= 60
        assert "<script" not in path.read_text("utf-8")

    @pytest.mark.parametrize("form", ["pdf", "png"])
    def test_characters_that_no_font_has_are_no_error(self, form: str, hostile: Path, tmp_path: Path) -> None:
        plot(
            hostile,
            "dendrogram",
            tmp_path / f"fig.{form}",
            format=FigureFormat(title="\U00013000 汉字", dpi=60),
            replicates=5,
        )
        assert (tmp_path / f"fig.{form}").stat().st_size > 1000


class TestRefusals:
    @pytest.mark.parametrize("name", ["fig.jpg", "fig", "fig.svg.gz"])
    def test_other_formats(self, name: str, built_in: Path, tmp_path: Path) -> None:
        error = refused(built_in, "pca", "-o", tmp_path / name)
        assert (error.where, error.remedy) == (str(tmp_path / name), "End the name with .svg, .pdf or .png")

    def test_a_file_that_is_there_is_kept_unless_told(self, built_in: Path, tmp_path: Path) -> None:
        path = tmp_path / "fig.svg"
        path.write_text("precious", "utf-8")
        refused(built_in, "pca", "-o", path)
        with pytest.raises(RunError) as raised:
            plot(built_in, "pca", path)
        assert (raised.value.where, raised.value.remedy) == (str(path), OVERWRITE)
        assert path.read_text("utf-8") == "precious"
        run("plot", built_in, "pca", "-o", path, "--overwrite")
        assert path.read_text("utf-8").startswith("<?xml")

    def test_a_kind_that_does_not_exist(self, built_in: Path, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="rolling, heatmap, roc"):
            plot(built_in, "pie", tmp_path / "fig.png")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("words", "where", "remedy"),
        [
            (["roc"], "roc", "{truth}"),
            (["pca", "--truth", "x"], "pca", "{truth}"),
            (["roc", "--truth", "x", "--metadata", "y"], "roc", "{metadata}"),
            (["heatmap", "--replicates", 5], "heatmap", "{replicates}"),
            (["rolling"], "built-in", "Name a model"),
            (["rolling", "--text", "x"], "built-in", "Name a model"),
            (["pca", "--language", "greek"], "built-in", "{language}: english"),
            (["pca", "--width", 1000], "width", "3 to 120"),
            (["pca", "--font-size", 1], "font size", "4 to 40"),
            (["pca", "--dpi", 5], "dpi", "30 to 1200"),
            (["pca", "--width", 120, "--dpi", 1200], None, "{dpi}"),
            (["dendrogram", "--replicates", -1], "replicates", "0 to 10,000"),
        ],
    )
    def test_what_makes_no_sense_for_a_run(
        self, words: list[object], where: str | None, remedy: str, built_in: Path, tmp_path: Path
    ) -> None:
        error = refused(built_in, *words, "-o", tmp_path / "fig.png")
        assert isinstance(error, SettingsError)
        assert error.where == (str(built_in) if where == "built-in" else where)
        assert remedy in (error.remedy or "")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("words", "remedy"),
        [
            (["roc"], "Name a run"),
            (["roc", "--truth", "x"], "Name a run"),
            (["rolling"], "{text}"),
            (["pca", "--language", "english"], "{language}"),
        ],
    )
    def test_what_makes_no_sense_for_a_model(
        self, words: list[object], remedy: str, model_file: Path, tmp_path: Path
    ) -> None:
        assert remedy in (refused(model_file, *words, "-o", tmp_path / "fig.png").remedy or "")

    def test_learning_curves_without_networks(self, built_in: Path, model_file: Path, tmp_path: Path) -> None:
        for source in (built_in, model_file):
            assert isinstance(refused(source, "learning", "-o", tmp_path / "fig.png"), RunError)

    def test_answers_that_are_not_calibrated(self, networks: Path, tmp_path: Path) -> None:
        for kind in ("tippett", "calibration"):
            error = refused(networks / "out", kind, "--truth", networks / "corpus", "-o", tmp_path / "fig.svg")
            assert isinstance(error, AnswersError)
            assert "{calibration}" in (error.remedy or "")

    def test_the_truth_of_other_problems(self, built_in: Path, tmp_path: Path) -> None:
        (tmp_path / "truth.txt").write_text("XX001 Y\nXX002 N\n", "utf-8")
        error = refused(built_in, "roc", "--truth", tmp_path, "-o", tmp_path / "fig.svg")
        assert error.where == str(tmp_path)
        assert "EN001 and 11 more" in error.what

    def test_sources_that_are_none(self, book: Path, tmp_path: Path) -> None:
        for source in (tmp_path / "gone", tmp_path, book):
            assert str(source) in str(refused(source, "pca", "-o", tmp_path / "f.svg"))

    def test_a_model_of_networks_has_nothing_held_out(self, tmp_path: Path) -> None:
        documents = [Document(f"t{n}", phrase(n, 400)) for n in range(3)]
        rows = [row.change({"hidden": 4, "sub_epochs": 2}) for row in read_pool("rnn").rows[:1]]
        write_author_model(tmp_path / "m.byline", train_authors(make_author_corpus(documents, AUTHORS), rows))
        assert "{engines}" in (refused(tmp_path / "m.byline", "heatmap", "-o", tmp_path / "f.svg").remedy or "")
        plot(tmp_path / "m.byline", "learning", tmp_path / "f.svg")
        assert "mean of 1 network" in texts_in(tmp_path / "f.svg")

    def test_a_figure_that_does_not_exist(self, built_in: Path, tmp_path: Path) -> None:
        with pytest.raises(SettingsError) as raised:
            plot(built_in, "pie", tmp_path / "fig.svg")
        assert "rolling, heatmap, roc" in (raised.value.remedy or "")

    def test_problems_answered_one_by_one_are_not_compared(self, tmp_path: Path, english: Path) -> None:
        one, other = read_problems(english).problems[:2]
        longer = replace(other, unknown=Document("long", other.unknown.text * 4))  # compared with longer texts
        some = ProblemSet((one, longer), "folders")
        others = build_reference([english], language="english")
        verify(
            some, Settings(engine="vectors"), judgment=JudgmentRequest(interpret="cohort"),
            reference=others, output=RunOutput(tmp_path / "out"),
        )  # fmt: skip
        assert "{interpret}" in (refused(tmp_path / "out", "heatmap", "-o", tmp_path / "fig.svg").remedy or "")
        with pytest.raises(RunError):
            score_table(Run.open(tmp_path / "out"))

    def test_without_matplotlib_the_remedy_is_said(
        self, built_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert "pip install" in (refused(built_in, "pca", "-o", tmp_path / "fig.svg").remedy or "")

    def test_an_option_that_does_not_exist(self, built_in: Path, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="colour"):
            plot(built_in, "pca", tmp_path / "fig.svg", colour="red")  # type: ignore[call-arg]


def test_a_run_is_read_once_for_all_of_its_figures(
    built_in: Path, opened: Run, english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def count(path: Path, *words: Any) -> Record:
        read.append(path)
        return read_record(path, *words)

    monkeypatch.setattr("byline.runs.folder.read_record", count)
    once = Run.open(built_in)
    figures = {
        kind: prepare_figure(once, kind, truth=english if kind in JUDGED else None) for kind in (*OF_RUN, *JUDGED)
    }
    assert len(read) == len(opened.records)
    plot(built_in, "pca", tmp_path / "pca.svg")
    assert figures["pca"].render("svg") == (tmp_path / "pca.svg").read_bytes()


def test_every_kind_is_in_the_help_and_the_page() -> None:
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    shown = CliRunner().invoke(app, ["plot", "--help"], env={"COLUMNS": "200"}).stdout
    for kind in KINDS:
        assert kind in shown
        assert re.search(rf"byline plot \S+ {kind}\b", page)


def test_several_languages_need_one_named(tmp_path: Path, english: Path) -> None:
    with builtin_problems("greek") as greek:
        found = [*read_problems(english).problems, *read_problems(greek).problems]
    verify(ProblemSet(tuple(found), "folders"), read_pool("best").only(["vectors"]), output=RunOutput(tmp_path / "out"))
    error = refused(tmp_path / "out", "pca", "-o", tmp_path / "fig.svg")
    assert error.remedy == "Give {language}: english, greek"
    run("plot", tmp_path / "out", "pca", "--language", "greek", "-o", tmp_path / "fig.svg")
