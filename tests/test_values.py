"""Values that users write: plain numbers only, and one line for anything else."""

import argparse

import pytest
from chordless.values import any_cycle_length, duration, positive, seed, size, thread_count


@pytest.mark.parametrize("text", ["1_0", "\u0661\u0662", "1" * 5000, "4.0", ""])
def test_whole_numbers_are_plain(text):
    for value in (positive, any_cycle_length, seed):
        with pytest.raises(argparse.ArgumentTypeError, match="is not a whole number"):
            value(text)


@pytest.mark.parametrize("text", ["1_0", "nan", "inf", "1e999", "\u0661s", "-1", "0", "s"])
def test_times_are_plain(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time"):
        duration(text)
    assert [duration(right) for right in ("10", "+1.5", ".5", "1e3", "90s", "5m", "2h")] == [
        10,
        1.5,
        0.5,
        1000,
        90,
        300,
        7200,
    ]


def test_threads_are_no_more_than_a_machine_can_use(monkeypatch):
    for cores, most in ((2, 64), (32, 128)):
        monkeypatch.setattr("kernels_ti.device.machine.cores", lambda cores=cores: cores)
        assert thread_count(str(most)) == most
        with pytest.raises(argparse.ArgumentTypeError, match=f"this machine has {cores} cores, so use {most} at most"):
            thread_count(str(most + 1))


def test_a_size_without_end():
    with pytest.raises(argparse.ArgumentTypeError, match="more memory than there can be"):
        size("9" * 400 + "G")
    assert size("1.5GiB") == 3 << 29
