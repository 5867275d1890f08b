"""Work handed to this machine's cores (joblib) or to a Dask cluster; each result comes as soon as it is there."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from importlib.metadata import version
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from byline.errors import RunError

log = logging.getLogger(__name__)

Job = TypeVar("Job")
Result = TypeVar("Result")
Tell = Callable[[Any], None]
Work = Callable[[Job, Tell, Callable[[], None]], Result]
"""Does a job; tells how far it is, and calls a function now and then that raises when it is to stop."""

MATTER = ("byline", "numpy", "numba", "scipy")
"""Packages whose versions a result may depend on."""
BETWEEN = 0.5
"""Seconds between two messages of a job that runs elsewhere."""


def run_here(work: Work[Job, Result], jobs: Sequence[Job], workers: int, tell: Tell) -> Iterator[Result]:
    """Results as they come, of jobs that run in threads side by side; closing it stops the jobs at their next step."""
    from joblib import Parallel, delayed

    stop = threading.Event()
    running: set[int] = set()
    left = threading.Condition()

    def proceed() -> None:
        if stop.is_set():
            raise CancelledError

    def run(job: Job) -> Result:
        with left:
            running.add(threading.get_ident())
        try:
            proceed()
            return work(job, tell, proceed)
        finally:
            with left:
                running.discard(threading.get_ident())
                left.notify_all()

    # one BLAS thread for each job: faster for products this small, and the same sums on every run
    with threadpool_limits(limits=1, user_api="blas"):
        parallel = Parallel(
            n_jobs=max(1, min(workers, len(jobs))), backend="threading", return_as="generator_unordered", batch_size=1
        )
        results = parallel(delayed(run)(job) for job in jobs)
        try:
            yield from results
        finally:
            stop.set()
            results.close()
            with left:  # nothing goes on behind the caller's back
                left.wait_for(lambda: not running)


def run_on_cluster(
    work: Work[Job, Result],
    jobs: Sequence[Job],
    address: str,
    tell: Tell,
    encode: Callable[[Any], Any],
    decode: Callable[[Any], Any],
) -> Iterator[Result]:
    """Results as they come, of jobs that run on a Dask cluster; a job whose worker dies runs again elsewhere.

    What a job tells travels as the plain values that `encode` makes of it.
    """
    distributed = _load_dask()
    topic = f"byline-{uuid.uuid4().hex}"
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(f"{address}: no Dask scheduler answers ({error}); start one, or leave out --cluster") from None
    with client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        _check_workers(client, address)
        client.subscribe_topic(topic, lambda event: tell(decode(event[1]["told"])))
        futures = [client.submit(_run_there, work, job, topic, encode, pure=False) for job in jobs]
        for future in distributed.as_completed(futures, loop=client.loop):
            try:
                yield future.result()
            except distributed.KilledWorker as error:
                raise RunError(f"{address}: one training made several workers die ({error}); see their logs") from None


def cluster_size(address: str) -> int:
    """How many jobs a Dask cluster does at once."""
    distributed = _load_dask()
    try:
        with distributed.Client(address, timeout=10, set_as_default=False) as client:
            return sum(client.nthreads().values())
    except (OSError, ValueError) as error:
        raise RunError(f"{address}: no Dask scheduler answers ({error}); start one, or leave out --cluster") from None


def _load_dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise RunError("--cluster needs Dask; install it with: pip install 'byline[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    return distributed


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, or with workers that would give other results."""
    if not client.nthreads():
        raise RunError(f"{address}: the cluster has no workers; start some with: dask worker {address}")
    here = versions()
    try:
        found = {"the scheduler": client.run_on_scheduler(versions)}
        found |= {f"worker {worker}": there for worker, there in client.run(versions).items()}
    except (ImportError, RuntimeError) as error:
        raise RunError(f"{address}: a machine of the cluster can't load byline ({error}); install it on all") from None
    for machine, there in found.items():
        if there["byline"] != here["byline"]:
            raise RunError(f"{machine} has byline {there['byline']}, here is {here['byline']}; install the same on all")
        if odd := [name for name in MATTER if there[name] != here[name]]:
            log.warning("%s has another version of %s: last digits may differ", machine, ", ".join(odd))


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    return {name: version(name) for name in MATTER}


def _run_there(work: Work[Job, Result], job: Job, topic: str, encode: Callable[[Any], Any]) -> Result:
    """On a worker: the job, its messages sent to a topic, given up when nobody wants it any more."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    told = 0.0
    threadpool_limits(limits=1, user_api="blas")  # stays: other jobs of this worker want the same

    def proceed() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CancelledError

    def tell(event: Any) -> None:
        nonlocal told
        if time.monotonic() - told > BETWEEN:
            told = time.monotonic()
            worker.log_event(topic, {"told": encode(event)})  # Dask adds keys of its own

    return work(job, tell, proceed)
