"""Texts as rows of numbers, to be placed on a plane or joined in a tree: from a run's table, or from n-grams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from byline.attribution.model import AuthorModel
from byline.engines.vectors import count_grams, weigh_texts
from byline.errors import SettingsError, TooLittleText
from byline.figures.sources import Run
from byline.figures.tables import MOST_ROWS, score_table
from byline.ngram_kernels import index_texts
from byline.scoring import Table
from byline.settings import Settings

FEWEST = 3
"""Texts that can be placed or joined in more than one way."""
GRAMS = 3_000
"""N-grams that count in a figure: those that the most texts have."""


@dataclass(frozen=True)
class Profiles:
    """Texts, each a row of numbers."""

    values: Table  # (texts, columns)
    names: tuple[str, ...]
    authors: tuple[str, ...]
    """Of each text, where they are known; else nothing."""


def run_profiles(run: Run, language: str | None = None) -> Profiles:
    """The judged texts of a run by their relative scores under all heads."""
    table = score_table(run, language)
    return _require(Profiles(table.profiles, table.rows, ()), str(run.folder))


def text_profiles(model: AuthorModel) -> Profiles:
    """The texts of a model by their most common n-grams: counts damped, and weighed by how few texts have them."""
    if len(model.owners) > MOST_ROWS:
        raise SettingsError(f"the model has {len(model.owners):,} texts, more than a figure can show ({MOST_ROWS:,})")
    member = next((each for each in model.members if each.engine == "vectors" and each.mask == "none"), Settings())
    texts = model.texts[_plainest(model)]
    index = index_texts(texts, member.order)
    counts = count_grams(index)
    spread, often = (counts > 0).sum(axis=0), counts.sum(axis=0)
    common = np.sort(np.lexsort((-often, -spread))[:GRAMS])
    weighed = weigh_texts(index)[:, common].toarray()
    authors = tuple(model.authors[owner] for owner in model.owners)
    return _require(Profiles(weighed, model.titles, authors), "the model")


def _plainest(model: AuthorModel) -> int:
    """The view without a mask, or the first."""
    return next((number for number, view in enumerate(model.views) if view.mask == "none"), 0)


def _require(profiles: Profiles, where: str) -> Profiles:
    if len(profiles.names) < FEWEST:
        raise TooLittleText(f"{where}: {len(profiles.names)} different texts, {FEWEST} are needed for this figure")
    return profiles
