"""Attributions as a table, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from byline.attribution.attributing import Attribution


def to_csv(found: Sequence[Attribution]) -> str:
    """A line for each text and author, the most probable first; rank 0 is none of these."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["document", "rank", "author", "probability", "bits"])
    for each in found:
        if each.none:
            writer.writerow([each.document, 0, "", f"{each.none:.6f}", ""])
        for rank, candidate in enumerate(each.ranking, start=1):
            bits = "" if candidate.bits is None else f"{candidate.bits:.6f}"
            writer.writerow([each.document, rank, candidate.author, f"{candidate.probability:.6f}", bits])
    return table.getvalue()
