"""Read, label and split a graph file in a separate process, so that its memory is that of the reading alone.

See `chordless.bench.start`.
"""

from __future__ import annotations

import json
import time

from chordless.graphs.load import load_graph
from kernels_ti import ChordlessError, Options
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.memory import peak_memory


def main(file: str) -> None:
    """Print one line of JSON: the seconds and the memory in bytes, or the error.

    Parameters
    ----------
    file : str
        The graph file.
    """
    try:
        start = time.perf_counter()
        space = SearchSpace(load_graph(file).graph, Options())
        space.batches()
        print(json.dumps({"seconds": time.perf_counter() - start, "memory": peak_memory()}))
    except ChordlessError as error:
        print(json.dumps({"error": str(error)}))
