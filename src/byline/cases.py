"""Author folders -> case-like problems whose truth is known: as many by the same author as by different ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from byline.errors import TooLittleText
from byline.problems import Problem, ProblemSet
from byline.reference import Reference, build_reference

MOST_KNOWN = 4
"""Texts of an author that are known in a made problem, at the most."""
FEWEST_AUTHORS = 10
"""Authors of two texts or more: with fewer too few problems share no text."""


def make_cases(path: Path, language: str | None = None, seed: int = 0) -> tuple[ProblemSet, dict[str, bool]]:
    """Problems made of a folder of authors' folders, and their truth, by id.

    Of each author of two texts or more, one text is the unknown of a problem with his others, and the unknown of
    another problem with the known texts of somebody else.
    """
    reference = build_reference([path], language)
    rng = np.random.default_rng(seed)
    able = {author: texts for author, texts in sorted(reference.by_author.items()) if len(texts) > 1}
    if len(able) < FEWEST_AUTHORS:
        raise TooLittleText(
            f"{path}: {len(able)} authors of two texts or more, {FEWEST_AUTHORS} are needed; put each author's texts in"
            " a folder of their own, or give a corpus with its truth"
        )
    held_out, known = {}, {}
    for author, texts in able.items():
        order = rng.permutation(len(texts))
        held_out[author] = texts[order[0]].document
        known[author] = tuple(texts[place].document for place in sorted(order[1 : 1 + MOST_KNOWN]))
    names = list(able)
    problems, truth = [], {}
    for number, (author, other) in enumerate(zip(names, _others(names, reference, rng), strict=True), start=1):
        for kind, writer in (("same", author), ("other", other)):
            name = f"{number:04d}-{kind}"
            problems.append(Problem(name, known[writer], held_out[author], reference.language))
            truth[name] = kind == "same"
    return ProblemSet(tuple(sorted(problems, key=lambda problem: problem.id)), "folders"), truth


def _others(names: list[str], reference: Reference, rng: np.random.Generator) -> list[str]:
    """For each author somebody else: two by two, so that few problems hang together; the last three in a circle."""
    circle = [names[place] for place in rng.permutation(len(names))]
    partner: dict[str, str] = {}
    while len(circle) > 3:
        author = circle.pop()
        other = next((each for each in circle if not reference.may_be_one(author, each)), None)
        if other is None:
            raise TooLittleText(f"{author}: may be the same person as all others; name the authors apart")
        circle.remove(other)
        partner |= {author: other, other: author}
    partner |= dict(zip(circle, [*circle[1:], *circle[:1]], strict=True))
    if any(reference.may_be_one(author, other) for author, other in partner.items()):
        raise TooLittleText("some authors may be the same person; name them apart, or try another --seed")
    return [partner[name] for name in names]
