"""The expected error of a released chain, and the warning where it is mostly noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import veil
from tests.chains.pages import page_text
from veil.chains.lengths import LengthBins
from veil.chains.report.summary import Accuracy, print_chain_release
from veil.chains.requests import ChainRelease
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.arrays import Floats
from veil.core.intake import NamedMatrix
from veil.matrices.requests import MatrixRelease

WARNING = "the noise is larger than most counts; these numbers say almost nothing."


def table(states: int, total: float, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(states))[:, None] * rng.dirichlet(np.full(states, 0.3), size=states)
    return rng.poisson(total * shares)


def accuracy(
    counts: Any, epsilon: float, seed: int = 1, **options: Any
) -> tuple[Accuracy, veil.Release[Any]]:
    release = veil.chains.release(counts, epsilon=epsilon, rng=seed, **options)
    found = Accuracy.of(release)
    assert found is not None
    return found, release


def error(matrix: Floats, counts: Any) -> float:
    sizes = counts.sum(axis=1)
    gaps = 0.5 * np.abs(matrix - counts / np.maximum(sizes, 1)[:, None]).sum(axis=1)
    return float(sizes @ gaps / sizes.sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("states", "total"), [(5, 1e3), (20, 1e4), pytest.param(60, 1e5, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_the_error_is_the_one_that_happens(states: int, total: float, epsilon: float, mechanism: str) -> None:
    counts = table(states, total)
    said, happened = [], []
    for seed in range(3):
        found, release = accuracy(counts, epsilon, seed, mechanism=mechanism, delta=1e-6)
        assert found.row_tv is not None
        said.append(found.row_tv)
        happened.append(error(release.value.to_numpy(), counts))
    assert 0.6 < np.mean(said) / np.mean(happened) < 1.7


def test_groups_have_two_errors() -> None:
    tables = {name: table(10, 3e3, seed) for seed, name in enumerate("abcd")}
    counts = TransitionCounts(sum(tables.values()), list("0123456789"), groups=tables)
    found, release = accuracy(counts, 1.0)
    assert found.row_tv is not None
    assert found.group_tv is not None
    assert found.row_tv < found.group_tv
    happened = np.mean(
        [error(veil.chains.group_chain(release, name).to_numpy(), one) for name, one in tables.items()]
    )
    assert 0.5 < found.group_tv / happened < 2.0
    assert "for all groups together" in found.words
    assert "within a group" in found.words


def test_strata_have_an_error_too() -> None:
    counts = table(8, 2e4)
    sequences = Sequences(
        np.full(8, 1000), np.full(8, 1000), np.array([0, 4000, 4000]), LengthBins((1, 2, 5))
    )
    strata = (Stratum(2, 1, counts // 2), Stratum(5, 4, counts // 2))
    data = TransitionCounts(counts, list("abcdefgh"), cap=4, strata=strata, sequences=sequences)
    found, release = accuracy(data, 1.0, unit="user")
    assert found.row_tv is not None
    assert 0.4 < found.row_tv / error(release.value.to_numpy(), counts) < 2.5
    assert found.moved is not None
    # Four transitions of one user instead of one.
    assert 3.5 < found.moved[1] / found.moved[0] < 5.0
    assert found.warning is None


@pytest.mark.parametrize(("states", "seed"), [(2, 1), (3, 2), (3, 3), (10, 4), (60, 5)])
def test_noise_is_called_noise(states: int, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    found, release = accuracy(np.ones((states, states), dtype=np.int64), 0.01, seed)
    assert found.drowned
    assert found.warning is not None
    job = ChainRelease(epsilon=0.01).prepare(np.ones((states, states), dtype=np.int64))
    print_chain_release(release, job=job, written=[])
    shown = capsys.readouterr().out
    assert f"WARNING: {WARNING} A larger epsilon or merged states would help." in shown
    assert "not known, since the counts cannot be told from noise" in shown


def test_a_cap_could_be_smaller() -> None:
    counts = TransitionCounts(np.ones((3, 3), dtype=np.int64), list("abc"), cap=5)
    found, _ = accuracy(counts, 0.01, unit="user")
    assert found.warning == f"{WARNING} A larger epsilon, a smaller cap, or merged states would help"


@pytest.mark.slow
def test_the_page_warns_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    # Comparing with other mechanisms takes most of the time.
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 0)
    _, noise = accuracy(np.ones((3, 3), dtype=np.int64), 0.01)
    assert "Mostly noise." in page_text(noise)
    _, clear = accuracy(table(3, 1e4), 1.0)
    page = page_text(clear)
    assert "Mostly noise." not in page
    assert "Expected error of the next step, by the noise alone:" in page


def test_large_errors_are_warned_of_though_some_counts_stand_out() -> None:
    """A few large counts, and much of the weight in cells that noise hides."""
    found, _ = accuracy(table(60, 1e3), 1.0)
    assert not found.drowned
    assert found.row_tv is not None
    assert found.row_tv > 0.3
    assert found.warning is not None


def test_single_groups_may_be_noise() -> None:
    assert Accuracy(0.01, 0.5).warning is not None
    assert Accuracy(0.01, 0.1).warning is None
    assert Accuracy(0.31).warning is not None


@pytest.mark.slow
def test_rows_of_probabilities() -> None:
    """Dirichlet rows: with the sizes the error is known, without them nobody can say."""
    counts = table(5, 1e4)
    alone, _ = accuracy(counts, 2.0, mechanism="dirichlet", delta=1e-6)
    assert alone.row_tv is None
    assert "(with parts sizes it would)" in alone.words
    assert alone.warning is None
    found, release = accuracy(counts, 2.0, mechanism="dirichlet", delta=1e-6, parts=("sizes",))
    assert found.row_tv is not None
    assert 0.4 < found.row_tv / error(release.value.to_numpy(), counts) < 2.5


def test_the_published_form_has_a_public_noise() -> None:
    counts = np.array([[800, 150, 50], [100, 300, 100], [40, 60, 500]])
    said, happened = [], []
    for seed in range(6):
        found, release = accuracy(
            counts, 1.0, seed, mechanism="published", change="replace", floor=0.04, delta=1e-3
        )
        assert found.row_tv is not None
        said.append(found.row_tv)
        happened.append(error(release.value.to_numpy(), counts))
    assert 0.5 < np.mean(said) / np.mean(happened) < 2.0


def test_matrices_have_none() -> None:
    taken = NamedMatrix(np.array([[0.5, 0.5], [0.1, 0.9]]), ("a", "b"), ("a", "b"))
    adjacency = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))
    release = (
        MatrixRelease(
            rows=adjacency.changed, transfer=adjacency.each.mass, epsilon=2.0, delta=0.0, mechanism="laplace"
        )
        .prepare(taken)
        .run(rng=1)
    )
    assert Accuracy.of(release) is None
