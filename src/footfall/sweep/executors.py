"""Where shards are computed: processes on this machine, or a Dask cluster.

All of it is optional; without it they are computed here.
"""

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor

from footfall.sweep.errors import SweepError

LOOPBACK = "127.0.0.1"
#: Each worker computes with one thread: N workers then use N cores, and no more.
THREADS_PER_WORKER = 1


@contextlib.contextmanager
def local_workers(workers: int) -> Iterator[Executor]:
    """A Dask cluster of this machine, reachable from this machine only, gone at the end."""
    from dask import config
    from distributed import Client, LocalCluster

    quiet = {
        "distributed.worker.memory.terminate": False,  # a large shard is no leak
        "distributed.comm.timeouts.connect": "30s",
    }
    options = {
        "processes": True,
        "host": LOOPBACK,
        "dashboard_address": None,
        "silence_logs": logging.CRITICAL,
    }
    with config.set(quiet), contextlib.ExitStack() as stack:
        with _deaf_children():
            cluster = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, **options)
            )
        client = stack.enter_context(Client(cluster, set_as_default=False))
        yield client.get_executor(pure=False)


@contextlib.contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C.

    It is ours to tell them, without a stack trace from each. One that comes meanwhile is heard at
    the end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    # Threads and processes made in here inherit it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def remote_scheduler(address: str, patience: float = 10.0) -> Iterator[Executor]:
    """The workers of a Dask scheduler that someone else started.

    It must answer within `patience` seconds.
    """
    from distributed import Client

    try:
        client = Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SweepError(
            f"--scheduler {address}: no Dask scheduler answers there ({type(error).__name__})."
            " Start one with `dask scheduler`, workers with `dask worker ADDRESS --nthreads 1`."
        ) from None
    with client, _no_traces():
        yield client.get_executor(pure=False)


@contextlib.contextmanager
def _no_traces() -> Iterator[None]:
    """Of a line that is cut Dask logs a stack trace; the error of the sweep says what it means."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def require_worker_count(workers: int) -> None:
    """At least one, and not so many that the machine chokes."""
    most = 4 * (os.cpu_count() or 1)
    if not 1 <= workers <= most:
        raise SweepError(
            f"--workers {workers}: this machine takes 1 to {most} workers ({os.cpu_count()} cores)."
        )
