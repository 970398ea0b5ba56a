"""The command line as a newcomer uses and misuses it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.cli.output import working

from .conftest import Run

KINDS = ("vector", "matrix", "chain", "words", "bits", "graph")
GRADES = "grade,students\nA,31\nB,28\nC,21\nD,10\nF,8\n"


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    (folder / "grades.csv").write_text(GRADES)
    (folder / "shares.json").write_text('{"A": 0.5, "B": 0.3, "C": 0.2}')
    return folder


RELEASE = ("release", "vector", "grades.csv", "--records", "98", "--epsilon", "1")


def test_release_to_json_and_inspect(run: Run, folder: Path) -> None:
    done = run(*RELEASE, "--delta", "1e-6", "-o", "out.json")
    assert done.code == 0, done.err
    assert "Written: out.json" in done.out
    assert "epsilon = 1" in done.out
    out = veil.load(folder / "out.json")
    assert out.labels == ("A", "B", "C", "D", "F")
    assert out.records == 98
    assert out.assumptions == ()
    assert out.epsilon <= 1.0
    seen = run("inspect", "out.json")
    assert seen.code == 0
    assert "Checked" in seen.out
    machine = run("inspect", "out.json", "--json").json
    assert machine["verified"] is True


@pytest.mark.slow
def test_a_file_that_lies_is_found(run: Run, folder: Path) -> None:
    run(*RELEASE, "-o", "out.json")
    content = json.loads((folder / "out.json").read_text())
    content["privacy"]["epsilon"] = 0.5
    (folder / "out.json").write_text(json.dumps(content))
    seen = run("inspect", "out.json")
    assert seen.code == 4
    assert "WRONG" in seen.out


def test_a_file_that_hides_its_assumption_is_found(run: Run, folder: Path) -> None:
    options = ("--transfer", "0.01", "-e", "2", "-d", "1e-3", "--no-smooth", "--floor", "0.1")
    run("release", "vector", "shares.json", *options, "-o", "out.json")
    content = json.loads((folder / "out.json").read_text())
    content["assumptions"] = []
    (folder / "out.json").write_text(json.dumps(content))
    seen = run("inspect", "out.json")
    assert seen.code == 4
    assert "leaves out that this holds only if every entry" in seen.out


def test_csv_output_has_its_record_beside_it(run: Run, folder: Path) -> None:
    assert run(*RELEASE, "-o", "out.csv").code == 0
    assert (folder / "out.csv").read_text().startswith("label,probability,noisy_count\nA,")
    assert veil.load(folder / "out.json").labels == ("A", "B", "C", "D", "F")


@pytest.mark.slow
def test_a_table_with_a_row_for_each_course_is_a_batch(run: Run, folder: Path) -> None:
    (folder / "courses.csv").write_text("course,A,B,C\nart,31,28,21\nlaw,9,15,30\n")
    batch = ("release", "vector", "courses.csv", "--cap", "3", "--epsilon", "1")
    done = run(*batch, "--public-row-labels", "-o", "out.csv")
    assert done.code == 0, done.err
    assert "noisy total" in done.out
    assert "at most 3 records are added or removed" in done.out
    header, first, _ = (folder / "out.csv").read_text().splitlines()
    assert header == "name,A,B,C,noisy_count A,noisy_count B,noisy_count C"
    assert first.startswith("art,0.")
    out = veil.load(folder / "out.json")
    assert (out.value.shape, out.row_labels, out.adjacency.describe()["added"]) == ((2, 3), ("art", "law"), 3)
    unnamed = run(*batch, "-o", "hidden.json")
    assert "names of the rows are left out" in unnamed.out
    assert "law" not in unnamed.out + (folder / "hidden.json").read_text()


@pytest.mark.slow
def test_existing_output_is_kept_without_force(run: Run, folder: Path) -> None:
    (folder / "out.json").write_text("precious")
    refused = run(*RELEASE, "-o", "out.json")
    assert refused.code == 2
    assert "--force" in refused.err
    assert (folder / "out.json").read_text() == "precious"
    assert run(*RELEASE, "-o", "out.json", "--force").code == 0


def test_pipe_and_json(run: Run, folder: Path) -> None:
    done = run("release", "vector", "-", "-e", "2", "--json", stdin=GRADES)
    content = done.json
    assert content["adjacency"]["change"] == "add-remove"
    assert abs(sum(content["value"]["data"]) - 1) < 1e-9


def test_secret_vectors(run: Run, folder: Path) -> None:
    smooth = run("release", "vector", "shares.json", "--l1", "0.02", "-e", "2", "-d", "1e-3")
    assert smooth.code == 0
    assert "holds only if" not in smooth.out
    published = run(
        "release", "vector", "shares.json", "--transfer", "0.01", "-e", "2", "-d", "1e-3",
        "--no-smooth", "--floor", "0.1",
    )  # fmt: skip
    assert published.code == 0
    assert "holds only if every entry" in published.out


@pytest.mark.slow
def test_averages_of_people(run: Run, folder: Path) -> None:
    (folder / "days.csv").write_text("work,home\n0.5,0.5\n0.25,0.75\n1,0\n0,1\n")
    (folder / "weights.json").write_text("[1, 1, 2, 0]")
    asked = ("release", "vector", "days.csv", "--unnamed", "-e", "2")
    done = run(*asked, "--average", "4", "-o", "out.json")
    assert done.code == 0, done.err
    assert "one row behind the average may change in any way; it has at most 0.25 of the weight" in done.out
    assert "nobody has two of the rows" in run("inspect", "out.json").out
    weighted = run(*asked, "--weights", "weights.json", "--transfer", "0.1", "--json").json
    near = veil.vectors.Averaged.of([1, 1, 2, 0], veil.vectors.Transfer(0.1))
    assert weighted["adjacency"] == near.describe() | {"words": near.words}
    assert len(weighted["value"]["data"]) == 2
    for wrong, message in (
        (("--average", "5"), "value: expected 5 rows, as is stated"),
        (("--average", "4", "--cap", "2"), "--cap: expected counts"),
        (("--average", "4", "--weights", "weights.json", "-o", "weights.json"), "weights.json"),
    ):
        refused = run(*asked, *wrong, "--dry-run")
        assert refused.code in (2, 4)
        assert message in refused.err
    unread = run("release", "vector", "days.csv", "--average", "4", "-e", "2", "--dry-run")
    assert unread.code == 4
    plan = run("plan", "vector", "--size", "3", "--average", "40", "-e", "1", "--json").json
    assert plan["mechanisms"][0]["name"] == "laplace"


def test_dry_run_writes_nothing(run: Run, folder: Path) -> None:
    done = run(*RELEASE, "-o", "out.json", "--dry-run")
    assert done.code == 0
    assert "Nothing was drawn or written" in done.out
    assert not (folder / "out.json").exists()
    machine = run(*RELEASE, "--dry-run", "--json").json
    assert machine["charge"]["epsilon"] <= 1.0


@pytest.mark.slow
def test_seeds_are_marked(run: Run, folder: Path) -> None:
    done = run(*RELEASE, "--seed", "3", "-o", "out.json")
    assert "NOT PRIVATE" in done.out
    assert veil.load(folder / "out.json").reproducible


PLAN = ("plan", "vector", "--size", "5", "--records", "98", "--epsilon", "1")


def test_plan(run: Run) -> None:
    done = run(*PLAN, "--delta", "1e-6")
    assert done.code == 0, done.err
    assert "Least error: geometric" in done.out
    machine = run(*PLAN, "--delta", "1e-6", "--json").json
    assert [row["name"] for row in machine["mechanisms"]] == ["geometric", "discrete-gaussian", "dirichlet"]


@pytest.mark.slow
def test_plans_are_drawn(run: Run, folder: Path) -> None:
    done = run(*PLAN, "--plot", "plan.svg")
    assert done.code == 0, done.err
    assert "Drawn: plan.svg" in done.out
    assert (folder / "plan.svg").read_text().count("<svg") == 1


@pytest.mark.slow
def test_plan_the_other_way_round(run: Run) -> None:
    asked = ("plan", "vector", "--size", "3", "-n", "500", "--error", "0.05")
    found = run(*asked, "--json").json["epsilon"]
    assert 0 < found["geometric"] < 1
    assert found["dirichlet"] is None


@pytest.mark.slow
def test_plan_the_other_way_round_with_a_delta(run: Run, folder: Path) -> None:
    asked = ("plan", "vector", "--size", "3", "-n", "500", "--error", "0.05")
    found = run(*asked, "-d", "1e-6", "--json").json["epsilon"]
    assert 0 < found["geometric"] < found["dirichlet"]
    # The error is drawn around the epsilon that was found.
    done = run(*asked, "--plot", "plan.svg")
    assert (done.code, "not reachable" in done.out) == (0, True)
    assert (folder / "plan.svg").read_text().count("<svg") == 1


@pytest.mark.slow
def test_report(run: Run, folder: Path) -> None:
    done = run(*RELEASE, "-o", "out.json", "--report", "out.html")
    assert done.code == 0, done.err
    assert (folder / "out.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*RELEASE, "--l1", "0.1"), 2, "--records: expected"),
        ((*RELEASE, "--counts"), 2, "--counts"),
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
            (
                "release",
                "vector",
                "shares.json",
                "--transfer",
                "0.3",
                "-e",
                "0.1",
                "-d",
                "1e-6",
                "--floor",
                "0.01",
            ),
            2,
            "epsilon",
        ),
        (("release", "vectors", "grades.csv"), 2, ""),
        (("inspect", "grades.csv"), 4, "release"),
        (("inspect", "missing.json"), 4, "no such file"),
        (("plan", "vector", "--size", "5", "--records", "98"), 2, "--epsilon: expected either it or --error"),
        (("plan", "vector", "--size", "1", "--records", "98", "-e", "1"), 2, "size"),
        (("plan", "vector", "--size", "-3", "--records", "98", "-e", "1"), 2, "size"),
        (("plan", "vector", "--size", "3", "--records", "9", "-e", "1", "--plot", "x.gif"), 2, "--plot"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "0"), 2, "epsilon"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-d", "1"), 2, "delta"),
        (("release", "vector", "grades.csv", "--transfer", "2", "-e", "1"), 2, "transfer"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "--normalise"), 2, "normalise"),
        (("release", "vector", "grades.csv", "--records", "98", "-e", "1", "--seed", "-1"), 2, "seed"),
    ],
)
def test_mistakes_get_the_right_exit_code_and_words(
    run: Run, folder: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = sorted(folder.iterdir())
    done = run(*arguments)
    assert done.code == code, done.out + done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert sorted(folder.iterdir()) == before


def test_outputs_never_overwrite_inputs_or_each_other(run: Run, folder: Path) -> None:
    own = run("release", "vector", "grades.csv", "--records", "98", "-e", "1", "-f", "-o", "grades.csv")
    assert own.code == 2
    assert (folder / "grades.csv").read_text() == GRADES
    assert run(*RELEASE, "-o", "a.csv", "--report", "a.txt").code == 2


def test_a_total_among_the_categories_is_refused(run: Run, folder: Path) -> None:
    (folder / "total.csv").write_text(GRADES + "Total,98\n")
    done = run("release", "vector", "total.csv", "-e", "1")
    assert done.code == 4
    assert "count every record twice" in done.err


@pytest.mark.slow
def test_narrow_terminals_and_closed_pipes(folder: Path) -> None:
    """The process itself: a terminal without bars, and a reader who has seen enough."""
    command = [sys.executable, "-m", "veil", *RELEASE]
    how: dict[str, Any] = {"cwd": folder, "stderr": subprocess.PIPE, "timeout": 60, "check": False}
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run([*command, "-o", "ascii.json"], stdout=subprocess.PIPE, env=ascii_only, **how)
    assert done.returncode == 0, done.stderr
    assert b"Written: ascii.json" in done.stdout
    assert (folder / "ascii.json").exists()
    reader, writer = os.pipe()
    os.close(reader)
    shut = subprocess.run([*command, "-o", "shut.json"], stdout=writer, **how)
    os.close(writer)
    assert (shut.returncode, shut.stderr) == (0, b"")
    assert (folder / "shut.json").exists()


@pytest.mark.slow
def test_two_entries_answer_at_once(run: Run, folder: Path) -> None:
    (folder / "two.csv").write_text("yes,0.7\nno,0.3\n")
    done = run(
        "release", "vector", "two.csv", "--transfer", "0.01", "-e", "1", "-d", "1e-3", "-m", "dirichlet"
    )
    assert done.code == 0, done.err


def test_errors_for_machines(run: Run, folder: Path) -> None:
    done = run("release", "vector", "grades.csv", "--records", "97", "-e", "1", "--json")
    error: dict[str, Any] = done.json["error"]
    assert done.code == 4
    assert error["field"] == "value"
    assert error["kind"] == "InvalidData"


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize(
    "command",
    [
        *(("release", kind) for kind in KINDS),
        *(("plan", kind) for kind in KINDS),
        *(("ledger", name) for name in ("open", "show", "raise", "close", "verify", "export")),
        ("chain",), ("synth",), ("groups",), ("decode",), ("inspect",), ("audit",), ("demo",), ("studio",),
        ("studio", "serve"), ("studio", "user", "add"), ("studio", "log"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_help_has_examples(run: Run, command: tuple[str, ...]) -> None:
    shown = run(*command, "--help")
    assert shown.code == 0
    text = " ".join(shown.out.split())
    assert text.startswith(f"Usage: veil {' '.join(command)} ")
    assert f": veil {' '.join(command)} " in text
    # What switches do is said, not that they are off.
    assert "default: False" not in text
    assert "Start with" not in text
    assert run(*command, "-h") == shown


def test_help_of_the_whole(run: Run) -> None:
    """Asked for or not: what there is, and where to start."""
    for arguments in ((), ("-h",), ("--help",)):
        shown = run(*arguments)
        assert (shown.code, shown.err) == (0, "")
        assert "Start with: veil demo" in shown.out
        assert "--install-completion" in shown.out
        for name in (
            "release",
            "plan",
            "inspect",
            "audit",
            "chain",
            "synth",
            "decode",
            "ledger",
            "demo",
            "studio",
        ):
            assert name in shown.out
    for group in ("release", "plan"):
        shown = run(group)
        assert shown.code == 0
        assert all(kind in shown.out for kind in KINDS)
    assert run("ledger").code == 0
    assert run("--version").out == f"veil {veil.__version__}\n"


def test_arguments_have_their_names(run: Run) -> None:
    for command, name in (
        (("release", "vector"), "INPUT"),
        (("chain",), "FILE"),
        (("synth",), "RELEASE"),
        (("ledger", "open"), "[LEDGER] DATASET"),
        (("ledger", "verify"), "[LEDGER] [RELEASE]..."),
    ):
        assert name in run(*command, "-h").out


def test_completion_knows_every_option(run: Run, folder: Path) -> None:
    done = run("--install-completion", "--shell", "bash", "-o", str(folder / "veil.bash"))
    assert done.code == 0, done.err
    script = (folder / "veil.bash").read_text()
    for word in ("--words-each", "--count-sequences", "--transfer", "--accounting", "--install-completion"):
        assert word in script


@pytest.mark.slow
def test_wrong_values_are_said_as_everywhere(run: Run) -> None:
    """Which option, what it takes, what was given: for people and for machines."""
    for arguments, message, field in (
        (("-e", "lots"), "--epsilon: expected a number, found 'lots'.", "epsilon"),
        (("-e", "1", "-n", "1.5"), "--records: expected a whole number, found '1.5'.", "records"),
        (("-e", "1", "--seed", "-1"), "--seed: expected a whole number of at least 0, found -1.", "seed"),
        (("-e", "1", "-n", "0"), "--records: expected a whole number of at least 1, found 0.", "records"),
        (
            ("-e", "1", "--change", "replce"),
            "--change: expected 'replace' or 'add-remove', found 'replce'. Did you mean 'replace'?",
            "change",
        ),
        ((), "--epsilon: expected a value, found none.", "epsilon"),
    ):
        done = run("release", "vector", "grades.csv", *arguments)
        assert (done.code, done.out, done.err) == (2, "", f"veil: {message}\n")
        machine = run("release", "vector", "grades.csv", *arguments, "--json")
        assert machine.code == 2
        error = machine.json["error"]
        assert (error["kind"], error["message"], error["field"]) == ("InvalidArgument", message, field)
    unknown = run("release", "vector", "grades.csv", "-e", "1", "--recods", "98")
    assert (unknown.code, unknown.err) == (2, "veil: Unknown option: --recods. Did you mean --records?\n")
    assert run("release", "vector", "-e", "1", "--recods", "98", "--json").json["error"]["kind"] == "Usage"


def test_unforeseen_errors_do_not_quote_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("secret 4711")

    monkeypatch.setattr("veil.vectors.requests.read_vectors", broken)
    done = run(*RELEASE)
    assert done.code == 1
    assert "4711" not in done.out + done.err
    assert "internal error: RuntimeError" in done.err


def test_stopping_is_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("veil.vectors.requests.read_vectors", stopped)
    done = run(*RELEASE)
    assert (done.code, done.out, done.err) == (130, "", "veil: stopped; nothing was released.\n")


def test_a_terminal_shows_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spinner on standard error, with the step; nothing where nobody watches."""
    watched = io.StringIO()
    monkeypatch.setattr(watched, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", watched)
    monkeypatch.setenv("TERM", "xterm")
    with working("Counting", quiet=False) as progress:
        progress("half of it")
    assert "Counting: half of it" in watched.getvalue()
    before = watched.getvalue()
    with working("Counting", quiet=True) as progress:
        progress("half of it")
    assert watched.getvalue() == before
