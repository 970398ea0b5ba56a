"""Tables of bits on the command line: what is done, what is said, and what is never said."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import veil

from .conftest import Done, Run

COLUMNS = ["likes tea", "höhe", "drug_use"]
_DRAW = random.Random(5)
ROWS = [[_DRAW.choice(["yes", "no"]) for _ in COLUMNS] for _ in range(60)]
# So much that no bit is wrong: what comes out is what went in.
EXACT = ("votes.csv", "-e", "400", "--seed", "1")
QUICK = ("votes.csv", "-e", "2", "--seed", "1")


def text_of(header: list[str] | None, rows: list[list[str]], mark: str = ",") -> str:
    lines = ([] if header is None else [header]) + rows
    return "\n".join(mark.join(line) for line in lines) + "\n"


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    gaps = [[row[0], "?" if i % 7 == 0 else row[1], row[2]] for i, row in enumerate(ROWS)]
    for name, text in {
        "votes.csv": text_of(COLUMNS, ROWS),
        "semicolons.csv": text_of(COLUMNS, ROWS, ";"),
        "votes.data": text_of(None, ROWS),
        "gaps.csv": text_of(COLUMNS, gaps),
        "one.csv": text_of(["smoker"], [[str(i % 3 // 2)] for i in range(50)]),
        "colours.csv": text_of(["c", "b"], [["SECRETRED", "1"], ["blue", "0"], ["green", "1"]] * 5),
        "alike.csv": text_of(["c", "b"], [["SECRETRED", "1"], ["SECRETRED", "0"]] * 5),
        "people.csv": text_of(["id", "name", "v"], [[str(i), f"SECRET{i}", str(i % 2)] for i in range(9)]),
        "rag.csv": "a,b\n1,0\n1\n0,1\n",
        "twice.csv": "a,a\n1,0\n0,1\n",
        "empty.csv": "",
        "sheet.xlsx": "PK",
        "bad.parquet": "SECRET",
        "utf16.csv": "a,b\n1,0\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "utf16.csv").write_bytes("a,b\n1,0\n".encode("utf-16"))
    return folder


def read(path: Path) -> list[list[str]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode()
    return list(csv.reader(io.StringIO(text), delimiter="\t" if ".tsv" in path.name else ","))


def release(run: Run, *arguments: str) -> Done:
    done = run("release", "bits", *arguments)
    assert done.code == 0, done.err + done.out
    return done


def refused(run: Run, *arguments: str, code: int, says: str, command: str = "release") -> Done:
    """Said in one line, the same to machines, and nothing is written or quoted."""
    before = sorted(Path().iterdir())
    done = run(command, "bits", *arguments)
    assert done.code == code, done.err + done.out
    assert says in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    machine = run(command, "bits", *arguments, "--json")
    assert machine.code == code
    assert machine.json["error"]["message"] in done.err
    assert sorted(Path().iterdir()) == before
    assert "SECRET" not in done.err + machine.out
    return done


# Files


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.tsv.gz", "OUT.CSV"])
def test_what_comes_out_looks_as_what_went_in(run: Run, folder: Path, name: str) -> None:
    done = release(run, *EXACT, "-o", name)
    record = name.split(".")[0] + ".json"
    assert done.out.endswith(f"Written: {name}\nWritten: {record}\n")
    assert read(folder / name) == [COLUMNS, *ROWS]
    held = veil.load(folder / record)
    assert held.labels == tuple(COLUMNS)
    assert held.value.tolist() == [[cell == "yes" for cell in row] for row in ROWS]


def test_parquet(run: Run, folder: Path) -> None:
    import pyarrow.parquet as pq

    release(run, *EXACT, "-o", "out.parquet")
    table = pq.read_table(folder / "out.parquet")
    assert table.column_names == COLUMNS
    release(run, "out.parquet", "-e", "400", "--seed", "2", "-o", "again.csv")
    assert read(folder / "again.csv")[0] == COLUMNS
    assert table.num_rows == len(ROWS)


def test_pipes(run: Run, folder: Path) -> None:
    done = run("release", "bits", "-", *EXACT[1:], "-o", "out.csv", stdin=text_of(COLUMNS, ROWS))
    assert done.code == 0, done.err
    assert read(folder / "out.csv") == [COLUMNS, *ROWS]


def test_other_separators_and_no_header(run: Run, folder: Path) -> None:
    release(run, "semicolons.csv", *EXACT[1:], "-o", "semi.csv")
    assert read(folder / "semi.csv") == [COLUMNS, *ROWS]
    release(run, "votes.data", *EXACT[1:], "-o", "unnamed.csv")
    assert read(folder / "unnamed.csv")[0] == ["column1", "column2", "column3"]
    assert read(folder / "unnamed.csv")[1:] == ROWS


def test_one_column(run: Run) -> None:
    done = release(run, "one.csv", "-e", "1", "--seed", "1")
    assert "wrong with probability 0.2689" in done.out


@pytest.mark.slow
def test_a_seed_repeats_and_is_said_to(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "one.csv", "--force")
    done = release(run, *QUICK, "-o", "two.csv")
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()
    assert "NOT PRIVATE: drawn from a seed." in done.out
    release(run, "votes.csv", "-e", "2", "-o", "free.csv")
    release(run, "votes.csv", "-e", "2", "-o", "freer.csv")
    assert (folder / "free.csv").read_text() != (folder / "freer.csv").read_text()


# What is asked for


def test_columns_are_chosen_and_ordered(run: Run, folder: Path) -> None:
    release(run, *EXACT, "--columns", "drug_use, likes tea", "-o", "out.csv")
    assert read(folder / "out.csv") == [["drug_use", "likes tea"], *([row[2], row[0]] for row in ROWS)]


def test_gaps(run: Run, folder: Path) -> None:
    gaps = ("gaps.csv", *EXACT[1:])
    refused(run, *gaps, code=4, says="column2: expected a value in every row, found gaps")
    release(run, *gaps, "--missing", "no", "-o", "no.csv")
    assert [row[1] for row in read(folder / "no.csv")[1:]][::7] == ["no"] * 9
    release(run, *gaps, "--missing", "yes", "-o", "yes.csv")
    assert [row[1] for row in read(folder / "yes.csv")[1:]][::7] == ["yes"] * 9
    done = release(run, *gaps, "--missing", "drop-column", "-o", "drop.csv")
    assert "Left out, because of gaps: höhe." in done.out
    assert "which columns have gaps" in done.out
    assert read(folder / "drop.csv")[0] == ["likes tea", "drug_use"]
    release(run, *gaps, "--missing", "own-column", "-o", "own.csv")
    own = read(folder / "own.csv")
    assert own[0] == [one for name in read(folder / "no.csv")[0] for one in (name, f"{name} missing")]
    assert [tuple(row[2:4]) for row in own[1:]][::7] == [("no", "yes")] * 9


def test_values(run: Run, folder: Path) -> None:
    release(run, *EXACT, "--values", "yes,no", "-o", "swapped.csv")
    assert read(folder / "swapped.csv") == [COLUMNS, *ROWS]
    held: Any = veil.load(folder / "swapped.json").value
    assert held.tolist() == [[cell == "no" for cell in row] for row in ROWS]
    done = release(run, "alike.csv", *EXACT[1:], "--values", "c=SECRETRED,other")
    assert "two values of each column are public" not in done.out
    assert release(run, "alike.csv", *EXACT[1:], "--columns", "b").code == 0


@pytest.mark.parametrize(
    ("asked", "mechanism", "adjacency", "rate"),
    [
        ((), "StaircaseXor", veil.bits.BitFlips(3, where="row"), 0.2780),
        (("--flips", "2"), "StaircaseXor", veil.bits.BitFlips(2, where="row"), None),
        (("--unit", "bit"), "RandomizedResponse", veil.bits.BitFlips(1), 0.1192),
        (("--unit", "bit", "--flips", "2"), "RandomizedResponse", veil.bits.BitFlips(2), 0.2689),
        (("-m", "response"), "RandomizedResponse", veil.bits.BitFlips(3, where="row"), 0.3392),
    ],
)
def test_units(
    run: Run, folder: Path, asked: tuple[str, ...], mechanism: str, adjacency: Any, rate: float | None
) -> None:
    done = release(run, *QUICK, *asked, "-o", "out.csv")
    held = veil.load(folder / "out.json")
    assert (held.mechanism.name, held.adjacency, held.epsilon) == (mechanism, adjacency, 2.0)
    if rate is not None:
        assert f"wrong with probability {rate:.4f}" in done.out
    seen = run("inspect", "out.json", "--json").json
    assert seen["verified"] is True
    assert seen["computed_epsilon"] == 2.0


def test_a_dry_run_says_what_is_assumed_and_what_to_know(run: Run, folder: Path) -> None:
    (folder / "square.csv").write_text("a,b,c\n0,1,0\n1,0,1\n0,1,0\n")
    asked = ("release", "bits", "square.csv", "-e", "1", "--query", "SELECT a, b, c FROM input ORDER BY a")
    (folder / "kept.json").write_text("{}")
    done = run(*asked, "--dry-run", "--force", "-o", "kept.json")
    assert "This would hold only if the number of rows is public." in done.out
    assert "WARNING: a release is overwritten" in done.out
    said = run(*asked, "--dry-run", "--force", "-o", "kept.json", "--json").json
    assert "the number of rows is public" in said["assumptions"]
    assert len(said["warnings"]) == 1


def test_a_dry_run_draws_and_writes_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr("veil.core.job.Job.run", never)
    done = release(run, *QUICK, "--dry-run", "-o", "out.csv")
    assert "Would be charged: epsilon = 2, delta = 0. Nothing was drawn or written." in done.out
    said = release(run, *QUICK, "--dry-run", "--json").json
    assert said["charge"] == {"epsilon": 2.0, "delta": 0.0}
    assert not (folder / "out.csv").exists()


@pytest.mark.usefixtures("some_pictures")
def test_machines_get_one_document(run: Run, folder: Path) -> None:
    done = release(run, *QUICK, "--json", "-o", "out.csv", "--report", "out.html")
    assert done.json["privacy"]["epsilon"] == 2.0
    beside = {"written": ["out.csv", "out.json", "out.html"], "knowing_nothing": done.json["knowing_nothing"]}
    assert json.loads((folder / "out.json").read_text()) | beside == done.json
    assert (folder / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_said(run: Run) -> None:
    done = release(run, *QUICK)
    for part in (
        "60 rows, 3 columns.",
        "the shares above are corrected for it",
        "epsilon = 2, delta = 0",
        "differ in at most 3 bits of one row",
        "7.390 times as likely",
        "This holds only if the number of rows is public.",
        "Not saved: add -o FILE.csv to keep it.",
    ):
        assert part in done.out
    assert "yes" in done.out
    tiny = release(run, "votes.csv", "-e", "0.01", "--seed", "1")
    assert "WARNING: these intervals say nothing" in tiny.out


@pytest.mark.slow
def test_overwriting(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.csv")
    refused(run, *QUICK, "-o", "out.csv", code=2, says="out.csv exists already. Add --force")
    done = release(run, *QUICK, "-o", "out.csv", "--force")
    assert "WARNING: a release is overwritten" in done.out
    refused(run, *QUICK, "-o", "votes.csv", "--force", code=2, says="votes.csv, which is the input")


# What is refused


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nosuch.csv", "-e", "1"), 4, "nosuch.csv: expected a file, found no such file"),
        (("empty.csv", "-e", "1"), 4, "empty.csv: expected rows of cells, found an empty file"),
        (("sheet.xlsx", "-e", "1"), 4, "Save the sheet as CSV"),
        (("bad.parquet", "-e", "1"), 4, "bad.parquet: expected a Parquet file"),
        (("utf16.csv", "-e", "1"), 4, "UTF-16"),
        (("rag.csv", "-e", "1"), 4, "line 3: expected 2 cells as in the first line, found 1"),
        (("twice.csv", "-e", "1"), 4, "expected columns with different names, found one of them twice"),
        (("colours.csv", "-e", "1"), 4, "column1: expected two different values, found 3 different values"),
        (("alike.csv", "-e", "1"), 4, "column1: expected two different values, found 1 value only"),
        (("people.csv", "-e", "1"), 4, "column1: expected two different values, found 9 different values"),
        (("votes.csv", "-e", "0"), 2, "epsilon: expected a positive number, found 0"),
        (("votes.csv", "-e", "-1"), 2, "epsilon: expected a positive number"),
        (("votes.csv", "-e", "nan"), 2, "epsilon: expected a positive number"),
        (("votes.csv", "-e", "inf"), 2, "epsilon: expected a positive number"),
        (("votes.csv", "-e", "1e6"), 2, "between 1e-06 and 500"),
        ((*QUICK, "--unit", "rows"), 2, "--unit: expected 'row' or 'bit', found 'rows'"),
        ((*QUICK, "--flips", "9"), 2, "--flips: expected at most the 3 bits of a row"),
        ((*QUICK, "-m", "stair"), 2, "'staircase' or 'response', found 'stair'"),
        ((*QUICK, "-m", "staircase", "--unit", "bit"), 2, "expected response for single bits"),
        ((*QUICK, "--columns", "nope"), 4, "--columns: expected a column 'nope'"),
        ((*QUICK, "--columns", "höhe,höhe"), 2, "--columns: expected different columns"),
        ((*QUICK, "--values", "yes"), 2, "--values: expected two values with a comma"),
        ((*QUICK, "--values", "no,yes", "--values", "a=no,yes"), 2, "--values: expected either one pair"),
        ((*QUICK, "--values", "nope=no,yes"), 4, "--values: expected a column 'nope'"),
        (
            (*QUICK, "--missing", "maybe"),
            2,
            "--missing: expected 'no' or 'yes' or 'drop-column' or 'own-column'",
        ),
        ((*QUICK, "-o", "out.xlsx"), 2, "--output: expected a name that ends in .json or .csv"),
        ((*QUICK, "-o", "out"), 2, "--output: expected a name that ends in"),
        ((*QUICK, "-o", "none/out.csv"), 2, "--output: expected an existing folder"),
        ((*QUICK, "--report", "out.pdf"), 2, "--report: expected a name that ends in .html"),
    ],
)
def test_refused(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    refused(run, *arguments, code=code, says=says)


@pytest.mark.parametrize(
    "arguments",
    [
        ("votes.csv",),
        ("votes.csv", "-e", "much"),
        (*QUICK, "--colums", "a"),
        (*QUICK, "--flips", "0"),
        ("votes.csv", "-e", "2", "--seed", "-1"),
        (*QUICK, "--seed", "2"),
        (),
    ],
)
def test_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    done = run("release", "bits", *arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert done.err.startswith("veil: ")
    assert done.err.count("\n") == 1
    assert done.out == ""


@pytest.mark.parametrize("command", [("release", "bits"), ("plan", "bits")])
def test_help_has_an_example(run: Run, command: tuple[str, str]) -> None:
    done = run(*command, "--help")
    assert done.code == 0
    assert f"Example: veil {' '.join(command)} " in done.out


@pytest.mark.parametrize(
    "arguments", [("colours.csv",), ("alike.csv",), ("rag.csv",), ("votes.csv", "--delimiter", ";")]
)
def test_an_option_is_named_once(run: Run, arguments: tuple[str, ...]) -> None:
    done = run("release", "bits", *arguments, "-e", "1")
    assert done.code == 4
    for option in ("--columns", "--values", "--missing", "--delimiter", "--header"):
        assert f"{option} ({option}" not in done.err
    assert "--header True" not in done.err


def test_one_is_not_many(run: Run) -> None:
    assert "1 columns" not in release(run, "one.csv", "-e", "1", "--seed", "1").out
    assert "1 columns" not in run("plan", "bits", "-c", "1", "-e", "1").out


def test_this_folder_is_named(run: Run) -> None:
    done = run("release", "bits", ".", "-e", "1")
    assert done.code == 4
    assert done.err.startswith("veil: .: expected a file")


def test_single_bits_are_warned_of(run: Run) -> None:
    """A newcomer who asks for --unit bit gets better numbers, and must be told what they cost."""
    assert "whole row" in release(run, *QUICK, "--unit", "bit").out


def test_inspect_hints_at_the_record(run: Run) -> None:
    release(run, *QUICK, "-o", "out.csv")
    done = run("inspect", "out.csv")
    assert done.code == 4
    assert "out.json" in done.err


# Plans


@pytest.mark.slow
def test_plans(run: Run) -> None:
    done = run("plan", "bits", "-c", "16", "-n", "435", "-e", "1")
    assert done.code == 0
    assert "45.01 %" in done.out
    assert "hidden: a whole row." in done.out
    assert "No data was read." in done.out
    found = run("plan", "bits", "-c", "16", "-n", "435", "-e", "1", "--json").json
    assert [row["name"] for row in found["mechanisms"]] == ["staircase", "response"]
    assert round(found["mechanisms"][0]["flip_rate"], 4) == 0.4501
    single = run("plan", "bits", "-c", "16", "-e", "1", "--unit", "bit", "--json").json
    assert round(single["mechanisms"][0]["flip_rate"], 4) == 0.2689
    assert run("plan", "bits", "-c", "100000", "-e", "1").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-c", "16", "-e", "0"), "epsilon: expected a positive number"),
        (("-c", "16", "-e", "1e9"), "between 1e-06 and 500"),
        (("-c", "16", "-e", "1", "--flips", "17"), "--flips: expected at most the 16 bits"),
        (("-c", "16", "-e", "1", "--unit", "person"), "--unit: expected 'row' or 'bit'"),
    ],
)
def test_plans_refused(run: Run, arguments: tuple[str, ...], says: str) -> None:
    refused(run, *arguments, code=2, says=says, command="plan")


def test_a_plan_is_what_a_release_does(run: Run) -> None:
    rate = run("plan", "bits", "-c", "3", "-e", "2", "--json").json["mechanisms"][0]["flip_rate"]
    assert f"wrong with probability {rate:.4f}" in release(run, *QUICK).out
