"""Jobs on this machine's cores (joblib) or on a Dask cluster, and the events that tell how far they are."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from byline.engines.protocol import Progress
from byline.errors import RESUME, RunError
from byline.runs.plan import Plan, package_versions

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")
SendEvent = Callable[[Any], None]
Work = Callable[[Task, SendEvent, Callable[[], None]], Result]
"""Does a job. It sends events, and now and then calls the last argument, which raises if the job is to stop."""

CONNECT_SECONDS = 5
"""Seconds within which a scheduler must answer."""
STOP_SECONDS = 2
"""Seconds after which a warning says that a job can't be stopped at once."""
EVENT_SECONDS = 0.5
"""Seconds between two events of a job on a cluster."""
MIN_SHARE = 0.01
"""The share of the work that must be done before the rest can be estimated."""


@dataclass(frozen=True)
class Planned:
    """The plan is made. `kept` of its trainings are done already."""

    plan: Plan
    kept: int
    jobs: int


@dataclass(frozen=True)
class TrainingProgress:
    """How far a member is with one language."""

    place: int
    group: int
    language: str
    way: int
    ways: int
    progress: Progress
    seconds: float
    """Since this way of asking began."""

    @property
    def share(self) -> float:
        """The share of the job's trainings that is done, from 0 to 1."""
        return (self.way + (self.progress.sub_epoch + self.progress.share) / self.progress.sub_epochs) / self.ways

    def ends(self) -> bool:
        """Return whether a sub-epoch ends."""
        return self.progress.share >= 1

    def to_values(self) -> dict[str, Any]:
        """Return plain values, to be sent."""
        return asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TrainingProgress:
        """Return the event that was sent."""
        return cls(**{**values, "progress": Progress(**values["progress"])})


@dataclass(frozen=True)
class Finished:
    """A member is done with one language."""

    place: int
    group: int
    language: str
    seconds: float
    bits: float | None
    """Bits per character in the last sub-epoch, or None if the engine does not learn step by step."""


Event = Planned | TrainingProgress | Finished
Report = Callable[[Event], None]
"""A function that is called with each event, from any thread."""


def run_here(
    work: Work[Task, Result], jobs: Sequence[Task], workers: int, send: SendEvent
) -> Generator[Result, None, None]:
    """Run jobs in threads and yield results as they come. Closing the generator stops the jobs at their next step."""
    if not jobs:
        return
    stop = threading.Event()
    running = 0
    left = threading.Condition()

    def proceed() -> None:
        if stop.is_set():
            raise CancelledError

    def run(job: Task) -> Result:
        nonlocal running
        with left:
            running += 1
        try:
            proceed()
            return work(job, send, proceed)
        finally:
            with left:
                running -= 1
                left.notify_all()

    # At least two threads: with one, joblib would use the caller's, and Ctrl-C while compiled code returns to Python
    # crashes. Threads other than the main one are never interrupted.
    at_once = min(workers, len(jobs))
    # One BLAS thread for each job is faster for small products, and gives the same sums on every run.
    with threadpool_limits(limits=1, user_api="blas"):
        parallel = Parallel(
            n_jobs=max(2, at_once),
            backend="threading",
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch=at_once,
        )
        results = parallel(delayed(run)(job) for job in jobs)
        try:
            for result in results:  # noqa: UP028 - `yield from` would close it before the warnings are silenced
                yield result
        finally:
            stop.set()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns about unused results
                results.close()
            with left:  # no job continues after this
                if not left.wait_for(lambda: not running, STOP_SECONDS):
                    log.warning("stopping as soon as the current step is done")
                    left.wait_for(lambda: not running)


def run_on_cluster(
    work: Work[Task, Result], jobs: Sequence[Task], address: str, send: SendEvent
) -> Generator[Result, None, None]:
    """Run jobs on a Dask cluster and yield results as they come. A job whose worker dies runs again elsewhere.

    Call `cluster_size` before, which checks that the cluster can do them. Of the events, ends of sub-epochs are always
    sent, others now and then.
    """
    if not jobs:
        return
    distributed = _load_dask()
    topic = f"byline-{uuid.uuid4().hex}"
    with _connect(address) as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        client.subscribe_topic(topic, lambda event: send(TrainingProgress.from_values(event[1]["values"])))
        # nothing else holds the futures, so the cluster neither keeps nor repeats results that were taken
        submitted = (client.submit(_run_on_worker, work, job, topic, pure=False) for job in jobs)
        for future in distributed.as_completed(submitted, loop=client.loop):
            try:
                result = future.result()
            except distributed.KilledWorker as error:
                raise RunError(
                    f"one training made several workers die ({error})", where=address, remedy="See their logs"
                ) from None
            except (CancelledError, OSError) as error:
                raise RunError(f"the cluster is gone ({error})", where=address, remedy=RESUME) from None
            future.release()
            yield result


