"""Whatever is handed to a public name: a result or a VeilError, soon, in little memory, and no charge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veil

from .calls import spoiled
from .constructors import ADJACENCIES, DOMAINS, MECHANISMS
from .entry import Entry
from .entry_points import ENTRIES
from .guard import CountingLedger, guarded
from .odd_values import anything
from .profiles import tries
from .verbs import RELEASES, VERBS

# What is made by others, never called by a user: results, and the face of a mechanism.
_RESULTS = {
    "Audit",
    "AuditPair",
    "AuditSuite",
    "BitPlan",
    "BitReading",
    "ChainComparison",
    "ChainIntervals",
    "Comparison",
    "Dataset",
    "Decoding",
    "GraphPlan",
    "GraphReading",
    "Mechanism",
    "PrivacyProfile",
    "Release",
    "SequenceModel",
    "UserPlan",
    "ValueLoss",
    "WordBatch",
    "WordPlan",
    "OnlineWord",
    "Graph",
    "__version__",
    "errors",
    "learn",
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name of a file that makes no sense may be one all the same.
    monkeypatch.chdir(tmp_path)


def test_every_public_name_is_tried() -> None:
    tried = {entry.name.split(" ")[0].split(".")[0] for entry in ENTRIES}
    assert set(veil.__all__) - tried <= _RESULTS


@pytest.mark.parametrize("entry", [*ADJACENCIES, *DOMAINS, *MECHANISMS, *VERBS], ids=str)
@tries(25)
@given(data=st.data())
def test_any_arguments_give_a_result_or_our_error(entry: Entry, data: st.DataObject) -> None:
    arguments = data.draw(spoiled(entry))
    guarded(lambda: entry.call(**arguments))


@pytest.mark.parametrize("entry", RELEASES, ids=str)
@tries(40)
@given(data=st.data())
def test_what_is_refused_is_not_charged(entry: Entry, data: st.DataObject) -> None:
    ledger = CountingLedger()
    arguments = data.draw(spoiled(entry)) | {"ledger": ledger}
    outcome = guarded(lambda: entry.call(**arguments))
    if outcome.error is not None:
        assert ledger.reserved == []
    elif entry.name != "online":
        assert len(ledger.reserved) == len(ledger.confirmed) == 1


@pytest.mark.parametrize("entry", MECHANISMS[:-1], ids=str)
@tries(15)
@given(value=anything, adjacency=anything, size=anything)
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
@tries(15)
@given(value=anything)
def test_domains_answer_whether_they_hold_any_value(entry: Entry, value: Any) -> None:
    domain = entry.call(**entry.good())
    valid = guarded(lambda: domain.validate(value)).error is None
    if hasattr(type(domain), "__contains__"):
        assert guarded(lambda: value in domain).result is valid


@tries(150)
@given(epsilon=anything, delta=anything, other=anything)
def test_profiles_answer_any_question(epsilon: Any, delta: Any, other: Any) -> None:
    profile = veil.vectors.GeometricCounts(1.0, 3).profile(veil.vectors.Records())
    guarded(lambda: profile.delta(epsilon))
    guarded(lambda: profile.epsilon(delta))
    guarded(lambda: profile.compose(other))
    if not isinstance(other, (int, float)) or abs(other) < 1000:
        guarded(lambda: profile.repeat(other))
