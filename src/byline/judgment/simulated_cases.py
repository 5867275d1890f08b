"""Make problems whose truth is known from author folders: half by the same author, half by different ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference
from byline.corpora.reference_building import build_reference
from byline.errors import TooLittleText

MAX_KNOWN = 4
"""The greatest number of known texts in a problem."""
MIN_AUTHORS = 10
"""Authors with two texts or more: with fewer, too few problems share no text."""
NAME_APART = "Give different authors different folder names"


def make_cases(path: Path, language: str | None = None, seed: int = 0) -> tuple[ProblemSet, dict[str, bool]]:
    """Make problems from a folder of author folders; return them and their truth by id.

    One text of each author with two or more is the unknown of two problems: with their other texts as known ones, and
    with those of another author.
    """
    reference = build_reference([path], language)
    rng = np.random.default_rng(seed)
    able = {author: texts for author, texts in sorted(reference.by_author.items()) if len(texts) > 1}
    if len(able) < MIN_AUTHORS:
        raise TooLittleText(
            f"has {len(able)} authors with two texts or more, {MIN_AUTHORS} are needed",
            where=path,
            remedy="Put each author's texts in a folder of their own, or give a corpus with its truth",
        )
    held_out, known = {}, {}
    for author, texts in able.items():
        order = rng.permutation(len(texts))
        held_out[author] = texts[order[0]].document
        known[author] = tuple(texts[place].document for place in sorted(order[1 : 1 + MAX_KNOWN]))
    names = list(able)
    problems, truth = [], {}
    for number, (author, other) in enumerate(zip(names, _pair_authors(names, reference, rng), strict=True), start=1):
        for kind, writer in (("same", author), ("other", other)):
            name = f"{number:04d}-{kind}"
            problems.append(Problem(name, known[writer], held_out[author], reference.language))
            truth[name] = kind == "same"
    return ProblemSet(tuple(sorted(problems, key=lambda problem: problem.id)), "folders"), truth


def _pair_authors(names: list[str], reference: Reference, rng: np.random.Generator) -> list[str]:
    """Return another author for each: in pairs, so that few problems share texts; the last three in a circle."""
    circle = [names[place] for place in rng.permutation(len(names))]
    partner: dict[str, str] = {}
    while len(circle) > 3:
        author = circle.pop()
        other = next((each for each in circle if not reference.may_be_same(author, each)), None)
        if other is None:
            raise TooLittleText("may be the same person as all others", where=author, remedy=NAME_APART)
        circle.remove(other)
        partner |= {author: other, other: author}
    partner |= dict(zip(circle, [*circle[1:], *circle[:1]], strict=True))
    if any(reference.may_be_same(author, other) for author, other in partner.items()):
        raise TooLittleText("some authors may be the same person", remedy=f"{NAME_APART}, or try another {{seed}}")
    return [partner[name] for name in names]