def cluster_size(address: str) -> int:
    """Return how many jobs a Dask cluster does at once. Raise RunError if it can't do any."""
    with _connect(address) as client:
        _check_workers(client, address)
        return sum(client.nthreads().values())


def _connect(address: str) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        return _load_dask().Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(
            f"no Dask scheduler answers ({error})", where=address, remedy="Start one, or leave out {cluster}"
        ) from None


def _load_dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise RunError("a cluster needs Dask", remedy="Install it with: pip install 'byline[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    return distributed


def _check_workers(client: Any, address: str) -> None:
    """Raise RunError if a cluster has no workers, or workers that would give other results."""
    if not client.nthreads():
        raise RunError("the cluster has no workers", where=address, remedy=f"Start some with: dask worker {address}")
    here = package_versions()
    try:
        found = {"the scheduler": client.run_on_scheduler(package_versions)}
        found |= {f"worker {worker}": there for worker, there in client.run(package_versions).items()}
    except (ImportError, RuntimeError) as error:
        raise RunError(
            f"a machine of the cluster can't load byline ({error})", where=address, remedy="Install it on all machines"
        ) from None
    for machine, there in found.items():
        if there["byline"] != here["byline"]:
            raise RunError(
                f"has byline {there['byline']}, not {here['byline']} as here",
                where=machine,
                remedy="Install the same version on all machines",
            )
        if odd := [name for name in here if there[name] != here[name]]:
            log.warning("%s has another version of %s: last digits may differ", machine, ", ".join(odd))


def _run_on_worker(work: Work[Task, Result], job: Task, topic: str) -> Result:
    """Run a job on a worker, send its events to a topic, and stop if the job is cancelled."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    last_sent = 0.0
    threadpool_limits(limits=1, user_api="blas")  # not undone: other jobs of this worker want the same

    def proceed() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CancelledError

    def send(event: TrainingProgress) -> None:
        nonlocal last_sent
        if event.ends() or time.monotonic() - last_sent > EVENT_SECONDS:
            last_sent = time.monotonic()
            worker.log_event(topic, {"values": event.to_values()})  # Dask adds keys of its own

    return work(job, send, proceed)


def count_cores() -> int:
    """Return the number of cores that this process may use, also inside a container."""
    cores: int = cpu_count()
    return cores


class ProgressTracker:
    """Count a run's events. Subclasses show them by overriding plan, advance and finish.

    Parameters
    ----------
    clock
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin = clock()
        self.jobs = 0
        self.members = 0
        self.languages = 1
        self.kept = 0
        self.done = 0
        self.shares: dict[tuple[int, int], float] = {}

    def hear(self, event: Event) -> None:
        """Count an event, then show it."""
        if isinstance(event, Planned):
            self.members, self.languages = len(event.plan.members), len(event.plan.groups)
            self.jobs, self.kept = event.jobs, event.kept
            self.plan(event)
        elif isinstance(event, TrainingProgress) and self.shares.get((event.place, event.group)) != 1.0:
            self.shares[event.place, event.group] = event.share
            self.advance(event)
        elif isinstance(event, Finished):
            self.shares[event.place, event.group] = 1.0
            self.done += 1
            self.finish(event)

    def plan(self, event: Planned) -> None:
        """Show that the plan is made."""

    def advance(self, event: TrainingProgress) -> None:
        """Show how far a training is."""

    def finish(self, event: Finished) -> None:
        """Show that a training is done."""

    @property
    def share(self) -> float:
        """The share of this process's work that is done, from 0 to 1."""
        return sum(self.shares.values()) / max(1, self.jobs - self.kept)

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes at the same speed, or None if it is too early to tell."""
        return seconds_left(self._clock() - self.begin, self.share)

    def label(self, event: TrainingProgress | Finished) -> str:
        """Return the name of the training that an event is about."""
        language = f"{event.language}, " if self.languages > 1 else ""
        return f"{language}member {event.place + 1} of {self.members}"


def seconds_left(elapsed: float, done: float, rest: float | None = None) -> float | None:
    """Return the seconds that the rest takes at the same speed, or None if it is too early to tell.

    `done` and `rest` are shares of the work; the rest is all that is not done, unless it is given.
    """
    return None if done <= MIN_SHARE else elapsed / done * (1 - done if rest is None else rest)
