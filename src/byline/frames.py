"""Results as tables of pandas, where that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from byline.errors import BylineError


def to_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """A pandas.DataFrame of some rows, with these columns even where there are none."""
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise BylineError("pandas is not installed; pip install 'byline[pandas]'") from None
    return pandas.DataFrame([dict(row) for row in rows], columns=list(columns))
