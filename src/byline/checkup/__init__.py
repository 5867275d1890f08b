"""What can be said of an installation: what is there, what is missing, how fast it is, whether it answers as it should.

Nothing here is wanted by any other part; a part that is broken is a finding, never an error. So the parts that load
others are themselves loaded only when those are known to be well.
"""

from __future__ import annotations

from collections.abc import Iterator

from byline.checkup.findings import Clock, Section
from byline.checkup.installation import look_at_extras, look_at_machine, look_at_packages, look_at_places


def check_up(clock: Clock) -> Iterator[Section]:
    """One section after another, the quick ones first; what needs a package that is broken is not tried."""
    yield look_at_machine()
    packages = look_at_packages()
    yield packages
    yield look_at_extras()
    if packages.broken:
        return
    from byline.checkup import selftest

    yield look_at_places()
    tested = selftest.try_answers()
    yield tested
    if not tested.broken:
        from byline.checkup import speed

        yield speed.measure_speed(clock)
