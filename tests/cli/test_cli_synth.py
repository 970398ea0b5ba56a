"""What is done with a released chain, and before: synthetic sequences, groups, plans, the demo."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil import chains
from veil.cli.app import main
from veil.samples.city import zones

from .conftest import Run
from .tables import BY_HOUR, COUNTS, EXACT, STATES, TRIPS, by_hour, write_trips


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Releases without noise: of trips, of sequences with all their tables, and with groups; and a vector."""
    folder = tmp_path_factory.mktemp("models")
    write_trips(folder / "trips.csv")
    (folder / "lines.txt").write_text("a b c\n" * 60 + "b b b b b\n" * 40)
    (folder / "vector.csv").write_text("a,3\nb,4\n")
    trips, lines = str(folder / "trips.csv"), str(folder / "lines.txt")
    parts = ("--with", "starts,ends,lengths")
    for kind, name, arguments in (
        ("chain", "trips.json", (trips, *TRIPS, *EXACT[:2])),
        ("chain", "groups.json", (trips, *TRIPS, *BY_HOUR, "-e", "200")),
        ("chain", "lines.json", (lines, "--sequences", *parts, *EXACT[:2])),
        ("vector", "vector.json", (str(folder / "vector.csv"), "-e", "1")),
    ):
        assert main(["release", kind, *arguments, "-o", str(folder / name)]) == 0
    return folder


@pytest.fixture(autouse=True)
def models(made: Path, folder: Path) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


# Groups


