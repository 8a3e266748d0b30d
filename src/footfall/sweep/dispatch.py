"""Shards given out to an executor and what came back, also when workers die."""

import concurrent.futures
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future

from footfall.sweep.errors import SweepError
from footfall.sweep.evaluate import Means, ShardReport, Workshop, evaluate_shard
from footfall.sweep.meter import Meter

MOST_LOSSES = 3  #: workers that may die over one shard before the sweep gives up


def run_on(
    executor: Executor | Callable[[], Executor],
    workshop: Workshop,
    missing: list[int],
    means: Means,
    meter: Meter,
) -> list[ShardReport]:
    """On an executor; a pool we made ourselves is made again when it breaks."""
    dispatch = _Dispatch(workshop, missing, means, meter)
    if isinstance(executor, Executor):
        try:
            return dispatch.drain(executor)
        except concurrent.futures.BrokenExecutor:
            raise SweepError(
                "a worker of the pool died, and the pool with it. Finished shards are kept; resume"
                " the sweep."
            ) from None
    while True:
        pool = executor()
        try:
            return dispatch.drain(pool)
        except concurrent.futures.BrokenExecutor:
            dispatch.count_losses()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class _Dispatch:
    """Work given out and what came back.

    It outlives the executor: what was lost with one is given to the next.
    """

    def __init__(self, workshop: Workshop, missing: Iterable[int], means: Means, meter: Meter):
        self.sweep, self.means, self.meter = workshop.sweep, means, meter
        self.waiting = deque(missing)
        self.given: dict[Future, int] = {}
        self.losses: Counter[int] = Counter()
        self.reports: list[ShardReport] = []

    def drain(self, executor: Executor) -> list[ShardReport]:
        """Give out all work and wait for it."""
        # Only as much as a pool has workers: when it breaks, what was given out is what was being
        # computed.
        room = getattr(executor, "_max_workers", None)
        try:
            while self.waiting or self.given:
                while self.waiting and (room is None or len(self.given) < room):
                    number = self.waiting[0]
                    future = executor.submit(
                        evaluate_shard,
                        str(self.sweep.folder),
                        self.sweep.manifest.id,
                        number,
                        self.means,
                    )
                    self.given[future] = self.waiting.popleft()
                done, _ = concurrent.futures.wait(
                    self.given, return_when=concurrent.futures.FIRST_COMPLETED
                )
                for future in done:
                    self._take(future)
        except concurrent.futures.BrokenExecutor:
            raise  # what was given out is counted as lost, or given out again
        except BaseException:
            for future in self.given:
                future.cancel()
            raise
        return self.reports

    def _take(self, future: Future) -> None:
        number = self.given[future]
        try:
            report = future.result()
        except concurrent.futures.BrokenExecutor:
            raise
        except concurrent.futures.CancelledError:
            raise SweepError(
                f"the scheduler gave up shard {number}: the connection was lost or the cluster was"
                " closed. Finished shards are kept; go on with --resume."
            ) from None
        except Exception as error:
            del self.given[future]
            if type(error).__name__ == "KilledWorker":  # Dask's own count of lost workers is full
                raise SweepError(_lost([number])) from None
            raise
        del self.given[future]
        self.reports.append(report)
        self.meter.add(report.rows)

    def count_losses(self) -> None:
        """A pool broke: give its work out again, unless a shard seems to be the cause."""
        for future, number in list(self.given.items()):
            if future.done() and future.exception() is None:  # finished just before
                self._take(future)
            else:
                self.losses[number] += 1
                self.waiting.appendleft(number)
        self.given.clear()
        fatal = [number for number, times in self.losses.items() if times >= MOST_LOSSES]
        if fatal:
            raise SweepError(
                _lost(sorted(fatal))
                + " If you run this from a script of your own: one that starts processes must guard"
                ' its main part with: if __name__ == "__main__":'
            )


def _lost(shards: list[int]) -> str:
    named = ", ".join(map(str, shards))
    return (
        f"a worker died {MOST_LOSSES} times while computing shard {named} (killed, or out of"
        " memory?). Finished shards are kept; go on with --resume, with fewer workers or smaller"
        " shards if memory ran out."
    )
