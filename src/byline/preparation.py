"""A text or corpus as the model sees it: its alphabet, its counts, what was dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.alphabet import Alphabet, count_characters, make_alphabet
from byline.documents import Document, look_at
from byline.languages import language_of, language_of_script
from byline.normalise import normalise
from byline.problems import ProblemSet, find_file, is_unknown, read_problems, read_texts, require_sound
from byline.settings import TextRules


@dataclass(frozen=True)
class Preparation:
    """The texts of one language, ready for the model."""

    language: str
    alphabet: Alphabet
    counts: Counter[str]
    """How often each character occurs after normalising, dropped ones too; repeated texts count once."""
    texts: dict[str, str]
    """What the model sees of each document, by the document's name."""

    @property
    def kept(self) -> dict[str, int]:
        """Counts of the alphabet's symbols, most frequent first."""
        return {c: n for c, n in self._ordered() if c in self.alphabet.symbols}

    @property
    def dropped(self) -> dict[str, int]:
        """Counts of the characters that are too rare, most frequent first."""
        return {c: n for c, n in self._ordered() if c not in self.alphabet.symbols}

    def _ordered(self) -> list[tuple[str, int]]:
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))


def prepare(path: Path, language: str | None = None, rules: TextRules = "paper") -> list[Preparation]:
    """A PAN corpus (each of its languages), a folder of texts, or one text file, as the model sees it."""
    if holds_problems(path):
        corpus = read_problems(path, language)
        require_sound(corpus.offences)
        groups = _documents_by_language(corpus)
    else:
        documents = read_texts(path)
        script = language_of_script(*(document.text for document in documents)) or "unknown"
        groups = {language_of(language) if language else script: documents}
    return [_prepare(name, documents, rules) for name, documents in groups.items()]


def holds_problems(path: Path) -> bool:
    """Whether a path is a corpus of problems, not just texts."""
    if look_at(path, "name a text file, a folder of texts, or a corpus") == "file":
        return path.suffix.lower() == ".jsonl"
    return bool(find_file(path, "pairs.jsonl")) or any(is_unknown(file.name) for file in path.glob("*/*"))


def _documents_by_language(corpus: ProblemSet) -> dict[str, list[Document]]:
    return {
        language: [document for problem in problems for document in (*problem.known, problem.unknown)]
        for language, problems in corpus.by_language().items()
    }


def _prepare(language: str, documents: Sequence[Document], rules: TextRules) -> Preparation:
    normal = {document.name: normalise(document.text, language, rules) for document in documents}
    counts = count_characters(set(normal.values()))
    alphabet = make_alphabet(counts, rules)
    return Preparation(language, alphabet, counts, {name: alphabet.filter(text) for name, text in normal.items()})
