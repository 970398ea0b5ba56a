"""Chains from tables on the command line: every kind of table, every option, what is said and kept."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.chains.adjacency import Transitions
from veil.chains.requests import USERS_SEEN
from veil.core.job import Job
from veil.core.mechanism import STATES_ARE_PUBLIC
from veil.matrices.reading import read_matrix

from .conftest import Run
from .tables import (
    COUNTS,
    EXACT,
    LOG,
    LOG_COUNTS,
    STATES,
    TRIPS,
    VISITS,
    by_hour,
    csv_text,
    released,
    trips,
    write_log,
    write_trips,
)

QUICK = ("trips.csv", *TRIPS, "-e", "1")


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    write_trips(folder / "trips.csv")
    write_log(folder / "log.csv")
    (folder / "zones.csv").write_text("id,name\nc,Castle\na,Airport\nb,Bridge\nd,Dock\n")
    (folder / "lines.txt").write_text("% header\na b a b\n\nb c b\na\n")
    return folder


def _never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("drawn")


# Where the table is


def _parquet(folder: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("who", "hour", "from", "to")
    columns = dict(zip(names, map(list, zip(*trips(), strict=True)), strict=True))
    pq.write_table(pa.table(columns), folder / "trips.parquet")
    return "trips.parquet"


def _lines(folder: Path) -> str:
    rows = (json.dumps({"from": row[2], "to": row[3]}) for row in trips())
    (folder / "trips.jsonl").write_text("\n".join(rows) + "\n")
    return "trips.jsonl"


def _glob(folder: Path) -> str:
    write_trips(folder / "part-1.csv", trips()[:50])
    write_trips(folder / "part-2.csv", trips()[50:])
    return "part-*.csv"


@pytest.mark.parametrize("write", [_parquet, _lines, _glob, lambda folder: "trips.csv"])
def test_files_of_trips(run: Run, folder: Path, write: Any) -> None:
    record = released(run, write(folder), *TRIPS, *EXACT)
    assert record["tables"]["transitions"] == COUNTS
    assert record["value"]["labels"] == list(STATES)
    np.testing.assert_allclose(record["value"]["data"], [np.divide(row, sum(row)) for row in COUNTS])


@pytest.mark.slow
def test_tables_and_queries_of_a_duckdb_file(run: Run, folder: Path) -> None:
    import duckdb

    with duckdb.connect(str(folder / "city.duckdb")) as connection:
        connection.execute("CREATE TABLE trips AS SELECT * FROM read_csv('trips.csv')")
    named = released(run, "city.duckdb", "--table", "trips", *TRIPS, *EXACT)
    assert named["tables"]["transitions"] == COUNTS
    query = 'SELECT "from", "to" FROM trips WHERE hour = 1'
    asked = released(run, "city.duckdb", "--query", query, *TRIPS, *EXACT)
    assert asked["tables"]["transitions"] == by_hour(1)
    lost = run("release", "chain", "city.duckdb", "--table", "tripz", *TRIPS, *EXACT)
    assert lost.code == 4
    assert "tripz" in lost.json["error"]["message"]


def test_logs(run: Run) -> None:
    record = released(run, "log.csv", *VISITS, *EXACT)
    assert record["tables"]["transitions"] == LOG_COUNTS
    # Of the same time: by the order of the list, where c now stands before b.
    turned = released(run, "log.csv", *VISITS, "--states", "a,c,b", *EXACT)
    assert turned["tables"]["transitions"] == [[0, 0, 2], [0, 0, 1], [1, 1, 0]]


def test_ties_are_broken_by_a_column(run: Run, folder: Path) -> None:
    rows = [(*row, {"c": 1, "b": 2}.get(row[2], 0)) for row in LOG]
    (folder / "ties.csv").write_text(csv_text("who,time,page,tie", rows))
    record = released(run, "ties.csv", *VISITS, "--tie-break", "tie", *EXACT)
    assert record["tables"]["transitions"] == [[0, 2, 0], [1, 0, 1], [0, 1, 0]]


def test_sequences_in_lines(run: Run, folder: Path) -> None:
    record = released(run, "lines.txt", "--sequences", "--skip", "1", *EXACT)
    assert record["tables"]["transitions"] == [[0, 2, 0], [1, 0, 1], [0, 1, 0]]
    (folder / "bars.txt").write_text("New York|Rome\nRome|New York|Rome\n")
    split = released(run, "bars.txt", "--sequences", "--separator", "|", *EXACT)
    assert split["value"]["labels"] == ["New York", "Rome"]
    assert split["tables"]["transitions"] == [[0, 2], [1, 0]]


# States


@pytest.mark.slow
def test_states_as_a_list_a_file_or_a_lookup(run: Run, folder: Path) -> None:
    padded = [[*row, 0] for row in COUNTS] + [[0, 0, 0, 0]]
    listed = released(run, "trips.csv", *TRIPS, "--states", "a, b, c, d", *EXACT)
    assert listed["value"]["labels"] == ["a", "b", "c", "d"]
    assert listed["tables"]["transitions"] == padded
    assert STATES_ARE_PUBLIC not in listed["assumptions"]
    order = [2, 0, 1, 3]
    turned = np.array(padded)[np.ix_(order, order)].tolist()
    for text, names in (
        ("zones.csv", ["c", "a", "b", "d"]),
        ("zones.csv:id", ["c", "a", "b", "d"]),
        ("zones.csv:id:name", ["Castle", "Airport", "Bridge", "Dock"]),
    ):
        record = released(run, "trips.csv", *TRIPS, "--states", text, *EXACT)
        assert record["value"]["labels"] == names
        assert record["tables"]["transitions"] == turned
    found = released(run, "trips.csv", *TRIPS, *EXACT)
    assert STATES_ARE_PUBLIC in found["assumptions"]


def test_a_long_list_of_states(run: Run) -> None:
    """Longer than the name of a file may be."""
    names = ["a", "b", "c", *(f"a zone without any trips {number}" for number in range(20))]
    assert len(",".join(names)) > 255
    record = released(run, "trips.csv", *TRIPS, "--states", ",".join(names), *EXACT)
    assert record["value"]["labels"] == names
    merge = ",".join(f"{name}=c" for name in names[3:])
    record = released(run, "trips.csv", *TRIPS, "--states", ",".join(names), "--merge", merge, *EXACT)
    assert record["tables"]["transitions"] == COUNTS


@pytest.mark.slow
def test_a_state_for_the_rest(run: Run, folder: Path) -> None:
    record = released(run, "trips.csv", *TRIPS, "--states", "a,b", "--other", "elsewhere", *EXACT)
    assert record["value"]["labels"] == ["a", "b", "elsewhere"]
    assert record["tables"]["transitions"] == COUNTS
    dropped = released(run, "trips.csv", *TRIPS, "--states", "a,b", "--drop-unlisted", *EXACT)
    assert dropped["tables"]["transitions"] == [row[:2] for row in COUNTS[:2]]
    write_trips(folder / "gaps.csv", [("u", 0, "a", "b"), ("u", 0, "b", ""), ("u", 0, "", "a")])
    gaps = released(run, "gaps.csv", *TRIPS, "--other", "none", *EXACT)
    assert gaps["value"]["labels"] == ["a", "b", "none"]
    assert gaps["tables"]["transitions"] == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("given", ["c=b", "plain.merge", "named.merge"])
def test_merged_states(run: Run, folder: Path, given: str) -> None:
    (folder / "plain.merge").write_text("c,b\n")
    (folder / "named.merge").write_text("state,into\nc, b\n")
    record = released(run, "trips.csv", *TRIPS, "--merge", given, *EXACT)
    assert record["value"]["labels"] == ["a", "b"]
    assert record["tables"]["transitions"] == [[30, 30], [30, 75]]


def test_merging_by_the_names_of_a_lookup(run: Run) -> None:
    options = ("--states", "zones.csv:id:name", "--merge", "Dock=Bridge, Castle = Bridge")
    record = released(run, "trips.csv", *TRIPS, *options, *EXACT)
    assert record["value"]["labels"] == ["Airport", "Bridge"]
    assert record["tables"]["transitions"] == [[30, 30], [30, 75]]


@pytest.mark.parametrize("groups", ["0..2", "0,1,2", " 0 .. 2 "])
def test_groups(run: Run, folder: Path, groups: str) -> None:
    options = ("--group", "hour", "--groups", groups, "-e", "200", "-d", "0", "-o", "g.json")
    done = run("release", "chain", "trips.csv", *TRIPS, *options)
    assert done.code == 0, done.err
    out = veil.load(folder / "g.json")
    assert out.tables["transitions"].tolist() == [by_hour(hour) for hour in range(3)]
    for hour in range(3):
        truth = np.array(by_hour(hour))
        np.testing.assert_allclose(
            veil.chains.group_chain(out, str(hour)).to_numpy(), truth / truth.sum(axis=1, keepdims=True)
        )
    np.testing.assert_allclose(out.value.to_numpy(), [np.divide(row, sum(row)) for row in COUNTS])


# What is hidden


def scale(record: Any) -> float:
    parts = (record if "mechanism" in record else record["job"])["mechanism"]["parameters"]["parts"]
    return float(parts[0]["mechanism"]["parameters"]["scale"])


@pytest.mark.parametrize(
    ("options", "noise", "words"),
    [
        ((), 1, "one transition is added or removed"),
        (("--change", "replace"), 2, "one transition"),
        (("--unit", "row"), 3, "row"),
        (("--unit", "row", "--change", "replace"), 6, "row"),
        (("--unit", "row", "--change", "replace-state"), 6, "row"),
        (("--unit", "user", "--cap", "4"), 4, "at most 4 transitions"),
        (("--unit", "user", "--cap", "4", "--change", "replace"), 8, "at most 4 transitions"),
    ],
)
def test_units(run: Run, options: tuple[str, ...], noise: int, words: str) -> None:
    """As in the table of the page: the noise of a count is in proportion to what a unit can change."""
    # A row of a table of trips is a transition: rows are those of a log.
    source = ("log.csv", *VISITS) if "row" in options else ("trips.csv", *TRIPS, "--by", "who")
    record = run(
        "release", "chain", *source, "-e", "2", "-m", "geometric", *options, "--dry-run", "--json"
    ).json
    assert scale(record) == pytest.approx(noise / 2)
    assert record["charge"] == {"epsilon": 2.0, "delta": 0.0}
    assert words in record["adjacency"]


def test_a_cap_bounds_what_is_counted_of_each(run: Run) -> None:
    options = (*TRIPS, "--by", "who", "--unit", "user", "--cap", "5", *EXACT)
    record = released(run, "trips.csv", *options)
    # 165 trips of 17 users: nine or ten each, of which five are drawn.
    assert np.sum(record["tables"]["transitions"]) == 17 * 5
    assert record["adjacency"]["cap"] == 5


@pytest.mark.slow
def test_whole_users_of_a_log(run: Run, folder: Path) -> None:
    lines = [("a b c " * 20).strip()] * 30 + ["a b"] * 300 + ["b a c c"] * 200
    (folder / "many.txt").write_text("\n".join(lines) + "\n")
    options = ("--sequences", "--unit", "user", "--states", "a,b,c", "-e", "2", "--with", "starts")
    done = run("release", "chain", "many.txt", *options, "-o", "out.json")
    assert done.code == 0, done.err
    assert "Counted: of each user at most" in done.out
    assert "(a guess; better with --users and --mean-length)" in done.out
    assert "one person is added or removed" in done.out
    assert USERS_SEEN not in re.sub(r"\s+", " ", done.out)
    out = veil.load(folder / "out.json")
    assert (out.epsilon, out.delta) == (2.0, 0.0)
    assert veil.chains.model(out).starts is not None
    assert veil.chains.model(out).lengths is not None
    told = run("release", "chain", "many.txt", *options, "--users", "530", "--mean-length", "6")
    assert "(a guess" not in told.out
    half = run("release", "chain", "many.txt", *options, "--users", "530")
    assert "(a guess; better with --mean-length)" in half.out
    # The plan follows what is said: longer sequences, larger caps; and no cap above the one given.
    caps = {}
    for name, more in {"short": ("2",), "long": ("50",), "capped": ("50", "--cap", "3")}.items():
        record = released(
            run, "many.txt", *options, "--users", "530", "--mean-length", *more, "--dry-run", "--json"
        )
        parts = record["mechanism"]["parameters"]["parts"]
        caps[name] = max(part["cap"] for part in parts if part["of"] == "transitions")
    assert caps["short"] < caps["long"]
    assert caps["capped"] == 3


@pytest.mark.slow
def test_two_past_states(run: Run, folder: Path) -> None:
    (folder / "turns.txt").write_text("a b c\n" * 40 + "c b a\n" * 40)
    command = ("turns.txt", "--sequences", "--memory", "2")
    record = released(run, *command, *EXACT)
    second = np.array(record["tables"]["second"])
    # Before, from, to; the last is for those without a state before.
    assert second.shape == (4, 3, 3)
    assert second[0, 1].tolist() == [0, 0, 40]
    assert second[2, 1].tolist() == [40, 0, 0]
    assert second[3].tolist() == [[0, 40, 0], [0, 0, 0], [0, 40, 0]]
    whole = ("--unit", "user", "--users", "80", "--mean-length", "3", "-e", "50", "-o", "two.json")
    done = run("release", "chain", *command, *whole)
    assert done.code == 0, done.err
    law = veil.chains.model(veil.load(folder / "two.json")).second
    assert law is not None
    assert law[0, 1, 2] > 0.9
    assert law[2, 1, 0] > 0.9


@pytest.mark.slow
def test_further_tables(run: Run) -> None:
    names = ("starts", "ends", "lengths", "sizes")
    tables = released(run, "log.csv", *VISITS, "--with", ",".join(names), *EXACT)["tables"]
    assert list(tables) == ["transitions", *names]
    # v's rows of the same time are ordered by state: b, c, c.
    assert tables["starts"] == [2, 1, 0]
    assert tables["ends"] == [1, 1, 1]
    assert tables["sizes"] == [2, 2, 1]
    assert np.flatnonzero(tables["lengths"]).tolist() == [0, 2, 3]
    for name in names:
        one = released(run, "log.csv", *VISITS, "--with", name, *EXACT)["tables"]
        assert list(one) == ["transitions", name]


@pytest.mark.slow_for("dirichlet-DirichletCounts-0.001")
@pytest.mark.parametrize(
    ("name", "inside", "delta"),
    [
        ("auto", "GeometricCounts", 0.0),
        ("geometric", "GeometricCounts", 0.0),
        ("gaussian", "DiscreteGaussianCounts", 1e-3),
        ("dirichlet", "DirichletCounts", 1e-3),
        ("published", "BorderedRows", 1e-3),
    ],
)
def test_mechanisms(run: Run, folder: Path, name: str, inside: str, delta: float) -> None:
    options = ("-e", "9", "-d", "1e-3", "-m", name, "--change", "replace", "-o", "out.json")
    more = ("--floor", "0.08") if name == "published" else ("--records", "165")
    done = run("release", "chain", "trips.csv", *TRIPS, "--states", "a,b,c", *options, *more)
    assert done.code == 0, done.err
    out = veil.load(folder / "out.json")
    assert out.mechanism.describe()["parameters"]["parts"][0]["mechanism"]["name"] == inside
    assert out.adjacency == Transitions("event", "replace")
    assert out.delta == delta
    assert out.epsilon == pytest.approx(9.0, rel=1e-9)
    assert out.epsilon <= 9.0
    assert ("This holds only if no frequency" in done.out) == (name == "published")
    assert any("no frequency" in text for text in out.assumptions) == (name == "published")
    seen = run("inspect", "out.json")
    assert seen.code == 0
    assert "Checked: the mechanism as described has epsilon = 9" in seen.out


@pytest.mark.slow
def test_large_deltas_take_gaussian_noise(run: Run) -> None:
    options = ("-e", "0.1", "-d", "0.4", "--unit", "user", "--by", "who", "--cap", "9")
    done = run("release", "chain", "trips.csv", *TRIPS, *options)
    assert "Mechanism: gaussian: it moves a count by" in done.out


# What is kept and said


@pytest.mark.parametrize("unit", ["event", "user"])
def test_dry_runs_draw_and_write_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr(Job, "run", _never)
    monkeypatch.setattr("veil.chains.mechanisms.private_chain.PrivateChain._draw", _never)
    before = sorted(folder.iterdir())
    options = ("--unit", unit, *(("--by", "who", "--cap", "3") if unit == "user" else ()))
    command = ("release", "chain", *QUICK, *options, "-o", "x.csv", "--report", "x.html", "--dry-run")
    done = run(*command)
    assert done.code == 0, done.err
    assert "Would be charged: epsilon = 1, delta = 0. Nothing was drawn or written." in done.out
    machine = run(*command, "--json").json
    assert machine["dry_run"] is True
    assert machine["charge"] == {"epsilon": 1.0, "delta": 0.0}
    assert sorted(folder.iterdir()) == before
    # No count gets out, neither of a cell nor of a row nor of all.
    for text in (done.out, json.dumps(machine)):
        assert not re.search(r"\b(165|30|60|40|25|45)\b", text)


@pytest.mark.usefixtures("no_pictures")
def test_json_is_one_document(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is on the page does not matter here.
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 0)
    options = ("--by", "who", "-o", "x.json", "--report", "x.html", "--json")
    done = run("release", "chain", *QUICK, *options)
    assert done.code == 0, done.err
    written = json.loads((folder / "x.json").read_text())
    beside = {"written": ["x.json", "x.html"], "knowing_nothing": done.json["knowing_nothing"]}
    assert done.json == written | beside
    assert done.json["privacy"] == {"epsilon": 1.0, "delta": 0.0, "kind": "exact"}
    assert done.json["reproducible"] is False
    # The warning about users goes where it is in nobody's way.
    assert done.err.startswith("veil: warning: the data says who")
    assert done.err.count("\n") == 1


def test_csv_with_its_record_beside_it(run: Run, folder: Path) -> None:
    done = run("release", "chain", *QUICK, "-o", "out.csv")
    assert done.code == 0, done.err
    assert "Written: out.csv" in done.out
    record, table = veil.load(folder / "out.json"), read_matrix(str(folder / "out.csv"))
    assert table.rows == table.columns == STATES
    np.testing.assert_array_equal(table.entries, record.value.to_numpy())


@pytest.mark.slow
def test_seeds(run: Run) -> None:
    command = ("release", "chain", *QUICK, "--json")
    first, again, other = (run(*command, "--seed", seed).json for seed in ("3", "3", "4"))
    assert first["value"] == again["value"] != other["value"]
    assert first["reproducible"] is True
    assert "NOT PRIVATE: drawn from a seed" in run("release", "chain", *QUICK, "--seed", "3").out
    # At this epsilon two draws are the same once in 10^20.
    fresh = [released(run, "trips.csv", *TRIPS, "-e", "0.01", "--json")["value"] for _ in range(2)]
    assert fresh[0] != fresh[1]


@pytest.mark.slow_for("log")
@pytest.mark.parametrize("source", [TRIPS, VISITS], ids=["trips", "log"])
def test_seeds_also_fix_the_sample_of_each_user(run: Run, folder: Path, source: tuple[str, ...]) -> None:
    """One transition of each of 300, without noise: what differs is which one was drawn."""
    rng = random.Random(1)
    rows = [(who, time, *rng.choices("abc", k=3)) for who in range(300) for time in range(6)]
    (folder / "many.csv").write_text(csv_text("who,time,page,from,to", rows))
    by = () if "--by" in source else ("--by", "who")
    command = ("many.csv", *source, *by, "--unit", "user", "--cap", "1", "--seed", "5", *EXACT)
    first, again = (released(run, *command)["tables"] for _ in range(2))
    assert first == again


@pytest.mark.slow
def test_releasing_again_is_warned_of(run: Run, folder: Path) -> None:
    command = ("release", "chain", *QUICK, "-o", "x.json")
    first = run(*command)
    assert "WARNING" not in first.out
    kept = (folder / "x.json").read_text()
    refused = run(*command)
    assert refused.code == 2
    assert "--force" in refused.err
    assert (folder / "x.json").read_text() == kept
    again = run(*command, "--force")
    assert again.code == 0
    assert "WARNING: a release is overwritten, but readers may know the old one" in again.out
    machine = run(*command, "--force", "--json")
    assert machine.json["privacy"]["epsilon"] == 1.0
    assert "warning: a release is overwritten" in machine.err


@pytest.mark.slow
def test_users_behind_events_are_warned_of(run: Run) -> None:
    def words(*options: str) -> str:
        return re.sub(r"\s+", " ", run("release", "chain", *options, "-e", "1").out)

    assert f"WARNING: {USERS_SEEN}." in words("trips.csv", *TRIPS, "--by", "who")
    assert f"WARNING: {USERS_SEEN}." in words("log.csv", *VISITS)
    people = ("trips.csv", *TRIPS, "--by", "who", "--unit", "user", "--cap", "2")
    for quiet in (("trips.csv", *TRIPS), ("log.csv", *VISITS, "--unit", "row"), people):
        # At a budget at which the noise itself is not warned of, nothing is.
        assert "WARNING" not in run("release", "chain", *quiet, "-e", "200").out


def test_the_terminal_shows_the_chain(run: Run) -> None:
    done = run("release", "chain", "trips.csv", *TRIPS, "-e", "2000", "-d", "0")
    assert "long-run share" in done.out
    # The largest cell, 40 of 165.
    assert re.search(r"24\.242 % +b -> b", done.out)
    assert "Mechanism: geometric: delta is 0; it moves a count by" in done.out
    assert "Not saved: add -o FILE.json" in done.out


# The page


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_reports(run: Run, folder: Path) -> None:
    done = run("release", "chain", *QUICK, "-o", "x.json", "--report", "x.html")
    assert done.code == 0, done.err
    page = (folder / "x.html").read_text(encoding="utf-8")
    for heading in ("The most frequent transitions", "Other mechanisms at the same ε", "belief before"):
        assert heading in page
    assert "Hidden is one trip." in page
    # Made from the record alone: so nothing of the table is in it.
    assert run("inspect", "x.json", "--report", "again.html").code == 0
    assert (folder / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_counts_are_neither_in_the_page_nor_in_the_record(run: Run, folder: Path) -> None:
    """At this seed no noisy count is the true one."""
    big = [("u", 0, "a", "b")] * 5381 + [("u", 0, "b", "a")] * 4733 + [("u", 0, "a", "a")] * 6967
    write_trips(folder / "big.csv", big)
    options = ("-e", "0.05", "--seed", "8", "-o", "x.json", "--report", "x.html")
    done = run("release", "chain", "big.csv", *TRIPS, *options)
    assert done.code == 0, done.err
    for text in (done.out, (folder / "x.json").read_text(), (folder / "x.html").read_text(encoding="utf-8")):
        for count in (5381, 4733, 6967, 5381 + 6967, 5381 + 4733 + 6967):
            assert not re.search(rf"\b({count}|{count:,})\b", text)


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_labels_are_escaped(run: Run, folder: Path) -> None:
    evil = "<script>alert(1)</script>"
    (folder / "evil.csv").write_text(f"from,to\n{evil},[red]b[/red]\n[red]b[/red],{evil}\n{evil},{evil}\n")
    done = run("release", "chain", "evil.csv", *TRIPS, "-e", "9", "--report", "x.html")
    assert done.code == 0, done.err
    page = (folder / "x.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 5
    # In the terminal as they stand.
    assert f"{evil} -> [red]b[/red]" in done.out


# Derived columns


@pytest.mark.slow
def test_hours_and_queries_over_files(run: Run, folder: Path) -> None:
    """The hour from times in a CSV, by an option and by a query: the same chains."""
    rows = ["t,from,to", "15/11/2026 8:10,a,b", "15/11/2026 8:20,b,a", "15/11/2026 9:00,a,a"]
    (folder / "timed.csv").write_text("\n".join(rows) + "\n")
    option = ("--hour-of", "t", "--time-format", "day-first")
    text = 'SELECT hour(strptime(t, \'%d/%m/%Y %H:%M\')) AS h, "from", "to" FROM input'
    query = ("--query", text, "--group", "h", "--groups", "0..23")
    made = []
    for i, given in enumerate((option, query)):
        done = run(
            "release", "chain", "timed.csv", *TRIPS, *given, "--states", "a,b", *EXACT, "-o", f"{i}.json"
        )
        assert done.code == 0, done.err
        made.append(veil.load(folder / f"{i}.json"))
    for out in made:
        assert np.allclose(veil.chains.group_chain(out, "8").matrix, [[0, 1], [1, 0]], atol=0.01)
    assert made[0].assumptions == made[1].assumptions
