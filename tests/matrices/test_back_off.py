"""Chains with a law that all rows share: the same answers as from the full matrix, without making it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import veil
from tests.core.fit import ALPHA
from veil.errors import InvalidArgument, InvalidData, VeilError
from veil.matrices import BackOffChain, back_off, chain_facts, chain_summary

Names = list("abcdefghi")


def made(seed: int = 1, size: int = 9, *, closed_rows: int = 0) -> BackOffChain:
    rng = np.random.default_rng(seed)
    likely = random_array((size, size), density=0.3, rng=rng).toarray()
    share = rng.uniform(0.2, 0.95, size)
    share[:closed_rows] = 1.0
    sums = likely.sum(axis=1)
    likely *= np.where(sums > 0.0, share / np.where(sums > 0.0, sums, 1.0), 0.0)[:, None]
    return BackOffChain(csr_array(likely), rng.dirichlet(np.ones(size)), states=Names[:size])


@pytest.fixture
def never_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a chain whose matrix does not fit."""
    monkeypatch.setattr(back_off, "MOST_DENSE", 1)


def full(chain: BackOffChain) -> veil.Chain:
    matrix = chain.likely.toarray() + np.outer(chain.rest, chain.law)
    return veil.Chain(matrix, states=chain.states)


@pytest.mark.usefixtures("never_dense")
@pytest.mark.parametrize("seed", range(5))
def test_answers_are_those_of_the_full_matrix(seed: int) -> None:
    chain, other = made(seed, closed_rows=seed % 3), made(seed + 50)
    plain, second = full(chain), full(other)
    assert chain.stationary() == pytest.approx(plain.stationary(), rel=1e-11)
    assert chain.entropy_rate() == pytest.approx(plain.entropy_rate(), rel=1e-11)
    assert chain.entropy_rate(2) == pytest.approx(plain.entropy_rate(2), rel=1e-11)
    assert chain.hitting_times("c") == pytest.approx(plain.hitting_times("c"), rel=1e-9)
    assert chain.after(3, "b") == pytest.approx(plain.after(3, "b"))
    assert chain.pairs == plain.pairs
    names, shares = zip(*chain.destinations("d", 3), strict=True)
    exact_names, exact_shares = zip(*plain.destinations("d", 3), strict=True)
    assert names == exact_names
    assert shares == pytest.approx(exact_shares)
    some = chain.states[3:]
    assert full(chain.restrict(some)).to_numpy() == pytest.approx(plain.restrict(some).to_numpy())
    for one, two, of in ((chain, other, (plain, second)), (plain, other, (plain, second))):
        found, exact = one.compare(two), of[0].compare(of[1])
        assert found.stationary_tv == pytest.approx(exact.stationary_tv)
        assert found.largest_row_tv == pytest.approx(exact.largest_row_tv)
        assert found.mean_row_tv == pytest.approx(exact.mean_row_tv)
        assert found.kl_rate == pytest.approx(exact.kl_rate)
        assert math.isnan(found.bound)
        assert found.to_dict()["bound"] is None
    # A second chain in another order of its states.
    turned = other.restrict(other.states[::-1])
    assert chain.compare(turned).mean_row_tv == pytest.approx(plain.compare(second).mean_row_tv)


@pytest.mark.usefixtures("never_dense")
def test_steps_that_the_second_chain_forbids() -> None:
    one = BackOffChain(csr_array([[0.0, 0.5], [0.5, 0.0]]), [0.5, 0.5])
    two = BackOffChain(csr_array([[0.0, 0.5], [0.5, 0.0]]), [1.0, 0.0])
    three = veil.Chain([[0.1, 0.9], [0.7, 0.3]])
    for first, second in ((one, two), (two, one), (one, three), (three, one), (two, three)):
        ends = [full(x) if isinstance(x, BackOffChain) else x for x in (first, second)]
        assert first.compare(second).kl_rate == pytest.approx(ends[0].compare(ends[1]).kl_rate)


