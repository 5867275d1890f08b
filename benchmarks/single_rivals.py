"""Published methods on single questions with a reference population, to compare with: AUC, and the scores themselves.

    BYLINE_DATA=folder-of-corpora python benchmarks/single_rivals.py scores.pickle      run what is missing, print means
    python benchmarks/single_rivals.py scores.pickle --blocks novels-20k --rivals lambda_g      some of them only

tfidf_s_norm      cosine of character 4-grams, TF-IDF; normalized on both sides by the reference's authors (s-norm)
general_imposters how often the unknown text is more like the known texts than like any of 30 texts of the reference, by
                  Ruzicka's similarity, over random halves of the 4-grams (Koppel and Winter 2014)
cosine_delta      cosine of the frequencies of the reference's 500 most frequent words, standardized by its texts
                  (Smith and Aldridge 2011); raw
lambda_g          log-likelihood ratio of the known texts' grammar model and of models of as many sentences drawn from
                  the reference, content words masked (Nini and others 2024)

Each question is answered by itself: from its texts and the reference, never from other questions or the truth. Texts of
the reference that share a passage with a question's texts are not used for it, nor are other texts by their authors.
In lambda_g, sentences are drawn from what is left, too. Known texts are joined. The cases are those of single_cases.py.

The file holds {(block, draw, rival): {problem: score}}; it is written after each draw, and what it holds is not run
again. Greater scores speak for one author.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from byline.corpora.problems import Problem
from byline.corpora.reference import Reference, related_texts
from byline.engines.ngram.kernels import index_texts
from byline.judgment.metrics import auc
from byline.text.normalize import WORD, normalize
from byline.text.tokens import split_sentences
from single_cases import BLOCKS, Draw

GRAM = 4
ROUNDS, IMPOSTERS, KEPT = 100, 30, 0.5
WORDS = 500
UNMASKED = 400
"""Words that lambda_g does not mask: those that most texts of the reference have."""
ORDER, DISCOUNT = 10, 0.75
MODELS, NOVEL_MODELS = 10, 5
"""Models of sentences drawn from the reference."""
SHARING = ("same-kind", "other-reference")
"""Blocks whose questions may share passages with the reference; elsewhere, no two authors share any."""

BEGIN, END, MASKED, FIRST = 0, 1, 2, 3
"""Numbers of the marks around a sentence, of a masked word, and of the first other token."""

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Table = dict[tuple[str, str, str], dict[str, float]]


def main() -> None:
    options = parse_options()
    table: Table = pickle.loads(options.file.read_bytes()) if options.file.exists() else {}
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for block in options.blocks:
        for draw in BLOCKS[block]():
            same = [draw.same[problem.id] for problem in draw.problems]
            for rival in options.rivals:
                key = (block, draw.name, rival)
                if table.get(key, {}).keys() != draw.same.keys():
                    names = (problem.id for problem in draw.problems)
                    table[key] = dict(zip(names, RIVALS[rival](draw).tolist(), strict=True))
                    save(options.file, table)
                order = auc(same, [table[key][problem.id] for problem in draw.problems])
                found[block, rival][draw.corpus].append(order)
                print(f"{block} {draw.name} {rival} {order:.3f}", file=sys.stderr, flush=True)
    print_means(found, options.blocks, options.rivals)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where scores are kept")
    parser.add_argument("--blocks", default=",".join(BLOCKS), help="their names, joined by commas")
    parser.add_argument("--rivals", default=",".join(RIVALS), help="their names, joined by commas")
    options = parser.parse_args()
    for name, known in (("blocks", BLOCKS), ("rivals", RIVALS)):
        setattr(options, name, getattr(options, name).split(","))
        if unknown := sorted(set(getattr(options, name)) - set(known)):
            parser.error(f"--{name} must be some of {','.join(known)}, got {','.join(unknown)}")
    return options


def save(path: Path, table: Table) -> None:
    """Write the scores whole or not at all."""
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(table))
    part.replace(path)


def print_means(
    found: Mapping[tuple[str, str], Mapping[str, Sequence[float]]], blocks: Sequence[str], rivals: Sequence[str]
) -> None:
    """A line for each block: the AUC within each draw, mean over the draws of a corpus, then over corpora."""
    print(f"| block | corpora | {' | '.join(rivals)} |")
    print("|---|---|" + "---|" * len(rivals))
    for block in blocks:
        means = [np.mean([np.mean(own) for own in found[block, rival].values()]) for rival in rivals]
        corpora = len(found[block, rivals[0]])
        print(f"| {block} | {corpora} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


def generator(draw: Draw, rival: str, problem: Problem) -> np.random.Generator:
    """Return a generator that depends on names only, so that no question depends on another."""
    name = "\0".join((rival, draw.block, draw.name, problem.id))
    return np.random.default_rng(list(hashlib.sha256(name.encode()).digest()))


@lru_cache(maxsize=1)
def usable_texts(draw: Draw) -> list[Numbers]:
    """Return, for each problem, the numbers of the reference's texts that it may be compared with."""
    everything = np.arange(len(draw.reference.texts))
    if draw.block not in SHARING:
        return [everything] * len(draw.problems)
    sides = [(*problem.known, problem.unknown) for problem in draw.problems]
    related = iter(related_texts(draw.reference, list(chain.from_iterable(sides))))
    authors = np.array([text.author for text in draw.reference.texts])
    usable = []
    for side in sides:
        numbers = frozenset[int]().union(*(next(related) for _ in side))
        usable.append(everything[~np.isin(authors, [authors[number] for number in numbers])])
    return usable


