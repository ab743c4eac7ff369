"""What memory, files and pipes of this machine can take, to compare with what a listing makes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from chordless.bench.process import run_process
from kernels_ti import EngineError

BYTES = 1 << 28
_PIECE = 1 << 25
_RUNS = 3


def bandwidth(folder: Path, threads: int) -> dict[str, float]:
    """Measure how fast bytes reach their place, the best of three runs each.

    Parameters
    ----------
    folder : Path
        Where a file is written, and removed again.
    threads : int
        Threads that copy in memory.

    Returns
    -------
    dict
        Bytes a second: ``memory``, into a new array, copied from another by all threads; ``file``, in pieces of 32 MiB
        without a sync; ``pipe``, from ``head`` to ``wc -l``.
    """
    data = np.random.default_rng(1).integers(0, 1 << 62, BYTES // 8)
    file = folder / "bytes"

    def copy() -> None:
        new = np.empty_like(data)
        parts = zip(np.array_split(new, threads), np.array_split(data, threads), strict=True)
        list(pool.map(lambda part: np.copyto(*part), parts))

    def write() -> None:
        with file.open("wb", buffering=0) as stream:
            for start in range(0, BYTES, _PIECE):
                stream.write(data[start // 8 : (start + _PIECE) // 8].data)

    try:
        with ThreadPoolExecutor(threads) as pool:
            memory = _best(copy)
        return {"memory": memory, "file": _best(write), "pipe": _best(_through_pipe)}
    except OSError as error:
        raise EngineError(f"cannot write {file}: {error.strerror}") from error
    finally:
        file.unlink(missing_ok=True)


def _through_pipe() -> None:
    run_process(["sh", "-c", f"head -c {BYTES} /dev/zero | wc -l"])


def _best(move: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        move()
        seconds.append(time.perf_counter() - began)
    return BYTES / min(seconds)
