"""Whatever is handed to a public name: a result or a VeilError, soon, in little memory, and no charge."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import veil

from .calls import spoiled
from .entry import Entry
from .entry_points import ADJACENCIES, DOMAINS, ENTRIES, MECHANISMS, RELEASES, VERBS
from .guard import CountingLedger, guarded
from .odd_values import anything
from .profiles import tries

KINDS = ("vectors", "matrices", "chains", "words", "bits", "graphs", "trips")
# What is made by others, never called by a user: results, what a reader counted, and bases of classes.
_RESULTS = {
    "": "Adjacency Audit AuditPair AuditSuite Job Kind Mechanism Plan PrivacyProfile Release __version__ "
    "errors",
    "vectors": "Comparison EpsilonPlan Errors LabelledVector LabelledVectors NeededEpsilon Row",
    "matrices": "ChainComparison ChainFacts ChainIntervals CommunicatingClass MatrixPlan MatrixRow Reducible "
    "Solution ValueLoss",
    "chains": "ChainPlan DiscoveryPlan GroupChain LengthLaw OncePerUser SequenceModel Sequences SparsePlan "
    "Stratum Synthetic UserForecast UserPlan",
    "words": "OnlineWord WordBatch WordPlan WordTable",
    "bits": "BitPlan BitReading BitSource",
    "graphs": "Decoding EdgeSource FactPlan GraphPlan GraphReading",
    "trips": "Flow Measures Places SyntheticTrips TripModel TripPlan",
}
# Formulas and their parts, for those who compute with them: they take numbers as they are.
_FORMULAS = {
    "vectors": "concentration dirichlet_errors expected_absolute_deviation expected_kl largest_entry_failure "
    "largest_entry_quantile largest_expected_entry_error largest_expected_kl largest_expected_l1 "
    "published_concentration total_variation_failure",
    "matrices": "calibrated_matrix ergodicity_bound expected_ergodicity_change "
    "expected_largest_column_distance expected_largest_row_distance expected_stationary_change "
    "expected_weighted_row_distance plan_matrix row_radius simultaneous_row_radii stationary_bound "
    "stationary_bound_from_kl stationary_radii stationary_radius value_figure",
    "graphs": "adjusted_rand average_f1 degree_divergence",
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name of a file that makes no sense may be one all the same.
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("module", ["", *KINDS])
def test_every_public_name_is_tried(module: str) -> None:
    # The same object may be public in two places.
    tried = {id(entry.call) for entry in ENTRIES}
    started = {entry.name.partition(" ")[0].removeprefix(f"{module}.").partition(".")[0] for entry in ENTRIES}
    public = import_module(f"veil.{module}".rstrip("."))
    left = {name for name in public.__all__ if name not in started and id(getattr(public, name)) not in tried}
    assert left == {*_RESULTS[module].split(), *_FORMULAS.get(module, "").split()}


@pytest.mark.mostly_slow(quick=13)
@pytest.mark.parametrize("entry", [*ADJACENCIES, *DOMAINS, *MECHANISMS, *VERBS], ids=str)
@tries(25, data=st.data())
def test_any_arguments_give_a_result_or_our_error(entry: Entry, data: st.DataObject) -> None:
    arguments = data.draw(spoiled(entry))
    guarded(lambda: entry.call(**arguments))


@pytest.mark.parametrize("entry", RELEASES, ids=str)
@tries(40, data=st.data())
def test_what_is_refused_is_not_charged(entry: Entry, data: st.DataObject) -> None:
    ledger = CountingLedger()
    arguments = data.draw(spoiled(entry)) | {"ledger": ledger}
    outcome = guarded(lambda: entry.call(**arguments))
    if outcome.error is not None:
        assert ledger.reserved == []
    elif entry.name != "words.online":
        assert len(ledger.reserved) == len(ledger.confirmed) == 1


@pytest.mark.parametrize("entry", [one for one in MECHANISMS if one.name != "bits.xor_parameters"], ids=str)
@tries(15, value=anything, adjacency=anything, size=anything)
def test_mechanisms_take_any_value_or_refuse_it(entry: Entry, value: Any, adjacency: Any, size: Any) -> None:
    mechanism = entry.call(**entry.good())
    if not isinstance(mechanism, veil.Mechanism):
        # The noise of a mechanism is none itself.
        return
    guarded(lambda: mechanism.validate(value))
    guarded(lambda: mechanism.profile(adjacency))
    if not isinstance(size, (int, float)) or abs(size) < 1000 or abs(size) > 1e11:
        guarded(lambda: mechanism.sample(value, rng=1, size=size))


@pytest.mark.parametrize("entry", [one for one in DOMAINS if hasattr(one.call, "validate")], ids=str)
@tries(15, value=anything)
def test_domains_answer_whether_they_hold_any_value(entry: Entry, value: Any) -> None:
    domain = entry.call(**entry.good())
    valid = guarded(lambda: domain.validate(value)).error is None
    if hasattr(type(domain), "__contains__"):
        assert guarded(lambda: value in domain).result is valid


@tries(150, epsilon=anything, delta=anything, other=anything)
def test_profiles_answer_any_question(epsilon: Any, delta: Any, other: Any) -> None:
    profile = veil.vectors.GeometricCounts(1.0, 3).profile(veil.vectors.Records())
    guarded(lambda: profile.delta(epsilon))
    guarded(lambda: profile.epsilon(delta))
    guarded(lambda: profile.compose(other))
    if not isinstance(other, (int, float)) or abs(other) < 1000:
        guarded(lambda: profile.repeat(other))
