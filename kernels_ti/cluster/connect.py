"""Reach a Dask cluster: one that is there already, or one of this machine's own cores and GPUs."""

from __future__ import annotations

import importlib.util
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from kernels_ti.cluster.address import LOCAL, check_cluster
from kernels_ti.cluster.local import LocalWorkers, be_quiet
from kernels_ti.errors import EngineError, OptionError

if TYPE_CHECKING:
    from distributed import Client

    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.cluster.driver import ClusterRun

_SECONDS_TO_CONNECT = 20
_SECONDS_BETWEEN_LOOKS = 0.02


@contextmanager
def started(
    where: str | None,
    gpus: Sequence[int] | None = None,
    *,
    arch: str = "auto",
    threads: int | None = None,
    tell: Callable[[str], None] = be_quiet,
) -> Iterator[str | LocalWorkers | None]:
    """Start the workers of a local cluster, which then get ready while the driver does something else.

    Parameters
    ----------
    where, gpus
        See `kernels_ti.cluster.address.check_cluster`.
    arch, threads, tell
        See `kernels_ti.cluster.local.LocalWorkers`.

    Yields
    ------
    LocalWorkers, str or None
        What `connected` connects to: `where` if it names no local cluster.

    Raises
    ------
    OptionError
        If `where` names no cluster.
    DeviceError
        If a GPU of `gpus` does not exist.
    """
    if where is not None:
        check_cluster(where, gpus)
    if where is None or not LOCAL.fullmatch(where):
        yield where
        return
    _require_dask()
    with LocalWorkers(where, gpus, arch=arch, threads=threads, tell=tell) as workers:
        yield workers


@contextmanager
def connected(where: str | LocalWorkers, gpus: Sequence[int] | None = None) -> Iterator[Client]:
    """Connect to a cluster, or start a local one; it ends with the block.

    Parameters
    ----------
    where, gpus
        See `kernels_ti.cluster.address.check_cluster`; or workers that are started already.

    Yields
    ------
    distributed.Client

    Raises
    ------
    OptionError
        If `where` names no cluster, or Dask is not installed.
    DeviceError
        If a GPU of `gpus` does not exist.
    EngineError
        If the scheduler cannot be reached.
    """
    with ExitStack() as stack:
        if isinstance(where, str):
            reached = stack.enter_context(started(where, gpus))
            assert reached is not None
            where = reached
        _require_dask()
        from distributed import Client

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        target: dict[str, Any]
        untyped: Any = Client
        if isinstance(where, LocalWorkers):
            target = {"address": stack.enter_context(_scheduler())}
            where.join(target["address"])
        elif where.endswith(".json"):
            if not os.path.isfile(where):
                raise OptionError(f"there is no scheduler file {where}")
            target = {"scheduler_file": where}
        else:
            target = {"address": where}
        try:
            client = untyped(**target, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # a TypeError where Dask has no certificates for tls://
            raise EngineError(f"the scheduler {where} cannot be reached: {error or type(error).__name__}") from error
        stack.enter_context(client)
        while isinstance(where, LocalWorkers) and not client.nthreads():
            where.require_some()
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        yield client


@contextmanager
def held_run(cluster: Any, space: SearchSpace, **more: Any) -> Iterator[ClusterRun]:
    """Make a run on a cluster, and wait for its first workers; it ends with the block.

    Parameters
    ----------
    cluster : distributed.Client, str or LocalWorkers
        A name is connected to, or started, for this run; see `kernels_ti.cluster.address.check_cluster`.
    space : SearchSpace
    **more
        Further parameters of `kernels_ti.cluster.driver.ClusterRun`.

    Raises
    ------
    ChordlessError
        If the cluster cannot be reached, or none of its workers can be used.
    """
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.cluster.workers import DaskWorkers

    with ExitStack() as stack:
        if isinstance(cluster, str):
            start = {name: more[name] for name in ("arch", "threads", "tell") if name in more}
            cluster = stack.enter_context(started(cluster, **start))
        named = isinstance(cluster, (str, LocalWorkers))
        client = stack.enter_context(connected(cluster)) if named else cluster
        run = ClusterRun(space, DaskWorkers(client), **more)
        try:
            run.wait_for_workers()
            yield run
        finally:
            run.close()


@contextmanager
def _scheduler() -> Iterator[str]:
    """Run a scheduler in this process, which only processes of this machine can reach; yield its address."""
    from distributed import Scheduler, SpecCluster

    options = {"host": "127.0.0.1", "port": 0, "dashboard": False}
    untyped: Any = SpecCluster
    with untyped(
        workers={},
        scheduler={"cls": Scheduler, "options": options},
        silence_logs=logging.CRITICAL,
        asynchronous=False,
    ) as cluster:
        yield cluster.scheduler_address


def _require_dask() -> None:
    if importlib.util.find_spec("distributed") is None:
        raise OptionError("a cluster needs Dask: pip install 'chordless[cluster]'")
