"""Graphs on the command line: released, planned, decoded, inspected; and what is never said."""

from __future__ import annotations

import csv
import gzip
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import veil
from veil.graphs.graph import NODES_ARE_PUBLIC

from .conftest import Done, Run

CLUB = nx.planted_partition_graph(3, 8, 0.7, 0.05, seed=1)
FEW = [("Ann", "Bob"), ("Bob", "Cy"), ("Cy", "Dee"), ("Ann", "Cy")]
BUYS = [("u1", "i1"), ("u2", "i3"), ("u1", "i2"), ("u3", "i1")]
# So much that no pair is wrong: what comes out is what went in.
EXACT = ("-e", "400", "--seed", "1")
QUICK = ("club.txt", "-e", "3", "--seed", "1")


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    for name, text in {
        "club.txt": "".join(f"{a} {b}\n" for a, b in CLUB.edges),
        "few.csv": "from,to\n" + "".join(f"{a},{b}\n" for a, b in FEW),
        "spaced.csv": "from,to\n" + "".join(f"SECRET {a},SECRET {b}\n" for a, b in FEW),
        "buys.csv": "user,item\n" + "".join(f"{a},{b}\n" for a, b in BUYS),
        "snap.txt": "# Nodes: 4\n# from to\n\n" + "".join(f"{a}\t{b}\n" for a, b in FEW) + "% the end\n",
        "weights.txt": "".join(f"{a} {b} 0.{i}\n" for i, (a, b) in enumerate(FEW)),
        "loops.txt": "1 2\n2 3\n3 3\n",
        "twice.txt": "a b\na b\nb a\nb c\n",
        "names.txt": "Ann\nBob\nCy\nDee\nEve Lee\n",
        "pair.txt": "Ann\nBob\n",
        "left.txt": "u1\nu2\nu3\nu4\n",
        "right.txt": "i1\ni2\ni3\n",
        "single.txt": "1\n2\n3\n",
        "empty.txt": "",
        "bad.parquet": "SECRET",
        "votes.csv": "a,b\nyes,no\nno,no\nyes,yes\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def edges_of(path: Path) -> set[tuple[str, ...]]:
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode().splitlines()
    if ".csv" in path.name or ".tsv" in path.name:
        return {
            tuple(row) for row in list(csv.reader(lines, delimiter="\t" if ".tsv" in path.name else ","))[1:]
        }
    return {tuple(line.split()) for line in lines}


def release(run: Run, *arguments: str) -> Done:
    done = run("release", "graph", *arguments)
    assert done.code == 0, done.err + done.out
    return done


def refused(run: Run, *arguments: str, code: int, says: str, command: Any = ("release", "graph")) -> Done:
    """Said in one line, the same to machines, and nothing is written or quoted."""
    before = sorted(Path().iterdir())
    done = run(*command, *arguments)
    assert done.code == code, done.err + done.out
    assert says in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    machine = run(*command, *arguments, "--json")
    assert machine.code == code
    assert machine.json["error"]["message"] in done.err
    assert sorted(Path().iterdir()) == before
    assert "SECRET" not in done.err + machine.out
    return done


# Files


@pytest.mark.parametrize("name", ["out.txt", "out.edges", "out.csv", "out.tsv", "out.txt.gz", "out.csv.gz"])
def test_what_comes_out_is_what_went_in(run: Run, folder: Path, name: str) -> None:
    done = release(run, "few.csv", *EXACT, "-o", name)
    assert done.out.endswith(f"Written: {name}\nWritten: out.json\n")
    assert edges_of(folder / name) == set(FEW)
    held = veil.load(folder / "out.json")
    assert set(held.value.labelled_edges()) == set(FEW)
    assert held.epsilon == 400.0
    assert held.reproducible


def test_parquet(run: Run, folder: Path) -> None:
    release(run, "few.csv", *EXACT, "-o", "out.parquet")
    release(run, "out.parquet", *EXACT, "-o", "again.csv")
    assert edges_of(folder / "again.csv") == set(FEW)


@pytest.mark.parametrize("name", ["few.csv", "snap.txt", "weights.txt"])
def test_edge_lists_of_all_kinds(run: Run, folder: Path, name: str) -> None:
    """Comments, empty lines and further columns are no edges."""
    release(run, name, *EXACT, "-o", "out.csv")
    assert edges_of(folder / "out.csv") == set(FEW)


def test_pipes(run: Run, folder: Path) -> None:
    done = run("release", "graph", "-", *EXACT, "-o", "out.txt", stdin="a b\nb c\n")
    assert done.code == 0, done.err
    assert edges_of(folder / "out.txt") == {("a", "b"), ("b", "c")}


def test_an_edge_twice_is_one_edge(run: Run, folder: Path) -> None:
    release(run, "twice.txt", *EXACT, "-o", "out.txt")
    assert edges_of(folder / "out.txt") == {("a", "b"), ("b", "c")}
    release(run, "twice.txt", *EXACT, "-o", "arrows.txt", "--kind", "directed")
    assert edges_of(folder / "arrows.txt") == {("a", "b"), ("b", "a"), ("b", "c")}


def test_columns_by_name(run: Run, folder: Path) -> None:
    (folder / "wide.csv").write_text("day,a,b\n" + "".join(f"1,{a},{b}\n" for a, b in FEW))
    release(run, "wide.csv", *EXACT, "--from", "a", "--to", "b", "-o", "out.csv")
    assert edges_of(folder / "out.csv") == set(FEW)
    refused(
        run, "wide.csv", "-e", "1", "--from", "x", "--to", "b", code=4, says="--from: expected a column 'x'"
    )


def test_seeds(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "one.txt")
    done = release(run, *QUICK, "-o", "two.txt")
    assert (folder / "one.txt").read_text() == (folder / "two.txt").read_text()
    assert "NOT PRIVATE: drawn from a seed." in done.out


# Which nodes there are


def test_a_list_of_nodes(run: Run, folder: Path) -> None:
    done = release(run, "few.csv", *EXACT, "--nodes", "names.txt", "-o", "out.json")
    held = veil.load(folder / "out.json")
    assert held.value.node_labels == ("Ann", "Bob", "Cy", "Dee", "Eve Lee")
    assert NODES_ARE_PUBLIC in held.assumptions
    assert "has an edge" not in done.out
    assert "has an edge" in release(run, "few.csv", *EXACT).out


def test_a_number_of_nodes(run: Run, folder: Path) -> None:
    release(run, *QUICK, "--nodes", "30", "-o", "out.json")
    graph = veil.load(folder / "out.json").value
    assert graph.space.count == math.comb(30, 2)


def test_a_graph_without_edges(run: Run, folder: Path) -> None:
    done = release(run, "empty.txt", "-e", "3", "--nodes", "5", "--seed", "1", "-o", "out.txt")
    assert "edges" in done.out
    assert run("decode", "out.json").code == 0


def test_bipartite_lists(run: Run, folder: Path) -> None:
    sides = ("--kind", "bipartite", "--nodes", "left.txt,right.txt")
    release(run, "buys.csv", *EXACT, *sides, "-o", "out.csv")
    assert edges_of(folder / "out.csv") == set(BUYS)
    graph = veil.load(folder / "out.json").value
    assert (graph.space.rows, graph.space.columns) == (4, 3)


@pytest.mark.parametrize("loops", ["keep", "drop"])
def test_loops(run: Run, folder: Path, loops: str) -> None:
    release(run, "loops.txt", *EXACT, "--loops", loops, "-o", "out.txt")
    assert (("3", "3") in edges_of(folder / "out.txt")) is (loops == "keep")


# Facts


def test_facts_besides(run: Run, folder: Path) -> None:
    done = release(run, *QUICK, "--with", "degrees, triangles,edges", "--share", "0.8", "-o", "out.txt")
    assert "asked directly" in done.out
    held = veil.load(folder / "out.json")
    assert held.mechanism.name == "PrivateGraph"
    assert held.epsilon == 3.0
    assert set(held.tables) == {"degrees", "triangles", "edges"}
    seen = run("inspect", "out.json", "--json").json
    assert seen["verified"] is True


def test_facts_alone(run: Run, folder: Path) -> None:
    done = release(run, "club.txt", *EXACT, "--with", "edges", "--share", "1", "-o", "out.json")
    assert f"{CLUB.number_of_edges()} to {CLUB.number_of_edges()}" in done.out
    held = veil.load(folder / "out.json")
    assert set(held.value) == {"edges", "nodes"}
    assert "club" not in (folder / "out.json").read_text()
    refused(run, "out.json", code=2, says="RELEASE: expected a released graph", command=("decode",))
    release(run, "club.txt", *EXACT, "--with", "edges", "--share", "1", "-o", "facts.csv")
    assert (folder / "facts.csv").read_text().splitlines()[0] == "fact,number"


@pytest.mark.parametrize("kind", ["directed", "bipartite"])
def test_facts_alone_of_other_kinds(run: Run, kind: str) -> None:
    """The density read off the facts is that of the graph: edges over the pairs that there are."""
    asked = ("buys.csv", *EXACT, "--kind", kind, "--with", "edges")
    whole = release(run, *asked, "--share", "0.5").out
    alone = release(run, *asked, "--share", "1").out
    for word in ("density", "average"):
        lines = [next(x for x in text.splitlines() if x.startswith(word)) for text in (whole, alone)]
        numbers = [next(part for part in line.split() if part[0].isdigit()) for line in lines]
        assert numbers[0] == numbers[1]


# What is said


def test_what_is_said(run: Run) -> None:
    done = release(run, *QUICK)
    for part in (
        "undirected graph, 24 nodes,",
        "of 100 released edges are false; the estimates are corrected for that.",
        "veil decode",
        "epsilon = 3, delta = 0",
        "20.09 times as likely",
        "This holds only if the list of nodes is public.",
        "Not saved: add -o FILE.txt to keep it.",
    ):
        assert part in done.out
    assert "average out-degree" in release(run, *QUICK, "--kind", "directed").out
    assert "first side" in release(run, "buys.csv", *EXACT, "--kind", "bipartite").out


def test_a_dry_run(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr("veil.core.job.Job.run", never)
    done = release(run, *QUICK, "--dry-run", "-o", "out.txt")
    assert "Would be charged: epsilon = 3, delta = 0. Nothing was drawn or written." in done.out
    assert release(run, *QUICK, "--dry-run", "--json").json["charge"]["epsilon"] == 3.0
    assert not (folder / "out.txt").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_machines_get_one_document(run: Run, folder: Path) -> None:
    done = release(run, *QUICK, "--json", "-o", "out.txt", "--report", "out.html")
    assert done.json["value"]["kind"] == "undirected"
    beside = {"written": ["out.txt", "out.json", "out.html"], "knowing_nothing": done.json["knowing_nothing"]}
    assert json.loads((folder / "out.json").read_text()) | beside == done.json
    assert (folder / "out.html").exists()


def test_overwriting(run: Run) -> None:
    release(run, *QUICK, "-o", "out.txt")
    refused(run, *QUICK, "-o", "out.txt", code=2, says="out.txt exists already. Add --force")
    assert "WARNING: a release is overwritten" in release(run, *QUICK, "-o", "out.txt", "-f").out
    refused(run, *QUICK, "-o", "club.txt", "-f", code=2, says="club.txt, which is the input")
    refused(
        run, "few.csv", "-e", "1", "--nodes", "names.txt", "-o", "names.txt", "-f", code=2, says="the input"
    )


# What is refused


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nosuch.txt", "-e", "1"), 4, "nosuch.txt: expected a file, found no such file"),
        (("empty.txt", "-e", "1"), 4, "empty.txt: expected edges"),
        (("single.txt", "-e", "1"), 4, "single.txt: expected two columns"),
        (("bad.parquet", "-e", "1"), 4, "bad.parquet: expected a Parquet file"),
        (("loops.txt", "-e", "1"), 4, "found 1 edge from a node to itself"),
        (("spaced.csv", "-e", "1", "--nodes", "pair.txt"), 4, "--nodes: expected one of the 2 listed nodes"),
        (("few.csv", "-e", "1", "--nodes", "9"), 4, "--nodes: expected one of the 9 listed nodes"),
        (("few.csv", "-e", "1", "--nodes", "nosuch.txt"), 4, "nosuch.txt: expected a file"),
        (("few.csv", "-e", "1", "--nodes", "9,9"), 2, "--nodes: expected the path of a file"),
        (("buys.csv", "-e", "1", "--kind", "bipartite", "--nodes", "3"), 2, "--nodes: expected two lists"),
        (("club.txt", "-e", "0"), 2, "epsilon: expected a positive number"),
        (("club.txt", "-e", "-3"), 2, "epsilon: expected a positive number"),
        (("club.txt", "-e", "1e4"), 2, "between 1e-06 and 500"),
        ((*QUICK, "--kind", "dircted"), 2, "--kind: expected 'undirected' or 'directed' or 'bipartite'"),
        ((*QUICK, "--loops", "yes"), 2, "--loops: expected 'refuse' or 'keep' or 'drop'"),
        (
            (*QUICK, "--with", "degree"),
            2,
            "--with: expected some of degrees, edges, triangles, found 'degree'",
        ),
        ((*QUICK, "--with", "edges", "--share", "2"), 2, "--share: expected a number between 0 and 1"),
        ((*QUICK, "--with", "edges", "--share", "0"), 2, "--share: expected more than 0"),
        ((*QUICK, "--share", "1"), 2, "--share: expected --with with it"),
        (
            (*QUICK, "--kind", "directed", "--with", "degrees"),
            2,
            "--with: expected edges alone for a directed",
        ),
        ((*QUICK, "-o", "out.graphml"), 2, "--output: expected a name that ends in .json or .txt"),
        ((*QUICK, "-o", "none/out.txt"), 2, "--output: expected an existing folder"),
        ((*QUICK, "--report", "out.pdf"), 2, "--report: expected a name that ends in .html"),
        ((*QUICK, "--with", "edges", "--share", "1", "-o", "out.txt"), 2, "ends in .json or .csv"),
    ],
)
def test_refused(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    refused(run, *arguments, code=code, says=says)


@pytest.mark.parametrize("command", [("release", "graph"), ("plan", "graph"), ("decode",), ("inspect",)])
def test_help_has_an_example(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command, "--help")
    assert done.code == 0
    assert f"Example: veil {' '.join(command)} " in done.out


@pytest.mark.parametrize("nodes", ["0", "1"])
def test_too_few_nodes(run: Run, nodes: str) -> None:
    done = run("release", "graph", "empty.txt", "-e", "3", "--nodes", nodes)
    assert done.code in (2, 4)
    assert "--nodes" in done.err


def test_labels_with_spaces_are_refused_before_the_draw(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr("veil.core.job.Job.run", never)
    refused(run, "spaced.csv", "-e", "1", "-o", "out.txt", code=2, says="--output: expected")


def test_noise_is_called_noise(run: Run) -> None:
    """At epsilon 0.01 nothing is known of the true graph, so nothing can be said of which edges are false."""
    done = release(run, "club.txt", "-e", "0.01", "--seed", "1")
    assert "WARNING" in done.out
    assert "About 1 of 100 released edges are false" not in done.out


def test_neighbours_of_a_graph_are_graphs(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.txt")
    for done in (release(run, *QUICK), run("inspect", "out.json")):
        assert "tables" not in done.out


def test_the_next_step_can_be_pasted(run: Run) -> None:
    assert "veil decode out.json -o" in release(run, *QUICK, "-o", "out.txt").out


def test_an_option_is_named_once(run: Run) -> None:
    done = run("release", "graph", "loops.txt", "-e", "1")
    assert "--loops True" not in done.err
    assert '--loops "drop"' not in done.err


def test_a_share_of_nothing(run: Run) -> None:
    done = run("release", "graph", *QUICK, "--share", "0.5")
    assert done.code == 2
    assert "--with" in done.err


# Decoding, without judging what it finds


@pytest.mark.slow
def test_decoding(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.txt")
    done = run("decode", "out.json", "-o", "likely.csv")
    assert done.code == 0, done.err
    for part in ("Decoded:", "Reconstruction rate:", "not guarantees", "Written: likely.csv"):
        assert part in done.out
    pairs = {(str(a), str(b)) for a, b in combinations(range(24), 2)}
    assert edges_of(folder / "likely.csv") <= pairs
    found = run("decode", "out.json", "--edges", "7", "--json").json
    assert (found["edges"], len(found["data"]), found["nodes"]) == (7, 7, 24)
    assert run("decode", "out.json", "-m", "0", "--json").json["data"] == []
    refused(run, "out.json", "-o", "likely.csv", code=2, says="exists already", command=("decode",))
    refused(run, "out.json", "-o", "likely.json", code=2, says="--output", command=("decode",))
    refused(run, "out.json", "-m", "999", code=2, says="at most the 276 pairs", command=("decode",))


@pytest.mark.parametrize("kind", ["directed", "bipartite"])
def test_decoding_other_kinds(run: Run, folder: Path, kind: str) -> None:
    release(run, "buys.csv", "-e", "30", "--seed", "1", "--kind", kind, "-o", "out.csv")
    done = run("decode", "out.json", "-o", "likely.csv")
    assert done.code == 0, done.err
    assert edges_of(folder / "likely.csv") == set(BUYS)


def test_decoding_without_noise(run: Run, folder: Path) -> None:
    """Above epsilon = 90 or so a pair is never wrong in practice: the release is its own decoding."""
    release(run, "buys.csv", *EXACT, "--kind", "directed", "-o", "out.csv")
    done = run("decode", "out.json", "-o", "likely.csv")
    assert done.code == 0, done.err
    assert edges_of(folder / "likely.csv") == set(BUYS)


def test_decoding_what_is_no_graph(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.txt")
    refused(run, "out.txt", code=4, says="The record is beside it: out.json", command=("decode",))
    refused(run, "nosuch.json", code=4, says="nosuch.json: expected a release file", command=("decode",))
    assert run("release", "bits", "votes.csv", "-e", "1", "-o", "bits.csv").code == 0
    refused(run, "bits.json", code=2, says="RELEASE: expected a released graph", command=("decode",))
    word = veil.release(veil.words.SequentialWords(veil.words.FreeWords("ab", 2), 1.0), "ab", rng=1)
    word.save(folder / "word.json")
    refused(run, "word.json", code=2, says="RELEASE: expected a released graph", command=("decode",))


def test_the_reconstruction_rate_is_of_the_release(run: Run) -> None:
    """What any reader can find does not grow less because one reader asked for few edges."""
    release(run, *QUICK, "-o", "out.txt")
    all_of_it = run("decode", "out.json", "--json").json["reconstruction_rate"]
    assert run("decode", "out.json", "-m", "5", "--json").json["reconstruction_rate"] == all_of_it


def test_a_file_is_not_beside_itself(run: Run, folder: Path) -> None:
    (folder / "other.json").write_text("{}")
    assert "beside it: other.json" not in run("decode", "other.json").err


def test_facts_are_called_facts(run: Run) -> None:
    release(run, *QUICK, "--with", "edges", "--share", "1", "-o", "facts.json")
    assert "facts" in run("decode", "facts.json").err


# Plans


def test_plans(run: Run) -> None:
    done = run("plan", "graph", "-n", "4039", "-m", "88234", "-e", "1")
    assert done.code == 0
    for part in ("8,154,741 pairs", "at most 2.", "No data was read.", "veil decode"):
        assert part in done.out
    assert "Of that: edges" in run("plan", "graph", "-n", "99", "-e", "1", "--with", "edges").out
    assert "1,200 pairs" in run("plan", "graph", "-n", "40,30", "-e", "1", "--kind", "bipartite").out


def test_plans_for_machines(run: Run) -> None:
    found = run("plan", "graph", "-n", "4039", "-m", "88234", "-e", "1", "--json")
    assert found.code == 0
    assert found.json["pairs"] == math.comb(4039, 2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-n", "1", "-e", "1"), "--nodes: expected a whole number of at least 2"),
        (("-n", "40,30", "-e", "1"), "--nodes: expected one number"),
        (("-n", "40", "-e", "1", "--kind", "bipartite"), "--nodes: expected two numbers"),
        (("-n", "40", "-e", "1", "--kind", "tree"), "--kind: expected 'undirected'"),
        (("-n", "40", "-e", "1", "-m", "8000"), "at most the 780 pairs"),
        (("-n", "40", "-e", "0"), "epsilon: expected a positive number"),
        (("-n", "40", "-e", "1", "--with", "edgs"), "--with: expected some of"),
    ],
)
def test_plans_refused(run: Run, arguments: tuple[str, ...], says: str) -> None:
    refused(run, *arguments, code=2, says=says, command=("plan", "graph"))


def test_a_plan_refuses_what_a_release_refuses(run: Run) -> None:
    asked = ("--kind", "directed", "--with", "degrees")
    assert run("release", "graph", *QUICK, *asked).code == 2
    assert run("plan", "graph", "-n", "24", "-e", "3", *asked).code == 2


def test_a_plan_recommends_only_what_can_be_had(run: Run) -> None:
    done = run("plan", "graph", "-n", "24", "-e", "3", "--kind", "directed")
    assert "triangles" not in done.out.lower()


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_demo_names_commands_that_work(run: Run) -> None:
    done = run("demo", "--trips", "1000")
    assert done.code == 0, done.err
    lines = done.out.replace("\\\n", " ").splitlines()
    for kind in ("graph", "bits"):
        line = next(line for line in lines if f"veil release {kind}" in line)
        made = run(*line[line.index("release") :].split(), "--dry-run")
        assert made.code == 0, made.err
        assert "Would be charged: epsilon =" in made.out
