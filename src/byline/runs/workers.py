"""Jobs on this machine's cores (joblib) or on a Dask cluster. Results are yielded as they come."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from byline.errors import RESUME, RunError
from byline.runs.plan import package_versions
from byline.runs.progress import TrainingProgress

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
