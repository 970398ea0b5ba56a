"""Every table of a chain's data hidden: what is described, what is charged, what an attack can see."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import veil
from tests.core.fit import ALPHA, chi_square, gaussian_pmf, laplace_pmf
from veil.chains.adjacency import Transitions
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import ChainDraw, CountMechanism, Part
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.kind import kind_named
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidData, InvalidField

Integers = NDArray[np.int64]
BINS = LengthBins((1, 2, 3, 5))
MATRIX = np.array([[20, 7, 0], [3, 11, 5], [0, 9, 14]])
GEOMETRIC = veil.vectors.GeometricCounts(2.0, 9)
USER = Transitions("user", "add-remove", 6)


def geometric(*shape: int, scale: float = 2.0) -> veil.vectors.GeometricCounts:
    return veil.vectors.GeometricCounts(scale, math.prod(shape))


def full_counts(**changes: Any) -> TransitionCounts:
    sequences = Sequences(np.array([4, 5, 1]), np.array([3, 3, 4]), np.array([2, 1, 3, 4]), BINS)
    second = np.arange(36).reshape(4, 3, 3) % 5
    strata = (Stratum(2, 3, MATRIX // 2), Stratum(5, 6, MATRIX - MATRIX // 2))
    fields: dict[str, Any] = {"cap": 6, "sequences": sequences, "second": second, "strata": strata}
    return TransitionCounts(MATRIX, **(fields | changes))


def all_parts() -> list[Part]:
    return [
        Part("transitions", geometric(3, 3), (3, 3)),
        Part("second", geometric(4, 3, 3), (4, 3, 3)),
        *(Part(of, geometric(3), (3,)) for of in ("sizes", "starts", "ends")),
        lengths_part(),
    ]


def lengths_part(scale: float = 2.0) -> Part:
    return Part("lengths", geometric(4, scale=scale), (4,), bins=BINS.least)


def strata_parts(small: float = 3.0, large: float = 6.0) -> list[Part]:
    # The lengths, which weigh the strata, with a loss of 1/4.
    return [
        Part("transitions", geometric(3, 3, scale=small), (3, 3), least=2, cap=3),
        Part("transitions", geometric(3, 3, scale=large), (3, 3), least=5, cap=6),
        lengths_part(4.0),
    ]


MECHANISMS = [
    veil.chains.PrivateChain(3, [Part("transitions", GEOMETRIC, (3, 3))]),
    veil.chains.PrivateChain(3, [Part("transitions", veil.vectors.DiscreteGaussianCounts(2.5, 9), (3, 3))]),
    veil.chains.PrivateChain(3, [Part("transitions", veil.vectors.DirichletCounts(0.7, 12.0, 3), (3, 3))]),
    veil.chains.PrivateChain(
        3, [Part("transitions", veil.matrices.BorderedRows([30] * 3, [0.1] * 3, [9, 8, 7], size=3), (3, 3))]
    ),
    veil.chains.PrivateChain(3, all_parts()),
    veil.chains.PrivateChain(3, strata_parts()),
    veil.chains.PrivateChain(3, [Part("transitions", geometric(2, 3, 3), (2, 3, 3))], groups=["a", "b"]),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: f"{m.parts[0].mechanism.name}-{len(m.parts)}")
def test_described_and_built_again(mechanism: veil.chains.PrivateChain) -> None:
    text = json.dumps(mechanism.describe(), allow_nan=False)
    again = mechanism_from(json.loads(text), kind_named("chain"))
    assert again == mechanism
    assert again.describe() == mechanism.describe()
    assert hash(again) == hash(mechanism)
    assert isinstance(again, veil.Mechanism)
    assert again.domain == mechanism.domain


def test_parts_and_keys() -> None:
    mechanism = veil.chains.PrivateChain(3, all_parts())
    assert mechanism.has("second")
    assert not veil.chains.PrivateChain(3, strata_parts()).has("second")
    assert mechanism.part("lengths").shape == (4,)
    assert mechanism.strata == ()
    strata = veil.chains.PrivateChain(3, strata_parts())
    assert [part.key for part in strata.strata] == [
        "transitions, 2 states or more",
        "transitions, 5 states or more",
    ]


def two(of: str = "transitions") -> Part:
    return Part(of, GEOMETRIC, (3, 3))


@pytest.mark.parametrize(
    ("states", "parts", "groups"),
    [
        (1, [two()], None),
        (0, [two()], None),
        ("3", [two()], None),
        (3, [], None),
        (3, [Part("starts", geometric(3), (3,))], None),
        (3, [two(), two()], None),
        (4, [two()], None),
        (3, [two(), Part("second", geometric(4, 4, 4), (4, 4, 4))], None),
        (3, list(reversed(strata_parts())), None),
        (3, [strata_parts()[0]] * 2, None),
        (3, strata_parts()[:2], None),
        (3, [two()], ["a"]),
        (3, [Part("transitions", geometric(2, 3, 3), (2, 3, 3))], None),
    ],
)
def test_bad_mechanisms(states: Any, parts: list[Part], groups: Any) -> None:
    with pytest.raises(InvalidArgument):
        veil.chains.PrivateChain(states, parts, groups=groups)


@pytest.mark.parametrize(
    "fields",
    [
        {"of": "pairs"},
        {"shape": (3, 4)},
        {"shape": (0, 3)},
        {"shape": (9.5, 1)},
        {"least": -1},
        {"least": 1.5},
        {"cap": 0},
        {"cap": "3"},
        {"bins": (1, 2, 3)},
        {"of": "lengths", "shape": (9,)},
        {"of": "lengths", "shape": (9,), "bins": (1, 2, 3)},
        {"of": "lengths", "shape": (9,), "bins": (9, 8, 7, 6, 5, 4, 3, 2, 1)},
        {"mechanism": veil.vectors.DirichletCounts(1.0, 1.0, 9)},
        {"mechanism": veil.vectors.GeometricCounts(1.0, 8)},
    ],
)
def test_bad_parts(fields: dict[str, Any]) -> None:
    given: dict[str, Any] = {"of": "transitions", "mechanism": GEOMETRIC, "shape": (3, 3)} | fields
    with pytest.raises(InvalidArgument):
        Part(**given)


@pytest.mark.parametrize(
    "counts",
    [
        TransitionCounts(MATRIX),
        full_counts(second=None),
        full_counts(sequences=None),
        TransitionCounts(np.ones((2, 2))),
        np.ones((4, 4)),
        [[1, 2], [3]],
        None,
        "counts",
    ],
)
def test_counts_without_its_tables_are_refused(counts: Any) -> None:
    with pytest.raises(InvalidField):
        veil.chains.PrivateChain(3, all_parts()).sample(counts, rng=1)


def test_strata_and_groups_must_be_the_mechanisms_own() -> None:
    mechanism = veil.chains.PrivateChain(3, strata_parts())
    assert mechanism.validate(full_counts())
    other = (Stratum(2, 3, MATRIX), Stratum(5, 5, MATRIX))
    more = (*full_counts().strata, Stratum(9, 6, MATRIX))
    for strata in ((), other, more, full_counts().strata[:1]):
        with pytest.raises(InvalidData):
            mechanism.validate(full_counts(strata=strata))
    grouped = MECHANISMS[-1]
    assert grouped.validate(TransitionCounts(MATRIX, groups={"a": MATRIX, "b": MATRIX}))
    for groups in (None, {"a": MATRIX}, {"b": MATRIX, "a": MATRIX}, {"a": MATRIX, "c": MATRIX}):
        with pytest.raises(InvalidData):
            grouped.validate(TransitionCounts(MATRIX, groups=groups))


# What is charged.


def test_strata_in_parallel() -> None:
    mechanism = veil.chains.PrivateChain(3, strata_parts(small=3.0, large=4.0))
    assert mechanism.profile(USER).pure_epsilon == 1.5 + 0.25
    # One who leaves the one and enters the other: both change, by 3 and by 6 records.
    replaced = mechanism.profile(Transitions("user", "replace", 6)).pure_epsilon
    assert replaced >= 3 / 3.0 + 6 / 4.0 + 0.5
    assert replaced == 3.0 + 0.5


def test_strata_are_refused_for_less_than_users() -> None:
    mechanism = veil.chains.PrivateChain(3, strata_parts())
    for unit in ("event", "row"):
        for change in ("add-remove", "replace"):
            with pytest.raises(InvalidArgument, match="whole users"):
                mechanism.profile(Transitions(unit, change))


def test_tables_of_different_kinds_add_up() -> None:
    mechanism = veil.chains.PrivateChain(3, all_parts())
    # transitions, second and sizes hold 6 records of a user; starts, ends and lengths one.
    assert mechanism.profile(USER).pure_epsilon == pytest.approx((3 * 6 + 3 * 1) / 2.0)
    assert mechanism.profile(Transitions("user", "replace", 6)).pure_epsilon == pytest.approx(21.0)
    # An event that keeps its origin leaves the sizes as they are.
    pairs = veil.chains.PrivateChain(3, [part for part in all_parts() if part.of != "second"])
    assert pairs.profile(Transitions("event", "replace")).pure_epsilon == pytest.approx((2 + 3 * 4) / 2.0)
    assert pairs.profile(Transitions("event")).pure_epsilon == pytest.approx((2 * 1 + 3 * 3) / 2.0)


@pytest.mark.slow
def test_no_cheaper_than_any_part() -> None:
    gaussian = Part("transitions", veil.vectors.DiscreteGaussianCounts(9.0, 9), (3, 3))
    starts = Part("starts", geometric(3, scale=4.0), (3,))
    both = veil.chains.PrivateChain(3, [gaussian, starts])
    for adjacency in (USER, Transitions("user", "replace", 2), Transitions("row"), Transitions("event")):
        for epsilon in (0.1, 0.5, 1.0):
            parts = [part.profile(adjacency).delta(epsilon) for part in both.parts]
            assert both.profile(adjacency).delta(epsilon) >= max(parts) * (1.0 - 1e-9)


def test_other_adjacencies_are_refused() -> None:
    for adjacency in (
        None,
        veil.vectors.Records(),
        veil.vectors.Contributions(2),
        veil.vectors.Transfer(0.1),
    ):
        with pytest.raises(InvalidArgument, match="Transitions"):
            MECHANISMS[0].profile(adjacency)


def test_everybody_and_a_stratum_of_them_are_not_in_parallel() -> None:
    """A long sequence is in both tables, which costs both, or is to be refused."""
    parts = [Part("transitions", GEOMETRIC, (3, 3)), *strata_parts(large=2.0)[1:]]
    try:
        charged = veil.chains.PrivateChain(3, parts).profile(USER).pure_epsilon
    except InvalidArgument:
        return
    assert charged >= 6 / 2.0 + 6 / 2.0 + 1 / 4.0, "a user in two tables is charged for one"


@pytest.mark.parametrize(
    ("counts", "part_cap", "cap"), [(50, None, 1), (None, None, 1), (50, 1, 50), (50, None, None)]
)
def test_a_release_of_counts_with_another_cap_is_refused(
    counts: int | None, part_cap: int | None, cap: int | None
) -> None:
    """Someone may have 50 transitions in the table; noise and claim are for one."""
    mechanism = veil.chains.PrivateChain(3, [Part("transitions", GEOMETRIC, (3, 3), cap=part_cap)])
    adjacency = Transitions() if cap is None else Transitions("user", "add-remove", cap)
    with pytest.raises(InvalidField):
        veil.release(mechanism, TransitionCounts(MATRIX, cap=counts), adjacency=adjacency, rng=1)


# What comes out.


@pytest.mark.slow
def test_every_cell_of_every_table_gets_its_noise() -> None:
    """Each position of each table, the last ones too, follows the law of the noise (alpha 1e-6 in all)."""
    mechanism = veil.chains.PrivateChain(3, all_parts())
    counts = full_counts()
    draws = tables_of(mechanism, counts, 1500)
    cells = sum(part.mechanism.size for part in mechanism.parts)
    for part in mechanism.parts:
        noise = draws[part.key] - part.counted(counts)
        assert noise.shape == (1500, *part.shape)
        for cell in noise.reshape(1500, -1).T:
            assert chi_square(cell, laplace_pmf(2.0)) > ALPHA / cells
    # Power: the same test on noise that is half as large again.
    larger = veil.chains.PrivateChain(3, [Part("transitions", geometric(3, 3, scale=3.0), (3, 3))])
    wrong = tables_of(larger, counts, 1500)
    assert chi_square((wrong["transitions"] - MATRIX)[:, 2, 2], laplace_pmf(2.0)) < ALPHA / cells


@pytest.mark.slow
def test_cells_are_independent() -> None:
    draws = tables_of(veil.chains.PrivateChain(3, all_parts()), full_counts(), 3000)
    flat = np.concatenate([table.reshape(3000, -1) for table in draws.values()], axis=1)
    correlation = np.corrcoef(flat.T) - np.eye(flat.shape[1])
    pairs = flat.shape[1] * (flat.shape[1] - 1) / 2
    assert np.abs(correlation).max() < stats.norm.isf(ALPHA / pairs / 2.0) / math.sqrt(3000)


def test_gaussian_noise_in_the_last_cell() -> None:
    draws = tables_of(MECHANISMS[1], TransitionCounts(MATRIX), 3000)["transitions"]
    assert chi_square(draws[:, 2, 2] - MATRIX[2, 2], gaussian_pmf(6.25)) > ALPHA


@pytest.mark.slow
def test_dirichlet_rows_are_random_everywhere() -> None:
    draws = tables_of(MECHANISMS[2], TransitionCounts(MATRIX), 2000)["transitions"]
    assert np.allclose(draws.sum(axis=-1), 1.0)
    shapes = 0.7 * MATRIX + 12.0
    for row in range(3):
        for column in range(3):
            law = stats.beta(shapes[row, column], shapes[row].sum() - shapes[row, column])
            assert stats.kstest(draws[:, row, column], law.cdf).pvalue > ALPHA / 9


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    mechanism, counts = veil.chains.PrivateChain(3, all_parts()[:1]), TransitionCounts(MATRIX)
    first, again, other = (mechanism.sample(counts, rng=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.tables["transitions"], again.tables["transitions"])
    assert not np.array_equal(first.tables["transitions"], other.tables["transitions"])
    assert isinstance(first, ChainDraw)
    assert len(mechanism.sample(counts, rng=1, size=3)) == 3


# A black-box attack on the tables.

DRAWS = 20_000


class Bare(veil.chains.PrivateChain):
    """Only the tables: the model behind them is post-processing, and slow to make thousands of times."""

    def model(self, tables: Any, states: Any, *, rank: Any = None) -> Any:
        return None


def tables_of(mechanism: veil.chains.PrivateChain, counts: TransitionCounts, draws: int) -> dict[str, Any]:
    """So many whole releases."""
    bare = Bare(mechanism.states, mechanism.parts, groups=mechanism.groups)
    found = bare.sample(counts, rng=1, size=draws)
    return {key: np.array([draw.tables[key] for draw in found]) for key in found[0].tables}


def many(
    mechanism: veil.chains.PrivateChain, counts: TransitionCounts, draws: int, seed: int
) -> dict[str, Any]:
    """The same, much faster: each part draws copies of its table as if they were one large table."""
    rng = np.random.default_rng(seed)
    found = {}
    for part in mechanism.parts:
        table = np.broadcast_to(part.counted(counts), (draws, *part.shape))
        found[part.key] = _wider(part, draws).draw(rng, table)
    return found


def _wider(part: Part, copies: int) -> Part:
    hides: CountMechanism = part.mechanism
    if isinstance(hides, veil.vectors.GeometricCounts):
        hides = veil.vectors.GeometricCounts(hides.scale, copies * hides.size)
    elif isinstance(hides, veil.vectors.DiscreteGaussianCounts):
        hides = veil.vectors.DiscreteGaussianCounts(hides.sigma, copies * hides.size)
    # Bins would have to be as many as the copies.
    of = "starts" if part.of == "lengths" else part.of
    return replace(part, of=of, bins=None, mechanism=hides, shape=(copies, *part.shape))


Sampler = Callable[[veil.chains.PrivateChain, TransitionCounts, int, int], dict[str, Any]]


def attack(
    claimed: veil.chains.PrivateChain,
    adjacency: Transitions,
    one: TransitionCounts,
    other: TransitionCounts,
    *,
    sampler: Sampler = many,
    delta: float = 0.0,
) -> tuple[float, float]:
    """(a lower bound on epsilon that is wrong once in 1e6, what is claimed).

    The score is the likelihood ratio of the claimed noise; its threshold is chosen on one half of the draws
    and measured on the other.
    """
    scores = []
    for seed, counts in enumerate((one, other)):
        tables = sampler(claimed, counts, 2 * DRAWS, seed)
        scores.append(sum(_evidence(part, tables[part.key], one, other) for part in claimed.parts))
    lower = -math.inf
    for mine, theirs in ((scores[0], scores[1]), (-scores[1], -scores[0])):
        limits = np.unique(
            np.quantile(np.concatenate([mine[:DRAWS], theirs[:DRAWS]]), np.linspace(0, 1, 400))
        )
        hits = [(half[:DRAWS][:, None] >= limits).sum(axis=0) for half in (mine, theirs)]
        limit = limits[np.argmax((hits[0] - DRAWS * delta) / (hits[1] + 50.0))]
        p, q = (int((half[DRAWS:] >= limit).sum()) for half in (mine, theirs))
        low = stats.beta.ppf(ALPHA / 4.0, p, DRAWS - p + 1) if p else 0.0
        high = stats.beta.isf(ALPHA / 4.0, q + 1, DRAWS - q) if q < DRAWS else 1.0
        if low > delta:
            lower = max(lower, math.log((low - delta) / high))
    return lower, claimed.profile(adjacency).epsilon(delta)


def _evidence(part: Part, drawn: Any, one: TransitionCounts, other: TransitionCounts) -> Any:
    first, second = (part.counted(counts).astype(float) for counts in (one, other))
    hides = part.mechanism
    if isinstance(hides, veil.vectors.GeometricCounts):
        score = (np.abs(drawn - second) - np.abs(drawn - first)) / hides.scale
    elif isinstance(hides, veil.vectors.DiscreteGaussianCounts):
        score = drawn * (first - second) / hides.sigma**2
    else:
        score = np.log(np.maximum(drawn, 1e-300)) * (first - second)
    return score.reshape(len(drawn), -1).sum(axis=1)


@dataclass(frozen=True)
class Neighbours:
    """One unit: the adjacency, and two tables that differ by all that it allows."""

    adjacency: Transitions
    one: Integers
    other: Integers


def shifted(*changes: tuple[int, int, int]) -> Integers:
    table = MATRIX.copy()
    for origin, end, by in changes:
        table[origin, end] += by
    return table


NEIGHBOURS = {
    "event": Neighbours(Transitions(), shifted((2, 2, 1)), MATRIX),
    "event replaced": Neighbours(Transitions("event", "replace"), shifted((0, 1, -1), (0, 2, 1)), MATRIX),
    "row": Neighbours(Transitions("row"), shifted((0, 0, 1), (0, 1, 1), (2, 1, -1)), MATRIX),
    "row replaced": Neighbours(
        Transitions("row", "replace"),
        shifted((0, 0, 1), (0, 2, 1), (2, 0, 1), (0, 1, -1), (1, 1, -1), (2, 1, -1)),
        MATRIX,
    ),
    "user": Neighbours(Transitions("user", "add-remove", 4), shifted((1, 2, 4)), MATRIX),
    "user replaced": Neighbours(Transitions("user", "replace", 4), shifted((1, 2, 4), (0, 0, -4)), MATRIX),
    "user spread": Neighbours(
        Transitions("user", "add-remove", 4), shifted((0, 2, 1), (2, 0, 1), (1, 2, 1), (1, 0, 1)), MATRIX
    ),
}


def hiding(name: str, adjacency: Transitions) -> tuple[veil.chains.PrivateChain, float]:
    """A mechanism of about epsilon 1.5 for this unit, and the delta at which it is attacked."""
    change = adjacency.on_transitions()
    size = change.total
    if name == "geometric":
        return veil.chains.PrivateChain(
            3, [Part("transitions", geometric(3, 3, scale=size / 1.5), (3, 3))]
        ), 0.0
    if name == "gaussian":
        sigma = math.hypot(change.added, change.removed) * 1.5
        return veil.chains.PrivateChain(
            3, [Part("transitions", veil.vectors.DiscreteGaussianCounts(sigma, 9), (3, 3))]
        ), 0.01
    scale = 1.0 / size
    return veil.chains.PrivateChain(
        3, [Part("transitions", veil.vectors.DirichletCounts(scale, 2.0, 3), (3, 3))]
    ), 0.01


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", ["geometric", "gaussian", "dirichlet"])
@pytest.mark.parametrize("unit", NEIGHBOURS)
def test_no_attack_beats_the_claim(unit: str, name: str) -> None:
    case = NEIGHBOURS[unit]
    mechanism, delta = hiding(name, case.adjacency)
    lower, claimed = attack(
        mechanism, case.adjacency, TransitionCounts(case.one), TransitionCounts(case.other), delta=delta
    )
    assert lower <= claimed


@pytest.mark.parametrize("unit", ["event", "row", "user", "user replaced"])
def test_the_attack_has_power(unit: str) -> None:
    """It comes near the claim where that is exact, and finds the faults that are planted."""
    case = NEIGHBOURS[unit]
    mechanism, _ = hiding("geometric", case.adjacency)
    pair = TransitionCounts(case.one), TransitionCounts(case.other)
    lower, claimed = attack(mechanism, case.adjacency, *pair)
    assert lower > 0.5 * claimed

    def too_little(_: Any, counts: TransitionCounts, draws: int, seed: int) -> dict[str, Any]:
        hides = mechanism.parts[0].mechanism
        assert isinstance(hides, veil.vectors.GeometricCounts)
        part = replace(mechanism.parts[0], mechanism=geometric(3, 3, scale=hides.scale / 3.0))
        return many(veil.chains.PrivateChain(3, [part]), counts, draws, seed)

    lower, claimed = attack(mechanism, case.adjacency, *pair, sampler=too_little)
    assert lower > claimed

    def one_cell_bare(_: Any, counts: TransitionCounts, draws: int, seed: int) -> dict[str, Any]:
        tables = many(mechanism, counts, draws, seed)
        cell = np.argwhere(case.one != case.other)[-1]
        tables["transitions"][:, cell[0], cell[1]] = np.asarray(counts.matrix)[tuple(cell)]
        return tables

    lower, claimed = attack(mechanism, case.adjacency, *pair, sampler=one_cell_bare)
    assert lower > claimed


@pytest.mark.slow
def test_dirichlet_and_gaussian_faults_are_found() -> None:
    case = NEIGHBOURS["user"]
    pair = TransitionCounts(case.one), TransitionCounts(case.other)
    for name, weak in (
        ("gaussian", veil.vectors.DiscreteGaussianCounts(1.0, 9)),
        ("dirichlet", veil.vectors.DirichletCounts(12.0, 0.5, 3)),
    ):
        mechanism, delta = hiding(name, case.adjacency)
        weaker = veil.chains.PrivateChain(3, [Part("transitions", weak, (3, 3))])

        def sampler(
            _: Any, counts: TransitionCounts, draws: int, seed: int, weaker: veil.chains.PrivateChain = weaker
        ) -> dict[str, Any]:
            return many(weaker, counts, draws, seed)

        lower, claimed = attack(mechanism, case.adjacency, *pair, sampler=sampler, delta=delta)
        assert lower > claimed


def _one_user(stratum: int, by: int) -> TransitionCounts:
    """Of the users one, who has so many transitions and a length that goes with the stratum."""
    everyone = full_counts()
    first, second = everyone.strata
    assert everyone.sequences is not None
    tables = [first.matrix.copy(), second.matrix.copy()]
    lengths = everyone.sequences.lengths.copy()
    if by:
        tables[stratum][2, 2] += by
        lengths[2 + stratum] += 1
    return full_counts(
        strata=(replace(first, matrix=tables[0]), replace(second, matrix=tables[1])),
        sequences=replace(everyone.sequences, lengths=lengths),
    )


@pytest.mark.parametrize(("stratum", "records"), [(0, 3), (1, 6)])
def test_attack_on_strata(stratum: int, records: int) -> None:
    mechanism = veil.chains.PrivateChain(3, strata_parts(small=2.0, large=4.0))
    lower, claimed = attack(mechanism, USER, _one_user(stratum, records), _one_user(stratum, 0))
    assert 0.5 * claimed < lower <= claimed


def test_a_user_who_moves_between_strata() -> None:
    mechanism = veil.chains.PrivateChain(3, strata_parts(small=2.0, large=4.0))
    replaced = Transitions("user", "replace", 6)
    lower, claimed = attack(mechanism, replaced, _one_user(0, 3), _one_user(1, 6))
    # More than one stratum and the lengths could hide: charging for one would be found out.
    assert 1.5 + 2 / 4.0 < lower <= claimed


def test_noise_for_the_wrong_cap_is_found() -> None:
    """The large stratum with the noise of the small one."""
    claimed = veil.chains.PrivateChain(3, strata_parts(small=3.0, large=6.0))

    def wrong(_: Any, counts: TransitionCounts, draws: int, seed: int) -> dict[str, Any]:
        return many(veil.chains.PrivateChain(3, strata_parts(small=3.0, large=3.0)), counts, draws, seed)

    lower, claim = attack(claimed, USER, _one_user(1, 6), _one_user(1, 0), sampler=wrong)
    assert lower > claim


def test_attack_on_several_tables_at_once() -> None:
    """A user's start, end and length come on top of the transitions."""
    parts = [
        Part("transitions", geometric(3, 3, scale=12.0), (3, 3)),
        *(Part(of, geometric(3, scale=2.0), (3,)) for of in ("starts", "ends")),
        lengths_part(),
    ]
    mechanism = veil.chains.PrivateChain(3, parts)
    one = full_counts()
    assert one.sequences is not None
    without = TransitionCounts(
        MATRIX - 6 * np.diag([1, 0, 0]),
        cap=6,
        sequences=Sequences(
            one.sequences.starts - np.array([0, 1, 0]),
            one.sequences.ends - np.array([0, 0, 1]),
            one.sequences.lengths - np.array([0, 0, 0, 1]),
            BINS,
        ),
    )
    lower, claimed = attack(mechanism, USER, one, without)
    assert 0.5 < lower <= claimed == pytest.approx(2.0)


