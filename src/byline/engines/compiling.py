"""Functions compiled by numba and cached on disk, beside the package or in the user's cache.

Where cached code is stale or damaged, or can't be read or written, the function is compiled again.
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

FLAGS: dict[str, Any] = {"fastmath": True, "nogil": True, "error_model": "numpy", "forceinline": True}
"""Called functions are inlined. Otherwise a process would use whichever version it compiled or read first, and versions
add up sums in different orders: the first run of an installation would differ from later ones in the last digits."""


def compiler(*sources: Path) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles; its cache is valid as long as the bytes of `sources` stay the same."""
    try:
        contents = b"".join(source.read_bytes() for source in (*sources, Path(__file__)))
    except OSError:  # installed without sources, or in an archive
        plain: Callable[[Callable[..., Any]], Any] = njit(**FLAGS)
        return plain
    stamp = hashlib.sha256(contents).hexdigest()

    def compile_function(function: Callable[..., Any]) -> Any:
        compiled: Any = njit(**FLAGS)(function)
        try:
            compiled._cache = _Cache(function, stamp)
        except (RuntimeError, OSError):  # neither beside the package nor in the user's cache can a file be written
            log.debug("%s: nowhere to cache compiled code", function.__name__)
        return compiled

    return compile_function


class _Cache(FunctionCache):
    """numba's cache, but its faults are no errors, and it depends on all sources that the code was made from."""

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        # the stamp is in the names too: an index never leads to a file that was made from other sources
        self._cache_file = _Files(self._cache_path, f"{self._impl.filename_base}-{stamp[:16]}", stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code cached for this signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything
            log.debug("%s: cached code can't be used: %s", self._name, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the code, replacing an index that is damaged."""
        for attempt in (super().save_overload, self._save_anew):
            try:
                attempt(sig, data)
                return
            except Exception as error:  # a full disk or a damaged index
                log.debug("%s: code can't be cached: %s", self._name, error)

    def _save_anew(self, sig: Any, data: Any) -> None:
        self.flush()
        super().save_overload(sig, data)


class _Files(IndexDataCacheFile):
    """numba's two files, the one with the code under a checksum: damaged code would not raise but crash."""

    def _save_data(self, name: str, data: Any) -> None:
        super()._save_data(name, data)
        path = Path(self._data_path(name))
        content = path.read_bytes()
        with self._open_for_write(path) as file:  # numba stops reading where its own data ends
            file.write(content + hashlib.sha256(content).digest())

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[:-32]).digest() != content[-32:]:
            raise ValueError(f"{name} is damaged")
        return super()._load_data(name)
