"""The command line as a newcomer uses and misuses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import veil

GRADES = "grade,students\nA,31\nB,28\nC,21\nD,10\nF,8\n"


def run(*arguments: str, cwd: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "veil", *arguments],
        cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "grades.csv").write_text(GRADES)
    (tmp_path / "shares.json").write_text('{"A": 0.5, "B": 0.3, "C": 0.2}')
    return tmp_path


RELEASE = ("release", "vector", "grades.csv", "--records", "98", "--epsilon", "1")


def test_release_to_json_and_inspect(folder: Path) -> None:
    done = run(*RELEASE, "--delta", "1e-6", "-o", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Written: out.json" in done.stdout
    assert "epsilon = 1" in done.stdout
    out = veil.load(folder / "out.json")
    assert out.labels == ("A", "B", "C", "D", "F")
    assert out.records == 98
    assert out.assumptions == ()
    assert out.epsilon <= 1.0
    seen = run("inspect", "out.json", cwd=folder)
    assert seen.returncode == 0
    assert "Checked" in seen.stdout
    machine = json.loads(run("inspect", "out.json", "--json", cwd=folder).stdout)
    assert machine["verified"] is True


def test_a_file_that_lies_is_found(folder: Path) -> None:
    run(*RELEASE, "-o", "out.json", cwd=folder)
    content = json.loads((folder / "out.json").read_text())
    content["privacy"]["epsilon"] = 0.5
    (folder / "out.json").write_text(json.dumps(content))
    seen = run("inspect", "out.json", cwd=folder)
    assert seen.returncode == 4
    assert "WRONG" in seen.stdout


def test_a_file_that_hides_its_assumption_is_found(folder: Path) -> None:
    options = ("--transfer", "0.01", "-e", "2", "-d", "1e-3", "--no-smooth", "--floor", "0.1")
    run("release", "vector", "shares.json", *options, "-o", "out.json", cwd=folder)
    content = json.loads((folder / "out.json").read_text())
    content["assumptions"] = []
    (folder / "out.json").write_text(json.dumps(content))
    seen = run("inspect", "out.json", cwd=folder)
    assert seen.returncode == 4
    assert "leaves out that this holds only if every entry" in seen.stdout


def test_csv_output_has_its_record_beside_it(folder: Path) -> None:
    assert run(*RELEASE, "-o", "out.csv", cwd=folder).returncode == 0
    assert (folder / "out.csv").read_text().startswith("label,probability\nA,")
    assert veil.load(folder / "out.json").labels == ("A", "B", "C", "D", "F")


def test_existing_output_is_kept_without_force(folder: Path) -> None:
    (folder / "out.json").write_text("precious")
    refused = run(*RELEASE, "-o", "out.json", cwd=folder)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (folder / "out.json").read_text() == "precious"
    assert run(*RELEASE, "-o", "out.json", "--force", cwd=folder).returncode == 0


def test_pipe_and_json(folder: Path) -> None:
    done = run("release", "vector", "-", "--counts", "-e", "2", "--json", cwd=folder, stdin=GRADES)
    content = json.loads(done.stdout)
    assert content["adjacency"]["change"] == "add-remove"
    assert abs(sum(content["value"]["data"]) - 1) < 1e-9


def test_secret_vectors(folder: Path) -> None:
    smooth = run("release", "vector", "shares.json", "--l1", "0.02", "-e", "2", "-d", "1e-3", cwd=folder)
    assert smooth.returncode == 0
    assert "holds only if" not in smooth.stdout
    published = run(
        "release", "vector", "shares.json", "--transfer", "0.01", "-e", "2", "-d", "1e-3",
        "--no-smooth", "--floor", "0.1", cwd=folder,
    )  # fmt: skip
    assert published.returncode == 0
    assert "holds only if every entry" in published.stdout


def test_dry_run_writes_nothing(folder: Path) -> None:
    done = run(*RELEASE, "-o", "out.json", "--dry-run", cwd=folder)
    assert done.returncode == 0
    assert "Nothing was drawn or written" in done.stdout
    assert not (folder / "out.json").exists()
    machine = json.loads(run(*RELEASE, "--dry-run", "--json", cwd=folder).stdout)
    assert machine["charge"]["epsilon"] <= 1.0


def test_seeds_are_marked(folder: Path) -> None:
    done = run(*RELEASE, "--seed", "3", "-o", "out.json", cwd=folder)
    assert "NOT PRIVATE" in done.stdout
    assert veil.load(folder / "out.json").reproducible


def test_plan(folder: Path) -> None:
    arguments = ("plan", "vector", "--size", "5", "--records", "98", "--epsilon", "1", "--delta", "1e-6")
    done = run(*arguments, "--plot", "plan.svg", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Least error: geometric" in done.stdout
    assert (folder / "plan.svg").read_text().count("<svg") == 1
    machine = json.loads(run(*arguments, "--json", cwd=folder).stdout)
    assert [row["name"] for row in machine["mechanisms"]] == ["geometric", "discrete-gaussian", "dirichlet"]


def test_plan_the_other_way_round(folder: Path) -> None:
    done = run("plan", "vector", "--size", "3", "--records", "500", "--error", "0.05", "--json", cwd=folder)
    found = json.loads(done.stdout)["epsilon"]
    assert 0 < found["geometric"] < found["dirichlet"]


def test_report(folder: Path) -> None:
    done = run(*RELEASE, "-o", "out.json", "--report", "out.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "out.html").read_text().startswith("<!doctype html>")


def test_demo(tmp_path: Path) -> None:
    few = ("demo", "--folder", "d", "--trips", "5000")
    done = run(*few, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("city.html", "trips.parquet", "zones.csv", "grades.csv", "roads.csv"):
        assert (tmp_path / "d" / name).exists()
    assert veil.load(tmp_path / "d" / "city.json").epsilon == 1.0
    assert run(*few, cwd=tmp_path).returncode == 2
    assert run(*few, "--force", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("release", "vector", "grades.csv", "--epsilon", "1"), 2, "--records N"),
        (("release", "vector", "grades.csv", "--records", "98"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "--epsilon", "-1"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "--epsilon", "lots"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "--epsilon", "nan"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-d", "2"), 2, "delta"),
        (("release", "vector", "grades.csv", "--records", "97", "-e", "1"), 4, "97 records"),
        (("release", "vector", "missing.csv", "--records", "98", "-e", "1"), 4, "no such file"),
        (("release", "vector", "grades.csv", "--l1", "0.1", "-e", "1"), 4, "sum to 1"),
        (
            ("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-o", "x.xlsx"),
            2,
            ".json or .csv",
        ),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-o", "no/x.json"), 2, "folder"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-m", "laplace"), 2, "mechanism"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "--change", "swap"), 2, "change"),
        (
            ("release", "vector", "shares.json", "--transfer", "0.3", "-e", "0.1", "--floor", "0.01"),
            2,
            "epsilon",
        ),
        (("release", "vectors", "grades.csv"), 2, ""),
        (("inspect", "grades.csv"), 4, "release"),
        (("inspect", "missing.json"), 4, "no such file"),
        (("plan", "vector", "--size", "5", "--records", "98"), 2, "--epsilon or --error"),
        (("plan", "vector", "--size", "1", "--records", "98", "-e", "1"), 2, "size"),
        (("plan", "vector", "--size", "-3", "--records", "98", "-e", "1"), 2, "size"),
        (
            ("plan", "vector", "--size", "3", "--records", "9", "--error", "0.1", "--plot", "x.svg"),
            2,
            "--plot",
        ),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "0"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-d", "1"), 2, "delta"),
        (("release", "vector", "grades.csv", "--transfer", "2", "-e", "1"), 2, "transfer"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "--normalise"), 2, "normalise"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "--seed", "-1"), 2, "seed"),
    ],
)
def test_mistakes_get_the_right_exit_code_and_words(
    folder: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = sorted(folder.iterdir())
    done = run(*arguments, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(folder.iterdir()) == before


def test_outputs_never_overwrite_inputs_or_each_other(folder: Path) -> None:
    own = run(
        "release", "vector", "grades.csv", "--records", "98", "-e", "1", "-f", "-o", "grades.csv", cwd=folder
    )
    assert own.returncode == 2
    assert (folder / "grades.csv").read_text() == GRADES
    assert run(*RELEASE, "-o", "a.csv", "--report", "a.txt", cwd=folder).returncode == 2


def test_a_total_among_the_categories_is_refused(folder: Path) -> None:
    (folder / "total.csv").write_text(GRADES + "Total,98\n")
    done = run("release", "vector", "total.csv", "--counts", "-e", "1", cwd=folder)
    assert done.returncode == 4
    assert "count every record twice" in done.stderr


def test_narrow_terminals_and_closed_pipes(folder: Path) -> None:
    command = [sys.executable, "-m", "veil", *RELEASE, "-o", "ascii.json"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, timeout=60, check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (folder / "ascii.json").exists()


def test_two_entries_answer_at_once(folder: Path) -> None:
    (folder / "two.csv").write_text("yes,0.7\nno,0.3\n")
    done = run("release", "vector", "two.csv", "--transfer", "0.01", "-e", "1", "-d", "1e-3", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_errors_for_machines(folder: Path) -> None:
    done = run("release", "vector", "grades.csv", "--records", "97", "-e", "1", "--json", cwd=folder)
    error: dict[str, Any] = json.loads(done.stdout)["error"]
    assert done.returncode == 4
    assert error["field"] == "value"
    assert error["kind"] == "InvalidData"


def test_help_has_examples(folder: Path) -> None:
    for command in (("release", "vector"), ("plan", "vector"), ("inspect",), ("demo",)):
        shown = run(*command, "--help", cwd=folder).stdout
        assert "Example: veil" in " ".join(shown.split())
    assert run("--version", cwd=folder).stdout == f"veil {veil.__version__}\n"
    assert "--install-completion" in run("--help", cwd=folder).stdout


def test_unforeseen_errors_do_not_quote_data(folder: Path, tmp_path: Path) -> None:
    script = (
        "import sys, veil.vectors.reading as v\n"
        "def broken(*a, **k): raise RuntimeError('secret 4711')\n"
        "v.read_vector = broken\n"
        "sys.argv = ['veil', 'release', 'vector', 'grades.csv', '--records', '98', '-e', '1']\n"
        "from veil.cli.app import run; run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "4711" not in done.stdout + done.stderr
    assert "internal error: RuntimeError" in done.stderr
