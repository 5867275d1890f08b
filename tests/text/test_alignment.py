"""The way back from what the model reads to the original text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from byline.text.encoder import TextEncoder, align_text, fit_encoder, values_by_character
from byline.text.normalize import Mask, TextRules

PROSE = [
    "The old man said: \u201cNo!\u201d \u2014 and went\u2026 home.",
    "Ge\u0301o\u0301rge \u00c9l\u00e8ve \ufb01nds 12\u00bd \u03b1\u03cd\u03c1\u03b9\u03bf; \u01c4 \u1fc1 \uac00\ud55c",
]
KINDS = [
    (language, rules, mask)
    for language in ("english", "greek", "")
    for rules in ("paper", "scripts")
    for mask in ("none", "topic")
]
tricky = st.text(
    st.sampled_from(
        "aAbé\u0301\u0323\u0344Ωώ´ \t\n\r\u00a0\u2026\u201c'[]--__77½\ufb01\u01c5"
        "\u4e2d\u3042한\u1100\u1161\u2603*\u00b9\ufeff\u00ad"
    ),
    max_size=60,
)


def encoder_of(language: str, rules: TextRules, mask: Mask, *texts: str) -> TextEncoder:
    return fit_encoder([*PROSE, *texts], language, rules, mask)


class TestSymbols:
    @pytest.mark.parametrize(("language", "rules", "mask"), KINDS)
    @given(text=st.one_of(tricky, st.text(max_size=60)), learned=st.booleans())
    @example(text="a" + "\u0301\u0323" * 40 + "b", learned=True)
    @example(text="aaaaaaaaa\u0345\u0301 ......... \u1fe4", learned=True)
    @example(text="\u03a9\u0314\u0301\u0345 a\u0301\u0301x", learned=True)
    def test_they_are_those_that_the_model_reads(
        self, language: str, rules: TextRules, mask: Mask, text: str, learned: bool
    ) -> None:
        encoder = encoder_of(language, rules, mask, *([text] if learned else []))
        symbols, places = align_text(encoder, text)
        np.testing.assert_array_equal(symbols, encoder.encode(text))
        assert symbols.dtype == np.int32
        assert ((places >= 0) & (places < max(len(text), 1))).all()
        if text.isascii():  # elsewhere marks on a letter may change places
            assert (np.diff(places) >= 0).all()


class TestPlaces:
    def test_capitals_accents_and_what_is_dropped(self) -> None:
        text = "  \u00c9l\u00e8ve\u2026\u00ad  Non\u2603!"
        encoder = encoder_of("french", "paper", "none")
        seen = encoder.alphabet.decode(encoder.encode(text))
        assert seen == "\u00b9e\u0301le\u0300ve... \u00b9non!"
        assert [text[place] for place in align_text(encoder, text).places] == list(
            "\u00c9\u00c9\u00c9l\u00e8\u00e8ve\u2026\u2026\u2026 NNon!"
        )

    def test_a_mask_stands_where_its_letter_does(self) -> None:
        encoder = fit_encoder(["The cat, the", "the dog the the", "the emu"], "english", "paper", "topic")
        masked = TextEncoder("english", "paper", "topic", encoder.alphabet, frozenset({"the"}))
        text = "The C\u0301at, the cat"
        assert [text[place] for place in align_text(masked, text).places][4:8] == list(" CCa")

    def test_runs_keep_their_beginning(self) -> None:
        encoder = fit_encoder(["abcaaaaaaaaab"], "english", "paper", "none")
        assert align_text(encoder, "caaaaaaaaab").places.tolist() == [0, 1, 2, 3, 4, 5, 10]

    def test_values_go_back_and_none_is_lost(self) -> None:
        text = "  \u00c9l\u00e8ve\u2026  Non\u2603!"
        encoder = encoder_of("french", "paper", "none")
        values = np.random.default_rng(0).normal(size=len(encoder.encode(text)))
        back = values_by_character(encoder, text, values)
        assert back.shape == (len(text),)
        assert back.sum() == pytest.approx(values.sum(), abs=1e-12)
        assert back[2] == pytest.approx(values[:3].sum())
        assert back[[0, 1, text.index("\u2603")]].tolist() == [0, 0, 0]
        with pytest.raises(ValueError, match="values for"):
            values_by_character(encoder, text, values[1:])
