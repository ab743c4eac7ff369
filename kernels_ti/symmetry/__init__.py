"""Counts with the help of the automorphisms of the graph.

An automorphism maps chordless cycles to chordless cycles. So of all chordless paths that automorphisms map to each
other, only one has to be searched: the **representative** of the orbit. A chordless cycle of l vertices contains 2 l
directed chordless paths of k < l vertices. Therefore

    cycles(l) = 1 / (2 l) * sum over representatives P of |orbit of P| * (cycles of l vertices that begin with P).

`automorphisms` finds the group of a block and the stabilizers of paths. `representatives` makes the representatives
vertex by vertex. `space` hands them to the ordinary search as frames: the root of a path is then free, so the two-ended
expansion and the certificate hold as they are. They depend on the path alone, not on the label of its root.
"""