# The published form.


def bordered(floor: float = 0.1) -> veil.matrices.BorderedRows:
    return veil.matrices.BorderedRows([40.0, 90.0], [floor, 0.2], [100, 40], size=3)


def test_the_floor_is_exact() -> None:
    mechanism = veil.matrices.BorderedRows([40.0, 90.0], [0.125, 0.25], [80, 40], size=3)
    at = np.array([[10, 30, 40], [10, 10, 20]])
    assert mechanism.validate(at) is not None
    for below in ([[9, 31, 40], [10, 10, 20]], [[10, 30, 40], [9, 11, 20]]):
        with pytest.raises(InvalidData, match="floor"):
            mechanism.validate(below)
    finer = veil.matrices.BorderedRows([40.0, 90.0], [0.125 * (1.0 + 1e-12), 0.25], [80, 40], size=3)
    with pytest.raises(InvalidData, match="row 0"):
        finer.validate(at)


def test_bordered_rows_refuse_other_tables() -> None:
    good = [[20, 30, 50], [10, 10, 20]]
    assert bordered().validate(good).tolist() == good
    for bad in (
        [[20, 30, 51], [10, 10, 20]],
        [[20, 30, 50]],
        [good, good],
        [[20, 30, 50], [10, 10, 20], [1, 1, 1]],
        [[20, 80], [20, 20]],
        [[20.5, 29.5, 50], [10, 10, 20]],
        [[-20, 70, 50], [10, 10, 20]],
        None,
    ):
        with pytest.raises(InvalidData) as error:
            bordered().validate(bad)
        # Where the data is wrong, never what it is.
        assert "51" not in str(error.value)