def join(texts: Sequence[str]) -> str:
    return " ".join(" ".join(texts).split())


class Grams:
    """The character 4-grams of a reference, their numbers and weights."""

    def __init__(self, reference: Reference) -> None:
        texts = [join([text.document.text]) for text in reference.texts]
        self._characters = np.unique(_codes("".join(texts)))
        self._codes, numbers = np.unique(np.concatenate([self._pack(text) for text in texts]), return_inverse=True)
        self.numbers = np.split(numbers, np.cumsum([len(text) - GRAM + 1 for text in texts])[:-1])
        """The gram at each character of each text."""
        having = np.bincount(np.concatenate([np.unique(own) for own in self.numbers]), minlength=len(self._codes))
        self._weights = np.log((1 + len(texts)) / (1 + having)) + 1

    def _pack(self, text: str) -> NDArray[np.uint64]:
        """Return a code for each gram; characters that the reference lacks are all one."""
        codes = _codes(text)
        places = np.minimum(np.searchsorted(self._characters, codes), len(self._characters) - 1)
        letters = np.where(self._characters[places] == codes, places, 2**16 - 1).astype(np.uint64)
        packed = np.zeros(max(len(letters) - GRAM + 1, 0), np.uint64)
        for place in range(GRAM):
            packed = (packed << np.uint64(16)) | letters[place : place + len(packed)]
        return packed

    def number(self, text: str) -> Numbers:
        """Return the numbers of those grams of a text that the reference has."""
        codes = self._pack(text)
        places = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return places[self._codes[places] == codes]

    def vectors(self, rows: Sequence[Numbers]) -> csr_array:
        """Return (rows, grams): sublinear TF-IDF vectors of length 1."""
        found = [np.unique(row, return_counts=True) for row in rows]
        values = [(1 + np.log(counts)) * self._weights[grams] for grams, counts in found]
        values = [each / max(np.linalg.norm(each), 1e-12) for each in values]
        starts = np.cumsum([0, *(len(grams) for grams, _ in found)])
        shape = (len(rows), len(self._codes))
        return csr_array((np.concatenate(values), np.concatenate([grams for grams, _ in found]), starts), shape=shape)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@lru_cache(maxsize=1)
def grams_of(reference: Reference) -> Grams:
    return Grams(reference)


def score_tfidf_s_norm(draw: Draw) -> Scores:
    """Return (problems,): the cosine less its mean, over its deviation, by the cohort; mean of both sides."""
    grams = grams_of(draw.reference)
    authors = np.array([text.author for text in draw.reference.texts])
    names = sorted(set(authors))
    members = [np.flatnonzero(authors == name) for name in names]
    cohort = grams.vectors([np.concatenate([grams.numbers[number] for number in own]) for own in members])
    known = grams.vectors([grams.number(join([each.text for each in problem.known])) for problem in draw.problems])
    unknown = grams.vectors([grams.number(join([problem.unknown.text])) for problem in draw.problems])
    raw = np.asarray(known.multiply(unknown).sum(axis=1)).ravel()
    sides = [(side @ cohort.T).toarray() for side in (known, unknown)]
    scores = []
    for place, usable in enumerate(usable_texts(draw)):
        compared = np.isin(names, authors[usable])
        means = [side[place, compared].mean() for side in sides]
        deviations = [side[place, compared].std() for side in sides]
        scores.append(np.mean((raw[place] - np.array(means)) / deviations))
    return np.array(scores)


