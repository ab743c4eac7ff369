"""Texts that are cut: never wider than they may be."""

from __future__ import annotations

import pytest
from chordless.tui.marks import cut, cut_inside, sentence
from rich.cells import cell_len


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it stopped.", "It stopped."),
        ("failed.", "Failed."),
        ("li/part.npy: not a whole file", "li/part.npy: not a whole file"),
        ("g.txt:3: no edge", "g.txt:3: no edge"),
    ],
)
def test_a_sentence_changes_no_name_of_a_file(text, shown):
    assert sentence(text) == shown


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("cutting", [cut, cut_inside])
def test_a_text_that_is_cut_has_the_width_that_was_asked_for(cutting, ascii_only):
    for text in ("caribbean-reef", "図グラフの名前"):
        assert [cell_len(cutting(text, width, ascii_only=ascii_only)) for width in range(9)] == list(range(9))
