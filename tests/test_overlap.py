"""The rules that make the niche overlap graph of a food web."""

import pytest
from chordless.graphs.overlap import niche_overlap, read_food_web

from kernels_ti import GraphError


@pytest.fixture
def web(tmp_path):
    def write(arcs, types=None, vertices="*Vertices 5\n"):
        path = tmp_path / "web.net"
        path.write_text(vertices + "*Arcs\n" + arcs)
        if types is not None:
            (tmp_path / "web.clu").write_text(types)
        return str(path)

    return write


def test_without_types_every_vertex_lives(web):
    graph = niche_overlap(web("1 2 5\n1 3 0\n4 3 1\n4 5 1\n"))
    assert graph.edges().tolist() == [[1, 2], [2, 4]]
    assert graph.names == ("1", "2", "3", "4", "5")


def test_only_arcs_between_living_vertices_count(web):
    path = web("1 2 5\n1 3 1\n4 2 1\n4 3 1\n4 5 1\n", "*Vertices 5\n2\n1\n1\n1\n4\n")
    assert niche_overlap(path).edges().tolist() == [[1, 2]]
    assert niche_overlap(web("1 2 5\n1 3 1\n", "*Vertices 5\n2\n1\n1\n1\n1\n")).m == 0


def test_a_cannibal_shares_itself_with_its_predators(web):
    assert niche_overlap(web("1 1 1\n1 2 1\n")).edges().tolist() == [[0, 1]]


def test_types_may_stand_elsewhere(web, tmp_path):
    path = web("1 2 5\n1 3 1\n")
    other = tmp_path / "other.clu"
    other.write_text("*Vertices 5\r\n5\r\n1\r\n1\r\n1\r\n1\r\n")
    assert niche_overlap(path).m == 1
    assert niche_overlap(path, str(other)).m == 0


@pytest.mark.parametrize(
    ("types", "part"),
    [
        ("*Vertices 4\n1\n1\n1\n1\n", "has 4 vertices, the web"),
        ("*Vertices 5\n1\n1\n1\n1\n", "4 classes for 5 vertices"),
        ("*Vertices 5\n1\n1\n7\n1\n1\n", "vertex 3 has type 7; the types are 1 living"),
        ("*Vertices 5\n1\nx\n", "web.clu:3: each line of a partition is one whole number"),
        ("1\n1\n", "web.clu:1: a Pajek partition starts with"),
        ("", "web.clu"),
    ],
)
def test_a_wrong_partition_is_one_clear_line(web, types, part):
    with pytest.raises(GraphError) as caught:
        niche_overlap(web("1 2 1\n", types))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_partition_that_was_named_is_an_error(web, tmp_path):
    with pytest.raises(GraphError, match=r"nowhere\.clu: cannot be read"):
        niche_overlap(web("1 2 1\n"), str(tmp_path / "nowhere.clu"))


def test_a_web_has_arcs(tmp_path):
    path = tmp_path / "web.net"
    path.write_text("*Vertices 2\n*Edges\n1 2\n")
    with pytest.raises(GraphError, match=r"web\.net:3: a food web has arcs only"):
        niche_overlap(str(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rings.sdf", "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n$$$$\n"),
        ("rings.txt", "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n$$$$\n"),
        ("rings.smi", "C1CC1 cyclopropane\n"),
    ],
)
def test_molecules_are_no_web(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(GraphError, match="this is a file of molecules, which have no arcs; a food web has arcs"):
        niche_overlap(str(path))


@pytest.mark.parametrize("heading", ["prey,predator", "predator,prey", "Resource,Consumer", "consumer;resource"])
def test_the_heading_of_a_list_says_who_eats_whom(tmp_path, heading):
    separator = ";" if ";" in heading else ","
    links = [("grass", "hare"), ("hare", "fox"), ("grass", "deer"), ("deer", "fox"), ("fox", "fox")]
    eaten_first = heading.lower().startswith(("prey", "resource"))
    lines = [separator.join(link if eaten_first else link[::-1]) for link in links]
    web = tmp_path / "web.csv"
    web.write_text("\n".join(["# of a meadow", heading, *lines]) + "\n")
    found = niche_overlap(str(web))
    joined = {frozenset((found.names[u], found.names[v])) for u, v in found.edges().tolist()}
    # The fox eats hares, deer and foxes; hare and deer share the grass.
    assert joined == {frozenset(("hare", "deer"))}


@pytest.mark.parametrize(
    "heading", ["prey,predator,year,site", "consumer,resource,site,year", "id,prey,predator", "Site;Year;Predator;Prey"]
)
def test_a_table_of_links_with_more_columns_says_who_eats_whom(tmp_path, heading):
    separator = ";" if ";" in heading else ","
    lines = [heading]
    for number, (eaten, eater) in enumerate((("grass", "hare"), ("hare", "fox"), ("grass", "deer"), ("deer", "fox"))):
        cells = {"prey": eaten, "resource": eaten, "predator": eater, "consumer": eater}
        lines.append(separator.join(cells.get(name.lower(), str(number)) for name in heading.split(separator)))
    web = tmp_path / "web.csv"
    web.write_text("\n".join(lines) + "\n")
    found = niche_overlap(str(web))
    assert [{found.names[u], found.names[v]} for u, v in found.edges().tolist()] == [{"hare", "deer"}]


def test_a_table_of_links_between_numbers_is_no_matrix(tmp_path):
    web = tmp_path / "web.csv"
    web.write_text("site,prey,predator\nA,1,2\nB,1,3\nC,4,5\n")
    found = niche_overlap(str(web))
    assert [{found.names[u], found.names[v]} for u, v in found.edges().tolist()] == [{"2", "3"}]


@pytest.mark.parametrize(("net", "clu"), [("NARR.NET", "NARR.CLU"), ("narr.net", "NARR.CLU"), ("Narr.Net", "narr.clu")])
def test_types_in_other_letters_beside_the_web(tmp_path, net, clu):
    (tmp_path / net).write_text("*Vertices 3\n*Arcs\n1 2\n1 3\n")
    (tmp_path / clu).write_text("*Vertices 3\n2\n1\n1\n")
    (tmp_path / "other.clu").write_text("*Vertices 3\n1\n1\n1\n")
    web = read_food_web(str(tmp_path / net))
    assert (web.types_path, web.living, web.overlap.m) == (str(tmp_path / clu), (False, True, True), 0)
    (tmp_path / net).with_suffix(".clu").write_text("*Vertices 3\n1\n1\n1\n")
    assert read_food_web(str(tmp_path / net)).overlap.m == 1