def score_general_imposters(draw: Draw) -> Scores:
    """Return (problems,): the share of rounds in which the known set is more like the unknown text than imposters are.

    A draw counts half. Imposters are cut to the length of the known set at random places.
    """
    grams = grams_of(draw.reference)
    scores = []
    for problem, usable in zip(draw.problems, usable_texts(draw), strict=True):
        rng = generator(draw, "general_imposters", problem)
        known = join([each.text for each in problem.known])
        pool = [_window(grams.numbers[number], len(known), rng) for number in usable]
        table = grams.vectors([grams.number(known), *pool])
        judged = grams.vectors([grams.number(join([problem.unknown.text]))]).toarray()[0]
        drawn = np.array([1 + rng.permutation(len(pool))[:IMPOSTERS] for _ in range(ROUNDS)])
        kept = rng.random((ROUNDS, len(judged)), dtype=np.float32) < KEPT
        scores.append(count_wins(table.indptr, table.indices, table.data, judged, drawn, kept) / ROUNDS)
    return np.array(scores)


def _window(numbers: Numbers, length: int, rng: np.random.Generator) -> Numbers:
    first = int(rng.integers(max(len(numbers) - length, 0) + 1))
    return numbers[first : first + length]


@njit
def count_wins(starts, places, weights, judged, imposters, kept):
    """In how many rounds no imposter comes up to row 0, by the sum of minima over that of maxima; ties count half."""
    wins = 0.0
    for number in range(len(kept)):
        own = 0.0
        for place in range(len(judged)):
            if kept[number, place]:
                own += judged[place]
        known, best = -1.0, -1.0
        for at in range(-1, imposters.shape[1]):
            row = 0 if at < 0 else imposters[number, at]
            common = total = 0.0
            for cell in range(starts[row], starts[row + 1]):
                if kept[number, places[cell]]:
                    total += weights[cell]
                    common += min(weights[cell], judged[places[cell]])
            alike = common / max(own + total - common, 1e-12)
            if at < 0:
                known = alike
            else:
                best = max(best, alike)
            if best > known >= 0:
                break
        wins += 1.0 if known > best else 0.5 if known == best else 0.0
    return wins


class Tokens(NamedTuple):
    """The tokens of a text, as numbers, and where its sentences begin and the last ends."""

    numbers: NDArray[np.int32]
    borders: Numbers

    def sentences(self) -> list[NDArray[np.int32]]:
        """Return the tokens of each sentence."""
        return np.split(self.numbers, self.borders[1:-1])


