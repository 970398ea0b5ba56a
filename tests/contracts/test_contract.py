"""What every mechanism of Veil must do."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from tests.contracts.cases import CASES, Case, one_entry_not_randomised, too_little_noise
from tests.params import quick_first
from veil.core.mechanism import ONE_PER_PERSON, kind_of
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidField, VeilError

every_mechanism = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_mechanism
def test_is_a_mechanism(case: Case) -> None:
    assert isinstance(case.mechanism, veil.Mechanism)


@every_mechanism
def test_outputs_stay_in_the_domain(case: Case) -> None:
    draws = case.mechanism.sample(case.value, rng=1, size=300)
    assert draws.shape == (300, *np.shape(case.value))
    assert draws in case.outputs
    assert case.mechanism.sample(case.value, rng=1).shape == np.shape(case.value)
    batch = np.array([case.value, case.neighbour])
    assert case.mechanism.sample(batch, rng=1).shape == batch.shape
    assert case.mechanism.sample(batch, rng=1, size=4).shape == (4, *batch.shape)


@every_mechanism
def test_every_position_is_randomised(case: Case) -> None:
    draws = case.mechanism.sample(case.value, rng=2, size=400)
    # Not by their standard deviation: that of a constant is a rounding error, and above nought.
    assert (draws != draws[0]).any(axis=0).all()


@pytest.mark.mostly_slow(quick=3)
@every_mechanism
def test_profile_is_monotone_and_consistent(case: Case) -> None:
    profile = case.mechanism.profile(case.adjacency)
    assert profile.kind in ("exact", "upper bound")
    grid = np.linspace(0.0, 6.0, 25)
    deltas = [profile.delta(float(epsilon)) for epsilon in grid]
    assert all(later <= earlier for earlier, later in pairwise(deltas))
    assert all(0.0 <= delta <= 1.0 for delta in deltas)
    assert profile.delta(math.inf) == 0.0
    for delta in (0.3, 1e-2, 1e-4, 1e-9, 1e-30):
        epsilon = profile.epsilon(delta)
        assert profile.delta(epsilon) <= delta
        if epsilon > 0.0:
            assert profile.delta(epsilon * (1.0 - 1e-4)) > delta
    assert profile.epsilon(1.0) == 0.0
    assert profile.delta(profile.epsilon(0.0)) == 0.0


@every_mechanism
def test_bad_budgets_are_refused(case: Case) -> None:
    profile = case.mechanism.profile(case.adjacency)
    for epsilon in (-0.1, math.nan, "1", None):
        with pytest.raises(InvalidArgument, match="epsilon"):
            profile.delta(epsilon)
    for delta in (-1e-9, 1.1, math.nan, "0", None):
        with pytest.raises(InvalidArgument, match="delta"):
            profile.epsilon(delta)


@pytest.mark.mostly_slow(quick=3)
@every_mechanism
@pytest.mark.parametrize("share", quick_first([0.1, 1.0]))
def test_calibration_never_lands_on_the_unsafe_side(case: Case, share: float) -> None:
    low, high = case.targets

    @settings(max_examples=round(share * case.examples), deadline=None, derandomize=True)
    @given(
        epsilon=st.floats(math.log(low), math.log(high)).map(math.exp),
        delta=st.floats(math.log(case.smallest_delta), math.log(0.2)).map(math.exp),
    )
    def check(epsilon: float, delta: float) -> None:
        mechanism = veil.calibrate(case.factory, case.adjacency, epsilon=epsilon, delta=delta)
        assert mechanism.profile(case.adjacency).delta(epsilon) <= delta

    check()


@every_mechanism
def test_calibration_is_tight(case: Case) -> None:
    epsilon, delta = case.targets[1] / 2.0, max(case.smallest_delta, 1e-3)
    numbers = []

    def factory(number: float) -> Any:
        numbers.append(number)
        return case.factory(number)

    veil.calibrate(factory, case.adjacency, epsilon=epsilon, delta=delta)
    best = numbers[-1]
    assert case.factory(best * 1.0001).profile(case.adjacency).delta(epsilon) > delta


@every_mechanism
def test_description_rebuilds_the_mechanism(case: Case) -> None:
    description = json.loads(json.dumps(case.mechanism.describe()))
    rebuilt = mechanism_from(description, kind_of(case.mechanism))
    assert rebuilt == case.mechanism
    assert type(rebuilt) is type(case.mechanism)
    same = rebuilt.sample(case.value, rng=3), case.mechanism.sample(case.value, rng=3)
    assert np.array_equal(*same)


@every_mechanism
def test_bad_input_names_field_expected_and_found(case: Case) -> None:
    for value in case.bad:
        with pytest.raises(VeilError) as caught:
            veil.release(case.mechanism, value, adjacency=case.adjacency, delta=0.1)
        error = caught.value
        assert isinstance(error, InvalidField), value
        assert error.field, value
        assert error.expected, value
        assert error.found, value
        assert error.exit_code == 4


@every_mechanism
def test_errors_do_not_quote_the_data(case: Case) -> None:
    secret = np.array(case.value, dtype=float)
    secret.flat[0] = -0.123454321
    with pytest.raises(VeilError) as caught:
        case.mechanism.sample(secret)
    assert "123454321" not in str(caught.value)


@every_mechanism
def test_seeds_repeat_and_no_seed_does_not(case: Case) -> None:
    sample = case.mechanism.sample
    assert np.array_equal(sample(case.value, rng=5, size=20), sample(case.value, rng=5, size=20))
    assert not np.array_equal(sample(case.value, rng=5, size=20), sample(case.value, rng=6, size=20))
    assert not np.array_equal(sample(case.value, size=20), sample(case.value, size=20))


@every_mechanism
def test_the_input_is_not_changed(case: Case) -> None:
    value = np.array(case.value, dtype=float)
    kept = value.copy()
    case.mechanism.sample(value, rng=1)
    assert np.array_equal(value, kept)


@pytest.mark.slow
@every_mechanism
def test_audit_finds_no_violation(case: Case) -> None:
    # alpha = 1e-9 for each case, so a false alarm in any of them is rarer than 2e-8; the seed is fixed.
    found = veil.audit(case.mechanism, case.value, case.neighbour, samples=8_000, delta=case.delta, rng=7)
    assert not found.violated, str(found)
    assert "no violation found" in str(found)


@pytest.mark.slow
@every_mechanism
def test_audit_finds_planted_violations(case: Case) -> None:
    for faulty in (too_little_noise(case), one_entry_not_randomised(case.mechanism)):
        found = veil.audit(faulty, case.value, case.neighbour, samples=4_000, delta=case.delta, rng=8)
        assert found.violated, str(found)
        assert found.lower > found.claimed


@every_mechanism
def test_release_round_trip(case: Case, tmp_path: Path) -> None:
    delta = 1e-3
    out = veil.release(case.mechanism, case.value, adjacency=case.adjacency, delta=delta)
    assert out.value in case.outputs
    assert out.profile.delta(out.epsilon) <= out.delta == delta
    assert not out.reproducible
    out.save(tmp_path / "out.json")
    back = veil.load(tmp_path / "out.json")
    assert back == out
    assert np.array_equal(back.value, out.value)
    assert back.mechanism == case.mechanism
    assert back.adjacency == case.adjacency
    assert back.epsilon == out.epsilon
    assert back.domain == case.mechanism.domain
    # Nothing of the input is in the file.
    text = (tmp_path / "out.json").read_text()
    assert "seed" not in text
    assert "input" not in text


@every_mechanism
def test_batches_say_what_they_assume(case: Case) -> None:
    out = veil.release(
        case.mechanism, np.array([case.value, case.neighbour]), adjacency=case.adjacency, delta=1e-3, rng=1
    )
    assert ONE_PER_PERSON in out.assumptions
    assert out.reproducible
    assert replace(out, reproducible=False) != out


@every_mechanism
def test_adjacencies_that_are_not_covered_are_refused(case: Case) -> None:
    for wrong in ("replace", 3, object()):
        with pytest.raises(InvalidArgument, match="adjacency"):
            case.mechanism.profile(wrong)
    with pytest.raises(InvalidArgument, match="adjacency"):
        case.mechanism.profile(None)
