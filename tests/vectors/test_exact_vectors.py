"""Vectors that are released exactly: the one call, the command line, the error bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import veil
from veil.cli.app import main
from veil.core.mechanism import REAL_ARITHMETIC
from veil.core.record import Release
from veil.errors import InvalidArgument
from veil.vectors.error_bars import intervals
from veil.vectors.requests import VectorRelease

VECTOR = [0.4, 0.35, 0.25]
COUNTED: dict[str, Any] = {"size": 3, "epsilon": 1.0, "delta": 1e-6, "exact": True}


def test_calibrated_vectors_are_safe_and_nearly_as_good() -> None:
    adjacency = veil.vectors.Transfer(0.01)
    settings: dict[str, Any] = {"size": 3, "epsilon": 1.0, "delta": 1e-4, "floor": 0.1}
    exact = veil.vectors.calibrated("dirichlet", adjacency, exact=True, **settings)
    plain = veil.vectors.calibrated("dirichlet", adjacency, exact=False, **settings)
    assert isinstance(exact, veil.vectors.Dirichlet)
    assert isinstance(plain, veil.vectors.Dirichlet)
    assert exact.exact
    assert exact.profile(adjacency).delta(1.0) <= 1e-4
    assert exact.k == pytest.approx(plain.k, rel=1e-6)


@pytest.mark.slow
def test_calibrated_counts_draw_as_often_as_asked() -> None:
    asked = veil.vectors.calibrated("dirichlet", veil.vectors.Records(), draws=77, **COUNTED)
    assert isinstance(asked, veil.vectors.DirichletCounts)
    assert asked.draws == 77
    # Drawn in whole numbers as they are.
    assert veil.vectors.calibrated("geometric", veil.vectors.Records(), **COUNTED).name == "GeometricCounts"


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("laplace", {"exact": 1}, "exact"),
        ("laplace", {"draws": 5}, "draws"),
        ("dirichlet", {"exact": False, "draws": 5}, "draws"),
    ],
)
def test_what_is_refused(name: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        veil.vectors.calibrated(name, veil.vectors.Transfer(0.01), size=3, epsilon=1.0, delta=1e-4, **options)
    assert caught.value.field == field


def test_an_exact_job_takes_the_vector_unchanged() -> None:
    given = np.array(VECTOR) * (1.0 + 2e-10)
    job = VectorRelease(
        transfer=0.01, epsilon=1.0, delta=1e-4, mechanism="auto", floor=0.1, exact=True
    ).prepare(given)
    assert job.mechanism.describe()["parameters"]["form"] == "rounded to 28 bits"
    assert (job.value == given).all()


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--records", "98", "-m", "dirichlet"], ["--draws", "4096"]])
def test_the_command_line(options: list[str], tmp_path: Path) -> None:
    source, target = tmp_path / "grades.csv", tmp_path / "out.json"
    source.write_text("grade,count\na,40\nb,35\nc,23\n", encoding="utf-8")
    command = [
        "release",
        "vector",
        str(source),
        "-e",
        "1",
        "-d",
        "1e-6",
        "-o",
        str(target),
        *options,
    ]
    assert main(command) == 0
    parameters = json.loads(target.read_text(encoding="utf-8"))["mechanism"]["parameters"]
    assert parameters.get("exact") is True or parameters["form"] == "rounded to 28 bits"
    assert main(["inspect", str(target)]) == 0


@pytest.mark.slow_for("auto", "dirichlet")
@pytest.mark.parametrize("name", ["dirichlet", "laplace", "gaussian", "auto"])
def test_floats_are_asked_for_by_name_and_say_what_they_assume(name: str) -> None:
    asked = VectorRelease(transfer=0.01, epsilon=1.0, delta=1e-4, mechanism=name, exact=False).prepare(VECTOR)
    assert REAL_ARITHMETIC in asked.assumptions
    exact = VectorRelease(transfer=0.01, epsilon=1.0, delta=1e-4, mechanism=name).prepare(VECTOR)
    assert exact.assumptions == ()
    assert "form" in exact.mechanism.describe()["parameters"]


def test_auto_without_exactness_may_choose_what_is_exact() -> None:
    job = VectorRelease(epsilon=1.0, exact=False).prepare([40, 35, 25])
    assert job.mechanism.name == "GeometricCounts"
    with pytest.raises(InvalidArgument, match="exact"):
        VectorRelease(epsilon=1.0, exact=False, mechanism="geometric").prepare([40, 35, 25])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draws", "times"), [(60, 300), *(pytest.param(n, 800, marks=pytest.mark.slow) for n in (60, 3000))]
)
def test_error_bars_cover(draws: int, times: int) -> None:
    truth, confidence = np.array([0.05, 0.15, 0.8]), 0.9
    mechanism = veil.vectors.Dirichlet(
        50.0, veil.vectors.Simplex(3, floor=0.01), smooth=True, exact=True, draws=draws
    )
    drawn = mechanism.sample(truth, rng=3, size=times)
    made = Release(drawn, mechanism, veil.vectors.Transfer(0.01), 1.0, 1e-6)
    low, high = np.moveaxis(intervals(made, confidence=confidence), -1, 0)
    hits = ((low <= truth) & (truth <= high)).sum(axis=0)
    for hit in hits.tolist():
        assert stats.binomtest(hit, times, confidence, alternative="less").pvalue > 1e-6
    # Power: as if the urn added nothing, at a number of draws of the order of k.
    if draws == 60:
        plain = veil.vectors.Dirichlet(50.0, veil.vectors.Simplex(3, floor=0.01), smooth=True)
        low, high = np.moveaxis(
            intervals(Release(drawn, plain, veil.vectors.Transfer(0.01), 1.0, 1e-6), confidence=0.9), -1, 0
        )
        missed = int(((low <= truth) & (truth <= high)).sum(axis=0)[1])
        assert stats.binomtest(missed, times, confidence, alternative="less").pvalue < 1e-6
