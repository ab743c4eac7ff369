"""Reading and making graphs: file formats, generators, food webs and molecules.

A new file format is one module in `readers` and one line in `load`; a new family of graphs is one function in
`generators` or, if whole numbers define it, one entry in `families`. Nothing here may know of a run or of the engine.
"""
