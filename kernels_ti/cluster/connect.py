"""Reach a Dask cluster: one that is there already, or one of this machine's own cores and GPUs."""

from __future__ import annotations

import importlib.util
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kernels_ti.cluster.address import ADDRESS, LOCAL, check_cluster
from kernels_ti.cluster.local import LocalWorkers, be_quiet
from kernels_ti.errors import EngineError, OptionError

if TYPE_CHECKING:
    from distributed import Client

    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.cluster.driver import ClusterRun

_SECONDS_TO_CONNECT, _SECONDS_TO_CLOSE = 20, 1
_SECONDS_BETWEEN_LOOKS = 0.02
_MOST_FILE_BYTES = 1 << 20  # the file of a scheduler has a few hundred


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

    The parameters are those of `kernels_ti.cluster.local.LocalWorkers`. Yields what `connected` connects to: `where` if
    it names no local cluster. An OptionError is raised if `where` names no cluster, a DeviceError if a GPU of `gpus`
    does not exist.
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
def connected(where: str | LocalWorkers) -> Iterator[Client]:
    """Connect to a cluster or to workers that are started already, or start a local one; it ends with the block.

    An OptionError is raised if `where` names no cluster, or Dask is not installed; an EngineError if the scheduler
    cannot be reached.
    """
    with ExitStack() as stack:
        if isinstance(where, str):
            reached = stack.enter_context(started(where))
            assert reached is not None
            where = reached
        _require_dask()
        from distributed import Client

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        untyped: Any = Client
        security = None
        if isinstance(where, LocalWorkers):
            from kernels_ti.cluster.servers import invitation, local_scheduler, new_security

            security = new_security()
            address = stack.enter_context(local_scheduler(security))
            where.join(invitation(address, security))
        else:
            address = _address_in(where) if where.endswith(".json") else where
        client = untyped.__new__(untyped)
        try:
            client.__init__(address, security=security, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except BaseException as error:
            # A client that is open when it is collected closes itself, and hangs if a loop of Dask starts meanwhile.
            # One that failed early has no loop yet: nothing to close.
            with suppress(TimeoutError, AttributeError):
                client.close(timeout=_SECONDS_TO_CLOSE)
            if not isinstance(
                error, (OSError, ValueError, TypeError)
            ):  # a TypeError: Dask has no certificates for tls://
                raise
            raise EngineError(f"the scheduler {address} cannot be reached: {error or type(error).__name__}") from error
        stack.enter_context(client)
        while isinstance(where, LocalWorkers) and not client.nthreads():
            where.require_some()
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        yield client


@contextmanager
def held_run(cluster: Any, space: SearchSpace, **more: Any) -> Iterator[ClusterRun]:
    """Make a run on a cluster, and wait for its first workers; it ends with the block.

    A name is connected to, or started, for this run. `more` are further parameters of
    `kernels_ti.cluster.driver.ClusterRun`. A ChordlessError is raised if the cluster cannot be reached, or none of its
    workers can be used.
    """
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.cluster.workers import DaskWorkers

    if not isinstance(cluster, (str, LocalWorkers)):
        _require_dask()
        from distributed import Client

        if not isinstance(cluster, Client) or cluster.asynchronous:
            raise OptionError(
                "a cluster is a text such as 'local', or a distributed.Client that is not asynchronous, "
                f"not {cluster!r}"
            )
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


def _address_in(file: str) -> str:
    """Return the address that a scheduler wrote to its file; an OptionError if this is no such file."""
    try:
        with open(file, "rb") as opened:
            written = json.loads(opened.read(_MOST_FILE_BYTES))
    except FileNotFoundError as error:
        raise OptionError(f"there is no scheduler file {file}") from error
    except OSError as error:
        raise OptionError(f"cannot read the scheduler file {file}: {error.strerror}") from error
    except (ValueError, RecursionError):
        written = None
    address = written.get("address") if isinstance(written, dict) else None
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise OptionError(f"{file} is no file of a Dask scheduler: it has no address such as tcp://HOST:8786")
    return address


def _require_dask() -> None:
    if importlib.util.find_spec("distributed") is None:
        raise OptionError("a cluster needs Dask: pip install 'chordless[cluster]'")