@pytest.mark.usefixtures("never_dense")
def test_what_needs_the_full_matrix_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = made()
    monkeypatch.setattr(chain_summary, "MOST_DENSE", 1)
    monkeypatch.setattr(chain_summary, "_MOST_EIGENVALUES", 1)
    for ask in (chain.mixing_time, chain.to_numpy, chain.group_inverse, chain.hitting_times, chain.to_scipy):
        with pytest.raises(InvalidArgument, match="at most 1 states"):
            ask()
    facts = chain_facts(chain)
    assert facts.pairs == 81
    assert facts.classes == facts.period == 1


def test_small_chains_have_everything() -> None:
    chain, plain = made(), full(made())
    assert chain.mixing_time() == plain.mixing_time()
    assert chain.second_eigenvalue() == pytest.approx(plain.second_eigenvalue())
    assert chain.hitting_times() == pytest.approx(plain.hitting_times())
    assert chain.to_pandas().loc["a", "b"] == pytest.approx(plain.to_pandas().loc["a", "b"])
    assert chain.compare(plain).bound == pytest.approx(0.0, abs=1e-9)
    assert chain == made()
    assert chain != made(2)
    assert repr(chain).startswith("<veil.Chain of 9 states, ")


def test_walks_follow_the_chain() -> None:
    chain = made(3, size=4)
    paths = chain.simulate_indices(1, start="b", paths=40_000, rng=5)
    from scipy import stats

    row = chain.to_numpy()[1]
    seen = np.bincount(paths[:, 1], minlength=4)
    assert stats.chisquare(seen, row * paths.shape[0]).pvalue > ALPHA
    wrong = np.roll(row, 1)
    assert stats.chisquare(seen, wrong * paths.shape[0]).pvalue < ALPHA
    long = chain.simulate(200_000, rng=2)
    share = np.array([(long == name).mean() for name in chain.states])
    assert share == pytest.approx(chain.stationary(), abs=0.02)


def test_hub_and_back() -> None:
    chain = made(4)
    hub = chain.with_hub()
    assert len(hub) == 10
    weights = hub.stationary()[:-1]
    assert weights / weights.sum() == pytest.approx(chain.stationary(), rel=1e-9)
    again = BackOffChain.of_hub(veil.Chain(hub.to_networkx()))
    assert again.to_numpy() == pytest.approx(chain.to_numpy())
    with pytest.raises(InvalidArgument, match="hub"):
        BackOffChain.of_hub(full(chain), "a")


def test_a_law_that_is_hardly_followed() -> None:
    """Two halves between which only the law leads: the sum is long, and elimination takes over."""
    likely = csr_array(np.array([[0.0, 1 - 1e-12], [1 - 1e-9, 0.0]]))
    chain = BackOffChain(likely, [0.25, 0.75])
    assert chain.stationary() == pytest.approx(full(chain).stationary(), rel=1e-9)


def test_reducible() -> None:
    chain = BackOffChain(csr_array([[0.0, 0.5], [0.0, 1.0]]), [0.0, 1.0], states=["x", "y"])
    assert not chain.is_irreducible
    assert [group.states for group in chain.classes()] == [("y",), ("x",)]
    with pytest.raises(VeilError, match="stationary"):
        chain.stationary()


@pytest.mark.parametrize(
    ("likely", "law", "match"),
    [
        (np.eye(2), [0.5, 0.5], "SciPy sparse"),
        (csr_array(np.ones((2, 3))), [0.5, 0.5], "square"),
        (csr_array(np.eye(2)), [0.5, 0.4], "a sum of 1"),
        (csr_array(np.eye(2)), [1.5, -0.5], "2 probabilities"),
        (csr_array(np.eye(2)), [1.0], "2 probabilities"),
        (csr_array(2 * np.eye(2)), [0.5, 0.5], "at most 1"),
        (csr_array(-np.eye(2)), [0.5, 0.5], "probabilities"),
    ],
)
def test_bad_input(likely: object, law: list[float], match: str) -> None:
    with pytest.raises(InvalidData, match=match):
        BackOffChain(likely, law)
