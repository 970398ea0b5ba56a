"""veil audit: what it does, what it says, and that it needs nobody's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.vectors.mechanisms.noisy_counts import GeometricCounts

from .conftest import Run

QUICK = ("audit", "private.json", "--samples", "1000", "--seed", "3")


@pytest.fixture(autouse=True)
def released(folder: Path) -> Path:
    mechanism = veil.vectors.GeometricCounts(1.0, 3)
    path = folder / "private.json"
    veil.release(mechanism, [517, 300, 29], adjacency=veil.vectors.Records("replace")).save(path)
    return path


@pytest.mark.slow
def test_a_release_is_audited_on_made_up_values(run: Run) -> None:
    done = run(*QUICK)
    assert done.code == 0, done.err
    assert "No violation found on 6 pairs of made-up neighbours." in done.out
    assert "at most 1e-09" in done.out
    assert "no proof" in done.out
    assert "passed" not in done.out.lower()
    assert "from the first cell" in done.out
    assert "517" not in done.out


@pytest.mark.slow
def test_machines(run: Run) -> None:
    done = run(*QUICK, "--json", "--confidence", "0.9999999995", "--delta", "0.1")
    assert done.code == 0
    found = done.json
    assert found["violated"] is False
    assert found["confidence"] == 0.9999999995
    (mechanism,) = found["mechanisms"]
    assert mechanism["mechanism"]["name"] == "GeometricCounts"
    assert mechanism["delta"] == 0.1
    assert mechanism["lower"] <= mechanism["claimed"]
    assert len(mechanism["pairs"]) == 6
    assert mechanism["independence"]["fault"] == ""
    again = run(*QUICK, "--json", "--confidence", "0.9999999995", "--delta", "0.1")
    assert again.json == found


@pytest.mark.slow
def test_a_violation_has_an_exit_code_of_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is taken away: exit code 5, in red words and for machines."""
    monkeypatch.setattr(GeometricCounts, "noise", lambda self, rng, shape: np.zeros(shape, dtype=int))
    done = run(*QUICK)
    assert done.code == 5
    assert "VIOLATION: GeometricCounts: from the first cell to the last, among large ones: eps" in done.out
    assert "1 of 1 mechanisms" in done.out
    machine = run(*QUICK, "--json")
    assert machine.code == 5
    assert machine.json["violated"] is True
    assert machine.json["mechanisms"][0]["faults"]


@pytest.mark.slow
def test_a_form_that_draws_floats_is_explained(run: Run, folder: Path) -> None:
    """The form of 0.1, kept for those who ask for it: which way it was computed shows in the last bits."""
    mechanism = veil.vectors.DirichletCounts(0.011, 0.19, 3, exact=False)
    options: dict[str, Any] = {"adjacency": veil.vectors.Records(), "delta": 1e-6}
    veil.release(mechanism, [0, 1, 300], **options).save(folder / "floats.json")
    done = run("audit", "floats.json", "--samples", "4000", "--seed", "3")
    assert done.code == 5
    assert "by the last bits of floats" in done.out
    assert "this form assumes real arithmetic; the audit found float artefacts" in " ".join(done.out.split())
    machine = run("audit", "floats.json", "--samples", "4000", "--seed", "3", "--json").json
    assert machine["mechanisms"][0]["note"].endswith("float artefacts")
    assert any(pair["by_bits"] for pair in machine["mechanisms"][0]["pairs"])
    # The default is drawn exactly.
    veil.release(veil.vectors.DirichletCounts(0.011, 0.19, 3), [0, 1, 300], **options).save(
        folder / "exact.json"
    )
    assert run("audit", "exact.json", "--samples", "4000", "--seed", "3").code == 0


@pytest.mark.slow
def test_a_report_is_written_once(run: Run, folder: Path) -> None:
    done = run(*QUICK, "--report", "audit.html")
    assert done.code == 0
    assert "Written: audit.html" in done.out
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert "An audit of GeometricCounts" in page
    assert "<svg" in page
    again = run(*QUICK, "--report", "audit.html")
    assert again.code == 2
    assert "--force" in again.err
    assert run(*QUICK, "--report", "audit.html", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("audit",), 2, "neither"),
        (("audit", "private.json", "--all"), 2, "both"),
        (("audit", "nothing.json"), 4, "nothing.json"),
        (("audit", "roads.csv"), 4, "record"),
        (("audit", "private.json", "--report", "audit.pdf"), 2, ".html"),
        (("audit", "private.json", "--confidence", "1"), 2, "confidence"),
        (("audit", "private.json", "--delta", "2"), 2, "delta"),
    ],
)
def test_wrong_use(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run(*arguments)
    assert done.code == code, done.err
    assert says in done.err
    machine = run(*arguments, "--json")
    assert machine.code == code
    assert machine.json["error"]["message"] in done.err


@pytest.mark.slow
def test_all_mechanisms(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them stand for all: the false-alarm rate is that of the whole."""
    from veil.core.audit import suite

    few: list[tuple[Any, Any]] = [
        (veil.vectors.GeometricCounts(1.0, 3), veil.vectors.Records()),
        (veil.words.ExponentialWords(veil.words.FreeWords(3, 3), 1.0), None),
    ]
    monkeypatch.setattr(suite, "audit_examples", lambda: few)
    done = run("audit", "--all", "--samples", "1000", "--seed", "1")
    assert done.code == 0, done.err
    for said in (
        "GeometricCounts",
        "ExponentialWords",
        "enumerated",
        "sampled",
        "No violation found on 9 pairs",
    ):
        assert said in done.out