class Vocabulary:
    """The tokens of all texts that were read, and their numbers."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    @cache  # noqa: B019 - there is one vocabulary
    def read(self, text: str, language: str) -> Tokens:
        """Return the tokens of a text; those that are new get numbers."""
        sentences = split_sentences(normalize(text, language)) or [[]]
        numbers = [self.numbers.setdefault(token, len(self.numbers) + FIRST) for each in sentences for token in each]
        return Tokens(np.array(numbers, np.int32), np.cumsum([0, *map(len, sentences)]))

    def words(self) -> dict[int, str]:
        """Return the words by number; other tokens are numbers and punctuation marks."""
        return {number: token for token, number in self.numbers.items() if WORD.fullmatch(token)}


VOCABULARY = Vocabulary()


def score_cosine_delta(draw: Draw) -> Scores:
    """Return (problems,): the cosine of standardized word frequencies."""
    reference = [_count_words(text.document.text) for text in draw.reference.texts]
    total = sum(reference, Counter[str]())
    words = sorted(total, key=lambda word: (-total[word], word))[:WORDS]

    def frequencies(counts: Sequence[Counter[str]]) -> Scores:
        return np.array([[each[word] for word in words] for each in counts]) / np.array(
            [[max(each.total(), 1)] for each in counts]
        )

    found = frequencies(reference)
    mean, deviation = found.mean(axis=0), found.std(axis=0, ddof=1)
    known, unknown = (
        (frequencies([_count_words(text) for text in texts]) - mean) / deviation
        for texts in (
            ["\n".join(each.text for each in problem.known) for problem in draw.problems],
            [problem.unknown.text for problem in draw.problems],
        )
    )
    lengths = np.linalg.norm(known, axis=1) * np.linalg.norm(unknown, axis=1)
    return np.einsum("pw,pw->p", known, unknown) / np.maximum(lengths, 1e-12)


@cache
def _count_words(text: str) -> Counter[str]:
    return Counter(WORD.findall(unicodedata.normalize("NFC", text).lower()))


def score_lambda_g(draw: Draw) -> Scores:
    """Return (problems,): the mean over drawn models of the sum over tokens of the logarithm, base 10, of the ratio."""
    language = draw.problems[0].language
    texts = [VOCABULARY.read(text.document.text, language) for text in draw.reference.texts]
    sides = [
        (
            [VOCABULARY.read(document.text, language) for document in problem.known],
            VOCABULARY.read(problem.unknown.text, language),
        )
        for problem in draw.problems
    ]
    masked = _mask(texts)
    population = [[_mark(masked[sentence]) for sentence in text.sentences()] for text in texts]
    models = NOVEL_MODELS if draw.block.startswith("novels") else MODELS
    scores = []
    for problem, usable, (known, unknown) in zip(draw.problems, usable_texts(draw), sides, strict=True):
        rng = generator(draw, "lambda_g", problem)
        own = [_mark(masked[sentence]) for text in known for sentence in text.sentences()]
        judged = [_mark(masked[sentence]) for sentence in unknown.sentences()]
        pool = [sentence for number in usable for sentence in population[number]]
        drawn = [
            [pool[place] for place in rng.choice(len(pool), min(len(own), len(pool)), replace=False)]
            for _ in range(models)
        ]
        scores.append(lambda_g(judged, own, drawn))
    return np.array(scores)


def _mask(texts: Sequence[Tokens]) -> NDArray[np.int32]:
    """Return, by number, what each token becomes: itself, or MASKED if it is none of the most widespread words.

    Of words that equally many texts have, the more frequent ones are kept.
    """
    words = VOCABULARY.words()
    having, often = Counter[int](), Counter[int]()
    for text in texts:
        different, counts = np.unique(text.numbers, return_counts=True)
        having.update(different.tolist())
        often.update(dict(zip(different.tolist(), counts.tolist(), strict=True)))
    found = sorted(words.keys() & having.keys(), key=lambda word: (-having[word], -often[word], words[word]))
    becomes = np.arange(FIRST + len(VOCABULARY.numbers), dtype=np.int32)
    becomes[list(words.keys() - set(found[:UNMASKED]))] = MASKED
    return becomes


def _mark(sentence: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([np.full(ORDER - 1, BEGIN, np.int32), sentence, np.array([END], np.int32)])


Sentences = Sequence[NDArray[np.int32]]


def lambda_g(judged: Sentences, known: Sentences, drawn: Sequence[Sentences]) -> float:
    """Return log10 of the chance of sentences under the known model over that under a drawn one, mean over these."""
    sets = [judged, known, *drawn]
    index = index_texts([sentence for each in sets for sentence in each], ORDER)
    borders = index.starts[np.cumsum([0, *map(len, sets)])]
    chances = log_chances(index.grams, index.size, borders)
    return float(np.mean(chances[0] - chances[1:]))


@njit
def log_chances(grams, size, borders):
    """Return (sets - 1,): log10 of the chance of the first set of sentences under the Kneser-Ney model of each other.

    grams[k, place] is the number of the (k + 1)-gram that ends at a place, the same for the same tokens. With h the
    last k tokens before a token, c the count of h and the token, n the sum of these counts over tokens, d their number:

        p_{k+1} = (max(c - D, 0) + D d p_k) / n     for k = 0 .. order - 1, as long as n > 0
        p_0 = 1 / (different tokens of the model, end mark and unknown token included)

    A count is that of occurrences at the highest order, below it that of different tokens before the gram. Begin marks
    are context only.
    """
    order = len(grams)
    found = np.zeros(len(borders) - 2)
    for model in range(len(found)):
        count, total, kinds = np.zeros(size, np.int32), np.zeros(size + 1, np.int32), np.zeros(size + 1, np.int32)
        for place in range(borders[model + 1], borders[model + 2]):
            if grams[0, place] == BEGIN:
                continue
            for k in range(order - 1, -1, -1):
                gram = grams[k, place]
                context = grams[k - 1, place - 1] + 1 if k else 0
                count[gram] += 1
                total[context] += 1
                if count[gram] > 1:
                    break  # it was seen: no shorter one has another token before it
                kinds[context] += 1
        for place in range(borders[0], borders[1]):
            if grams[0, place] == BEGIN:
                continue
            chance = 1 / (kinds[0] + 1)
            for k in range(order):
                context = grams[k - 1, place - 1] + 1 if k else 0
                if total[context] == 0:
                    break
                seen = max(count[grams[k, place]] - DISCOUNT, 0.0)
                chance = (seen + DISCOUNT * kinds[context] * chance) / total[context]
            found[model] += np.log10(chance)
    return found


RIVALS: Mapping[str, Callable[[Draw], Scores]] = {
    "tfidf_s_norm": score_tfidf_s_norm,
    "general_imposters": score_general_imposters,
    "cosine_delta": score_cosine_delta,
    "lambda_g": score_lambda_g,
}


if __name__ == "__main__":
    main()