@pytest.mark.parametrize(
    ("k", "floor", "records", "size"),
    [
        ([], [], [], 3),
        ([10.0], [0.1, 0.1], [5], 3),
        ([10.0], [0.1], [5, 5], 3),
        ([0.0], [0.1], [5], 3),
        ([10.0], [0.0], [5], 3),
        ([10.0], [0.34], [5], 3),
        ([10.0], [0.1], [0], 3),
        ([10.0], [0.1], [5], 1),
        ([math.nan], [0.1], [5], 3),
        ([10.0], [math.nan], [5], 3),
    ],
)
def test_bad_bordered_rows(k: Any, floor: Any, records: Any, size: int) -> None:
    with pytest.raises(InvalidArgument):
        veil.matrices.BorderedRows(k, floor, records, size=size)


def test_the_worst_row_counts() -> None:
    mechanism = bordered()
    rows = [row.profile(moved) for row, moved in mechanism.rows()]
    profile = mechanism.profile(veil.vectors.Records("replace"))
    for epsilon in (0.05, 0.2, 0.5, 1.0, 2.0):
        assert profile.delta(epsilon) == max(row.delta(epsilon) for row in rows)
    with pytest.raises(InvalidArgument, match="public"):
        mechanism.profile(veil.vectors.Records("add-remove"))
    rows_of_two = veil.matrices.BorderedRows([40.0] * 2, [0.2] * 2, [50, 60], size=2)
    chain = veil.chains.PrivateChain(2, [Part("transitions", rows_of_two, (2, 2))])
    for adjacency in (Transitions(), Transitions("row"), USER):
        with pytest.raises(InvalidArgument):
            chain.profile(adjacency)


