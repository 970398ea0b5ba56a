"""Private matrices on the command line, as a newcomer uses and misuses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.matrices.reading import read_matrix

from .conftest import FILES, Run

MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
PURE = ("--transfer", "0.01", "-e", "2")
BUDGET = (*PURE, "-d", "1e-6")
QUICK = (*PURE, "-m", "laplace")
# Two entries that exchange 1e-9 at epsilon 2 need so little noise that the numbers stay.
EXACT = ("--transfer", "1e-9", "-e", "2", "-m", "laplace")


def _never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("drawn")


def _never_of(secret: Any, draw: Any) -> Any:
    def drawn(mechanism: Any, rng: Any, value: Any, size: int | None) -> Any:
        assert np.shape(value) != np.shape(secret) or not np.allclose(value, secret)
        return draw(mechanism, rng, value, size)

    return drawn


# Releasing


def test_release_and_inspect(run: Run, folder: Path) -> None:
    done = run("release", "matrix", "roads.csv", *BUDGET, "-m", "dirichlet", "-o", "out.json")
    assert done.code == 0, done.err
    assert "epsilon = 2, delta = 1e-06" in done.out
    assert "one row of the matrix may change" in done.out
    assert "the published formula (matrix Dirichlet paper, Theorem 1) gives" in done.out
    assert "Written: out.json" in done.out
    assert "Another mechanism may be more accurate: auto takes the one of least expected error." in done.out
    assert "holds only if" not in done.out
    out = veil.load(folder / "out.json")
    assert out.labels == out.row_labels == ("a", "b", "c")
    assert out.adjacency == veil.matrices.Rows(1, veil.vectors.Transfer(0.01))
    assert isinstance(out.mechanism, veil.matrices.MatrixDirichlet)
    assert out.mechanism.smooth
    assert (out.assumptions, out.reproducible, out.delta) == ((), False, 1e-6)
    assert 1.999 < out.epsilon <= 2.0
    seen = run("inspect", "out.json")
    assert seen.code == 0
    assert "Checked: the mechanism as described has epsilon = 2" in seen.out
    assert "3 rows of 3 entries" in seen.out
    machine = run("inspect", "out.json", "--json").json
    assert machine["verified"] is True
    assert machine["shape"] == [3, 3]
    assert machine["adjacency"] == out.adjacency.describe()


def test_a_file_that_lies_is_found(run: Run, folder: Path) -> None:
    run("release", "matrix", "roads.csv", *QUICK, "-o", "out.json")
    content = json.loads((folder / "out.json").read_text())
    content["adjacency"]["changed"] = "all"
    (folder / "out.json").write_text(json.dumps(content))
    seen = run("inspect", "out.json")
    assert seen.code == 4
    assert "WRONG: the file says epsilon = 2.0, but the mechanism as described has 6" in seen.out


def test_csv_with_its_record_beside_it(run: Run, folder: Path) -> None:
    done = run("release", "matrix", "policy.csv", *QUICK, "-o", "out.csv")
    assert done.code == 0, done.err
    assert "Written: out.csv" in done.out
    assert "Written: out.json" in done.out
    record = veil.load(folder / "out.json")
    assert (record.row_labels, record.labels) == (("s1", "s2", "s3"), ("left", "right"))
    table = read_matrix(str(folder / "out.csv"))
    assert table.entries.tolist() == record.value.tolist()
    assert (table.rows, table.columns) == (record.row_labels, record.labels)
    assert "s2" in done.out
    assert "left" in done.out


def test_json_for_machines(run: Run, folder: Path) -> None:
    before = sorted(folder.iterdir())
    done = run("release", "matrix", "roads.csv", *EXACT, "--json")
    assert done.code == 0
    np.testing.assert_allclose(done.json["value"]["data"], MATRIX, atol=1e-6)
    assert done.json["value"]["row_labels"] == ["a", "b", "c"]
    assert done.json["privacy"] == {"epsilon": pytest.approx(2.0), "delta": 0.0, "kind": "upper bound"}
    assert done.json["privacy"]["epsilon"] <= 2.0
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("mechanism", ["laplace", "dirichlet"])
def test_dry_runs_draw_and_write_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    """What to expect is simulated on public matrices, and never on the one that was read."""
    for kind in (veil.matrices.RowByRow, veil.matrices.MatrixDirichlet):
        monkeypatch.setattr(kind, "_draw", _never_of(MATRIX, kind._draw))
    monkeypatch.setattr("veil.core.job.Job.run", _never)
    before = sorted(folder.iterdir())
    kept = ("-o", "out.csv", "--report", "r.html")
    command = ("release", "matrix", "roads.csv", *BUDGET, "-m", mechanism, *kept)
    done = run(*command, "--dry-run")
    assert done.code == 0, done.err
    assert "Would be charged: epsilon = 2, delta = 1e-06. Nothing was drawn or written." in done.out
    assert "one row of the matrix may change" in done.out
    machine = run(*command, "--dry-run", "--json").json
    assert machine["dry_run"] is True
    assert 1.999 < machine["charge"]["epsilon"] <= 2.0
    assert machine["charge"]["delta"] == 1e-6
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_rows(run: Run) -> None:
    """At the same budget, r rows need r times the Laplace noise."""
    scales = {}
    for rows in ("1", "2", "all", " ALL ", "99"):
        done = run("release", "matrix", "roads.csv", *QUICK, "--rows", rows, "--dry-run", "--json")
        assert done.code == 0, done.err
        scales[rows] = done.json["mechanism"]["parameters"]["mechanism"]["parameters"]["scale"]
        assert done.json["charge"]["epsilon"] <= 2.0
    assert scales == pytest.approx({"1": 0.01, "2": 0.02, "all": 0.03, " ALL ": 0.03, "99": 0.03}, rel=1e-9)


@pytest.mark.slow
def test_an_l1_distance_is_any_move_and_costs_no_more(run: Run, folder: Path) -> None:
    """Two entries that exchange 0.01 move by 0.02; spread over more entries it is no worse (l1.md)."""
    first = run("release", "matrix", "roads.csv", *QUICK, "--dry-run", "--json").json
    spread = run("release", "matrix", "roads.csv", "--l1", "0.02", *QUICK[2:], "--dry-run", "--json").json
    scales = [one["mechanism"]["parameters"]["mechanism"]["parameters"]["scale"] for one in (first, spread)]
    assert scales[1] == pytest.approx(scales[0], rel=1e-12)
    assert spread["adjacency"] == veil.matrices.Rows(1, veil.vectors.L1(0.02)).words
    done = run(
        *MATRIX_COMMAND,
        "roads.csv",
        "--l1",
        "0.02",
        "-e",
        "2",
        "-d",
        "1e-6",
        "-m",
        "dirichlet",
        "-o",
        "b.json",
    )
    assert done.code == 0, done.err
    assert "an L1 distance of at most 0.02" in done.out
    # The published formula is about two entries.
    assert "published formula" not in done.out
    assert run("inspect", "b.json").code == 0


@pytest.mark.parametrize("support", ["zeros", "support.csv"])
def test_supports_are_kept_and_said(run: Run, folder: Path, support: str) -> None:
    done = run("release", "matrix", "zeros.csv", *QUICK, "--support", support, "-o", "out.json")
    assert done.code == 0, done.err
    assert "This holds only if which entries of the matrix are zero is public" in done.out
    out = veil.load(folder / "out.json")
    truth = np.array([[0.5, 0.5, 0], [0, 0.6, 0.4], [1, 0, 0]])
    assert ((out.value > 0.0) <= (truth > 0.0)).all()
    assert out.value[2].tolist() == [1.0, 0.0, 0.0]
    assert isinstance(out.mechanism, veil.matrices.RowByRow)
    assert out.mechanism.support == ((0, 1), (1, 2), (0,))


@pytest.mark.slow
def test_counts_pipes_and_seeds(run: Run, folder: Path) -> None:
    done = run("release", "matrix", "counts.csv", *EXACT, "--normalise", "--json")
    np.testing.assert_allclose(done.json["value"]["data"], MATRIX, atol=1e-6)
    piped = run("release", "matrix", "-", *EXACT, "--json", stdin=FILES["roads.csv"])
    np.testing.assert_allclose(piped.json["value"]["data"], MATRIX, atol=1e-6)
    seeded = [run("release", "matrix", "roads.csv", *QUICK, "--seed", "3", "--json").json for _ in range(2)]
    assert seeded[0]["value"] == seeded[1]["value"]
    assert seeded[0]["reproducible"] is True
    assert "NOT PRIVATE" in run("release", "matrix", "roads.csv", *QUICK, "--seed", "3").out
    fresh = [run("release", "matrix", "roads.csv", *QUICK, "--json").json["value"] for _ in range(2)]
    assert fresh[0] != fresh[1]


@pytest.mark.slow
def test_the_best_mechanism(run: Run) -> None:
    for auto in ((), ("-m", "auto")):
        done = run("release", "matrix", "roads.csv", *PURE, *auto, "--json")
        assert done.json["mechanism"]["parameters"]["mechanism"]["name"] == "Laplace"
    printed = run("release", "matrix", "roads.csv", *PURE).out
    assert "Mechanism: laplace (least expected total variation of a row over typical matrices" in printed
    printed = run("release", "matrix", "roads.csv", *QUICK).out
    assert "Not saved: add -o FILE.json" in printed
    assert "Another mechanism" not in printed


def test_the_published_form_says_what_it_assumes(run: Run) -> None:
    options = ("--l1", "0.02", "-e", "4", "-d", "1e-2", "--no-smooth")
    done = run("release", "matrix", "roads.csv", *options, "--floor", "0.1")
    assert done.code == 0, done.err
    assert (
        "This holds only if every entry of the true matrix and of its neighbours is at least 0.1" in done.out
    )
    low = run("release", "matrix", "roads.csv", *options, "--floor", "0.15")
    assert low.code == 4
    assert "row 1" in low.err
    assert "0.15" in low.err


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_reports(run: Run, folder: Path) -> None:
    done = run("release", "matrix", "roads.csv", *QUICK, "-o", "out.json", "--report", "out.html")
    assert done.code == 0, done.err
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert run("inspect", "out.json", "--report", "again.html").code == 0
    assert (folder / "again.html").read_text(encoding="utf-8") == page


def test_existing_files_are_kept_without_force(run: Run, folder: Path) -> None:
    for name in ("out.json", "out.csv", "out.html"):
        (folder / name).write_text("precious")
    for options in (("-o", "out.json"), ("-o", "out.csv"), ("--report", "out.html")):
        refused = run("release", "matrix", "roads.csv", *QUICK, *options)
        assert refused.code == 2
        assert "--force" in refused.err
    assert {(folder / name).read_text() for name in ("out.json", "out.csv", "out.html")} == {"precious"}
    assert run("release", "matrix", "roads.csv", *QUICK, "-o", "out.json", "--force").code == 0
    assert veil.load(folder / "out.json").kind.name == "matrix"
    kept = run("chain", "roads.csv", "--report", "out.html")
    assert (kept.code, (folder / "out.html").read_text()) == (2, "precious")


@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "matrix", "roads.csv", *QUICK, "-o", "roads.csv"),
        ("release", "matrix", "zeros.csv", *QUICK, "--support", "support.csv", "-o", "support.csv"),
        ("release", "matrix", "chain.json", *QUICK, "-o", "chain.csv"),
        ("release", "matrix", "roads.csv", *QUICK, "-o", "x.csv", "--report", "x.csv"),
    ],
    ids=["input", "support", "record beside the output", "report"],
)
def test_outputs_never_overwrite_inputs(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, "--force")
    assert done.code == 2, done.out
    for name, text in FILES.items():
        assert (folder / name).read_text() == text


# Planning


@pytest.mark.slow
def test_plans(run: Run, folder: Path) -> None:
    asked = ("plan", "matrix", "--states", "3", *BUDGET)
    done = run(*asked)
    assert done.code == 0, done.err
    assert "At epsilon = 2, delta = 1e-06; neighbours: one row of the matrix may change" in done.out
    machine = run(*asked, "--json").json
    names = [row["name"] for row in machine["mechanisms"]]
    assert sorted(names) == ["dirichlet", "gaussian", "laplace"]
    assert f"Least error: {names[0]}" in done.out
    errors = [row["row_tv"] for row in machine["mechanisms"]]
    assert errors == sorted(errors)
    assert machine["adjacency"] == veil.matrices.Rows(1, veil.vectors.Transfer(0.01)).describe()


@pytest.mark.slow
def test_plans_without_delta_draw_and_compare(run: Run, folder: Path) -> None:
    done = run("plan", "matrix", "--states", "4", *PURE, "--plot", "plan.svg")
    assert done.code == 0, done.err
    assert "gaussian: delta: gaussian needs a delta above 0" in done.out
    assert "Drawn: plan.svg" in done.out
    assert "expected error of a row" in (folder / "plan.svg").read_text()
    square, policy, thin = (
        run("plan", "matrix", *options, *PURE, "--json").json["mechanisms"][0]
        for options in (
            ("--states", "3"),
            ("--states", "3", "--columns", "2"),
            ("--support", "support.csv"),
        )
    )
    assert square["stationary_tv"] is not None
    assert policy["stationary_tv"] is None
    assert thin["row_tv"] < square["row_tv"]
    typical = run("plan", "matrix", "--typical", "zeros.csv", "--support", "zeros", *PURE, "--json")
    assert typical.json["mechanisms"][0]["name"] == "laplace"
    every, one = (
        run("plan", "matrix", "--states", "3", "--rows", rows, *PURE, "--json").json["mechanisms"][0][
            "row_tv"
        ]
        for rows in ("all", "1")
    )
    # Three times the noise; a little less than three times the error, near the border.
    assert 2.0 * one < every < 3.1 * one


# Mistakes

MATRIX_COMMAND = ("release", "matrix")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*MATRIX_COMMAND, "roads.csv", "-e", "1"), 2, "--transfer: expected either it or --l1"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--l1", "0.1"), 2, "both of them"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "0.02"), 2, "epsilon"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "0.02", "-e", "0"), 2, "epsilon"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "0.02", "-e", "nan"), 2, "epsilon"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "0.02", "--epsilon", "lots"), 2, "epsilon"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "3", "-e", "1"), 2, "--l1"),
        ((*MATRIX_COMMAND, "roads.csv", "--l1", "0", "-e", "1"), 2, "--l1"),
        ((*MATRIX_COMMAND, "roads.csv", "--transfer", "1.5", "-e", "1"), 2, "--transfer"),
        ((*MATRIX_COMMAND, "roads.csv", *PURE, "-d", "2"), 2, "delta"),
        ((*MATRIX_COMMAND, "roads.csv", *PURE, "-d", "nan"), 2, "delta"),
        ((*MATRIX_COMMAND, "roads.csv", *PURE, "-m", "dirichlet"), 2, "needs a delta above 0"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", "0"), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", "-1"), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", "1.5"), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", "many"), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", "²"), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--rows", ""), 2, "--rows"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--suport", "zeros"), 2, "--support"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--mechanism", "laplase"), 2, "mechanism"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "-m", "laplace", "--floor", "0.1"), 2, "dirichlet"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--floor", "0.5"), 2, "below 1/3"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--no-smooth"), 2, "floor"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--seed", "-1"), 2, "seed"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "-o", "x.xlsx"), 2, ".json or .csv"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "-o", "no/x.json"), 2, "folder"),
        ((*MATRIX_COMMAND, "roads.csv", *BUDGET, "--report", "x.pdf"), 2, ".html"),
        ((*MATRIX_COMMAND, *BUDGET), 2, "INPUT"),
        ((*MATRIX_COMMAND, "missing.csv", *BUDGET), 4, "no such file"),
        ((*MATRIX_COMMAND, "counts.csv", *BUDGET), 4, "--normalise"),
        ((*MATRIX_COMMAND, "text.csv", *BUDGET), 4, "line 2, column 3"),
        ((*MATRIX_COMMAND, "uneven.csv", *BUDGET), 4, "line 3"),
        ((*MATRIX_COMMAND, "commas.csv", *BUDGET), 4, "commas.csv"),
        ((*MATRIX_COMMAND, "roads.csv", *QUICK, "--support", "ones"), 4, "no such file"),
        ((*MATRIX_COMMAND, "roads.csv", *QUICK, "--support", "policy.csv"), 4, "found no 'a'"),
        ((*MATRIX_COMMAND, "roads.csv", *QUICK, "--support", "support.csv"), 4, "zeros outside the support"),
        (
            (*MATRIX_COMMAND, "roads.csv", *QUICK, "--support", "stuck.csv"),
            4,
            "found no 'c'",
        ),
        (("plan", "matrix", *BUDGET), 2, "--states: expected it, --support or --typical"),
        (("plan", "matrix", "--states", "3", "-e", "2"), 2, "--transfer: expected either it or --l1"),
        (("plan", "matrix", "--states", "0", *BUDGET), 2, "--states"),
        (("plan", "matrix", "--states", "-3", *BUDGET), 2, "--states"),
        (("plan", "matrix", "--states", "3", "--columns", "1", *BUDGET), 2, "--columns"),
        (("plan", "matrix", "--states", "3", "--columns", "0", *BUDGET), 2, "--columns"),
        (("plan", "matrix", "--states", "3", *PURE, "-d", "2"), 2, "delta"),
        (("plan", "matrix", "--states", "3", *BUDGET, "--plot", "x.txt"), 2, "--plot"),
        (("plan", "matrix", "--support", "zeros", *BUDGET), 2, "--support"),
        (("plan", "matrix", "--typical", "counts.csv", *BUDGET), 4, "sum to 1"),
        (("plan", "matrix", "--typical", "missing.csv", *BUDGET), 4, "no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_mistakes_get_the_right_exit_code_and_words(
    run: Run, folder: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = sorted(folder.iterdir())
    done = run(*arguments)
    assert done.code == code, done.out + done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    assert sorted(folder.iterdir()) == before


def test_unforeseen_errors_do_not_quote_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("secret 4711")

    monkeypatch.setattr("veil.matrices.requests.read_matrix", broken)
    done = run("release", "matrix", "roads.csv", *QUICK)
    assert done.code == 1
    assert "4711" not in done.out + done.err
    assert "internal error: RuntimeError" in done.err


def test_help_has_examples(run: Run) -> None:
    for command in (("release", "matrix"), ("plan", "matrix"), ("chain",)):
        shown = run(*command, "--help")
        assert shown.code == 0
        assert f"Example: veil {' '.join(command)}" in " ".join(shown.out.split())
    assert "chain" in run("--help").out


@pytest.mark.usefixtures("some_pictures")
def test_stacks_can_be_inspected(run: Run, folder: Path) -> None:
    stack = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2))
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.01, veil.vectors.Simplex(3)), rows=4)
    veil.release(mechanism, stack, adjacency=veil.matrices.Rows(1, veil.vectors.Transfer(0.001)), rng=1).save(
        folder / "s.json"
    )
    assert run("inspect", "s.json", "--json").json["shape"] == [2, 2, 3]
    done = run("inspect", "s.json", "--report", "s.html")
    assert done.code == 0, done.err
    assert (folder / "s.html").exists()
