"""Functions made into machine code by numba, kept on disk for the next run: beside the package, or in the user's cache.

Kept code is a convenience: where it is stale, damaged, or can't be read or written, the function is compiled anew.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

log = logging.getLogger(__name__)


def compiler(*sources: Path) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles; what it keeps is good as long as the bytes of `sources` stay the same."""
    stamp = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()

    def compile_function(function: Callable[..., Any]) -> Any:
        compiled: Any = njit(fastmath=True, nogil=True, error_model="numpy")(function)
        try:
            compiled._cache = _Cache(function, stamp)
        except RuntimeError:  # neither beside the package nor in the user's cache folder can a file be written
            log.debug("%s: nowhere to keep compiled code", function.__name__)
        return compiled

    return compile_function


class _Cache(FunctionCache):
    """numba's cache, but no fault in it is an error, and it knows all the sources that the code was made from."""

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept for this signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything
            log.debug("%s: kept code can't be used: %s", self._name, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code; where a damaged index is in the way, replace it."""
        for attempt in (super().save_overload, self._save_anew):
            try:
                attempt(sig, data)
                return
            except Exception as error:  # a damaged file can raise anything
                log.debug("%s: code can't be kept: %s", self._name, error)

    def _save_anew(self, sig: Any, data: Any) -> None:
        self.flush()
        super().save_overload(sig, data)
