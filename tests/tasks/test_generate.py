"""Text from a head: capitals and accents restored, the same seed the same text, refusals, the command."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.author_models.evidence import restore
from byline.author_models.model import AuthorModel, train_authors
from byline.author_models.model_file import write_author_model
from byline.cli.rolling import generate_command
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.errors import SettingsError
from byline.settings.settings import Settings, read_pool
from byline.tasks import generate as generation
from byline.tasks.generate import generate
from programs import run
from samples import phrase

AUTHORS = tuple(f"Author {number:02d}" for number in range(12))


def learn(*members: Settings, authors: int = 3, length: int = 800) -> AuthorModel:
    documents = [
        Document(f"{author}-{salt}", phrase(author, length, salt)) for author in range(authors) for salt in (0, 1)
    ]
    return train_authors(make_author_corpus(documents, [AUTHORS[place // 2] for place in range(2 * authors)]), members)


@pytest.fixture(scope="module")
def model() -> AuthorModel:
    return learn(*read_pool("authors").rows)


@pytest.fixture(scope="module")
def network() -> AuthorModel:
    return learn(Settings(hidden=5, sub_epochs=2))


class TestRestoring:
    @pytest.mark.parametrize(
        ("marked", "plain"),
        [
            ("¹anna and ¹otto", "Anna and Otto"),
            ("cafe\u0301", "café"),
            ("¹e\u0301mile", "Émile"),
            ("the end ¹", "the end "),
            ("¹", ""),
            ("¹¹a", "A"),
            ("¹ a", " a"),
            ("¹μη\u0342νιν", "Μῆνιν"),
            ("", ""),
        ],
    )
    def test_marked_letters_are_capitals_and_accents_are_on_their_letters(self, marked: str, plain: str) -> None:
        assert restore(marked) == plain


class TestGenerating:
    def test_the_same_seed_gives_the_same_text_another_seed_another(self, model: AuthorModel) -> None:
        assert generate(model, AUTHORS[0], 200, seed=3) == generate(model, AUTHORS[0], 200, seed=3)
        assert generate(model, AUTHORS[0], 200, seed=3) != generate(model, AUTHORS[0], 200, seed=4)

    @pytest.mark.parametrize("length", [1, 7, 300])
    def test_it_is_as_long_as_was_asked(self, model: AuthorModel, network: AuthorModel, length: int) -> None:
        assert len(generate(model, AUTHORS[1], length)) == length
        assert len(generate(network, AUTHORS[1], length)) == length

    def test_a_head_goes_on_in_its_author_s_words(self, model: AuthorModel) -> None:
        for author in range(3):
            words = generate(model, AUTHORS[author], 400, temperature=0.5).split()[1:-1]
            own = set(re.sub(r"\d", "7", phrase(author, 4000)).split())  # as heads see digits
            assert sum(word in own for word in words) > 0.9 * len(words)

    def test_a_low_temperature_picks_what_is_usual_whatever_the_seed(self, model: AuthorModel) -> None:
        """However low: the least chances are powers that a float can't hold."""
        for temperature in (0.001, 1e-6):
            texts = {generate(model, AUTHORS[0], 100, seed, temperature) for seed in range(4)}
            assert len(texts) == 1

    def test_a_high_temperature_strays(self, model: AuthorModel) -> None:
        own = set(phrase(0, 4000).split())

        def share(temperature: float) -> float:
            words = generate(model, AUTHORS[0], 600, 1, temperature).split()
            return sum(word in own for word in words) / len(words)

        assert share(10) < 0.3 < 0.9 < share(0.5)

    def test_a_network_writes_with_the_letters_that_it_knows(self, network: AuthorModel) -> None:
        text = generate(network, AUTHORS[2], 200, seed=1)
        assert text == generate(network, AUTHORS[2], 200, seed=1)
        assert text != generate(network, AUTHORS[2], 200, seed=2)
        assert set(text.lower()) <= set(network.encoders[0].alphabet.symbols)

    def test_where_there_is_a_network_it_is_drawn_from_that(self) -> None:
        both = learn(Settings(engine="ngram"), Settings(hidden=5, sub_epochs=2))
        alone = learn(Settings(engine="ngram"))
        assert generate(both, AUTHORS[0], 200) != generate(alone, AUTHORS[0], 200)


class TestChances:
    def test_those_of_n_grams_are_worked_by_hand(self) -> None:
        """An order of 2; before: a, in texts of a and b alone. The alphabet may hold more."""
        counts = generation._count([np.array([0, 1, 0, 0], np.int32)], 2)
        assert counts == {(): {0: 3, 1: 1}, (0,): {1: 1, 0: 1}, (1,): {0: 1}}


class TestRefusals:
    def test_an_unknown_author_and_some_who_are_there(self) -> None:
        large = learn(Settings(engine="vectors"), authors=12, length=100)
        with pytest.raises(SettingsError) as error:
            generate(large, "Nobody")
        assert error.value.where == "author"
        assert f"{', '.join(AUTHORS[:10])} ..." in str(error.value.remedy)

    def test_a_model_that_predicts_nothing(self) -> None:
        with pytest.raises(SettingsError, match="no member") as error:
            generate(learn(Settings(engine="vectors"), Settings(engine="ngram", mask="topic")), AUTHORS[0])
        assert "{engines}" in str(error.value.remedy)

    @pytest.mark.parametrize(
        "values",
        [
            *({"length": length, "temperature": 11.0} for length in (0, 100_001, -3)),  # the first limit is named
            *({"temperature": temperature} for temperature in (0.0, 11.0, float("nan"))),
            {"seed": -1},
        ],
    )
    def test_values_out_of_range(self, model: AuthorModel, values: dict[str, Any]) -> None:
        with pytest.raises(SettingsError) as error:
            generate(model, AUTHORS[0], **values)
        assert error.value.where == next(iter(values))


class TestCommand:
    def test_text_is_printed(self, model: AuthorModel, tmp_path: Path) -> None:
        file = tmp_path / "m.byline"
        write_author_model(file, model)
        expected = generate(model, AUTHORS[1], 60, seed=2)
        words = ("generate", file, "--author", AUTHORS[1], "--length", "60", "--seed", "2")
        assert run(*words).stdout == expected + "\n"
        found = json.loads(run(*words, "--json").stdout)
        assert found == {"author": AUTHORS[1], "seed": 2, "temperature": 1.0, "text": expected}
        assert inspect.signature(generate_command).parameters["length"].default == generation.LENGTH
        refused = run("generate", file, "--author", "Nobody")
        assert refused.returncode == 1
        assert "Nobody" in refused.stderr
