"""Preparation: texts as members see them, their alphabet, and the characters that are dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byline.corpora.documents import Document
from byline.corpora.problems import holds_problems, read_problems, read_texts, require_sound
from byline.text.encoder import Alphabet, count_characters, make_alphabet
from byline.text.languages import language_of, language_of_script
from byline.text.normalize import TextRules, normalize


@dataclass(frozen=True)
class Preparation:
    """The texts of one language, ready for the model."""

    language: str
    alphabet: Alphabet
    counts: Counter[str]
    """How often each character occurs after normalizing, including dropped ones; repeated texts count once."""
    texts: dict[str, str]
    """The normalized texts without dropped characters, by the document's name."""

    @property
    def kept(self) -> dict[str, int]:
        """Counts of the alphabet's symbols, most frequent first."""
        return {c: n for c, n in self._ordered() if c in self.alphabet.symbols}

    @property
    def dropped(self) -> dict[str, int]:
        """Counts of the characters that are too rare, most frequent first."""
        return {c: n for c, n in self._ordered() if c not in self.alphabet.symbols}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline prepare --json` prints them."""
        return {
            "language": self.language,
            "alphabet": self.alphabet.symbols,
            "symbols": len(self.alphabet),
            "counts": self.kept,
            "dropped": self.dropped,
            "texts": self.texts,
        }

    def _ordered(self) -> list[tuple[str, int]]:
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))


def prepare(path: Path, language: str | None = None, rules: TextRules = "paper") -> list[Preparation]:
    """Prepare the texts of a PAN corpus, by language, of a folder, or of one file."""
    groups: dict[str, list[Document]] = {}
    if holds_problems(path):
        corpus = read_problems(path, language)
        require_sound(corpus.bad_problems)
        for name, problems in corpus.by_language().items():
            groups[name] = [document for problem in problems for document in (*problem.known, problem.unknown)]
    else:
        documents = read_texts(path)
        script = language_of_script(*(document.text for document in documents)) or "unknown"
        groups[language_of(language) if language else script] = list(documents)
    return [_prepare(name, documents, rules) for name, documents in groups.items()]


def _prepare(language: str, documents: Sequence[Document], rules: TextRules) -> Preparation:
    normal = {document.name: normalize(document.text, language, rules) for document in documents}
    counts = count_characters(set(normal.values()))
    alphabet = make_alphabet(counts, rules)
    return Preparation(language, alphabet, counts, {name: alphabet.filter(text) for name, text in normal.items()})
