"""A private chain in one call: the charge, the order of things, what may be seen, how good it is."""

from __future__ import annotations

import json
import math
import re
import warnings
import zipfile
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import veil
from tests.params import quick_first
from veil.chains.adjacency import Transitions
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.requests import ChainRelease
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.files import to_json
from veil.core.mechanism import STATES_ARE_PUBLIC
from veil.errors import (
    BudgetExceeded,
    CannotCalibrate,
    InvalidArgument,
    InvalidData,
    InvalidField,
    PrivacyWarning,
    UnreadableFile,
    VeilError,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data"
MATRIX = np.array([[800, 150, 50], [100, 300, 100], [40, 60, 500]])
BINS = LengthBins((1, 2, 5, 20))
SEQUENCES = Sequences(np.array([40, 30, 20]), np.array([30, 30, 30]), np.array([10, 30, 40, 10]), BINS)
UNITS = [
    *((unit, change) for unit in ("event", "row", "user") for change in ("add-remove", "replace")),
    ("row", "replace-state"),
]


def counts_for(unit: str, **more: Any) -> TransitionCounts:
    return TransitionCounts(MATRIX, cap=5 if unit == "user" else None, sequences=SEQUENCES, **more)


class Book:
    """A ledger that writes down what happens."""

    def __init__(self, limit: float = math.inf) -> None:
        self.events: list[Any] = []
        self.limit = limit

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> int:
        if epsilon > self.limit:
            raise BudgetExceeded(spent="0", asked=f"{epsilon:g}", remaining=f"{self.limit:g}")
        self.events.append(("reserve", epsilon, delta))
        return 17

    def confirm(self, entry: Any) -> None:
        self.events.append(("confirm", entry))


# The charge.

EPSILONS = [0.1, 0.3, 1 / 3, 0.7, 1.0, 2.255]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("unit", "change"), UNITS)
def test_geometric_is_charged_what_was_asked(unit: str, change: str, epsilon: float) -> None:
    out = veil.chains.release(
        counts_for(unit), epsilon=epsilon, mechanism="geometric", unit=unit, change=change, rng=1
    )
    assert (out.epsilon, out.delta) == (epsilon, 0.0)
    assert out.adjacency == Transitions(unit, change, 5 if unit == "user" else None)
    (part,) = out.mechanism.parts  # type: ignore[attr-defined]
    # In rationals: the loss of the largest change, at the scale that the noise is drawn with.
    total = out.adjacency.on_transitions().total
    assert total / Fraction(part.mechanism.scale) <= Fraction(epsilon)


PARTS = [("starts",), ("sizes",), ("starts", "ends"), ("starts", "ends", "lengths", "sizes")]


@pytest.mark.mostly_slow(quick=6)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("parts", PARTS, ids=len)
@pytest.mark.parametrize("unit", ["event", "user"])
def test_parts_share_the_charge(unit: str, parts: tuple[str, ...], epsilon: float) -> None:
    out = veil.chains.release(counts_for(unit), epsilon=epsilon, unit=unit, parts=parts, rng=1)
    assert out.epsilon <= epsilon
    assert out.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert set(out.tables) == {"transitions", *parts}


@pytest.mark.slow_for("dirichlet-0.3333333333333333")
@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        # Every epsilon of Dirichlet rows is a search of half a second.
        pytest.param(
            name, epsilon, marks=pytest.mark.slow if name == "dirichlet" and epsilon != 1 / 3 else ()
        )
        for name in ("gaussian", "dirichlet")
        for epsilon in EPSILONS
    ],
)
def test_the_others_are_charged_what_was_asked(mechanism: str, epsilon: float) -> None:
    for unit in ("event", "user"):
        out = veil.chains.release(
            counts_for(unit), epsilon=epsilon, delta=1e-6, mechanism=mechanism, unit=unit, rng=1
        )
        assert out.delta == 1e-6
        if epsilon == 1 / 3:
            # No short decimal: the search stops a hair away.
            assert out.epsilon == pytest.approx(epsilon, rel=1e-12)
        else:
            assert out.epsilon == epsilon


@pytest.mark.parametrize("change", ["replace", "add-remove"])
def test_an_epsilon_of_many_digits_is_taken(change: str) -> None:
    # The loss of one count rounds up, and twice that may be more than what was asked by the last bit.
    for epsilon in (1.8154993913636415, *np.random.default_rng(5).uniform(0.01, 8.0, 60).tolist()):
        out = veil.chains.release([[800, 200], [100, 400]], epsilon=epsilon, change=change, rng=1)
        assert out.epsilon == epsilon


