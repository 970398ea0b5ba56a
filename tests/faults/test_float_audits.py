"""The standard audit finds what floats leave behind, and nothing where whole numbers are drawn."""

from __future__ import annotations

import pytest

import veil
from tests.faults.mutants import MUTANTS
from tests.faults.planting import planted
from tests.faults.suites import SEED, SUITES, Suite, plain
from tests.params import quick_first
from veil.vectors import Laplace, Simplex, Transfer

CASES = [(name, suite) for name, suites in SUITES.items() for suite in suites]
EXACT = [(name, suite) for name, suite in CASES if suite.exact is not None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "suite"),
    quick_first(
        [
            pytest.param(*case, id=case[0])
            for case in sorted(CASES, key=lambda one: not one[0].endswith("of-0.1"))
        ],
        quick=3,
    ),
)
def test_the_standard_audit_finds_it(name: str, suite: Suite) -> None:
    with planted(*MUTANTS[name].plants):
        found = suite.run()
    assert any(suite.says in fault for fault in found.faults), f"{MUTANTS[name].fault} {found}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "suite"), EXACT, ids=[name for name, _ in EXACT])
def test_nothing_is_found_in_whole_numbers(name: str, suite: Suite) -> None:
    assert suite.exact is not None
    found = suite.run(suite.exact())
    assert not found.violated, str(found)


@pytest.mark.slow
def test_noise_of_old_at_a_usual_scale_is_found_by_more_draws() -> None:
    """The projection hides most of the last bits; in two entries, 100,000 draws are enough."""
    mechanism = plain(Laplace, 0.1, Simplex(2))
    pairs = [pair for pair in veil.audit_pairs(mechanism, Transfer(0.05)) if "corner" in pair.name]
    with planted(*MUTANTS["laplace-of-0.1"].plants):
        found = veil.audit_suite(mechanism, Transfer(0.05), pairs=pairs, samples=100_000, rng=SEED)
    assert found.violated, str(found)
    assert found.audits[0].by_bits
    exact = veil.audit_suite(Laplace(0.1, Simplex(2)), Transfer(0.05), pairs=pairs, samples=100_000, rng=SEED)
    assert not exact.violated, str(exact)


def test_the_faults_that_only_audits_find_are_all_here() -> None:
    assert set(SUITES) == {name for name, mutant in MUTANTS.items() if not mutant.caught_by}
    assert len(SUITES) >= 9
