"""Releases of chains of many states: made, charged, written, read again, shown; and what is refused."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import veil
from veil import chains
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sparse import choosing
from veil.chains.sparse.noise import SparseNoise
from veil.chains.transition_counts import OncePerUser
from veil.core.digest import result_digest
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, OutputExists, UnreadableFile, VeilError
from veil.matrices import BackOffChain

STATES = 5_000


def walk(seed: int = 0, length: int = 60_000) -> chains.TransitionCounts:
    """A few busy states among many, and steps that are mostly to one of three next ones."""
    rng = np.random.default_rng(seed)
    popular = rng.zipf(1.3, length) % 400
    nexts = rng.integers(0, STATES, (400, 3))
    chosen = np.where(rng.random(length) < 0.7, nexts[popular, rng.integers(0, 3, length)], popular[::-1])
    table = csr_array((np.ones(length, np.int64), (popular, chosen)), shape=(STATES, STATES))
    return chains.TransitionCounts(table)


@pytest.fixture(scope="module")
def released() -> veil.Release[Any]:
    return chains.release(walk(), epsilon=1.0, rng=3)


def test_many_states_keep_large_counts(released: veil.Release[Any]) -> None:
    assert isinstance(released.value, BackOffChain)
    assert released.kind.name == "sparse-chain"
    assert len(released.value) == STATES
    assert released.epsilon == 1.0
    assert released.delta == 0.0
    mechanism: Any = released.mechanism
    assert (released.tables["counts"] >= mechanism.threshold).all()
    matrix = released.value.likely
    assert (np.asarray(matrix.sum(axis=1)).ravel() < 1.0).all()
    # The busiest true pair is found, and about as likely as it is.
    counts: Any = walk().matrix
    rows = np.asarray(counts.sum(axis=1)).ravel()
    top = int(rows.argmax())
    best = int(counts[[top]].toarray().argmax())
    assert released.value.destinations(top, 1)[0][0] == best
    assert matrix[top, best] == pytest.approx(counts[top, best] / rows[top], abs=0.05)


def test_files(released: veil.Release[Any], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    released.save(path)
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"model.json", "model.pairs.parquet", "model.states.parquet"}
    again = veil.load(path)
    assert again.value == released.value
    assert again.epsilon == released.epsilon
    for key, table in released.tables.items():
        assert np.array_equal(again.tables[key], table)
    assert result_digest(again) == result_digest(released)
    assert "probabilities" not in json.loads(path.read_text())["value"]
    with pytest.raises(OutputExists):
        released.save(path)
    released.save(path, overwrite=True)
    # A copy without its files, and one with another file.
    alone = tmp_path / "alone" / "model.json"
    alone.parent.mkdir()
    alone.write_text(path.read_text())
    with pytest.raises(UnreadableFile, match="written beside the record"):
        veil.load(alone)
    (tmp_path / "model.pairs.parquet").write_bytes((tmp_path / "model.states.parquet").read_bytes())
    with pytest.raises(UnreadableFile, match="another file"):
        veil.load(path)


def test_record_without_files_is_whole(released: veil.Release[Any]) -> None:
    """As it is kept on standard output, where there is no place beside it."""
    from veil.core.files import parse_release, to_json

    text = to_json(released)
    again = parse_release(text, "a pipe")
    assert again == released
    content = json.loads(text)
    changes: list[tuple[Any, str]] = [
        (lambda c: c["tables"]["counts"].__setitem__(0, 1), "below the threshold"),
        (lambda c: c["tables"]["cells"].__setitem__(1, c["tables"]["cells"][0]), "rising pairs"),
        (lambda c: c["tables"]["arrivals"].pop(), "arrivals"),
        (lambda c: c["value"]["labels"].pop(), "states"),
        (lambda c: c["value"]["law"].__setitem__(0, 2.0), "law"),
        (lambda c: c["value"]["probabilities"].pop(), "probability for each"),
        (lambda c: c["tables"]["counts"].__setitem__(0, 10**6), "the chain that the tables give"),
    ]
    for change, match in changes:
        wrong = json.loads(json.dumps(content))
        change(wrong)
        with pytest.raises(UnreadableFile, match=match):
            parse_release(json.dumps(wrong), "a file")


def test_shown(released: veil.Release[Any], tmp_path: Path) -> None:
    page = released.kind.page(released)
    assert "Look up a state" in page
    assert "The most frequent transitions" in page
    assert "only large ones were kept" in page
    assert "5,000 states" in str(released)
    assert "share of time" in released._repr_html_()
    frame = released.to_pandas()
    assert list(frame.columns) == ["from", "to", "probability"]
    header, lines = released.kind.rows(released)
    assert len(header) == 3
    assert len(lines) == len(frame) + STATES
    made = chains.synthetic(released, 50, length=6, rng=1)
    assert [len(sequence) for sequence in made] == [6] * 50
    assert not made.notes[0].startswith("lengths")
    released.plot()
    kind: Any = released.kind
    with pytest.raises(InvalidArgument, match="no groups"):
        kind.chain(released, "a")


def test_charged_to_a_ledger(tmp_path: Path) -> None:
    ledger = veil.Ledger(f"sqlite:///{tmp_path}/budget.db").open("clicks", epsilon=1.5)
    out = chains.release(walk(), epsilon=1.0, ledger=ledger)
    assert out.entry is not None
    with pytest.raises(BudgetExceeded):
        chains.release(walk(1), epsilon=1.0, ledger=ledger)


def test_dense_where_it_fits() -> None:
    counts = chains.TransitionCounts(np.eye(4, dtype=np.int64) * 50)
    assert chains.release(counts, epsilon=1.0, rng=1).mechanism.name == "PrivateChain"
    large = chains.release(counts, epsilon=1.0, pairs="large", rng=1)
    assert large.mechanism.name == "SparseChain"
    assert large.value.to_numpy() == pytest.approx(np.eye(4), abs=0.35)
    assert veil.Chain(large.value.to_numpy()).is_irreducible


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"pairs": "some"}, "pairs"),
        ({"pairs": "large", "parts": "sizes"}, "parts"),
        ({"pairs": "large", "mechanism": "dirichlet"}, "mechanism"),
        ({"pairs": "large", "mechanism": "gaussian"}, "delta"),
        ({"pairs": "large", "false_pairs": 0}, "false_pairs"),
        ({"false_pairs": 10}, "false_pairs"),
        ({"pairs": "large", "floor": 0.1}, "floor"),
    ],
)
def test_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(VeilError, match=match):
        chains.release(chains.TransitionCounts(np.ones((4, 4))), epsilon=1.0, **options)


def test_strata_groups_and_memory_are_refused() -> None:
    table = np.ones((3, 3), dtype=np.int64)
    counts = chains.TransitionCounts(table, groups={"a": table, "b": table})
    mechanism = SparseChain(3, SparseNoise("geometric", 1.0), SparseNoise("geometric", 5.0), 3)
    with pytest.raises(InvalidData, match="groups"):
        mechanism.validate(counts)


# Each pair once a user


def once(log: list[list[int]], cap: int, states: int) -> chains.TransitionCounts:
    matrix = np.zeros((states, states), np.int64)
    left, entered = np.zeros(states, np.int64), np.zeros(states, np.int64)
    for sequence in log:
        steps = list(dict.fromkeys(pairwise(sequence)))[:cap]
        for i, j in steps:
            matrix[i, j] += 1
        left[sorted({i for i, _ in steps})] += 1
        entered[sorted({j for _, j in steps})] += 1
    return chains.TransitionCounts(matrix, cap=cap, once=OncePerUser(left, entered))


def test_counted_once_by_the_query() -> None:
    paths = ["abab", "aab", "cb", "b", "abcabc"]
    rows = [(u, t, s) for u, path in enumerate(paths) for t, s in enumerate(path)]
    log = {name: [row[k] for row in rows] for k, name in enumerate(("who", "at", "page"))}
    counts = chains.read(log, by="who", order="at", state="page", cap=9, once=True, states=["a", "b", "c"])
    expected = once([["abc".index(s) for s in path] for path in paths], 9, 3)
    assert counts.matrix.tolist() == expected.matrix.tolist()
    assert counts.once is not None
    assert expected.once is not None
    assert counts.once.departures.tolist() == expected.once.departures.tolist()
    assert counts.once.arrivals.tolist() == expected.once.arrivals.tolist()
    # With a cap, of everybody as many as that, and the margins fit what was kept.
    capped = chains.read(log, by="who", order="at", state="page", cap=1, once=True, salt="s")
    assert capped.total == 4
    assert capped.once is not None
    assert capped.once.departures.sum() == capped.once.arrivals.sum() == 4
    assert np.array_equal(capped.once.departures, np.asarray(capped.matrix.sum(axis=1)).ravel())
    # The same from trips, and with a long list of states, which engines get in another way.
    trips = {
        "who": [u for u, _, _ in rows if u == 0] * 2,
        "o": ["a", "a", "b", "a"] * 2,
        "d": ["b", "b", "a", "c"] * 2,
    }
    many = ["a", "b", "c", *(f"page {i}'s" for i in range(3_000))]
    same = chains.read(trips, origin="o", destination="d", by="who", cap=9, once=True, states=many)
    assert np.asarray(same.matrix)[:3, :3].tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert same.once is not None
    assert same.once.departures[:3].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "once"),
        ({"cap": 3, "merge": {"a": "b"}}, "merge"),
        ({"cap": 3, "sequences": True}, "once"),
        ({"cap": 3, "memory": 2}, "once"),
        ({"strata": [(2, 3)]}, "once"),
    ],
)
def test_once_is_refused(options: dict[str, Any], match: str) -> None:
    log = {"who": [1, 1, 2, 2], "at": [1, 2, 1, 2], "page": ["a", "b", "c", "a"]}
    with pytest.raises(VeilError, match=match):
        chains.read(log, by="who", order="at", state="page", once=True, **options)


def test_one_user_changes_each_cell_by_one() -> None:
    """What the square root of the cap in the noise rests on."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        log = [rng.integers(0, 4, rng.integers(0, 9)).tolist() for _ in range(5)]
        with_all, without = once(log, 3, 4), once(log[:-1], 3, 4)
        tables = [(counts.matrix, *counts.margins()) for counts in (with_all, without)]
        for one, two in zip(*tables, strict=True):
            change = np.asarray(one) - np.asarray(two)
            assert change.max(initial=0) <= 1
            assert change.min(initial=0) >= 0
            assert change.sum() <= 3


