"""Reference populations: texts by other people, to compare a question with."""

from __future__ import annotations

from byline.reference.building import build_reference, read_reference
from byline.reference.folder import is_reference, write_reference
from byline.reference.suitability import (
    FEWEST,
    ProblemCheck,
    ReferenceCheck,
    check_reference,
    languages_of,
    same_language,
)
from byline.reference.texts import LeftOut, Reference, ReferenceText, leave_out_related, related_texts

__all__ = [
    "FEWEST",
    "LeftOut",
    "ProblemCheck",
    "Reference",
    "ReferenceCheck",
    "ReferenceText",
    "build_reference",
    "check_reference",
    "is_reference",
    "languages_of",
    "leave_out_related",
    "read_reference",
    "related_texts",
    "same_language",
    "write_reference",
]
