"""Chains on the command line: public ones, released ones, and what is no chain."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import veil

from .conftest import FILES, Run

MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
# Solved by hand: 25/99, 40/99, 34/99.
LONG_RUN = [25 / 99, 40 / 99, 34 / 99]
BUDGET = ("--l1", "0.02", "-e", "2")
QUICK = (*BUDGET, "-m", "laplace", "-d", "0")
# Two entries that exchange 1e-9 at epsilon 2 need so little noise that the numbers stay.
EXACT = ("--transfer", "1e-9", "-e", "2", "-m", "laplace", "-d", "0")


@pytest.mark.parametrize("name", ["roads.csv", "turned.csv", "list.csv", "chain.json"])
def test_chains_from_every_file(run: Run, name: str) -> None:
    done = run("chain", name, "--json")
    assert done.code == 0, done.err
    assert done.json["states"] == ["a", "b", "c"]
    assert done.json["stationary"] == pytest.approx(LONG_RUN, rel=1e-12)
    facts = done.json["facts"]
    assert (facts["states"], facts["pairs"], facts["classes"], facts["period"]) == (3, 9, 1, 1)
    assert facts["ergodicity_1"] == pytest.approx(0.4)
    assert facts["condition"] == pytest.approx(veil.Chain(MATRIX).condition(), rel=1e-12)
    assert done.json["classes"] == [{"states": ["a", "b", "c"], "closed": True, "period": 1}]
    assert "intervals" not in done.json
    told = run("chain", name)
    assert told.code == 0
    assert "A chain of 3 states; every pair of states (9) is a possible step." in told.out
    for share in ("0.4040", "0.3434", "0.2525"):
        assert share in told.out
    assert told.out.index("0.4040") < told.out.index("0.3434") < told.out.index("0.2525")


def test_a_pipe_is_analysed(run: Run) -> None:
    done = run("chain", "-", "--json", stdin=FILES["roads.csv"])
    assert done.json["stationary"] == pytest.approx(LONG_RUN, rel=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_releases_come_with_error_bars(run: Run, folder: Path) -> None:
    dirichlet = (*BUDGET, "-d", "1e-6", "-m", "dirichlet")
    assert run("release", "matrix", "roads.csv", *dirichlet, "--seed", "1", "-o", "out.json").code == 0
    done = run("chain", "out.json", "--report", "out.html", "--json")
    assert done.code == 0, done.err
    bars = np.array(done.json["intervals"]["stationary"])
    proved = np.array(done.json["intervals"]["stationary_proved"])
    share = np.array(done.json["stationary"])
    assert done.json["intervals"]["confidence"] == 0.95
    assert bars.shape == (3, 2)
    assert np.shape(done.json["intervals"]["transitions"]) == (3, 3, 2)
    assert ((bars[:, 0] < share) & (share < bars[:, 1])).all()
    assert (np.ptp(proved, axis=1) >= np.ptp(bars, axis=1) - 1e-9).all()
    assert done.json["privacy"]["delta"] == 1e-6
    assert (folder / "out.html").exists()
    told = run("chain", "out.json")
    assert "95 % confidence for the true chain" in told.out
    noisy = run("release", "matrix", "roads.csv", *QUICK, "-o", "noisy.json")
    assert noisy.code == 0
    assert "intervals" not in run("chain", "noisy.json", "--json").json


@pytest.mark.parametrize("name", ["roads.csv", "turned.csv"])
def test_a_release_is_the_chain_that_went_in(run: Run, name: str) -> None:
    """However its columns stood."""
    run("release", "matrix", name, *EXACT, "-o", "out.csv")
    for written in ("out.json", "out.csv"):
        done = run("chain", written, "--json")
        assert done.code == 0, done.out
        found = dict(zip(done.json["states"], done.json["stationary"], strict=True))
        assert found == pytest.approx(dict(zip("abc", LONG_RUN, strict=True)), abs=1e-5)


def test_what_was_written_without_labels_can_be_read(run: Run) -> None:
    assert run("release", "matrix", "plain.csv", *EXACT, "-o", "out.csv").code == 0
    for written in ("out.json", "out.csv"):
        done = run("chain", written, "--json")
        assert done.code == 0, done.out
        assert done.json["stationary"] == pytest.approx([2 / 7, 5 / 7], abs=1e-5)


def test_releases_in_other_clothes(run: Run, folder: Path) -> None:
    run("release", "matrix", "roads.csv", *EXACT, "-o", "out.json")
    text = (folder / "out.json").read_text()
    (folder / "sorted.json").write_text(json.dumps(json.loads(text), sort_keys=True))
    sorted_keys, piped = run("chain", "sorted.json", "--json"), run("chain", "-", "--json", stdin=text)
    for done in (sorted_keys, piped):
        assert done.code == 0, done.out
        assert done.json["privacy"]["epsilon"] == pytest.approx(2.0)


@pytest.mark.usefixtures("no_pictures")
def test_periodic_and_reducible_chains(run: Run, folder: Path) -> None:
    cycle = run("chain", "cycle.csv")
    assert "never" in cycle.out
    assert "-0" not in cycle.out
    facts = run("chain", "cycle.csv", "--json").json["facts"]
    assert (facts["period"], facts["mixing_time"], facts["kemeny"]) == (3, None, pytest.approx(1.0))
    apart = run("chain", "apart.csv", "--report", "apart.html")
    assert apart.code == 0, apart.err
    assert "It is reducible: 3 classes of states, 2 of them closed." in apart.out
    assert "open, period 1: a" in apart.out
    assert "share of time" not in apart.out
    machine = run("chain", "apart.csv", "--json").json
    assert "stationary" not in machine
    assert machine["facts"]["condition"] is None
    assert [group["closed"] for group in machine["classes"]] == [True, True, False]
    assert "reducible" in (folder / "apart.html").read_text(encoding="utf-8")


def test_comparisons(run: Run) -> None:
    same = run("chain", "roads.csv", "--against", "turned.csv", "--json").json["comparison"]
    assert max(map(abs, same.values())) < 1e-12
    done = run("chain", "roads.csv", "--against", "zeros.csv")
    assert "Against zeros.csv:" in done.out
    assert "infinite" in done.out
    machine = run("chain", "roads.csv", "--against", "zeros.csv", "--json").json["comparison"]
    truth = veil.Chain(MATRIX).compare(veil.Chain([[0.5, 0.5, 0], [0, 0.6, 0.4], [1, 0, 0]]))
    assert machine.pop("kl_rate") is None
    assert machine == {name: pytest.approx(getattr(truth, name), rel=1e-12) for name in machine}
    assert len(machine) == 6
    run("release", "matrix", "roads.csv", *EXACT, "-o", "out.json")
    close = run("chain", "out.json", "--against", "roads.csv", "--json").json["comparison"]
    assert close["stationary_tv"] < 1e-5


@pytest.mark.parametrize(
    "labels", [("[red]", "[/]"), ("[bold]x", "[/bold]"), ("[b", "]"), ("a\\", "[link=x]")], ids=str
)
def test_labels_are_not_markup(run: Run, folder: Path, labels: tuple[str, str]) -> None:
    """A label in brackets is printed as it is, and never makes a release fail after it was drawn."""
    first, second = labels
    (folder / "odd.csv").write_text(f"from,{first},{second}\n{first},0.5,0.5\n{second},0.2,0.8\n")
    done = run("release", "matrix", "odd.csv", *QUICK, "-o", "odd.json")
    assert done.code == 0, done.err
    told = run("chain", "odd.csv")
    assert told.code == 0, told.err
    for label in labels:
        assert label in done.out
        assert label in told.out
    apart = f"from,to,p\n{first},{first},1\n{second},{second},1\n"
    assert run("chain", "-", stdin=apart).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "label",
    ["$\\frac$", "東京"]
    + [pytest.param(label, marks=pytest.mark.slow) for label in ("$^$", "5 $ to 9 $", "a_b^c", "%s {}")],
)
def test_labels_are_not_formulas(run: Run, folder: Path, label: str) -> None:
    (folder / "odd.csv").write_text(f"from,{label},b\n{label},0.5,0.5\nb,0.2,0.8\n", encoding="utf-8")
    done = run("chain", "odd.csv", "--report", "odd.html")
    assert done.code == 0, done.err
    assert done.err == ""
    assert label in (folder / "odd.html").read_text(encoding="utf-8")


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("chain",), 2, "FILE"),
        (("chian", "roads.csv"), 2, "chain"),
        (("chain", "roads.csv", "--agianst", "zeros.csv"), 2, "--against"),
        (("chain", "missing.csv"), 4, "no such file"),
        (("chain", "policy.csv"), 4, "as many rows as columns"),
        (("chain", "square.csv"), 4, "the same states as rows and columns"),
        (("chain", "counts.csv"), 4, "row of state 'a'"),
        (("chain", "stuck.csv"), 4, "row of state 'b'"),
        (("chain", "text.csv"), 4, "line 2, column 3"),
        (("chain", "commas.csv"), 4, "commas.csv"),
        (("chain", "roads.csv", "--report", "x.txt"), 2, ".html"),
        (("chain", "roads.csv", "--against", "missing.csv"), 4, "no such file"),
        (("chain", "roads.csv", "--against", "plain.csv"), 2, "the same states"),
        (("chain", "roads.csv", "--against", "apart.csv"), 4, "irreducible"),
        (("inspect", "roads.csv"), 4, "release"),
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


def test_errors_for_machines(run: Run) -> None:
    done = run("chain", "stuck.csv", "--json")
    assert done.code == 4
    error = done.json["error"]
    assert error["kind"] == "InvalidData"
    assert error["field"] == "matrix, row of state 'b'"
    assert error["found"] == "no transitions at all"
    assert done.err == ""
    rows = run("release", "matrix", "roads.csv", *BUDGET, "--rows", "0", "--json")
    assert (rows.code, rows.json["error"]["field"]) == (2, "rows")
    assert rows.json["error"]["message"].startswith("--rows: expected")


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
@pytest.mark.parametrize("name", ["policy.csv", "square.csv"])
def test_released_policies_are_no_chains(run: Run, name: str) -> None:
    """The file is sound, but not what the command needs: bad data, as for the policy itself."""
    run("release", "matrix", name, *QUICK, "-o", "out.json")
    assert run("inspect", "out.json", "--report", "out.html").code == 0
    done = run("chain", "out.json")
    assert done.code == 4, done.out + done.err


def test_the_real_command(folder: Path) -> None:
    """The process leaves with the code of the error; those of test_cli.py, where all is well."""
    command = [sys.executable, "-m", "veil", "chain", "missing.csv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4
    assert done.stderr == "veil: missing.csv: expected a file, found no such file.\n"
