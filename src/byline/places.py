"""Where in the original each symbol stands that the model reads: the way back through normalising.

The steps of normalise.py, masking.py and alphabet.py once more, each character with the place that it comes from. That
both give the same symbols is tested.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.languages import FOREIGN
from byline.masking import LETTER, MASK, WORD, stays
from byline.normalise import BEFORE_NFKD, LATIN_ACCENTS, LONGEST_RUN, MOST_MARKS, RUNS, TOO_MANY_MARKS, images
from byline.settings import TextRules
from byline.views import View

Places = NDArray[np.int64]


class Letter(NamedTuple):
    """A character and the place in the original that it comes from."""

    character: str
    place: int


def places_of(view: View, text: str) -> Places:
    """(symbols,): for each symbol of the encoded text, the place of the character that it comes from."""
    return np.array([letter.place for letter in read_letters(view, text)], np.int64)


def read_letters(view: View, text: str) -> list[Letter]:
    """The symbols of the encoded text, each with its place in the original."""
    letters = [Letter(character, place) for place, character in enumerate(text.translate(BEFORE_NFKD))]
    letters = _without(letters, TOO_MANY_MARKS, kept=MOST_MARKS)
    letters = list(_decompose(letters))
    if view.language in FOREIGN:
        letters = _without(letters, LATIN_ACCENTS)
    table = images(view.language, view.rules)
    letters = [Letter(image, place) for character, place in letters for image in table[ord(character)]]
    letters = _single_spaces(letters, view.rules)
    if view.mask == "topic":
        letters = _mask(letters, view)
    known = set(view.alphabet.symbols)
    letters = _single_spaces([letter for letter in letters if letter.character in known], view.rules)
    return _without(letters, RUNS[view.rules], kept=LONGEST_RUN)


def spread_back(view: View, text: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(characters of the original,): values of symbols where these come from; what the model does not see has 0."""
    places = places_of(view, text)
    if len(places) != len(values):
        raise ValueError(f"{len(values)} values for {len(places)} symbols")
    found: NDArray[np.float64] = np.bincount(places, weights=values, minlength=len(text)).astype(np.float64)
    return found


def _join(letters: Iterable[Letter]) -> str:
    return "".join(letter.character for letter in letters)


def _without(letters: list[Letter], pattern: re.Pattern[str], kept: int = 0) -> list[Letter]:
    """What matches a pattern cut to its first few characters."""
    left: list[Letter] = []
    begin = 0
    for match in pattern.finditer(_join(letters)):
        left += letters[begin : match.start() + kept]
        begin = match.end()
    return left + letters[begin:]


def _decompose(letters: Iterable[Letter]) -> Iterator[Letter]:
    """NFKD: each character taken apart, then marks on one letter put in their order."""
    marks: list[tuple[int, Letter]] = []
    for character, place in letters:
        for part in unicodedata.normalize("NFKD", character) if character > "\x7f" else character:
            if rank := unicodedata.combining(part):
                marks.append((rank, Letter(part, place)))
                continue
            yield from (mark for _, mark in sorted(marks, key=lambda each: each[0]))
            marks = []
            yield Letter(part, place)
    yield from (mark for _, mark in sorted(marks, key=lambda each: each[0]))


def _single_spaces(letters: list[Letter], rules: TextRules) -> list[Letter]:
    """White space at the ends gone and, by the paper's rules, runs of it cut to one space, the first."""
    words = _join(letters)
    begin, end = len(words) - len(words.lstrip()), len(words.rstrip())
    inner = letters[begin:end]
    if rules != "paper":
        return inner
    return [
        Letter(" ", letter.place) if letter.character.isspace() else letter
        for before, letter in zip([None, *inner], inner, strict=False)
        if not (letter.character.isspace() and before is not None and before.character.isspace())
    ]


def _mask(letters: list[Letter], view: View) -> list[Letter]:
    """Words that don't stay become asterisks, each at the place of the letter that it hides."""
    masked: list[Letter] = []
    begin = 0
    for word in WORD.finditer(_join(letters)):
        masked += letters[begin : word.start()]
        begin = word.end()
        own = letters[word.start() : word.end()]
        if stays(word[0], view.frequent):
            masked += own
            continue
        left = 0
        for hidden in LETTER.finditer(word[0]):
            masked += [*own[left : hidden.start()], Letter(MASK, own[hidden.start()].place)]
            left = hidden.end()
        masked += own[left:]
    return masked + letters[begin:]
