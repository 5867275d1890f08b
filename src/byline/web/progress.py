"""How far a run is, told to the server now and then."""

from __future__ import annotations

import threading
import time

from byline.execution import Event
from byline.tally import Tally
from byline.web.telling import Tell

PAUSE = 0.2
"""Seconds between two words on it."""


class RunProgress(Tally):
    """Tells how far a run is, now and then."""

    def __init__(self, tell: Tell) -> None:
        super().__init__(time.monotonic)
        self._tell = tell
        self._lock = threading.Lock()
        self._told = 0.0

    def hear(self, event: Event) -> None:
        """Count an event; several threads may bring one at once."""
        with self._lock:
            super().hear(event)
            if time.monotonic() - self._told > PAUSE or self.share >= 1:
                self._told = time.monotonic()
                done = min(self.kept + self.done + 1, self.jobs)
                stage = f"member {done} of {self.jobs}" if self.jobs else "planning"
                self._tell(share=round(self.share, 3), stage=stage, left=self.seconds_left)
