"""Signs of the fonts Symbol and Wingdings, which name them by places of their own, as characters."""

from __future__ import annotations

import unicodedata

# From 0x20 and 0xA0 on; a space where there is nothing, or only a part of a sign.
_LOW = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑           ⟩∫"
# What word processors put for :) and -->, for lists and for ticks.
_WINGDINGS = {0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0xA7: "▪", 0xDF: "←", 0xE0: "→", 0xFC: "✓"}
FONTS = {
    "symbol": {
        begin + place: sign
        for begin, signs in ((0x20, _LOW), (0xA0, _HIGH))
        for place, sign in enumerate(signs)
        if sign != " "
    },
    "wingdings": _WINGDINGS,
}
PRIVATE = range(0xF000, 0xF100)
"""Where such fonts are put in Unicode."""


def find_sign(font: str, code: str) -> str:
    """The character that a font has at a place, given in hexadecimal digits; nothing where it can't be told."""
    try:
        place = int(code[:8], 16)
    except ValueError:
        return ""
    table = FONTS.get(font.strip().casefold())
    if table is not None or place in PRIVATE:
        return (table or {}).get(place - PRIVATE.start if place in PRIVATE else place, "")
    if "dings" in font.casefold() or not 0x20 < place <= 0x10FFFF:
        return ""
    return "" if unicodedata.category(chr(place)) in ("Cc", "Cn", "Co", "Cs") else chr(place)
