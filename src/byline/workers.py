"""Work handed to this machine's cores (joblib) or to a Dask cluster; each result comes as soon as it is there."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from byline.errors import RunError
from byline.runs import versions

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")
Tell = Callable[[Any], None]
Work = Callable[[Task, Tell, Callable[[], None]], Result]
"""Does a job; tells how far it is, and calls a function now and then that raises when it is to stop."""

CONNECT = 5
"""Seconds within which a scheduler must answer."""
PATIENCE = 2
"""Seconds after which it is said that a job can't be stopped at once."""
BETWEEN = 0.5
"""Seconds between two messages of a job that runs elsewhere."""


def run_here(work: Work[Task, Result], jobs: Sequence[Task], workers: int, tell: Tell) -> Generator[Result, None, None]:
    """Results as they come, of jobs that run in threads side by side; closing it stops the jobs at their next step."""
    if not jobs:
        return
    from joblib import Parallel, delayed

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
            return work(job, tell, proceed)
        finally:
            with left:
                running -= 1
                left.notify_all()

    # Never fewer than two threads: with one joblib would use the caller's, and Ctrl-C while compiled code hands its
    # result to Python ends in a crash; threads other than the main one are never interrupted.
    at_once = min(workers, len(jobs))
    # one BLAS thread for each job: faster for products this small, and the same sums on every run
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
                warnings.simplefilter("ignore")  # joblib would say that some results are not used
                results.close()
            with left:  # nothing goes on behind the caller's back
                if not left.wait_for(lambda: not running, PATIENCE):
                    log.warning("stopping as soon as the step is done that is under way")
                    left.wait_for(lambda: not running)


def run_on_cluster(
    work: Work[Task, Result],
    jobs: Sequence[Task],
    address: str,
    tell: Tell,
    encode: Callable[[Any], Any],
    decode: Callable[[Any], Any],
    matters: Callable[[Any], bool],
) -> Generator[Result, None, None]:
    """Results as they come, of jobs that run on a Dask cluster; a job whose worker dies runs again elsewhere.

    `cluster_size` tells beforehand whether the cluster can do them.
    What a job tells travels as the plain values that `encode` makes of it: what `matters`, and the rest now and then.
    """
    if not jobs:
        return
    distributed = _load_dask()
    topic = f"byline-{uuid.uuid4().hex}"
    with _connect(address) as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        client.subscribe_topic(topic, lambda event: tell(decode(event[1]["told"])))
        # nobody else holds the futures: a result that was taken need not be kept by the cluster, or made again
        submitted = (client.submit(_run_there, work, job, topic, encode, matters, pure=False) for job in jobs)
        for future in distributed.as_completed(submitted, loop=client.loop):
            try:
                result = future.result()
            except distributed.KilledWorker as error:
                raise RunError(f"{address}: one training made several workers die ({error}); see their logs") from None
            except (CancelledError, OSError) as error:
                raise RunError(
                    f"{address}: the cluster is gone ({error}); what is done is kept, --resume goes on"
                ) from None
            future.release()
            yield result


def cluster_size(address: str) -> int:
    """How many jobs a Dask cluster does at once; one that can't do any is refused."""
    with _connect(address) as client:
        _check_workers(client, address)
        return sum(client.nthreads().values())


def _connect(address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        return _load_dask().Client(address, timeout=CONNECT, set_as_default=False)
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
        if odd := [name for name in here if there[name] != here[name]]:
            log.warning("%s has another version of %s: last digits may differ", machine, ", ".join(odd))


def _run_there(
    work: Work[Task, Result], job: Task, topic: str, encode: Callable[[Any], Any], matters: Callable[[Any], bool]
) -> Result:
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
        if matters(event) or time.monotonic() - told > BETWEEN:
            told = time.monotonic()
            worker.log_event(topic, {"told": encode(event)})  # Dask adds keys of its own

    return work(job, tell, proceed)