def test_guarantees() -> None:
    user = chains.Transitions("user", "add-remove", 10)
    chosen = choosing.chosen_sparse("auto", 50_000, user, epsilon=1.0, delta=1e-6, once=True)
    assert chosen.name == "gaussian"
    assert chosen.mechanism.profile(user).covers(1.0, 1e-6)
    assert not chosen.mechanism.profile(user).covers(0.95, 1e-6)
    # Not once a user: ten times in one cell, so more noise for the same.
    plain = choosing.chosen_sparse("gaussian", 50_000, user, epsilon=1.0, delta=1e-6)
    ratio = plain.mechanism.transitions.scale / chosen.mechanism.transitions.scale
    assert ratio == pytest.approx(math.sqrt(10), rel=1e-3)
    pure = choosing.chosen_sparse("auto", 50_000, user, epsilon=1.0, delta=0.0, once=True)
    assert pure.name == "geometric"
    assert 0.999 < pure.mechanism.profile(user).pure_epsilon <= 1.0
    replaced = chains.Transitions("user", "replace", 10)
    assert plain.mechanism.profile(replaced).zcdp() == pytest.approx(2 * plain.mechanism.profile(user).zcdp())
    with pytest.raises(InvalidArgument, match="whole users"):
        chosen.mechanism.profile(chains.Transitions())


