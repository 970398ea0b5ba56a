"""Files that commands write: whose they are, what they may replace, and what a spreadsheet makes of them."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import veil
from tests.cli.conftest import Run
from veil.core.formulas import safe_cell
from veil.core.writing import SENSITIVE, write_text
from veil.errors import InvalidArgument
from veil.ledger.ledger import Ledger

VECTOR = ("release", "vector", "grades.csv", "-e", "0.5")


@pytest.fixture
def grades(folder: Path) -> Path:
    (folder / "grades.csv").write_text("grade,count\n=A+1,31\n-5,28\n@C,21\n")
    return folder


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def _mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def _rows(path: str) -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


# Permissions


@pytest.mark.slow
@pytest.mark.usefixtures("umask")
def test_outputs_obey_the_umask(run: Run, grades: Path) -> None:
    assert run(*VECTOR, "-o", "out.csv").code == 0
    assert (_mode("out.csv"), _mode("out.json")) == (0o640, 0o640)
    os.umask(0o077)
    assert run(*VECTOR, "-o", "other.json").code == 0
    assert _mode("other.json") == 0o600


@pytest.mark.slow
def test_what_is_replaced_stays_as_private_as_it_was(run: Run, grades: Path) -> None:
    assert run(*VECTOR, "-o", "out.json").code == 0
    for before, after in ((0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o440, 0o440)):
        Path("out.json").chmod(before)
        assert run(*VECTOR, "-o", "out.json", "--force").code == 0
        assert _mode("out.json") == after


def test_sensitive_files_are_their_owners(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o666)
    write_text(path, "new", overwrite=True, mode=SENSITIVE)
    assert _mode(path) == 0o600


# What is never replaced


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_a_release_never_replaces_its_ledger(run: Run, grades: Path, ending: str, link: str) -> None:
    Ledger("budget.db").open("grades", epsilon=5)
    file = Path(f"budget.db{ending}")
    if link == "hard":
        if ending:
            # There only while SQLite works.
            file.write_bytes(b"")
        Path("out.json").hardlink_to(file)
    else:
        Path("out.json").symlink_to(file)
    before = Path("budget.db").read_bytes()
    charged = ("--ledger", "budget.db", "--dataset", "grades")
    done = run(*VECTOR, *charged, "-o", "out.json", "--force")
    assert done.code == 2
    assert "which is the ledger" in done.err
    if not ending:
        done = run("ledger", "export", "budget.db", "-o", "out.json", "--force")
        assert done.code == 2
        assert "which is the ledger" in done.err
    assert Path("budget.db").read_bytes() == before


def test_an_input_is_known_by_every_name(run: Run, grades: Path) -> None:
    Path("in.json").write_text('{"a": 5, "b": 6}')
    Path("out.json").hardlink_to("in.json")
    done = run("release", "vector", "in.json", "-e", "1", "-o", "out.json", "--force")
    assert done.code == 2
    assert "which is the input" in done.err
    assert run(*VECTOR, "-o", "a.json").code == 0
    Path("a.html").hardlink_to("a.json")
    done = run("inspect", "a.json", "--report", "a.html", "--force")
    assert done.code == 2
    assert "which is the input" in done.err


# Spreadsheets


def test_cells_that_begin_as_formulas_get_an_apostrophe() -> None:
    for text in ("=1", "+a", "-a", "@x", "\tx", "\rx", "=", "-", "+1-1", "-1e", "--5", "+٣"):
        assert safe_cell(text) == f"'{text}"
    for number in ("-5", "+5", "-0.25", "-.5", "1e-9", "-1E+5", -5, 0.5, None):
        assert safe_cell(number) == number
    for other in ("a=1", "", " =1", "'=1", "5-3"):
        assert safe_cell(other) == other


@pytest.mark.slow
def test_csv_is_safe_where_asked(run: Run, grades: Path) -> None:
    assert run(*VECTOR, "-o", "open.csv").code == 0
    assert run(*VECTOR, "-o", "safe.csv", "--csv-safe").code == 0
    assert [row[0] for row in _rows("open.csv")] == ["label", "=A+1", "-5", "@C"]
    assert [row[0] for row in _rows("safe.csv")] == ["label", "'=A+1", "-5", "'@C"]
    # The record keeps labels as they are.
    assert veil.load("safe.json").labels == ("=A+1", "-5", "@C")
    veil.load("safe.json").save("again.csv", csv_safe=True)
    assert "'=A+1" in Path("again.csv").read_text()


@pytest.mark.slow
def test_tables_of_all_kinds_are_safe_where_asked(run: Run, folder: Path) -> None:
    Path("log.csv").write_text("who,@when,where\n=x,1,=a\n=x,2,b\ny,1,b\ny,2,=a\n")
    words = ("release", "words", "log.csv", "--by", "who", "--order", "@when", "--state", "where")
    asked = (*words, "-e", "5", "-o", "words.csv", "--csv-safe", "--keep-keys")
    assert run(*asked).code == 0
    cells = {cell for row in _rows("words.csv") for cell in row}
    assert {"'=x", "'@when"} <= cells
    assert cells <= {"who", "'@when", "where", "'=x", "y", "'=a", "b", "1", "2"}
    assert run("inspect", "words.json", "--report", "words.html").code == 0
    Path("votes.csv").write_text("=q,r\n+yes,x\n-no,y\n+yes,y\n")
    assert run("release", "bits", "votes.csv", "-e", "3", "-o", "bits.csv", "--csv-safe").code == 0
    cells = {cell for row in _rows("bits.csv") for cell in row}
    assert "'=q" in cells
    assert cells <= {"'=q", "r", "'+yes", "'-no", "x", "y"}
    Path("edges.csv").write_text("a,b\n=x,y\ny,z\nz,=x\n")
    graph = ("release", "graph", "edges.csv", "--header", "-e", "9")
    assert run(*graph, "-o", "graph.csv", "--csv-safe").code == 0
    assert "\n=x" not in Path("graph.csv").read_text()
    assert run("decode", "graph.json", "-o", "likely.csv", "--csv-safe").code == 0
    assert "\n=x" not in Path("likely.csv").read_text()
    Path("trips.csv").write_text("from,to\n" + "=a,b\nb,=a\n" * 20)
    chain = ("release", "chain", "trips.csv", "--from", "from", "--to", "to", "-e", "5")
    assert run(*chain, "-o", "model.csv", "--csv-safe").code == 0
    assert Path("model.csv").read_text().startswith("from,'=a,b\n'=a,")
    assert run("synth", "model.json", "-n", "20", "-o", "made.csv", "--csv-safe").code == 0
    states = {row[2] for row in _rows("made.csv")[1:]}
    assert states == {"'=a", "b"}


def test_labels_that_would_be_the_same_are_refused_before_the_charge(run: Run, folder: Path) -> None:
    Path("in.json").write_text(json.dumps({"=a": 5, "'=a": 6}))
    Ledger("budget.db").open("grades", epsilon=5)
    charged = ("--ledger", "budget.db", "--dataset", "grades")
    done = run("release", "vector", "in.json", "-e", "1", *charged, "-o", "out.csv", "--csv-safe")
    assert done.code == 2
    assert "--csv-safe" in done.err
    assert Ledger("budget.db").dataset("grades").spent.epsilon == 0


def test_csv_safe_is_true_or_false(tmp_path: Path) -> None:
    out = veil.vectors.release({"a": 5, "b": 3}, epsilon=1.0, rng=1)
    with pytest.raises(InvalidArgument, match="csv_safe"):
        out.save(tmp_path / "out.csv", csv_safe="yes")  # type: ignore[arg-type]


# Errors for machines


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing", "--json"),
        ("--json",),
        ("release", "--json"),
        ("release", "vectr", "--json"),
        ("release", "vector", "grades.csv", "--epsilon", "--json"),
        ("release", "vector", "grades.csv", "-e", "1", "--json=maybe"),
        ("inspect", "--json=true"),
        ("ledger", "nothing", "--json"),
        ("inspect", "a", "b", "--json"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_json_where_that_was_asked_for(
    run: Run, grades: Path, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.err == ""
    assert set(done.json["error"]) >= {"kind", "message"}


def test_help_and_text_stay_text(run: Run, grades: Path) -> None:
    assert run("release", "vector", "--help", "--json").out.startswith("Usage")
    assert run("inspect", "--json=false").err.startswith("veil: ")


def test_faults_of_ours_are_json_too(run: Run, grades: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr("veil.vectors.requests.read_vectors", broken)
    done = run(*VECTOR, "--json")
    assert done.code == 1
    assert done.json["error"]["kind"] == "Internal"
    assert "secret" not in done.out
