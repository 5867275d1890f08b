"""What speaks against believing an answer, whatever it is: found once, before anything is learnt, and kept with a run.

Very short texts, texts in different languages, passages that both sides share, known texts that repeat each other,
sides of different kinds, a reference population that does not resemble the question. None of them is evidence for
either side, and none changes an answer.
"""

from __future__ import annotations

from byline.cautions.finding import find_cautions
from byline.cautions.values import KINDS, SHORT, Caution, Cautions, Passage

__all__ = ["KINDS", "SHORT", "Caution", "Cautions", "Passage", "find_cautions"]
