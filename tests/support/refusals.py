"""Errors that a user can fix, as tests ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from byline.errors import BylineError

Refusal = TypeVar("Refusal", bound=BylineError)


def refusal(error: type[Refusal], function: Callable[..., Any], *arguments: Any, **options: Any) -> Refusal:
    """Return the error that a call raises; it says where the fault is and what to do."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert caught.value.where
    assert caught.value.remedy
    return caught.value
