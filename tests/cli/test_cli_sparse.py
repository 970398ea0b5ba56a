"""Chains of many states from the command line: released, charged, written in several files and read again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .conftest import Run


def clicks(folder: Path) -> tuple[str, ...]:
    rng = np.random.default_rng(3)
    lines = [" ".join(f"p{page}" for page in rng.zipf(1.5, 6) % 50) for _ in range(800)]
    (folder / "clicks.txt").write_text("\n".join(lines) + "\n")
    (folder / "pages.csv").write_text("page\n" + "\n".join(f"p{i}" for i in range(4_600)) + "\n")
    return "clicks.txt", "--sequences", "--states", "pages.csv"


def test_released_written_and_read(run: Run, folder: Path) -> None:
    asked = clicks(folder)
    done = run("release", "chain", *asked, "-e", "1", "-o", "model.csv", "--report", "model.html")
    assert done.code == 0, done.err
    assert "pairs of states" in done.out
    names = {"model.csv", "model.json", "model.pairs.parquet", "model.states.parquet", "model.html"}
    assert names <= {path.name for path in folder.iterdir()}
    assert all(name in done.out for name in names)
    assert (folder / "model.csv").read_text().startswith("from,to,probability\n")
    done = run("inspect", "model.json", "--json")
    told = done.json
    assert done.code == 0
    assert told["kind"] == "sparse-chain"
    assert told["verified"] is True
    assert told["table_is_the_one_written"] is True
    done = run("synth", "model.json", "-n", "4", "--length", "3", "--seed", "1", "-o", "made.csv")
    assert done.code == 0
    assert len((folder / "made.csv").read_text().splitlines()) == 13
    done = run("chain", "model.json", "--against", "model.json")
    assert done.code == 0
    assert "mean row (TV)" in done.out
    assert "only large ones were kept" in done.out
    # Nothing is written over unless that is asked for, and this is found out before anything is drawn.
    (folder / "model.json").rename(folder / "other.json")
    (folder / "model.csv").unlink()
    done = run("release", "chain", *asked, "-e", "1", "-o", "model.json")
    assert done.code == 2
    assert "model.pairs.parquet exists already" in done.err
    done = run("release", "chain", *asked, "-e", "1", "-o", "model.json", "--force")
    assert done.code == 0
    # The record of before has other files beside it now.
    done = run("inspect", "other.json")
    assert done.code == 4
    assert "written beside the record" in done.err


def test_whole_users(run: Run, folder: Path) -> None:
    asked = clicks(folder)
    options = ("-e", "2", "--delta", "1e-6", "--unit", "user", "-o", "user.json", "--json")
    done = run("release", "chain", *asked, *options)
    assert done.code == 0, done.err
    record = json.loads((folder / "user.json").read_text())
    assert record["mechanism"]["parameters"]["once"] is True
    assert record["adjacency"]["cap"] == 10
    assert done.json


def test_planned(run: Run) -> None:
    done = run("plan", "chain", "--states", "1000000", "--users", "5000000", "-e", "1", "--json")
    assert done.code == 0
    plan = done.json
    assert plan["threshold"] < plan["sure"]
    assert len(plan["surviving"]) == 2
    done = run("plan", "chain", "--states", "1000000", "-e", "1")
    assert done.code == 2
    assert "--users" in done.err


def test_states_that_nobody_listed(run: Run, folder: Path) -> None:
    asked: tuple[str, ...] = (
        clicks(folder)[0],
        "--sequences",
        "--states",
        "discover",
        "--unit",
        "user",
        "-e",
        "2",
    )
    done = run("release", "chain", *asked)
    assert done.code == 2
    assert "--delta: expected a number above 0" in done.err
    asked += ("--delta", "1e-6")
    done = run("release", "chain", *asked, "--dry-run", "--check-data")
    assert done.code == 0, done.err
    assert "published as they stand" in done.out
    assert "p1" not in done.out
    done = run("release", "chain", *asked, "-o", "model.json", "--json")
    assert done.code == 0, done.err
    assert "published as they stand" in done.err
    done = run("release", "chain", *asked, "-o", "model.json", "--force")
    assert done.code == 0, done.err
    assert "published as they stand" in done.err
    done = run("inspect", "model.json")
    assert done.code == 0
    assert "DiscoveredChain" in done.out
    assert "of epsilon for the names" in done.out
    assert "states were named" in done.out
    done = run("plan", "chain", "--states", "discover", "--unit", "user", "-e", "2", "--delta", "1e-6")
    assert done.code == 0
    assert "a state is named in 95 of 100 releases" in done.out
    for wrong in (("--pairs", "all"), ("--other", "x"), ("--unit", "row"), ("--with", "sizes")):
        done = run("release", "chain", *asked, *wrong)
        assert done.code == 2
        assert wrong[0] in done.err