def test_published_values_by_the_papers_formula() -> None:
    mechanism, gamma = bordered(), 0.01
    bound = mechanism.published(gamma=gamma)

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    epsilons = []
    for k, floor, records in zip(mechanism.k, mechanism.floor, mechanism.records, strict=True):
        # Data-driven chains paper, Theorem 1, with eta-bar = eta and all three entries protected.
        mass, rest = 1.0 / records, 1.0 - 2.0 * floor
        ratio = log_beta(k * floor, k * rest) - log_beta(k * (floor + mass), k * (rest - mass))
        epsilons.append(ratio + k * mass * math.log((1.0 - 2.0 * gamma) / gamma))
    found = [row.published(moved, gamma=gamma) for row, moved in mechanism.rows()]
    assert bound.epsilon == max(row.epsilon for row in found)
    assert bound.delta == max(row.delta for row in found)
    assert bound.theorem == "data-driven chains paper, Theorem 3"
    for row, expected in zip(found, epsilons, strict=True):
        assert row.epsilon == pytest.approx(expected, rel=1e-12)
    # The exact profile is far below what is printed.
    assert mechanism.profile(veil.vectors.Records("replace")).delta(bound.epsilon) <= bound.delta


def test_assumptions_are_listed() -> None:
    same = veil.matrices.BorderedRows([40.0, 90.0], [0.1, 0.1], [100, 40], size=3)
    assert any("0.1" in text for text in same.assumptions())
    texts = bordered().assumptions()
    assert any("floor" in text and "0.1" in text and "0.2" in text for text in texts)
    assert any("public" in text for text in texts)
    assert MECHANISMS[3].assumptions(Transitions("event", "replace"))
    assert MECHANISMS[0].assumptions(Transitions()) == ()


def test_bordered_rows_are_random_everywhere() -> None:
    draws = bordered().sample([[20, 30, 50], [10, 10, 20]], rng=3, size=2000)
    assert draws.shape == (2000, 2, 3)
    shapes = np.array([[20, 30, 50], [10, 10, 20]]) * np.array([[0.4], [2.25]])
    for row in range(2):
        for column in range(3):
            law = stats.beta(shapes[row, column], shapes[row].sum() - shapes[row, column])
            assert stats.kstest(draws[:, row, column], law.cdf).pvalue > ALPHA / 6
