"""Allowed transitions: every kind of file and object, and what is wrong with malformed ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.samples.streets import streets
from veil.words.chain_words import Support
from veil.words.supports import read_support


def allowed(labels: tuple[Any, ...], successors: Iterable[Iterable[int]]) -> Support:
    return Support(labels, tuple(map(tuple, successors)))


# a goes on to b and c, b to a, c nowhere.
EXPECTED = allowed(("a", "b", "c"), [[1, 2], [0], []])
PAIRS = [("a", "b"), ("a", "c"), ("b", "a")]
CLOSED = [*PAIRS, ("c", "a")]
LIST = "".join(f"{origin},{end}\n" for origin, end in PAIRS)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.csv", f"from,to\n{LIST}"),
        ("any names.csv", f"road,road after\n{LIST}"),
        ("without names.csv", LIST),
        ("weights.csv", "from,to,probability\na,b,0.5\na,c,0.5\nb,a,1\nb,c,0\n"),
        ("other weights.csv", "x,y,z\na,b,3\na,c,1e-9\nb,a,1\nb,c,0\n"),
        ("street names.csv", "x,y,name\na,b,Ash\na,c,0\nb,a,Birch\n"),
        ("several.csv", "x,y,name,weight\na,b,Ash,1\na,c,0,1\nb,a,Birch,1\nb,b,Birch,0\n"),
        ("twice.csv", f"from,to\n{LIST}{LIST}"),
        ("semicolons.csv", "from;to;p\na;b;0,5\na;c;0,5\nb;a;1\n"),
        ("tabs.tsv", "from\tto\na\tb\na\tc\nb\ta\n"),
        ("matrix.csv", ",a,b,c\na,0,0.4,0.6\nb,1,0,0\nc,0,0,0\n"),
        ("columns in another order.csv", "from,c,a,b\na,0.6,0,0.4\nb,0,1,0\nc,0,0,0\n"),
        ("rows named.csv", "a,0,1,1\nb,1,0,0\nc,0,0,0\n"),
        ("columns named.csv", "a,b,c\n0,1,1\n1,0,0\n0,0,0\n"),
        ("lines.jsonl", "".join(json.dumps({"from": x, "to": y}) + "\n" for x, y in PAIRS)),
        ("weighted.jsonl", "".join(json.dumps({"x": x, "y": y, "p": x < "c"}) + "\n" for x, y in CLOSED)),
        ("pairs.jsonl", '["a", "b"]\n["a", "c", 0.5]\n["b", "a"]\n'),
        ("records.json", json.dumps([{"from": x, "to": y} for x, y in PAIRS])),
        ("pairs.json", json.dumps(PAIRS)),
        ("successors.json", '{"a": ["b", "c"], "b": ["a"]}'),
        ("probabilities.json", '{"a": {"b": 0.4, "c": 0.6}, "b": {"a": 1, "b": 0}}'),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, name: str, text: str) -> None:
    path = written(tmp_path, name, text)
    assert read_support(path) == EXPECTED
    assert read_support(str(path)) == EXPECTED
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_support(packed) == EXPECTED


def test_labels_that_are_whole_numbers(tmp_path: Path) -> None:
    numbers = allowed((10, 9), [[0, 1], [0]])
    for name, text in (
        ("list.csv", "from,to\n10,10\n10,9\n9,10\n"),
        ("bare.csv", "10,10\n10,9\n9,10\n"),
        ("matrix.csv", ",10,9\n10,0.5,0.5\n9,1,0\n"),
        ("list.jsonl", '{"a":10,"b":10}\n{"a":10,"b":9}\n{"a":9,"b":10}'),
        ("map.json", '{"10": [10, 9], "9": [10]}'),
        ("nested.json", '{"10": {"10": 0.5, "9": 0.5}, "9": {"10": 1}}'),
    ):
        assert read_support(written(tmp_path, name, text)) == numbers
    text = "from,to\n007,8\n8,007\n"
    assert read_support(written(tmp_path, "zeros.csv", text)).labels == ("007", "8")
    assert read_support(written(tmp_path, "bare.csv", "0.5,0.5\n1,0\n")) == allowed((0, 1), [[0, 1], [0]])


def test_a_table_that_could_be_both(tmp_path: Path) -> None:
    path = written(tmp_path, "both.csv", "1,0\n0,1\n")
    assert read_support(path) == allowed((1, 0), [[1], [0]])
    path = written(tmp_path, "three.csv", "1,2,1\n2,0,1\n0,1,1\n")
    assert read_support(path) == allowed((0, 1, 2), [[0, 1, 2], [0, 2], [1, 2]])


def test_parquet_and_tables_in_memory(tmp_path: Path) -> None:
    import pandas
    import polars
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {
        "x": ["a", "a", "b", "c"],
        "y": ["b", "c", "a", "a"],
        "p": [1.0, 0.5, 1.0, 0.0],
    }
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns), pa.table(columns)):
        assert read_support(table) == EXPECTED
    pq.write_table(pa.table(columns), tmp_path / "list.parquet")
    assert read_support(tmp_path / "list.parquet") == EXPECTED
    rows = [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    square = pandas.DataFrame(rows, index=list("abc"), columns=list("abc"))
    for frame in (square, square.astype(float), square.astype(bool), square[["c", "a", "b"]]):
        assert read_support(frame) == EXPECTED
    assert read_support(pandas.DataFrame(rows)) == allowed((0, 1, 2), EXPECTED.successors)
    gap = pandas.DataFrame({"x": [1, None], "y": [2, 3]})
    with pytest.raises(InvalidData, match="text or whole numbers, found one of type float"):
        read_support(gap)


def test_objects() -> None:
    import networkx
    from scipy.sparse import coo_array, csr_array

    rows = [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    numbered = allowed((0, 1, 2), EXPECTED.successors)
    full = np.array(rows)
    for matrix in (rows, full, full.astype(bool), coo_array(full), csr_array(full)):
        assert read_support(matrix) == numbered
    assert read_support(csr_array(full.astype(bool))) == numbered
    assert read_support({"a": ["b", "c"], "b": ("a",)}) == EXPECTED
    assert read_support({"a": {"c", "b"}, "b": ["a"], "c": []}) == EXPECTED
    assert read_support({"a": {"b": 0.5, "c": 0.5}, "b": {"a": 1.0}, "c": {"a": 0.0}}) == EXPECTED
    assert read_support(PAIRS) == EXPECTED
    assert read_support(EXPECTED) is EXPECTED
    graph = networkx.DiGraph(PAIRS)
    assert read_support(graph) == EXPECTED
    graph.add_edge("c", "a", weight=0.0)
    graph.add_edge("c", "b", probability=0.3)
    assert read_support(graph) == allowed(("a", "b", "c"), [[1, 2], [0], [1]])
    assert read_support(graph, least=0.4) == EXPECTED
    with pytest.raises(InvalidData, match="a directed graph"):
        read_support(networkx.Graph(PAIRS))
    grid = streets()
    labels, successors = read_support(grid)
    assert labels == tuple(grid)
    assert [{labels[place] for place in row} for row in successors] == [set(row) for row in grid.values()]


def test_chains_and_releases(tmp_path: Path) -> None:
    chain = veil.Chain([[0.0, 0.9, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], states=["a", "b", "c"])
    expected = allowed(("a", "b", "c"), [[1, 2], [0], [2]])
    assert read_support(chain) == expected
    assert read_support(veil.Chain(chain.to_scipy(), states=chain.states)) == expected
    assert read_support(chain, least=0.1) == expected
    assert read_support(chain, least=0.11).successors == ((1,), (0,), (2,))
    trips = {"from": [1, 1, 2] * 400, "to": [2, 2, 1] * 400}
    counts = veil.chains.read(trips, origin="from", destination="to", states=[1, 2])
    release = veil.chains.release(counts, epsilon=2.0, delta=1e-6, rng=1)
    whole = read_support(release)
    assert whole.labels == (1, 2)
    path = tmp_path / "model.json"
    release.save(path)
    assert read_support(path) == whole
    likely = read_support(path, least=0.5)
    assert likely.successors == ((1,), (0,))


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("empty.csv", " \n", "an empty file"),
        ("header.csv", "from,to\n", "a transition that is allowed, found none"),
        ("zeros.csv", "from,to,p\na,b,0\n", "a transition that is allowed, found none"),
        ("uneven.csv", "a,b\na\n", "uneven"),
        ("one.csv", "a\nb\n", "two columns of states, found 1 column"),
        ("not square.csv", "0.5,0.5\n0.1,0.9\n0.2,0.8\n", "numbers with decimals"),
        ("gap.csv", "from,to\na,b\n,a\n", "an empty one"),
        ("negative.csv", "from,to,p\na,b,-1\n", "of at least 0"),
        ("no weight.csv", "from,to,p\na,b,\n", "of at least 0"),
        ("negative matrix.csv", ",a,b\na,1,-1\nb,1,1\n", "entries of at least 0"),
        ("names.csv", "from,to,to\na,b,c\n", "columns with different names"),
        ("quote.csv", 'a,"b\nc,d\n', "CSV"),
        ("broken.json", "{", "JSON"),
        ("number.json", "5", "a list of rows"),
        ("nothing.json", "{}", "a list of rows"),
        ("text.json", '{"a": "b"}', "another mapping"),
        ("uneven.json", "[[1, 0], [1]]", "numbers"),
        ("broken.jsonl", '{"a": 1}\n{', "JSON in every line"),
        ("numbers.jsonl", "1\n2\n", "a transition in every line"),
        ("fields.jsonl", '{"a":1,"b":2}\n{"a":1}\n', "the same fields"),
        ("one.jsonl", '{"a":1}\n', "found 1 column"),
        ("long.jsonl", '[1,2,3,4]\n', "two states in every line"),
        ("null.jsonl", '{"a":1,"b":null}\n', "an empty one"),
        ("float.jsonl", '{"a":1,"b":1.5}\n', "of type float"),
        ("broken.parquet", "no", "a Parquet file"),
        ("broken.csv.gz", "no", "a packed file"),
        ("words.docx", "no", "a file of a known kind"),
        ("release.json", '{"format": "veil-release"}', "a release of Veil"),
    ],
)  # fmt: skip
def test_malformed_files(tmp_path: Path, name: str, text: str, match: str) -> None:
    with pytest.raises(InvalidData, match=match) as refused:
        read_support(written(tmp_path, name, text))
    assert str(refused.value).startswith((name, "matrix"))


def test_missing_files_and_other_encodings(tmp_path: Path) -> None:
    for name in ("none.csv", "none.parquet", "none.csv.gz"):
        with pytest.raises(UnreadableFile, match="no such file"):
            read_support(tmp_path / name)
    (tmp_path / "latin.csv").write_bytes("a,é\n".encode("latin-1"))
    (tmp_path / "latin.csv.gz").write_bytes(gzip.compress("a,é\n".encode("latin-1")))
    for name in ("latin.csv", "latin.csv.gz"):
        with pytest.raises(UnreadableFile, match="UTF-8"):
            read_support(tmp_path / name)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        (5, "as many rows as columns"),
        ([], "rows|numbers"),
        ({}, "found none"),
        ({"a": []}, "found none"),
        ({"a": 5}, "another mapping"),
        ({"a": [None]}, "an empty one"),
        ({"a": [True]}, "of type bool"),
        ({1: [2], "1": [2]}, "labels that all differ"),
        ({"a": {"b": "much"}}, "of at least 0"),
        ({"a": {"b": float("nan")}}, "of at least 0"),
        ([[0.5, 0.5]], "as many rows as columns"),
        ([[1.0, float("inf")], [1.0, 0.0]], "entries of at least 0"),
    ],
)
def test_other_objects(source: Any, match: str) -> None:
    with pytest.raises(InvalidData, match=match):
        read_support(source)


def test_least_is_a_number() -> None:
    wrong: list[Any] = [-1.0, float("nan"), "much"]
    for least in wrong:
        with pytest.raises(InvalidArgument, match="least"):
            read_support(PAIRS, least=least)
    with pytest.raises(InvalidData, match="least= may be too large"):
        read_support({"a": {"a": 0.5}}, least=0.6)
