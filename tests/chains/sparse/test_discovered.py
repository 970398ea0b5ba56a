"""Chains of states that nobody listed: who changes what, what comes out, what does not."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.tables.servers import Server
from veil import chains
from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.discovered_chain import DiscoveredChain, ordered, people_of
from veil.chains.requests import ChainRelease
from veil.chains.sparse.auditing import DiscoveredChainAudit, found
from veil.chains.sparse.discovering import PUBLISHED, Split, chosen_discovery
from veil.chains.transition_counts import same_content
from veil.core.digest import result_digest
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, PrivacyWarning, VeilError

BUDGET: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "unit": "user"}
Log = list[tuple[int, int, str]]


def rows(seed: int = 1, users: int = 60, pages: int = 9) -> Log:
    rng = np.random.default_rng(seed)
    found_rows = []
    for user in range(users):
        visited = rng.integers(0, pages, rng.integers(1, 25))
        found_rows += [(user, at, f"page {page}") for at, page in enumerate(visited)]
    return found_rows


def frame(log: Log) -> dict[str, list[Any]]:
    return dict(zip(("who", "moment", "page"), map(list, zip(*log, strict=True)), strict=True))


def read(source: Any, **options: Any) -> chains.TransitionCounts:
    asked: dict[str, Any] = {
        "by": "who",
        "order": "moment",
        "state": "page",
        "states": "discover",
        "once": True,
        "salt": "s",
        "cap": 5,
        "user_states": 3,
    }
    return chains.read(source, **(asked | options))


def crowd(users: int = 900) -> chains.TransitionCounts:
    """Three pages that everybody visits, and one of a single user."""
    log = [[f"page {k % 3}" for k in range(user, user + 4)] for user in range(users)]
    return chains.read([*log, ["page 1", "alice's page"]], states="discover", cap=5, once=True, salt="s")


def test_counted_by_hand_where_no_cap_matters() -> None:
    log = rows()
    counts = read(frame(log), cap=1_000, user_states=1_000)
    visitors = Counter(page for who, page in {(who, page) for who, _, page in log})
    assert counts.visitors is not None
    assert dict(zip(counts.states, counts.visitors.users.tolist(), strict=True)) == visitors
    pairs = Counter(
        pair
        for user in {row[0] for row in log}
        for pair in set(pairwise([page for who, _, page in log if who == user]))
    )
    table = np.asarray(counts.matrix)
    assert {(counts.states[i], counts.states[j]): int(table[i, j]) for i, j in np.argwhere(table)} == pairs
    # Where nothing is capped, the first of a user's pairs are those that the margins count.
    every = counts.among(np.arange(len(counts)))
    assert counts.once is not None
    assert np.array_equal(every[1], counts.once.departures)  # type: ignore[arg-type]
    assert np.array_equal(every[2], counts.once.arrivals)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["log", "trips"])
def test_every_user_counts_for_so_many_states(layout: str) -> None:
    """Without somebody at most three numbers are smaller, each by one; and nothing else changes."""
    log = rows(3)
    if layout == "trips":
        steps = [(a[0], a[1], a[2], b[2]) for a, b in pairwise(log) if a[0] == b[0]]
        trips: dict[str, Any] = {"origin": "from", "destination": "to", "by": "who", "order": "moment"}

        def counted(without: int | None) -> dict[str, int]:
            kept = [step for step in steps if step[0] != without]
            names = ("who", "moment", "from", "to")
            table = dict(zip(names, map(list, zip(*kept, strict=True)), strict=True))
            counts = chains.read(table, **trips, states="discover", cap=5, user_states=3, salt="s")
            assert counts.visitors is not None
            return dict(zip(counts.states, counts.visitors.users.tolist(), strict=True))  # type: ignore[arg-type]
    else:

        def counted(without: int | None) -> dict[str, int]:
            counts = read(frame([row for row in log if row[0] != without]))
            assert counts.visitors is not None
            assert counts.visitors.most == 3
            return dict(zip(counts.states, counts.visitors.users.tolist(), strict=True))  # type: ignore[arg-type]

    everybody = counted(None)
    moved = []
    for user in range(12):
        others = counted(user)
        changes = [number - others.get(state, 0) for state, number in everybody.items()]
        assert set(changes) <= {0, 1}
        moved.append(sum(changes))
    assert max(moved) == 3


def test_what_is_counted_among_any_names_changes_by_no_more_than_the_cap() -> None:
    log = rows(4, users=20, pages=4)
    everybody = read(frame(log))
    for user in range(8):
        others = read(frame([row for row in log if row[0] != user]))
        assert others.states == everybody.states
        for chosen in product((False, True), repeat=len(everybody)):
            places = np.flatnonzero(chosen)
            if not len(places):
                continue
            for one, two in zip(everybody.among(places), others.among(places), strict=True):
                change = np.asarray(one.todense() if hasattr(one, "todense") else one) - np.asarray(
                    two.todense() if hasattr(two, "todense") else two
                )
                assert change.min() >= 0
                assert change.max() <= 1
                assert change.sum() <= 5


def test_every_transition_of_a_user_may_count() -> None:
    """Trips with users, each transition counted, states as numbers in one column and as text in the other."""
    rng = np.random.default_rng(2)
    who, steps = np.repeat(np.arange(600), 4), rng.integers(0, 4, (2, 2_400))
    table = {"who": who.tolist(), "from": steps[0].tolist(), "to": list(map(str, steps[1]))}
    counts = chains.read(table, origin="from", destination="to", by="who", states="discover", cap=3)
    assert counts.states == ("0", "1", "2", "3")
    assert counts.visitors is not None
    mine = [len(set(steps[:, 4 * user : 4 * user + 4].ravel().tolist())) for user in range(600)]
    assert counts.visitors.users.sum() == sum(mine)
    out = chains.release(counts, **BUDGET, rng=1)
    assert out.value.states == (0, 1, 2, 3)
    assert out.mechanism.describe()["parameters"]["once"] is False
    assert abs(out.tables["departures"].sum() - 1_800) < 400


def test_single_transitions_change_two_numbers() -> None:
    steps = [(one, two) for one in "abc" for two in "abc"]

    def users(log: list[tuple[str, str]]) -> dict[str, int]:
        table = {"from": [one for one, _ in log], "to": [two for _, two in log]}
        counts = chains.read(table, origin="from", destination="to", states="discover")
        assert counts.visitors is not None
        return dict(zip(counts.states, counts.visitors.users.tolist(), strict=True))  # type: ignore[arg-type]

    others = [("a", "b"), ("b", "c")]
    for step in steps:
        near = [others, *([*others, (step[0], end)] for end in "abc")]
        one = users([*others, step])
        for log in near:
            two = users(log)
            changes = [abs(one.get(state, 0) - two.get(state, 0)) for state in "abc"]
            assert max(changes) <= 1
            assert sum(changes) <= 2


def test_released_and_read_again(tmp_path: Path) -> None:
    counts = crowd()
    out = chains.release(counts, **BUDGET, rng=1)
    assert out.value.states == ("page 0", "page 1", "page 2")
    assert out.labels == ("page 0", "page 1", "page 2")
    assert (out.epsilon, out.delta) == (2.0, 1e-6)
    assert out.mechanism.name == "DiscoveredChain"
    assert "3 states were named" in str(out)
    assert "0.8 of epsilon for the names, 1.16 for the counts, 0.04 for how much was left out" in out.chosen
    path = tmp_path / "model.json"
    out.save(path)
    again = veil.load(path)
    assert again.value == out.value
    assert result_digest(again) == result_digest(out)
    assert again.kind.details(again) == out.kind.details(out)
    for file in tmp_path.iterdir():
        assert b"alice" not in file.read_bytes()
    content = json.loads(path.read_text())
    content["tables"]["totals"] = [1]
    path.write_text(json.dumps(content))
    with pytest.raises(VeilError, match="totals"):
        veil.load(path)
    assert "page 0" in out.kind.page(out)
    assert len(chains.model(out).chain) == 3


def test_names_that_are_not_published_do_not_come_out() -> None:
    """Not in a job, and not by the order or type of those that are."""
    counts = crowd()
    job = ChainRelease(**BUDGET).prepare(counts)
    assert job.labels is None
    assert "alice" not in str(job)
    assert not any("states" in text for text in job.kind.data_findings(job))
    assert PUBLISHED in job.warnings
    numbers = [[str(k % 12) for k in range(user, user + 4)] for user in range(900)]
    values = []
    for more in ([], [["1", "alice"]]):
        some = chains.read([*numbers, *more], states="discover", cap=5, once=True, salt="s")
        values.append(chains.release(some, epsilon=20.0, delta=1e-6, unit="user", rng=1).value.states)
    assert values[0] == values[1] == tuple(range(12))
    assert ordered(["b", "a"]) == (("a", "b"), 2)
    assert ordered(["10", "9"]) == ((9, 10), 2)


def test_labels_that_no_file_could_hold_are_never_named() -> None:
    log = [["page\x00", "page 1", "page 2", "page\x1b[31m"]] * 900
    counts = chains.read(log, states="discover", cap=5, once=True)
    out = chains.release(counts, **BUDGET, rng=1)
    assert out.value.states == ("page 1", "page 2")


@pytest.mark.parametrize("named", [0, 1])
def test_fewer_than_two_names_are_an_outcome(named: int, tmp_path: Path) -> None:
    log = [["here", "here"]] * (900 * named) + [["a", "b"]]
    counts = chains.read(log, states="discover", cap=5, once=True)
    book = veil.Ledger(tmp_path / "budget.db").open(
        "visits", epsilon=3, delta=1e-5, adjacency=Transitions("user", cap=5)
    )
    with pytest.warns(PrivacyWarning, match="published as they stand"):
        out = chains.release(counts, **BUDGET, ledger=book)
    with pytest.raises(BudgetExceeded):
        chains.release(counts, **BUDGET, ledger=book, rng=1)
    assert len(out.value) == 2
    assert out.value.states == (("here", "(not named 1)") if named else ("(not named 1)", "(not named 2)"))
    told = out.kind.details(out)
    assert "Fewer than two states were named" in told[1]
    out.save(tmp_path / "model.json")
    assert veil.load(tmp_path / "model.json").value == out.value
    assert out.kind.page(out)


@pytest.mark.parametrize("change", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", ["event", "user"])
def test_the_parts_add_up_to_the_budget(unit: str, change: str) -> None:
    adjacency = Transitions(unit, change, 10 if unit == "user" else None)
    for epsilon, delta in ((0.3, 1e-9), (1.0, 1e-6), (8.0, 1e-4)):
        for name in ("geometric", "gaussian", "auto"):
            once = unit == "user"
            made = chosen_discovery(
                name, adjacency, epsilon=epsilon, delta=delta, user_states=4, once=once
            ).mechanism
            assert made.profile(adjacency).covers(epsilon, delta)
            assert not made.profile(adjacency).covers(epsilon, made.selection.leak / 2)
        split = Split.of(epsilon, delta, counts_need_delta=True)
        assert 0.999 * epsilon <= split.names[0] + split.counts[0] + split.totals <= epsilon
        assert split.names[1] + split.counts[1] == pytest.approx(delta)


def test_refused(tmp_path: Path) -> None:
    counts = crowd(50)
    with pytest.raises(InvalidArgument, match="delta"):
        chains.release(counts, epsilon=1.0, unit="user")
    refused: list[dict[str, Any]] = [{"pairs": "all"}, {"parts": "sizes"}, {"mechanism": "dirichlet"}]
    for wrong in refused:
        with pytest.raises(InvalidArgument):
            chains.release(counts, **BUDGET, **wrong)
    with pytest.raises(VeilError):
        chains.release(counts, epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="unit"):
        people_of(Transitions("row"), 2)
    for options in (
        {"other": "x"},
        {"memory": 2, "once": False},
        {"merge": "a=b"},
        {"strata": [(2, 3)], "cap": None},
    ):
        with pytest.raises(InvalidArgument):
            read(frame(rows()), **options)
    with pytest.raises(InvalidArgument, match="user_states"):
        read(frame(rows()), states=["page 1"])
    mechanism: Any = chosen_discovery(
        "auto", Transitions("user", cap=5), epsilon=1.0, delta=1e-6, user_states=3, once=True
    ).mechanism
    with pytest.raises(InvalidData, match="at most 3 states"):
        mechanism.validate(counts)
    with pytest.raises(InvalidData, match="discover"):
        mechanism.validate(chains.TransitionCounts([[1, 2], [3, 4]]))


def test_planned() -> None:
    plan: Any = chains.plan(states="discover", unit="user", epsilon=1.0, delta=1e-6)
    released = ChainRelease(epsilon=1.0, delta=1e-6, unit="user").prepare(
        chains.read([["a", "b"]] * 5, states="discover", cap=10, once=True)
    )
    mechanism: Any = released.mechanism
    assert plan.surely == mechanism.selection.surely
    assert f"from {plan.surely:,} on" in released.why
    rng = np.random.default_rng(1)
    named = [mechanism.selection.draw(rng, np.array([plan.surely, 1]))[0] for _ in range(2_000)]
    assert 0.93 <= np.mean(named) <= 0.975
    assert plan.surely > chains.plan(states="discover", epsilon=1.0, delta=1e-6).surely  # type: ignore[union-attr]
    for wrong in ({"records": 5}, {"pairs": "all"}, {"delta": 0.0}, {"states": "others"}):
        with pytest.raises(InvalidArgument):
            chains.plan(**({"states": "discover", "epsilon": 1.0, "delta": 1e-6} | wrong))  # type: ignore[arg-type]


def test_neighbours_of_the_audit() -> None:
    subject = DiscoveredChainAudit()
    examples: Any = subject.examples()
    for mechanism, adjacency in examples:
        for pair in subject.pairs(mechanism, adjacency):
            assert not subject.apart(mechanism, adjacency, pair.value, pair.neighbour)
        too_many = found(mechanism, adjacency.cap, [(0, 1, 2, 0)] * 3)
        nobody = found(mechanism, adjacency.cap, [])
        assert subject.apart(mechanism, adjacency, too_many, nobody)


class Careless(DiscoveredChain):
    """Names every state that somebody has."""

    def _one(self, rng: Any, value: Any) -> Any:
        selection = self.selection
        try:
            object.__setattr__(self, "selection", Everything(selection.states))
            return super()._one(rng, value)
        finally:
            object.__setattr__(self, "selection", selection)


class Everything:
    def __init__(self, states: int) -> None:
        self.states = states

    def draw(self, rng: Any, users: Any) -> Any:
        return users > 0


@pytest.mark.slow
def test_audited_and_a_fault_is_found() -> None:
    for mechanism, adjacency in DiscoveredChainAudit().examples():
        made: Any = mechanism
        parts = (made.selection, made.transitions, made.margins, made.totals, made.false_pairs)
        options: dict[str, Any] = {"adjacency": adjacency, "delta": 0.15, "samples": 1_000, "rng": 3}
        assert not veil.audit_suite(made, **options).violated
        assert veil.audit_suite(Careless(*parts, once=made.once), **options).violated


@pytest.mark.xdist_group("postgres")
def test_postgresql_counts_the_same(postgres: Server) -> None:
    import psycopg

    log = rows(2)
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE found_visits (who bigint, moment bigint, page text)")
        connection.cursor().executemany("INSERT INTO found_visits VALUES (%s, %s, %s)", log)
    there, here = read(postgres.address(), table="found_visits"), read(frame(log))
    assert there.states == here.states
    assert same_content(there.visitors, here.visitors)
    assert np.array_equal(np.asarray(there.matrix), np.asarray(here.matrix))
