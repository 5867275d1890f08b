"""What a problem trains on and what it judges: once, or both ways round."""

from __future__ import annotations

from byline.errors import TooLittleText
from byline.problems import Problem
from byline.settings import Settings
from byline.views import Library, require_length

SWAP_BELOW = 0.9
"""A single known text shorter than this share of the unknown is exchanged with it."""


def lay_trials(
    problem: Problem, library: Library, settings: Settings
) -> list[tuple[frozenset[bytes], frozenset[bytes]]]:
    """What a problem trains on and what it judges: once, or both ways round."""
    texts = (*problem.known, problem.unknown)
    require_length(library.view, texts, (library.length(document.text) for document in texts))
    known = frozenset(library.key(document.text) for document in problem.known)
    unknown = frozenset([library.key(problem.unknown.text)])
    # a head never learns the text that it judges
    rest = known - unknown
    if not rest:
        raise TooLittleText(
            f"{problem.id}: the known and the unknown text are the same; there is nothing to decide, remove the problem"
        )
    if problem.symmetric:  # which text of a pair comes first must not matter
        return [(rest, unknown), (unknown, rest)] if min(rest) < min(unknown) else [(unknown, rest), (rest, unknown)]
    if settings.train_on == "both":
        return [(rest, unknown), (unknown, rest)]
    if settings.train_on == "unknown" or (settings.swap_short and _is_short(problem, library)):
        return [(unknown, rest)]
    return [(rest, unknown)]


def _is_short(problem: Problem, library: Library) -> bool:
    """The swap rule of section 2.4: one known text, significantly shorter than the unknown."""
    known, *others = problem.known
    return not others and library.length(known.text) < SWAP_BELOW * library.length(problem.unknown.text)