def test_threshold_is_public() -> None:
    """It follows from the request; data of the same size get the same mechanism."""
    jobs = [chains.requests.ChainRelease.given({"epsilon": 1.0}).prepare(walk(seed)) for seed in (0, 1)]
    assert jobs[0].mechanism == jobs[1].mechanism
    noise = SparseNoise("gaussian", 9.0)
    for cells, false in ((10**8, 10**4), (10**10, 10**3)):
        threshold = noise.threshold(cells, false)
        rate = noise.tail(threshold).rate
        assert cells * rate <= false
        assert cells * noise.tail(threshold - 1).rate > false
    few = choosing.chosen_sparse("auto", 5_000, chains.Transitions(), epsilon=1.0, delta=0.0, false_pairs=1)
    many = choosing.chosen_sparse("auto", 5_000, chains.Transitions(), epsilon=1.0, delta=0.0)
    assert few.mechanism.threshold > many.mechanism.threshold


def test_planned() -> None:
    plan: Any = chains.plan(states=1_000_000, users=5_000_000, epsilon=1.0)
    assert plan.to_dict()["threshold"] == plan.threshold > 5
    assert "95 of 100" in str(plan)
    mechanism = choosing.chosen_sparse("auto", 10**6, chains.Transitions(), epsilon=1.0, delta=0.0).mechanism
    assert plan.threshold == mechanism.threshold
    # A pair with as many transitions as the plan says is kept in 95 of 100 draws.
    rng = np.random.default_rng(1)
    kept = plan.sure + mechanism.transitions.draw(rng, 20_000) >= plan.threshold
    assert kept.mean() > 0.95 - 3 * math.sqrt(0.05 * 0.95 / 20_000)
    below = plan.sure - 1 + mechanism.transitions.draw(rng, 20_000) >= plan.threshold
    assert below.mean() < 0.97
    for options, match in (
        ({"error": 0.1, "epsilon": None}, "error"),
        ({"typical": np.ones((2, 2))}, "typical"),
        ({"users": None}, "records"),
    ):
        asked: dict[str, Any] = {"states": 1_000_000, "users": 10, "epsilon": 1.0, **options}
        with pytest.raises(VeilError, match=match):
            chains.plan(**asked)


def test_no_more_pairs_are_called_false_than_are_kept() -> None:
    """The number is that of a table without counts: a bound, which may be above what is kept."""
    from veil.chains.sparse.report import Kept

    few = Kept(pairs=3, threshold=1, cells=16, false=8.0, own_share=0.5, once=False)
    assert "at most about 3 of them although nobody went there" in few.words
    many = Kept(pairs=600, threshold=1, cells=10**6, false=80.0, own_share=0.5, once=True)
    assert "at most about 80 of them although nobody went there" in many.words
