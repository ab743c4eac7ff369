"""What `auto` chooses, with and without a driver for CUDA."""

import pytest
from oracles import grid

from kernels_ti import OptionError, Options, count_cycles
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate import device_choice as choice
from kernels_ti.estimate.device_choice import device_for


def chosen(graph, monkeypatch: pytest.MonkeyPatch, *, driver: bool, **more) -> str:
    monkeypatch.setattr(choice, "cuda_is_here", lambda: driver)
    monkeypatch.setattr(choice, "open_device", lambda arch, threads=None: arch)
    monkeypatch.setattr(choice, "PROBING_SECONDS", 60.0)  # also on a busy machine the walk reaches its end
    return device_for(graph, **more)


@pytest.mark.parametrize(
    ("rows", "columns", "threads", "expected"),
    [(5, 8, 1, "cpu"), (6, 10, 1, "cpu"), (2, 300, 1, "cpu"), (9, 10, 2, "cuda"), (20, 20, 64, "cuda")],
)
def test_cuda_is_for_long_searches(
    rows: int, columns: int, threads: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long ladder is large but done in no time."""
    graph = grid(rows, columns)
    assert chosen(graph, monkeypatch, driver=True, threads=threads) == expected
    assert chosen(graph, monkeypatch, driver=False, threads=threads) == "cpu"


def test_a_bound_makes_a_search_short(monkeypatch: pytest.MonkeyPatch) -> None:
    space = SearchSpace(grid(20, 20), Options(max_length=8))
    assert chosen(space, monkeypatch, driver=True, threads=2) == "cpu"


def test_what_is_asked_for_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(grid(20, 20), monkeypatch, driver=True, arch="cpu") == "cpu"
    assert chosen(grid(3, 3), monkeypatch, driver=False, arch="cuda") == "cuda"


def test_there_is_no_such_arch() -> None:
    with pytest.raises(OptionError, match="there is no arch 'gpu'"):
        count_cycles(grid(3, 3), arch="gpu")
