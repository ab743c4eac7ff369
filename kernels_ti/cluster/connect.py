"""Reach a Dask cluster: one that is there already, or one of this machine's own cores and GPUs."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from kernels_ti.cluster.address import LOCAL, check_cluster
from kernels_ti.device.machine import cores
from kernels_ti.errors import DeviceError, EngineError, OptionError

if TYPE_CHECKING:
    from distributed import Client

    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.cluster.driver import ClusterRun

CORES_PER_WORKER = 16
"""Most cores of one local worker, unless the number of workers is given."""

_SECONDS_TO_CONNECT = 20
_SECONDS_TO_RESTART = 600
_SECONDS_TO_LIST_GPUS = 10


@contextmanager
def connected(where: str, gpus: Sequence[int] | None = None) -> Iterator[Client]:
    """Connect to a cluster, or start a local one; it ends with the block.

    Parameters
    ----------
    where, gpus
        See `kernels_ti.cluster.address.check_cluster`.

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
    check_cluster(where, gpus)
    try:
        from distributed import Client
    except ImportError as error:
        raise OptionError("a cluster needs Dask: pip install 'chordless[cluster]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        local = LOCAL.fullmatch(where)
        target: dict[str, Any]
        untyped: Any = Client
        if local:
            target = {"address": stack.enter_context(_local_cluster(int(local[1]) if local[1] else None, gpus))}
        elif where.endswith(".json"):
            if not os.path.isfile(where):
                raise OptionError(f"there is no scheduler file {where}")
            target = {"scheduler_file": where}
        else:
            target = {"address": where}
        try:
            client = untyped(**target, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f"the scheduler {where} cannot be reached: {error or type(error).__name__}") from error
        yield stack.enter_context(client)


@contextmanager
def held_run(cluster: Any, space: SearchSpace, gpus: Sequence[int] | None = None, **more: Any) -> Iterator[ClusterRun]:
    """Make a run on a cluster, and wait for its first workers; it ends with the block.

    Parameters
    ----------
    cluster : distributed.Client or str
        A name is connected to, or started, for this run; see `kernels_ti.cluster.address.check_cluster`.
    space : SearchSpace
    gpus : sequence of int or None
        See `kernels_ti.cluster.address.check_cluster`.
    **more
        Further parameters of `kernels_ti.cluster.driver.ClusterRun`.

    Raises
    ------
    ChordlessError
        If the cluster cannot be reached, or none of its workers can be used.
    """
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.cluster.workers import DaskWorkers

    with connected(cluster, gpus) if isinstance(cluster, str) else nullcontext(cluster) as client:
        run = ClusterRun(space, DaskWorkers(client), **more)
        try:
            run.wait_for_workers()
            yield run
        finally:
            run.close()


@contextmanager
def _local_cluster(workers: int | None, gpus: Sequence[int] | None) -> Iterator[Any]:
    """Start a scheduler in this process, and a worker process for each GPU or each group of cores."""
    import dask
    from distributed import Nanny, Scheduler, SpecCluster

    chosen = _gpus(gpus) if workers is None else ()
    count = len(chosen) or workers or -(-cores() // CORES_PER_WORKER)
    threads = max(cores() // count, 1)
    each: dict[str, Any] = {
        "nthreads": threads,
        "host": "127.0.0.1",
        "dashboard": False,
        "memory_limit": "auto",
        "silence_logs": logging.CRITICAL,
    }
    specs = {
        number: {
            "cls": Nanny,
            # It is set before the worker loads Taichi, so each worker sees one GPU only.
            "options": {**each, "env": {"CUDA_VISIBLE_DEVICES": str(chosen[number])}} if chosen else each,
        }
        for number in range(count)
    }
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "port": 0, "dashboard": False}}
    untyped: Any = SpecCluster
    # Its nanny starts a killed worker again, which takes longer on a busy machine than Dask waits by default.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": _SECONDS_TO_RESTART})
    with (
        patient,
        untyped(workers=specs, scheduler=scheduler, silence_logs=logging.CRITICAL, asynchronous=False) as cluster,
    ):
        yield cluster


def _gpus(wanted: Sequence[int] | None) -> tuple[int, ...]:
    """Return the GPUs to use; all that NVIDIA's driver lists, unless some are wanted.

    Raises
    ------
    DeviceError
        If a wanted GPU is not there.
    """
    there = _listed_gpus()
    if wanted is None:
        return there
    missing = [number for number in wanted if number not in there]
    if missing:
        have = f"it has {', '.join(map(str, there))}" if there else "it has none"
        raise DeviceError(f"this machine has no GPU {missing[0]}: {have}")
    return tuple(wanted)


def _listed_gpus() -> tuple[int, ...]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    asked = [program, "--query-gpu=index", "--format=csv,noheader"]
    try:
        listed = subprocess.run(asked, capture_output=True, text=True, timeout=_SECONDS_TO_LIST_GPUS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()  # the driver does not answer: there is no GPU to use
    there = [int(line) for line in listed.split() if line.isdigit()]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return tuple(there)
    chosen = [int(name) for name in visible.split(",") if name.strip().isdigit()]
    return tuple(number for number in chosen if number in there)
