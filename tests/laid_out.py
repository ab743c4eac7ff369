"""The blocks of a graph as a search gets them."""

from __future__ import annotations

from kernels_ti.blocks.groups import LabelledBlocks


def block_batches(graph, layout, word_bits, **restricted):
    """Find the blocks of a graph and lay them out; see `LabelledBlocks` and its method `batches`."""
    return LabelledBlocks(graph, **restricted).batches(layout, word_bits)