def test_the_charge_is_not_rounded_above_what_was_asked() -> None:
    """A budget of exactly this much must do: delta(epsilon) <= delta was certified when calibrating."""
    for epsilon in (1 / 3, 0.22011989999999998, 2 / 7, math.pi / 10):
        book = Book(limit=epsilon)
        try:
            out = veil.chains.release(MATRIX, epsilon=epsilon, delta=1e-6, mechanism="gaussian", ledger=book)
        except BudgetExceeded as error:
            raise AssertionError(str(error)) from None
        assert out.profile.delta(epsilon) <= 1e-6


@pytest.mark.parametrize("mechanism", quick_first(["geometric", "gaussian", "dirichlet"], quick=2))
@pytest.mark.parametrize(("unit", "change"), UNITS)
def test_never_more_than_was_asked(unit: str, change: str, mechanism: str) -> None:
    epsilon, delta = 0.7, 1e-5
    # Composing the exact profile of Dirichlet rows takes seconds: see the slow test.
    further = () if (unit, mechanism) == ("event", "dirichlet") else ("starts", "lengths")
    for parts in {(), further}:
        job = ChainRelease(
            epsilon=epsilon, delta=delta, mechanism=mechanism, unit=unit, change=change, parts=parts
        ).prepare(counts_for(unit))
        assert job.chosen == mechanism
        assert job.mechanism.profile(job.adjacency).delta(epsilon) <= delta
        assert job.epsilon <= epsilon
        assert job.delta <= delta


@pytest.mark.slow
@pytest.mark.parametrize("change", ["add-remove", "replace"])
def test_dirichlet_events_with_parts_are_never_charged_more(change: str) -> None:
    job = ChainRelease(
        epsilon=0.7, delta=1e-5, mechanism="dirichlet", change=change, parts=("starts", "lengths")
    ).prepare(counts_for("event"))
    assert job.mechanism.profile(job.adjacency).delta(0.7) <= 1e-5
    assert job.epsilon <= 0.7


STRATA = (Stratum(1, 3, MATRIX // 2), Stratum(5, 20, MATRIX - MATRIX // 2))
SECOND = np.arange(36).reshape(4, 3, 3)


@pytest.mark.parametrize(
    ("mechanism", "change"),
    [
        ("geometric", "add-remove"),
        ("geometric", "replace"),
        ("gaussian", "add-remove"),
        ("gaussian", "replace"),
    ],
)
def test_strata_are_never_charged_more(mechanism: str, change: str) -> None:
    counts = TransitionCounts(MATRIX, cap=20, strata=STRATA, sequences=SEQUENCES)
    job = ChainRelease(epsilon=1.0, delta=1e-6, mechanism=mechanism, unit="user", change=change).prepare(
        counts
    )
    assert isinstance(job.mechanism, PrivateChain)
    assert [part.cap for part in job.mechanism.strata] == [3, 20]
    assert job.mechanism.profile(job.adjacency).delta(1.0) <= 1e-6
    assert job.epsilon <= 1.0


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
@pytest.mark.parametrize("change", ["add-remove", "replace"])
def test_a_memory_of_two_is_never_charged_more(mechanism: str, change: str) -> None:
    counts = TransitionCounts(MATRIX, cap=4, second=SECOND, sequences=SEQUENCES)
    job = ChainRelease(
        epsilon=1.0, delta=1e-6, mechanism=mechanism, unit="user", change=change, parts=("starts",)
    ).prepare(counts)
    assert isinstance(job.mechanism, PrivateChain)
    assert job.mechanism.has("second")
    assert job.mechanism.profile(job.adjacency).delta(1.0) <= 1e-6
    assert job.epsilon <= 1.0
    for asked in ("dirichlet", "published"):
        with pytest.raises(VeilError):
            ChainRelease(epsilon=1.0, delta=1e-6, mechanism=asked, unit="user", change=change).prepare(counts)


def test_a_memory_of_two_hides_a_row_or_is_refused() -> None:
    counts = TransitionCounts(MATRIX, second=SECOND)
    try:
        job = ChainRelease(epsilon=1.0, unit="row").prepare(counts)
    except InvalidArgument:
        return
    assert isinstance(job.mechanism, PrivateChain)
    scales = {part.of: part.mechanism.scale for part in job.mechanism.parts}  # type: ignore[union-attr]
    # One row removed: three pairs differ, and five triples (tests/chains/test_contributions.py).
    if 3 / scales["transitions"] + 5 / scales["second"] > 1.0:
        pytest.fail("a row is not hidden at the epsilon that is charged")


@pytest.mark.parametrize("mechanism", ["gaussian", "dirichlet"])
def test_no_delta_is_a_clear_error(mechanism: str) -> None:
    with pytest.raises(CannotCalibrate, match=f"{mechanism} needs a delta above 0"):
        veil.chains.release(MATRIX, epsilon=1.0, mechanism=mechanism, rng=1)
    assert veil.chains.release(MATRIX, epsilon=1.0, rng=1).delta == 0.0


def test_a_pure_release_is_charged_no_delta() -> None:
    out = veil.chains.release(MATRIX, epsilon=1.0, delta=1e-6, mechanism="geometric", rng=1)
    assert (out.epsilon, out.delta) == (1.0, 0.0)


@pytest.mark.slow
def test_what_is_announced_is_what_is_charged() -> None:
    for unit in ("event", "row"):
        job = ChainRelease(epsilon=1.0, delta=1e-6, mechanism="dirichlet", unit=unit).prepare(MATRIX)
        assert job.epsilon == job.run(rng=1).epsilon


def test_epsilon_and_delta_are_checked() -> None:
    for epsilon in (0.0, -1.0, math.nan, math.inf, "1", None, True):
        with pytest.raises(InvalidArgument):
            veil.chains.release(MATRIX, epsilon=epsilon, rng=1)  # type: ignore[arg-type]
    for delta in (-1e-9, 1.5, math.nan, "x"):
        with pytest.raises(InvalidArgument, match="delta"):
            veil.chains.release(MATRIX, epsilon=1.0, delta=delta, rng=1)  # type: ignore[arg-type]


# The choice, from public numbers alone.


@pytest.mark.mostly_slow(quick=4)
@pytest.mark.parametrize("unit", ["event", "row", "user"])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-2])
@pytest.mark.parametrize("mechanism", ["auto", "geometric", "gaussian", "dirichlet"])
def test_the_mechanism_does_not_look_at_the_table(mechanism: str, delta: float, unit: str) -> None:
    if (delta == 0.0 and mechanism == "gaussian") or (delta != 1e-6 and mechanism == "dirichlet"):
        return
    cap = 5 if unit == "user" else None
    other = np.array([[0, 0, 0], [0, 10**9, 0], [0, 1, 0]])
    jobs = [
        ChainRelease(epsilon=0.8, delta=delta, mechanism=mechanism, unit=unit).prepare(
            TransitionCounts(table, cap=cap)
        )
        for table in (MATRIX, other)
    ]
    assert jobs[0].mechanism == jobs[1].mechanism
    assert (jobs[0].chosen, jobs[0].why) == (jobs[1].chosen, jobs[1].why)


