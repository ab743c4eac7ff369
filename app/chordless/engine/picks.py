"""One best cycle, or cycles drawn at random, in the engine: the calls of the library, with reports and checkpoints."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from chordless.cycles.base import CycleOutput
from chordless.engine.boundary import Ended, Task
from chordless.engine.keeper import totals_of
from chordless.engine.pick_clock import PickCheckpoints, PickClock
from chordless.graphs.vertex_names import json_name
from chordless.protocol.events import Reason
from chordless.protocol.orders import USUAL_SAMPLE, RunCommand
from chordless.runs.checkpoint import Checkpoint
from chordless.words.numbers import decimals
from kernels_ti import BestCycle, CycleShares, Method, Snapshot, TimeIsUpError
from kernels_ti.boundary.in_one_call import in_time
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.values.saved import SavedCount, SavedPick, SavedResult
from kernels_ti.boundary.values.weights import Weights
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlocks
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import NoOrderError
from kernels_ti.state import Rows, populations


class Pick:
    """A search for a best cycle, or a sample; the `pick` of the command says which, its `limit` how many.

    `output` is a folder of parts, cut back to its place in the checkpoint; `opened` opens another output, which is
    written from the beginning; with a keeper, once all cycles are in a checkpoint.
    """

    def __init__(
        self,
        task: Task,
        weights: Weights | None,
        output: CycleOutput | None,
        opened: Callable[[], AbstractContextManager[CycleOutput]] | None,
    ) -> None:
        self._command, self._channel, self._space, self._keeper = task.command, task.channel, task.space, task.keeper
        command, checkpoint = task.command, task.checkpoint
        self._weights, self._opened = weights, opened
        self._was = checkpoint if checkpoint is not None and checkpoint.finished else None
        self._output = output
        self._by_length: Counter[int] = Counter()
        self._wants_shares = command.per_vertex or command.per_edge
        # Shares take one way more and the way back.
        self._clock = PickClock(task, ways=3 if self._wants_shares else 1)
        saved = None if checkpoint is None else checkpoint.along
        assert not isinstance(saved, SavedCount)
        # A pick by a search has no orders; it begins again.
        self._goes_on = saved is not None and bool(saved.orders)
        self._keeping = PickCheckpoints(task, self._clock, saved, output)
        self._how: dict[str, Any] = {
            "arch": command.arch,
            "threads": command.threads,
            "order": task.order,
            "tell_order": task.tell_order,
            "watch": self._clock,
            "report": self._clock.take_step,
            "keeping": self._keeping,
        }

    @property
    def _method(self) -> Method:
        """The method: only a way along a boundary has states that can be kept, and goes on from one."""
        if self._keeper is None or (self._command.method == "auto" and not self._goes_on):
            return self._command.method
        return "boundary"

    @property
    def listed(self) -> int:
        """Cycles in the output."""
        return 0 if self._output is None else self._output.listed

    def go(self) -> Ended:
        """Pick cycles, or until a timeout or a stop.

        Raise DeviceError or OptionError if the arch that was asked for is not there or has no such kernels. Raise
        NoOrderError if no order has boundaries that a state can hold, SizeError if the states do not fit into the
        memory.
        """
        with contextlib.ExitStack() as stack:
            if self._keeper is not None:
                stack.enter_context(self._keeper.telling_the_way_on("the run", self._keeping.keep))
            try:
                if self._clock.orders.look() is not None:
                    raise GivenUp
                return self._best() if self._command.pick == "longest" else self._sample(stack)
            except (GivenUp, TimeIsUpError) as error:
                self._keeping.keep()
                return self._picked(self._clock.reason, error.best if isinstance(error, TimeIsUpError) else None)
            except BrokenPipeError:
                return self._picked("closed")
            except NoOrderError as error:
                if self._keeper is None:
                    raise
                option = "-o DIR/" if self._command.output_format == "parts" else "--checkpoint"
                raise NoOrderError(f"{error}, which keeps no checkpoint: leave {option} out") from error

    def _best(self) -> Ended:
        from kernels_ti.longest import best_in

        command = self._command
        k = 1 if command.limit is None else command.limit
        best = best_in(self._space, self._weights, k=k, shortest=command.shortest, method=self._method, **self._how)
        vertices = {name: v for v, name in enumerate(self._space.graph.names)}
        cycles = Cycles.of_lists([[vertices[name] for name in cycle] for cycle in best.cycles])
        self._count(cycles)
        if self._was is None:
            self._write(cycles)
        # A search has no blocks that are done, and neither has a tree.
        done = self._keeping.done or (SavedResult(None, best.ways, best.states),)
        self._keep(SavedPick(self._keeping.orders or (), done, None))
        return self._picked("complete", best)

    def _sample(self, stack: contextlib.ExitStack) -> Ended:
        from kernels_ti.boundary.sample import Draws, check_fit, in_cycle_order
        from kernels_ti.sample import draws_in

        command, space = self._command, self._space
        if self._was is not None:
            return self._told_again(self._was, stack)
        k = USUAL_SAMPLE if command.limit is None else command.limit
        is_kept_first = self._keeper is not None and self._output is None
        pieces: list[Cycles] = []
        if is_kept_first:
            check_fit(k, space)
        with draws_in(space, k, command.seed, method=self._method, **self._how) as draws:
            total, width = draws.total, draws.width
            if not is_kept_first:
                self._open(stack)
            rows = self._output is not None and self._output.rows
            for piece in draws.rounds() if rows else in_cycle_order(space.graph, draws.rounds()):
                self._count(piece)
                if is_kept_first and isinstance(piece, Cycles):
                    pieces.append(piece)
                elif not self._write(piece):
                    raise GivenUp
        shares = self._shares(draws.planned if isinstance(draws, Draws) else None) if self._wants_shares else None
        states = max(self._clock.states, default=0)
        self._keep(SavedPick(self._keeping.orders or (), (SavedResult(None, total, states),), None), pieces)
        if is_kept_first:
            self._write_all(pieces, stack)
        boundary = {"width": width, "states": states, "drawn_from": total}
        return self._picked("complete", boundary=boundary, shares=shares)

    def _told_again(self, was: Checkpoint, stack: contextlib.ExitStack) -> Ended:
        """Return a sample that is drawn; write it, unless it is there."""
        assert isinstance(was.along, SavedPick)
        self._by_length.update(was.state.cycles_by_length)
        if self._output is None:
            self._write_all(was.unwritten, stack)
        (drawn,) = was.along.done
        width = plan_of(self._space, orders=was.along.orders).width if was.along.orders else 0
        boundary = {"width": width, "states": drawn.states, "drawn_from": drawn.ways}
        return self._picked("complete", boundary=boundary)

    def _shares(self, planned: PlannedBlocks | None) -> CycleShares:
        """Count the cycles through each vertex and edge: again by a search, where there is no plan."""
        from kernels_ti.boundary.participation import shares_of
        from kernels_ti.sample_by_search import shares_by_search

        if planned is None:
            how = {name: self._how[name] for name in ("arch", "threads", "watch")}
            return shares_by_search(self._space, **how)
        with in_time(self._clock, "the shares were counted") as enough:
            means = Means(host_budget(self._command.memory), enough, self._clock.take_share)
            return shares_of(self._space, planned, means)

    def _open(self, stack: contextlib.ExitStack) -> None:
        if self._opened is not None and self._output is None:
            self._output = stack.enter_context(self._opened())

    def _write_all(self, pieces: Sequence[Cycles | Rows], stack: contextlib.ExitStack) -> None:
        self._open(stack)
        if not all(map(self._write, pieces)):
            raise GivenUp

    def _write(self, piece: Cycles | Rows) -> bool:
        """Write cycles to the output, if there is one; return False if the work is to end."""
        if self._output is None:
            return True
        if self._output.rows and isinstance(piece, Cycles):
            piece = piece.rows(self._space.graph.n)
        return self._output.write(piece, self._clock.too_late)

    def _count(self, piece: Cycles | Rows) -> None:
        self._by_length.update((piece.lengths if isinstance(piece, Cycles) else populations(piece)).tolist())

    def _keep(self, saved: SavedPick, unwritten: Sequence[Cycles] = ()) -> None:
        """Write the last checkpoint, unless it is there."""
        self._clock.send_report()
        if self._keeper is not None and self._was is None:
            snapshot = self._picked("complete").snapshot
            self._channel.send(
                self._keeper.write(
                    totals_of(snapshot), snapshot.cycles, self._output, unwritten=unwritten, along=saved, finished=True
                )
            )

    def _picked(
        self,
        reason: Reason,
        best: BestCycle | None = None,
        boundary: dict[str, int] | None = None,
        shares: CycleShares | None = None,
    ) -> Ended:
        is_complete = reason == "complete"
        snapshot = Snapshot(
            cycles_by_length=dict(sorted(self._by_length.items())),
            cycles=self._by_length.total(),
            seconds=self._clock.all_seconds if self._was is None else self._was.state.seconds,
            share=1.0 if is_complete else self._clock.share_done,
            finished=is_complete,
        )
        if best is not None:
            boundary = {"width": best.width, "states": best.states, "ways": best.ways}
        return Ended(reason, snapshot, boundary or {"width": 0, "states": 0}, best, shares)


def best_object(best: BestCycle | None, command: RunCommand) -> dict[str, Any] | None:
    """Return a best cycle, or path, as `Finished` has it; None without one."""
    if best is None:
        return None
    found: dict[str, Any] = {
        "cycle": [json_name(vertex) for vertex in best.cycle],
        "weight": None if best.weight is None else decimals(best.weight),
        "ways": best.ways,
        "method": best.method,
    }
    if command.limit is not None:
        weights = [None] * len(best.cycles) if command.weight is None else map(decimals, best.weights)
        found["cycles"] = [
            {"cycle": list(map(json_name, cycle)), "weight": weight}
            for cycle, weight in zip(best.cycles, weights, strict=True)
        ]
    if best.no_longer_than is not None:
        found["no_longer_than"] = best.no_longer_than
    return found
