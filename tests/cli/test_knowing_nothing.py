"""Every release says how its errors compare with those of knowing nothing: before, when made, and later."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

FILES = {
    "grades.csv": "grade,students\nA,30\nB,10\nC,900\n",
    "roads.csv": ",a,b\na,0.9,0.1\nb,0.5,0.5\n",
    "trips.csv": "from,to\n" + "a,b\n" * 40 + "b,a\n" * 30 + "a,a\n" * 9,
    "votes.csv": "x,y,z\n" + "1,0,1\n1,1,0\n0,0,0\n" * 50,
    "edges.txt": "a b\nb c\nc d\nd a\n",
    "words.txt": "a a\nb a\n",
}
ASKED = {
    "vector": ("grades.csv",),
    "matrix": ("roads.csv", "--transfer", "0.1"),
    "chain": ("trips.csv", "--from", "from", "--to", "to", "--states", "a,b", "--records", "79"),
    "words": ("words.txt", "--sequences", "--symbols", "a,b"),
    "bits": ("votes.csv",),
    "graph": ("edges.txt",),
}
MUCH, HARDLY = "20", "0.002"


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_in_the_terminal(run: Run, kind: str) -> None:
    """Both errors, also where the release is good; a warning where it is useless."""
    for epsilon, warned in ((MUCH, False), (HARDLY, True)):
        asked = ("release", kind, *ASKED[kind], "-e", epsilon)
        made = run(*asked, "-o", "out.json", "--seed", "1", "--force")
        for said in (run(*asked, "--dry-run"), made, run("inspect", "out.json")):
            told = " ".join(said.out.split())
            assert " to be expected, " in told
            assert " without any data (" in told
            assert ("no better than knowing nothing at this epsilon." in told) is warned
            assert ("WARNING: " in told) is warned


@pytest.mark.slow_for("vector", "matrix", "chain", "words")
@pytest.mark.parametrize("kind", ASKED)
def test_for_machines(run: Run, kind: str) -> None:
    asked = ("release", kind, *ASKED[kind], "-e", HARDLY, "--json")
    before = run(*asked, "--dry-run").json["knowing_nothing"]
    made = run(*asked, "-o", "out.json", "--seed", "1").json["knowing_nothing"]
    later = run("inspect", "out.json", "--json").json["knowing_nothing"]
    assert made == later
    for lines in (before, made):
        assert lines
        assert all(line["no_better_than_nothing"] for line in lines)


def test_what_a_chain_is_worth_is_not_said_before_where_it_depends_on_the_data(run: Run) -> None:
    asked = ("release", "chain", "trips.csv", "--from", "from", "--to", "to", "--states", "a,b", "-e", "1")
    assert run(*asked, "--dry-run", "--json").json["knowing_nothing"] == []


def test_a_dry_run_says_the_same_whatever_the_data(run: Run, folder: Path) -> None:
    """What is told of a graph does not depend on how many edges there are."""
    (folder / "nodes.txt").write_text("a\nb\nc\nd\n")
    asked = ("release", "graph", "edges.txt", "--nodes", "nodes.txt", "-e", "1", "--dry-run", "--json")
    first = run(*asked)
    assert first.code == 0, first.out
    said = first.json["knowing_nothing"]
    (folder / "edges.txt").write_text("a b\nb a\n")
    assert run(*asked).json["knowing_nothing"] == said