def test_small_groups_are_left_out_by_their_noisy_counts(run: Run, folder: Path) -> None:
    trips = {"from": list("aab" * 40), "to": list("abb" * 40), "hour": [8] * 60 + [9] * 57 + [10] * 3}
    counted = chains.read(trips, origin="from", destination="to", group="hour", groups="8..10")
    out = chains.release(counted, epsilon=0.2, rng=11)
    out.save(folder / "hours.json")
    held = chains.groups(out)
    counts = {name: one.noisy_count for name, one in held.items()}
    # The noise has turned the order of the two large groups round, and decides.
    assert counts["9"] > counts["8"] > counts["10"]
    least = counts["9"]
    kept = list(chains.groups(out, least=least))
    assert kept == ["9"]
    done = run("groups", "hours.json", "--least", str(least), "-o", "kept.csv")
    assert f"Left out by their noisy counts: {len(counts) - len(kept)} group" in done.out
    with (folder / "kept.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["group"] for row in rows} == set(kept)
    first = held[kept[0]].chain
    assert float(rows[1]["probability"]) == first.to_numpy()[0, 1]
    assert (rows[1]["from"], rows[1]["to"]) == tuple(map(str, first.states[:2]))
    everything = run("groups", "hours.json", "--json").json
    assert (everything["groups"], everything["left_out"]) == (counts, 0)
    # With none left there is a table without rows.
    assert run("groups", "hours.json", "--least", str(least + 1), "-o", "none.csv").code == 0
    assert len((folder / "none.csv").read_text().splitlines()) == 1
    refused = run("groups", "trips.json")
    assert (refused.code, "one without groups" in refused.err) == (2, True)


# Synthetic sequences


def rows_of(path: Path) -> list[tuple[int, int, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        assert reader.fieldnames == ["sequence", "place", "state"]
        return [(int(row["sequence"]), int(row["place"]), row["state"]) for row in reader]


@pytest.mark.slow
def test_trips_by_themselves(run: Run, folder: Path) -> None:
    done = run("synth", "trips.json", "-n", "2000", "--seed", "1", "-o", "out.csv")
    assert done.code == 0, done.err
    assert "2,000 sequences, 2 states each on average." in done.out
    assert "starts: drawn from where transitions start; the release has none of its own." in done.out
    assert "lengths: 2 states each; the release has none of its own." in done.out
    assert "Written: out.csv" in done.out
    rows = rows_of(folder / "out.csv")
    assert [row[:2] for row in rows] == [(i, j) for i in range(2000) for j in range(2)]
    moves = Counter((rows[i][2], rows[i + 1][2]) for i in range(0, 4000, 2))
    made = np.array([[moves[a, b] for b in STATES] for a in STATES])
    truth = np.array(COUNTS)
    # Five standard deviations of a frequency of 500 draws.
    gap = made / made.sum(axis=1, keepdims=True) - truth / truth.sum(axis=1, keepdims=True)
    assert np.abs(gap).max() < 0.11


@pytest.mark.slow
def test_the_same_in_every_format(run: Run, folder: Path) -> None:
    import pyarrow.parquet as pq

    for name in ("out.csv", "out.parquet", "out.txt"):
        assert run("synth", "lines.json", "-n", "50", "--seed", "2", "-o", name).code == 0
    rows = rows_of(folder / "out.csv")
    table = pq.read_table(folder / "out.parquet")
    assert table.column_names == ["sequence", "place", "state"]
    assert list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True)) == rows
    lines = [line.split(" ") for line in (folder / "out.txt").read_text().splitlines()]
    assert [(i, j, state) for i, sequence in enumerate(lines) for j, state in enumerate(sequence)] == rows
    # Released lengths and starts are used, and need no note.
    assert {len(line) for line in lines} <= {3, 5}
    assert {line[0] for line in lines} <= {"a", "b"}
    assert "none of its own" not in run("synth", "lines.json", "-n", "5").out


@pytest.mark.slow
def test_what_was_made_can_be_counted_again(run: Run, folder: Path) -> None:
    assert run("synth", "lines.json", "-n", "300", "--seed", "2", "-o", "out.txt").code == 0
    assert run("synth", "lines.json", "-n", "300", "--seed", "2", "-o", "out.csv").code == 0
    log = veil.chains.read("out.csv", by="sequence", order="place", state="state")
    lines = veil.chains.read("out.txt", lines=True)
    assert (lines.states, lines.matrix.tolist()) == (log.states, log.matrix.tolist())
    assert run("release", "chain", "out.txt", "--sequences", "-e", "1", "--unit", "row").code == 0


def test_lengths_as_asked(run: Run) -> None:
    done = run("synth", "lines.json", "-n", "3", "--length", "15", "--seed", "1")
    shown = done.out.splitlines()[:3]
    # Twelve states are shown, then dots.
    assert all(line.count("->") == 12 and line.endswith("-> ...") for line in shown)
    assert "3 sequences, 15 states each on average." in done.out
    assert "Not saved: add -o FILE.csv" in done.out
    machine = run("synth", "trips.json", "-n", "3", "--length", "4", "--json").json
    assert machine == {
        "sequences": 3,
        "states": 12,
        "mean_length": 4.0,
        "notes": ["starts: drawn from where transitions start; the release has none of its own"],
        "output": None,
    }
    assert run("synth", "trips.json", "--json").json["sequences"] == 1000


def test_groups_have_sequences_of_their_own(run: Run, folder: Path) -> None:
    made = {}
    for hour in ("0", "2"):
        assert run("synth", "groups.json", "--group", hour, "--seed", "1", "-o", f"{hour}.txt").code == 0
        made[hour] = (folder / f"{hour}.txt").read_text()
    assert made["0"] != made["2"]
    done = run("synth", "groups.json", "--group", "9")
    assert done.code == 2
    assert "group: expected one of 0, 1, 2" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("no.json",), 4, "no such file"),
        (("trips.csv",), 4, "expected the record of a release (.json)"),
        (("chain.json",), 4, "chain.json"),
        (("vector.json",), 2, "expected a square matrix of transitions"),
        (("trips.json", "-n", "0"), 2, "number"),
        (("trips.json", "--length", "0"), 2, "length"),
        (("trips.json", "-o", "x.xlsx"), 2, "--output"),
        (("trips.json", "-o", "taken.csv"), 2, "--force"),
        (("trips.json", "--group", "1"), 2, "group"),
    ],
)  # fmt: skip
def test_mistakes(run: Run, folder: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    (folder / "taken.csv").write_text("precious")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run("synth", *arguments)
    assert done.code == code, done.err + done.out
    assert words in done.err
    machine = run("synth", *arguments, "--json")
    assert machine.code == code
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_labels_with_spaces_stay_whole(run: Run, folder: Path) -> None:
    """Read back as it was written, a text file has the states of the release."""
    write_trips(folder / "towns.csv", [("u", 0, "New York", "Rome"), ("u", 0, "Rome", "New York")] * 20)
    assert run("release", "chain", "towns.csv", *TRIPS, "-e", "20000", "-o", "towns.json").code == 0
    done = run("synth", "towns.json", "-n", "20", "-o", "towns.txt")
    # Either refused, or with another mark between the states.
    if done.code != 2:
        lines = (folder / "towns.txt").read_text().splitlines()
        found = [{state for line in lines for state in line.split(mark)} for mark in "\t,;|"]
        assert {"New York", "Rome"} in found


# The chain of a group


def test_chains_of_groups(run: Run) -> None:
    found = run("chain", "groups.json", "--group", "1", "--json").json
    truth = np.array(by_hour(1))
    expected = veil.Chain(truth / truth.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found["stationary"], expected.stationary(), atol=1e-9)
    assert found["states"] == list(STATES)
    assert "privacy" not in found
    whole = run("chain", "groups.json", "--json").json
    assert whole["privacy"] == {"epsilon": 200.0, "delta": 0.0}
    assert run("chain", "groups.json", "--group", "9").code == 2
    assert run("chain", "trips.json", "--group", "1").code == 2
    plain = run("chain", "roads.csv", "--group", "1")
    assert (plain.code, "a release with groups" in plain.err) == (2, True)


@pytest.mark.usefixtures("no_pictures")
def test_reports_of_groups(run: Run, folder: Path) -> None:
    assert run("chain", "groups.json", "--group", "1", "--report", "one.html").code == 0
    assert "A Markov chain" in (folder / "one.html").read_text(encoding="utf-8")


# Plans


def plan(run: Run, *arguments: str) -> Any:
    done = run("plan", "chain", "--states", "3", *arguments, "--json")
    assert done.code == 0, done.err
    return done.json


@pytest.mark.slow
def test_plans(run: Run) -> None:
    done = run("plan", "chain", "--states", "3", "-n", "5000", "-e", "1", "-d", "1e-6")
    assert done.code == 0, done.err
    assert "At epsilon = 1, delta = 1e-06; neighbours: one transition is added or removed" in done.out
    assert "Measured on made-up tables of 3 states and 5,000 transitions; no data was read." in done.out
    machine = plan(run, "-n", "5000", "-e", "1", "-d", "1e-6")
    rows = machine["mechanisms"]
    assert sorted(row["name"] for row in rows) == ["dirichlet", "gaussian", "geometric"]
    assert f"Least error: {rows[0]['name']}" in done.out
    assert [row["row_tv"] for row in rows] == sorted(row["row_tv"] for row in rows)
    for row in rows:
        assert f"{row['row_tv']:.3g}" in done.out
        assert f"{row['kl']:.3g}" in done.out
    assert plan(run, "-n", "5000", "-e", "1") == plan(run, "-n", "5000", "-e", "1")
    # Ten times the budget or the data: about a tenth of the error.
    for more in (("-n", "5000", "-e", "10"), ("-n", "50000", "-e", "1")):
        assert plan(run, *more)["mechanisms"][0]["row_tv"] < 0.2 * rows[0]["row_tv"]


def test_plans_of_whole_users(run: Run) -> None:
    one = plan(run, "-n", "5000", "-e", "1", "-d", "0")
    five = plan(run, "-n", "5000", "-e", "1", "-d", "0", "--unit", "user", "--cap", "5")
    assert five["adjacency"]["unit"] == "user"
    ratio = five["mechanisms"][0]["row_tv"] / one["mechanisms"][0]["row_tv"]
    assert 2.0 < ratio < 8.0
    assert [row["name"] for row in one["mechanisms"] if not row["possible"]] == ["gaussian", "dirichlet"]
    done = run("plan", "chain", "--states", "3", "-n", "5000", "-e", "1", "-d", "0")
    assert "gaussian: delta: gaussian needs a delta above 0" in done.out


@pytest.mark.slow
def test_the_epsilon_for_an_error(run: Run) -> None:
    done = run("plan", "chain", "--states", "3", "-n", "500", "--error", "0.05")
    assert done.code == 0, done.err
    start = "For an error of 0.05 of the next step (total variation): epsilon = "
    assert done.out.startswith(start)
    epsilon = done.out.removeprefix(start).split("\n")[0].rstrip(".")
    found = plan(run, "-n", "500", "-e", epsilon)
    assert found["mechanisms"][0]["row_tv"] == pytest.approx(0.05, rel=0.02)


@pytest.mark.slow
def test_the_epsilon_for_an_error_for_machines(run: Run) -> None:
    done = run("plan", "chain", "--states", "3", "-n", "5000", "--error", "0.01")
    found = plan(run, "-n", "5000", "--error", "0.01")
    assert 0.009 < found["mechanisms"][0]["row_tv"] <= 0.01
    assert f"epsilon = {found['epsilon']:.3g}." in done.out


@pytest.mark.slow
def test_plans_are_drawn(run: Run, folder: Path) -> None:
    done = run("plan", "chain", "--states", "2", "-n", "900", "-e", "1", "--plot", "plan.svg")
    assert done.code == 0, done.err
    assert "Drawn: plan.svg" in done.out
    assert "expected error of a row" in (folder / "plan.svg").read_text()
    again = run("plan", "chain", "--states", "2", "-n", "900", "-e", "1", "--plot", "plan.svg")
    assert (again.code, "--force" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-n", "900"), "--epsilon: expected either it or --error"),
        (("-n", "900", "-e", "1", "--error", "0.1"), "--epsilon: expected either it or --error"),
        (("-n", "900", "-e", "0"), "epsilon"),
        (("-n", "900", "--error", "0"), "error"),
        (("-n", "0", "-e", "1"), "--records"),
        (("-n", "900", "--error", "0.1", "--unit", "user"), "cap"),
        (("-n", "900", "-e", "1", "--cap", "3"), "cap"),
        (("-n", "900", "-e", "1", "--plot", "x.gif"), "--plot"),
        (("-n", "9", "--error", "1e-300"), "error"),
    ],
)
def test_wrong_plans(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run("plan", "chain", "--states", "3", *arguments)
    assert done.code == 2, done.out
    assert words in done.err


@pytest.mark.slow
def test_plans_choose_how_much_of_each_user_to_count(run: Run) -> None:
    command = ("-n", "5000", "-e", "1", "--unit", "user", "--users", "3000", "--mean-length", "4")
    found = plan(run, *command)
    assert found["cap"] == max(cap for _, cap in found["strata"])
    assert [tuple(one) for one in found["strata"]] == list(
        veil.chains.plan_users(3, epsilon=1.0, users=3000, mean_length=4.0).strata
    )
    assert all(0.0 < found[name] < 0.2 for name in ("joint_tv", "row_tv", "length_tv"))
    assert plan(run, *command, "--cap", "2")["cap"] == 2
    done = run("plan", "chain", "--states", "3", *command)
    assert "Count of each user at most" in done.out
    assert f"{found['joint_tv']:.3g}" in done.out
    assert "Tried on 3,000 made-up users with about 4 states each; no data was read." in done.out


def test_plans_of_users_are_not_drawn(run: Run, folder: Path) -> None:
    command = ("plan", "chain", "--states", "3", "-n", "5000", "-e", "1", "--unit", "user", "--users", "3000")
    done = run(*command, "--plot", "plan.svg")
    assert (done.code, done.out) == (2, "")
    assert "--plot: expected none where users are tried out" in done.err
    assert not (folder / "plan.svg").exists()


# The demo


@pytest.mark.slow
def test_the_demo(run: Run, folder: Path) -> None:
    done = run("demo", "--folder", "demo", "--trips", "2000")
    assert done.code == 0, done.err
    place = folder / "demo"
    written = {path.name for path in place.iterdir()}
    city = {"trips.parquet", "zones.csv", "city.json", "city.html"}
    small = {"grades.csv", "crossings.csv", "roads.csv", "drives.csv", "streets.csv", "ballots.csv"}
    small |= {"friends.txt", "points.csv"}
    assert written == city | small
    out = veil.load(place / "city.json")
    assert (out.epsilon, out.delta, out.reproducible) == (1.0, 0.0, False)
    assert list(out.value.states) == [name for name, _ in zones()]
    assert (place / "city.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "city.html in a browser" in done.out
    # What it says to do next works.
    commands = [line.split("veil ", 1)[1] for line in done.out.splitlines() if "veil synth" in line]
    assert run(*commands[0].split()[:-1], str(place / "synthetic.csv")).code == 0
    people = ("--by", "passenger", "--unit", "user", "--cap", "20", "-e", "1", "--json")
    columns = ("--from", "pickup", "--to", "dropoff", "--states", "demo/zones.csv")
    again = run("release", "chain", "demo/trips.parquet", *columns, *people)
    assert again.code == 0, again.err
    assert json.loads(again.out)["adjacency"]["cap"] == 20
    kept = run("demo", "--folder", "demo", "--trips", "2000")
    assert (kept.code, "--force" in kept.err) == (2, True)
    assert run("demo", "--folder", "demo", "--trips", "2000", "--force").code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_what_the_demo_has_drawn_is_kept(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As with every release: a disk that fills up meanwhile does not lose it."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("veil.cli.output_files.OutputFiles.write", full)
    done = run("demo", "--trips", "1000")
    assert done.code == 7
    (kept,) = (tmp_path / "state" / "kept").iterdir()
    assert str(kept) in done.err
    assert len(veil.load(kept).value.states) == len(zones())


def test_the_demo_keeps_what_is_there(run: Run, folder: Path) -> None:
    (folder / "demo").mkdir()
    (folder / "demo" / "city.json").write_text("precious")
    kept = run("demo", "--trips", "1000")
    assert (kept.code, "--force" in kept.err) == (2, True)
    assert [path.name for path in (folder / "demo").iterdir()] == ["city.json"]
    assert (folder / "demo" / "city.json").read_text() == "precious"
    few = run("demo", "--folder", "other", "--trips", "10")
    assert (few.code, "--trips: expected a whole number of at least 1000" in few.err) == (2, True)
