"""Chains from tables, misused: what is wrong is said in one line, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import Run
from .tables import LOG, TRIPS, VISITS, csv_text, trips, write_log, write_trips

QUICK = ("trips.csv", *TRIPS, "-e", "1")
VISITED = ("log.csv", *VISITS, "-e", "1")


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    write_trips(folder / "trips.csv")
    write_log(folder / "log.csv")
    write_trips(folder / "empty.csv", [])
    write_trips(folder / "gaps.csv", [("u", 0, "a", "b"), ("u", 0, "", "a"), ("u", 1, "b", "a")])
    write_trips(folder / "one.csv", [("u", 0, "a", "a")] * 9)
    pq.write_table(pa.table({"from": [1.5, 2.5], "to": [2.5, 1.5]}), folder / "floats.parquet")
    (folder / "alone.txt").write_text("a\nb\na\n")
    (folder / "blank.txt").write_text("\n\n")
    (folder / "pairs.csv").write_text("a,b,c\n")
    (folder / "noise.parquet").write_bytes(b"PAR1 not really")
    return folder


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    yield
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


WRONG_USE = {
    "no epsilon": (("trips.csv", *TRIPS), "epsilon"),
    "no budget": (("trips.csv", *TRIPS, "-e", "0"), "epsilon: expected a positive number"),
    "no number": (("trips.csv", *TRIPS, "-e", "nan"), "epsilon: expected a positive number"),
    "delta": ((*QUICK, "-d", "2"), "delta: expected a number between 0 and 1"),
    "gaussian without delta": ((*QUICK, "-d", "0", "-m", "gaussian"), "gaussian needs a delta above 0"),
    "no columns": (("trips.csv", "-e", "1"), "Give --from and --to for trips"),
    "half a trip": (("trips.csv", "--from", "from", "-e", "1"), "--to: expected a column"),
    "half a log": (("log.csv", "--state", "page", "-e", "1"), "--by: expected a column, since --state asks"),
    "both": ((*QUICK, "--by", "who", "--order", "hour", "--state", "from"), "either --state or --from"),
    "unit": ((*QUICK, "--unit", "person"), "unit: expected 'event' or 'row' or 'user'"),
    "change": ((*QUICK, "--change", "swap"), "change: expected 'add-remove' or 'replace'"),
    "change of a state": ((*QUICK, "--change", "replace-state"), "change"),
    "mechanism": ((*QUICK, "-m", "laplace"), "mechanism: expected 'auto' or 'geometric'"),
    "memory": ((*VISITED, "--memory", "3"), "--memory"),
    "memory of trips": ((*QUICK, "--memory", "2"), "memory: expected a log"),
    "starts of trips": ((*QUICK, "--with", "starts"), "--with: expected a log for starts, ends and length"),
    "users without who": ((*QUICK, "--unit", "user", "--cap", "3"), "to say whose transitions are capped"),
    "trips without cap": ((*QUICK, "--by", "who", "--unit", "user"), "--cap: expected a number"),
    "cap of nothing": ((*QUICK, "--by", "who", "--unit", "user", "--cap", "0"), "--cap"),
    "cap without users": ((*QUICK, "--by", "who", "--cap", "3"), "--cap: expected --unit user with it"),
    "dirichlet in strata": ((*VISITED, "--unit", "user", "-m", "dirichlet"), "geometric or gaussian"),
    "group alone": ((*QUICK, "--group", "hour"), "--groups: expected the public list"),
    "groups alone": ((*QUICK, "--groups", "0..2"), "--groups: expected --group as well"),
    "no groups": ((*QUICK, "--group", "hour", "--groups", "5..2"), "groups"),
    "group twice": ((*QUICK, "--group", "hour", "--groups", "0,1,2,2"), "labels that all differ"),
    "state twice": ((*QUICK, "--states", "a,b,c,a"), "labels that all differ"),
    "merged from nothing": ((*QUICK, "--merge", "x=a"), "merge: expected states of the list"),
    "merged in turn": ((*QUICK, "--merge", "a=b,b=c"), "one that goes itself"),
    "merged away": ((*QUICK, "--merge", "a=b,c=b"), "two states or more that stay"),
    "half a merge": ((*QUICK, "--merge", "a=b,c"), "merge"),
    "wide merge": ((*QUICK, "--merge", "pairs.csv"), "--merge: expected two columns"),
    "skip": ((*QUICK, "--skip", "2"), "--sequences: expected it, with --skip or --separator"),
    "columns of lines": (("lines.txt", "--sequences", "--by", "who", "-e", "1"), "none for a source of seq"),
    "table of a file": ((*QUICK, "--table", "t"), "table"),
    "no floor": ((*QUICK, "-m", "published", "--change", "replace"), "--floor: expected a number above 0"),
    "published, pure": (
        (*QUICK, "-m", "published", "--floor", "0.05", "--change", "replace"), "needs a delta above 0",
    ),
    "published, added": ((*QUICK, "-m", "published", "--floor", "0.05"), "--change: expected replace"),
    "published, strong": (
        (*QUICK[:-1], "1e-3", "-d", "1e-6", "-m", "published", "--floor", "0.05", "--change", "replace"),
        "needs k >= 3/(2 floor) in every row, and so an epsilon of at least",
    ),
    "ending": ((*QUICK, "-o", "x.parquet"), "--output: expected a name that ends in .json or .csv"),
    "ending of the page": ((*QUICK, "--report", "x.pdf"), "--report"),
    "no folder": ((*QUICK, "-o", "no/x.json"), "an existing folder"),
    "the input": ((*QUICK, "-o", "trips.csv", "--force"), "which is the input"),
}  # fmt: skip
BAD_DATA = {
    "no file": (("no.csv", *TRIPS, "-e", "1"), "no.csv: expected a file, found no such file"),
    "no files": (("no-*.csv", *TRIPS, "-e", "1"), "no-*.csv"),
    "no lines": (("no.txt", "--sequences", "-e", "1"), "no such file"),
    "empty": (("empty.csv", *TRIPS, "-e", "1"), "expected"),
    "misspelt": (("trips.csv", "--from", "fron", "--to", "to", "-e", "1"), "Did you mean 'from'?"),
    "gaps": (("gaps.csv", *TRIPS, "-e", "1"), "from: expected"),
    "one state": (("one.csv", *TRIPS, "-e", "1"), "two states or more"),
    "floats": (("floats.parquet", *TRIPS, "-e", "1"), "whole numbers or text"),
    "not on the list": ((*QUICK, "--states", "a,b"), "expected one of the 2 states in every row"),
    "not in the groups": ((*QUICK, "--group", "hour", "--groups", "0,1"), "one of the 2 groups"),
    "no list": ((*QUICK, "--states", "no.csv"), "no.csv: expected"),
    "no such column": ((*QUICK, "--states", "zones.csv:key"), "zones.csv: expected a column 'key'"),
    "no merge": ((*QUICK, "--merge", "no.csv"), "no.csv"),
    "no transitions": (("alone.txt", "--sequences", "-e", "1"), "at least one transition"),
    "blank": (("blank.txt", "--sequences", "-e", "1"), "no line with states"),
    "not Parquet": (("noise.parquet", *TRIPS, "-e", "1"), "noise.parquet"),
    "below the floor": (
        (*QUICK[:-1], "60", "-d", "1e-6", "-m", "published", "--floor", "0.2", "--change", "replace"),
        "at or above its floor of 0.2",
    ),
}


@pytest.mark.mostly_slow(quick=7)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [(one, code, words) for cases, code in ((WRONG_USE, 2), (BAD_DATA, 4)) for one, words in cases.values()],
    ids=[*WRONG_USE, *BAD_DATA],
)
def test_mistakes(run: Run, folder: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    (folder / "lines.txt").write_text("a b\nb a\n")
    (folder / "zones.csv").write_text("id,name\na,A\nb,B\nc,C\n")
    kept = () if {"-o", "--report"} & set(arguments) else ("-o", "x.csv", "--report", "x.html")
    with unchanged(folder):
        done = run("release", "chain", *arguments, *kept)
        assert done.code == code, done.err + done.out
        assert words in done.err
        assert done.out == ""
        machine = run("release", "chain", *arguments, *kept, "--json")
        assert machine.code == code
        assert done.err.count("\n") == 1
        assert words in machine.json["error"]["message"]
        assert machine.err == ""
        # On the command line, options have their own names.
        assert not re.search(r"\b[a-z_]+=(?!\d)", done.err.replace("at delta=", "").replace("a=b,c=b", ""))


@pytest.mark.slow
def test_a_duckdb_file_that_someone_else_writes_to(run: Run, folder: Path) -> None:
    import subprocess
    import sys

    code = (
        "import duckdb, sys\n"
        "db = duckdb.connect('city.duckdb')\n"
        'db.execute(\'CREATE TABLE trips ("from" TEXT, "to" TEXT)\')\n'
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        done = run("release", "chain", "city.duckdb", "--table", "trips", *TRIPS, "-e", "1", "-o", "x.json")
        assert done.code == 4, done.err
        assert "city.duckdb" in done.err
        assert done.err.count("\n") == 1
        assert not (folder / "x.json").exists()
    finally:
        writer.communicate("", timeout=60)


def test_errors_never_show_a_label_or_a_count(run: Run, folder: Path) -> None:
    write_trips(folder / "secret.csv", [("u", 0, "secret-a", "b")] * 713 + [("u", 0, "b", "secret-c")])
    done = run("release", "chain", "secret.csv", *TRIPS, "--states", "a,b", "-e", "1")
    assert done.code == 4
    assert "secret-" not in done.err
    assert "713" not in done.err


# What one might expect to be kept, asked for or understood.


@pytest.mark.parametrize(
    ("name", "options"),
    [("zones.csv", ("--states", "zones.csv")), ("merge.csv", ("--merge", "merge.csv"))],
)
def test_lists_are_not_overwritten(run: Run, folder: Path, name: str, options: tuple[str, ...]) -> None:
    (folder / "zones.csv").write_text("zone\na\nb\nc\n")
    (folder / "merge.csv").write_text("a,b\n")
    with unchanged(folder):
        done = run("release", "chain", *QUICK, *options, "-o", name, "--force")
        assert done.code == 2, done.out


def test_files_of_a_glob_are_not_overwritten(run: Run, folder: Path) -> None:
    write_trips(folder / "part-1.csv", trips()[:80])
    write_trips(folder / "part-2.csv", trips()[80:])
    with unchanged(folder):
        done = run("release", "chain", "part-*.csv", *TRIPS, "-e", "1", "-o", "part-2.csv", "--force")
        assert done.code == 2, done.out


def test_memory_of_trips_is_refused_for_users_as_well(run: Run) -> None:
    done = run("release", "chain", *QUICK, "--by", "who", "--unit", "user", "--cap", "3", "--memory", "2")
    assert done.code == 2, done.out
    assert "memory" in done.err


def test_groups_of_whole_users(run: Run, folder: Path) -> None:
    """Nobody asked for strata, so none may be in the way."""
    (folder / "visits.csv").write_text(csv_text("who,time,page,hour", [(*row, row[1] % 2) for row in LOG]))
    options = ("--unit", "user", "--cap", "2", "--group", "hour", "--groups", "0,1")
    done = run("release", "chain", "visits.csv", *VISITS, "-e", "1", *options)
    assert done.code == 0, done.err
