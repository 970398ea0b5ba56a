"""The suite of audits: planted faults are caught, and mechanisms that keep their word raise no alarm.

Every audit here has a false-alarm rate of at most 1e-9 (docs/audit.md adds them up); seeds are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import veil
from veil.chains.adjacency import Transitions
from veil.chains.auditing import MORE_THAN_TABLES
from veil.chains.mechanisms.private_chain import ChainDraw, Part
from veil.core.audit.enumeration import WRONG_LAW
from veil.core.audit.suite import ARTEFACTS, MORE_THAN_ARTEFACTS, audit_examples, seed_reuse
from veil.core.kind import every_kind
from veil.core.mechanism import REAL_ARITHMETIC, kind_of
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.random.rounded_noise import sample_rounded_normal
from veil.errors import InvalidArgument
from veil.report.audit import AuditReport

EXAMPLES = audit_examples()


def test_the_examples_are_of_every_kind() -> None:
    named = {(kind.name, name) for kind in every_kind() for name in kind.mechanisms}
    assert {(kind_of(mechanism).name, mechanism.name) for mechanism, _ in EXAMPLES} == named


def suite(mechanism: Any, adjacency: Any = None, **options: Any) -> veil.AuditSuite:
    return veil.audit_suite(mechanism, adjacency, **({"samples": 2_000, "rng": 4} | options))


QUICK = [
    example for example in EXAMPLES if example[0].name in ("GeometricCounts", "ExponentialWords", "EachWord")
]


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "adjacency"), QUICK, ids=lambda item: getattr(item, "name", ""))
def test_no_violation_is_found(mechanism: Any, adjacency: Any) -> None:
    found = suite(mechanism, adjacency)
    assert not found.violated, str(found)
    assert found.faults == ()
    assert 0.0 <= found.lower <= found.claimed
    assert "no violation found" in str(found)
    assert "passed" not in str(found)
    assert "at most 1e-09" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "adjacency"), EXAMPLES, ids=lambda item: getattr(item, "name", ""))
def test_no_mechanism_is_found_to_violate_its_claim(mechanism: Any, adjacency: Any) -> None:
    found = suite(mechanism, adjacency, samples=1_000)
    assert not found.violated, str(found)


# Planted faults


class HalfTheNoise(veil.vectors.GeometricCounts):
    def noise(self, rng: Any, shape: tuple[int, ...]) -> Any:
        return veil.vectors.GeometricCounts(0.5 * self.scale, self.size).noise(rng, shape)


class HalfTheSpread(veil.vectors.Gaussian):
    def _noisy(self, rng: Any, centres: Any) -> Any:
        return sample_rounded_normal(rng, centres=centres, sigma=0.5 * self.sigma)


class LastBitKept(veil.bits.StaircaseXor):
    """The law on paper is right, and the last bit is never flipped."""

    def draw_noise(self, rng: Any, times: int, rows: int, columns: int) -> Any:
        noise = super().draw_noise(rng, times, rows, columns)
        noise[:, -1, -1] = False
        return noise


class LastSymbolKept(veil.words.ExponentialWords):
    def draw_rows(self, rng: Any, rows: Any) -> Any:
        drawn = np.array(super().draw_rows(rng, rows))
        drawn[:, -1] = rows[:, -1]
        return drawn


class OneEdgeKept(veil.graphs.RandomizedResponse):
    """The last pair of nodes keeps its bit."""

    def draw_graphs(self, rng: Any, graph: Any, times: int) -> Any:
        last = graph.space.count - 1
        own = [last] if last in graph.codes else []
        drawn = (one.codes[one.codes != last] for one in super().draw_graphs(rng, graph, times))
        return [graph.replaced(np.append(codes, own).astype(np.int64)) for codes in drawn]


class LastCellOpen(veil.chains.PrivateChain):
    def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
        drawn = super()._draw(rng, value, size)
        for draw in drawn if size is not None else [drawn]:
            draw.tables["transitions"][-1, -1] = value.matrix[-1, -1]
        return drawn


class ModelOfTheTruth(veil.chains.PrivateChain):
    """The tables are private, the model beside them is not."""

    def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
        if size is not None:
            return [self._draw(rng, value, None) for _ in range(size)]
        drawn = super()._draw(rng, value, None)
        return ChainDraw(drawn.tables, self.model({"transitions": value.matrix}, value.states))


TABLE = [Part("transitions", veil.vectors.GeometricCounts(1.0, 9), (3, 3))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "adjacency"),
    [
        (HalfTheNoise(1.0, 3), veil.vectors.Records("replace")),
        (HalfTheSpread(0.2, veil.vectors.Simplex(3)), veil.vectors.Transfer(0.1)),
        (LastSymbolKept(veil.words.FreeWords(3, 4), 1.0), None),
        pytest.param(LastSymbolKept(veil.words.FreeWords(3, 12), 1.0), None, marks=pytest.mark.slow),
        # Tables of bits, graphs and chains are drawn one by one.
        pytest.param(LastBitKept(4, 1.0), None, marks=pytest.mark.slow),
        pytest.param(LastBitKept(4, 1.0, rows=4), None, marks=pytest.mark.slow),
        pytest.param(OneEdgeKept(1.0), None, marks=pytest.mark.slow),
        pytest.param(LastCellOpen(3, TABLE), Transitions(), marks=pytest.mark.slow),
    ],
    ids=lambda item: type(item).__name__,
)
def test_planted_faults_are_caught(mechanism: Any, adjacency: Any) -> None:
    # The faults of tables of bits, graphs and chains are gross.
    samples = 1_000 if isinstance(mechanism, (LastBitKept, OneEdgeKept, LastCellOpen)) else 10_000
    found = suite(mechanism, adjacency, samples=samples)
    assert found.violated, str(found)
    assert found.lower > found.claimed, str(found)
    assert "VIOLATION" in str(found)


@pytest.mark.slow
def test_a_law_on_paper_does_not_hide_what_is_drawn() -> None:
    mechanism = LastBitKept(4, 1.0)
    found = suite(mechanism, samples=1_000, pairs=veil.audit_pairs(mechanism)[-1:])
    assert any(WRONG_LAW in fault for fault in found.faults)


@pytest.mark.slow
def test_a_model_must_be_made_of_the_private_tables() -> None:
    mechanism = ModelOfTheTruth(3, TABLE)
    pairs = veil.audit_pairs(mechanism, Transitions())[:2]
    found = suite(mechanism, Transitions(), samples=1_000, pairs=pairs)
    assert found.violated
    assert all(audit.fault == MORE_THAN_TABLES for audit in found.audits)


# Reused streams


@dataclass(frozen=True, init=False)
class Reused(veil.vectors.GeometricCounts):
    """A stream that is used again: for every call, for all draws of a call, or for another value."""

    how: str = "calls"

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        key = tuple(self.validate(value).ravel())
        seeds = self.__dict__.setdefault("seeds", {})
        number = seeds[key] = seeds.get(key, 0) + 1
        if self.how == "calls":
            return super().sample(value, rng=1, size=size)
        if self.how == "values":
            return super().sample(value, rng=number, size=size)
        return np.repeat(super().sample(value, rng=rng)[None], size or 1, axis=0)

    @classmethod
    def by(cls, how: str) -> Reused:
        made = cls(3.0, 3)
        object.__setattr__(made, "how", how)
        return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "says"), [("calls", "different calls"), ("values", "different values"), ("draws", "one call")]
)
def test_a_stream_that_is_used_again_is_found(how: str, says: str) -> None:
    rng = np.random.default_rng(2)
    found = seed_reuse(Reused.by(how), [40, 20, 9], [41, 20, 9], calls=200, alpha=1e-9, rng=rng)
    assert found.found
    assert says in found.fault
    whole = suite(Reused.by(how), veil.vectors.Records(), samples=1_000)
    assert whole.violated


class FewSeeds(veil.vectors.GeometricCounts):
    """Every call takes one of so many seeds, which come again now and then."""

    many = 2**8

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        return super().sample(value, rng=int(rng.integers(self.many)), size=size)


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize(("bits", "found"), [(8, True), (10, True), (30, False)])
def test_seeds_that_come_again_are_found(bits: int, found: bool) -> None:
    """By matching calls: in 400 of them 2^10 seeds come again some 70 times, 2^30 hardly ever."""
    mechanism, value = FewSeeds(1e6, 3), np.array([40, 20, 90]) * 10**6
    mechanism.__dict__["many"] = 2**bits
    rng = np.random.default_rng(3)
    again = seed_reuse(mechanism, value, value + np.eye(3, dtype=int)[0], calls=400, alpha=1e-9, rng=rng)
    assert again.found == found
    assert again.found == ("different calls" in again.fault)


@pytest.mark.slow
def test_outputs_that_are_equal_by_chance_are_no_seeds() -> None:
    """With little noise nearly all calls are matched. At alpha = 0.01 in 40 tests, eight alarms at most."""
    mechanism = veil.vectors.GeometricCounts(0.5, 2)
    alarms = sum(
        seed_reuse(mechanism, [4, 2], [5, 2], calls=60, alpha=0.01, rng=np.random.default_rng(seed)).found
        for seed in range(40)
    )
    assert alarms <= 8


def test_items_of_a_batch_that_share_their_noise_are_found() -> None:
    class Shared(veil.vectors.GeometricCounts):
        def noise(self, rng: Any, shape: tuple[int, ...]) -> Any:
            noise = super().noise(rng, shape)
            return np.broadcast_to(noise[..., :1, :], shape) if len(shape) > 2 else noise

    batch = np.array([[40, 20, 9], [30, 20, 50]])
    rng = np.random.default_rng(5)
    options: dict[str, Any] = {"calls": 200, "alpha": 1e-9, "rng": rng, "batches": [batch]}
    found = seed_reuse(Shared(3.0, 3), [40, 20, 9], [41, 20, 9], **options)
    assert found.fault == "items of one batch share their noise"
    assert not seed_reuse(veil.vectors.GeometricCounts(3.0, 3), [40, 20, 9], [41, 20, 9], **options).found


@pytest.mark.slow
def test_a_single_bit_that_is_drawn_again_is_found() -> None:
    class Again(veil.bits.RandomizedResponse):
        def draw_noise(self, rng: Any, times: int, rows: int, columns: int) -> Any:
            once = super().draw_noise(np.random.default_rng(7), 1, rows, columns)
            return np.repeat(once, times, axis=0)

    one, other = np.zeros((1, 1), dtype=bool), np.ones((1, 1), dtype=bool)
    honest = seed_reuse(
        veil.bits.RandomizedResponse(1.0), one, other, calls=300, alpha=1e-9, rng=np.random.default_rng(1)
    )
    assert not honest.found
    # Always the same: nothing to compare it with, and no draws follow the law either.
    assert veil.audit(Again(1.0), one, other, samples=1_000, rng=1).violated


@pytest.mark.slow
def test_independent_draws_raise_no_alarm() -> None:
    """At alpha = 0.01 in 40 tests, eight alarms at most: more have a chance below 1e-9."""
    mechanism = veil.vectors.GeometricCounts(3.0, 3)
    alarms = sum(
        seed_reuse(
            mechanism, [40, 20, 9], [41, 20, 9], calls=40, alpha=0.01, rng=np.random.default_rng(seed)
        ).found
        for seed in range(40)
    )
    assert alarms <= 8


def test_cryptographic_draws_are_independent() -> None:
    assert not seed_reuse(
        veil.vectors.GeometricCounts(3.0, 3), [4, 2, 9], [5, 2, 9], calls=100, alpha=1e-9
    ).found


@pytest.mark.slow
def test_arguments() -> None:
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.audit_suite(veil.vectors.GeometricCounts(1.0, 3))
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.audit_suite(veil.vectors.GeometricCounts(1.0, 3), veil.vectors.Transfer(0.1))
    pair = veil.AuditPair("mine", [1, 2, 3], [2, 2, 3])
    steps: list[str] = []
    found = suite(
        veil.vectors.GeometricCounts(1.0, 3),
        veil.vectors.Records(),
        pairs=[pair],
        samples=1_000,
        delta=0.1,
        progress=steps.append,
    )
    assert [one.name for one in found.pairs] == ["mine"]
    assert found.delta == 0.1
    assert len(steps) == 2
    assert (
        suite(
            veil.vectors.Gaussian(0.1, veil.vectors.Simplex(3)),
            veil.vectors.Transfer(0.05),
            pairs=None,
            samples=1_000,
        ).delta
        == 0.01
    )


# Forms that assume real numbers


class Told(veil.vectors.Laplace):
    """Laplace noise as a float on a float, which says so, or does not; with less noise on demand."""

    says: tuple[str, ...] = (REAL_ARITHMETIC,)
    share = 1.0

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        vectors = np.asarray(value)
        noise = rng.laplace(0.0, self.share * self.scale, (size, *vectors.shape))
        kept = np.maximum(vectors + noise, 0.0)
        return np.divide(kept, np.maximum(kept.sum(axis=-1, keepdims=True), 1.0))

    def assumptions(self, adjacency: Any = None) -> tuple[str, ...]:
        return self.says

    def profile(self, adjacency: Any = None) -> veil.PrivacyProfile:
        """As if entries were never rounded."""
        return RandomizedResponses(adjacency.mass / self.scale, times=2)


class Untold(Told):
    says = ()


class Less(Told):
    share = 0.2


@pytest.mark.slow_for(
    "Less-this form assumes real arithmetic, but not only the last bits of floats were found"
)
@pytest.mark.parametrize(("kind", "note"), [(Told, ARTEFACTS), (Untold, ""), (Less, MORE_THAN_ARTEFACTS)])
def test_a_form_that_assumes_real_numbers_is_told_from_a_fault(kind: Any, note: str) -> None:
    mechanism = kind(2.0**-60, veil.vectors.Simplex(2))
    relation = veil.vectors.Transfer(2.0**-61)
    pairs = [pair for pair in veil.audit_pairs(mechanism, relation) if "corner" in pair.name]
    found = suite(mechanism, relation, samples=10_000, pairs=pairs)
    assert found.violated
    assert found.note == note
    assert note in str(found)
    assert ("by the last bits of floats" in str(found)) == (kind is not Less)
    said = AuditReport((found,), 0.999).html()
    assert note in said
    assert ("in the last bits" in said) == (kind is not Less)
