"""--check-data: what the data itself leads to, for its holder, before anything is charged or drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from veil import Ledger

FILES = {
    "grades.csv": "grade,students\nA,3\nB,0\nC,900\n",
    "roads.csv": ",a,b\na,1,0\nb,0.5,0.5\n",
    "trips.csv": "from,to\na,b\na,b\na,a\n",
    "votes.csv": "x,y,z\n1,0,1\n1,1,0\n1,0,0\n",
    "lookup.csv": "id,part\na,north\nb,north\n",
    "edges.txt": "a b\nb a\nb c\n",
    "nodes.txt": "a\nb\nc\nd\ne\n",
    "words.txt": "a a\na a\n",
    "long.txt": "a b c d e f\n",
}
TRIPS = ("--from", "from", "--to", "to", "--states", "a,b")
# Of each kind: what is asked for, and what is to be said of the data.
FOUND = {
    "vector": (
        ("grades.csv", "-e", "0.1", "-m", "geometric"),
        ["2 of 3 counts are below 14.1, the standard deviation of the noise"],
    ),
    "matrix": (
        ("roads.csv", "-e", "1", "--transfer", "0.1", "-m", "laplace"),
        [
            "1 of 4 entries are 0, and will be above 0 in the release: --support says which are "
            "impossible, if that is public"
        ],
    ),
    "chain": (
        ("trips.csv", "-e", "1", *TRIPS, "-m", "geometric", "--records", "50"),
        [
            "1 of 2 states have no transition out of them: their rows are noise alone",
            "3 transitions were counted, where --records is 50",
        ],
    ),
    "words": (
        ("words.txt", "--sequences", "-e", "1", "--symbols", "a,b", "-m", "exponential"),
        ["1 of 2 symbols are in no word"],
    ),
    "bits": (("votes.csv", "-e", "1"), ["1 of 3 columns have the same bit in every row"]),
    "graph": (
        ("edges.txt", "-e", "0.1", "--nodes", "nodes.txt"),
        [
            "lines that name an edge again, and count once: 1",
            "2 of 5 nodes have no edge",
            "about 4 false edges are to be expected beside 2 true ones",
        ],
    ),
}
LITTLE = ("-e", "0.01", "-d", "1e-6", "-m", "dirichlet")


@pytest.fixture
def never_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: Any, **__: Any) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr("veil.core.job.Job.run", drawn)
    for name, text in FILES.items():
        (folder / name).write_text(text)


@pytest.mark.usefixtures("never_drawn")
@pytest.mark.parametrize("kind", FOUND)
def test_the_holder_is_told(run: Run, folder: Path, kind: str) -> None:
    """And nobody else: a dry run says nothing of it. Nothing is charged, drawn or written."""
    asked, told = FOUND[kind]
    budget = Ledger("budget.db").open("all", epsilon=5, delta=1e-6)
    asked = ("release", kind, *asked, "--ledger", "budget.db", "--dataset", "all", "-o", "out.json", "--json")
    said = run(*asked, "--check-data").json
    assert said.pop("data") == told
    assert said["fits_the_budget"] is True
    assert run(*asked, "--dry-run").json == said
    assert len(budget.entries()) == 1
    assert not (folder / "out.json").exists()


@pytest.mark.usefixtures("never_drawn")
def test_in_words(run: Run, folder: Path) -> None:
    asked = ("release", "bits", "votes.csv", "-e", "1", "--check-data")
    assert "it is sensitive, and nothing protects it):\n  1 of 3 columns have the same" in run(*asked).out
    (folder / "votes.csv").write_text("x,y\n1,0\n0,1\n")
    assert "it can be released as it is" in run(*asked).out
    # What cannot be released ends as the release would.
    (folder / "votes.csv").write_text("x,y\n1,0\n0,\n")
    assert run(*asked).code == 4


@pytest.mark.usefixtures("never_drawn")
@pytest.mark.parametrize(
    ("asked", "note"),
    [
        (("vector", "grades.csv", *LITTLE, "--records", "903"), "of the weight is on the data"),
        (("matrix", "roads.csv", *LITTLE, "--transfer", "1"), "of the weight is on the data"),
        (("words", "long.txt", "--sequences", "-e", "0.01"), "More than half of the symbols"),
        (("bits", "votes.csv", "-e", "1", "--unit", "bit"), "A whole row is hidden less"),
        (("chain", "trips.csv", "-e", "1", *TRIPS[:4], "--states", "lookup.csv:id:part"), "--merge-labels"),
    ],
    ids=["vector", "matrix", "words", "bits", "chain"],
)
def test_dry_runs_say_what_follows_from_the_request(run: Run, asked: tuple[str, ...], note: str) -> None:
    said = run("release", *asked, "--dry-run", "--json").json["notes"]
    assert sum(note in text for text in said) == 1, said
