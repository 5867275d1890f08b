"""Where the figures of attributions, rolled texts and clusters come from: members, versions, settings and hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from byline.documents import Document
from byline.runs import maker
from byline.settings import ADDITIVE, Settings
from byline.storage import sha256


def member_values(
    members: Sequence[Settings], seed: int | None, weights: Sequence[float] | None = None
) -> list[dict[str, Any]]:
    """The members of a report, those that add up marked; `weights` are what each counts."""
    return [
        {
            "member": number,
            "name": member.engine_name,
            "seed": seed,
            "weight": None if weights is None else round(weights[number - 1], 4),
            "additive": member.engine in ADDITIVE,
            "made_by": maker(),
        }
        for number, member in enumerate(members, start=1)
    ]


def origin_values(
    about: Mapping[str, Any],
    members: Sequence[Settings],
    seed: int | None,
    texts: Mapping[str, Sequence[Document]],
    facts: Mapping[str, object],
) -> dict[str, Any]:
    """What it takes to make the figures again, beside what `about` says already, which comes first.

    `texts` are by what they are, `facts` further settings by their names in words.
    """
    found: dict[str, Any] = {
        "settings": {str(number): asdict(member) for number, member in enumerate(members, start=1)},
        "texts": {
            what: [[each.name, sha256(each.text.encode(errors="surrogatepass"))] for each in own]
            for what, own in texts.items()
            if own
        },
        "facts": [[name, value] for name, value in facts.items()],
    }
    if seed is not None:
        found["seed"] = seed
    return {**found, **about.get("provenance", {})}


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, with a number after those that were there before."""
    found: dict[str, None] = {}
    for name in names:
        number, own = 1, name
        while own in found:
            number += 1
            own = f"{name} ({number})"
        found[own] = None
    return list(found)
