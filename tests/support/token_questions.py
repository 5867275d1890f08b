"""Questions about texts of words, for the engines that read words."""

from __future__ import annotations

import random
from collections.abc import Sequence

from byline.engines.questions import Question, Questions, ReferencePart
from byline.text.encoder import Alphabet

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def ask_words(
    texts: Sequence[str], heads: Sequence[tuple[int, ...]], documents: Sequence[tuple[int, ...]], reference: int = 0
) -> Questions:
    """Each head is asked about the document of the same place."""
    alphabet = Alphabet("".join(sorted({*LETTERS, *" .,*\u00b97\n", *"".join(texts)})), "scripts")
    asked = tuple(Question(n, n, n) for n in range(min(len(heads), len(documents))))
    part = ReferencePart(len(heads) - reference, len(documents) - reference) if reference else None
    encoded = tuple(alphabet.encode(text) for text in texts)
    return Questions(alphabet, encoded, tuple(heads), tuple(documents), asked, reference=part)


def made_up(count: int, length: int = 80) -> list[str]:
    """Texts of sentences whose words are drawn more or less often, each in its own way."""
    draw = random.Random(5)
    words = ["the", "of", "and", "to", "a", "in", "***", "that", "it", "was", "he", "7"]
    texts = []
    for _ in range(count):
        often = [draw.random() for _ in words]
        drawn = [word + draw.choice(["", "", "", "", ",", ".", "."]) for word in draw.choices(words, often, k=length)]
        texts.append(" ".join(drawn))
    return texts
