"""The commands of a client to the engine: a first one that says what to do, and others during a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kernels_ti import Method
from kernels_ti.choices import Parity

CycleFormat = Literal["text", "jsonl", "npy", "parts", "parquet", "arrow"]
FORMATS: dict[str, CycleFormat] = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".npy": "npy",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
"""How cycles are written to a file, by its suffix."""

Pick = Literal["all", "longest", "sample"]
USUAL_SAMPLE = 1000  # Cycles of a sample for which nobody says how many


@dataclass(frozen=True, kw_only=True)
class GraphOrder:
    """How a graph is read, and which of its cycles are wanted."""

    graph: str = field(kw_only=False)  # A file, a spec such as ``grid:7x10``, or ``-`` for standard input
    # `file_format`, `simplify`, `directed`, `multigraph` and `encoding`: how the graph is read; see
    # `chordless.graphs.load.load_graph`.
    file_format: str | None = None
    simplify: bool = False
    directed: bool = False
    multigraph: bool = False
    encoding: str | None = None
    overlap: bool = False  # The graph is the niche overlap graph of a food web, see `chordless.graphs.overlap`
    types: str | None = None  # The partition with the types of its vertices, see `read_food_web` there
    arch: str = "auto"  # Where the search runs; see `kernels_ti.estimate.device_choice.device_for`
    # `min_length`, `max_length` and `parity`: see `kernels_ti.run.Options`.
    min_length: int = 3
    max_length: int | None = None
    parity: Parity | None = None
    # How to count; for the second see `kernels_ti.boundary.count`, for the last one `kernels_ti.method`. A listing, and
    # a batch's graph with a limit, is searched.
    method: Method = "search"
    # Stop once this many cycles were found in all sessions together; a listing ends after exactly this many. For a
    # sample it is the number of cycles, by default 1,000, and with the pick ``longest`` that of the best ones.
    limit: int | None = None
    # Stop this many seconds after the search began or was resumed. Writing a listing counts, pauses do not.
    timeout: float | None = None


@dataclass(frozen=True)
class RunCommand(GraphOrder):
    """The first line to the engine: search this graph."""

    name: ClassVar[str] = "run"
    # When the user's program began, by ``time.monotonic()``, one clock for all processes; setup is measured from there.
    program_start: float
    threads: int | None = None  # Of the CPU
    expansion: str = "two-ended"  # See `kernels_ti.run.Options`
    # Where the cycles go: None counts only, ``-`` is standard output, anything else a file, or with the format
    # ``parts`` the run directory.
    output: str | None = None
    output_format: CycleFormat = "text"  # How a cycle is written
    memory: int | None = None  # Bytes that the search may take; see `kernels_ti.device.memory`
    part: tuple[int, int] | None = None  # (i, N): search only part i of N, counted from 1
    # The run directory that keeps the checkpoint, see `chordless.runs.directory`; None keeps none.
    checkpoint: str | None = None
    checkpoint_every: float = 60.0  # Seconds between two checkpoints
    # Continue the run in that directory with the copy of the graph that it holds; `graph` and how it is read are
    # ignored.
    resume: bool = False
    # Which cycles are listed: all, one that is longest, or cycles drawn uniformly at random; the last two along a
    # boundary. A sample may be told with `per_vertex` and `per_edge`.
    pick: Pick = "all"
    seed: int = 0  # The same seed draws the same sample
    shortest: bool = False  # With the pick ``longest``: the shortest one, or the lightest
    # With the pick ``longest``, on the command line only: a file of weights; the heaviest cycle is picked.
    weight: str | None = None
    total_only: bool = False  # With the method boundary: count all lengths together, in less time and memory
    # `order` and `write_order`: with the method boundary: a file with the order of the vertices, and one that gets the
    # order which is used.
    order: str | None = None
    write_order: str | None = None
    # `through` and `avoid`: names of the vertices that every cycle must contain, and of those that none may contain. A
    # string may hold several names, separated by commas.
    through: Sequence[str] = ()
    through_edges: Sequence[str] = ()  # Edges that every cycle must contain, such as ``3-4``
    avoid: Sequence[str] = ()
    avoid_edges: Sequence[str] = ()  # Edges that no cycle has, such as ``3-4``
    # `per_vertex` and `per_edge`: count the cycles through each vertex, or each edge. Not for a listing of all cycles,
    # and not for a search with checkpoints.
    per_vertex: bool = False
    per_edge: bool = False
    reading_timeout: float | None = None  # Give up if the graph has not been read after this many seconds
    # Search on the workers of this cluster, see `kernels_ti.cluster.address.check_cluster`; None searches here.
    cluster: str | None = None
    gpus: Sequence[int] | None = None  # With a local cluster: the GPUs that get a worker each; None for all
    symmetry: bool = False  # Count up to the automorphisms of the graph, see `kernels_ti.symmetry`
    # List the cycles in a defined order, at the end of the search; without a checkpoint or a limit.
    in_order: bool = False
    proof: bool = False  # Make a hash of all cycles, see `kernels_ti.proof`; in a search only
    # Chordless paths instead of cycles: from the first of two vertices to the second, or all of the graph. Every number
    # and every line is then one of paths; lengths are vertices of a path, from 2 on.
    between: tuple[()] | tuple[str, str] = ()
    all_pairs: bool = False

    @property
    def is_of_paths(self) -> bool:
        """Whether chordless paths are asked for, not cycles."""
        return bool(self.between) or self.all_pairs

    @property
    def thing(self) -> str:
        """The word for one of what is asked for: ``path``, or ``cycle``."""
        return "path" if self.is_of_paths else "cycle"

    @property
    def lister(self) -> str:
        """The command that lists what is asked for: ``chordless paths``, or ``chordless list``."""
        return "chordless paths" if self.is_of_paths else "chordless list"


@dataclass(frozen=True)
class ProbeCommand:
    """The first line to the engine: open and test this arch; with `rates` measure how fast it goes along a boundary."""

    name: ClassVar[str] = "probe"
    arch: str
    rates: bool = False
    threads: int | None = None


@dataclass(frozen=True)
class BatchJob(GraphOrder):
    """The work of a batch on one input, which may hold many graphs."""

    listing: str | None = None  # The folder that gets a file of cycles for each graph; None counts only
    listing_format: CycleFormat = "text"  # How a cycle is written there
    with_graph: bool = False  # Each line has the graph itself, as a line of graph6

    @property
    def reading(self) -> str | None:
        """The options that tell how graphs are read, with spaces between; None if they are read as they are."""
        options = ("simplify", "directed", "multigraph", "overlap")
        return " ".join(option for option in options if getattr(self, option)) or None


@dataclass(frozen=True)
class BatchCommand:
    """The first line to the engine: count, or list, the cycles of many graphs."""

    name: ClassVar[str] = "batch"
    jobs: tuple[BatchJob, ...]  # In the order of the lines
    # The file of JSON lines, one for each graph. Existing lines for the same graphs with the same options are kept.
    output: str
    # `threads` and `memory`: see `RunCommand`.
    threads: int | None = None
    memory: int | None = None
    fail_fast: bool = False  # End at the first graph that fails
    # Ranges of places in the batch (the second number is exclusive) where an earlier engine died, and the reason. A
    # range of one place is a failed graph. A longer range is searched in smaller pieces until the graph is found.
    crashes: tuple[tuple[int, int, str], ...] = ()
    # `cluster` and `gpus`: count on the workers of a cluster, each graph on one of them; see `RunCommand`.
    cluster: str | None = None
    gpus: Sequence[int] | None = None


@dataclass(frozen=True)
class StopCommand:
    """End at the next slice and report what was found."""

    name: ClassVar[str] = "stop"


@dataclass(frozen=True)
class PauseCommand:
    """Pause after this slice. While paused, the engine answers commands and reports nothing else."""

    name: ClassVar[str] = "pause"


@dataclass(frozen=True)
class GoCommand:
    """Continue after a pause."""

    name: ClassVar[str] = "go"


@dataclass(frozen=True)
class CheckpointCommand:
    """Write a checkpoint after this slice. A run without a directory writes a line to its log instead."""

    name: ClassVar[str] = "checkpoint"


Command = RunCommand | BatchCommand | ProbeCommand | StopCommand | PauseCommand | GoCommand | CheckpointCommand
