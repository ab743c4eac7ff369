"""Well known graphs of networkx whose vertices are numbers, so that they are made without networkx."""

from __future__ import annotations

GRAPH6 = {
    "bull": r"DyG",
    "chvatal": r"KhdLA_hc?L_y",
    "cubical": r"Gl_XIS",
    "desargues": r":S_`ab_CdefcGhaIjgKbLeM`NkOfP_IQ",
    "diamond": r"Cz",
    "dodecahedral": r":S_`abcaDe`Fg_HijhKfLdMkNcOjP_BQ",
    "frucht": r"KhCKM?_EGK?L",
    "heawood": r"MhEGHC@AI?_PC@_G_",
    "hoffman_singleton": (
        r"qsCSCA?_@GD?P@G?C?@??G?@GG?CO?AO??g??E??CAG?GC_?GD??CB?G?GOA?@A?O?CG@??GO?_AACGCD@AC?SACI@GAACGQ"
        r"?_`Aa?AOI??GoD?@?P?I@@?aC?S?GS?Q?ODC?GEA??@AIA??G@GAB??OK?_GG?CGP?_O?DC?AHG????caO???_O_AQ??A@OO"
        r"?Q??@AGG_@??A_"
    ),
    "house": r"DrK",
    "house_x": r"D~K",
    "icosahedral": r"KhFJ{B`KWqph",
    "karate": r"a~aC^a_GCWO?c?{??????@_B?????E??????o?????????????????@_???@???KG???????Ca@???C???EO__qkF?K[zNw",
    "krackhardt_kite": r"IvUqwK@?G",
    "moebius_kantor": r"OhEGHC@AG?_PO@?Ga?K?P",
    "octahedral": r"E}lw",
    "pappus": r"QhEGGD@?G__P?@G?_GGO@?CE?AG",
    "petersen": r"IheA@GUAo",
    "sedgewick_maze": r"GOEXUO",
    "tetrahedral": r"C~",
    "truncated_cube": r":W__a_AcbebEgf`IfIk`JmdhOdOnQhPlSlTnRU",
    "truncated_tetrahedron": r"KxCIGK@_G@b@",
    "tutte": r":m_OGCEHDbPxCGRAdrGwuZNgOqKMfSfdYl]p@Kpa|mI[muRt_w^aEbsyWapqSc`CddAsdYggssTT@OjhCtV",
}
"""A line of graph6 or sparse6 for each name."""
