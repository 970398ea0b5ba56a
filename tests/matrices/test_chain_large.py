"""Large sparse chains: never an n x n array, and a clear word where one would be needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats

import veil
from veil.errors import InvalidArgument, VeilError

ALPHA = 1e-6
SIZE = 5_000


def ring(size: int, *, up: float, down: float) -> Any:
    """To the next state with `up`, to the one before with `down`, else it stays."""
    here = np.arange(size)
    values = np.repeat([up, down, 1.0 - up - down], size)
    ends = np.concatenate([(here + 1) % size, (here - 1) % size, here])
    return sparse.coo_array((values, (np.tile(here, 3), ends)), shape=(size, size))


@pytest.mark.slow
def test_a_large_ring() -> None:
    chain = veil.Chain(ring(SIZE, up=0.5, down=0.3))
    assert chain.is_sparse
    np.testing.assert_allclose(chain.stationary(), 1 / SIZE, rtol=1e-12)
    assert chain.period() == 1
    assert veil.Chain(ring(SIZE, up=0.6, down=0.4)).period() == 2
    rate = -sum(p * math.log(p) for p in (0.5, 0.3, 0.2))
    assert chain.entropy_rate() == pytest.approx(rate, rel=1e-12)
    assert [len(group.states) for group in chain.classes()] == [SIZE]
    law = chain.after(2, 0)
    assert law[[2, 1, 0, SIZE - 1, SIZE - 2]] == pytest.approx([0.25, 0.2, 0.34, 0.12, 0.09], rel=1e-12)
    walk = chain.simulate_indices(100_000, start=0, rng=1).astype(np.int64)
    steps = (np.diff(walk) + 1) % SIZE
    assert stats.chisquare(np.bincount(steps), 100_000 * np.array([0.3, 0.2, 0.5])).pvalue > ALPHA
    assert len(chain.to_networkx()) == SIZE


def test_a_long_line_keeps_relative_accuracy() -> None:
    """Up with 0.3, down with 0.4: pi_i is (3/4)^i (1/4), down to 1e-300."""
    size = 2_400
    here = np.arange(size)
    up, down = np.full(size - 1, 0.3), np.full(size - 1, 0.4)
    stay = 1.0 - np.append(up, 0.0) - np.insert(down, 0, 0.0)
    entries = np.concatenate([up, down, stay])
    places = (np.concatenate([here[:-1], here[1:], here]), np.concatenate([here[1:], here[:-1], here]))
    chain = veil.Chain(sparse.csr_array((entries, places), shape=(size, size)))
    pi = chain.stationary()
    assert pi[-1] < 1e-299
    np.testing.assert_allclose(pi[1:] / pi[:-1], 0.75, rtol=1e-12)
    assert pi[0] == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize(
    ("ask", "arguments"),
    [("group_inverse", ()), ("fundamental", ()), ("condition", ()), ("ergodicity", ()),
     ("ergodicity", ("inf",)), ("mixing_time", ()), ("hitting_times", ()), ("hitting_times", (3,))],
)  # fmt: skip
def test_what_needs_a_full_matrix_says_so(ask: str, arguments: tuple[Any, ...]) -> None:
    chain = veil.Chain(ring(SIZE, up=0.5, down=0.3))
    with pytest.raises(InvalidArgument, match=r"^matrix: expected at most 3,000 states for .*, found 5,000"):
        getattr(chain, ask)(*arguments)


def _never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("an n x n array")


def test_eigenvalues_never_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the iteration does not converge, a chain of 5,000 states must not be written out."""
    from scipy.sparse.linalg import ArpackNoConvergence

    def stuck(*args: Any, **kwargs: Any) -> Any:
        raise ArpackNoConvergence("no convergence", np.array([]), np.array([]))

    monkeypatch.setattr("scipy.sparse.linalg.eigs", stuck)
    monkeypatch.setattr("scipy.linalg.eigvals", _never)
    monkeypatch.setattr("scipy.sparse.csr_array.toarray", _never)
    with pytest.raises(VeilError):
        veil.Chain(ring(SIZE, up=0.5, down=0.3)).second_eigenvalue()


def test_large_chains_are_equal_without_a_full_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    one, same, other = (veil.Chain(ring(SIZE, up=0.5, down=down)) for down in (0.3, 0.3, 0.2))
    monkeypatch.setattr("scipy.sparse.csr_array.toarray", _never)
    assert one == same
    assert one != other


def test_large_chains_are_not_compared_by_way_of_a_full_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (veil.Chain(ring(SIZE, up=0.5, down=down)) for down in (0.3, 0.2))
    monkeypatch.setattr("scipy.sparse.csr_array.toarray", _never)
    with pytest.raises(InvalidArgument, match=r"at most 3,000 states"):
        one.compare(other)


def test_small_sparse_chains_do_everything() -> None:
    thin, full = veil.Chain(ring(40, up=0.5, down=0.3)), veil.Chain(ring(40, up=0.5, down=0.3).toarray())
    assert thin.is_sparse
    assert not full.is_sparse
    assert thin.condition() == pytest.approx(full.condition(), rel=1e-12)
    assert thin.mixing_time() == full.mixing_time()
    assert thin.ergodicity("inf") == pytest.approx(full.ergodicity("inf"), rel=1e-12)
    assert thin.second_eigenvalue() == pytest.approx(full.second_eigenvalue(), rel=1e-12)
    np.testing.assert_allclose(thin.hitting_times(), full.hitting_times(), rtol=1e-12)
    assert thin.hitting_times()[0, 1] == pytest.approx(_steps_ahead(0.5, 0.3, 40), rel=1e-10)


def _steps_ahead(up: float, down: float, size: int) -> float:
    """From a state of a ring to the next: the gambler who has size - 1 and plays for size, or ruin."""
    r = down / up
    won = (1 - r ** (size - 1)) / (1 - r**size)
    return (size * won - (size - 1)) / (up - down)
