"""Texts that are cut: never wider than they may be."""

from __future__ import annotations

import pytest
from chordless.tui.marks import cut, cut_inside
from rich.cells import cell_len


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("cutting", [cut, cut_inside])
def test_a_text_that_is_cut_has_the_width_that_was_asked_for(cutting, ascii_only):
    for text in ("caribbean-reef", "図グラフの名前"):
        assert [cell_len(cutting(text, width, ascii_only=ascii_only)) for width in range(9)] == list(range(9))
