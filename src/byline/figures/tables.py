"""Relative scores of every text under every head: of a run over all members, of a model with each text held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from byline.attribution.model import MOST_HELD_OUT, AuthorModel, fill_tables
from byline.attribution.verdict import Judge, sums
from byline.engines import Watch
from byline.errors import RunError, SettingsError
from byline.figures.sources import Run
from byline.figures.trees import order_rows
from byline.questions import Question
from byline.relative import REACHES, asked_places, link_scores, relative_scores
from byline.runs import Record
from byline.scoring import Matrix, Side, Table

MOST_ROWS = 2_000
"""More texts than this no figure shows."""
JUDGED, LEARNT = "judged text of problem", "head of problem"
UNKNOWN, KNOWN = "unknown text of problem", "known texts of problem"


@dataclass(frozen=True)
class ScoreTable:
    """How much more alike than expected each text and each head are, in usual deviations."""

    values: Table  # (rows, columns): NaN where a head learnt the text, or was not asked about it
    rows: tuple[str, ...]
    """The texts: by problem, or by title."""
    columns: tuple[str, ...]
    """The heads: by problem, or by author."""
    row_title: str
    column_title: str
    asked: tuple[tuple[int, int], ...]
    """Which pairs are asked about; of a model, each text and its own author."""
    shared: tuple[int, ...]
    """How many problems have each row's text."""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Row and column of every problem, which may share either with others; of a model none."""

    @property
    def profiles(self) -> Table:
        """(rows, columns): the values; 0, which is as expected, where there is none, and of asked pairs.

        A text that is by the author in question would stand apart from all others by that alone.
        """
        values = np.nan_to_num(self.values)
        values[tuple(np.array(self.asked, np.int64).reshape(-1, 2).T)] = 0
        return values


def score_table(run: Run, language: str | None = None) -> ScoreTable:
    """The table of a run: each problem's judged text under each problem's head, texts that are the same once.

    Members of one engine are averaged, then the engines, as answers are made. Where problems are asked both ways the
    two judgements of a pair of texts are averaged.
    """
    group = run.group_of(language)
    ids = run.plan.groups[group].ids
    if len(ids) > MOST_ROWS:
        raise SettingsError(f"{run.folder}: {len(ids):,} problems, more than a figure can show ({MOST_ROWS:,})")
    by_engine: dict[str, list[Table]] = {}
    texts: list[list[tuple[int, int]]] = []  # by member, of each problem: the numbers of what its row and column are
    plain = run.plan.layout == "folders"
    for record in run.records(group):
        table = _problem_table(record, len(ids), run.reaches[group], run)
        by_engine.setdefault(record.member.settings.engine, []).append(table)
        texts.append(_texts_of(record))
        plain = plain and _is_plain(record)
    whole = mean_there([mean_there(tables) for tables in by_engine.values()])
    documents, heads = (
        _distinct([[both[side] for both in problem] for problem in zip(*texts, strict=True)]) for side in (0, 1)
    )
    places = dict(zip(ids, zip(_numbers(documents), _numbers(heads), strict=True), strict=True))
    return ScoreTable(
        whole[np.ix_([problems[0] for problems in documents], [problems[0] for problems in heads])],
        tuple(ids[problems[0]] for problems in documents),
        tuple(ids[problems[0]] for problems in heads),
        UNKNOWN if plain else JUDGED,
        KNOWN if plain else LEARNT,
        tuple(sorted(set(places.values()))),
        tuple(map(len, documents)),
        places,
    )


def relative_table(side: Side, reach: float = REACHES[0]) -> Table:
    """(documents, heads): every pair made relative as asked pairs are; NaN where there is nothing to compare.

    Asked pairs count in no mean, and get the very score that answers are made of. A reference is a part of the whole.
    """
    side = replace(side, reference=None)
    scores = relative_scores(side)
    place = min(REACHES.index(reach), len(scores) - 1)
    matrix = side.matrix
    documents = np.arange(len(matrix.values))[:, None]
    shape = len(matrix.values), int(matrix.heads.max()) + 1
    values, absent = np.zeros(shape), np.ones(shape, np.bool_)
    values[documents, matrix.heads] = matrix.values
    absent[documents, matrix.heads] = matrix.seen
    aside = absent.copy()
    asked = [(question.document, question.head) for question in side.questions]
    aside[tuple(np.array(asked, np.int64).reshape(-1, 2).T)] = True
    table = np.where(absent, np.nan, link_scores(Matrix(values, aside), REACHES[place]))
    rows, columns = asked_places(side)
    table[rows, matrix.heads[rows, columns]] = scores[place]
    return table


