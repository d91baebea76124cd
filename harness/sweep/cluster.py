"""The same work on a Dask cluster: batches go to its workers, whose deaths the scheduler makes good.

The cluster needs nothing but this package and, with a candidate, the candidate's file at the same path: all bytes of
sessions travel with the work, so no folder is shared. Nothing that a session contains decides what is run.
"""

from __future__ import annotations

import gc
import sys
import time
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Final, cast

from harness import __version__
from harness.model.errors import HarnessError, UsageError
from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row
from harness.sweep.spread import Died, Work
from harness.sweep.units import Unit
from harness.sweep.work import judge_all

if TYPE_CHECKING:
    from distributed import Future as DaskFuture

NO_WORKERS_SECONDS: Final = 60.0
"""How long a cluster may be without any worker before the sweep gives up."""
_CONNECT_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 5.0
_ASIDE: Final = {"distributed.admin.large-graph-warning-threshold": "1GB", "distributed.comm.compression": False}
"""A batch is as large as its sessions are, and sessions pack so fast that packing them for the wire costs more."""


def versions() -> tuple[str, str]:
    """What must be the same on every worker for results to be: the harness and its Python."""
    return __version__, ".".join(map(str, sys.version_info[:2]))


class Cluster:
    """The workers of the scheduler at `address`, such as ``tcp://127.0.0.1:8786``."""

    def __init__(self, address: str, candidate: Candidate | None, work: Work = judge_all) -> None:
        """Raises UsageError when Dask is not installed, nobody answers, or a worker has another harness."""
        try:
            import dask  # noqa: PLC0415 # optional
            from distributed import Client  # noqa: PLC0415
        except ImportError as error:
            raise UsageError(
                "a cluster needs Dask, which is not installed",
                hint="install the extra: card-acceptance-harness[cluster]",
            ) from error
        self._candidate = candidate
        self._work = work
        self._address = address
        self._count, self._counted = 1, -_LOOK_SECONDS
        self._settings = dask.config.set(_ASIDE)
        self._settings.__enter__()  # type: ignore[no-untyped-call] # Dask publishes few types
        refusal = ""
        try:
            self._client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call] # Dask publishes few types
        except (OSError, ValueError) as error:
            refusal = str(error) or type(error).__name__
        if refusal:
            # What is left of the client must be taken apart here: done while another one starts, Dask waits for itself.
            gc.collect()
            self._settings.__exit__(None, None, None)  # type: ignore[no-untyped-call] # Dask publishes few types
            raise UsageError(f"no Dask scheduler answers there: {refusal}", where=address)

    def __enter__(self) -> Cluster:
        try:
            self.wait_for(1)
            self._same_everywhere()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.close()  # type: ignore[no-untyped-call] # Dask publishes few types
        self._settings.__exit__(None, None, None)  # type: ignore[no-untyped-call] # Dask publishes few types

    def _same_everywhere(self) -> None:
        try:
            found = self._client.run(versions)
        except Exception as error:
            raise UsageError(
                f"a worker cannot run the harness: {error}", where=self._address, hint="install it on every worker"
            ) from error
        for worker, version in found.items():
            if tuple(version) != versions():
                raise UsageError(
                    f"the worker has harness {version[0]} on Python {version[1]}, not {' on Python '.join(versions())}",
                    where=str(worker),
                )

    @property
    def count(self) -> int:
        """Threads of all workers, as of some seconds ago: each of them works on one batch at a time."""
        if time.monotonic() - self._counted > _LOOK_SECONDS:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
            self._count = max(1, sum(int(worker["nthreads"]) for worker in workers.values()))
            self._counted = time.monotonic()
        return self._count

    def wait_for(self, count: int) -> None:
        """Waits until the cluster has so many workers. Raises UsageError when it does not come to have them."""
        try:
            self._client.wait_for_workers(count, timeout=NO_WORKERS_SECONDS)
        except TimeoutError as error:
            missing = "no workers" if count == 1 else f"less than {count} workers"
            raise UsageError(f"the scheduler has {missing}", where=self._address) from error

    def submit(self, units: list[Unit], *, alone: bool) -> Future[list[Row]]:  # noqa: ARG002 # see `rows`
        future = self._client.submit(self._work, units, self._candidate, pure=False)
        return cast("Future[list[Row]]", future)

    def rows(self, future: Future[list[Row]]) -> list[Row]:
        """Waits for a batch, which the scheduler gives to another worker when one dies.

        A batch that was there when several workers died is taken for the cause: then Died is raised, and its units
        come back one by one.
        """
        from distributed import KilledWorker  # noqa: PLC0415

        theirs = cast("DaskFuture[list[Row]]", future)
        without = time.monotonic()
        while True:
            try:
                rows = theirs.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                if self._client.scheduler_info(n_workers=-1)["workers"]:
                    without = time.monotonic()
                elif time.monotonic() - without > NO_WORKERS_SECONDS:
                    raise HarnessError("the cluster has lost all of its workers", where=self._address) from None
            except KilledWorker:
                raise Died from None
            except (CancelledError, OSError) as error:
                raise HarnessError(
                    f"the cluster is gone: {type(error).__name__}", where=self._address, hint="--resume goes on later"
                ) from error
            else:
                theirs.release()  # type: ignore[no-untyped-call] # else its sessions stay until cycles are looked for
                return rows
