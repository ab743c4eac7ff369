"""An estimate in words: never less than what was found, and no range that says nothing."""

from __future__ import annotations

import math

import pytest
from chordless.words.numbers import CycleRange


@pytest.mark.parametrize(
    ("given", "found", "words"),
    [
        (CycleRange(6.9e8, 4.3e8, 2.2e9), 0, "about 690 million (430 million to 2.2 billion)"),
        (CycleRange(6.9e8, 4.3e8, 2.2e9), 500_000_000, "about 690 million (500 million to 2.2 billion)"),
        (CycleRange(6.9e8, 4.3e8, 2.2e9), 10**9, "about 1.5 billion (1 to 2.2 billion)"),
        (CycleRange(6.9e8, 4.3e8, 2.2e9), 3 * 10**9, "at least 3 billion"),
        (CycleRange(1e10, 420, 2.2e14), 5_280_469, "at least 5.3 million"),
        (CycleRange(330, 330, math.inf), 0, "at least 330"),
        (CycleRange(22, 22, 22, exact=True), 30, "22"),
        (CycleRange(1e30, 1e30, 1e30, exact=True), 0, "about 1.0e30"),
    ],
)
def test_the_words(given, found, words):
    assert given.with_found(found).text == words


@pytest.mark.parametrize("found", [1, 4.5e8, 7e8, 2.1e9, 5e9])
def test_nothing_is_ever_below_what_was_found(found):
    now = CycleRange(6.9e8, 4.3e8, 2.2e9).with_found(found)
    assert max(found, 4.3e8) == now.low <= now.middle <= now.high
