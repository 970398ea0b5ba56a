"""From lists of edges to graphs and back, and what a hurried newcomer is told."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.params import quick_first
from veil.errors import InvalidArgument, InvalidData, OutputExists, UnreadableFile
from veil.graphs.ends import HEADER
from veil.graphs.files import check_labels, write_graph
from veil.graphs.graph import Graph
from veil.graphs.numerics.pairs import Kind, PairSpace
from veil.graphs.reading import NODES, SIDES, EdgeSource
from veil.graphs.verbs import read
from veil.tables.cells import sorted_once

FACEBOOK = Path(__file__).parents[3] / "shared" / "data" / "facebook_combined.txt"
PAIRS = [(3, 1), (1, 2), (10, 2), (2, 1)]
EDGES = {(1, 2), (1, 3), (2, 10)}


def put(folder: Path, text: str | bytes, name: str = "edges.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def edges_of(graph: EdgeSource) -> set[tuple[Any, Any]]:
    rows, columns = graph.space.ends(graph.codes)
    ends = graph.labels if graph.column_labels is None else graph.column_labels
    return {(graph.labels[i], ends[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)}


def lines_of(pairs: list[tuple[Any, Any]], mark: str = " ", rest: str = "") -> str:
    return "".join(f"{one}{mark}{other}{rest}\n" for one, other in pairs)


def complaint(path: Path, **options: Any) -> str:
    """What the error says, if there is one."""
    try:
        read(path, **options)
    except (InvalidData, InvalidArgument) as error:
        return str(error)
    return ""


def said_by(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """What a call says of its arguments, if anything."""
    try:
        call(*arguments, **options)
    except InvalidArgument as error:
        return str(error)
    return ""


def sources(folder: Path) -> dict[str, Any]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"origin": [one for one, _ in PAIRS], "destination": [other for _, other in PAIRS]}
    weighted = columns | {"weight": [0.5] * len(PAIRS)}
    table = pa.table(weighted)
    pq.write_table(table, folder / "e.parquet")
    text = lines_of(PAIRS)
    records = "".join(json.dumps({"a": one, "b": other}) + "\n" for one, other in PAIRS)
    return {
        "list": PAIRS,
        "list of lists": [list(pair) for pair in PAIRS],
        "weighted list": [(*pair, 0.5) for pair in PAIRS],
        "array": np.array(PAIRS),
        "float array": np.array(PAIRS, dtype=float),
        "mapping": columns,
        "pandas": pd.DataFrame(weighted),
        "polars": pl.DataFrame(weighted),
        "lazy": pl.LazyFrame(columns),
        "arrow": table,
        "categories": pd.DataFrame(columns).astype("category"),
        "parquet": folder / "e.parquet",
        "json lines": put(folder, records, "e.jsonl"),
        "text": put(folder, text),
        "text path": str(put(folder, text)),
        "SNAP": put(folder, "# Nodes: 4\n# FromNodeId\tToNodeId\n" + lines_of(PAIRS, "\t"), "snap.txt"),
        "comments between": put(folder, "% x\n" + text.replace("1 2", "# 9 9\n1 2"), "com.edges"),
        "windows": put(folder, text.replace("\n", "\r\n"), "w.txt"),
        "windows and more": put(folder, ("# x\n" + text).replace("\n", " \r\n"), "w2.txt"),
        "byte order mark": put(folder, b"\xef\xbb\xbf" + text.encode(), "m.txt"),
        "packed": put(folder, gzip.compress(text.encode()), "e.txt.gz"),
        "packed csv": put(folder, gzip.compress(lines_of(PAIRS, ",").encode()), "e.csv.gz"),
        "weights": put(folder, lines_of(PAIRS, " ", " 0.25"), "w3.txt"),
        "dates": put(folder, lines_of(PAIRS, " ", " 2004-01-05"), "d.txt"),
        "aligned": put(folder, "\n  3   1\n  1\t2\n\n 10   2 \n  2   1", "a.txt"),
        "no ending": put(folder, text, "edges"),
        "csv": put(folder, lines_of(PAIRS, ","), "e.csv"),
        "semicolons": put(folder, lines_of(PAIRS, ";"), "s.csv"),
        "commas in text": put(folder, lines_of(PAIRS, ", "), "c.txt"),
        "quotes": put(folder, '"3","1"\n"1","2"\n"10","2"\n"2","1"\n', "q.csv"),
        "tabs": put(folder, lines_of(PAIRS, "\t"), "t.tsv"),
        "names": put(folder, "origin,destination\n" + lines_of(PAIRS, ","), "n.csv"),
        "other names": put(folder, "giver\ttaker\n" + lines_of(PAIRS, "\t"), "o.tsv"),
        "names and weights": put(folder, "u,v,w\n" + lines_of(PAIRS, ",", ",7"), "nw.csv"),
        "names in text": put(folder, "source target\n" + text, "nt.txt"),
    }


def test_every_source_gives_the_same_graph(tmp_path: Path) -> None:
    for name, source in sources(tmp_path).items():
        graph = read(source)
        assert graph.labels == (1, 2, 3, 10), name
        assert edges_of(graph) == EDGES, name
        assert graph.repeated == 1, name
        assert graph.column_labels is None
        assert graph.space == PairSpace.among(4)
        assert graph.assumptions[0] == NODES, name
        assert graph.codes.dtype == np.int64
        assert (np.diff(graph.codes) > 0).all()
        assert not graph.codes.flags.writeable
        assert len(graph) == 3


def test_kinds(tmp_path: Path) -> None:
    path = put(tmp_path, "0 1\n1 0\n1 2\n0 1\n")
    directed = read(path, kind="directed")
    assert edges_of(directed) == {(0, 1), (1, 0), (1, 2)}
    assert (directed.repeated, directed.space) == (1, PairSpace.among(3, directed=True))
    both = read(path, kind="bipartite")
    assert (both.labels, both.column_labels) == ((0, 1), (0, 1, 2))
    assert edges_of(both) == {(0, 1), (1, 0), (1, 2)}
    assert (both.space, both.assumptions) == (PairSpace.between(2, 3), (SIDES,))
    # The two sides may have labels of different kinds.
    shop = read([(7, "tea"), (5, "milk"), (7, "milk")], kind="bipartite")
    assert (shop.labels, shop.column_labels) == ((5, 7), ("milk", "tea"))
    assert edges_of(shop) == {(7, "tea"), (5, "milk"), (7, "milk")}
    wrong: Any = "mixed"
    with pytest.raises(InvalidArgument, match="'undirected' or 'directed' or 'bipartite'"):
        read(path, kind=wrong)


def test_labels(tmp_path: Path) -> None:
    assert read([("b", "a"), ("B", "é")]).labels == ("B", "a", "b", "é")
    assert read([(10, 9), (-1, 2)]).labels == (-1, 2, 9, 10)
    # Text in memory stays text; in files whole numbers are numbers if all are.
    assert read([("10", "9")]).labels == ("10", "9")
    assert read(put(tmp_path, "10 9\n")).labels == (9, 10)
    assert read(put(tmp_path, "007 7\n7 8\n")).labels == ("007", "7", "8")
    assert read(put(tmp_path, "1 -0\n0 1\n")).labels == ("-0", "0", "1")
    assert read(put(tmp_path, "a 1\n1 2\n")).labels == ("1", "2", "a")
    assert read([("a", 1), (1, 2)]).labels == ("1", "2", "a")
    large = 2**62
    assert read(put(tmp_path, f"{large} 1\n")).labels == (1, large)
    assert read(put(tmp_path, f"{2**70} 1\n1 5\n")).labels == ("1", str(2**70), "5")


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        (4, (0, 1, 2, 3)),
        ([2, 1, 0, 9], (2, 1, 0, 9)),
        (["2", "1", "0", "x"], ("2", "1", "0", "x")),
        (np.arange(3), (0, 1, 2)),
        ({2, 0, 1}, (0, 1, 2)),
        ("file", (5, 2, 1, 0)),
    ],
)
def test_nodes_may_be_given(tmp_path: Path, nodes: Any, labels: tuple[Any, ...]) -> None:
    if isinstance(nodes, str):
        nodes = put(tmp_path, b"\xef\xbb\xbfnode\r\n5\r\n2\r\n1\r\n0\r\n", "nodes.txt")
    graph = read(put(tmp_path, "0 1\n1 2\n"), nodes=nodes)
    assert graph.labels == labels
    assert {frozenset(map(str, edge)) for edge in edges_of(graph)} == {frozenset("01"), frozenset("12")}
    assert graph.assumptions == ()


def test_nodes_of_both_sides(tmp_path: Path) -> None:
    path = put(tmp_path, "user,item\n1,a\n2,a\n1,b\n", "e.csv")
    graph = read(path, kind="bipartite", nodes=(3, ["c", "b", "a"]))
    assert (graph.labels, graph.column_labels) == ((0, 1, 2), ("c", "b", "a"))
    assert edges_of(graph) == {(1, "a"), (2, "a"), (1, "b")}
    with pytest.raises(InvalidData, match=r"^nodes: .* 1 listed nodes on the second side.*first is edge 3"):
        read(path, kind="bipartite", nodes=(3, ["a"]))
    wrong: list[tuple[Any, str]] = [
        ((-1, 3), "at least 0 on the first side, found -1"),
        ((3, "-5"), "at least 0 on the second side, found -5"),
        ((3, ["a", "a"]), "all differ on the second side"),
        (([1.5], 3), "whole numbers on the first side"),
        ((3, 2.5), "number of nodes on the second side"),
    ]
    for pair, text in wrong:
        with pytest.raises(InvalidArgument, match=rf"^nodes: expected .*{text}"):
            read(path, kind="bipartite", nodes=pair)
    for nodes in (3, [1, 2, 3], (3,)):
        with pytest.raises(InvalidArgument, match="two lists, the nodes of each side"):
            read(path, kind="bipartite", nodes=nodes)


def test_labels_outside_the_list(tmp_path: Path) -> None:
    path = put(tmp_path, "0 1\n1 secret\nsecret 2\n")
    with pytest.raises(InvalidData, match="that 2 edges have others, the first is edge 2") as caught:
        read(path, nodes=["0", "1", "2"])
    assert "secret" not in str(caught.value)
    for nodes, text in (
        (["a", "a"], "one of them twice"),
        ([1, "1"], "one of them twice"),
        (["a", ""], "an empty one"),
        ([1.5], "one of type float"),
        (2.5, "found float"),
        (-1, "at least 0"),
        ("-5", "^nodes: expected a whole number of at least 0, found -5"),
        (10**10, "at most"),
    ):
        with pytest.raises(InvalidArgument, match=text):
            read(path, nodes=nodes)
    with pytest.raises(UnreadableFile, match="no such file"):
        read(path, nodes=str(tmp_path / "nodes.txt"))


def test_a_graph_without_edges_has_nodes_that_were_given(tmp_path: Path) -> None:
    sources: list[Any] = [put(tmp_path, "# nothing\n"), put(tmp_path, "origin,destination\n", "e.csv"), []]
    for source in sources:
        graph = read(source, nodes=3)
        assert (len(graph), graph.labels, graph.space.count) == (0, (0, 1, 2), 3)
        with pytest.raises(InvalidData, match=r"found none. Give nodes="):
            read(source)


def test_loops(tmp_path: Path) -> None:
    path = put(tmp_path, "1 1\n1 2\n3 3\n")
    with pytest.raises(InvalidData, match=r"2 edges from a node to itself\. loops= drop .*, loops= keep"):
        read(path)
    # A node that has no other edge is gone with its loop, as the assumption says.
    dropped = read(path, loops="drop")
    assert (dropped.labels, edges_of(dropped), dropped.repeated) == ((1, 2), {(1, 2)}, 0)
    assert read(path, loops="drop", nodes=4).labels == (0, 1, 2, 3)
    kept = read(path, loops="keep")
    assert edges_of(kept) == {(1, 1), (1, 2), (3, 3)}
    assert kept.space == PairSpace.among(3, loops=True)
    with pytest.raises(InvalidData, match="found none"):
        read([(1, 1)], loops="drop")
    assert edges_of(read([(1, 1)], kind="bipartite")) == {(1, 1)}
    with pytest.raises(InvalidArgument, match="none for a bipartite graph"):
        read(path, kind="bipartite", loops="keep")
    wrong: list[Any] = ["x", 3, None, True]
    for loops in wrong:
        with pytest.raises(InvalidArgument, match="loops"):
            read(path, loops=loops)


@pytest.mark.parametrize(
    ("text", "edges", "guessed"),
    [
        ("from,to\na,b\nb,c\n", {("a", "b"), ("b", "c")}, True),
        ("Source;Target\na;b\nc;b\n", {("a", "b"), ("b", "c")}, True),
        ("id_1,id_2\n1,2\n", {(1, 2)}, True),
        ("x,y\n1,2\n", {(1, 2)}, True),
        ("a,b\nb,c\n", {("a", "b"), ("b", "c")}, False),
        ("a,b\nc,a\n", {("a", "b"), ("a", "c")}, False),
        ("1,2\na,b\n1,b\n", {("1", "2"), ("a", "b"), ("1", "b")}, False),
        ("x,1\n1,2\n", {("1", "x"), ("1", "2")}, False),
    ],
)
def test_the_first_line_is_told_from_the_rest(
    tmp_path: Path, text: str, edges: set[tuple[Any, Any]], guessed: bool
) -> None:
    graph = read(put(tmp_path, text, "edges.csv"))
    assert edges_of(graph) == edges
    assert graph.assumptions == ((NODES, HEADER) if guessed else (NODES,))


@pytest.mark.parametrize(
    "text",
    ["a,b\nc,d\n", "alice,bob\n", "x,1\n2,3\n", "from,to\nfrom,a\n", "giver,taker\nann,bob\nbob,cid\n"],
)
def test_no_edge_is_lost_where_the_first_line_may_be_one(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text, "edges.csv")
    with pytest.raises(InvalidData, match=r"may be either.*Say which with header="):
        read(path)
    lines = [tuple(line.split(",")) for line in text.splitlines()]
    for header in (True, False):
        if len(lines) > header:
            found = read(path, header=header)
            expected = {frozenset(line) for line in lines[int(header) :]}
            assert {frozenset(map(str, edge)) for edge in edges_of(found)} == expected


def test_columns_by_name(tmp_path: Path) -> None:
    path = put(tmp_path, "day,giver,taker\n1,a,b\n2,b,c\n", "gifts.csv")
    graph = read(path, origin="taker", destination="giver", kind="directed")
    assert edges_of(graph) == {("b", "a"), ("c", "b")}
    assert graph.assumptions == (NODES,)
    tries: list[tuple[dict[str, Any], str]] = [
        ({"origin": "givr", "destination": "taker", "header": True}, "Did you mean 'giver'"),
        ({"origin": "giver", "destination": "takers", "header": True}, "Did you mean 'taker'"),
        ({"origin": "givr", "destination": "taker"}, "^origin: .*none of that name in the first line"),
        ({"origin": "giver", "destination": "takers"}, "^destination: .*none of that name"),
        ({"origin": "a", "destination": "b"}, "none of that name in the first line. Without a line of names"),
        ({"origin": "x", "destination": "y", "header": True}, "found none of that name"),
        ({"origin": "giver"}, "both columns or neither"),
        ({"destination": "giver"}, "both columns or neither"),
        ({"origin": "giver", "destination": "giver"}, "another column than origin="),
        ({"origin": 1, "destination": 2}, "the name of a column"),
    ]
    for options, text in tries:
        with pytest.raises((InvalidData, InvalidArgument), match=text):
            read(path, **options)
    frame = {"a": [1, 2], "b": [5, 5], "c": [2, 3]}
    assert edges_of(read(frame, origin="c", destination="a")) == {(1, 2), (2, 3)}
    with pytest.raises(InvalidData, match="origin: expected a column 'z', found the columns a, b, c"):
        read(frame, origin="z", destination="a")
    plain = put(tmp_path, "7 1 2\n7 2 3\n", "plain.txt")
    assert edges_of(read(plain, origin="column2", destination="column3")) == {(1, 2), (2, 3)}
    wide = put(tmp_path, "day  from  to\n7  1  2\n7  2  3\n", "wide.txt")
    assert edges_of(read(wide, origin="from", destination="to")) == {(1, 2), (2, 3)}


@pytest.mark.parametrize(
    ("text", "name", "options", "message"),
    [
        ("", "e.txt", {}, "found none"),
        ("# only\n", "e.txt", {}, "found none"),
        ("0\n1\n", "e.txt", {}, "two columns, one for each end of an edge, found 1. Is the separator"),
        ("a b\nb c\n", "e.csv", {}, "two columns"),
        ("0 1\n1\n", "e.txt", {}, "e.txt, line 2: expected 2 cells as in the first line, found 1"),
        ("0 1 2\n1\n", "e.txt", {}, "line 2: expected 3 cells as in the first line, found 1"),
        ("# x\n\nann bob\nbob  cid\n% y\nbob New York\n", "e.txt", {}, "line 6: .*found 3. If labels have"),
        ("New York Rome\r\nRome Oslo\r\n", "e.txt", {}, "line 2: expected 3 .*save the list as .csv"),
        ("3 1 7\n1 2\n10 2 x y\n2 1\n", "e.txt", {}, "line 2: expected 3 cells"),
        ("3 1 7\n1 2\n10 2 x y\n", "e.txt", {"header": False}, "line 2: expected 3 cells"),
        ("a,b\nb,c\n", "e.csv", {"delimiter": ";"}, "^delimiter: .*';', which does not occur"),
        ("a b\nb c\n", "e.txt", {"delimiter": ","}, "^delimiter: .*',', which does not occur"),
        ("a b\nb c\n", "e.txt", {"delimiter": "tab"}, "does not occur in the first lines. Leave delimiter="),
        ("a,b\nb,c,d\n", "e.csv", {}, "line 2: expected 2 cells as in the first line, found 3"),
        ("a,b\nb,\n", "e.csv", {}, "a label at both ends of every edge, found 1 without one"),
        ("0 1\n", "e.txt", {"delimiter": ",,"}, "one mark"),
        ("0 1\n", "e.txt", {"header": 1}, "True, False or None"),
        ("caf\xe9 a\n".encode("latin-1"), "e.txt", {}, "another encoding in line 1"),
        ("0 1\n".encode("utf-16"), "e.txt", {}, "UTF-16"),
        ("PK", "e.zip", {}, "Unpack it first"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, text: str | bytes, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((InvalidData, InvalidArgument), match=message):
        read(put(tmp_path, text, name), **options)


@pytest.mark.parametrize(
    "source",
    [
        [1, 2, 3],
        ["ab", "cd"],
        [(1,), (2, 3)],
        [(1, None)],
        [(1.5, 2.0)],
        [(True, False)],
        [("a", "")],
        np.arange(4),
        np.array([[0.5, 1.0]]),
        {"a": [1]},
        {"a": [1, 2], "b": [1, None]},
        {"a": [float("nan")], "b": [1.0]},
    ],
)
def test_objects_that_are_no_edges(source: Any) -> None:
    with pytest.raises(InvalidData):
        read(source)


def test_objects_of_other_kinds() -> None:
    for source in (3, None, object()):
        with pytest.raises(InvalidArgument, match="an object of type"):
            read(source)
    with pytest.raises(InvalidArgument, match="none for this kind of source"):
        read(PAIRS, header=True)


def test_messages_never_show_labels(tmp_path: Path) -> None:
    tries: list[dict[str, Any]] = [{}, {"header": True}, {"nodes": 3}, {"origin": "x", "destination": "y"}]
    broken = [
        "secret a\nb c\n",
        "a secret\nsecret\n",
        "secret secret\na b\n",
        "secret,a\nb,c d\n",
        "secret\n",
    ]
    for text in broken:
        for name in ("e.txt", "e.csv"):
            for options in tries:
                shown = complaint(put(tmp_path, text, name), **options)
                assert "secret" not in shown, (text, name, options)
    # A name that is nearly a label, or is one, is not answered with the labels of an edge.
    for line in ("secret other", "secret,other"):
        path = put(tmp_path, f"{line}\na{line[6]}b\n")
        for name in ("secre", "other"):
            for pair in ((name, "x"), ("x", name)):
                shown = complaint(path, origin=pair[0], destination=pair[1])
                assert shown.startswith(("origin", "destination")), shown
                assert "secret" not in shown
    assert repr(read([("a", "b")])) == "<EdgeSource of 2 nodes, undirected, sensitive>"


def test_several_files(tmp_path: Path) -> None:
    put(tmp_path, "1 2\n", "part1.txt")
    put(tmp_path, "# x\n2 3\n2 1\n", "part2.txt")
    graph = read(tmp_path / "part*.txt")
    assert (edges_of(graph), graph.repeated) == ({(1, 2), (2, 3)}, 1)
    put(tmp_path, "a 3\n3 b\n", "part3.txt")
    assert read(str(tmp_path / "part*.txt")).labels == ("1", "2", "3", "a", "b")


@pytest.mark.skipif(not FACEBOOK.is_file(), reason="the Facebook graph is not here")
def test_facebook() -> None:
    graph = read(FACEBOOK)
    assert graph.labels == tuple(range(4039))
    assert (len(graph), graph.repeated) == (88_234, 0)
    by_hand = {tuple(map(int, line.split())) for line in FACEBOOK.read_text().splitlines()}
    assert edges_of(graph) == by_hand


LABELS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=5)
TRIMMED = LABELS.map(str.strip).filter(bool)
# Words between spaces: no mark that could separate them.
WORDS = TRIMMED.filter(
    lambda text: not text.startswith(("#", "%")) and not any(c.isspace() or c in ',;|"' for c in text)
)


@st.composite
def graphs(
    draw: st.DrawFn, texts: st.SearchStrategy[str]
) -> tuple[Kind, list[Any], list[Any], PairSpace, Any]:
    kind: Kind = draw(st.sampled_from(("undirected", "directed", "bipartite")))
    some = st.one_of(
        st.lists(texts, min_size=2, max_size=5, unique=True),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=5, unique=True),
    )
    rows, columns = draw(some), draw(some)
    if kind == "bipartite":
        space = PairSpace.between(len(rows), len(columns))
    else:
        columns, space = rows, PairSpace.among(len(rows), directed=kind == "directed")
    codes = draw(st.sets(st.integers(0, space.count - 1)))
    return kind, rows, columns, space, np.array(sorted(codes), dtype=np.int64)


def there_and_back(path: Path, graph: tuple[Kind, list[Any], list[Any], PairSpace, Any]) -> None:
    kind, rows, columns, space, codes = graph
    sides = columns if kind == "bipartite" else None
    write_graph(path, Graph(space, codes, tuple(rows), None if sides is None else tuple(sides)))
    header = None if path.suffix == ".parquet" else ".txt" not in path.name
    nodes = (rows, columns) if kind == "bipartite" else rows
    found = read(path, nodes=nodes, kind=kind, header=header)
    assert found.space == space
    assert found.codes.tolist() == codes.tolist()
    assert found.labels == tuple(rows)
    assert found.repeated == 0


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
@settings(deadline=None, max_examples=30)
@given(graph=graphs(TRIMMED))
def test_tables_that_are_written_are_read_again(
    ending: str, graph: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there_and_back(tmp_path_factory.mktemp("edges") / f"graph{ending}", graph)


@settings(deadline=None, max_examples=30)
@given(graph=graphs(WORDS))
def test_text_that_is_written_is_read_again(graph: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    there_and_back(tmp_path_factory.mktemp("edges") / "graph.txt", graph)


@settings(deadline=None, max_examples=30)
@given(graph=graphs(LABELS))
def test_parquet_that_is_written_is_read_again(graph: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    there_and_back(tmp_path_factory.mktemp("edges") / "graph.parquet", graph)


def held(labels: Any, ends: list[tuple[int, int]], sides: Any = None) -> Graph:
    """A graph with these labels; of two sides, or directed so that the ends stay in their order."""
    labels, sides = (None if names is None else tuple(names) for names in (labels, sides))
    rows = 10 if labels is None else len(labels)
    space = PairSpace.among(rows, directed=True) if sides is None else PairSpace.between(rows, len(sides))
    places = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return Graph(space, space.codes(places[:, 0], places[:, 1]), labels, sides)


def test_writing(tmp_path: Path) -> None:
    labels = ["ann", "bob", "cid"]
    friends = held(labels, [(0, 1), (0, 2)])
    for name, text in (
        ("e.txt", "ann bob\nann cid\n"),
        ("e.edges", "ann bob\nann cid\n"),
        ("e.csv", "origin,destination\nann,bob\nann,cid\n"),
        ("e.tsv", "origin\tdestination\nann\tbob\nann\tcid\n"),
    ):
        write_graph(tmp_path / name, friends)
        assert (tmp_path / name).read_text() == text
        assert edges_of(read(tmp_path / name)) == {("ann", "bob"), ("ann", "cid")}
        write_graph(tmp_path / f"{name}.gz", friends)
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()).decode() == text
    large = PairSpace.among(10**9 + 1)
    codes = large.codes(np.array([0, 5]), np.array([3, 10**9]))
    write_graph(tmp_path / "numbers.txt", Graph(large, codes))
    assert (tmp_path / "numbers.txt").read_text() == f"0 3\n5 {10**9}\n"
    write_graph(tmp_path / "sides.csv", held([1, 2], [(0, 0), (1, 0)], ["tea, black"]))
    assert edges_of(read(tmp_path / "sides.csv", kind="bipartite")) == {
        (1, "tea, black"),
        (2, "tea, black"),
    }
    write_graph(tmp_path / "none.txt", held(labels, []))
    assert (tmp_path / "none.txt").read_text() == ""
    with pytest.raises(OutputExists):
        write_graph(tmp_path / "e.txt", held(labels, [(0, 1)]))
    write_graph(tmp_path / "e.txt", held(labels, [(0, 1)]), overwrite=True)
    assert (tmp_path / "e.txt").read_text() == "ann bob\n"


@pytest.mark.parametrize(
    ("name", "labels", "sides", "text"),
    [
        ("e.txt", ["New York", "Rome"], None, "Write to .csv instead"),
        ("e.txt", ["a,b", "c"], None, "Write to .csv instead"),
        ("e.txt", ["#a", "c"], None, "Write to .csv instead"),
        ("e.csv", [" a", "c"], None, "Write to .parquet instead"),
        ("e.xlsx", ["a", "c"], None, "an ending of .txt, .edges, .csv or .tsv"),
        ("e.parquet.gz", ["a", "c"], None, "an ending of"),
        ("e.txt", ["1", 1], None, "one of them twice"),
        ("e.txt", ["a", 1.5], None, "text or whole numbers"),
        ("e.txt", ["a", ""], None, "text or whole numbers"),
        ("e.txt", None, ["a", "b"], "labels as well"),
    ],
)
def test_what_is_not_written(tmp_path: Path, name: str, labels: Any, sides: Any, text: str) -> None:
    with pytest.raises(InvalidArgument, match=text):
        write_graph(tmp_path / name, held(labels, [(0, 1)], sides))
    assert not list(tmp_path.iterdir())


def test_labels_are_checked_before_anything_is_drawn(tmp_path: Path) -> None:
    """`check_labels` says what `write_graph` would say, and leaves no file."""
    tries: list[tuple[str, Any, Any]] = [
        ("e.txt", ["New York", "Rome"], None),
        ("e.txt", ["a", "b"], ["#c"]),
        ("e.edges.gz", ["a,b", "c"], None),
        ("e.csv", [" a", "c"], None),
        ("e.xlsx", ["a", "c"], None),
        ("e.txt", ["1", 1], None),
        ("e.txt", ["a", ""], None),
        ("e.txt", None, ["b"]),
        ("e.csv", ["a"], []),
        ("e.txt", ["a", "b"], None),
        ("e.txt", None, None),
        ("e.csv", ["New York", "Rome"], None),
        ("e.parquet", [" a", "New York"], ["c d"]),
    ]
    fields = []
    for name, labels, sides in tries:
        path = tmp_path / name
        checked = said_by(check_labels, path, held(labels, [], sides))
        assert not list(tmp_path.iterdir())
        written = said_by(write_graph, path, held(labels, [], sides))
        path.unlink(missing_ok=True)
        assert checked == written
        fields.append(checked.partition(":")[0])
    assert fields == ["path"] * 5 + ["labels"] * 3 + [""] * 5


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("-", "/dev/stdin", Path("/dev/stdin")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines_of(PAIRS).encode())))
        assert edges_of(read(path)) == EDGES
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a b\nb\n")))
    with pytest.raises(InvalidData, match=r"^standard input, line 2"):
        read("/dev/stdin")


def test_pipes(tmp_path: Path) -> None:
    """What the shell makes of <(command)."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(lines_of(PAIRS),))
    writer.start()
    assert edges_of(read(pipe)) == EDGES
    writer.join()


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_first(["e.parquet", "e.txt", "e.csv.gz"]))
def test_a_large_graph(tmp_path: Path, name: str) -> None:
    """Several blocks of the reader and batches of the writer; node 0 joins all, so that zeros abound."""
    space = PairSpace.among(300_000)
    drawn = np.random.default_rng(1).integers(20_000, space.count, 1_100_000)
    codes, _ = sorted_once(np.concatenate([drawn, np.arange(20_000)]))
    write_graph(tmp_path / name, Graph(space, codes))
    found = read(tmp_path / name, nodes=300_000)
    assert np.array_equal(found.codes, codes)
    alone = read(tmp_path / name)
    assert len(alone.labels) == np.count_nonzero(np.bincount(np.concatenate(space.ends(codes))))


@pytest.mark.slow
def test_ten_million_edges(tmp_path: Path) -> None:
    space = PairSpace.among(1_000_000)
    codes, _ = sorted_once(np.random.default_rng(1).integers(0, space.count, 10_000_000))
    write_graph(tmp_path / "e.txt", Graph(space, codes))
    assert np.array_equal(read(tmp_path / "e.txt", nodes=1_000_000).codes, codes)


def test_nodes_as_a_text_with_commas() -> None:
    from veil import graphs

    with pytest.raises(InvalidArgument, match="a file with a node in each line, or how many nodes there are"):
        graphs.read([("a", "b")], nodes="a,b,c")