def mean_there(tables: Sequence[Table]) -> Table:
    """The mean of tables over what is not NaN in them; NaN where all are."""
    stack = np.array(tables)
    there = ~np.isnan(stack)
    counts = there.sum(axis=0)
    means: Table = np.where(counts > 0, np.where(there, stack, 0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    return means


def _problem_table(record: Record, problems: int, reach: float, run: Run) -> Table:
    """(problems, problems): of each one's judged text under each one's head, averaged over the ways of asking."""
    tables = []
    ways = _ways(record)
    batches = {frozenset(question.problem for question in questions) for _, questions, _ in ways}
    if record.sides[0].reference is not None and len(batches) > 1:
        raise RunError(
            f"{run.folder}: its problems were answered one by one and never compared with each other;"
            " run byline verify with --interpret relative for this figure"
        )
    for side, questions, turned in ways:
        found = relative_table(side, reach)
        table = np.full((problems, problems), np.nan)
        owners = [question.problem for question in questions]
        chosen = found[np.ix_([question.document for question in questions], [question.head for question in questions])]
        table[np.ix_(owners, owners)] = chosen
        tables.append(table.T if turned else table)
    return mean_there(tables)


def _ways(record: Record) -> list[tuple[Side, list[Question], bool]]:
    """Each way of asking: the side, a question for each problem, and whether the unknown texts are those learnt."""
    ways: list[tuple[Side, list[Question], bool]] = []
    times: Counter[int] = Counter()
    begins = record.member.settings.train_on == "unknown"
    for side in record.sides:
        turns: dict[int, list[Question]] = {}
        for question in side.questions:
            turns.setdefault(times[question.problem], []).append(question)
            times[question.problem] += 1
        ways += [(side, questions, (turn % 2 == 1) != begins) for turn, questions in turns.items()]
    return ways


def _texts_of(record: Record) -> list[tuple[int, int]]:
    """By problem the numbers that a member knows the texts of its row and of its column by."""
    _, questions, turned = _ways(record)[0]
    ordered = sorted(questions, key=lambda each: each.problem)
    return [(each.head, each.document) if turned else (each.document, each.head) for each in ordered]


def _distinct(texts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Problems that share a text as every member sees it; in members' eyes texts may differ in what they ignore."""
    found: dict[tuple[int, ...], list[int]] = {}
    for problem, seen in enumerate(texts):
        found.setdefault(tuple(seen), []).append(problem)
    return list(found.values())


def _numbers(parts: Sequence[Sequence[int]]) -> list[int]:
    """The number of the part that each problem is in."""
    number_of = {problem: number for number, problems in enumerate(parts) for problem in problems}
    return [number_of[problem] for problem in range(len(number_of))]


def _is_plain(record: Record) -> bool:
    """Whether it is sure that rows are the unknown texts; short texts may have changed places, or a way be left out."""
    settings = record.member.settings
    return len(record.sides) > 1 or settings.train_on == "unknown" or (
        settings.train_on == "known" and not settings.swap_short
    )  # fmt: skip


def held_out_table(model: AuthorModel, watch: Watch = Watch()) -> ScoreTable:  # noqa: B008 - frozen
    """The table of a model: each text under each author, judged as if it were not known; networks can't do that."""
    able = [number for number, member in enumerate(model.members) if member.engine != "rnn"]
    if not able:
        raise SettingsError(
            "the model has networks only, and they have learnt every text by heart;"
            " train one with other engines for this figure"
        )
    judge = Judge(tuple(model.judge.weights[number] for number in able), model.judge.middle, model.judge.slope)
    counting = replace(model, members=tuple(model.members[number] for number in able), judge=judge, networks={})
    chosen = _some_texts(model, MOST_HELD_OUT)
    tables = fill_tables(counting, (), chosen, watch)
    values = np.where(tables.seen.any(axis=0), np.nan, sums(tables, judge.weights))
    return ScoreTable(
        values,
        tuple(model.titles[text] for text in chosen),
        model.authors,
        "text",
        "author",
        tuple((row, model.owners[text]) for row, text in enumerate(chosen)),
        (1,) * len(chosen),
    )


def _some_texts(model: AuthorModel, most: int) -> list[int]:
    """All texts, or evenly some of each author."""
    turn = {text: place for author in range(len(model.authors)) for place, text in enumerate(model.texts_of(author))}
    return sorted(sorted(turn, key=lambda text: (turn[text], text))[:most])


def arrange(table: ScoreTable) -> ScoreTable:
    """The table with alike rows beside each other, and asked pairs along the diagonal as far as can be."""
    if table.column_title == "author":
        order = order_rows(np.nan_to_num(table.values).T)
        place = {author: number for number, author in enumerate(order)}
        owner = dict(table.asked)
        return _reorder(table, sorted(range(len(table.rows)), key=lambda row: (place[owner[row]], row)), order)
    rows = order_rows(table.profiles)
    where = {row: number for number, row in enumerate(rows)}
    mean = {column: np.mean([where[row] for row, asked in table.asked if asked == column])
            for column in range(len(table.columns))}  # fmt: skip
    return _reorder(table, rows, sorted(mean, key=lambda column: (mean[column], column)))


def _reorder(table: ScoreTable, rows: Sequence[int], columns: Sequence[int]) -> ScoreTable:
    row_of = {row: place for place, row in enumerate(rows)}
    column_of = {column: place for place, column in enumerate(columns)}
    return replace(
        table,
        values=table.values[np.ix_(rows, columns)],
        rows=tuple(table.rows[row] for row in rows),
        columns=tuple(table.columns[column] for column in columns),
        asked=tuple(sorted((row_of[row], column_of[column]) for row, column in table.asked)),
        shared=tuple(table.shared[row] for row in rows),
        places={name: (row_of[row], column_of[column]) for name, (row, column) in table.places.items()},
    )