def test_auto_takes_the_least_noise() -> None:
    event = ChainRelease(epsilon=1.0, delta=1e-6).prepare(MATRIX)
    assert event.chosen == "geometric"
    # Many records in one go: Gaussian noise grows with the root of their squares.
    user = ChainRelease(epsilon=0.2, delta=0.05, unit="user", change="replace").prepare(
        TransitionCounts(MATRIX, cap=5)
    )
    assert user.chosen == "gaussian"
    assert "on average" in user.why


@pytest.mark.slow
def test_the_number_of_records_tunes_dirichlet_only_where_public() -> None:
    few, many = (
        ChainRelease(epsilon=1.0, delta=1e-6, mechanism="dirichlet", records=records).prepare(MATRIX)
        for records in (300, 3_000_000)
    )
    assert few.mechanism != many.mechanism
    out = many.run(rng=1)
    assert out.records == 3_000_000
    assert veil.chains.release(MATRIX, epsilon=1.0, delta=1e-6, mechanism="dirichlet", rng=1).records is None


# Warnings.


def _caught(*calls: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for counts in calls:
            veil.chains.release(counts, epsilon=1.0, **options)
    assert all(issubclass(one.category, PrivacyWarning) for one in found)
    assert all(one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


def test_users_behind_events_are_warned_of() -> None:
    assert any(
        "hides one transition" in text
        for text in _caught(TransitionCounts(MATRIX, provenance=veil.chains.Provenance(has_users=True)))
    )
    assert _caught(TransitionCounts(MATRIX, provenance=veil.chains.Provenance(has_users=True)), rng=1) == []
    assert (
        _caught(TransitionCounts(MATRIX, provenance=veil.chains.Provenance(has_users=True)), unit="row") == []
    )
    assert _caught(TransitionCounts(MATRIX, cap=3), unit="user") == []
    assert _caught(TransitionCounts(MATRIX)) == []


def test_releasing_twice_is_warned_of() -> None:
    counts = TransitionCounts(MATRIX)
    found = _caught(counts, counts, counts)
    assert len(found) == 2
    assert all("adds up" in text for text in found)
    assert _caught(TransitionCounts(MATRIX), TransitionCounts(MATRIX)) == []
    seeded = TransitionCounts(MATRIX)
    assert _caught(seeded, seeded, rng=1) == []
    booked = TransitionCounts(MATRIX)
    assert _caught(booked, booked, ledger=Book()) == []


def test_a_release_that_failed_is_not_one_before() -> None:
    counts = TransitionCounts(MATRIX)
    with pytest.raises(InvalidData):
        veil.chains.release(
            counts, epsilon=5.0, delta=1e-3, mechanism="published", change="replace", floor=0.3
        )
    assert _caught(counts) == []


# What comes out.


def test_a_chain_with_the_labels_that_went_in() -> None:
    out = veil.chains.release(TransitionCounts(MATRIX, ["home", "work", "shop"]), epsilon=1.0, rng=1)
    assert isinstance(out.value, veil.Chain)
    assert out.value.states == ("home", "work", "shop")
    assert out.labels == ("home", "work", "shop")
    assert np.abs(out.value.to_numpy() - MATRIX / MATRIX.sum(axis=1, keepdims=True)).max() < 0.05
    assert out.reproducible
    assert not veil.chains.release(MATRIX, epsilon=1.0).reproducible
    found = TransitionCounts(MATRIX, provenance=veil.chains.Provenance(states_found=True))
    assert veil.chains.release(found, epsilon=1.0, rng=1).assumptions == (STATES_ARE_PUBLIC,)
    assert out.assumptions == ()


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian", "dirichlet"])
def test_a_row_without_data_is_a_row(mechanism: str) -> None:
    for table in ([[5, 0, 0], [0, 0, 0], [0, 0, 7]], [[0, 0, 0], [0, 0, 0], [0, 0, 1]]):
        job = ChainRelease(epsilon=0.1, delta=1e-6, mechanism=mechanism).prepare(table)
        for seed in range(5):
            out = job.run(rng=seed)
            assert out.value.to_numpy().shape == (3, 3)
            assert (out.value.to_numpy() > 0.0).all()
            assert np.allclose(out.value.to_numpy().sum(axis=1), 1.0)
            assert np.isfinite(out.value.stationary()).all()


@pytest.mark.slow
def test_hopeless_noise_still_gives_a_chain() -> None:
    for mechanism in ("geometric", "gaussian", "dirichlet"):
        out = veil.chains.release(MATRIX, epsilon=0.001, delta=1e-9, mechanism=mechanism, rng=1)
        assert np.allclose(out.value.to_numpy().sum(axis=1), 1.0)


def test_large_counts() -> None:
    out = veil.chains.release(np.full((3, 3), 2**48), epsilon=1.0, rng=1)
    assert np.allclose(out.value.to_numpy(), 1 / 3, atol=1e-9)


@pytest.mark.parametrize(
    "table",
    [[[5]], [], [[]], [[0, 0], [0, 0]], [[1, 2, 3], [4, 5, 6]], [[-1, 2], [3, 4]], [[0.5, 1], [1, 1]]],
)
def test_tables_that_are_none(table: Any) -> None:
    book = Book()
    with pytest.raises(InvalidData):
        veil.chains.release(table, epsilon=1.0, ledger=book, rng=1)
    assert book.events == []


def test_too_many_pairs_of_states() -> None:
    from scipy.sparse import coo_array

    book = Book()
    large = TransitionCounts(coo_array(([1], ([0], [1])), shape=(6000, 6000)))
    with pytest.raises(InvalidData, match="pairs of states"):
        veil.chains.release(large, epsilon=1.0, pairs="all", ledger=book)
    assert book.events == []


# The ledger.


def _spied(monkeypatch: pytest.MonkeyPatch, book: Book) -> None:
    plain = PrivateChain._draw

    def drawn(self: Any, *arguments: Any) -> Any:
        book.events.append(("draw",))
        return plain(self, *arguments)

    monkeypatch.setattr(PrivateChain, "_draw", drawn)


def test_reserve_draw_confirm(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book()
    _spied(monkeypatch, book)
    out = veil.chains.release(MATRIX, epsilon=0.3, ledger=book)
    assert book.events == [("reserve", 0.3, 0.0), ("draw",), ("confirm", 17)]
    assert out.entry == 17


def test_over_budget_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book(limit=0.2)
    _spied(monkeypatch, book)
    with pytest.raises(BudgetExceeded):
        veil.chains.release(MATRIX, epsilon=0.3, ledger=book)
    assert book.events == []


BAD_CALLS: list[dict[str, Any]] = [
    {"epsilon": -1.0},
    {"delta": 2.0},
    {"mechanism": "laplace"},
    {"mechanism": "gaussian"},
    {"mechanism": "dirichlet"},
    {"mechanism": "published"},
    {"mechanism": "published", "delta": 1e-6, "change": "replace", "floor": 0.05, "epsilon": 1e-6},
    {"mechanism": "published", "delta": 1e-3, "change": "replace", "floor": 0.2, "epsilon": 9.0},
    {"mechanism": "published", "delta": 1e-3, "floor": 0.05, "epsilon": 9.0},
    {"unit": "person"},
    {"unit": "user"},
    {"change": "swap"},
    {"change": "replace-state"},
    {"parts": ("middles",)},
    {"parts": ("starts",)},
    {"parts": "starts"},
    {"records": 0},
    {"records": 1.5},
    {"rng": "seed"},
    {"rng": -1},
]


@pytest.mark.parametrize("options", BAD_CALLS, ids=str)
def test_nothing_is_charged_where_nothing_is_released(options: dict[str, Any]) -> None:
    book = Book()
    call: dict[str, Any] = {"epsilon": 1.0, "ledger": book} | options
    with pytest.raises(VeilError) as error:
        veil.chains.release(TransitionCounts(MATRIX), **call)
    assert book.events == []
    assert not re.search(r"\b(800|150|500|1000|2100)\b", str(error.value))


def test_capped_counts_are_for_users_only() -> None:
    for unit in ("event", "row"):
        with pytest.raises(InvalidArgument, match="user"):
            veil.chains.release(TransitionCounts(MATRIX, cap=3), epsilon=1.0, unit=unit, rng=1)


@pytest.mark.parametrize("floor", [[0.1, 0.2], "a", [[0.1] * 3] * 2, {}])
def test_a_malformed_floor_is_named(floor: Any) -> None:
    with pytest.raises(InvalidArgument, match="floor"):
        veil.chains.release(
            MATRIX, epsilon=5.0, delta=1e-3, mechanism="published", change="replace", floor=floor, rng=1
        )


GROUPS = {"a": MATRIX // 2, "b": MATRIX - MATRIX // 2}


def test_groups() -> None:
    out = veil.chains.release(TransitionCounts(MATRIX, groups=GROUPS), epsilon=1.0, rng=1)
    assert out.epsilon == 1.0
    assert out.tables["transitions"].shape == (2, 3, 3)
    assert set(veil.chains.model(out).groups) == {"a", "b"}
    for name, chain in veil.chains.model(out).groups.items():
        truth = GROUPS[name] / GROUPS[name].sum(axis=1, keepdims=True)
        assert np.abs(chain.to_numpy() - truth).max() < 0.1


def test_dirichlet_with_groups_works_or_costs_nothing() -> None:
    book = Book()
    try:
        out = veil.chains.release(
            TransitionCounts(MATRIX, groups=GROUPS),
            epsilon=1.0,
            delta=1e-6,
            mechanism="dirichlet",
            ledger=book,
        )
        assert set(veil.chains.model(out).groups) == {"a", "b"}
    except VeilError:
        assert book.events == []


def test_dirichlet_with_groups_of_different_sizes_or_refused() -> None:
    large, small = 10_000 * np.array([[9, 1], [1, 9]]), np.array([[1, 9], [9, 1]])
    counts = TransitionCounts(large + small, groups={"large": large, "small": small})
    try:
        out = veil.chains.release(counts, epsilon=4.0, delta=1e-6, mechanism="dirichlet", rng=1)
    except InvalidArgument:
        return
    assert abs(out.value.to_numpy()[0, 0] - 0.9) < 0.1


@pytest.mark.parametrize(
    "tables",
    [
        {"groups": {"a": MATRIX, "b": np.ones((2, 2), dtype=np.int64)}},
        {"second": SECOND + 0.5},
        {"second": SECOND - 100},
        {"second": SECOND.tolist()},
        {"groups": {"a": MATRIX - 1000}},
    ],
    ids=["ragged groups", "halves", "negative", "list", "negative groups"],
)
def test_further_tables_are_checked_like_the_first(tables: dict[str, Any]) -> None:
    book = Book()
    refused = False
    try:
        out = veil.chains.release(
            TransitionCounts(MATRIX, cap=5, **tables), epsilon=1.0, unit="user", ledger=book
        )
        assert all(table.dtype == np.int64 for table in out.tables.values())
    except InvalidField:
        refused = True
    assert refused == (book.events == [])
    assert refused or isinstance(tables.get("second"), list)


@pytest.mark.slow_for("5.0-gaussian", "0.05-gaussian")
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
@pytest.mark.parametrize("epsilon", [0.05, 5.0])
def test_strata_and_a_memory_give_a_model(mechanism: str, epsilon: float, tmp_path: Path) -> None:
    counts = TransitionCounts(MATRIX, cap=20, strata=STRATA, second=SECOND, sequences=SEQUENCES)
    out = veil.chains.release(
        counts, epsilon=epsilon, delta=1e-6, mechanism=mechanism, unit="user", parts=("starts", "ends"), rng=1
    )
    assert out.epsilon <= epsilon
    model = veil.chains.model(out)
    assert np.allclose(out.value.to_numpy().sum(axis=1), 1.0)
    assert model.second is not None
    assert model.second.shape == (4, 3, 3)
    assert np.allclose(model.second.sum(axis=2), 1.0)
    assert (model.second >= 0.0).all()
    assert model.lengths is not None
    assert model.lengths.probabilities.sum() == pytest.approx(1.0)
    assert (np.diff(model.lengths.lengths) > 0).all()
    assert model.lengths.lengths[0] >= 1
    for law in (model.starts, model.ends):
        assert law is not None
        assert law.sum() == pytest.approx(1.0)
        assert (law >= 0.0).all()
    states, lengths = model.sequences(50, rng=np.random.default_rng(1))
    assert len(states) == lengths.sum()
    assert set(states.tolist()) <= {0, 1, 2}
    out.save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json") == out


# Nothing that was counted is to be seen.

SECRETS = np.array([[918273, 645546, 372819], [564738, 829101, 746352], [192837, 465768, 283746]])


def _secret_numbers() -> set[str]:
    numbers = {*SECRETS.ravel().tolist(), *SECRETS.sum(axis=0).tolist(), *SECRETS.sum(axis=1).tolist()}
    return {str(number) for number in (*numbers, int(SECRETS.sum()))}


def _shows(text: str) -> set[str]:
    return {number for number in _secret_numbers() if re.search(rf"(?<!\d){number}(?!\d)", text)}


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian", "dirichlet"])
def test_counts_are_nowhere_but_behind_the_noise(mechanism: str, tmp_path: Path) -> None:
    counts = TransitionCounts(SECRETS, ["x", "y", "z"], sequences=SEQUENCES)
    assert not _shows(repr(counts) + str(counts))
    job = ChainRelease(
        epsilon=0.01, delta=1e-9, mechanism=mechanism, unit="row", parts=("starts", "sizes")
    ).prepare(counts)
    assert not _shows(repr(job) + job.why + str(job.mechanism.describe()) + str(job.warnings))
    out = job.run(rng=5)
    out.save(tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    content = json.loads(text)
    tables = content.pop("tables")
    assert set(tables) == {"transitions", "starts", "sizes"}
    assert not _shows(json.dumps(content))
    # At this epsilon the noise moves a count by hundreds.
    assert not _shows(text)
    assert not _shows(repr(out) + out.guarantee + out._repr_html_() + str(out.mechanism.describe()))
    assert "seed" not in content


def test_further_tables_are_not_shown_either() -> None:
    assert not _shows(repr(Stratum(1, 3, SECRETS)))
    assert not _shows(repr(Sequences(SECRETS[0], SECRETS[1], SECRETS[2], LengthBins((1, 2, 3)))))


def test_errors_do_not_tell_counts() -> None:
    tried: list[dict[str, Any]] = [
        {"mechanism": "published", "floor": 0.3, "change": "replace", "delta": 1e-3, "epsilon": 9.0},
        {"unit": "user"},
        {"parts": ("lengths",)},
        {"mechanism": "gaussian"},
    ]
    for options in tried:
        with pytest.raises(VeilError) as error:
            veil.chains.release(TransitionCounts(SECRETS), **({"epsilon": 1.0, "rng": 1} | options))
        assert not _shows(str(error.value))
    for bad in (
        SECRETS - 300_000,
        SECRETS + 0.5,
        np.where(SECRETS > 900_000, np.nan, SECRETS),
        SECRETS * 2**40,
    ):
        with pytest.raises(InvalidData) as refused:
            TransitionCounts(bad)
        assert not re.search(r"\d{5}", str(refused.value).replace(str(2**53), ""))


# Files.


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["geometric", "gaussian", "dirichlet"])
@pytest.mark.parametrize(
    "states", quick_first([None, ["é", "a,b", '"'], ["a", "b", "c"], [3, 1, 2], ["1", 2, "x"]], quick=2)
)
def test_saved_and_loaded(mechanism: str, states: Any, tmp_path: Path) -> None:
    counts = TransitionCounts(MATRIX, states, sequences=SEQUENCES)
    out = veil.chains.release(
        counts,
        epsilon=1.0,
        delta=1e-6,
        mechanism=mechanism,
        unit="row",
        parts=("starts", "ends", "sizes"),
        rng=2,
        records=2100,
    )
    out.save(tmp_path / "chain.json")
    again = veil.load(tmp_path / "chain.json")
    assert again == out
    assert hash(again) == hash(out)
    assert again.value == out.value
    assert again.value.states == out.value.states == counts.states
    assert [type(state) for state in again.value.states] == [type(state) for state in counts.states]
    assert again.adjacency == out.adjacency
    assert again.mechanism == out.mechanism
    assert again.profile.delta(0.5) == out.profile.delta(0.5)
    for key, table in out.tables.items():
        assert np.array_equal(again.tables[key], table)
        assert again.tables[key].dtype == table.dtype
        with pytest.raises(ValueError, match="read-only"):
            again.tables[key][...] = 0
    assert np.array_equal(veil.chains.model(again).chain.to_numpy(), veil.chains.model(out).chain.to_numpy())
    assert np.array_equal(
        np.asarray(veil.chains.model(again).starts), np.asarray(veil.chains.model(out).starts)
    )
    out.save(tmp_path / "chain.csv")
    assert (tmp_path / "chain.csv").read_text(encoding="utf-8").startswith("from,")


def test_labels_of_numpy_come_back_as_numbers(tmp_path: Path) -> None:
    out = veil.chains.release(TransitionCounts(MATRIX, list(np.array([3, 1, 2]))), epsilon=1.0, rng=1)
    out.save(tmp_path / "chain.json")
    assert veil.load(tmp_path / "chain.json").value.states == (3, 1, 2)


@cache
def _text(mechanism: str) -> str:
    # For rows: the profile of Dirichlet rows for events takes seconds to compose.
    return to_json(
        veil.chains.release(
            MATRIX, epsilon=1.0, delta=1e-6, mechanism=mechanism, unit="row", parts=("sizes",), rng=1
        )
    )


def _content(mechanism: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(_text(mechanism))
    return content


def _load(content: Any, tmp_path: Path) -> veil.Release[Any]:
    (tmp_path / "tampered.json").write_text(json.dumps(content), encoding="utf-8")
    return veil.load(tmp_path / "tampered.json")


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("mechanism", ["geometric", "dirichlet"])
def test_tampered_tables_are_refused(mechanism: str, tmp_path: Path) -> None:
    assert _load(_content(mechanism), tmp_path)
    full = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    bad: list[Any] = [
        None,
        [],
        {},
        {"transitions": full},
        {"sizes": [1, 2, 3]},
        *(
            {"transitions": table, "sizes": [1, 2, 3]}
            for table in (
                None,
                5,
                "table",
                [[1, 2, 3]],
                [[1, 2], [3, 4]],
                [[1, 2, 3], [4, 5, 6], [7, 8]],
                [full],
                [[10**400, 2, 3], *full[1:]],
                [["a", 2, 3], *full[1:]],
                [[{}, 2, 3], *full[1:]],
            )
        ),
        {"transitions": full, "sizes": [1, 2]},
        {"transitions": full, "sizes": [1, 2, float("nan")]},
        {"transitions": full, "sizes": [1, 2, float("inf")]},
        {"transitions": full, "sizes": [1, 2, 10**30]},
        {"transitions": full, "sizes": [1, 2, None]},
    ]
    for tables in bad:
        with pytest.raises(UnreadableFile, match="tampered"):
            _load(_content(mechanism) | {"tables": tables}, tmp_path)


@pytest.mark.slow_for("dirichlet-nan")
@pytest.mark.parametrize(
    ("mechanism", "first"),
    [
        ("geometric", 1.7),
        ("geometric", "12"),
        ("geometric", True),
        ("dirichlet", float("nan")),
        ("dirichlet", None),
        ("dirichlet", "0.5"),
        ("dirichlet", -0.5),
        ("dirichlet", 1e30),
    ],
)
def test_tables_of_the_wrong_numbers_are_refused(mechanism: str, first: Any, tmp_path: Path) -> None:
    content = _content(mechanism)
    content["tables"]["transitions"][0][0] = first
    with pytest.raises(UnreadableFile):
        _load(content, tmp_path)


@pytest.mark.parametrize(
    "value",
    [
        {"data": [[0.5, 0.5], [0.5, 0.5]], "labels": ["a", "b"], "row_labels": ["a", "b"]},
        {"data": np.full((3, 3), 1 / 3).tolist()},
        {"labels": [1, "1", 2]},
    ],
    ids=["another size", "another chain", "labels twice"],
)
def test_a_value_that_the_tables_do_not_give_is_refused(value: dict[str, Any], tmp_path: Path) -> None:
    content = _content("geometric")
    content["value"] |= value
    with pytest.raises(UnreadableFile):
        _load(content, tmp_path)


def test_tampered_mechanisms_are_refused(tmp_path: Path) -> None:
    def tampered(**fields: Any) -> dict[str, Any]:
        content = _content("geometric")
        content["mechanism"]["parameters"]["parts"][0] |= fields
        return content

    plain = _content("geometric")["mechanism"]
    for content in (
        tampered(of="pairs"),
        tampered(shape=[9]),
        tampered(shape=[-3, -3]),
        tampered(shape=3),
        tampered(more=1),
        tampered(mechanism=None),
        tampered(mechanism=plain),
        tampered(mechanism={"name": "GeometricCounts", "parameters": {"scale": -1.0, "size": 9}}),
        tampered(mechanism={"name": "GeometricCounts", "parameters": {"scale": 1.0, "size": 8}}),
        _content("geometric")
        | {"mechanism": {"name": "PrivateChain", "parameters": {"states": 3, "parts": []}}},
        _content("geometric") | {"mechanism": {"name": "PrivateChain", "parameters": {"states": 3}}},
        _content("geometric") | {"adjacency": {"name": "Transitions", "unit": "user", "change": "replace"}},
        _content("geometric") | {"adjacency": {"name": "Transitions", "unit": "all"}},
    ):
        with pytest.raises(UnreadableFile, match="tampered"):
            _load(content, tmp_path)


# The published form.


def test_published_lists_its_condition() -> None:
    out = veil.chains.release(
        MATRIX, epsilon=9.0, delta=1e-3, mechanism="published", change="replace", floor=0.04, rng=1
    )
    assert any("0.04" in text for text in out.assumptions)
    assert any("public" in text for text in out.assumptions)
    assert out.epsilon <= 9.0
    assert out.profile.delta(9.0) <= 1e-3
    part = out.mechanism.parts[0]  # type: ignore[attr-defined]
    assert all(k * 0.04 >= 1.5 for k in part.mechanism.k)


def test_a_frequency_at_the_floor_as_it_is_written_is_inside() -> None:
    """50 of 1000, and a floor of 0.05."""
    out = veil.chains.release(
        MATRIX, epsilon=9.0, delta=1e-3, mechanism="published", change="replace", floor=0.05, rng=1
    )
    assert (out.epsilon, out.delta) == (9.0, 1e-3)
    assert any("floor" in text or "0.05" in text for text in out.assumptions)


def test_published_says_what_it_can_reach() -> None:
    def fit(epsilon: float) -> veil.Release[Any]:
        return veil.chains.release(
            MATRIX, epsilon=epsilon, delta=1e-3, mechanism="published", change="replace", floor=0.04, rng=1
        )

    with pytest.raises(CannotCalibrate, match="at least") as error:
        fit(1e-3)
    reachable = float(re.findall(r"at least ([\d.e-]+)", str(error.value))[0])
    assert fit(1.001 * reachable).epsilon <= 1.001 * reachable * (1.0 + 1e-12)
    with pytest.raises(CannotCalibrate):
        fit(0.999 * reachable)


# Real data, where it is there.


@pytest.fixture(scope="module")
def msnbc() -> NDArray[np.int64]:
    path = DATA / "msnbc990928.zip"
    if not path.exists():
        pytest.skip("the MSNBC data is not beside the project (../shared/data)")
    with zipfile.ZipFile(path) as archive:
        text = archive.read("msnbc990928.seq").decode().split("\n", 7)[7]
    pages = np.fromstring(text.replace("\n", " 0 "), dtype=np.int64, sep=" ")
    origin, end = pages[:-1], pages[1:]
    moves = (origin > 0) & (end > 0)
    table = np.zeros((17, 17), dtype=np.int64)
    np.add.at(table, (origin[moves] - 1, end[moves] - 1), 1)
    assert table.sum() == 3_708_976
    return table


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "delta", "limit"),
    [("auto", 1.0, 1e-6, 1.5e-4), ("auto", 3.73, 6e-6, 5e-5), ("dirichlet", 1.0, 1e-6, 2.8e-3)],
)
def test_msnbc_figures(
    msnbc: NDArray[np.int64], mechanism: str, epsilon: float, delta: float, limit: float
) -> None:
    truth = veil.Chain(msnbc / msnbc.sum(axis=1, keepdims=True)).stationary()
    job = ChainRelease(epsilon=epsilon, delta=delta, mechanism=mechanism).prepare(msnbc)
    gaps = [0.5 * np.abs(job.run(rng=seed).value.stationary() - truth).sum() for seed in range(20)]
    assert np.mean(gaps) <= limit
