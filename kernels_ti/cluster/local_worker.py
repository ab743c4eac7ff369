"""The process of a local cluster's worker: a Dask worker that ends with its driver."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import kernels_ti.cluster.on_worker  # noqa: F401 - the first request would load it
from kernels_ti import taichi_door
from kernels_ti.cluster.local import JOINED, Plan
from kernels_ti.cluster.servers import invited_worker
from kernels_ti.errors import DeviceError

SECONDS_TO_END = 8.0  # Seconds after which a worker whose driver has gone ends in the middle of its lease

_LIKELY_VICTIM = "500"
"""Where memory runs out, Linux kills the process with the highest number: a worker can be replaced, its driver not."""

logging.getLogger("distributed").setLevel(logging.CRITICAL)


def work(plan: Plan) -> None:
    """Open the device, wait for the invitation on standard input, and work until the driver has gone."""
    taichi_door.hurry()
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write(_LIKELY_VICTIM)
    threading.Thread(target=_open_device, args=(plan,), daemon=True).start()
    invitation = sys.stdin.readline()
    if invitation:
        asyncio.run(_be_worker(invitation, plan.threads))


def _open_device(plan: Plan) -> None:
    from kernels_ti.device.device import cuda_is_here, open_device

    with suppress(DeviceError):  # the worker says so when it is to prepare itself for a search
        if plan.arch == "auto":
            cuda_is_here()
        else:
            open_device(plan.arch, threads=plan.device_threads if plan.arch == "cpu" else None)


async def _be_worker(invitation: str, threads: int) -> None:
    """Be a worker of a scheduler until the driver, or the scheduler, has gone."""
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_wait_for_end, args=(loop, gone), daemon=True).start()
    ends = [asyncio.ensure_future(each) for each in (_serve(invitation, threads), gone.wait())]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    with suppress(asyncio.CancelledError):
        await ends[0]


async def _serve(invitation: str, threads: int) -> None:
    """Reach the scheduler and work for it; a worker that is cancelled stops to seek the scheduler, or leaves it."""
    # Dask's own limit of memory would hold back the leases of a large search.
    async with invited_worker(invitation, nthreads=threads, memory_limit=0, local_directory=os.getcwd()) as worker:
        Path(JOINED).touch()
        await worker.finished()


def _wait_for_end(loop: asyncio.AbstractEventLoop, gone: asyncio.Event) -> None:
    sys.stdin.read()
    with suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(gone.set)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
