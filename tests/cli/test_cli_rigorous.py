"""veil inspect --rigorous: claims of all kinds certified, forged ones refuted, and what is left open."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.rigorous import Enclosure
from veil.core.privacy.rigorous.enclosure import flint as imported_flint

from .conftest import Done, Run
from .tables import TRIPS, write_trips

pytest.importorskip("flint")

RECORDS = ("vector", "grades.csv", "--records", "98")
LOG = ("--by", "who", "--order", "time", "--state", "place")
# What is released, and where it is written.
MADE = {
    "dirichlet": ((*RECORDS, "-e", "1", "-d", "1e-6", "-m", "dirichlet"), "out.json"),
    "added": (("vector", "grades.csv", "-e", "1", "-d", "1e-6", "-m", "dirichlet"), "out.json"),
    "geometric": ((*RECORDS, "-e", "1", "-m", "geometric"), "out.json"),
    "discrete gaussian": ((*RECORDS, "-e", "1", "-d", "1e-6", "-m", "discrete-gaussian"), "out.json"),
    "shares": (("vector", "shares.csv", "--transfer", "0.1", "-e", "1", "-m", "laplace"), "out.json"),
    "matrix": (("matrix", "roads.csv", "--l1", "0.02", "--rows", "1", "-e", "2", "-d", "1e-6"), "out.json"),
    "two entries": (
        (
            "vector",
            "two.csv",
            "--transfer",
            "0.05",
            "--floor",
            "0.1",
            "-e",
            "2",
            "-d",
            "1e-3",
            "-m",
            "dirichlet",
        ),
        "out.json",
    ),
    "chain": (("chain", "trips.csv", *TRIPS, "-e", "1"), "out.json"),
    "words": (("words", "log.csv", *LOG, "-e", "4"), "out.csv"),
    "bits": (("bits", "votes.csv", "-e", "4"), "out.csv"),
    "graph": (("graph", "friends.txt", "-e", "3"), "out.txt"),
}


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    write_trips(folder / "trips.csv")
    for name, text in {
        "grades.csv": "grade,count\nA,31\nB,28\nC,21\nD,10\nF,8\n",
        "shares.csv": "party,share\na,0.5\nb,0.3\nc,0.2\n",
        "two.csv": "answer,share\nyes,0.6\nno,0.4\n",
        "log.csv": "who,time,place\n" + "".join(f"u{i // 4},{i % 4},{'abc'[i % 3]}\n" for i in range(24)),
        "votes.csv": "a,b,c\n" + "".join(f"{i % 2},{i % 3 // 2},{i // 2 % 2}\n" for i in range(20)),
        "friends.txt": "1 2\n2 3\n3 4\n1 4\n4 5\n",
    }.items():
        (folder / name).write_text(text)
    return folder


def release(run: Run, *arguments: str, output: str = "out.json") -> None:
    done = run("release", *arguments, "--seed", "1", "-o", output)
    assert done.code == 0, done.err


def forged(folder: Path, **changes: float) -> str:
    """The record with other numbers, under another name."""
    content = json.loads((folder / "out.json").read_text())
    content["privacy"] |= changes
    (folder / "forged.json").write_text(json.dumps(content))
    return "forged.json"


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", MADE)
def test_what_was_made_is_certified_and_a_smaller_epsilon_refused(name: str, run: Run, folder: Path) -> None:
    arguments, output = MADE[name]
    release(run, *arguments, output=output)
    done = run("inspect", "out.json", "--rigorous")
    assert done.code == 0
    assert "Certified by ball arithmetic: delta at epsilon " in done.out
    privacy = json.loads((folder / "out.json").read_text())["privacy"]
    found = run("inspect", forged(folder, epsilon=privacy["epsilon"] * (1.0 - 1e-12)), "--rigorous", "--json")
    assert found.code == 4
    assert found.json["verified"] is False
    # Of two entries the number that is charged is above the truth by up to 1e-6 of it.
    assert found.json["rigorous"]["holds"] is (name == "two entries")


@pytest.mark.slow
def test_for_machines(run: Run, folder: Path) -> None:
    release(run, *MADE["dirichlet"][0])
    assert "rigorous" not in run("inspect", "out.json", "--json").json
    found = run("inspect", "out.json", "--rigorous", "--json").json["rigorous"]
    assert found["holds"] is True
    assert 9e-7 < found["low"] <= found["high"] <= 1e-6
    assert found["message"] in run("inspect", "out.json", "--rigorous").out


@pytest.mark.slow
def test_a_number_that_holds_but_is_not_what_is_charged(run: Run, folder: Path) -> None:
    release(run, *MADE["two entries"][0])
    done = run("inspect", forged(folder, delta=1e-3 * (1.0 - 1e-12)), "--rigorous")
    assert done.code == 4
    assert "Certified by ball arithmetic" in done.out
    assert "It holds, but is less than Veil charges for this: the number may have been changed." in done.out


@pytest.mark.slow
def test_a_smaller_delta_is_refuted_in_as_many_digits_as_it_takes(run: Run, folder: Path) -> None:
    release(run, *MADE["dirichlet"][0])
    for share, start in ((1e-2, "9.99e-07"), (1e-8, "9.99999")):
        done = run("inspect", forged(folder, delta=1e-6 * (1.0 - share)), "--rigorous")
        assert done.code == 4
        sentence = next(line for line in done.out.splitlines() if "ball arithmetic" in line)
        low = sentence.split(" is between ")[1].split(" and ")[0]
        assert low.startswith(start)
        assert float(low) > 1e-6 * (1.0 - share)


@pytest.mark.slow
def test_what_lies_within_the_enclosure_is_not_resolved(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(run, *MADE["dirichlet"][0])
    monkeypatch.setattr(SymmetricBetaPair, "enclosure", lambda self, epsilon: Enclosure(0.0, 1.0))
    done = run("inspect", "out.json", "--rigorous")
    assert done.code == 0
    assert "Could not be resolved by ball arithmetic: delta at epsilon 1 is between 0 and 1; " in done.out
    assert run("inspect", "out.json", "--rigorous", "--json").json["rigorous"]["holds"] is None


@pytest.mark.slow
def test_what_breaks_down_is_not_resolved(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, epsilon: float) -> Enclosure:
        raise OverflowError

    release(run, *MADE["dirichlet"][0])
    monkeypatch.setattr(SymmetricBetaPair, "enclosure", broken)
    assert run("inspect", "out.json", "--rigorous", "--json").json["rigorous"]["holds"] is None


@pytest.mark.slow
def test_profiles_without_an_enclosure_are_named(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(run, *MADE["dirichlet"][0])
    monkeypatch.setattr(SymmetricBetaPair, "enclosure", lambda self, epsilon: None)
    done = run("inspect", "out.json", "--rigorous")
    assert done.code == 0
    assert "not available for this mechanism: its profile is a SymmetricBetaPair." in done.out
    machine = run("inspect", "out.json", "--rigorous", "--json").json["rigorous"]
    assert (machine["low"], machine["high"], machine["holds"]) == (None, None, None)


@pytest.fixture
def no_flint(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "flint", None)
    imported_flint.cache_clear()
    yield
    imported_flint.cache_clear()


def without(done: Done) -> None:
    assert done.code == 2
    assert (
        "python-flint is not installed. Install it with: pip install 'veil[rigorous]'" in done.out + done.err
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dirichlet", "geometric"])
def test_without_the_extra(name: str, run: Run, no_flint: None) -> None:
    arguments, output = MADE[name]
    release(run, *arguments, output=output)
    assert run("inspect", "out.json").code == 0
    without(run("inspect", "out.json", "--rigorous"))
    done = run("inspect", "out.json", "--rigorous", "--json")
    without(done)
    assert done.json["error"]["kind"] == "MissingExtra"
